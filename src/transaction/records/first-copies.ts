/**
 * The first copy of each file, and the settings that repoint ever wrote into it: `first-copies.json`. It outlives the
 * records, of which only the newest are kept. What the removed records did to a file is folded into its entry:
 *
 *     run 1           a file was A before it, and B after it
 *     run 2           it was B before, and C after
 *     both removed    the first copy is A, and the removed runs wrote C
 *
 * Undoing takes the removed runs of an installation as one run, the oldest.
 */
import { basename } from 'node:path'
import type { Machine } from '../../platform/platform.ts'
import { createDurably, errorCode, ignoreFileErrors, ignoreMissing, sha256Of } from '../files.ts'
import {
  type FileVersion,
  isUndoOrRedo,
  type RecordedFile,
  type RunRecord,
  type Runs,
  type World,
} from '../record.ts'
import { movedPath, type StatePaths } from './state-folder.ts'

export interface FirstCopies {
  /** The IDs of the records that should exist. One that does not was deleted by someone. */
  readonly runs: readonly string[]
  /** The newest removed record. A crash can leave it, and older ones: they no longer count. */
  readonly removedUpTo?: string
  readonly files: readonly FirstCopy[]
}

interface FirstCopy {
  /** The first run of the client in this installation: all of its files have the same. */
  readonly firstRun: Pick<RunRecord, 'id' | 'at' | 'home'>
  /** The version before that run. Null: there was no file. */
  readonly first: FileVersion | null
  /** The file with every setting that a run wrote into it. */
  readonly file: RecordedFile
  /** What the removed runs did to the file. Absent: no record about it was removed. */
  readonly removed?: RemovedRuns
}

export interface RemovedRuns {
  readonly count: number
  /** The newest of them. */
  readonly run: Pick<
    RunRecord,
    'at' | 'kind' | 'command' | 'address' | 'baseUrls' | 'model' | 'folders'
  >
  /** `before` is the first copy, with what others wrote between the removed runs. */
  readonly file: RecordedFile
}

export const noFirstCopies: FirstCopies = { runs: [], files: [] }

/** The largest list that repoint reads, in bytes. It grows with the settings that repoint ever wrote, as records do. */
const maxBytes = 100_000_000

/** @returns undefined if the file is missing or damaged */
export function readFirstCopies(
  { files, machine }: World,
  paths: StatePaths,
): FirstCopies | undefined {
  try {
    const text = new TextDecoder().decode(files.read(paths.firstCopies, maxBytes))
    const { sha256, ...body } = JSON.parse(text)
    if (body.version !== 1 || sha256 !== checksum(body.copies)) return undefined
    const copies: FirstCopies = body.copies
    return { ...copies, files: copies.files.map((entry) => relocate(machine, entry)) }
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError || errorCode(error))
      return undefined
    throw error
  }
}

/** The entry with the new paths if the home folder has moved. */
function relocate(machine: Machine, entry: FirstCopy): FirstCopy {
  const { firstRun, file, removed } = entry
  const newPath = movedPath(machine, firstRun.home)
  if (newPath(file.path) === file.path) return entry

  const moved = (of: RecordedFile) => ({
    ...of,
    path: newPath(of.path),
    realPath: newPath(of.realPath),
  })
  return {
    ...entry,
    firstRun: { ...firstRun, home: machine.home },
    file: moved(file),
    ...(removed && {
      removed: {
        ...removed,
        run: { ...removed.run, folders: removed.run.folders.map(newPath) },
        file: moved(removed.file),
      },
    }),
  }
}

/** Writes the list durably. */
export function writeFirstCopies({ files }: World, paths: StatePaths, copies: FirstCopies): void {
  const body = { version: 1, copies, sha256: checksum(copies) }
  const bytes = new TextEncoder().encode(`${JSON.stringify(body, undefined, 1)}\n`)
  ignoreMissing(() => files.unlink(paths.newFirstCopies))
  try {
    createDurably(files, paths.newFirstCopies, bytes, { mode: 0o600 })
    files.rename(paths.newFirstCopies, paths.firstCopies)
  } catch (error) {
    ignoreFileErrors(() => files.unlink(paths.newFirstCopies))
    throw error
  }
  files.fsyncFolder(paths.folder)
}

function checksum(copies: FirstCopies): string {
  return sha256Of(new TextEncoder().encode(JSON.stringify(copies)))
}

/** The removed runs of each installation as one run, newest first. */
export function removedRuns({ files }: FirstCopies): Runs {
  const byFirstRun = new Map<string, RunRecord>()
  for (const { firstRun, removed } of files) {
    if (removed === undefined) continue
    const { file, run, count } = removed
    const other = byFirstRun.get(firstRun.id)
    const newest = other !== undefined && other.at > run.at ? other : { ...run, mergedRuns: count }
    byFirstRun.set(firstRun.id, {
      ...newest,
      ...firstRun,
      at: newest.at,
      kind: 'setup',
      clients: [...new Set([...(other?.clients ?? []), file.client])],
      files: [...(other?.files ?? []), file],
      folders: [...new Set([...(other?.folders ?? []), ...run.folders])].sort(),
    })
  }
  return [...byFirstRun.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}

/** The list without these records, and without the files that their runs wrote first. */
export function withoutRecords(copies: FirstCopies, records: readonly string[]): FirstCopies {
  const names = new Set(records.map((path) => basename(path)))
  const isForgotten = (id: string) => names.has(`run-${id}.json`)
  return {
    ...copies,
    runs: copies.runs.filter((id) => !isForgotten(id)),
    files: copies.files.filter(({ firstRun }) => !isForgotten(firstRun.id)),
  }
}

/**
 * Runs with the first copies of their files as the oldest versions, for an undo by force. Files whose records are all
 * gone are in runs of their own.
 *
 * @param runs newest first
 */
export function withFirstVersions({ files }: FirstCopies, runs: Runs): Runs {
  const firsts = new Map(files.map((entry) => [entry.file.path, entry]))
  const withFirst = (file: RecordedFile) => {
    const entry = firsts.get(file.path)
    firsts.delete(file.path)
    return entry === undefined ? file : { ...file, before: entry.first }
  }
  const oldestFirst = runs
    .toReversed()
    .map((run) => (isUndoOrRedo(run) ? run : { ...run, files: run.files.map(withFirst) }))
  const lost = [...firsts.values()].map(
    ({ firstRun, first, file }): RunRecord => ({
      ...firstRun,
      kind: 'setup',
      command: 'setup',
      clients: [file.client],
      files: [{ ...file, before: first }],
      folders: [],
    }),
  )
  return [...oldestFirst.toReversed(), ...lost]
}

/** The copies that must stay. */
export function versionsIn({ files }: FirstCopies): readonly (FileVersion | null)[] {
  return files.flatMap(({ first, removed }) => [
    first,
    removed?.file.before ?? null,
    removed?.file.written ?? null,
  ])
}
