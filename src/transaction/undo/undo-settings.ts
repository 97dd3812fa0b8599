/**
 * Undoes the settings of one run in one file, value by value. Pure functions over values. For example, the
 * user wrote a comment and changed the limit after the setup:
 *
 *     before            written           now                         undone
 *     model = "gpt"     model = "gw/a"    model = "gw/a"  # mine      model = "gpt"  # mine
 *                       limit = 100       limit = 200                 limit = 200 (kept)
 */
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../../edits/format.ts'
import type { Bytes, SettingPath } from '../../edits/types.ts'
import { includesPath, startsWith, uniquePaths } from '../../edits/values/paths.ts'
import { type FileVersion, isConnection, type KeptSetting } from '../record.ts'
import {
  type ComparedValue,
  compareSettings,
  type FileHistory,
  keptSetting,
  type ModelCheck,
  settingAt,
  valueInVersion,
} from './compare.ts'

/**
 * What an undo does with a shared table: one that the run created, and into which someone wrote since.
 * Here the user added the retries:
 *
 *     before    written                      now
 *     -         [model_providers.gateway]    [model_providers.gateway]
 *               name = "Gateway"             name = "Gateway"
 *               base_url = "https://gw"      base_url = "https://gw"
 *                                            request_max_retries = 9
 *
 * - `remove-ours` leaves only the retries.
 * - `keep-plain` also leaves the name, because it has no role: it is no part of the connection.
 * - `remove-table` leaves nothing.
 */
export const sharedTableModes = ['remove-ours', 'keep-plain', 'remove-table'] as const
export type SharedTableMode = (typeof sharedTableModes)[number]

export interface UndoneFile {
  /** The file after the undo. Null: the undo removes it, or it is gone already. */
  readonly undone: FileVersion | null
  readonly kept: readonly KeptSetting[]
  /** Someone changed a whole file, which stays, and one of our secrets is still in it. */
  readonly keepsOurKey?: boolean
}

/**
 * Gives each setting of the run its earlier value, unless someone changed it since, in three steps:
 *
 *     before            written           now               after step 1      after step 3
 *     model = "gpt"     model = "gw/a"    model = "gw/b"    model = "gw/a"    model = "gpt"
 *
 * 1. Disguises what counts as ours as what the run wrote, because the format undoes nothing else.
 * 2. Chooses the settings that stay: those without a role in a shared table, with `keep-plain`.
 * 3. Undoes the others in the disguised file.
 *
 * @param now the file, which exists
 */
export function undoSettings(
  history: FileHistory,
  now: FileVersion,
  mode: SharedTableMode,
  isOurModel: ModelCheck,
): UndoneFile {
  const { copies, file } = history
  const values = compareSettings(history, isOurModel).filter((value) => value.isChangedByRun)
  const paths = values.map(({ path }) => path)

  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.written),
    now: disguiseOurValues(history, now, values, mode),
  }
  const undo = (undone: readonly SettingPath[]) =>
    formatOf(file.format).undo(versions, undone, file.path)

  const plainPaths = mode === 'keep-plain' ? plainSettingsInSharedTables(history, paths, undo) : []
  const result = undo(paths.filter((path) => !includesPath(plainPaths, path)))

  const kept = [
    ...result.kept.map((path) => keptSetting(file, path, 'changed')),
    ...plainPaths.map((path) => keptSetting(file, path, 'together')),
  ]
  if (result.bytes === null) return { undone: null, kept }

  const permissions = modeAfterUndo(history, now, result.kept)
  return { undone: copies.add(result.bytes, { ...now, mode: permissions }), kept }
}

/** The current file, in which everything that counts as ours is as the run wrote it. */
function disguiseOurValues(
  history: FileHistory,
  now: FileVersion,
  values: readonly ComparedValue[],
  mode: SharedTableMode,
): Bytes {
  const bytes = withWrittenValues(history, now, values)
  return mode === 'remove-table' ? withWrittenTables(history, bytes) : bytes
}

