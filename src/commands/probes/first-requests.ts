/** The first requests of a client, which a probe sends. */

import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { InstalledProgram } from '../client-state/program/program.ts'
import type { Session } from '../screen/session.ts'
import type { FirstRequestFor } from './probes.ts'

/** The first requests that the installed client sends with these files. */
export async function loadFirstRequests(
  { platform }: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<FirstRequestFor> {
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return (route) => ({
    label: client.label,
    keyHeader: client.sends?.fixedKeyHeader?.[route.protocol],
    accepts: client.accepts?.[route.protocol],
    ...client.firstRequest(recordings, files, { ...program, env, ...route }),
  })
}
