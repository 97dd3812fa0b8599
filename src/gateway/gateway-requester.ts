import { UserError } from '../errors.ts'
import { baseUrlsToAsk, sameBaseUrls, sideOf } from './base-urls.ts'
import { type CatalogOptions, catalogSpec, requestCatalog } from './catalog.ts'
import { productsAt } from './hosts.ts'
import { closeIdleConnections } from './http/request.ts'
import { judge, KeyHeaderError, withHint } from './judge/judge.ts'
import { isAboutAddress, isFromApi, mayHelp, traitsOf } from './judge/traits.ts'
import type { Outcome } from './judge/types.ts'
import { type ProbeRequest, type ProbeResult, probe } from './probe/probe.ts'
import { sendWithKey } from './send.ts'
import {
  type BaseUrls,
  type CatalogAnswer,
  type ExtraHeader,
  type GatewayAccess,
  type KeyHeader,
  otherKeyHeaders,
  type Protocol,
} from './types.ts'

/**
 * Sends requests to a gateway and learns from the answers how to reach it: its base URLs, and the header that
 * it accepts the key in. It remembers what answered, so that later requests need no search.
 *
 * - A request is sent first to the expected base URL. If no API answers there, other paths of the same
 *   origin are tried (base-urls.ts).
 * - If the gateway rejects the key, the key is sent once more in the other headers for keys.
 * - If the account has no credit left, the base URLs of the host's other products are tried.
 */
export class GatewayRequester {
  /** The access as the constructor received it. */
  readonly #original: GatewayAccess
  /** The access with the header that is known to work so far. */
  #current: GatewayAccess
  /** Every access that sent requests. Each has separate connections, which `hangUp` closes. */
  readonly #used: GatewayAccess[]
  /** The base URLs that have answered so far, or that the user named. */
  readonly #answered = new AnsweredBaseUrls()
  /**
   * The search for the header that the gateway accepts the key in. It starts when a key is first rejected,
   * runs once, and resolves to undefined if no other header works.
   */
  #headerSearch: Promise<GatewayAccess | undefined> | undefined

  /** The base URLs and the key header of a client's files are tested as they are. */
  readonly #isFixed: boolean

  /** @param options whether the user named the messages base URL, or a client's files name everything */
  constructor(
    access: GatewayAccess,
    options: { readonly isMessagesGiven?: boolean; readonly isFixed?: boolean } = {},
  ) {
    this.#isFixed = options.isFixed === true
    this.#original = access
    this.#current = access
    this.#used = [access]
    if (options.isMessagesGiven)
      this.#answered.remember({ side: 'messages', baseUrl: access.baseUrls.messages })
  }

