import { exitStatus, resultOf, UserError } from '../../errors.ts'
import type { Runs } from '../../transaction/record.ts'
import { listRuns } from '../../transaction/records/records.ts'
import { type RecoveredRun, recoverRun } from '../../transaction/restore.ts'
import type { Session } from '../screen/session.ts'

/** Settles an interrupted run, and reports that. Every command that reads the records starts with it. */
export function settleInterruptedRun(session: Session): void {
  const settled = recoverRun(session.platform)
  if (settled === undefined) return
  session.addFindings({
    code: 'run-recovered',
    severity: settled.outcome === 'left' ? 'warning' : 'note',
    message: describeSettled(session, settled),
  })
  session.showFindings()
}

function describeSettled(session: Session, { run, outcome, files, kept }: RecoveredRun): string {
  const list = (paths: readonly string[]) => paths.map((path) => session.showPath(path)).join(', ')
  if (outcome === 'discarded')
    return `Run ${run} was interrupted before it changed anything. repoint discarded it`
  if (outcome === 'restored')
    return `Run ${run} was interrupted, and repoint undid it. Restored: ${list(files)}`
  const restored = files.length === 0 ? '' : ` Restored: ${list(files)}.`
  return `Run ${run} was interrupted, and other programs changed its files since.${restored} Not restored: ${list(kept)}. Set the client up again, or undo the run: repoint rollback`
}

/** The recorded runs. A damaged record becomes a notice. */
export function runsSoFar(session: Session): Runs {
  const { runs, damaged } = listRuns(session.platform)
  for (const path of damaged)
    session.addFindings({
      code: 'record-damaged',
      severity: 'warning',
      message: `Cannot read the record of an earlier run: ${session.showPath(path)}`,
      hint: 'You can undo the other runs, but not this one. To remove all records and copies: repoint forget --all',
    })
  return runs
}

/** Settles and lists the runs for a command that writes nothing, or returns why the records cannot be read. */
export function runsIfReadable(session: Session): Runs | UserError {
  const result = resultOf(() => {
    settleInterruptedRun(session)
    return runsSoFar(session)
  })
  const isOtherFailure =
    result instanceof UserError &&
    (exitStatus[result.code] !== exitStatus['not-permitted'] || result.filesState !== 'unchanged')
  if (isOtherFailure) throw result
  return result
}
