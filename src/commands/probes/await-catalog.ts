import { setTimeout as pause } from 'node:timers/promises'
import { UserError } from '../../errors.ts'
import type { CatalogAnswer, GatewayAccess } from '../../gateway/types.ts'

/** A catalog that takes longer than this, in ms, is slow. A healthy gateway lists its models sooner. */
const slowCatalogMs = 2_000

/** With a short time limit, the catalog is slow after this share of it. */
const slowCatalogShare = 1 / 15

/**
 * Waits for the catalog. If it is slow, repoint already sends the probes that do not need it, so that it notices
 * a silent gateway sooner.
 *
 * @param sendProbes does not wait for the answers. Its error is ignored: the same choice fails again once the
 *   catalog is here
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