  /**
   * The access with the base URLs that have answered so far, and the header that the gateway accepts the
   * key in.
   */
  get access(): GatewayAccess {
    const { baseUrls } = this.#original
    const answered: BaseUrls = {
      chat: this.#answered.at('chat') ?? baseUrls.chat,
      messages: this.#answered.at('messages') ?? baseUrls.messages,
    }
    if (sameBaseUrls(answered, baseUrls)) return this.#current
    return { ...this.#current, baseUrls: answered }
  }

  async hangUp(): Promise<void> {
    for (const access of this.#used) await closeIdleConnections(access)
  }

  async requestCatalog(options: Omit<CatalogOptions, 'baseUrl'> = {}): Promise<CatalogAnswer> {
    const answer = await this.#searchCatalog(options)
    if (this.#isFixed || answer.kind !== 'failed' || !(answer.error instanceof KeyHeaderError))
      return answer

    this.#headerSearch ??= this.#findHeader(answer.error.header, (access) =>
      this.#acceptsKey(access),
    )
    return (await this.#headerSearch) === undefined ? answer : this.#searchCatalog(options)
  }

  async #searchCatalog(options: Omit<CatalogOptions, 'baseUrl'>): Promise<CatalogAnswer> {
    const [expectedBaseUrl, ...alternatives] = this.#candidates('chat')
    const requestAt = async (baseUrl: string): Promise<CatalogAnswer> => {
      const answer = await requestCatalog(this.#current, { ...options, baseUrl })
      if (answer.kind === 'received') this.#answered.remember({ side: 'chat', baseUrl })
      return answer
    }

    const expected = await requestAt(expectedBaseUrl!)
    if (expected.kind === 'received' || !isAboutAddress(expected.error)) return expected

    for (const baseUrl of alternatives) {
      const answer = await requestAt(baseUrl)
      if (answer.kind === 'received' || isFromApi(answer.error)) return answer
    }

    if (alternatives.length === 0) return expected
    const urls = alternatives.map((baseUrl) => `${baseUrl}/models`)
    const error = withHint(expected.error, `repoint also asked ${urls.join(', ')}.`)
    return { kind: 'failed', error }
  }

  /** @throws UserError as `probe` does */
  async probe(request: ProbeRequest): Promise<ProbeResult> {
    // A search for the header may replace `#current` before the answer arrives.
    const access = this.#current
    try {
      return await this.#probeAt(access, request)
    } catch (error) {
      if (this.#isFixed) throw error
      if (error instanceof UserError && mayHelp('product', error))
        return this.#probeOtherProducts(request, error)
      if (error instanceof KeyHeaderError) return this.#probeWithOtherHeader(access, request, error)
      throw error
    }
  }

  /**
   * Probes once more with the key in another header. Each protocol may take the key in a different one:
   *
   *     The search for a header    The rejected header    The next request
   *     has not started            the original one       is the search
   *     finds none                 the original one       none
   *     finds one                  the original one       has the header that it finds
   *     has found one              the found one          has the original header
   */
  async #probeWithOtherHeader(
    rejected: GatewayAccess,
    request: ProbeRequest,
    rejection: KeyHeaderError,
  ): Promise<ProbeResult> {
    if (this.#headerSearch === undefined) return this.#findHeaderByProbe(request, rejection)

    const found = await this.#headerSearch
    if (found === undefined) throw rejection
    return this.#probeAt(rejected === found ? this.#original : found, request)
  }

  /**
   * On some hosts, a plan has a separate base URL, and a balance of zero at the others. If the user typed
   * only the host, repoint tries the plan as well. A path that the user typed is the one to use, so the
   * other products become a hint.
   */
  async #probeOtherProducts(request: ProbeRequest, rejection: UserError): Promise<ProbeResult> {
    const { protocol } = request
    const side = sideOf(protocol)
    const products = this.#otherProducts(side)
    const { origin, pathname } = new URL(this.#original.address)

    if (pathname === '/') {
      for (const { baseUrl } of products) {
        try {
          const result = await probe(this.#current, request, [baseUrl])
          this.#answered.forgetCatalog(side)
          this.#rememberProbe(this.#current, protocol, baseUrl)
          return result
        } catch (error) {
          if (!(error instanceof UserError)) throw error
        }
      }
    }

    const hints = products.map(
      ({ name, product }) => `If the key is for ${name}: {--base-url ${origin}${product}}`,
    )
    throw withHint(rejection, hints.join(' '))
  }

  /** The products of the host at other base URLs than the current one. */
  #otherProducts(side: keyof BaseUrls): readonly Product[] {
    const { address } = this.#original
    const { origin } = new URL(address)
    const currentBaseUrl = this.access.baseUrls[side]
    return productsAt(address).flatMap(({ name, product = '', [side]: path }) => {
      const baseUrl = origin + path
      return path === undefined || baseUrl === currentBaseUrl ? [] : [{ name, product, baseUrl }]
    })
  }

  /**
   * Finds the header in which the gateway accepts the key: one request has the key in all others at once, so a wrong
   * key is sent twice. If it is accepted, one request for each tells which header counted.
   *
   * @param named the header that the gateway asks for, in addition to the usual ones
   */
  async #findHeader(
    named: string | undefined,
    isAccepted: (access: GatewayAccess) => Promise<boolean>,
  ): Promise<GatewayAccess | undefined> {
    const { key, keyHeader, headers = [] } = this.#original
    if (keyHeader !== 'authorization') {
      const asBearer = this.#newAccess({ keyHeader: 'authorization' })
      return (await isAccepted(asBearer)) ? this.#adopt(asBearer) : undefined
    }

    const inHeader = (name: string): ExtraHeader => ({ name, value: key, isSecret: true })
    const others = [...new Set([named, 'apikey'])].filter((name) => name !== undefined)
    const extra = others.filter((name) => !otherKeyHeaders.some((usual) => usual === name))
    const [first, ...usual] = otherKeyHeaders
    const atOnce = this.#newAccess({
      keyHeader: first,
      headers: [...headers, ...[...usual, ...extra].map(inHeader)],
    })
    if (!(await isAccepted(atOnce))) return undefined

    const each = [
      ...otherKeyHeaders.map((header) => ({ keyHeader: header })),
      ...extra.map((name) => ({ headers: [...headers, inHeader(name)] })),
    ]
    for (const way of each.slice(0, -1)) {
      const access = this.#newAccess(way)
      if (await isAccepted(access)) return this.#adopt(access)
    }
    return this.#adopt(this.#newAccess(each.at(-1)!))
  }

  async #acceptsKey(access: GatewayAccess): Promise<boolean> {
    const result = await sendWithKey(access, catalogSpec(this.access.baseUrls.chat))
    const judged = judge(access, result, { route: 'catalog' })
    if (judged.kind !== 'unusable') return judged.kind === 'served'

    // Some gateways reject a key in the body of a 200.
    const isKeyStatus = [401, 403].includes(judged.response.status)
    return !isKeyStatus && traitsOf(judged.outcome)?.blames !== 'key'
  }

