import { resultOf, UserError } from '../errors.ts'
import { withLock } from './lock.ts'
import type { RunRecord, World } from './record.ts'
import { abandon, clearStagesBeside, restore } from './restore.ts'
import { findState, listRuns, removeAllRecords, removeRecords } from './state.ts'

/** What would be forgotten, and with it could not be undone any more. */
export interface ForgetPlan {
  /** Every record and every copy, whatever else lies there by then. */
  readonly isAll: boolean
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /** Records that cannot be read. */
  readonly damaged: readonly string[]
  /** Files of which the copy from before repoint goes too. */
  readonly originals: readonly string[]
}

/** @param before runs from before then; absent: all */
export function planForget(world: World, before?: Date): ForgetPlan {
  const { runs, damaged } = listRuns(world)
  const isMeant = (at: number) => before === undefined || at < before.getTime()
  // Only from the old end: an undo starts with the newest run.
  const newestKept = runs.findLastIndex(({ at }) => !isMeant(Date.parse(at)))
  const forgotten = runs.slice(newestKept + 1)
  const files = forgotten.flatMap((run) => run.files)

  return {
    isAll: before === undefined,
    runs: forgotten,
    damaged: damaged.filter((path) => isMeant(runTime(path))),
    // The oldest run of a file is forgotten before any newer one.
    originals: [...new Set(files.map(({ path }) => path))],
  }
}

/** When the run of a record was, by its name alone. NaN, which is before nothing: it does not say. */
function runTime(path: string): number {
  const stamp = /run-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]+\.json/.exec(path)
  const [, year, month, day, hours, minutes, seconds] = stamp ?? []
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}

/**
 * Removes the records, and the copies that no other record names; none while one is left that cannot
 * be read. With all of them goes a run that was cut off and cannot be taken back: the files of the
 * clients stay as that run has left them.
 *
 * @throws UserError `locked`, `not-permitted`, `io-failed`
 */
export function applyForget(world: World, { isAll, runs, damaged }: ForgetPlan): void {
  const paths = findState(world)
  if (paths === undefined) return

  withLock(world, paths, () => {
    const settled = resultOf(() => restore(world, paths))
    if (settled instanceof UserError) {
      if (!isAll) throw settled
      abandon(world, paths)
    }

    if (!isAll) {
      // An undo must not be deleted before the change that it undid.
      const records = runs.map(({ id }) => paths.record(id)).toReversed()
      return removeRecords(world, paths, [...records, ...damaged])
    }
    const targets = runs.flatMap(({ files }) => files.map(({ realPath }) => realPath))
    clearStagesBeside(world, targets)
    removeAllRecords(world, paths)
  })
}
