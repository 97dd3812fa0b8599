/**
 * Which runs has repoint recorded?
 *
 *     recoverAndListRuns  recovers, lists, warns about root     commands that write clients' files
 *     recoverAndReport    recovers                              commands that only read the records, or none
 *     readRecords         recovers, lists, reports nothing      status and doctor, which work without records
 *     runsSoFar           lists                                 after one of the others
 *
 * To recover is to end an unfinished run, such as one whose process was killed.
 */
import { errorCodes } from '../../error-codes.ts'
import { findingFrom, UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { savedGateways } from '../../state/saved-gateways.ts'
import { superuserFinding } from '../../transaction/as-root.ts'
import { whyNoRecords } from '../../transaction/check-planned-files.ts'
import type { Runs } from '../../transaction/record.ts'
import { listRuns } from '../../transaction/records/records.ts'
import { type RecoveredRun, recoverRun } from '../../transaction/recover.ts'
import type { Session } from '../screen/session.ts'

/** The records, for a command that works without them. */
export type RecordedRuns =
  | {
      readonly kind: 'read'
      readonly runs: Runs
      /** What the user must know about the records. */
      readonly findings: readonly Finding[]
    }
  /** The user may not read them. */
  | { readonly kind: 'unreadable'; readonly runs: readonly []; readonly error: UserError }

export function recoverAndListRuns(session: Session): Runs {
  session.addFindings(...superuserFinding(session.platform))
  session.showFindings()
  recoverAndReport(session)
  return runsSoFar(session)
}

export function recoverAndReport(session: Session): void {
  session.addFindings(...recover(session))
  session.showFindings()
}

/** The recorded runs. A damaged record is reported and left out. */
export function runsSoFar(session: Session): Runs {
  const { runs, findings } = listWithFindings(session)
  session.addFindings(...findings)
  return runs
}

/** @throws UserError if the records cannot be read for another reason than their permissions */
export function readRecords(session: Session): RecordedRuns {
  const records = valueOrError(() => {
    const recovered = recover(session)
    const { runs, findings } = listWithFindings(session)
    const gateways = valueOrError(() => savedGateways(session))
    const damaged = gateways instanceof UserError ? gateways : undefined
    const failures = [damaged, whyNoRecords(session.platform)].filter(
      (error) => error !== undefined,
    )
    return {
      kind: 'read' as const,
      runs,
      findings: [...recovered, ...findings, ...failures.map(asMachineFinding)],
    }
  })
  if (!(records instanceof UserError)) return records

  const isNotPermitted =
    errorCodes[records.code].exitStatus === errorCodes['not-permitted'].exitStatus
  if (!isNotPermitted || records.filesState !== 'unchanged') throw records
  return { kind: 'unreadable', runs: [], error: records }
}

/** Why repoint itself would fail. The clients work all the same; another run that hangs is an error. */
function asMachineFinding(error: UserError): Finding {
  return { ...findingFrom(error), severity: error.code === 'locked' ? 'error' : 'warning' }
}

/** Ends an unfinished run. Returns a finding if there was one. */
function recover(session: Session): readonly Finding[] {
  const recovered = recoverRun(session.platform)
  if (recovered === undefined) return []
  return [
    {
      code: 'run-recovered',
      severity: recovered.kind === 'recorded' ? 'warning' : 'note',
      message: describeRecovery(session, recovered),
    },
  ]
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

/** The recorded runs, and a finding for each damaged record. */
function listWithFindings(session: Session): {
  readonly runs: Runs
  readonly findings: readonly Finding[]
} {
  const { runs, damaged } = listRuns(session.platform)
  const findings = damaged.map((path): Finding => {
    return {
      code: 'record-damaged',
      severity: 'warning',
      message: `Cannot read the record of an earlier run: ${session.showPath(path)}`,
      hint: 'You can undo the other runs, but not this one. To remove all records and copies: repoint forget --all',
    }
  })
  return { runs, findings }
}
