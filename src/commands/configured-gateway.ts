import type { Client } from '../clients/client.ts'
import type { RunRecord } from '../transaction/types.ts'
import { settingsNow } from './client-files.ts'
import { families, ownBaseUrls, runsOf } from './client-state.ts'
import type { GatewayOptions } from './credentials.ts'
import type { Session } from './session.ts'

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
export function configuredGateway(
  session: Session,
  options: GatewayOptions,
  runs: readonly RunRecord[],
): ConfiguredGateway | undefined {
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
  if (named.some(Boolean)) return undefined
  const age = (client: Client) => runs.findIndex((run) => runsOf(client, [run]).length > 0)
  const written = families.filter((client) => age(client) !== -1)
  for (const client of written.toSorted((one, other) => age(one) - age(other))) {
    const { baseUrl, key } = settingsNow(session, client) ?? {}
    if (baseUrl && key && ownBaseUrls(client, runs).includes(baseUrl))
      return { label: client.label, baseUrl, key }
  }
  return undefined
}
