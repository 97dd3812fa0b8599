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
  readonly #given: GatewayAccess
  /** Every access that sent requests: each has its own connections. */
  readonly #used: GatewayAccess[]
  /** What has answered so far, or what the user named. */
  #answered: readonly Answered[] = []
  /**
   * Finds the header for the key, once, when a key is first rejected. Resolves to undefined if no other
   * header works.
   */
  #taking: Promise<GatewayAccess | undefined> | undefined
  /** The error of the first probe, if it is the answer to every other probe as well. */
  #failedForAll: Promise<UserError | undefined> | undefined
  /** The access with the header that is known to work so far. */
  #taken: GatewayAccess

  /** @param given whether the user named the messages base URL */
  constructor(access: GatewayAccess, given: { readonly isMessagesGiven?: boolean } = {}) {
    this.#given = access
    this.#taken = access
    this.#used = [access]
    if (given.isMessagesGiven)
      this.#answered = [{ side: 'messages', root: access.baseUrls.messages }]
  }

  /**
   * The access with the base URLs that have answered so far, and the header that the gateway accepts the
   * key in.
   */
  get access(): GatewayAccess {
    const { baseUrls } = this.#given
    const found: BaseUrls = {
      chat: this.#rootOf('chat') ?? baseUrls.chat,
      messages: this.#rootOf('messages') ?? baseUrls.messages,
    }
    return isSameRoots(found, baseUrls) ? this.#taken : { ...this.#taken, baseUrls: found }
  }

  /** Closes the idle connections. */
  async hangUp(): Promise<void> {
    for (const access of this.#used) await closeIdleConnections(access)
  }

  /** As `catalogOrError`. */
  async askCatalog(options: Omit<CatalogOptions, 'root'> = {}): Promise<Catalog | UserError> {
    const answer = await this.#askForList(options)
    if (!(answer instanceof RefusedAsSent)) return answer

    this.#taking ??= this.#takenForList()
    return (await this.#taking) === undefined ? answer : this.#askForList(options)
  }

  async #askForList(options: Omit<CatalogOptions, 'root'>): Promise<Catalog | UserError> {
    const [usual, ...others] = this.#candidates('chat')
    const askAt = async (root: string): Promise<Catalog | UserError> => {
      const answer = await catalogOrError(this.#taken, { ...options, root })
      if (!(answer instanceof UserError)) this.#note({ side: 'chat', root })
      return answer
    }

    const first = await askAt(usual!)
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

  /**
   * As `probe`. Until the first answer, nobody knows whether the gateway accepts the key, so only one request
   * has it. Its rejection, or a failure of the network, is the answer to the other questions as well.
   *
   * @throws UserError as `probe` does
   */
  async probe(...question: ProbeQuestion): Promise<ProbeResult> {
    const roots = this.#candidates(sideOf(question[0]))
    if (this.#failedForAll === undefined) {
      const answer = this.#probe(question, roots)
      this.#failedForAll = answer.then(() => undefined, errorForAll)
      return answer
    }
    const failure = await this.#failedForAll
    const isOtherHeader = question[2]?.sender?.keyHeader !== undefined
    if (failure !== undefined && !isOtherHeader) throw failure
    // The roots from before the first answer: another protocol may be at another one.
    return this.#probe(question, roots)
  }

  async #probe(question: ProbeQuestion, roots: readonly string[]): Promise<ProbeResult> {
    const first = this.#taken
    try {
      return await this.#askForWord(first, question, roots)
    } catch (refusal) {
      if (refusal instanceof UserError && refusal.code === 'quota')
        return this.#askOtherProducts(question, refusal)
      if (!(refusal instanceof RefusedAsSent)) throw refusal

      if (this.#taking !== undefined) {
        const access = await this.#taking
        if (access === undefined) throw refusal
        // Another protocol may take the key in another header.
        return this.#askForWord(access === first ? this.#given : access, question)
      }

      const trial = this.#tryElsewhere(question, refusal)
      this.#taking = trial.then(({ access }) => access)
      const { word } = await trial
      if (word instanceof Error) throw word
      return word
    }
  }

  /**
   * On some hosts, a plan has a separate base URL, and a balance of zero at the others. If the user typed
   * only the host, repoint tries the plan as well. A path that the user typed is the one to use.
   */
  async #askOtherProducts(question: ProbeQuestion, refusal: UserError): Promise<ProbeResult> {
    const [protocol, model, options] = question
    const { baseUrl } = this.#given
    const side = sideOf(protocol)
    const { origin, pathname } = new URL(baseUrl)
    const asked = this.access.baseUrls[side]
    const others = productsAt(baseUrl).flatMap(({ name, product = '', [side]: path }) =>
      path === undefined || asked === origin + path ? [] : [{ name, product, root: origin + path }],
    )

    if (pathname === '/')
      for (const { root } of others) {
        try {
          const result = await probe(this.#taken, protocol, model, { ...options, roots: [root] })
          const keyHeader = this.#taken.keyHeader ?? 'authorization'
          // The catalog came from the other product.
          const isList = (one: Answered) => one.side === side && one.word === undefined
          this.#answered = this.#answered.filter((one) => !isList(one))
          this.#note({ side, root, word: { protocol, keyHeader } })
          return result
        } catch (error) {
          if (!(error instanceof UserError)) throw error
        }
      }

    const hints = others.map(
      ({ name, product }) => `If the key is for ${name}: --base-url ${origin}${product}`,
    )
    throw withHint(refusal, hints.join(' '))
  }

  /** Requests the catalog with the key in every other header, then finds out which header worked. */
  async #takenForList(): Promise<GatewayAccess | undefined> {
    const { key, keyHeader, headers = [] } = this.#given
    if (keyHeader !== undefined) {
      const asBearer = this.#with({ keyHeader: undefined })
      return (await this.#takesKey(asBearer)) ? this.#take(asBearer) : undefined
    }

    const [first, second] = keyHeaders
    const beside: ExtraHeader = { name: second, value: key, isSecret: true }
    const inBoth = this.#with({ keyHeader: first, headers: [...headers, beside] })
    if (!(await this.#takesKey(inBoth))) return undefined

    const inFirst = this.#with({ keyHeader: first })
    const isFirst = await this.#takesKey(inFirst)
    return this.#take(isFirst ? inFirst : this.#with({ keyHeader: second }))
  }

  async #takesKey(access: GatewayAccess): Promise<boolean> {
    const answer = await ask(access, catalogRequest(this.access.baseUrls.chat))
    if (!('status' in answer) || answer.status === 401 || answer.status === 403) return false
    // Some gateways reject a key in the body of a 200.
    const outcome = judge(access, answer, { asked: 'catalog' })
    return outcome === undefined || traitsOf(outcome)?.blames !== 'key'
  }

  /** Probes with the key in the protocol's usual header other than Bearer. */
  async #tryElsewhere(question: ProbeQuestion, refusal: UserError): Promise<Trial> {
    const usual = question[0] === 'messages' ? 'x-api-key' : 'api-key'
    const access = this.#with({
      keyHeader: this.#given.keyHeader === undefined ? usual : undefined,
    })
    try {
      const word = await this.#askForWord(access, question)
      return { access: this.#take(access), word }
    } catch (error) {
      if (!(error instanceof UserError)) return { access: undefined, word: error as Error }
      const isSilent = traitsOf(error)?.blames === 'network'
      if (error instanceof RefusedAsSent || isSilent) return { access: undefined, word: refusal }
      // The gateway has answered other requests with the key in the first header.
      if (error instanceof Contradiction) return { access: undefined, word: error }
      return { access: this.#take(access), word: error }
    }
  }

  #with(authStyle: Pick<GatewayAccess, 'keyHeader' | 'headers'>): GatewayAccess {
    const access = { ...this.#given, ...authStyle }
    this.#used.push(access)
    return access
  }

  #take(access: GatewayAccess): GatewayAccess {
    this.#taken = access
    return access
  }

  async #askForWord(
    access: GatewayAccess,
    [protocol, model, options]: ProbeQuestion,
    roots = this.#candidates(sideOf(protocol)),
  ): Promise<ProbeResult> {
    const side = sideOf(protocol)
    const result = await probe(access, protocol, model, { ...options, roots })
    const keyHeader = access.keyHeader ?? 'authorization'
    this.#note({ side, root: result.root, word: { protocol, keyHeader } })
    return result
  }

  #rootOf(side: keyof BaseUrls): string | undefined {
    return this.#answered.find((one) => one.side === side)?.root
  }

  /** The possible base URLs for this side, most likely first. If one has answered, it is the only one. */
  #candidates(side: keyof BaseUrls): readonly string[] {
    const found = this.#rootOf(side)
    if (found !== undefined) return [found]
    const { baseUrl, baseUrls } = this.#given
    const others = side === 'messages' ? messagesRoots : chatRoots
    return [...new Set([baseUrls[side], ...others(baseUrl)])]
  }

  /** @throws UserError if the answer contradicts an earlier one */
  #note(answer: Answered): void {
    const contradiction = this.#answered.map((one) => difference(one, answer)).find(Boolean)
    if (contradiction !== undefined)
      throw new Contradiction({ code: 'protocol-unsupported', ...contradiction })
    this.#answered = [...this.#answered, answer]
  }
}

