/** Merges and deletes old records in the state folder. `merge-runs.ts` decides which. */
import type { Bytes } from '../../edits/types.ts'
import { type Copies, savedCopies } from '../contents.ts'
import { createDurably, ignoreFileErrors } from '../files.ts'
import { encodeDocument, type RunRecord, type World } from '../record.ts'
import { writeBlobs } from './blobs.ts'
import { maxRuns, mergeOldest } from './merge-runs.ts'
import { readRuns, recordNames, removeRecords } from './records.ts'
import type { StatePaths } from './state-folder.ts'

/**
 * Merges the oldest runs if there are too many. Does nothing while a record is damaged, because it
 * could name any copy. The caller holds the lock.
 *
 * A crash loses nothing. One rename replaces the newest of the merged runs with the merged run. From then
 * on the records in its `replaces` no longer count, so it does not matter when they are deleted.
 */
export function limitRuns(world: World, paths: StatePaths, limit = maxRuns): void {
  ignoreFileErrors(() => {
    if (recordNames(world, paths).length <= limit) return
    const { runs, damaged } = readRuns(world, paths)
    if (damaged.length > 0) return
    removeReplaced(world, paths, runs)

    const copies = savedCopies(world)
    // The records that earlier merges replaced are deleted already.
    const all = runs.map(({ replaces, ...run }) => run)
    const merged = mergeOldest(copies, all, limit)
    for (const run of merged.toReversed())
      if (!all.includes(run)) writeMerged(world, paths, copies, run)

    const keptIds = new Set(merged.map(({ id }) => id))
    const obsolete = all.filter(({ id }) => !keptIds.has(id)).toReversed()
    removeRecords(
      world,
      paths,
      obsolete.map(({ id }) => paths.record(id)),
    )
  })
}

/** Deletes the remains of an earlier merge, before the record that replaces them can be merged. */
function removeReplaced(world: World, paths: StatePaths, runs: readonly RunRecord[]): void {
  const known = new Set(runs.map(({ id }) => paths.record(id)))
  const names = [...recordNames(world, paths), ...incompleteNames(world, paths)]
  const leftovers = names.map((name) => paths.file(name)).filter((path) => !known.has(path))
  removeRecords(world, paths, leftovers)
  // A process that was killed may have deleted one without flushing the folder.
  world.files.fsyncFolder(paths.folder)
}

/** The names of incomplete records. */
function incompleteNames({ files }: World, paths: StatePaths): readonly string[] {
  return files.readdir(paths.folder).filter((name) => /^run-.+\.part$/.test(name))
}

function writeMerged(world: World, paths: StatePaths, copies: Copies, run: RunRecord): void {
  const { files } = world
  const path = paths.record(run.id)
  const part = `${path}.part`
  writeBlobs(world, paths, contentsOfRun(copies, run))

  const document = encodeDocument({ run, temps: [], dropFolders: [] })
  createDurably(files, part, document, { mode: 0o600 })
  files.rename(part, path)
  files.fsyncFolder(paths.folder)
}

/** The new copies of a merged run. Copies that are already saved, or gone, need no writing. */
function contentsOfRun(copies: Copies, { files }: RunRecord): readonly Bytes[] {
  return files.flatMap(({ before }) => copies.addedBytes(before) ?? [])
}
