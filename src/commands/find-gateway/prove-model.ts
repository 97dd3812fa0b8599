import type { Client } from '../../clients/contract/client.ts'
import type { ResolvedOptions } from '../../clients/contract/setup.ts'
import { sendingFindings } from '../../clients/plan/headers.ts'
import { refuseBlocked } from '../../finding.ts'
import { catalogUnavailable } from '../../gateway/catalog.ts'
import type { ProbeRequest } from '../../gateway/probe/attempt.ts'
import type { CatalogInfo, GatewayAccess, ModelAndProtocol, Sender } from '../../gateway/types.ts'
import type { Session } from '../screen/session.ts'
import { type CatalogFlags, findCatalog } from './find-catalog.ts'

interface ModelToProve<Models> {
  readonly client: Pick<Client, 'label' | 'protocols' | 'sends'>
  readonly choose: (catalogAnswer: CatalogInfo) => Models
  /** Absent: what the client sends besides messages and tools is not known. */
  readonly senderFor?: (probed: ModelAndProtocol) => Sender
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
  { client, choose, senderFor }: ModelToProve<Models>,
): Promise<{ readonly access: GatewayAccess; readonly models: Models }> {
  const probeFor = ({ probeModel, protocol }: Models): ProbeRequest => {
    const probed = { model: probeModel, protocol }
    return { ...probed, sender: senderFor?.(probed) }
  }
  const earlyProbe = () => probeFor(choose({ kind: 'pending' }))
  const { requester, catalogAnswer, probes } = await findCatalog(session, flags, earlyProbe)
  const models = choose(catalogAnswer)
  await session.step(`Asking ${models.probeModel} for one word`, probes.send(probeFor(models)))

  const { access } = requester
  refuseBlocked([...sendingFindings(client, access)])
  if (catalogAnswer.kind === 'failed') session.addFindings(catalogUnavailable(catalogAnswer.error))
  session.addFindings(...models.findings)
  return { access, models }
}
