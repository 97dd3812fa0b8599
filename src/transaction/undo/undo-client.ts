/**
 * Undoes one run in the files of one client. Pure functions over values.
 *
 * A client's address, key, provider and models are undone together, or all of them stay. If only the key
 * were restored, the client would send it to the gateway's address. The steps of `undoClient`:
 *
 * 1. `--force`: every file gets its copy (`restore-copies`).
 * 2. `endpointSituations`: did someone point the client elsewhere since? If so, everything stays (`keep-all`).
 * 3. `undoFiles` undoes our settings in memory: by `remove-ours` or `remove-table`, each at first without, and then
 *    with what the client needs to read the rest.
 * 4. Is the result safe? `undo-safety.ts` decides. If not, step 3 tries the next one.
 * 5. If no way is safe, everything stays.
 */
import { compact } from '../../compact.ts'
import { pathKey } from '../../edits/values/paths.ts'
import {
  type AllFiles,
  type FileContents,
  type NowAndResult,
  plannedBytes,
  withChanges,
} from '../contents.ts'
import type { FileVersion, KeptSetting, ReasonToKeep, RecordedFile } from '../record.ts'
import { historyOf, modelCheckFor } from './compare.ts'
import { endpointSituations, keptKeySituations } from './run-situations.ts'
import { type UndoWay, undoFile } from './undo-file.ts'
import { isSafe, type Situation } from './undo-safety.ts'
import { type SettingChecks, settingWays } from './undo-settings.ts'

export interface UndoOptions {
  /** Restores the copies byte for byte, even if someone changed the files since. */
  readonly force?: boolean
  /** Only the files of these clients. */
  readonly clients?: readonly string[]
  readonly findSituations?: FindSituations
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

  const situationsAfter = (undone: UndoneClient): readonly Situation[] => [
    ...keptKeySituations(files, undone),
    ...(findSituations?.(client, plannedBytes(now, undone.result)) ?? []),
  ]
  const isSafeAfter = (undone: UndoneClient) => isSafe(situationsAfter(undone))
  let why: ReasonToKeep = 'together'
  for (const way of settingWays)
    for (const needsAll of [false, true]) {
      const undone = undoFiles(files, now, way, needsAll ? () => true : undefined)
      const situations = situationsAfter(undone)
      if (!isSafe(situations)) why = reasonFor(situations) ?? why
      else return needsAll ? keepFewest(undone, files, now, isSafeAfter) : undone
    }

  const keptAll = undoFiles(files, now, 'keep-all')
  const withReason = (setting: KeptSetting) =>
    setting.why === 'together' ? { ...setting, why } : setting
  return { ...keptAll, kept: keptAll.kept.map(withReason) }
}

/** The situation that keeps everything of a client, as the reason for each of its settings. */
function reasonFor(situations: readonly Situation[]): ReasonToKeep | undefined {
  const reasons = [
    'wrong-key',
    'our-key-stays',
    'our-key-elsewhere',
    'address-moved',
    'unreadable',
  ] as const
  return reasons.find((reason) => situations.includes(reason))
}

/** Removes each setting and empty table that stays as needed, and that the client does not need. */
function keepFewest(
  all: UndoneClient,
  files: readonly RecordedFile[],
  now: AllFiles,
  isSafeAfter: (undone: UndoneClient) => boolean,
): UndoneClient {
  let fewest = all
  const unneeded = new Set<string>()
  for (const { file, path, why } of all.kept) {
    if (why !== 'needed') continue
    const key = pathKey([file, ...path])
    const isNeeded: SettingChecks['isNeeded'] = (otherFile, otherPath) => {
      const other = pathKey([otherFile, ...otherPath])
      return other !== key && !unneeded.has(other)
    }
    const undone = undoFiles(files, now, all.way, isNeeded)
    if (!isSafeAfter(undone)) continue
    unneeded.add(key)
    fewest = undone
  }
  return fewest
}

function undoFiles(
  files: readonly RecordedFile[],
  now: AllFiles,
  way: UndoWay,
  isNeeded?: SettingChecks['isNeeded'],
): UndoneClient {
  const isOurModel = modelCheckFor(files, now)
  const undone = files.map((file) => ({
    path: file.path,
    ...undoFile(historyOf(now, file), way, compact({ isOurModel, isNeeded })),
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
