/**
 * Applies a plan to the disk, all of it or nothing. The steps of `applyPlan`, all under the lock:
 *
 * 1. `recover.ts` ends an earlier run that is unfinished.
 * 2. `planned-files.ts` checks that each file can be replaced, and still has the planned bytes.
 * 3. `compose-run.ts` composes the record.
 * 4. `switch-files.ts` replaces the files and commits the record. If a file fails, it restores those before it.
 * 5. `findMismatches` reads the files, `limitRuns` removes old records, and `lastStep` saves the gateway.
 */
import { compact } from '../compact.ts'
import { actionOf, type Plan } from '../edits/types.ts'
import { UserError, valueOrError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { composeRun } from './compose-run.ts'
import { type Lock, withLock } from './lock.ts'
import {
  findPlannedFiles,
  isUnchanged,
  resolveUnchangedFile,
  withAbsolutePaths,
} from './planned-files.ts'
import {
  type ApplyResult,
  isChangedByRun,
  isUndoOrRedo,
  type RecordedFile,
  type RollbackDetails,
  type RunRecord,
  type World,
} from './record.ts'
import { limitRuns } from './records/prune.ts'
import { readRuns, recordNames } from './records/records.ts'
import { openState, type StatePaths } from './records/state-folder.ts'
import { recoverUnderLock } from './recover.ts'
import { switchFiles } from './switch-files.ts'

export interface ApplyOptions {
  readonly rollback?: RollbackDetails
  /**
   * Reads the written files under the lock, before another run can change them, and returns why they do not
   * say what was planned.
   */
  readonly findMismatches?: () => readonly UserError[]
  /**
   * The last step, after the commit. It reports failures as findings, so it never fails the run. The lock
   * of the run is still held. If no edit changes anything, the run has not taken it.
   */
  readonly lastStep?: ((lock: Lock) => readonly Finding[]) | undefined
}

/**
 * Applies a plan: all of its files change, or none. docs/transaction.md explains the steps.
 *
 * @throws UserError `locked`, `changed-underneath`, `config-conflict`, `not-permitted`, `disk-full`,
 *   `io-failed`; its `filesState` says what the files contain now
 */
export function applyPlan(
  world: World,
  requestedPlan: Plan,
  options: ApplyOptions = {},
): ApplyResult {
  const plan = withAbsolutePaths(world, requestedPlan)
  const { rollback, findMismatches, lastStep } = options
  if (plan.edits.every(isUnchanged) && rollback === undefined)
    return applyResult(plan, undefined, { findings: lastStep?.({ kind: 'free' }) })

  const paths = openState(world)
  const lock: Lock = { kind: 'held', paths }

  return withLock(world, paths, () => {
    recoverUnderLock(world, paths)

    const { plannedFiles, toWrite } = findPlannedFiles(world, paths, plan, rollback)
    // An undo that changes nothing is recorded too, so that the next one goes one run further back. After
    // another run it is not: that may be the same rollback in another terminal. Of two recorded undos of a
    // run, `--redo` would redo only one, and the run would stay undone.
    const isCurrentUndo =
      rollback !== undefined && rollback.newestRunId === newestRunId(world, paths)
    if (toWrite.length === 0 && !isCurrentUndo)
      return applyResult(plan, undefined, { findings: lastStep?.(lock) })

    const names = recordNames(world, paths)
    const composed = composeRun(world, names, { plan, plannedFiles, rollback })
    switchFiles(world, paths, composed)

    // The run is recorded now. An error about reading its files must not keep the caller from knowing that.
    const found = valueOrError(() => findMismatches?.() ?? [])
    const mismatches = found instanceof UserError ? [found] : found
    limitRuns(world, paths)

    return applyResult(plan, composed.document.run, { findings: lastStep?.(lock), mismatches })
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
    const plannedFiles = plan.edits.map((edit) => resolveUnchangedFile(world, edit))
    const names = recordNames(world, paths)
    switchFiles(world, paths, composeRun(world, names, { plan, plannedFiles }))
    limitRuns(world, paths)
  })
}

function newestRunId(world: World, paths: StatePaths): string | undefined {
  return readRuns(world, paths).runs[0]?.id
}

function applyResult(
  plan: Plan,
  run: RunRecord | undefined,
  {
    findings = [],
    mismatches = [],
  }: {
    readonly findings?: readonly Finding[]
    readonly mismatches?: readonly UserError[]
  },
): ApplyResult {
  const files = plan.edits.map((edit) => {
    const { path, client } = edit
    const recorded = run?.files.find((file) => file.path === path)
    const action = recorded && isChangedByRun(recorded) ? actionOf(edit) : 'unchanged'
    const note = recorded && modeNote(recorded, plan)
    return compact({ path, client, action, note })
  })

  return { run, findings, mismatches, files }
}

function modeNote({ before, written }: RecordedFile, plan: Plan): string | undefined {
  if (!before || !written || before.mode === written.mode || isUndoOrRedo(plan)) return undefined
  const octal = (mode: number) => mode.toString(8).padStart(4, '0')
  return `Only you can read it now (mode ${octal(before.mode)} became ${octal(written.mode)}).`
}
