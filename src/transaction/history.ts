import { basename } from 'node:path'
import type { RecordedFile, RunRecord } from './record.ts'

/** What the recorded runs have made of one file. */
export interface FileHistory {
  /** The runs whose work stands in the file, oldest first. */
  readonly standing: readonly Standing[]
  /** The undos of it that a redo could take back, oldest first. */
  readonly undone: readonly RunRecord[]
}

export interface Standing {
  readonly run: RunRecord
  /** The run that put it there: itself, or a later redo. */
  readonly by: RunRecord
}

/** What the runs have made of each file: a path is looked at once. @param runs newest first */
export function historiesOf(runs: readonly RunRecord[]): (file: RecordedFile) => FileHistory {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const known = new Map<string, FileHistory>()

  return (file) => {
    const name = `${file.client} ${file.path}`
    const found = known.get(name) ?? tellHistory(file, runs, byId)
    known.set(name, found)
    return found
  }
}

function tellHistory(
  file: RecordedFile,
  runs: readonly RunRecord[],
  byId: ReadonlyMap<string, RunRecord>,
): FileHistory {
  const before = new Map<string, FileHistory>()
  let now: FileHistory = { standing: [], undone: [] }
  for (const run of runs.toReversed()) {
    before.set(run.id, now)
    if (run.undoes === undefined) now = afterSetup(now, run, file)
    else if (leads(run, byId.get(run.undoes), file))
      now = afterUndo(now, run, before.get(run.undoes))
  }

  return now
}

function afterSetup(now: FileHistory, run: RunRecord, file: RecordedFile): FileHistory {
  if (writes(run, file)) return { standing: [...now.standing, { run, by: run }], undone: [] }
  // A redo of the file alone could bring the address back beside another key.
  const isOneOfUs = run.files.some((one) => isBeside(one, run, [file]))
  return isOneOfUs ? { ...now, undone: [] } : now
}

/** @param earlier how it was before the run that is undone; undefined: that is not recorded any more */
function afterUndo(
  now: FileHistory,
  run: RunRecord,
  earlier: FileHistory | undefined,
): FileHistory {
  const { undoes = '' } = run
  const isRedo = now.undone.some(({ id }) => id === undoes)
  const older = now.standing.filter((one) => one.run.id < undoes)

  const standing = (earlier?.standing ?? older).map(
    (one) => now.standing.find((same) => same.run === one.run) ?? { run: one.run, by: run },
  )
  return { standing, undone: isRedo ? (earlier?.undone ?? []) : [...now.undone, run] }
}

/** Whether an undo has led this file back too: then it wrote it, or found nothing to change in it. */
function leads(undo: RunRecord, undone: RunRecord | undefined, file: RecordedFile): boolean {
  const isAsked = undo.clients.includes(file.client)
  return writes(undo, file) || (isAsked && undone !== undefined && writes(undone, file))
}

export function writes({ files }: RunRecord, { path }: RecordedFile): boolean {
  return files.some((one) => one.path === path)
}

/**
 * Whether `run` wrote `file` for the same installation of a client that `known` files belong to: a
 * file of the same name in another folder (`CODEX_HOME`) is another installation's.
 */
export function isBeside(
  file: RecordedFile,
  run: RunRecord,
  known: readonly RecordedFile[],
): boolean {
  const own = known.filter(({ client }) => client === file.client)
  const isElsewhere = run.files.some(
    ({ client, path }) =>
      client === file.client &&
      own.some((one) => one.path !== path && basename(one.path) === basename(path)),
  )

  return own.length > 0 && !isElsewhere
}

/** What an undo, an undo of that and so on come to: the run at the end of them, undone or made again. */
export function endOf(
  run: RunRecord,
  runs: readonly RunRecord[],
): { readonly id: string; readonly isUndone: boolean } {
  if (run.undoes === undefined) return { id: run.id, isUndone: false }
  const undone = runs.find(({ id }) => id === run.undoes)
  if (undone === undefined) return { id: run.undoes, isUndone: true }
  const { id, isUndone } = endOf(undone, runs)
  return { id, isUndone: !isUndone }
}
