/** Which gateway does a client use now, with which options, and did repoint set it up? For `clientNow`. */
import { type ForeignOrigin, foreignOrigin } from '../../clients/checks/other-tools.ts'
import { type Client, type ClientName, isConfiguredAs } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { ClientOptions } from '../../clients/contract/options.ts'
import type { ClientState } from '../../clients/contract/state.ts'
import { clientRows, familyIds, familyRows, loadClients, rowOf } from '../../clients/list.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { optionsToKeep } from '../../clients/options/chosen-options.ts'
import type { Finding } from '../../finding.ts'
import { addressFor, baseUrlFor, gatewayAt, isSameButVersion } from '../../gateway/base-urls.ts'
import type { Gateway } from '../../gateway/types.ts'
import { findGatewayName, unmaskedGatewaysIfReadable } from '../../state/saved-gateways.ts'
import { gatewaysIn, type RunGateway, type RunRecord, type Runs } from '../../transaction/record.ts'
import { activeRuns } from '../../transaction/undo/active-runs.ts'
import type { Session } from '../screen/session.ts'
import { stateNow } from './client-files.ts'
import { choosesGateway } from './written-files.ts'

/** What a client's files contain now, whether repoint wrote it, and what keeps the client from working. */
export interface ClientNow {
  readonly client: Client
  /** Empty if repoint cannot read one of them. The finding `broken` of `state` says why. */
  readonly files: LoadedFiles
  readonly state: ClientState
  /** The gateway that it uses. Undefined: its own service. */
  readonly gateway: Gateway | undefined
  readonly options: ClientOptions
  /** A setup of repoint is active. */
  readonly isSetUpByRepoint: boolean
  /** Where a gateway comes from that repoint did not write. Undefined: nobody knows. */
  readonly origin: ForeignOrigin | undefined
  /** The judgement, made when it is first read: without starting the client and without the network. */
  readonly findings: readonly Finding[]
}

export function runsOf({ id }: Pick<ClientName, 'id'>, runs: Runs): Runs {
  const ids = familyIds(id)
  return runs.filter(({ clients }) => clients.some((client) => ids.includes(client)))
}

/** The gateways that runs wrote into a client's files, newest first. */
function gatewaysOfClient({ id }: ClientName, runs: Runs): readonly RunGateway[] {
  const ids = familyIds(id)
  return runs.flatMap((run) => {
    const files = run.files.filter(({ client }) => ids.includes(client))
    return files.flatMap((file) => gatewaysIn(file, run))
  })
}

export function writtenBaseUrls(client: Client, runs: Runs): readonly string[] {
  const baseUrls = gatewaysOfClient(client, runs).flatMap((gateway) =>
    client.protocols.map((protocol) => baseUrlFor(gateway, protocol)),
  )
  return [...new Set(baseUrls)]
}

/** Whether a client uses a base URL that repoint wrote for it. */
export function hasWrittenBaseUrl(
  client: Client,
  { endpoint: { baseUrl } }: ClientState,
  runs: Runs,
): boolean {
  return writtenBaseUrls(client, runs).some(
    (written) => baseUrl !== undefined && isSameButVersion(written, baseUrl),
  )
}

/** Where the gateway in a client's files comes from. Undefined: from repoint, nobody knows, or there is none. */
export function originOf(
  { platform }: Session,
  { client, files, state }: Pick<ClientNow, 'client' | 'files' | 'state'>,
  runs: Runs,
): ForeignOrigin | undefined {
  if (state.endpoint.baseUrl === undefined || hasWrittenBaseUrl(client, state, runs))
    return undefined
  return foreignOrigin(client, files, state, platform)
}

/** The address that a client uses, as shown. Undefined: its own service. */
export function shownAddress(client: Client, state: ClientState): string | undefined {
  const { baseUrl } = state.endpoint
  return baseUrl === undefined ? undefined : addressFor(baseUrl, protocolOf(client, state.options))
}

/**
 * The gateway that a client uses: a known one of its setups or of the saved gateways, or else the one
 * that its base URL implies. Undefined: it uses its own service.
 */
export function gatewayOf(
  session: Session,
  client: Client,
  state: ClientState,
  runs: Runs,
): Gateway | undefined {
  const { baseUrl } = state.endpoint
  if (baseUrl === undefined) return undefined

  const protocol = protocolOf(client, state.options)
  const saved = unmaskedGatewaysIfReadable(session.platform)
  const known = [...saved, ...gatewaysOfClient(client, runs)].map(
    ({ address, baseUrls }): Gateway => ({ address, baseUrls }),
  )

  const gateway =
    known.find((candidate) => baseUrlFor(candidate, protocol) === baseUrl) ??
    known.find((candidate) => isSameButVersion(baseUrlFor(candidate, protocol), baseUrl)) ??
    gatewayAt(baseUrl, protocol)
  return { ...gateway, name: findGatewayName(session, protocol, state.endpoint) }
}

/** Whether repoint has set up the client, even if the user has changed the address since. */
export function isSetUpByRepoint(client: Client, state: ClientState, runs: Runs): boolean {
  if (state.endpoint.baseUrl === undefined) return false
  return activeSetup(client, runs) !== undefined || hasWrittenBaseUrl(client, state, runs)
}

/** The newest setup of a client that is not undone. Undefined: there is none, or `off` followed. */
export function activeSetup({ id }: Pick<ClientName, 'id'>, runs: Runs): RunRecord | undefined {
  const newest = activeRuns(runs, familyIds(id)).find(choosesGateway)
  return newest?.kind === 'off' ? undefined : newest
}

/** The ID of the family's client that the newest setup was for. Undefined: only the files can tell. */
function idOfSetup(client: ClientName, runs: Runs): string | undefined {
  const ids = familyIds(client.id)
  return activeSetup(client, runs)?.files.find((file) => ids.includes(file.client))?.client
}

/**
 * The options that a client is set up with. If the setup was for another client of its family, these are
 * the options that both clients have.
 */
export function configuredOptions(client: Client, state: ClientState, runs: Runs): ClientOptions {
  const isNewestSetup = idOfSetup(client, runs) === client.id
  const idInFiles = state.configuredAs ?? client.family
  return optionsToKeep(client, state, isNewestSetup ? client.id : idInFiles)
}

/**
 * One client of each family, with the family's label: the one that the files are set up for. The newest
 * setup decides first, because files of the first client can look like another's.
 */
export async function oneClientPerFamily(
  session: Session,
  runs: Runs,
  ids: readonly string[] = clientRows.map(({ id }) => id),
): Promise<Client[]> {
  const families = ids.map((id) => rowOf(id).family)
  const clients = await loadClients(clientRows.filter(({ family }) => families.includes(family)))
  return familyRows.flatMap((row) => {
    const ofFamily = clients.filter((client) => client.family === row.family)

    const [first] = ofFamily
    if (first === undefined) return []
    if (idOfSetup(first, runs) === first.id) return first
    const state = stateNow(session, first)
    return {
      ...(ofFamily.find((client) => isConfiguredAs(client, state)) ?? first),
      label: row.label,
    }
  })
}
