/** Servers that a client starts and leaves running. They keep the key that they read at their start. */
import { ifPossible } from '../errors.ts'
import type { SystemReader } from './client.ts'

/** State files have a few hundred bytes. */
const maxStateBytes = 10_000

/**
 * The process ID of a running server, from the `pid` in its state file: a JSON object. Undefined if it
 * does not run. Another process that has taken the ID since looks like it.
 */
export function runningServer(
  { files, processes }: SystemReader,
  statePath: string,
): number | undefined {
  // No file, no server; an unreadable one says nothing either.
  const pid: unknown = ifPossible(
    () => JSON.parse(new TextDecoder().decode(files.read(statePath, maxStateBytes))).pid,
  )
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0
  return isPid && processes.startTime(pid) !== undefined ? pid : undefined
}

/** Whether a file is newer than another. Both lie on one file system, so that one clock wrote both times. */
export function isNewer({ files }: SystemReader, path: string, other: string): boolean {
  // Without the file with the key, the key that the server holds is an old one.
  return ifPossible(() => files.stat(path).modifiedMs > files.stat(other).modifiedMs) ?? false
}
