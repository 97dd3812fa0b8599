import { exitStatus, UserError } from '../errors.ts'
import { ask, KeyUnread, withHint } from './ask.ts'
import { type CatalogOptions, catalogOrError, catalogRequest } from './catalog.ts'
import { hangUp } from './http/request.ts'
import { isAboutAddress, isOfApi, type ProbeOptions, type ProbeResult, probe } from './probe.ts'
import { chatRoots, isSameRoots, messagesRoots } from './roots.ts'
import {
  type Catalog,
  type ExtraHeader,
  type GatewayAccess,
  keyHeaders,
  type ProtocolName,
  type Roots,
} from './types.ts'

/**
 * Asks a gateway, and learns on the way where its routes hang: each question goes first to where they
 * are expected, and only where what answers there is not the API, to other places in the same origin.
 * A key that is refused is sent once more, in the other headers that gateways take keys in. What has
 * answered is kept.
 */
export class GatewayFinder {
  #access: GatewayAccess
  /** Every one that was asked with: connections belong to it. */
  readonly #used: GatewayAccess[]
  /** Whether a refused key was taken in another header; absent: none was refused so far. */
  #isTaken: Promise<boolean> | undefined
  /** The header with the key of the first word that was answered. */
  #answeredTo: string | undefined
  #roots: Roots
  /** Which of them has answered, or was said by a person. */
  readonly #found: Record<keyof Roots, boolean>

  /** @param given whether a person has said where the messages protocol hangs */
  constructor(access: GatewayAccess, given: { readonly isMessagesGiven?: boolean } = {}) {
    this.#access = access
    this.#used = [access]
    this.#roots = access.roots
    this.#found = { chat: false, messages: given.isMessagesGiven === true }
  }

