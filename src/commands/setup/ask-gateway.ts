/** Step 2 of a setup: asks the gateway for its catalog, and the installed programs for their versions. */
import type { Client } from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import { isFinding } from '../../finding.ts'
import { mayStillServe } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { preopenConnections } from '../../gateway/http/request.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import { authoritiesOf } from '../client-state/certificate-stores.ts'
import type { InstalledProgram } from '../client-state/program.ts'
import { programsOf } from './installed.ts'
import { ifSlow, type Probes } from './probes.ts'
import { resolvingClients } from './proving.ts'
import type { SetupRun } from './request.ts'
import { isDecided, resolveInputFor } from './resolve.ts'
import { probesFor } from './setup-probes.ts'

/** What step 2 has learned. */
export interface AskedGateway {
  readonly catalog: Catalog | undefined
  /** Why there is no catalog. */
  readonly catalogError: UserError | undefined
  /** Undefined: the user has not chosen the clients yet. */
  readonly programs: ReadonlyMap<Client, InstalledProgram> | undefined
  /** The probes that were sent while the catalog was slow. */
  readonly earlyProbes: Probes | undefined
}

/** How many clients a user usually chooses from a list. */
const usualClientCount = 3

/** Opens the connections that the probes will need, while the catalog is on its way. */
export function openGateway(run: SetupRun, foundAccess: GatewayAccess): GatewayFinder {
  const { clients, request } = run
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
export async function askGateway(run: SetupRun, finder: GatewayFinder): Promise<AskedGateway> {
  const { session, request, clients } = run
  const isChosenLater = request.chooseClients !== undefined
  const isCatalogOptional =
    !request.picksModel &&
    !isChosenLater &&
    clients.every((client) => isDecided(run, client, finder.access))

  const catalogAnswer = finder.askCatalog({ isExtra: isCatalogOptional })
  const versions = isChosenLater ? undefined : programsOf(run)
  const earlyProbes = isCatalogOptional
    ? ifSlow(catalogAnswer, finder.access, async (slowCatalogError) =>
        startProbes(run, finder, slowCatalogError, await versions!),
      )
    : undefined

  const [answer, programs] = await session.step(
    'Asking the gateway for its models',
    Promise.all([catalogAnswer, versions]),
  )
  const isMissing = answer instanceof UserError
  if (isMissing && !mayStillServe(answer)) throw answer
  return {
    catalog: isMissing ? undefined : answer,
    catalogError: isMissing ? answer : undefined,
    programs,
    earlyProbes: await earlyProbes,
  }
}

/** Sends the first request of every client, without the catalog. */
function startProbes(
  run: SetupRun,
  finder: GatewayFinder,
  catalogError: UserError,
  programs: ReadonlyMap<Client, InstalledProgram>,
): Probes {
  const { access } = finder
  const catalog = undefined
  const probes = probesFor(run, finder, { catalog, catalogError, programs })
  const resolving = resolvingClients(run, { access, catalog, catalogError, programs, probes })
  for (const { client, version, gatewayInfo } of resolving) {
    const resolved = client.resolve(resolveInputFor(run, client, access, gatewayInfo), version)
    if (!isFinding(resolved)) void probes.askFor(client, resolved)
  }
  return probes
}
