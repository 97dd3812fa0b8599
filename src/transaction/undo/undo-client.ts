/**
 * Undoes one run in the files of one client. Pure functions over values.
 *
 * A client's address, key, provider and models are undone together, or all of them stay. If only the key
 * were restored, the client would send it to the gateway's address. The steps of `undoClient`:
 *
 * 1. `--force`: every file gets its copy (`restore-copies`).
 * 2. `endpointSituations`: did someone point the client elsewhere since? If so, everything stays (`keep-all`).
 * 3. `undoFiles` undoes our settings in memory: by `remove-ours`, `keep-plain` or `remove-table`.
 * 4. Is the result safe? `undo-safety.ts` decides. If not, step 3 tries the next way.
 * 5. If no way is safe, everything stays.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type Contents,
  type FileContents,
  plannedBytes,
  type StartAndResult,
  withChanges,
} from '../contents.ts'
import {
  decidesEndpoint,
  type FileVersion,
  isAddress,
  isSameContent,
  type KeptSetting,
  type RecordedFile,
  type RecordedSetting,
} from '../record.ts'
import {
  type ComparedSetting,
  compareSettings,
  type FileHistory,
  historyOf,
  type ModelCheck,
  valueInVersion,
} from './compare.ts'
import { type UndoWay, undoFile } from './undo-file.ts'
import { isSafe, type Situation } from './undo-safety.ts'
import { sharedTableWays } from './undo-settings.ts'

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
 * @param contents the files that the undo has changed so far: before the step for this client, and after it
 */
export type FindSituations = (
  client: string,
  contents: StartAndResult<FileContents>,
) => readonly Situation[]

export interface UndoneClient {
  /** All files after the undo. */
  readonly result: Contents
  readonly kept: readonly KeptSetting[]
  /** The client loses a whole table, including what others wrote into it. */
  readonly losesTables: boolean
}

/**
 * @param files the client's files in the run
 * @param start all files before the undo
 */
export function undoClient(
  client: string,
  files: readonly RecordedFile[],
  start: Contents,
  { force, findSituations }: UndoOptions,
): UndoneClient {
  if (force) return undoFiles(files, start, 'restore-copies')
  if (!isSafe(endpointSituations(files, start))) return undoFiles(files, start, 'keep-all')

  for (const way of sharedTableWays) {
    const outcome = undoFiles(files, start, way)
    const situations = [
      ...outcome.situations,
      ...(findSituations?.(client, plannedBytes(start, outcome.result)) ?? []),
    ]
    if (isSafe(situations)) return outcome
  }

  return undoFiles(files, start, 'keep-all')
}

function undoFiles(
  files: readonly RecordedFile[],
  start: Contents,
  way: UndoWay,
): UndoneClient & { readonly situations: readonly Situation[] } {
  const isOurModel: ModelCheck = (setting, model) => isModelOfGateway(setting, model, files, start)
  const undone = files.map((file) => {
    const history = historyOf(start, file)
    return { history, ...undoFile(history, way, isOurModel) }
  })
  const versions = new Map<string, FileVersion | null>(
    undone.map(({ history, result }) => [history.file.path, result]),
  )
  const keepsOurKey = undone.some(({ history, kept }) => keepsKeyOfRun(history, kept))

  return {
    result: withChanges(start, versions),
    kept: undone.flatMap(({ kept }) => kept),
    losesTables: way === 'remove-table',
    situations: keepsOurKey ? ['our-key-stays'] : [],
  }
}

/** Whether an undo keeps a whole file that still has a key as the run wrote it. */
function keepsKeyOfRun(history: FileHistory, kept: readonly KeptSetting[]): boolean {
  const { scope, settings } = history.file
  if (scope !== 'whole' || kept.length === 0) return false

  return settings.some(({ isSecret, path }) => {
    const value = valueInVersion(history, 'now', path)
    const ours = valueInVersion(history, 'written', path)
    return isSecret && value !== undefined && isDeepStrictEqual(value, ours)
  })
}

/**
 * What someone did with a client's address, key and provider since the run. In `key-gone`, most likely a login
 * replaced the key.
 *
 * @param files the client's files in the run
 */
export function endpointSituations(
  files: readonly RecordedFile[],
  start: Contents,
): readonly Situation[] {
  const changed = files.flatMap((file) => changedEndpoint(file, start))
  if (changed.length === 0) return []

  const isOnlyKeyGone = changed.every((value) => value.setting.isSecret && !value.now)
  if (!isOnlyKeyGone) return ['endpoint-changed']
  return [hadAddress(files, start) ? 'key-gone-earlier-address' : 'key-gone']
}

/**
 * The endpoint settings of a file that someone changed since the run. The first row that applies decides:
 *
 *     scope    written    now                   changed settings
 *     any      any        written, or before    none
 *     keys     any        another               those with a value that is neither ours nor the earlier one
 *     whole    no file    a file                all: someone wrote them since
 *     whole    a file     another, or none      those with a value that is not ours
 *
 * In the last row, a key that is gone counts as changed even if there was none before the run: someone has
 * logged in, and a login need not have a key.
 */
function changedEndpoint(file: RecordedFile, start: Contents): readonly ComparedSetting[] {
  const { scope, before, written } = file
  if (!file.settings.some(decidesEndpoint)) return []
  const now = start.get(file.path)
  if (isSameContent(now, written) || isSameContent(now, before)) return []

  const isChanged = ({ isOurs, isEarlier }: ComparedSetting) => {
    if (scope === 'keys') return !isOurs && !isEarlier
    return written === null || !isOurs
  }
  return compareSettings(historyOf(start, file)).filter(
    (compared) => decidesEndpoint(compared.setting) && isChanged(compared),
  )
}

function hadAddress(files: readonly RecordedFile[], start: Contents): boolean {
  return files.some((file) =>
    file.settings
      .filter(isAddress)
      .some(({ path }) => valueInVersion(historyOf(start, file), 'before', path) !== undefined),
  )
}

/**
 * Whether a model that someone chose since the run is undone with it. If the run connected the client to
 * the gateway, every model of the gateway is, because it does not exist at the earlier service. A model of
 * another provider stays. If there is one, models that do not name their provider stay too.
 */
function isModelOfGateway(
  { ourPrefix }: RecordedSetting,
  model: string,
  files: readonly RecordedFile[],
  start: Contents,
): boolean {
  if (!connectsToGateway(files, start)) return false
  return ourPrefix === undefined ? !usesAnotherProvider(files, start) : model.startsWith(ourPrefix)
}

/** Whether the run changed the client's address or provider. */
function connectsToGateway(files: readonly RecordedFile[], start: Contents): boolean {
  return files.some((file) => {
    const history = historyOf(start, file)
    return file.settings
      .filter(isAddress)
      .some(
        ({ path }) =>
          !isDeepStrictEqual(
            valueInVersion(history, 'before', path),
            valueInVersion(history, 'written', path),
          ),
      )
  })
}

/** Whether a model that names its provider names another one now. */
function usesAnotherProvider(files: readonly RecordedFile[], start: Contents): boolean {
  return files.some((file) =>
    file.settings.some(({ role, path, ourPrefix }) => {
      if (role !== 'model' || ourPrefix === undefined) return false
      const model = valueInVersion(historyOf(start, file), 'now', path)
      return typeof model === 'string' && !model.startsWith(ourPrefix)
    }),
  )
}
