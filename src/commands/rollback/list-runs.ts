/** `repoint rollback --list`: the recorded runs. */
import { isChange, type RunRecord, type Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import { timeAgo, whatItDid } from './describe.ts'

/** Shows the runs, newest first. Returns the exit status. */
export function listRuns(session: Session, runs: Runs): number {
  session.showFindings()
  if (runs.length === 0) session.say('repoint has recorded no run.')
  else showTable(session, runs)
  session.document({
    command: 'rollback',
    runs: runs.map(asDocument),
    warnings: session.findingsAsJson,
  })
  return 0
}

function showTable(session: Session, runs: Runs): void {
  const now = session.platform.clock.now()
  const rows = runs.map((run) => {
    const target = isChange(run) ? [run.baseUrl, run.model] : []
    const description = [whatItDid(run, runs), ...target].filter(Boolean).join(', ')
    return [timeAgo(new Date(run.at), now), description, run.id]
  })
  session.sayTable(['WHEN', 'WHAT', 'RUN'], rows)
}

function asDocument(run: RunRecord) {
  const { id, at, kind, command, clients, baseUrl = '', model = '', undoes, files } = run
  return {
    run: id,
    at,
    kind: isChange(run) ? 'change' : kind,
    command,
    clients,
    baseUrl,
    model,
    undoes: undoes && [...new Set(undoes.map(({ run }) => run))],
    files: files.map(({ path }) => path),
  }
}
