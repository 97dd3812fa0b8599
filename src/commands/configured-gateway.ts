import type { ClientName } from '../clients/client.ts'
import { familyRows, loadClients } from '../clients/list.ts'
import type { RunRecord } from '../transaction/record.ts'
import { settingsNow } from './client-files.ts'
import { ownBaseUrls, runsOf } from './client-state.ts'
import type { GatewayFlags } from './command.ts'
import type { Session } from './screen/session.ts'

export interface ConfiguredGateway {
  /** The client that uses it. */
  readonly label: string
  readonly baseUrl: string
  readonly key: string
}

/**
 * The gateway of the newest setup that is still in force, for commands that only ask. None where the
 * user names an address or a key: the two go together.
 */
export async function configuredGateway(
  session: Session,
  options: GatewayFlags,
  runs: readonly RunRecord[],
): Promise<ConfiguredGateway | undefined> {
  const { env } = session.platform.machine
  const { baseUrl, keyStdin, keyFile, keyEnv } = options
  const named = [
    baseUrl,
    keyStdin,
    keyFile,
    keyEnv,
    env['REPOINT_BASE_URL'],
    env['REPOINT_API_KEY'],
  ]
  return named.some(Boolean) ? undefined : (await configuredGateways(session, runs))[0]
}

/** The gateways of all setups that are still in force, the newest first. */
export async function configuredGateways(
  session: Session,
  runs: readonly RunRecord[],
): Promise<readonly ConfiguredGateway[]> {
  const age = (name: ClientName) => runs.findIndex((run) => runsOf(name, [run]).length > 0)
  const configured = familyRows
    .filter((row) => age(row) !== -1)
    .toSorted((one, other) => age(one) - age(other))
  return (await loadClients(configured)).flatMap((client) => {
    const { baseUrl, key } = settingsNow(session, client) ?? {}
    const isOurs = baseUrl !== undefined && ownBaseUrls(client, runs).includes(baseUrl)
    return isOurs && key ? [{ label: client.label, baseUrl, key }] : []
  })
}
