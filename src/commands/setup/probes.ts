import { type Client, type ModelChoice, protocolOf } from '../../clients/client.ts'
import { idsToProve } from '../../clients/models.ts'
import { UserError } from '../../errors.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import type { ProbeOptions, ProbeResult } from '../../gateway/probe.ts'
import type { Catalog, ProtocolName } from '../../gateway/types.ts'

/** One id that a client will send, and what the gateway said to it. */
export interface Probed {
  readonly id: string
  readonly result: PromiseSettledResult<ProbeResult>
}

/** As `probe` of a gateway. */
type ProbeOne = (
  protocol: ProtocolName,
  model: string,
  options: Pick<ProbeOptions, 'catalog' | 'unservedHint'>,
) => Promise<ProbeResult>

/** One small inference for each protocol and model, however often it is asked about: each costs. */
export class Probes {
  readonly #probe: ProbeOne
  readonly #list: Catalog | UserError
  readonly #asked = new Map<string, Promise<ProbeResult>>()

  constructor(probe: ProbeOne, list: Catalog | UserError) {
    this.#probe = probe
    this.#list = list
  }

  get catalog(): Catalog | undefined {
    return this.#list instanceof UserError ? undefined : this.#list
  }

  /** @throws UserError as `probe` does */
  ask(protocol: ProtocolName, model: string, unservedHint?: string): Promise<ProbeResult> {
    const question = `${protocol} ${model}`
    const known = this.#asked.get(question)
    if (known !== undefined) return known
    const answer = this.#probe(protocol, model, { catalog: this.#list, unservedHint })
    this.#asked.set(question, answer)
    return answer
  }

  /** Asks for all that a client will send, side by side. Never throws. */
  async askFor(client: Client, choice: ModelChoice): Promise<readonly Probed[]> {
    const protocol = protocolOf(client, choice)
    const ids = idsToProve(choice, this.catalog)
    const hintFor = (id: string) => (id === choice.probeModel ? choice.probeCure : undefined)
    const results = await Promise.allSettled(ids.map((id) => this.ask(protocol, id, hintFor(id))))
    return results.map((result, index) => ({ id: ids[index]!, result }))
  }

  /** What of a choice no question has been asked about yet. */
  newIds(client: Client, choice: ModelChoice): readonly string[] {
    const protocol = protocolOf(client, choice)
    const ids = idsToProve(choice, this.catalog)
    return ids.filter((id) => !this.#asked.has(`${protocol} ${id}`))
  }

  /** The first of these that the gateway serves. @throws UserError as `probe` does, for the last */
  async firstServed(protocol: ProtocolName, ids: readonly string[]): Promise<string> {
    for (const id of ids.slice(0, -1))
      try {
        await this.ask(protocol, id)
        return id
      } catch (error) {
        if (!isUnserved(error)) throw error
      }
    return ids.at(-1)!
  }
}

/** The gateway works, but not with this model. */
export function isUnserved(error: unknown): error is UserError {
  return error instanceof UserError && traitsOf(error)?.blames === 'model'
}
