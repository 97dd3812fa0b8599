import type { ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { ProbeResult } from '../../gateway/probe/probe.ts'
import type { Sender } from '../../gateway/types.ts'

/** Sends each probe once, and reuses its answer: each inference costs money. */
export class SentProbes {
  readonly #probe: (request: ProbeRequest) => Promise<ProbeResult>
  /** The results by the request, which `requestId` identifies. */
  readonly #results = new Map<string, Promise<ProbeResult>>()

  constructor(probe: (request: ProbeRequest) => Promise<ProbeResult>) {
    this.#probe = probe
  }

  /** @throws UserError as `probe` does */
  send(request: ProbeRequest): Promise<ProbeResult> {
    const id = requestId(request)
    const sent = this.#results.get(id)
    if (sent !== undefined) return sent

    const result = this.#probe(request)
    // An early probe can fail before anybody waits for its answer.
    result.catch(() => {})
    this.#results.set(id, result)
    return result
  }

  has(request: ProbeRequest): boolean {
    return this.#results.has(requestId(request))
  }
}

/** Identifies a request. Equal requests are sent once for all clients that accept the same responses. */
function requestId({ protocol, model, sender }: ProbeRequest): string {
  const { body, headers, safeguards, accepts }: Partial<Sender> = sender ?? {}
  return JSON.stringify([protocol, model, body, headers, safeguards, accepts])
}
