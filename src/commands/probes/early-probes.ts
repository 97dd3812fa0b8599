/**
 * Early probes: while a gateway is slow to list its models, repoint already sends the probes that do not need
 * the list, so that it notices a silent gateway sooner. Each probe is sent once, early or not.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { UserError } from '../../errors.ts'
import type { ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { ProbeResult } from '../../gateway/probe/probe.ts'
import type { CatalogAnswer, GatewayAccess, Sender } from '../../gateway/types.ts'

/** A catalog that takes longer than this, in ms, is slow. A healthy gateway lists its models sooner. */
const slowCatalogMs = 2_000

/** With a short time limit, the catalog is slow after this share of it. */
const slowCatalogShare = 1 / 15

/**
 * Waits for the catalog. If it is slow, `sendProbes` runs meanwhile: it sends probes, and does not wait for
 * their answers. Its error is ignored: the same choice fails again once the catalog is here.
 */
export async function awaitCatalog(
  catalogRequest: Promise<CatalogAnswer>,
  { timeoutMs }: GatewayAccess,
  sendProbes: () => Promise<void>,
): Promise<CatalogAnswer> {
  const slowMs = Math.min(slowCatalogMs, slowCatalogShare * timeoutMs)
  const isSlow = await Promise.race([
    catalogRequest.then(() => false),
    pause(slowMs, true, { ref: false }),
  ])
  if (!isSlow) return catalogRequest

  try {
    await sendProbes()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
  return catalogRequest
}

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
