import { UserError } from '../errors.ts'
import { ask, judge, RefusedAsSent, withHint } from './ask.ts'
import { type CatalogOptions, catalogOrError, catalogRequest } from './catalog.ts'
import { productsAt } from './hosts.ts'
import { closeIdleConnections } from './http/request.ts'
import { traitsOf } from './judge/traits.ts'
import { isAboutAddress, type ProbeOptions, type ProbeResult, probe, provesAnApi } from './probe.ts'
import { chatRoots, isSameRoots, messagesRoots } from './roots.ts'
import {
  type BaseUrls,
  type Catalog,
  type ExtraHeader,
  type GatewayAccess,
  keyHeaders,
  type Protocol,
} from './types.ts'

/**
 * Sends requests to a gateway and learns its base URLs from the answers. Each request is sent first to
 * the expected base URL. If no API answers there, the finder tries other paths of the same origin. It
 * sends a rejected key once more, in the other headers that gateways accept keys in. It remembers what
 * answered.
 */
export class GatewayFinder {
  /** The access as the constructor received it. */
  readonly #original: GatewayAccess
  /** Every access that sent requests: each has its own connections. */
  readonly #used: GatewayAccess[]
  /** The base URLs that have answered so far, or that the user named. */
  #answered: readonly AnsweredRoot[] = []
  /**
   * The search for the header that the gateway accepts the key in. It starts when a key is first rejected,
   * runs once, and resolves to undefined if no other header works.
   */
  #headerSearch: Promise<GatewayAccess | undefined> | undefined
  /** The access with the header that is known to work so far. */
  #current: GatewayAccess

  /** @param options whether the user named the messages base URL */
  constructor(access: GatewayAccess, options: { readonly isMessagesGiven?: boolean } = {}) {
    this.#original = access
    this.#current = access
    this.#used = [access]
    if (options.isMessagesGiven)
      this.#answered = [{ side: 'messages', root: access.baseUrls.messages }]
  }

