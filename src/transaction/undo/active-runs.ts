/**
 * Which runs are active: not undone.
 *
 * Every run stays recorded, also one that was undone, because an undo is a run too. A run can be undone for
 * one of its clients and not for another, so the unit is a part: the files of one client in one run. Here
 * all files are Codex's. Each row is the state after that run:
 *
 *     run    kind     undoes    undone runs    active setups, newest first
 *     1      setup              none           1
 *     2      setup              none           2, 1
 *     3      undo     2         2              1
 *     4      undo     1         1, 2           none
 *     5      redo     4         4, 2           1
 *     6      redo     3         3, 4           2, 1
 *
 * A redo undoes an undo, and an undo that is undone does not count: run 5 undoes run 4, so run 1 is active
 * again. After run 6, run 2 is the newest, because its redo is newer than that of run 1.
 */
import { basename } from 'node:path'
import {
  isUndoOrRedo,
  type RecordedFile,
  type RunPart,
  type RunRecord,
  type Runs,
} from '../record.ts'

/**
 * The setups, `off`s and repairs that are not undone, newest first. A run that was undone for some of its
 * clients has only the files of the others. A redone run counts at the time of its redo, so that the next
 * rollback undoes it.
 *
 * Promise: every such run is in this list, or a recorded undo undid it and no redo followed.
 */
export function activeRuns(runs: Runs, clients?: readonly string[]): Runs {
  const undone = undoneFiles(runs)
  const redos = newestRedos(runs)
  const isActive = ({ id }: RunRecord, file: RecordedFile) => !undone.has(fileKey(id, file))

  return runsExceptUndos(runs, clients, isActive)
    .flatMap((run) => splitByPosition(run, redos))
    .toSorted((a, b) => compareIds(b.position, a.position))
    .map(({ run }) => run)
}

/** The setups, `off`s and repairs with the files of these clients, also those that were undone. */
export function runsExceptUndos(
  runs: Runs,
  clients: readonly string[] | undefined,
  isIncluded: (run: RunRecord, file: RecordedFile) => boolean = () => true,
): Runs {
  return runs.flatMap((run) => {
    if (isUndoOrRedo(run)) return []
    const files = run.files.filter(
      (file) => isSelected(file.client, clients) && isIncluded(run, file),
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
function splitByPosition(run: RunRecord, redos: ReadonlyMap<string, string>): PlacedRun[] {
  const positionOf = (client: string) => redos.get(partKey({ run: run.id, client })) ?? run.id
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

/** For each part that was redone, the ID of its newest redo. */
function newestRedos(runs: Runs): ReadonlyMap<string, string> {
  const redos = runs.filter(({ kind }) => kind === 'redo').toReversed()
  // Of equal keys, a map keeps the last value: here that of the newest redo.
  return new Map(
    redos.flatMap((redo) => redoneParts(redo, runs).map((part) => [partKey(part), redo.id])),
  )
}

/** A redo undoes undos, so it redoes the parts that these undid. In the example, run 6 redoes run 2. */
function redoneParts(redo: RunRecord, runs: Runs): readonly RunPart[] {
  return (redo.undoes ?? []).flatMap(({ run, client }) => {
    const undo = runs.find(({ id }) => id === run)
    return (undo?.undoes ?? []).filter((part) => part.client === client)
  })
}

/**
 * The files that are undone, of setups and of undos. A merged run of an earlier version can have files of two
 * installations, and an undo in one of them lists only its files. The runs are read from the newest one, because only a
 * later run can undo an undo: in the example, run 6 undoes run 3, and so run 3 no longer undoes run 2.
 */
export function undoneFiles(runs: Runs): ReadonlySet<string> {
  const undone = new Set<string>()
  const byId = new Map(runs.map((run) => [run.id, run]))

  for (const undo of runs)
    for (const { run, client } of undo.undoes ?? []) {
      const ofClient = (file: RecordedFile) => file.client === client
      const listed = undo.files.filter(ofClient)
      const files = byId.get(run)?.files.filter(ofClient) ?? []
      for (const file of files) {
        const inUndo = listed.find(({ path }) => path === file.path)
        // Another installation's files. An undo does not list the files of runs that had no effect left.
        if (inUndo === undefined && isElsewhere(file, listed)) continue
        const placed = inUndo === undefined ? listed : [inUndo]
        const isRedone = placed.some((other) => undone.has(fileKey(undo.id, other)))
        if (!isRedone) undone.add(fileKey(run, file))
      }
    }

  return undone
}

/** Whether a file of the same name is in another folder: `CODEX_HOME` names a second installation. */
export function isElsewhere({ path }: RecordedFile, files: readonly RecordedFile[]): boolean {
  return files.some((file) => file.path !== path && basename(file.path) === basename(path))
}

/** A string for a file of a run, as the key of a set. */
export function fileKey(run: string, { client, path }: RecordedFile): string {
  return `${run} ${client} ${path}`
}

/** Whether a command is about a client. Without names, it is about every client. */
export function isSelected(client: string, clients: readonly string[] | undefined): boolean {
  return clients?.includes(client) ?? true
}

/** A string for a part of a run, as the key of a set or a map. */
function partKey({ run, client }: RunPart): string {
  return `${run} ${client}`
}
