import { attempt } from './durable.ts'
import { damagedName, maxRecordBytes, readRuns, recordNames, setAside } from './records.ts'
import { blobNames, type StatePaths } from './state.ts'
import type { RunRecord, World } from './types.ts'

/** This many of the newest runs are kept whatever their age. */
const keptAlways = 30
/** Beyond those, runs are kept for this long, in ms: 90 days. */
const keptForMs = 90 * 24 * 60 * 60_000
/** And never more than this many. */
const keptAtMost = 200

/**
 * The runs that may go. The newest and the oldest of each client stay: the one is what a rollback
 * undoes, the other holds the files as they were before repoint.
 *
 * @param runs newest first
 */
export function obsoleteRuns(runs: readonly RunRecord[], now: Date): RunRecord[] {
  const precious = new Set<RunRecord>()
  for (const ordered of [runs, runs.toReversed()]) {
    const seen = new Set<string>()
    for (const run of ordered) {
      if (run.clients.some((client) => !seen.has(client))) precious.add(run)
      for (const client of run.clients) seen.add(client)
    }
  }
  return runs.filter((run, index) => {
    const isOld = now.getTime() - Date.parse(run.at) > keptForMs
    return !precious.has(run) && index >= keptAlways && (isOld || index >= keptAtMost)
  })
}

/**
 * Sets damaged records aside, removes obsolete ones, and then the copies that nothing names any more.
 * Needs the lock.
 */
export function prune(world: World, paths: StatePaths): void {
  const { files, clock } = world
  attempt(() => {
    const names = recordNames(world, paths)
    for (const path of readRuns(world, paths).damaged)
      if (!damagedName.test(path)) setAside(world, path, path)
    if (names.length <= keptAlways) return
    const obsolete = obsoleteRuns(readRuns(world, paths).runs, clock.now())
    if (obsolete.length === 0) return
    for (const run of obsolete) files.unlink(paths.record(run.id))
    // A record that a power loss brings back must find its copies.
    files.fsyncFolder(paths.folder)
    removeUnnamedBlobs(world, paths)
  })
}

/**
 * Removes copies that no document names, be it a damaged one: every hash in any of their texts
 * counts. Only a draft's do not, since it is never carried out. Needs the lock.
 */
export function removeUnnamedBlobs({ files }: World, paths: StatePaths): void {
  attempt(() => {
    const named = new Set<string>()
    for (const name of files.readdir(paths.folder)) {
      if (!/^(run-.+\.json(\.damaged-[0-9a-f]+)?|journal\.json)$/.test(name)) continue
      const text = new TextDecoder('latin1').decode(files.read(paths.named(name), maxRecordBytes))
      for (const [sha256] of text.matchAll(/[0-9a-f]{64}/g)) named.add(sha256)
    }
    const unnamed = files
      .readdir(paths.blobs)
      .filter((name) => blobNames.test(name) && !named.has(name))
    for (const name of unnamed) files.unlink(paths.blob(name))
    if (unnamed.length > 0) files.fsyncFolder(paths.blobs)
  })
}
