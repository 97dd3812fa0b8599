import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayAccess } from './types.ts'

/** A catalog that takes longer than this, in ms, is slow. A healthy gateway lists its models sooner. */
const slowCatalogMs = 2_000

/** With a short time limit, the catalog is slow after this share of it. */
const slowCatalogShare = 1 / 15

/** Runs `work` while a slow catalog is still loading, so that a silent gateway is noticed sooner. */
export async function ifSlow(
  catalog: Promise<unknown>,
  { timeoutMs }: GatewayAccess,
  work: () => Promise<void>,
): Promise<void> {
  const slowMs = Math.min(slowCatalogMs, slowCatalogShare * timeoutMs)
  const isSlow = await Promise.race([
    catalog.then(() => false),
    pause(slowMs, true, { ref: false }),
  ])
  if (isSlow) await work()
}
