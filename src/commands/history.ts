import type { Notice } from '../clients/client.ts'
import { exitStatus, UserError } from '../errors.ts'
import { listRuns } from '../transaction/records.ts'
import { settle } from '../transaction/recover.ts'
import type { RunRecord, Settled } from '../transaction/types.ts'
import type { Session } from './screen/session.ts'

/** Settles a run that was cut off, and says so. Comes first in every command that reads state. */
export function settleFirst(session: Session): Notice[] {
  const settled = settle(session.platform)
  if (settled === undefined) return []
  const message = describeSettled(session, settled)
  session.remark(`note: ${message}`)
  return [{ code: 'run-recovered', message }]
}

/**
 * Why the records cannot be read, for a command that only looks and goes on without them. Any other
 * error is thrown on.
 */
export function unreadable(error: unknown): UserError {
  const isUnreadable =
    error instanceof UserError &&
    exitStatus[error.code] === exitStatus['not-permitted'] &&
    error.files === 'unchanged'
  if (isUnreadable) return error
  throw error
}

function describeSettled(session: Session, { run, outcome, files, left }: Settled): string {
  const list = (paths: readonly string[]) => paths.map((path) => session.showPath(path)).join(', ')
  if (outcome === 'discarded')
    return `Run ${run} had been cut off before it changed anything, and is discarded`
  if (left.length === 0) return `Run ${run} had been cut off and is now finished: ${list(files)}`
  const done = files.length === 0 ? '' : `; switched: ${list(files)}`
  return `Run ${run} had been cut off, and cannot be finished, because its files were changed since${done}; left as they are: ${list(left)}. Set the client up again, or roll back`
}

/** The recorded runs, newest first. A damaged record is named in `warnings`. */
export function runsSoFar(session: Session, warnings: Notice[]): readonly RunRecord[] {
  const { runs, damaged } = listRuns(session.platform)
  for (const path of damaged)
    warnings.push({
      code: 'record-damaged',
      message: `The record of an earlier run cannot be read: ${session.showPath(path)}`,
      hint: 'That run can no longer be undone; the others can. Delete the record to hear no more of it.',
    })
  return runs
}
