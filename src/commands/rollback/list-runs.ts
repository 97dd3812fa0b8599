/** The recorded runs: as a table (`repoint rollback --list`), and as the question which one to undo. */
import { counted } from '../../text.ts'
import { type RollbackOptions, undoableRuns } from '../../transaction/plan-rollback.ts'
import { isUndoOrRedo, type RunRecord, type Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import type { RollbackContext } from './context.ts'
import { describeRun, timeAgo, whatItDid } from './describe.ts'

/** Shows the runs, newest first. Returns the exit status. */
export function showRunList(session: Session, runs: Runs): number {
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
    const settings = isUndoOrRedo(run) ? [] : [run.address, run.model]
    const description = [whatItDid(run, runs), ...settings].filter(Boolean).join(', ')
    return [timeAgo(new Date(run.at), now), description, run.id]
  })
  session.sayTable(['WHEN', 'WHAT', 'RUN'], rows)
}

function asDocument(run: RunRecord) {
  const { id, at, kind, command, clients, address = '', model = '', undoes, files } = run
  return {
    run: id,
    at,
    kind: isUndoOrRedo(run) ? kind : 'change',
    command,
    clients,
    baseUrl: address,
    model,
    undoes: undoes && [...new Set(undoes.map(({ run }) => run))],
    files: files.map(({ path }) => path),
  }
}

/** How many runs the user can choose from. */
const maxChoices = 10

/** The options with the run that the user picks on a terminal. With fewer than two runs, it does not ask. */
export async function withPickedRun(
  { session, runs }: RollbackContext,
  options: RollbackOptions,
): Promise<RollbackOptions> {
  const { platform } = session
  const undoable = undoableRuns(platform, options)
  if (undoable.length < 2) return options

  const now = platform.clock.now()
  const choices = undoable.slice(0, maxChoices).map((run, index) => ({
    value: run.id,
    name: `${describeRun(run, runs, now)}${newerRuns(run, undoable.slice(0, index))}`,
  }))
  const all = { value: 'original', name: 'everything: restore your original files' }
  const picked = await platform.ask.search({
    message: 'What do you want to undo?',
    choices: [...choices, all],
  })

  if (picked === all.value) return { ...options, original: true }
  const isNewest = picked === undoable[0]?.id
  return isNewest ? options : { ...options, run: picked }
}

/** The number of newer runs of the same clients, in words: they are undone together with the run. */
function newerRuns({ files }: RunRecord, newer: Runs): string {
  const clients = files.map(({ client }) => client)
  const isOfSameClient = (run: RunRecord) =>
    run.files.some(({ client }) => clients.includes(client))

  const count = newer.filter(isOfSameClient).length
  return count === 0 ? '' : `, and ${counted(count, 'newer run')}`
}
