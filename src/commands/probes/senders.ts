import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { InstalledProgram } from '../client-state/program/program.ts'
import type { Session } from '../screen/session.ts'
import type { SenderFor } from './probes.ts'

/** The installed client as the sender of probes: its first requests with these files. */
export async function loadSenders(
  { platform }: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<SenderFor> {
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return (route) => ({
    label: client.label,
    keyHeader: client.sends?.fixedKeyHeader?.[route.protocol],
    accepts: client.accepts?.[route.protocol],
    ...client.firstRequest(recordings, files, { ...program, env, ...route }),
  })
}
