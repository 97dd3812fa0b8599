/**
 * Step 2 of a setup: requests the gateway's catalog, and starts the installed programs for their versions.
 *
 * In: the `GatewayAccess` that step 1 found. Out: a `ReachedGateway`, whose `probes` step 4 uses.
 */
import { mayStillServe } from '../../../gateway/catalog.ts'
import { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import { preopenConnections } from '../../../gateway/http/request.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { authoritiesOf } from '../../client-state/certificates.ts'
import { awaitCatalog } from '../../probes/await-catalog.ts'
import type { ReachedGateway, SetupContext } from '../context.ts'
import { needsNoCatalog, sendFirstRequests } from './early-probes.ts'
import { startPrograms } from './programs.ts'
import { probesFor } from './setup-probes.ts'

/** How many clients a user usually chooses from a list. */
const usualClientCount = 3

/** Opens the connections that the probes will need, while the catalog is on its way. */
export function openGateway(context: SetupContext, foundAccess: GatewayAccess): GatewayRequester {
  const { clients, request } = context
  const access = { ...foundAccess, authorities: authoritiesOf(foundAccess.env, clients) }
  const count = request.chooseClients ? Math.min(clients.length, usualClientCount) : clients.length
  if (clients.length > 1) void preopenConnections(access, count)
  return new GatewayRequester(access, { isMessagesGiven: request.flags.messagesUrl !== undefined })
}

/**
 * Requests the catalog. If every client's options are decided without it and the catalog is slow, the
 * probes start before it arrives.
 *
 * @throws UserError if the gateway cannot serve anybody: the key, the address, the network, the account
 */
export async function reachGateway(
  context: SetupContext,
  requester: GatewayRequester,
): Promise<ReachedGateway> {
  const { session, request } = context
  const userChoosesClients = request.chooseClients !== undefined
  const userChooses = userChoosesClients || request.picksModel === true
  const isCatalogOptional = !userChooses && needsNoCatalog(context, requester)

  const catalogRequest = requester.requestCatalog({ isOptional: isCatalogOptional })
  const probes = probesFor(context, requester, catalogRequest)
  const sendEarlyProbes = async () => {
    const gateway = { requester, probes, catalogAnswer: { kind: 'pending' } } as const
    if (isCatalogOptional) await sendFirstRequests(context, gateway)
  }

  // Without the list, steps 3 and 4 begin while the catalog is on its way.
  const [catalogAnswer] = await session.step(
    'Asking the gateway for its models',
    Promise.all([
      awaitCatalog(catalogRequest, requester.access, sendEarlyProbes),
      // A list of clients appears at once. The command that shows it has started the programs.
      userChoosesClients ? undefined : startPrograms(context),
    ]),
  )
  if (catalogAnswer.kind === 'failed' && !mayStillServe(catalogAnswer.error))
    throw catalogAnswer.error
  return { requester, probes, catalogAnswer }
}