/**
 * The file with the values that the run wrote, wherever a later value counts as ours:
 *
 *     before            written           now               result
 *     model = "gpt"     model = "gw/a"    model = "gw/b"    model = "gw/a"
 */
function withWrittenValues(
  history: FileHistory,
  now: FileVersion,
  values: readonly ComparedValue[],
): Bytes {
  const { copies, file } = history
  const changes = values
    .filter(({ isOurs, isEarlier }) => isOurs && !isEarlier)
    .map(({ path }) => ({ path, value: valueInVersion(history, 'written', path) }))
    .filter(({ path, value }) => !isDeepStrictEqual(value, valueInVersion(history, 'now', path)))

  const bytes = copies.bytesOf(now) as Bytes
  return changes.length === 0 ? bytes : formatOf(file.format).edit(bytes, changes, file.path)
}

/**
 * The file with the shared tables as the run wrote them, so that the undo removes them as a whole:
 *
 *     before    written                    now                        result
 *     -         [gateway]                  [gateway]                  [gateway]
 *               base_url = "https://gw"    base_url = "https://gw"    base_url = "https://gw"
 *                                          request_max_retries = 9
 *
 * Only tables of an address or a key count. If someone changed the address or the key, the table stays.
 */
function withWrittenTables(history: FileHistory, now: Bytes): Bytes {
  const { file } = history
  const format = formatOf(file.format)
  const document = format.read(now, file.path)
  const connectionPaths = file.settings.filter(isConnection).map(({ path }) => path)

  const isAsWritten = (path: SettingPath) =>
    isDeepStrictEqual(document.get(path), valueInVersion(history, 'written', path))
  const isConnectionAsWritten = (table: SettingPath) =>
    connectionPaths.filter((path) => startsWith(path, table)).every(isAsWritten)

  const tables = uniquePaths(connectionPaths.map((path) => path.slice(0, -1)))
  const changes = tables
    .filter((table) => isTableOfRun(history, table) && isConnectionAsWritten(table))
    .map((table) => ({ path: table, value: valueInVersion(history, 'written', table) }))

  return format.edit(now, changes, file.path)
}

/**
 * The settings of the run without a role in tables that others wrote into. A trial undo of all settings
 * shows which tables those are: a table that is still there is shared.
 */
function plainSettingsInSharedTables(
  history: FileHistory,
  paths: readonly SettingPath[],
  undo: (paths: readonly SettingPath[]) => { readonly bytes: Bytes | null },
): readonly SettingPath[] {
  const { bytes } = undo(paths)
  if (bytes === null) return []
  const { file } = history
  const document = formatOf(file.format).read(bytes, file.path)

  return paths.filter((path) => {
    const table = path.slice(0, -1)
    const isShared = isTableOfRun(history, table) && document.get(table) !== undefined
    const setting = settingAt(file, path)
    return isShared && !setting?.role && !setting?.isSecret
  })
}

/** The earlier mode. A file that keeps a key also keeps its mode, which closes it to other users. */
function modeAfterUndo(
  history: FileHistory,
  now: FileVersion,
  keptPaths: readonly SettingPath[],
): number {
  const { file } = history
  const keepsKey = keptPaths.some((path) => settingAt(file, path)?.role === 'key')
  const earlier = keepsKey ? null : withModeOfNow(file.before, history)
  return earlier?.mode ?? now.mode
}

/** Whether the run created the table. The root of a file is no such table. */
function isTableOfRun(history: FileHistory, table: SettingPath): boolean {
  return table.length > 0 && valueInVersion(history, 'before', table) === undefined
}

/** The earlier version. If someone changed the mode since the run, it keeps that mode. */
export function withModeOfNow(
  before: FileVersion | null,
  { file: { written }, now }: FileHistory,
): FileVersion | null {
  const isModeChanged = now !== null && now.mode !== written?.mode
  return before !== null && isModeChanged ? { ...before, mode: now.mode } : before
}
