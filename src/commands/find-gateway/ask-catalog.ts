import type { Client } from '../../clients/contract/client.ts'
import type { ResolvedOptions } from '../../clients/contract/setup.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { refuseBlocked } from '../../finding.ts'
import {
  adviseNamingModel,
  catalogUnavailable,
  mayStillServe,
  toCatalogAnswer,
} from '../../gateway/catalog.ts'
import { GatewayRequester } from '../../gateway/gateway-requester.ts'
import type { ProbeResult } from '../../gateway/probe/probe.ts'
import { ifSlow } from '../../gateway/slow-catalog.ts'
import type {
  Catalog,
  CatalogAnswer,
  GatewayAccess,
  ModelRoute,
  Sender,
} from '../../gateway/types.ts'
import { saveModels } from '../../state/model-cache.ts'
import { recoverAndReport, runsSoFar } from '../client-state/recorded-runs.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import type { Session } from '../screen/session.ts'
import { findGateway } from './find-gateway.ts'
import { presetUnlessNamed } from './preset.ts'

type CatalogFlags = GatewayFlags & { readonly model?: string }

/** The model to probe, and the client that will use it. */
interface ProbeRoute extends ModelRoute {
  readonly sender?: Sender | undefined
}

export interface AskedCatalog {
  readonly requester: GatewayRequester
  /** The catalog. If the user named a model, it can be the error instead. */
  readonly answer: Catalog | UserError
  /** Asks the model for one word. An equal request is not sent again. @throws UserError as `probe` does */
  readonly probe: (route: ProbeRoute) => Promise<ProbeResult>
}

/**
 * Finds the gateway and requests its catalog, as the first step of every command that only reads from the
 * gateway. It uses the newest active setup, unless the user names an address or a key: the two belong
 * together. If the user names a model, the answer can be the error instead of a catalog.
 *
 * @param earlyProbe what to probe in parallel, without a catalog, if the user named a model and the catalog
 *   is slow
 */
export async function askCatalog(
  session: Session,
  flags: CatalogFlags,
  earlyProbe?: (access: GatewayAccess) => ProbeRoute,
): Promise<AskedCatalog> {
  recoverAndReport(session)
  const { preset, inUse } = await presetUnlessNamed(session, flags, runsSoFar(session))
  if (inUse) session.remark(`Using ${inUse.label}'s gateway. Another: --base-url URL`)

  const { access, findings } = await findGateway(session, flags, preset)

  session.platform.ask.release()
  const requester = new GatewayRequester(access)
  const isOptional = flags.model !== undefined
  const catalogRequest = requester.askCatalog({ isOptional })

  const probes = new Map<string, Promise<ProbeResult>>()
  const probe = ({ protocol, model, sender }: ProbeRoute) => {
    const id = `${protocol} ${model}`
    const result =
      probes.get(id) ?? requester.probe(protocol, model, { catalog: catalogRequest, sender })
    probes.set(id, result)
    return result
  }
  if (isOptional && earlyProbe !== undefined)
    void ifSlow(catalogRequest, access, async () => {
      const route = valueOrError(() => earlyProbe(requester.access))
      if (!(route instanceof UserError)) probe(route).catch(() => {})
    })
  const answer = await session.step('Asking the gateway for its models', catalogRequest)
  const result = { requester, answer, probe }

  session.addFindings(...findings)
  if (answer instanceof UserError) {
    if (isOptional && mayStillServe(answer)) return result
    throw adviseNamingModel(answer)
  }
  saveModels(session.platform, answer)
  session.addFindings(...(answer.findings ?? []))
  return result
}

interface ModelProof<Models> {
  readonly client: Pick<Client, 'label' | 'protocols' | 'sends'>
  readonly choose: (catalogAnswer: CatalogAnswer) => Models
  /** Absent: what the client sends besides messages and tools is not known. */
  readonly senderFor?: (route: ModelRoute) => Sender
}

/**
 * Proves the address, the key and a model for a client without files to write.
 *
 * @throws UserError with the diagnosis; `protocol-unsupported` if the client cannot send what the gateway
 *   needs
 */
export async function proveModel<
  Models extends Pick<ResolvedOptions, 'probeModel' | 'protocol' | 'findings'>,
>(
  session: Session,
  flags: CatalogFlags,
  { client, choose, senderFor }: ModelProof<Models>,
): Promise<{ readonly access: GatewayAccess; readonly models: Models }> {
  const routeFor = ({ probeModel, protocol }: Models): ProbeRoute => {
    const route = { model: probeModel, protocol }
    return { ...route, sender: senderFor?.(route) }
  }
  const earlyProbe = () => routeFor(choose({ kind: 'pending' }))
  const { requester, answer, probe } = await askCatalog(session, flags, earlyProbe)
  const models = choose(toCatalogAnswer(answer))
  await session.step(`Asking ${models.probeModel} for one word`, probe(routeFor(models)))

  const { access } = requester
  refuseBlocked([...sendingFindings(client, access)])
  if (answer instanceof UserError) session.addFindings(catalogUnavailable(answer))
  session.addFindings(...models.findings)
  return { access, models }
}
