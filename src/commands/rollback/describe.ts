import { clientRows } from '../../clients/list.ts'
import { counted, listWords } from '../../text.ts'
import { isUndoOrRedo, type RunRecord, type Runs } from '../../transaction/record.ts'

/** `Codex's setup of 2 minutes ago`, or `the undo of …`. */
export function describeRun(run: RunRecord, runs: Runs, now: Date): string {
  return `${whatItDid(run, runs)} of ${timeAgo(new Date(run.at), now)}`
}

/** `Codex's setup`: the description of a run without the time. */
export function whatItDid(run: RunRecord, runs: Runs): string {
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

/** The clients' labels. */
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
