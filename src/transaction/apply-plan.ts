/**
 * Applies a plan to the disk, all of it or nothing.
 *
 * For example, a setup of Codex writes auth.json and config.toml. `planned-files.ts` checks that both files can
 * be replaced, `compose.ts` composes the record, and `switch-files.ts` replaces the files. If the second
 * one fails, `recover.ts` restores the first.
 */
import { compact } from '../compact.ts'
import { actionOf, type Plan } from '../edits/types.ts'
import type { Finding } from '../finding.ts'
import { composeRun } from './compose.ts'
import { createDurably, wrapFileErrors } from './files.ts'
import { withLock } from './lock.ts'
import {
  isUnchanged,
  type PlannedFile,
  sortPlannedFiles,
  unchangedFile,
  withAbsolutePaths,
} from './planned-files.ts'
import {
  type ApplyResult,
  encodeDocument,
  isUndoOrRedo,
  isWritten,
  type RecordedFile,
  type RollbackDetails,
  type RunRecord,
  type World,
} from './record.ts'
import { writeBlobs } from './records/blobs.ts'
import { limitRuns } from './records/prune.ts'
import { readRuns } from './records/records.ts'
import { openState, type StatePaths } from './records/state-folder.ts'
import { recoverUnderLock } from './recover.ts'
import { contentsToSave, switchFiles } from './switch-files.ts'

export interface ApplyOptions {
  readonly rollback?: RollbackDetails
  /** Reads the files again under the lock, before another run can change them. */
  readonly verify?: () => void
  /**
   * The last step, after the commit. It reports failures as findings, so it never fails the run.
   *
   * It runs under the lock of the run, unless nothing was to be written: then there are no `lockedPaths`,
   * and the step takes the lock itself.
   */
  readonly lastStep?: ((lockedPaths?: StatePaths) => readonly Finding[]) | undefined
}

/**
 * Applies a plan: all of its files change, or none. docs/transaction.md explains the steps.
 *
 * @throws UserError `locked`, `changed-underneath`, `config-conflict`, `not-permitted`, `disk-full`,
 *   `io-failed`; its `files` reports the state of the files
 */
export function applyPlan(
  world: World,
  requestedPlan: Plan,
  options: ApplyOptions = {},
): ApplyResult {
  const plan = withAbsolutePaths(world, requestedPlan)
  const { rollback, verify, lastStep } = options
  if (plan.edits.every(isUnchanged) && rollback === undefined)
    return applyResult(plan, undefined, lastStep?.())

  const paths = openState(world)

  return withLock(world, paths, () => {
    recoverUnderLock(world, paths)

    const { changes, unchanged } = sortPlannedFiles(world, paths, plan, rollback)
    if (changes.length === 0) {
      // An undo that changes nothing is recorded too, so that the next one goes one run further back.
      const isCurrent = rollback !== undefined && rollback.newestRunId === newestRunId(world, paths)
      const run = isCurrent ? recordUnchanged(world, paths, plan, unchanged, rollback) : undefined
      return applyResult(plan, run, lastStep?.(paths))
    }

    const inWriteOrder = sortByPlan(plan, [...changes, ...unchanged])
    const composed = composeRun(world, paths, plan, inWriteOrder, rollback)
    switchFiles(world, paths, composed)

    verify?.()
    limitRuns(world, paths)

    return applyResult(plan, composed.document.run, lastStep?.(paths))
  })
}

/**
 * Records the files as they are, without writing them. Changes by others no longer count as drift.
 *
 * @param plan a plan whose edits change nothing
 * @throws UserError `locked`, `config-conflict`, `not-permitted`, `disk-full`, `io-failed`
 */
export function acceptDrift(world: World, plan: Plan): void {
  const paths = openState(world)
  withLock(world, paths, () => {
    recoverUnderLock(world, paths)
    const unchanged = plan.edits.map((edit) => unchangedFile(world, edit))
    recordUnchanged(world, paths, plan, unchanged)
  })
}

/** Records a run that writes no file. The caller holds the lock. */
function recordUnchanged(
  world: World,
  paths: StatePaths,
  plan: Plan,
  unchanged: readonly PlannedFile[],
  rollback?: RollbackDetails,
): RunRecord {
  const { files } = world
  const composed = composeRun(world, paths, plan, unchanged, rollback)
  const { document } = composed

  wrapFileErrors(world.machine, paths.draft, () => {
    writeBlobs(world, paths, contentsToSave(composed))
    createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
    files.rename(paths.draft, paths.record(document.run.id))
    files.fsyncFolder(paths.folder)
  })

  limitRuns(world, paths)
  return document.run
}

function newestRunId(world: World, paths: StatePaths): string | undefined {
  return readRuns(world, paths).runs[0]?.id
}

function applyResult(
  plan: Plan,
  run: RunRecord | undefined,
  findings: readonly Finding[] = [],
): ApplyResult {
  const files = plan.edits.map((edit) => {
    const { path, client } = edit
    const recorded = run?.files.find((file) => file.path === path)
    const action = recorded && isWritten(recorded) ? actionOf(edit) : 'unchanged'
    const note = recorded && modeNote(recorded, plan)
    return compact({ path, client, action, note })
  })

  return { run, findings, files }
}

function modeNote({ before, written }: RecordedFile, plan: Plan): string | undefined {
  if (!before || !written || before.mode === written.mode || isUndoOrRedo(plan)) return undefined
  const octal = (mode: number) => mode.toString(8).padStart(4, '0')
  return `Only you can read it now (mode ${octal(before.mode)} became ${octal(written.mode)}).`
}

/** Sorts the changes as in the plan, which lists the files in write order. */
function sortByPlan({ edits }: Plan, changes: readonly PlannedFile[]): readonly PlannedFile[] {
  const indexOf = ({ edit }: PlannedFile) => edits.findIndex(({ path }) => path === edit.path)
  return changes.toSorted((a, b) => indexOf(a) - indexOf(b))
}
