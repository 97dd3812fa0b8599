/** Deletes records and their copies: `repoint forget`. */
import { UserError, valueOrError } from '../../errors.ts'
import { withLock } from '../lock.ts'
import type { RunRecord, World } from '../record.ts'
import { abandonRun, recoverUnderLock } from '../recover.ts'
import { removeStagesNextTo } from '../stage.ts'
import { readFirstCopies, withoutRecords, writeFirstCopies } from './first-copies.ts'
import { listRuns, removeAllRecords, removeRecords } from './records.ts'
import { findState } from './state-folder.ts'

/** The records to delete. Their runs cannot be undone afterwards. */
export interface ForgetPlan {
  /** Deletes every record and every copy, including those that are added after planning. */
  readonly isAll: boolean
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /** Records that cannot be read. */
  readonly damaged: readonly string[]
  /** Files whose copy from before repoint is deleted too. */
  readonly originals: readonly string[]
}

/** @param before selects the runs before this time; absent: all runs */
export function planForget(world: World, before?: Date): ForgetPlan {
  const { runs, damaged } = listRuns(world)
  const isSelected = (at: number) => before === undefined || at < before.getTime()
  // Runs are deleted from the old end only, because an undo starts with the newest run.
  const oldestKept = runs.findLastIndex(({ at }) => !isSelected(Date.parse(at)))
  const forgotten = runs.slice(oldestKept + 1)
  const files = forgotten.flatMap((run) => run.files)

  return {
    isAll: before === undefined,
    runs: forgotten,
    damaged: damaged.filter((path) => isSelected(runTime(path))),
    // The oldest run of a file is forgotten before any newer one.
    originals: [...new Set(files.map(({ path }) => path))],
  }
}

/** The time in a record's name. NaN, which is before no date, if the name has none. */
function runTime(path: string): number {
  const stamp = /run-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]+\.json/.exec(path)
  const [, year, month, day, hours, minutes, seconds] = stamp ?? []
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}

/**
 * Deletes the records, and the copies that no other record names. While a damaged record is left, no
 * copy is deleted. If all records are deleted, so is an interrupted run that cannot be restored: the
 * clients' files then stay as that run left them.
 *
 * @throws UserError `locked`, `not-permitted`, `io-failed`
 */
export function applyForget(world: World, { isAll, runs, damaged }: ForgetPlan): void {
  const paths = findState(world)
  if (paths === undefined) return

  withLock(world, paths, () => {
    const recovered = valueOrError(() => recoverUnderLock(world, paths))
    if (recovered instanceof UserError) {
      if (!isAll) throw recovered
      abandonRun(world, paths)
    }

    if (!isAll) {
      // An undo must not be deleted before the run that it undid.
      const records = [...runs.map(({ id }) => paths.record(id)).toReversed(), ...damaged]
      // First: a record that is missing without this counts as damaged.
      const firstCopies = records.length > 0 && readFirstCopies(world, paths)
      if (firstCopies) writeFirstCopies(world, paths, withoutRecords(firstCopies, records))
      return removeRecords(world, paths, records)
    }
    const changedPaths = runs.flatMap(({ files }) => files.map(({ realPath }) => realPath))
    removeStagesNextTo(world, changedPaths)
    removeAllRecords(world, paths)
  })
}
