/**
 * Undoes one run in the files of one client. Pure functions over values.
 *
 * A client's address, key, provider and models are undone together, or all of them stay. If only the key
 * were restored, the client would send it to the gateway's address. The first row that applies decides:
 *
 *     --force                                             `restore-copies`: every file gets its copy
 *     someone pointed the client elsewhere since          `keep-all`: everything stays
 *     an undo of our settings leaves a sound client       the first of `remove-ours`, `keep-plain` and
 *                                                         `remove-table` that does so
 *     otherwise                                           `keep-all`
 *
 * A client is sound if it can read its files, and sends no login or key to an address that it was not given
 * for. The command checks that (`breaksClient`), because it reads all files of the client.
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
  historyOf,
  type ModelCheck,
  valueInVersion,
} from './compare.ts'
import { type UndoWay, undoFile } from './undo-file.ts'
import { sharedTableWays } from './undo-settings.ts'

export interface UndoOptions {
  /** Restores the copies byte for byte, even if someone changed the files since. */
  readonly force?: boolean | undefined
  /** Only the files of these clients. */
  readonly clients?: readonly string[] | undefined
  readonly breaksClient?: BreaksClient | undefined
}

/**
 * Whether an undo would give a client a problem that it does not have: it could no longer read its files, or
 * it would send a login or a key to an address for which it was not given.
 *
 * @param contents the files that the undo has changed so far: before the step for this client, and after it
 */
export type BreaksClient = (client: string, contents: StartAndResult<FileContents>) => boolean

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
  { force, breaksClient }: UndoOptions,
): UndoneClient {
  if (force) return undoFiles(files, start, 'restore-copies')
  if (isRedirected(files, start)) return undoFiles(files, start, 'keep-all')

  for (const way of sharedTableWays) {
    const outcome = undoFiles(files, start, way)
    // A file that keeps the gateway's key needs the gateway's address.
    if (outcome.keepsOurKey) continue
    if (!breaksClient?.(client, plannedBytes(start, outcome.result))) return outcome
  }

  return undoFiles(files, start, 'keep-all')
}

function undoFiles(
  files: readonly RecordedFile[],
  start: Contents,
  way: UndoWay,
): UndoneClient & { readonly keepsOurKey: boolean } {
  const isOurModel: ModelCheck = (setting, model) => isModelOfGateway(setting, model, files, start)
  const results = files.map((file) => ({
    path: file.path,
    ...undoFile(historyOf(start, file), way, isOurModel),
  }))
  const versions = new Map<string, FileVersion | null>(
    results.map(({ path, result }) => [path, result]),
  )

  return {
    result: withChanges(start, versions),
    kept: results.flatMap(({ kept }) => kept),
    keepsOurKey: results.some(({ keepsOurKey }) => keepsOurKey),
    losesTables: way === 'remove-table',
  }
}

/**
 * Whether someone pointed a client elsewhere since the run: they changed its address, key or provider.
 *
 * An exception: a login replaced the gateway's key, and the client had no address before the run.
 *
 *     changed since the run     address before the run    the endpoint
 *     nothing                   any                       is undone
 *     address or provider       any                       stays
 *     the key is gone           none                      is undone: the login must not go to the gateway
 *     the key is gone           one                       stays: the login was not made for that address
 *
 * @param files the client's files in the run
 */
export function isRedirected(files: readonly RecordedFile[], start: Contents): boolean {
  const changed = files.flatMap((file) => changedEndpoint(file, start))
  if (changed.length === 0) return false

  const onlyKeyIsGone = changed.every((value) => value.setting.isSecret && !value.now)
  return !onlyKeyIsGone || hadAddress(files, start)
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
