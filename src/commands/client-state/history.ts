import { exitStatus, resultOf, UserError } from '../../errors.ts'
import type { Runs } from '../../transaction/record.ts'
import { type RecoveredRun, recoverRun } from '../../transaction/restore.ts'
import { listRuns } from '../../transaction/state.ts'
import type { Session } from '../screen/session.ts'

/** Settles an interrupted run, and reports that. Every command that reads the records starts with it. */
export function settleFirst(session: Session): void {
  const settled = recoverRun(session.platform)
  if (settled === undefined) return
  session.addFindings({ code: 'run-recovered', message: describeSettled(session, settled) })
  session.showFindings('note')
}

function describeSettled(session: Session, { run, outcome, files, kept }: RecoveredRun): string {
  const list = (paths: readonly string[]) => paths.map((path) => session.showPath(path)).join(', ')
  if (outcome === 'discarded')
    return `Run ${run} had been cut off before it changed anything, and is discarded`
  if (outcome === 'restored')
    return `Run ${run} had been cut off and is taken back; as they were before it: ${list(files)}`
  const back = files.length === 0 ? '' : `; as they were before it: ${list(files)}`
  return `Run ${run} had been cut off, and cannot be taken back as a whole, because its files were changed since${back}; left as they are: ${list(kept)}. Roll back, or set the client up again`
}

/** The recorded runs. A damaged record becomes a notice. */
export function runsSoFar(session: Session): Runs {
  const { runs, damaged } = listRuns(session.platform)
  for (const path of damaged)
    session.addFindings({
      code: 'record-damaged',
      message: `The record of an earlier run is damaged, or another version of repoint wrote it: ${session.showPath(path)}`,
      hint: 'That run cannot be undone; the others can. repoint keeps the copies of old files while the record exists. `repoint forget --all` removes all records and copies.',
    })
  return runs
}

/** Settles and lists the runs for a command that writes nothing. Returns why the records cannot be read. */
export function runsIfReadable(session: Session): Runs | UserError {
  const found = resultOf(() => {
    settleFirst(session)
    return runsSoFar(session)
  })
  const isOtherFailure =
    found instanceof UserError &&
    (exitStatus[found.code] !== exitStatus['not-permitted'] || found.files !== 'unchanged')
  if (isOtherFailure) throw found
  return found
}
