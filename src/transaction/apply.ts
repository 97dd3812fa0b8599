import type { Plan } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { readBlob } from './blobs.ts'
import { findChanges, isUnchanged, withAbsolutePaths } from './changes.ts'
import { refuseSudo } from './check.ts'
import type { RunDocument } from './document.ts'
import { attempt, unlessGone } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { withLock } from './lock.ts'
import { prune } from './prune.ts'
import { discardDraft, settleLocked } from './recover.ts'
import { composeDocument, type Restoring, stage, writeDraft } from './stage.ts'
import { openState, type StatePaths } from './state.ts'
import { steadyWorld } from './steady.ts'
import { dropFolders, fileNow, switchFile, writeTemp } from './switch.ts'
import { requireTrust } from './trust.ts'
import type { Applied, FileAction, RecordedFile, RunRecord, World } from './types.ts'

/**
 * Carries out a plan: all of its files switch, or none. docs/transaction.md tells how.
 *
 * @throws UserError `locked`, `changed-underneath`, `config-conflict`, `not-permitted`, `disk-full`,
 *   `io-failed`; its `files` says how things stand
 */
export function applyPlan(world: World, plan: Plan, options: { undoes?: string } = {}): Applied {
  const { undoes } = options
  return execute(world, plan, undoes === undefined ? undefined : { undoes })
}

/** As `applyPlan`, with what a rollback knows besides. */
export function execute(unsteady: World, given: Plan, restoring: Restoring | undefined): Applied {
  const plan = withAbsolutePaths(unsteady, given)
  if (plan.edits.every(isUnchanged)) return asApplied(plan, undefined)
  const world = steadyWorld(unsteady)
  refuseSudo(world)
  const paths = openState(world)
  return withLock(world, paths, () => {
    settleLocked(world, paths)
    const changes = findChanges(world, paths, plan)
    if (changes.length === 0) return asApplied(plan, undefined)
    if (restoring)
      for (const { edit, target } of changes) requireTrust(world, paths, edit.path, target)
    const document = composeDocument(world, paths, plan, changes, restoring)
    try {
      writeDraft(world, paths, document)
      stage(world, paths, document, changes)
      verify(world, document)
    } catch (error) {
      attempt(() => discardDraft(world, paths, document))
      throw error
    }
    commit(world, paths, document)
    prune(world, paths)
    return asApplied(plan, document.run)
  })
}

/** The last look before the commit point. */
function verify(world: World, { run }: RunDocument): void {
  for (const file of run.files) {
    try {
      if (fileNow(world, file) !== 'old') throw changedNow(world, file)
    } catch (error) {
      throw fileFailure(world.machine, file.path, error)
    }
  }
}

function changedNow(world: World, file: RecordedFile): UserError {
  return new UserError({
    code: 'changed-underneath',
    message: `${placeOf(world.machine, file.path)} was changed by another program during this run`,
    hint: 'Run the same command again.',
  })
}

/**
 * From the commit point to the record. When a file cannot be switched, those before it are switched
 * back, and the run has never been; only if that fails too, it stays committed for the next start.
 */
function commit(world: World, paths: StatePaths, document: RunDocument): void {
  const { files, machine } = world
  const switched: RecordedFile[] = []
  let place = paths.journal
  try {
    files.rename(paths.draft, paths.journal)
    files.fsyncFolder(paths.folder)
    for (const [index, file] of document.run.files.entries()) {
      place = file.path
      if (fileNow(world, file) !== 'old') throw changedNow(world, file)
      switched.push(file)
      switchFile(world, file, document.temps[index] ?? '')
    }
  } catch (error) {
    const failure = fileFailure(machine, place, error)
    if (isTakenBack(world, paths, document, switched)) throw failure
    throw asPending(failure)
  }
  dropFolders(world, document.dropFolders)
  try {
    files.rename(paths.journal, paths.record(document.run.id))
    files.fsyncFolder(paths.folder)
  } catch (error) {
    throw fileFailure(machine, paths.journal, error, 'pending')
  }
}

/** Makes the run undone from its last file to its first, then uncommitted. */
function isTakenBack(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  switched: readonly RecordedFile[],
): boolean {
  const { files } = world
  try {
    for (const file of switched.toReversed()) takeBack(world, document, file)
    unlessGone(() => files.rename(paths.journal, paths.draft))
    // If this is not durable, a power loss brings the journal back: then it needs its copies, and
    // the next start tidies up instead.
    attempt(() => {
      files.fsyncFolder(paths.folder)
      discardDraft(world, paths, document)
    })
    return true
  } catch (error) {
    if (!(error instanceof UserError) && (error as NodeJS.ErrnoException).code === undefined)
      throw error
    return false
  }
}

function takeBack(world: World, document: RunDocument, file: RecordedFile): void {
  if (fileNow(world, file) !== 'new') return
  const temp = document.temps[document.run.files.indexOf(file)] ?? ''
  const backwards: RecordedFile = { ...file, before: file.after, after: file.before }
  switchFile(world, backwards, temp, () => {
    if (file.before) writeTemp(world, backwards, temp, readBlob(world, file.before.sha256), true)
  })
}

function asPending(failure: unknown): unknown {
  if (!(failure instanceof UserError)) return failure
  const { code, message, hint, cause } = failure
  return new UserError({ code, message, hint, cause, files: 'pending' })
}

function asApplied(plan: Plan, run: RunRecord | undefined): Applied {
  return {
    run,
    files: plan.edits.map((edit) => {
      const recorded = run?.files.find(({ path }) => path === edit.path)
      const note = recorded && noteOn(recorded, run?.undoes !== undefined)
      return {
        path: edit.path,
        client: edit.client,
        action: recorded ? actionOf(recorded) : 'unchanged',
        ...(note === undefined ? {} : { note }),
      }
    }),
  }
}

function actionOf({ before, after }: RecordedFile): FileAction {
  if (before === null) return 'created'
  return after === null ? 'removed' : 'updated'
}

function noteOn({ before, after }: RecordedFile, isRollback: boolean): string | undefined {
  if (!before || !after || before.mode === after.mode || isRollback) return undefined
  const octal = (mode: number) => mode.toString(8).padStart(4, '0')
  return `Its mode was ${octal(before.mode)} and is now ${octal(after.mode)}, because the key stands in it.`
}
