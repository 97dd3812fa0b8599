/**
 * Which runs are active: not undone.
 *
 * Every run stays recorded, also one that was undone, because an undo is a run too. For example, after
 * `setup A, setup B, undo of B` only A is active. A redo of that undo makes B active again.
 *
 * A run can be undone for one of its clients and not for another. So the unit is a part: the files of
 * one client in one run.
 */
import { isUndoOrRedo, type RunPart, type RunRecord, type Runs } from '../record.ts'

/**
 * The setups, `off`s and repairs that are not undone, newest first. A run that was undone for some of its
 * clients has only the files of the others. A redone run counts at the time of its redo, so that the next
 * rollback undoes it.
 *
 * Promise: every such run is in this list, or a recorded undo undid it and no redo followed.
 */
export function activeRuns(runs: Runs, clients?: readonly string[]): Runs {
  const undone = undoneParts(runs)
  const redone = redoneParts(runs)
  const isActive = ({ id }: RunRecord, client: string) => !undone.has(partName({ run: id, client }))

  return runsWithoutUndos(runs, clients, isActive)
    .flatMap((run) => splitByPosition(run, redone))
    .toSorted((a, b) => compareIds(b.position, a.position))
    .map(({ run }) => run)
}

/** The setups, `off`s and repairs with the files of these clients, also those that were undone. */
export function runsWithoutUndos(
  runs: Runs,
  clients: readonly string[] | undefined,
  isIncluded: (run: RunRecord, client: string) => boolean = () => true,
): Runs {
  return runs.flatMap((run) => {
    if (isUndoOrRedo(run)) return []
    const files = run.files.filter(
      ({ client }) => isSelected(client, clients) && isIncluded(run, client),
    )
    return files.length > 0 ? [{ ...run, files }] : []
  })
}

/** A run, or the files of it that have the same position in the order of undos. */
interface PlacedRun {
  readonly run: RunRecord
  /** The ID of the run, or of its redo. */
  readonly position: string
}

/** Splits a run that was redone for some of its clients only. */
function splitByPosition(run: RunRecord, redone: ReadonlyMap<string, string>): PlacedRun[] {
  const positionOf = (client: string) => redone.get(partName({ run: run.id, client })) ?? run.id
  const positions = new Set(run.files.map(({ client }) => positionOf(client)))

  return [...positions].map((position) => {
    const files = run.files.filter(({ client }) => positionOf(client) === position)
    return { position, run: { ...run, files } }
  })
}

/** The IDs of runs begin with their time, so this sorts by time. */
function compareIds(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** For each part that was redone, the newest redo of it. */
function redoneParts(runs: Runs): ReadonlyMap<string, string> {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const redone = new Map<string, string>()

  for (const { id, kind, undoes: undos = [] } of runs.toReversed()) {
    if (kind !== 'redo') continue
    for (const undo of undos)
      for (const part of byId.get(undo.run)?.undoes ?? [])
        if (part.client === undo.client) redone.set(partName(part), id)
  }

  return redone
}

/** The parts that were undone. Starts with the newest run, so that it skips an undo that was redone. */
function undoneParts(runs: Runs): ReadonlySet<string> {
  const undone = new Set<string>()

  for (const run of runs)
    for (const part of run.undoes ?? []) {
      const isRedone = undone.has(partName({ run: run.id, client: part.client }))
      if (!isRedone) undone.add(partName(part))
    }

  return undone
}

/** The parts of undos that were redone. A redo undoes an undo, so these are the undos that were undone. */
export const redoneUndos = undoneParts

/** Whether a command is about a client. Without names, it is about every client. */
export function isSelected(client: string, clients: readonly string[] | undefined): boolean {
  return clients?.includes(client) ?? true
}

export function partName({ run, client }: RunPart): string {
  return `${run} ${client}`
}