  /** Probes with the key in the other headers. */
  async #findHeaderByProbe(request: ProbeRequest, rejection: KeyHeaderError): Promise<ProbeResult> {
    let last: Promise<ProbeResult> = Promise.reject(rejection)
    let lastAccess: GatewayAccess | undefined
    last.catch(() => {})
    this.#headerSearch = this.#findHeader(rejection.header, (access) => {
      // Only the header that counts is remembered.
      last = probe(access, request, this.#candidates(sideOf(request.protocol)))
      lastAccess = access
      return last.then(
        () => true,
        (error) => acceptsKeyDespite(error),
      )
    })

    const found = await this.#headerSearch
    if (found === undefined) {
      const error = await last.catch((reason: unknown) => reason)
      throw error instanceof KeyHeaderError || isUnreachable(error) ? rejection : error
    }
    if (found !== lastAccess) return this.#probeAt(found, request)
    const result = await last
    this.#rememberProbe(found, request.protocol, result.baseUrl)
    return result
  }

  /** A new access with the key in another header. */
  #newAccess(authStyle: Partial<Pick<GatewayAccess, 'keyHeader' | 'headers'>>): GatewayAccess {
    const access = { ...this.#original, ...authStyle }
    this.#used.push(access)
    return access
  }

  /** Uses an access for all later requests. */
  #adopt(access: GatewayAccess): GatewayAccess {
    this.#current = access
    return access
  }

  async #probeAt(access: GatewayAccess, request: ProbeRequest): Promise<ProbeResult> {
    const { protocol } = request
    const result = await probe(access, request, this.#candidates(sideOf(protocol)))
    this.#rememberProbe(access, protocol, result.baseUrl)
    return result
  }

  /** The possible base URLs for this side, most likely first. If one has answered, it is the only one. */
  #candidates(side: keyof BaseUrls): readonly string[] {
    const answered = this.#answered.at(side)
    if (answered !== undefined) return [answered]

    return this.#isFixed ? [this.#original.baseUrls[side]] : baseUrlsToAsk(this.#original, side)
  }

  #rememberProbe(access: GatewayAccess, protocol: Protocol, baseUrl: string): void {
    const { keyHeader } = access
    this.#answered.remember({ side: sideOf(protocol), baseUrl, probe: { protocol, keyHeader } })
  }
}

/** Whether a probe fails although the gateway accepts the key in its header. */
function acceptsKeyDespite(error: unknown): boolean {
  if (!(error instanceof UserError) || error instanceof KeyHeaderError) return false
  // After a contradiction, other requests have succeeded with the key in the first header.
  return !(error instanceof Contradiction) && !isUnreachable(error)
}

function isUnreachable(error: unknown): boolean {
  return error instanceof UserError && traitsOf(error)?.blames === 'connection'
}

/** A product of the gateway's host, with its base URL. */
interface Product {
  readonly name: string
  /** Its path, as users type it after the host. */
  readonly product: string
  readonly baseUrl: string
}

interface AnsweredBaseUrl {
  readonly side: keyof BaseUrls
  readonly baseUrl: string
  /** The probe that it answered. Absent: it answered the catalog request, or the user named it. */
  readonly probe?: { readonly protocol: Protocol; readonly keyHeader: KeyHeader }
}

class AnsweredBaseUrls {
  #answers: readonly AnsweredBaseUrl[] = []

  at(side: keyof BaseUrls): string | undefined {
    return this.#answers.find((answer) => answer.side === side)?.baseUrl
  }

  /** @throws Contradiction if the answer and an earlier one need different settings */
  remember(answer: AnsweredBaseUrl): void {
    const contradiction = this.#answers
      .map((earlier) => contradictionBetween(earlier, answer))
      .find(Boolean)
    if (contradiction !== undefined)
      throw new Contradiction({ code: 'protocol-unsupported', ...contradiction })
    this.#answers = [...this.#answers, answer]
  }

  /** Drops the base URL of the catalog: it belongs to a different product from the one that answered. */
  forgetCatalog(side: keyof BaseUrls): void {
    const isFromCatalog = (answer: AnsweredBaseUrl) =>
      answer.side === side && answer.probe === undefined
    this.#answers = this.#answers.filter((answer) => !isFromCatalog(answer))
  }
}

/** Two answers need different settings, and one saved gateway cannot have both. */
class Contradiction extends UserError {}

/** Why one saved gateway cannot have the settings of two answers. Undefined: it can. */
function contradictionBetween(
  earlier: AnsweredBaseUrl,
  { side, baseUrl, probe }: AnsweredBaseUrl,
): Pick<Outcome, 'message' | 'hint'> | undefined {
  if (probe === undefined) return undefined
  if (earlier.probe !== undefined && earlier.probe.keyHeader !== probe.keyHeader)
    return {
      message: `The gateway accepts the key as ${probe.keyHeader} for the ${probe.protocol} protocol, and as ${earlier.probe.keyHeader} for another protocol`,
      hint: 'Set up each client separately, with a different --name NAME.',
    }
  if (earlier.side === side && earlier.baseUrl !== baseUrl)
    return {
      message: `The gateway serves the ${probe.protocol} protocol at ${baseUrl}, and another protocol at ${earlier.baseUrl}`,
      hint: 'Set up each client separately, each with its address: {--base-url URL}',
    }
  return undefined
}
