/**
 * Which runs has repoint recorded?
 *
 *     openRecords        warns about root, recovers, lists     commands that write clients' files
 *     recoverAndReport   recovers                              commands that only read the records, or none
 *     runsOrError        recovers, lists                       status and doctor, which work without records
 *     runsSoFar          lists                                 after one of the others
 *
 * To recover is to end an unfinished run, such as one whose process was killed.
 */
import { errorCodes } from '../../error-codes.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { superuserFinding } from '../../transaction/as-root.ts'
import type { Runs } from '../../transaction/record.ts'
import { listRuns } from '../../transaction/records/records.ts'
import { type RecoveredRun, recoverRun } from '../../transaction/recover.ts'
import type { Session } from '../screen/session.ts'

export function openRecords(session: Session): Runs {
  session.addFindings(...superuserFinding(session.platform))
  session.showFindings()
  recoverAndReport(session)
  return runsSoFar(session)
}

/** Reports the recovered run. */
export function recoverAndReport(session: Session): void {
  const recovered = recoverRun(session.platform)
  if (recovered === undefined) return
  session.addFindings({
    code: 'run-recovered',
    severity: recovered.kind === 'recorded' ? 'warning' : 'note',
    message: describeRecovery(session, recovered),
  })
  session.showFindings()
}

function describeRecovery(session: Session, recovered: RecoveredRun): string {
  const { kind, runId } = recovered
  const list = (paths: readonly string[]) => paths.map((path) => session.showPath(path)).join(', ')
  if (kind === 'discarded')
    return `Run ${runId} was interrupted, and every file is as it was before it. repoint discarded it`
  if (kind === 'restored')
    return `Run ${runId} was interrupted, and repoint undid it. Restored: ${list(recovered.restored)}`

  const { restored, notRestored } = recovered
  const restoredFiles = restored.length === 0 ? '' : ` Restored: ${list(restored)}.`
  return `Run ${runId} was interrupted, and other programs changed its files since.${restoredFiles} Not restored: ${list(notRestored)}. Set the client up again, or undo the run: repoint rollback`
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

/** Returns why the records cannot be read, if the user may not. @throws UserError for any other reason */
export function runsOrError(session: Session): Runs | UserError {
  const result = valueOrError(() => {
    recoverAndReport(session)
    return runsSoFar(session)
  })
  const isOtherFailure =
    result instanceof UserError &&
    (errorCodes[result.code].exitStatus !== errorCodes['not-permitted'].exitStatus ||
      result.filesState !== 'unchanged')
  if (isOtherFailure) throw result
  return result
}
