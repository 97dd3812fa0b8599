import type { Outside } from './client.ts'

/** State files have a few hundred bytes. */
const maxStateBytes = 10_000

/**
 * The process of a server that a client has left running, by the `pid` in its state file: a JSON object.
 * Undefined where it does not live. A pid that another process has taken since looks like it.
 */
export function livingServer({ files, processes }: Outside, statePath: string): number | undefined {
  try {
    const state: unknown = JSON.parse(
      new TextDecoder().decode(files.read(statePath, maxStateBytes)),
    )
    const pid = (state as { pid?: unknown } | null)?.pid
    const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0
    return isPid && processes.startTime(pid) !== undefined ? pid : undefined
  } catch {
    // No file, no server; an unreadable one says nothing either.
    return undefined
  }
}

/** Whether a file is newer than another. Both lie on one file system, so that one clock wrote both times. */
export function isNewer({ files }: Outside, path: string, other: string): boolean {
  try {
    return files.stat(path).modifiedMs > files.stat(other).modifiedMs
  } catch {
    // Without the file with the key, the key that the server holds is an old one.
    return false
  }
}
