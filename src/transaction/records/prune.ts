/** Keeps the list of runs short: the newest ones stay, and `first-copies.ts` remembers what the others did. */
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../compact.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { type Copies, savedCopies } from '../contents.ts'
import { ignoreFileErrors } from '../files.ts'
import {
  type FileVersion,
  gatewaysIn,
  isSameContent,
  isUndoOrRedo,
  type RecordedFile,
  type RunRecord,
  type Runs,
  type World,
} from '../record.ts'
import { undoFile } from '../undo/undo-file.ts'
import { mergeFiles } from '../undo/undo-runs.ts'
import { writeBlobs } from './blobs.ts'
import {
  type FirstCopies,
  noFirstCopies,
  type RemovedRuns,
  readFirstCopies,
  versionsIn,
  writeFirstCopies,
} from './first-copies.ts'
import { readRecords, recordNames, removeRecords } from './records.ts'
import type { StatePaths } from './state-folder.ts'

/** How many runs stay recorded. */
const maxRuns = 100

/**
 * Remembers the first copies of the recorded files, and removes the oldest records if there are too many. Removes none
 * while one is damaged or missing, because it could name any copy. The caller holds the lock.
 *
 * A crash loses nothing: a record is removed after the list of first copies says what it did. Folding it again changes
 * nothing.
 */
export function limitRuns(world: World, paths: StatePaths, limit = maxRuns): void {
  ignoreFileErrors(() => {
    const known = readFirstCopies(world, paths) ?? noFirstCopies
    const { runs, damaged } = readRecords(world, paths, known)
    let firstCopies = withRuns(known, runs)

    const old = damaged.length > 0 ? [] : removableRuns(runs, limit)
    if (old.length > 0) {
      const copies = savedCopies(world)
      firstCopies = foldRuns(copies, firstCopies, old)
      const added = versionsIn(firstCopies).flatMap((version) => copies.addedBytes(version) ?? [])
      if (added.length > 0) writeBlobs(world, paths, added)
    }

    if (!isDeepStrictEqual(firstCopies, known)) writeFirstCopies(world, paths, firstCopies)
    // A crash can leave records that were removed already.
    const { removedUpTo = '' } = firstCopies
    const left = recordNames(world, paths).filter((name) => name <= `run-${removedUpTo}.json`)
    const obsolete = old.flatMap(({ id, replaces = [] }) => [id, ...replaces]).toReversed()
    const names = new Set([...left, ...obsolete.map((id) => `run-${id}.json`)])
    removeRecords(world, paths, [...names].map(paths.file))
  })
}

/**
 * The oldest runs, as many as are too many. A run is never removed before the undo of it, so the list stays longer
 * while an undo of all of it can be redone.
 *
 * @param runs newest first
 */
export function removableRuns(runs: Runs, limit: number): Runs {
  for (let kept = limit; kept < runs.length; kept++) {
    const old = new Set(runs.slice(kept).map(({ id }) => id))
    const isNeeded = runs
      .slice(0, kept)
      .some(({ undoes = [] }) => undoes.some(({ run }) => old.has(run)))
    if (!isNeeded) return runs.slice(kept)
  }
  return []
}

/** Adds the files and settings of recorded runs. @param runs newest first */
export function withRuns(copies: FirstCopies, runs: Runs): FirstCopies {
  const byPath = new Map(copies.files.map((entry) => [entry.file.path, entry]))
  for (const run of runs.toReversed())
    for (const file of run.files) {
      const { id, at, home } = run
      const entry = byPath.get(file.path)
      const [sibling] = run.files.flatMap(({ client, path }) =>
        client === file.client ? (byPath.get(path) ?? []) : [],
      )
      const firstRun = sibling?.firstRun ?? { id, at, home }
      if (entry === undefined) byPath.set(file.path, { firstRun, first: file.before, file })
      else byPath.set(file.path, { ...entry, file: mergeFiles([[file], [entry.file]])[0]! })
    }
  const ids = runs.map(({ id }) => id)
  return {
    ...copies,
    runs: [...new Set([...copies.runs, ...ids])].sort(),
    files: [...byPath.values()],
  }
}

/**
 * Folds runs into the first copies, so that their records can be removed.
 *
 * @param copies the contents of files. It gets the new ones, which the caller saves
 * @param runs newest first
 */
export function foldRuns(copies: Copies, known: FirstCopies, runs: Runs): FirstCopies {
  const byPath = new Map(known.files.map((entry) => [entry.file.path, entry]))
  for (const run of runs.toReversed())
    for (const file of run.files) {
      const entry = byPath.get(file.path)
      if (entry === undefined) continue
      // The files of the newest run come last, in its order.
      byPath.delete(file.path)
      byPath.set(file.path, { ...entry, removed: foldFile(copies, entry.removed, run, file) })
    }
  const ids = new Set(runs.map(({ id }) => id))
  return {
    runs: known.runs.filter((id) => !ids.has(id)),
    removedUpTo: runs[0]?.id ?? known.removedUpTo!,
    files: [...byPath.values()],
  }
}

function foldFile(
  copies: Copies,
  removed: RemovedRuns | undefined,
  record: RunRecord,
  file: RecordedFile,
): RemovedRuns {
  const { at, kind, command, address, baseUrls, model, folders } = record
  const isSetup = !isUndoOrRedo(record) && kind !== 'repair'
  const run = compact({ at, kind, command, address, baseUrls, model, folders })
  const gateways = gatewaysIn(file, record)
  const count = record.mergedRuns ?? 1
  if (removed === undefined) return { count, run, file: { ...file, gateways } }

  const earlier = removed.file.gateways ?? []
  const isNew = (gateway: object) => gateways.every((other) => !isDeepStrictEqual(other, gateway))
  const merged = mergeFiles([[file], [removed.file]])[0]!
  return {
    count: removed.count + count,
    run: {
      ...(isSetup ? run : removed.run),
      folders: [...new Set([...removed.run.folders, ...folders])].sort(),
    },
    file: {
      ...merged,
      before: beforeBoth(copies, removed.file, file),
      gateways: [...gateways, ...earlier.filter(isNew)],
    },
  }
}

/** What an undo of the later run, and then of the earlier ones, would leave. */
function beforeBoth(
  copies: Copies,
  earlier: RecordedFile,
  later: RecordedFile,
): FileVersion | null {
  if (isSameContent(earlier.written, later.before)) return earlier.before
  const undone = valueOrError(() => undoFile({ copies, file: earlier, now: later.before }))
  // A copy is missing, or the file cannot be parsed.
  return undone instanceof UserError ? earlier.before : undone.result
}
