import { UserError } from '../errors.ts'
import { type CatalogOptions, catalogOrError } from './catalog.ts'
import { isAboutAddress, isOfApi, type ProbeOptions, type ProbeResult, probe } from './probe.ts'
import { chatRoots, isSameRoots, messagesRoots, rootFor } from './roots.ts'
import type { Catalog, GatewayAccess, ProtocolName, Roots } from './types.ts'

/**
 * Asks a gateway, and learns on the way where its routes hang: each question goes first to where they
 * are expected, and only where what answers there is not the API, to other places in the same origin.
 * What has answered is kept.
 */
export class GatewayFinder {
  readonly #access: GatewayAccess
  readonly #isMessagesGiven: boolean
  #roots: Roots
  readonly #found = { chat: false, messages: false }

  /** @param given whether a person has said where the messages protocol hangs */
  constructor(access: GatewayAccess, given: { readonly isMessagesGiven?: boolean } = {}) {
    this.#access = access
    this.#isMessagesGiven = given.isMessagesGiven === true
    this.#roots = access.roots
  }

  /** With the roots that have answered so far. Open connections belong to the access of the beginning. */
  get access(): GatewayAccess {
    return isSameRoots(this.#roots, this.#access.roots)
      ? this.#access
      : { ...this.#access, roots: this.#roots }
  }

  /** As `catalogOrError`. */
  async askCatalog(options: Omit<CatalogOptions, 'root'> = {}): Promise<Catalog | UserError> {
    const [usual, ...others] = this.#candidates('chat')
    const askAt = (root: string) => catalogOrError(this.#access, { ...options, root })
    const first = await askAt(usual!)
    if (!(first instanceof UserError)) this.#keep('chat', usual!)
    if (!(first instanceof UserError) || !isAboutAddress(first)) return first

    for (const root of others) {
      const answer = await askAt(root)
      if (!(answer instanceof UserError)) this.#keep('chat', root)
      if (!(answer instanceof UserError) || isOfApi(answer)) return answer
    }
    return others.length === 0 ? first : withOthers(first, others)
  }

  /** @throws UserError as `probe` does */
  async probe(
    protocol: ProtocolName,
    model: string,
    options: Omit<ProbeOptions, 'roots'> = {},
  ): Promise<ProbeResult> {
    const roots = this.#candidates(protocol)
    const result = await probe(this.#access, protocol, model, { ...options, roots })
    this.#keep(protocol, result.root)
    return result
  }

  /** Where this protocol may hang, the likeliest first; what has answered is the only one. */
  #candidates(protocol: ProtocolName): readonly string[] {
    const likeliest = rootFor(this.#roots, protocol)
    const { baseUrl } = this.#access
    if (protocol !== 'messages')
      return this.#found.chat ? [likeliest] : unique([likeliest, ...chatRoots(baseUrl)])
    return this.#found.messages || this.#isMessagesGiven
      ? [likeliest]
      : unique([likeliest, ...messagesRoots(baseUrl)])
  }

  /** @throws UserError where another question about the chat root has had its answer elsewhere */
  #keep(protocol: ProtocolName, root: string): void {
    const side = protocol === 'messages' ? 'messages' : 'chat'
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

function unique(roots: readonly string[]): readonly string[] {
  return [...new Set(roots)]
}

/** The words about the first address, with the others named. */
function withOthers(
  { code, message, hint, cause }: UserError,
  others: readonly string[],
): UserError {
  const asked = `Asked too: ${others.map((root) => `${root}/models`).join(', ')}.`
  return new UserError({
    code,
    message,
    hint: hint === undefined ? asked : `${hint} ${asked}`,
    cause,
  })
}
