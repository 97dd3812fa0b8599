/**
 * Step 2 of a setup: requests the gateway's catalog, and starts the installed programs for their versions.
 *
 * In: the `GatewayAccess` that step 1 found. Out: a `ReachedGateway`, whose `probes` step 4 uses.
 */
import type { LoadedFiles } from '../../../clients/contract/files.ts'
import { defaultProviderId } from '../../../clients/contract/options.ts'
import { catalogIn } from '../../../clients/contract/setup.ts'
import { asPlanned } from '../../../clients/files/parse-file.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { effectiveOptions } from '../../../clients/options/chosen-options.ts'
import { ifPossible } from '../../../errors.ts'
import { mayStillServe } from '../../../gateway/catalog.ts'
import { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import { preopenConnections } from '../../../gateway/http/request.ts'
import type { CatalogAnswer, GatewayAccess } from '../../../gateway/types.ts'
import { authoritiesOf } from '../../client-state/certificates.ts'
import { readClientFiles } from '../../client-state/client-files.ts'
import { awaitCatalog } from '../../probes/await-catalog.ts'
import { loadSenders, Probes } from '../../probes/probes.ts'
import { type ResolvedChoice, resolveClient } from '../../resolve/client-choice.ts'
import { targetFor } from '../../resolve/point-client.ts'
import { canAskUser, type ReachedGateway, type SetupContext } from '../context.ts'
import { choiceFor, resolveWithoutCatalog } from './choose-models.ts'
import { startPrograms } from './programs.ts'

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

/**
 * Whether the rules of every client decide without the catalog.
 *
 * @throws UserError if a client cannot use the gateway, whatever its catalog lists. If the user can skip this
 *   client and set up others, its error waits for step 3.
 */
function needsNoCatalog(context: SetupContext, { access }: GatewayRequester): boolean {
  const { clients } = context
  const resolutions = clients.map((client) => resolveWithoutCatalog(context, client, access))
  const canSkip = canAskUser(context) && clients.length > 1
  for (const resolution of resolutions)
    if (resolution.kind === 'impossible' && !canSkip) throw resolution.error
  return resolutions.every(({ kind }) => kind === 'decided')
}

/** Sends the first request of every client, and does not wait for the answers. */
async function sendFirstRequests(context: SetupContext, gateway: ReachedGateway): Promise<void> {
  for (const client of context.clients) {
    const resolution = resolveClient(await choiceFor(context, gateway, client))
    if (resolution.kind === 'decided') await gateway.probes.sendFor(resolution.choice)
  }
}

/** The probes of a setup. Each sends a client's first request with the files that the setup would write. */
export function probesFor(
  context: SetupContext,
  requester: GatewayRequester,
  catalog: Promise<CatalogAnswer>,
): Probes {
  return new Probes(
    (request) => requester.probe({ ...request, catalog }),
    (choice) => {
      const files = filesAfter(context, requester, choice)
      return loadSenders(context.session, choice.client, { files, ...choice.program })
    },
  )
}

/** A client's files as the setup would leave them, with only the models that are probed. */
function filesAfter(
  { session, policy }: SetupContext,
  { access }: GatewayRequester,
  { client, input, resolved }: ResolvedChoice,
): LoadedFiles {
  const files = readClientFiles(session, client)
  if (!policy.writesOptions) return files

  const { providerId = defaultProviderId } = effectiveOptions(input)
  const ids = routesToProve(resolved, catalogIn(input.gatewayInfo)).map(({ model }) => model)
  const offered = resolved.offered.filter(({ id }) => ids.includes(id))
  const onlyProbed = { ...resolved, offered }
  const target = targetFor({ input, resolved: onlyProbed }, access, providerId)
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}
