import { setTimeout as pause } from 'node:timers/promises'
import { UserError } from '../../errors.ts'
import type { CatalogAnswer, GatewayAccess } from '../../gateway/types.ts'

/**
 * A catalog that takes longer than this share of the time limit is slow: 2 s, if the limit is the usual 30 s. A
 * healthy gateway lists its models sooner.
 */
const slowShare = 1 / 15

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
  const isSlow = await Promise.race([
    catalogRequest.then(() => false),
    pause(slowShare * timeoutMs, true, { ref: false }),
  ])
  if (!isSlow) return catalogRequest

  try {
    await sendProbes()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
  return catalogRequest
}
