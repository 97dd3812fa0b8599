/** Step 2 of a setup: asks the gateway for its catalog, and the installed programs for their versions. */
import type { Client } from '../../../clients/contract/client.ts'
import { UserError } from '../../../errors.ts'
import { mayStillServe } from '../../../gateway/catalog.ts'
import { GatewayFinder } from '../../../gateway/gateway-finder.ts'
import { preopenConnections } from '../../../gateway/http/request.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { authoritiesOf } from '../../client-state/certificate-stores.ts'
import type { InstalledProgram } from '../../client-state/program.ts'
import type { GatewayAnswer, SetupContext } from '../request.ts'
import { resolveInputFor } from '../resolve-input.ts'
import { isDecided } from './choose-models.ts'
import { ifSlow, type Probes } from './probes.ts'
import { programsOf } from './programs.ts'
import { resolveClient } from './resolution.ts'
import { probesFor } from './setup-probes.ts'
import { candidatesFor } from './unfinished-proof.ts'

/** What step 2 has found out in addition to the gateway's answer. */
interface Preparation {
  /** Undefined: the user has not chosen the clients yet. */
  readonly programs: ReadonlyMap<Client, InstalledProgram> | undefined
  /** The probes that were sent while the catalog was slow. */
  readonly earlyProbes: Probes | undefined
}

/** How many clients a user usually chooses from a list. */
const usualClientCount = 3

/** Opens the connections that the probes will need, while the catalog is on its way. */
export function openGateway(context: SetupContext, foundAccess: GatewayAccess): GatewayFinder {
  const { clients, request } = context
  const access = { ...foundAccess, authorities: authoritiesOf(foundAccess.env, clients) }
  const count = request.chooseClients ? Math.min(clients.length, usualClientCount) : clients.length
  if (clients.length > 1) void preopenConnections(access, count)
  return new GatewayFinder(access, { isMessagesGiven: request.flags.messagesUrl !== undefined })
}

/**
 * Asks for the catalog. If every client's options are decided without it and the catalog is slow, the
 * probes start before it arrives.
 *
 * @throws UserError if the gateway cannot serve anybody: the key, the address, the network, the account
 */
export async function askGateway(
  context: SetupContext,
  finder: GatewayFinder,
): Promise<GatewayAnswer & Preparation> {
  const { session, request, clients } = context
  const userChoosesClients = request.chooseClients !== undefined
  const userChooses = userChoosesClients || request.picksModel === true
  const isCatalogOptional =
    !userChooses && clients.every((client) => isDecided(context, client, finder.access))

  const catalogRequest = finder.askCatalog({ isExtra: isCatalogOptional })
  const programsRequest = userChoosesClients ? undefined : programsOf(context)
  const startEarlyProbes = async (slowCatalog: UserError) =>
    startProbes(context, finder, slowCatalog, await programsRequest!)
  const earlyProbes = isCatalogOptional
    ? ifSlow(catalogRequest, finder.access, startEarlyProbes)
    : undefined

  const [answer, programs] = await session.step(
    'Asking the gateway for its models',
    Promise.all([catalogRequest, programsRequest]),
  )
  const hasFailed = answer instanceof UserError
  if (hasFailed && !mayStillServe(answer)) throw answer
  return {
    access: finder.access,
    catalog: hasFailed ? undefined : answer,
    catalogError: hasFailed ? answer : undefined,
    programs,
    earlyProbes: await earlyProbes,
  }
}

/** Sends the first request of every client, without the catalog. */
function startProbes(
  context: SetupContext,
  finder: GatewayFinder,
  catalogError: UserError,
  programs: ReadonlyMap<Client, InstalledProgram>,
): Probes {
  const { access } = finder
  const catalog = undefined
  const probes = probesFor(context, finder, { catalog, catalogError, programs })
  const candidates = candidatesFor(context, { access, catalog, catalogError, programs, probes })
  for (const { client, version, gatewayInfo } of candidates) {
    const input = resolveInputFor(context, client, access, gatewayInfo)
    const resolution = resolveClient(client, input, version)
    if (resolution.kind === 'decided') void probes.askFor(client, resolution.resolved)
  }
  return probes
}
