/** Servers that a client starts and leaves running. They keep the key that they read at their start. */

import { ifPossible } from '../../errors.ts'
import type { Finding, StoppableProcess } from '../../finding.ts'
import type { ClientName, ClientWorld } from '../contract/client.ts'

/** A state file has a few hundred bytes. */
const maxStateBytes = 10_000

/**
 * The process ID of a running server, from the `pid` in its state file: a JSON object. Undefined if the
 * server does not run. Another process that has the same ID now looks like the server.
 */
export function runningServer(
  { files, processes }: ClientWorld,
  statePath: string,
): number | undefined {
  // Without a file there is no server. An unreadable file does not show one either.
  const pid: unknown = ifPossible(
    () => JSON.parse(new TextDecoder().decode(files.read(statePath, maxStateBytes))).pid,
  )
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0
  return isPid && processes.startTime(pid) !== undefined ? pid : undefined
}

/** Whether a file is newer than another. Both are on one file system, so the same clock wrote both times. */
export function isNewer({ files }: ClientWorld, path: string, other: string): boolean {
  // If the file with the key is missing, the server counts as older.
  return ifPossible(() => files.stat(path).modifiedMs > files.stat(other).modifiedMs) ?? false
}

/** A server still runs with an earlier key. */
export function serverFinding(
  { id, label }: Pick<ClientName, 'id' | 'label'>,
  pid: number,
  process: StoppableProcess,
): Finding {
  return {
    code: `${id}-server`,
    message: `${label} has left a server running (pid ${pid}) that started before the key changed: it keeps the old one`,
    hint: process.stopCommand,
    severity: 'warning',
    process,
  }
}
