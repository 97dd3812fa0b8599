/** What `repoint rollback` reports: as lines, and as JSON. */
import { plainPath } from '../../edits/values/paths.ts'
import { errorCodes } from '../../error-codes.ts'
import type { RollbackPlan } from '../../transaction/plan-rollback.ts'
import type { ApplyResult, Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { isInstalledHere, type RollbackContext } from './context.ts'
import { changesIn, keptFindings } from './show-plan.ts'

/** Whether a rollback changes any file. */
export function changesAny(files: ApplyResult['files']): boolean {
  return files.some(({ action }) => action !== 'unchanged')
}

/** Returns the exit status. */
export function reportDryRun(session: Session, undo: RollbackPlan): number {
  session.say('Dry run: nothing changed.')
  const changed = changesAny(undo.files)
  printDocument(session, undo, { dryRun: true, changed, run: null, next: [] })
  return 0
}

/**
 * Reports what a rollback did. Returns the exit status.
 *
 * @param next what the user must do
 */
export function reportUndo(
  session: Session,
  undo: RollbackPlan,
  applied: ApplyResult,
  next: readonly string[],
): number {
  const changed = changesAny(applied.files)
  session.say(changed ? outcomeOf(undo) : 'Nothing changed.')
  for (const { hint } of keptFindings(undo)) session.say(`  ${hint}`)
  for (const line of next) session.say(`  ${line}`)

  const run = applied.run?.id ?? null
  printDocument(session, undo, { dryRun: undefined, changed, run, next })
  return undo.kept.length > 0 ? errorCodes['held-back'].exitStatus : 0
}

/** The outcome of a rollback that changed something, with the command that takes it back. */
function outcomeOf(undo: RollbackPlan): string {
  const command = undoCommandFor(undo)
  if (undo.isRedo) return `Done. Undo: ${command}`
  const isOff = undo.runs.every(({ kind }) => kind === 'off')
  return `Undone. ${isOff ? 'Do it again' : 'Set it up again'}: ${command}`
}

/** The command that takes a rollback back. */
export function undoCommandFor({ isRedo }: RollbackPlan): string {
  return isRedo ? 'repoint rollback' : 'repoint rollback --redo'
}

function printDocument(
  session: Session,
  undo: RollbackPlan,
  outcome: {
    readonly dryRun: true | undefined
    readonly changed: boolean
    readonly run: string | null
    readonly next: readonly string[]
  },
): void {
  const { next, ...state } = outcome
  session.document({
    command: 'rollback',
    ...state,
    undoes: undo.runs.at(-1)?.id,
    files: undo.files.map(({ path, action, kept: keptPaths }) => ({
      path,
      action,
      kept: keptPaths.map(plainPath),
      changes: outcome.dryRun && changesIn(undo, path),
    })),
    warnings: session.findingsAsJson,
    next,
  })
}

/** Reports that there is nothing to undo, and a run of another installation. Returns the exit status. */
export function reportNothing(
  context: RollbackContext,
  runs: Runs,
  { redo, dryRun }: { readonly redo?: true | undefined; readonly dryRun?: true | undefined },
): number {
  const { session } = context
  session.say(`There is nothing to ${redo ? 'redo' : 'undo'}.`)

  const isHere = isInstalledHere(context)
  const foreignRun = runs.find(({ files }) => files.some((file) => !isHere(file)))
  if (foreignRun !== undefined) {
    const paths = foreignRun.files.map(({ path }) => session.showPath(path)).join(', ')
    session.addFindings({
      code: 'other-installation',
      message: `Run ${foreignRun.id} changed files elsewhere: ${paths}`,
      hint: `Undo it by its ID: repoint rollback --run ${foreignRun.id}. Or set HOME and the clients' folder variables as they were.`,
    })
  }
  session.showFindings()

  session.document({
    command: 'rollback',
    dryRun,
    changed: false,
    run: null,
    undoes: null,
    files: [],
    warnings: session.findingsAsJson,
    next: [],
  })
  return 0
}
