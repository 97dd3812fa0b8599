import type { Bytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { listRuns } from './records.ts'
import type { World } from './types.ts'
import { undoFile } from './undo-file.ts'

/**
 * A file as a rollback of its newest run would leave it, then of the newest two, and so on: what
 * others have written since is in each. Reads only.
 *
 * None where it cannot be told: a record is damaged, a copy is gone, or address or key are no longer
 * those that a run left.
 */
export function* earlierVersions(world: World, path: string): Generator<Bytes | null> {
  try {
    const { runs, damaged } = listRuns(world)
    if (damaged.length > 0) return
    const files = runs.flatMap((run) => run.files.filter((file) => file.path === path))
    const pointing = files.find(({ boundKeys }) => boundKeys.length > 0)
    const [newest, ...older] = files
    if (pointing === undefined || newest === undefined) return
    const { isBoundChanged, isKeyGone, isGone } = undoFile(world, [pointing], false)
    if (isBoundChanged || isKeyGone || isGone) return
    for (let count = 0; count <= older.length; count++)
      yield undoFile(world, [newest, ...older.slice(0, count)], false).edit.after
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
