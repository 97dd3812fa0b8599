/**
 * Undoes one run in the files of one client. Pure functions over values.
 *
 * A client's address, key, provider and models are undone together, or all of them stay. If only the key
 * were restored, the client would send it to the gateway's address. The steps of `undoClient`:
 *
 * 1. `--force`: every file gets its copy (`restore-copies`).
 * 2. `endpointSituations`: did someone point the client elsewhere since? If so, everything stays (`keep-all`).
 * 3. `undoFiles` undoes our settings in memory: by `remove-ours`, `keep-without-role` or `remove-table`.
 * 4. Is the result safe? `undo-safety.ts` decides. If not, step 3 tries the next way.
 * 5. If no way is safe, everything stays.
 */
import {
  type AllFiles,
  type FileContents,
  type NowAndResult,
  plannedBytes,
  withChanges,
} from '../contents.ts'
import type { FileVersion, KeptSetting, RecordedFile } from '../record.ts'
import { historyOf, modelCheckFor } from './compare.ts'
import { endpointSituations, keptKeySituations } from './run-situations.ts'
import { type UndoWay, undoFile } from './undo-file.ts'
import { isSafe, type Situation } from './undo-safety.ts'
import { settingWays } from './undo-settings.ts'

export interface UndoOptions {
  /** Restores the copies byte for byte, even if someone changed the files since. */
  readonly force?: boolean | undefined
  /** Only the files of these clients. */
  readonly clients?: readonly string[] | undefined
  readonly findSituations?: FindSituations | undefined
}

/**
 * Finds the situations of a client after an undo. The command does so, because it reads all files of the client.
 *
 * @param contents the files that the rollback has changed so far: before the step for this client, and after it
 */
export type FindSituations = (
  client: string,
  contents: NowAndResult<FileContents>,
) => readonly Situation[]

export interface UndoneClient {
  /** All files, as this undo leaves them. */
  readonly result: AllFiles
  readonly kept: readonly KeptSetting[]
  /** How it treated all of the client's files. */
  readonly way: UndoWay
}

/**
 * Undoes one run in the files of a client, in memory.
 *
 * @param files the client's files in the run
 * @param now all files, as this undo finds them
 */
export function undoClient(
  client: string,
  files: readonly RecordedFile[],
  now: AllFiles,
  { force, findSituations }: UndoOptions,
): UndoneClient {
  if (force) return undoFiles(files, now, 'restore-copies')
  if (!isSafe(endpointSituations(files, now))) return undoFiles(files, now, 'keep-all')

  for (const way of settingWays) {
    const undone = undoFiles(files, now, way)
    const situations = [
      ...keptKeySituations(files, now, undone.kept),
      ...(findSituations?.(client, plannedBytes(now, undone.result)) ?? []),
    ]
    if (isSafe(situations)) return undone
  }

  return undoFiles(files, now, 'keep-all')
}

function undoFiles(files: readonly RecordedFile[], now: AllFiles, way: UndoWay): UndoneClient {
  const isOurModel = modelCheckFor(files, now)
  const undone = files.map((file) => ({
    path: file.path,
    ...undoFile(historyOf(now, file), way, isOurModel),
  }))
  const versions = new Map<string, FileVersion | null>(
    undone.map(({ path, result }) => [path, result]),
  )

  return {
    result: withChanges(now, versions),
    kept: undone.flatMap(({ kept }) => kept),
    way,
  }
}
