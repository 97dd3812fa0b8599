import type { Notice } from '../clients/client.ts'
import { readCatalog } from '../gateway/catalog.ts'
import type { Catalog, GatewayAccess } from '../gateway/types.ts'
import type { GatewayFlags } from './command.ts'
import { configuredGateway } from './configured-gateway.ts'
import { findGateway } from './credentials.ts'
import { runsSoFar, settleFirst } from './history.ts'
import { rememberModels } from './model-cache.ts'
import type { Session } from './screen/session.ts'

/** Finds the gateway and asks it for its models: the beginning of every command that only asks. */
export async function askCatalog(
  session: Session,
  options: GatewayFlags,
): Promise<{ access: GatewayAccess; catalog: Catalog; warnings: readonly Notice[] }> {
  const warnings = settleFirst(session)
  const runs = runsSoFar(session, warnings)
  const configured = await configuredGateway(session, options, runs)
  if (configured)
    session.remark(
      `note: The address and key are those of ${configured.label}; --base-url and a key flag name others.`,
    )
  const { access, notices } = await findGateway(
    session,
    options,
    configured ?? { lastBaseUrl: runs[0]?.baseUrl },
  )
  const catalog = await session.step('Asking the gateway for its models', readCatalog(access))
  rememberModels(session, catalog)
  return { access, catalog, warnings: [...warnings, ...notices, ...(catalog.notices ?? [])] }
}
