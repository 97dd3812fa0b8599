/** The recorded runs: as a table (`repoint rollback --list`), as the question which one to undo, and in words. */

import { clientRows } from '../../clients/list.ts'
import { counted, listWords } from '../../text.ts'
import { type RollbackOptions, undoableRuns } from '../../transaction/plan-rollback.ts'
import { isUndoOrRedo, type RunRecord, type Runs } from '../../transaction/record.ts'
import type { Session } from '../screen/session.ts'
import type { RollbackContext } from './context.ts'

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

  if (picked === all.value) return { ...options, which: { kind: 'all' } }
  const isNewest = picked === undoable[0]?.id
  return isNewest ? options : { ...options, which: { kind: 'run', id: picked } }
}

/** The number of newer runs of the same clients, in words: they are undone together with the run. */
function newerRuns({ files }: RunRecord, newer: Runs): string {
  const clients = files.map(({ client }) => client)
  const isOfSameClient = (run: RunRecord) =>
    run.files.some(({ client }) => clients.includes(client))

  const count = newer.filter(isOfSameClient).length
  return count === 0 ? '' : `, and ${counted(count, 'newer run')}`
}

/** `Codex's setup of 2 minutes ago`, or `the undo of …`. */
export function describeRun(run: RunRecord, runs: Runs, now: Date): string {
  return `${whatItDid(run, runs)} of ${timeAgo(new Date(run.at), now)}`
}

/** `Codex's setup`: the description of a run without the time. */
function whatItDid(run: RunRecord, runs: Runs): string {
  if (isUndoOrRedo(run)) return `the ${run.kind} of ${whatWasUndone(run, runs)}`

  const earlier = (run.mergedRuns ?? 1) - 1
  const more = earlier === 0 ? '' : ` (with ${counted(earlier, 'earlier run')})`
  return `${possessive(labelsOf(run.clients))} ${nounOf(run)}${more}`
}

/** The change that an undo took back, or that a redo made again. */
export function whatWasUndone(run: RunRecord, runs: Runs): string {
  const undone = undoneBy(run, runs)
  const change = run.kind === 'redo' ? undone && undoneBy(undone, runs) : undone
  return change ? whatItDid(change, runs) : 'an earlier run'
}

function undoneBy({ undoes = [] }: RunRecord, runs: Runs): RunRecord | undefined {
  return runs.findLast(({ id }) => undoes.some(({ run }) => run === id))
}

function nounOf({ kind, command, clients }: RunRecord): string {
  if (kind === 'repair') return 'repair'
  if (kind === 'off')
    return clients.length > 1 ? 'return to their own services' : 'return to its own service'
  if (command === 'key') return 'new key'
  return command === 'use' ? 'change of gateway' : 'setup'
}

export function labelsOf(ids: readonly string[]): string {
  const labels = ids.map((id) => clientRows.find((row) => row.id === id)?.label ?? id)
  return listWords(labels)
}

function possessive(name: string): string {
  return `${name}${name.endsWith('s') ? "'" : "'s"}`
}

const units = [
  { name: 'minute', ms: 60_000, upTo: 60 },
  { name: 'hour', ms: 3_600_000, upTo: 24 },
  { name: 'day', ms: 86_400_000, upTo: 60 },
] as const

/** `2 minutes ago`. Beyond 60 days it is the date, in the time zone of this machine. */
export function timeAgo(time: Date, now: Date): string {
  const ms = now.getTime() - time.getTime()
  if (ms < 60_000) return 'a moment ago'
  for (const { name, ms: unit, upTo } of units) {
    const count = Math.floor(ms / unit)
    if (count < upTo) return `${counted(count, name)} ago`
  }
  const padded = (part: number) => String(part).padStart(2, '0')
  return [time.getFullYear(), padded(time.getMonth() + 1), padded(time.getDate())].join('-')
}
