import type { Bytes } from '../edits/plan.ts'
import { attempt, createDurably } from './files.ts'
import { encodeDocument, type RunRecord, type World } from './record.ts'
import {
  readBlob,
  readRuns,
  recordNames,
  removeRecords,
  type StatePaths,
  writeBlobs,
} from './state.ts'
import { Copies } from './undo/copies.ts'
import { maxRuns, mergeOldest } from './undo/merge.ts'
import type { Stack } from './undo/stack.ts'

/**
 * Merges the oldest runs if there are too many. Does nothing while a record is damaged: it could name
 * any copy. Needs the lock.
 *
 * A crash loses nothing. A merged run takes the place of its newest run by one rename. From then on
 * the records that it names in `replaces` do not count, so it does not matter whether they are deleted.
 */
export function prune(world: World, paths: StatePaths, limit = maxRuns): void {
  attempt(() => {
    if (recordNames(world, paths).length <= limit) return
    const { runs, damaged } = readRuns(world, paths)
    if (damaged.length > 0) return
    removeReplaced(world, paths, runs)

    const copies = new Copies((sha256) => readBlob(world, sha256))
    // The records that earlier merges replaced are gone.
    const stack: Stack = runs.toReversed().map(({ replaces, ...run }) => run)
    const merged = mergeOldest(copies, stack, limit)
    for (const run of merged) if (!stack.includes(run)) writeMerged(world, paths, copies, run)

    const kept = new Set(merged.map(({ id }) => id))
    const obsolete = stack.filter(({ id }) => !kept.has(id))
    removeRecords(
      world,
      paths,
      obsolete.map(({ id }) => paths.record(id)),
    )
  })
}

/** Deletes what a crash left of an earlier merge, before the record that replaces it can be merged. */
function removeReplaced(world: World, paths: StatePaths, runs: readonly RunRecord[]): void {
  const known = new Set(runs.map(({ id }) => paths.record(id)))
  const names = [...recordNames(world, paths), ...partNames(world, paths)]
  const leftovers = names.map((name) => paths.named(name)).filter((path) => !known.has(path))
  removeRecords(world, paths, leftovers)
  // A process that was killed may have deleted one without flushing the folder.
  world.files.fsyncFolder(paths.folder)
}

/** Records that were not written to their end. */
function partNames({ files }: World, paths: StatePaths): readonly string[] {
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

/** A copy that is gone already is not needed to write the record. */
function contentsOfRun(copies: Copies, { files }: RunRecord): readonly Bytes[] {
  return files.flatMap(({ before }) => copies.added(before) ?? [])
}