  /** With the roots that have answered so far, and the header in which the key was taken. */
  get access(): GatewayAccess {
    return isSameRoots(this.#roots, this.#access.roots)
      ? this.#access
      : { ...this.#access, roots: this.#roots }
  }

  /** Ends the connections that wait for another request. */
  async hangUp(): Promise<void> {
    for (const access of this.#used) await hangUp(access)
  }

  /** As `catalogOrError`. */
  async askCatalog(options: Omit<CatalogOptions, 'root'> = {}): Promise<Catalog | UserError> {
    const answer = await this.#askForList(options)
    if (!(answer instanceof KeyUnread)) return answer
    this.#isTaken ??= this.#isTakenForList()
    return (await this.#isTaken) ? this.#askForList(options) : answer
  }

  async #askForList(options: Omit<CatalogOptions, 'root'>): Promise<Catalog | UserError> {
    const [usual, ...others] = this.#candidates('chat')
    const askAt = async (root: string): Promise<Catalog | UserError> => {
      const answer = await catalogOrError(this.#access, { ...options, root })
      if (!(answer instanceof UserError)) this.#keep('chat', root)
      return answer
    }

    const first = await askAt(usual!)
    if (!(first instanceof UserError) || !isAboutAddress(first)) return first
    for (const root of others) {
      const answer = await askAt(root)
      if (!(answer instanceof UserError) || isOfApi(answer)) return answer
    }
    if (others.length === 0) return first
    return withHint(first, `Asked too: ${others.map((root) => `${root}/models`).join(', ')}.`)
  }

  /** @throws UserError as `probe` does */
  async probe(...question: ProbeQuestion): Promise<ProbeResult> {
    try {
      return await this.#probe(this.#access, question)
    } catch (error) {
      if (!(error instanceof KeyUnread)) throw error
      if (this.#isTaken !== undefined) {
        if (await this.#isTaken) return this.#probe(this.#access, question)
        throw error
      }
      const again = this.#probeElsewhere(question, error)
      this.#isTaken = again.then(
        () => true,
        (failure) => failure !== error,
      )
      return again
    }
  }

  /** Asks for the list with the key in every other header, then which of them it was. */
  async #isTakenForList(): Promise<boolean> {
    const { key, keyHeader, headers = [] } = this.#access
    const isTaken = async (access: GatewayAccess) => {
      const answer = await ask(access, catalogRequest(this.#roots.chat))
      return 'status' in answer && answer.status !== 401 && answer.status !== 403
    }
    if (keyHeader !== undefined) {
      const asBearer = this.#with({ keyHeader: undefined })
      if (!(await isTaken(asBearer))) return false
      this.#access = asBearer
      return true
    }

    const [first, second] = keyHeaders
    const beside: ExtraHeader = { name: second, value: key, isSecret: true }
    const inBoth = this.#with({ keyHeader: first, headers: [...headers, beside] })
    if (!(await isTaken(inBoth))) return false
    const inFirst = this.#with({ keyHeader: first })
    this.#access = (await isTaken(inFirst)) ? inFirst : this.#with({ keyHeader: second })
    return true
  }

  /**
   * One word with the key in the header that is usual for the protocol beside Bearer.
   *
   * @throws UserError `refusal` itself, where it is refused there too or not answered
   */
  async #probeElsewhere(question: ProbeQuestion, refusal: UserError): Promise<ProbeResult> {
    const usual = question[0] === 'messages' ? 'x-api-key' : 'api-key'
    const keyHeader = this.#access.keyHeader === undefined ? usual : undefined
    const access = this.#with({ keyHeader })
    try {
      const result = await this.#probe(access, question)
      this.#access = access
      return result
    } catch (error) {
      const isSilent = error instanceof UserError && exitStatus[error.code] === exitStatus.refused
      if (error instanceof KeyUnread || isSilent) throw refusal
      this.#access = access
      throw error
    }
  }

  #with(way: Pick<GatewayAccess, 'keyHeader' | 'headers'>): GatewayAccess {
    const access = { ...this.#access, ...way }
    this.#used.push(access)
    return access
  }

  async #probe(
    access: GatewayAccess,
    [protocol, model, options]: ProbeQuestion,
  ): Promise<ProbeResult> {
    const roots = this.#candidates(protocol)
    const result = await probe(access, protocol, model, { ...options, roots })
    this.#keepKeyHeader(protocol, access)
    this.#keep(protocol, result.root)
    return result
  }

  /** @throws UserError where another question has had its answer with the key in another header */
  #keepKeyHeader(protocol: ProtocolName, access: GatewayAccess): void {
    const keyHeader = access.keyHeader ?? 'authorization'
    this.#answeredTo ??= keyHeader
    if (this.#answeredTo === keyHeader) return
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The gateway takes the key as ${keyHeader} for the ${protocol} protocol, and as ${this.#answeredTo} for another`,
      hint: 'Set these clients up one by one, each with a --name of its own for the gateway.',
    })
  }

  /** Where this protocol may hang, the likeliest first; what has answered is the only one. */
  #candidates(protocol: ProtocolName): readonly string[] {
    const side = sideOf(protocol)
    const likeliest = this.#roots[side]
    if (this.#found[side]) return [likeliest]
    const others = side === 'messages' ? messagesRoots : chatRoots
    return [...new Set([likeliest, ...others(this.#access.baseUrl)])]
  }

  /** @throws UserError where another question about the chat root has had its answer elsewhere */
  #keep(protocol: ProtocolName, root: string): void {
    const side = sideOf(protocol)
    if (this.#found[side] && this.#roots[side] !== root)
      throw new UserError({
        code: 'protocol-unsupported',
        message: `The gateway serves the ${protocol} protocol at ${root}, and another at ${this.#roots[side]}`,
        hint: 'Set these clients up one by one, each with its own address.',
      })
    this.#found[side] = true
    this.#roots = { ...this.#roots, [side]: root }
  }
}

type ProbeQuestion = [protocol: ProtocolName, model: string, options?: Omit<ProbeOptions, 'roots'>]

function sideOf(protocol: ProtocolName): keyof Roots {
  return protocol === 'messages' ? 'messages' : 'chat'
}