  /**
   * The access with the base URLs that have answered so far, and the header that the gateway accepts the
   * key in.
   */
  get access(): GatewayAccess {
    const { baseUrls } = this.#original
    const answered: BaseUrls = {
      chat: this.#rootOf('chat') ?? baseUrls.chat,
      messages: this.#rootOf('messages') ?? baseUrls.messages,
    }
    if (isSameRoots(answered, baseUrls)) return this.#current
    return { ...this.#current, baseUrls: answered }
  }

  /** Closes the idle connections. */
  async hangUp(): Promise<void> {
    for (const access of this.#used) await closeIdleConnections(access)
  }

  /** Requests the catalog, like `catalogOrError`. */
  async askCatalog(options: Omit<CatalogOptions, 'root'> = {}): Promise<Catalog | UserError> {
    const answer = await this.#askForList(options)
    if (!(answer instanceof RefusedAsSent)) return answer

    this.#headerSearch ??= this.#findHeaderByCatalog()
    return (await this.#headerSearch) === undefined ? answer : this.#askForList(options)
  }

  async #askForList(options: Omit<CatalogOptions, 'root'>): Promise<Catalog | UserError> {
    const [mostLikely, ...others] = this.#candidates('chat')
    const askAt = async (root: string): Promise<Catalog | UserError> => {
      const answer = await catalogOrError(this.#current, { ...options, root })
      if (!(answer instanceof UserError)) this.#remember({ side: 'chat', root })
      return answer
    }

    const first = await askAt(mostLikely!)
    if (!(first instanceof UserError) || !isAboutAddress(first)) return first
    for (const root of others) {
      const answer = await askAt(root)
      if (!(answer instanceof UserError) || provesAnApi(answer)) return answer
    }

    if (others.length === 0) return first
    return withHint(
      first,
      `repoint also asked ${others.map((root) => `${root}/models`).join(', ')}.`,
    )
  }

  /** @throws UserError as `probe` does */
  async probe(...question: ProbeQuestion): Promise<ProbeResult> {
    const first = this.#current
    try {
      return await this.#probeAt(first, question)
    } catch (rejection) {
      if (rejection instanceof UserError && rejection.code === 'quota')
        return this.#probeOtherProducts(question, rejection)
      if (!(rejection instanceof RefusedAsSent)) throw rejection

      if (this.#headerSearch !== undefined) {
        const access = await this.#headerSearch
        if (access === undefined) throw rejection
        // This protocol may take the key in another header than the one that was found.
        return this.#probeAt(access === first ? this.#original : access, question)
      }

      const trial = this.#probeInOtherHeader(question, rejection)
      this.#headerSearch = trial.then(({ access }) => access)
      const { result } = await trial
      if (result instanceof Error) throw result
      return result
    }
  }

  /**
   * On some hosts, a plan has a separate base URL, and a balance of zero at the others. If the user typed
   * only the host, repoint tries the plan as well. A path that the user typed is the one to use.
   */
  async #probeOtherProducts(question: ProbeQuestion, rejection: UserError): Promise<ProbeResult> {
    const [protocol, model, options] = question
    const { baseUrl } = this.#original
    const side = sideOf(protocol)
    const { origin, pathname } = new URL(baseUrl)
    const current = this.access.baseUrls[side]
    const others = productsAt(baseUrl).flatMap(({ name, product = '', [side]: path }) => {
      if (path === undefined || current === origin + path) return []
      return [{ name, product, root: origin + path }]
    })

    if (pathname === '/')
      for (const { root } of others) {
        try {
          const result = await probe(this.#current, protocol, model, { ...options, roots: [root] })
          const keyHeader = this.#current.keyHeader ?? 'authorization'
          // The catalog came from the other product, so its base URL no longer counts.
          const isByCatalog = (one: AnsweredRoot) => one.side === side && one.probe === undefined
          this.#answered = this.#answered.filter((one) => !isByCatalog(one))
          this.#remember({ side, root, probe: { protocol, keyHeader } })
          return result
        } catch (error) {
          if (!(error instanceof UserError)) throw error
        }
      }

    const hints = others.map(
      ({ name, product }) => `If the key is for ${name}: --base-url ${origin}${product}`,
    )
    throw withHint(rejection, hints.join(' '))
  }

  /** Requests the catalog with the key in every other header, then finds out which header worked. */
  async #findHeaderByCatalog(): Promise<GatewayAccess | undefined> {
    const { key, keyHeader, headers = [] } = this.#original
    if (keyHeader !== undefined) {
      const asBearer = this.#with({ keyHeader: undefined })
      return (await this.#acceptsKey(asBearer)) ? this.#use(asBearer) : undefined
    }

    const [first, second] = keyHeaders
    const secondHeader: ExtraHeader = { name: second, value: key, isSecret: true }
    const inBoth = this.#with({ keyHeader: first, headers: [...headers, secondHeader] })
    if (!(await this.#acceptsKey(inBoth))) return undefined

    const inFirst = this.#with({ keyHeader: first })
    const isFirst = await this.#acceptsKey(inFirst)
    return this.#use(isFirst ? inFirst : this.#with({ keyHeader: second }))
  }

  async #acceptsKey(access: GatewayAccess): Promise<boolean> {
    const answer = await ask(access, catalogRequest(this.access.baseUrls.chat))
    if (!('status' in answer) || answer.status === 401 || answer.status === 403) return false
    // Some gateways reject a key in the body of a 200.
    const outcome = judge(access, answer, { asked: 'catalog' })
    return outcome === undefined || traitsOf(outcome)?.blames !== 'key'
  }

  /** Probes with the key in the protocol's usual header other than Bearer. */
  async #probeInOtherHeader(question: ProbeQuestion, rejection: UserError): Promise<Trial> {
    const usual = question[0] === 'messages' ? 'x-api-key' : 'api-key'
    const access = this.#with({
      keyHeader: this.#original.keyHeader === undefined ? usual : undefined,
    })
    try {
      const result = await this.#probeAt(access, question)
      return { access: this.#use(access), result }
    } catch (error) {
      if (!(error instanceof UserError)) return { access: undefined, result: error as Error }
      const isSilent = traitsOf(error)?.blames === 'network'
      if (error instanceof RefusedAsSent || isSilent)
        return { access: undefined, result: rejection }
      // The gateway has answered other requests with the key in the first header.
      if (error instanceof Contradiction) return { access: undefined, result: error }
      return { access: this.#use(access), result: error }
    }
  }

  /** A new access with the key in another header. */
  #with(authStyle: Pick<GatewayAccess, 'keyHeader' | 'headers'>): GatewayAccess {
    const access = { ...this.#original, ...authStyle }
    this.#used.push(access)
    return access
  }

  /** Uses an access for all later requests. */
  #use(access: GatewayAccess): GatewayAccess {
    this.#current = access
    return access
  }

  async #probeAt(
    access: GatewayAccess,
    [protocol, model, options]: ProbeQuestion,
  ): Promise<ProbeResult> {
    const side = sideOf(protocol)
    const roots = this.#candidates(side)
    const result = await probe(access, protocol, model, { ...options, roots })
    const keyHeader = access.keyHeader ?? 'authorization'
    this.#remember({ side, root: result.root, probe: { protocol, keyHeader } })
    return result
  }

  #rootOf(side: keyof BaseUrls): string | undefined {
    return this.#answered.find((one) => one.side === side)?.root
  }

