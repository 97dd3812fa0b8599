/**
 * Keeps the list of runs short: merges the oldest runs into one. Pure functions over values.
 *
 *     run 1           a file was A before it, and B after it
 *     run 2           it was B before, and C after
 *     merged run 2    it was A before, and C after: its undo restores A, as the undo of both would
 */
import { isDeepStrictEqual } from 'node:util'
import { UserError, valueOrError } from '../../errors.ts'
import { type AllFiles, type Copies, withChanges } from '../contents.ts'
import {
  type FileVersion,
  gatewaysIn,
  type RunGateway,
  type RunRecord,
  type Runs,
} from '../record.ts'
import { activeRuns, partKey, undoneParts } from '../undo/active-runs.ts'
import { inUndoOrder, mergeFiles, undoRun } from '../undo/undo-runs.ts'

/** How many runs are recorded before the oldest ones are merged. */
export const maxRuns = 100

/**
 * Merges the oldest runs until at most `limit` are left.
 *
 * Promises:
 * - If only these runs wrote a file, the merged run restores the copy from before the oldest one. So
 *   the first copy is never lost.
 * - If someone wrote a file between two of them, the merged run restores what an undo of both would
 *   have left: their changes are kept.
 * - A run and the undo of it are merged together or not at all. So the list stays longer than `limit`
 *   while an undo of all of it can be redone.
 */
export function mergeOldest(copies: Copies, runs: Runs, limit = maxRuns): Runs {
  let merged = runs
  while (merged.length > limit) {
    const shorter = mergeFewest(copies, merged)
    if (shorter.length === merged.length) break
    merged = shorter
  }
  return merged
}

/** Drops or merges as few of the oldest runs as possible. @returns the same runs if that is impossible */
function mergeFewest(copies: Copies, runs: Runs): Runs {
  const withoutRedone = dropRedone(runs)
  if (withoutRedone.length < runs.length) return withoutRedone

  for (let count = 2; count < runs.length; count++) {
    const oldest = runs.slice(-count)
    const newer = runs.slice(0, -count)
    if (undoesAny(newer, oldest)) continue

    const merged = mergeRuns(copies, oldest)
    if (merged.length < count) return [...newer, ...merged]
  }

  return runs
}

/**
 * Drops the oldest undo whose parts were all redone, and its redo. Together they change nothing but the place of the
 * redone run, so they stay if the next rollback would undo another run without them.
 */
function dropRedone(runs: Runs): Runs {
  const undone = undoneParts(runs)
  const isRedone = ({ id, kind, undoes = [] }: RunRecord) =>
    kind === 'undo' && undoes.every(({ client }) => undone.has(partKey({ run: id, client })))
  const undo = runs.findLast(isRedone)
  if (undo === undefined) return runs

  const isRedo = ({ kind, undoes = [] }: RunRecord) =>
    kind === 'redo' && undoes.every(({ run }) => run === undo.id)
  const others = runs.filter((run) => run !== undo && !isRedo(run))
  return isDeepStrictEqual(activeRuns(others), activeRuns(runs)) ? others : runs
}

function undoesAny(runs: Runs, undone: Runs): boolean {
  const ids = new Set(undone.map(({ id }) => id))
  return runs.some(({ undoes = [] }) => undoes.some(({ run }) => ids.has(run)))
}

/** Merges the runs into one for each home folder. Runs that were undone are dropped. */
function mergeRuns(copies: Copies, runs: Runs): Runs {
  const active = activeRuns(runs).toReversed()
  const homes = [...new Set(active.map(({ home }) => home))]

  const merged = homes.flatMap((home) => {
    const [first, ...newer] = active.filter((run) => run.home === home)
    if (first === undefined) return []

    const run = newer.reduce((earlier, later) => mergeTwo(copies, earlier, later), first)
    const replaced = runs
      .toReversed()
      .filter((candidate) => candidate.home === home)
      .flatMap(({ id, replaces = [] }) => [id, ...replaces])
    return [{ ...run, replaces: replaced.filter((id) => id !== run.id) }]
  })
  return merged.toReversed()
}

function mergeTwo(copies: Copies, earlier: RunRecord, later: RunRecord): RunRecord {
  const before = filesAfterUndo(copies, earlier, later)
  const ofBoth = [...gatewaysByFile(later), ...gatewaysByFile(earlier)]

  // The merged run has the reverse order of the undo of both.
  const files = inUndoOrder(mergeFiles([later.files, earlier.files]), [later, earlier])
    .toReversed()
    .map((file) => ({
      ...file,
      before: before.get(file.path),
      gateways: uniqueGateways(ofBoth.filter(({ path }) => path === file.path)),
    }))

  // A repair sets up no gateway, so the merged run is the repaired setup.
  const main = later.kind === 'repair' ? earlier : later

  return {
    ...main,
    id: later.id,
    at: later.at,
    clients: [...new Set([...later.clients, ...earlier.clients])],
    mergedRuns: (earlier.mergedRuns ?? 1) + (later.mergedRuns ?? 1),
    files,
    folders: [...new Set([...earlier.folders, ...later.folders])].sort(),
  }
}

/** The gateways that a run wrote, each with the path of its file. */
function gatewaysByFile(run: RunRecord): readonly GatewayInFile[] {
  return run.files.flatMap((file) =>
    gatewaysIn(file, run).map((gateway) => ({ path: file.path, gateway })),
  )
}

interface GatewayInFile {
  readonly path: string
  readonly gateway: RunGateway
}

/** All files after an undo of the later run and then of the earlier run. */
function filesAfterUndo(copies: Copies, earlier: RunRecord, later: RunRecord): AllFiles {
  const beforeLater = new Map<string, FileVersion | null>([
    ...earlier.files.map(({ path, written }) => [path, written] as const),
    ...later.files.map(({ path, before }) => [path, before] as const),
  ])
  // The undo of the earlier run finds what the undo of the later run would leave.
  const now = withChanges({ copies, get: () => null, planned: new Map() }, beforeLater)
  const result = valueOrError(() => undoRun(earlier, now, {}).result)
  if (!(result instanceof UserError)) return result

  // A copy is missing, or a file cannot be parsed. The first copy must not be lost.
  const first = earlier.files.map(({ path, before }) => [path, before] as const)
  return withChanges(now, new Map(first))
}

function uniqueGateways(gateways: readonly GatewayInFile[]): readonly RunGateway[] {
  const unique = new Map<string, RunGateway>()
  for (const { gateway } of gateways) {
    const key = JSON.stringify(gateway)
    if (!unique.has(key)) unique.set(key, gateway)
  }
  return [...unique.values()]
}
