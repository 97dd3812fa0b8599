import { type Client, protocolOf, type ResolvedOptions } from '../../clients/client.ts'
import { sendingFindings } from '../../clients/headers.ts'
import { UserError } from '../../errors.ts'
import { expectNoFinding, type Finding } from '../../finding.ts'
import { adviseNamingModel, catalogUnavailable, mayStillServe } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import type { Catalog, GatewayAccess, Protocol, Sender } from '../../gateway/types.ts'
import { saveModels } from '../../state/model-cache.ts'
import { refuseBlocked } from '../client-state/check-client.ts'
import { runsSoFar, settleFirst } from '../client-state/history.ts'
import type { GatewayFlags } from '../command.ts'
import { findGateway, presetUnlessNamed } from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'

type CatalogFlags = GatewayFlags & { readonly model?: string }

/**
 * Finds the gateway and requests its catalog, as the first step of every command that only reads from the
 * gateway. It uses the newest setup in force, unless the user names an address or a key: the two belong
 * together. If the user names a model, the answer can be the error instead of a catalog.
 */
export async function askCatalog(
  session: Session,
  flags: CatalogFlags,
): Promise<{ finder: GatewayFinder; answer: Catalog | UserError }> {
  settleFirst(session)
  const { preset, inUse } = await presetUnlessNamed(session, flags, runsSoFar(session))
  if (inUse) session.remark(`Using ${inUse.label}'s gateway. Another: --base-url URL`)

  const { access, notices } = await findGateway(session, flags, preset)

  session.platform.ask.release()
  const finder = new GatewayFinder(access)
  const isExtra = flags.model !== undefined
  const asking = finder.askCatalog({ isExtra })
  const answer = await session.step('Asking the gateway for its models', asking)

  session.addFindings(...notices)
  if (answer instanceof UserError) {
    if (isExtra && mayStillServe(answer)) return { finder, answer }
    throw adviseNamingModel(answer)
  }
  saveModels(session.platform, answer)
  session.addFindings(...(answer.findings ?? []))
  return { finder, answer }
}

interface ModelProof<Models> {
  readonly client: Pick<Client, 'label' | 'protocols' | 'sends'>
  readonly choose: (catalog: Catalog | undefined) => Models | Finding
  /** Absent: what the client sends besides messages and tools is not known. */
  readonly senderOf?: (protocol: Protocol, model: string) => Sender
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
  { client, choose, senderOf }: ModelProof<Models>,
): Promise<{ readonly access: GatewayAccess; readonly models: Models }> {
  const { finder, answer } = await askCatalog(session, flags)
  const isMissing = answer instanceof UserError
  const models = expectNoFinding(choose(isMissing ? undefined : answer))
  const protocol = protocolOf(client, models)
  const sender = senderOf?.(protocol, models.probeModel)
  const asking = finder.probe(protocol, models.probeModel, { catalog: answer, sender })
  await session.step(`Asking ${models.probeModel} for one word`, asking)

  const { access } = finder
  refuseBlocked([...sendingFindings(client, access)])
  if (isMissing) session.addFindings(catalogUnavailable(answer))
  session.addFindings(...models.findings)
  return { access, models }
}