  /** The possible base URLs for this side, most likely first. If one has answered, it is the only one. */
  #candidates(side: keyof BaseUrls): readonly string[] {
    const answered = this.#rootOf(side)
    if (answered !== undefined) return [answered]
    const { baseUrl, baseUrls } = this.#original
    const others = side === 'messages' ? messagesRoots : chatRoots
    return [...new Set([baseUrls[side], ...others(baseUrl)])]
  }

  /** @throws UserError if the answer contradicts an earlier one */
  #remember(answer: AnsweredRoot): void {
    const contradiction = this.#answered.map((one) => difference(one, answer)).find(Boolean)
    if (contradiction !== undefined)
      throw new Contradiction({ code: 'protocol-unsupported', ...contradiction })
    this.#answered = [...this.#answered, answer]
  }
}

/** The two answers need different settings, and one saved gateway cannot have both. */
class Contradiction extends UserError {}

/** A base URL that answered. */
interface AnsweredRoot {
  readonly side: keyof BaseUrls
  readonly root: string
  /** The probe that it answered. Absent: it answered the catalog request, or the user named it. */
  readonly probe?: { readonly protocol: Protocol; readonly keyHeader: string }
}

/**
 * The result of a probe with the key in another header. Without `access`, the gateway rejects that header
 * too.
 */
interface Trial {
  readonly access: GatewayAccess | undefined
  readonly result: ProbeResult | Error
}

/** Why one saved gateway cannot have the settings of two answers. */
function difference(
  before: AnsweredRoot,
  { side, root, probe }: AnsweredRoot,
): { readonly message: string; readonly hint: string } | undefined {
  if (probe === undefined) return undefined
  if (before.probe !== undefined && before.probe.keyHeader !== probe.keyHeader)
    return {
      message: `The gateway accepts the key as ${probe.keyHeader} for the ${probe.protocol} protocol, and as ${before.probe.keyHeader} for another protocol`,
      hint: 'Set up each client separately, with a different --name NAME.',
    }
  if (before.side === side && before.root !== root)
    return {
      message: `The gateway serves the ${probe.protocol} protocol at ${root}, and another protocol at ${before.root}`,
      hint: 'Set up each client separately, each with its address (--base-url URL).',
    }
  return undefined
}

type ProbeQuestion = [protocol: Protocol, model: string, options?: Omit<ProbeOptions, 'roots'>]

function sideOf(protocol: Protocol): keyof BaseUrls {
  return protocol === 'messages' ? 'messages' : 'chat'
}