/** The two answers need different settings, and one saved gateway cannot have both. */
class Contradiction extends UserError {}

/** A base URL that answered. Without `word`, it answered the catalog request or the user named it. */
interface Answered {
  readonly side: keyof BaseUrls
  readonly root: string
  readonly word?: { readonly protocol: Protocol; readonly keyHeader: string }
}

/**
 * The result of a probe with the key in another header. Without `access`, the gateway rejects that header
 * too.
 */
interface Trial {
  readonly access: GatewayAccess | undefined
  readonly word: ProbeResult | Error
}

/** Why one saved gateway cannot have the settings of two answers. */
function difference(
  before: Answered,
  { side, root, word }: Answered,
): { readonly message: string; readonly hint: string } | undefined {
  if (word === undefined) return undefined
  if (before.word !== undefined && before.word.keyHeader !== word.keyHeader)
    return {
      message: `The gateway accepts the key as ${word.keyHeader} for the ${word.protocol} protocol, and as ${before.word.keyHeader} for another protocol`,
      hint: 'Set up each client separately, with a different --name NAME.',
    }
  if (before.side === side && before.root !== root)
    return {
      message: `The gateway serves the ${word.protocol} protocol at ${root}, and another protocol at ${before.root}`,
      hint: 'Set up each client separately, each with its address (--base-url URL).',
    }
  return undefined
}

/** The error if no other question can have a better answer. */
function errorForAll(error: unknown): UserError | undefined {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  return blamed === 'key' || blamed === 'network' ? (error as UserError) : undefined
}

type ProbeQuestion = [protocol: Protocol, model: string, options?: Omit<ProbeOptions, 'roots'>]

function sideOf(protocol: Protocol): keyof BaseUrls {
  return protocol === 'messages' ? 'messages' : 'chat'
}
