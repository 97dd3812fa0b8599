import { adviseNamingModel, mayStillServe } from '../../gateway/catalog.ts'
import { GatewayRequester } from '../../gateway/gateway-requester.ts'
import type { ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { CatalogAnswer, GatewayAccess } from '../../gateway/types.ts'
import { rememberModels } from '../../state/remembered.ts'
import { recoverAndReport, runsSoFar } from '../client-state/recorded-runs.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { awaitCatalog } from '../probes/await-catalog.ts'
import { SentProbes } from '../probes/sent-probes.ts'
import type { Session } from '../screen/session.ts'
import { findGateway } from './find-gateway.ts'
import { presetUnlessNamed } from './preset.ts'

export type CatalogFlags = GatewayFlags & { readonly model?: string }

export interface FoundCatalog {
  readonly requester: GatewayRequester
  /** It can be `failed` only if the user named a model. */
  readonly catalogAnswer: CatalogAnswer
  readonly probes: SentProbes
}

/**
 * Finds the gateway and requests its catalog, as the first step of every command that only reads from the
 * gateway. It uses the newest active setup, unless the user names an address or a key: the two belong
 * together.
 *
 * @param earlyProbe what to probe in parallel, without a catalog, if the user named a model and the catalog
 *   is slow
 */
export async function findCatalog(
  session: Session,
  flags: CatalogFlags,
  earlyProbe?: (access: GatewayAccess) => ProbeRequest,
): Promise<FoundCatalog> {
  recoverAndReport(session)
  const { preset, inUse } = await presetUnlessNamed(session, flags, runsSoFar(session))
  if (inUse) session.remark(`Using ${inUse.label}'s gateway. Another: --base-url URL`)

  const { access, findings } = await findGateway(session, flags, preset)

  session.platform.ask.acceptTyping()
  const requester = new GatewayRequester(access)
  const isOptional = flags.model !== undefined
  const catalogRequest = requester.requestCatalog({ isOptional })
  const probes = new SentProbes((request) =>
    requester.probe({ ...request, catalog: catalogRequest }),
  )

  const sendProbe = async () => {
    if (isOptional && earlyProbe) void probes.send(earlyProbe(requester.access))
  }
  const catalogAnswer = await session.step(
    'Asking the gateway for its models',
    awaitCatalog(catalogRequest, access, sendProbe),
  )

  session.addFindings(...findings)
  if (catalogAnswer.kind === 'received') {
    const { catalog } = catalogAnswer
    rememberModels(session.platform, catalog)
    session.addFindings(...(catalog.findings ?? []))
  } else if (!isOptional || !mayStillServe(catalogAnswer.error))
    throw adviseNamingModel(catalogAnswer.error)
  return { requester, catalogAnswer, probes }
}
