/**
 * Undoes the settings of one run in one file, value by value. Pure functions over values. For example, the
 * user wrote a comment and changed the limit after the setup:
 *
 *     before            written           now                         result
 *     model = "gpt"     model = "gw/a"    model = "gw/a"  # mine      model = "gpt"  # mine
 *                       limit = 100       limit = 200                 limit = 200 (kept)
 */
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../../edits/format.ts'
import type { Bytes, SettingPath } from '../../edits/types.ts'
import { startsWith, uniquePaths } from '../../edits/values/paths.ts'
import { decidesEndpoint, type FileVersion, type KeptSetting } from '../record.ts'
import {
  type ComparedSetting,
  compareSettings,
  type FileHistory,
  keptSetting,
  type ModelCheck,
  valueInVersion,
} from './compare.ts'

/**
 * How an undo changes settings. The ways differ only in a shared table: one that the run created, and into which someone
 * wrote since. Here the user added the retries:
 *
 *     before    written                      now
 *     -         [model_providers.gateway]    [model_providers.gateway]
 *               name = "Gateway"             name = "Gateway"
 *               base_url = "https://gw"      base_url = "https://gw"
 *                                            request_max_retries = 9
 *
 * - `remove-ours` leaves only the retries. Codex does not start with that: a provider must have a name. So the undo
 *   leaves the name too, as needed. It may, because the name is neither the address nor the key. An empty table can be
 *   needed as well: pi reads no file without `providers`.
 * - `remove-table` leaves nothing, if Codex does not start with what someone wrote there either. Around the table, it
 *   leaves what is needed too.
 */
export const settingWays = ['remove-ours', 'remove-table'] as const
export type SettingWay = (typeof settingWays)[number]

/** What the undo of a file asks about its settings. */
export interface SettingChecks {
  readonly isOurModel: ModelCheck
  /** Whether the client needs a setting without a role, or an empty table, to read the rest. Absent: it needs none. */
  readonly isNeeded?: (file: string, path: SettingPath) => boolean
}

export interface UndoneFile {
  /** The file after the undo. Null: the undo removes it, or it is gone already. */
  readonly result: FileVersion | null
  readonly kept: readonly KeptSetting[]
}

export interface ExistingFile extends FileHistory {
  readonly now: FileVersion
}

/**
 * Gives each setting that is still ours its earlier value. The others are kept: as `changed` if someone
 * changed them since, or as `needed`.
 */
export function undoSettings(
  history: ExistingFile,
  way: SettingWay,
  checks: SettingChecks,
): UndoneFile {
  const { copies, file, now } = history
  const decision = decide(history, way, checks)
  const { changed, needed, emptyTables } = decision
  const kept = [
    ...pathsOf(changed).map((path) => keptSetting(file, path, 'changed')),
    ...[...pathsOf(needed), ...emptyTables].map((path) => keptSetting(file, path, 'needed')),
  ]

  const bytes = bytesAfter(decision, history)
  if (bytes === null) return { result: null, kept }
  const mode = permissionsAfterUndo(history, changed)
  return { result: copies.add(bytes, { ...now, mode }), kept }
}

/** What an undo does with each setting that the run changed and that does not have its earlier value again. */
interface SettingsDecision {
  readonly undone: readonly ComparedSetting[]
  /** Kept, because someone changed them since. */
  readonly changed: readonly ComparedSetting[]
  /** Kept, because the client could not read what someone wrote into their table without them. */
  readonly needed: readonly ComparedSetting[]
  /** Tables of ours that stay, without the settings of ours in them, for the same reason. */
  readonly emptyTables: readonly SettingPath[]
  /** Removed with everything in them. */
  readonly tables: readonly SettingPath[]
}

function decide(
  history: ExistingFile,
  way: SettingWay,
  { isOurModel, isNeeded }: SettingChecks,
): SettingsDecision {
  const settings = compareSettings(history, isOurModel).filter(
    ({ isChangedByRun, isEarlier }) => isChangedByRun && !isEarlier,
  )
  const decision = way === 'remove-ours' ? removeOurs(settings) : removeTable(history, settings)
  return isNeeded ? keepNeeded(history, decision, isNeeded) : decision
}

function removeOurs(settings: readonly ComparedSetting[]): SettingsDecision {
  return {
    undone: settings.filter(({ isOurs }) => isOurs),
    changed: settings.filter(({ isOurs }) => !isOurs),
    needed: [],
    emptyTables: [],
    tables: [],
  }
}

/** Keeps settings without a role below the tables that others wrote into, and empty tables there, if they are needed. */
function keepNeeded(
  history: ExistingFile,
  decision: SettingsDecision,
  isNeeded: NonNullable<SettingChecks['isNeeded']>,
): SettingsDecision {
  const bytesWithoutOurs = bytesAfter(decision, history)
  if (bytesWithoutOurs === null) return decision

  const { file } = history
  const document = formatOf(file.format).read(bytesWithoutOurs, file.path)
  const remains = (table: SettingPath) => table.length === 0 || document.get(table) !== undefined
  const isShared = (table: SettingPath) => isTableOfRun(history, table) && remains(table)
  // At any depth, but the root of the file counts only for its own members.
  const isInSharedTable = (path: SettingPath) =>
    path.some((_, end) => (end > 0 || path.length === 1) && isShared(path.slice(0, end)))
  const isRemoved = (path: SettingPath) => decision.tables.some((table) => startsWith(path, table))

  const needed = decision.undone.filter(
    ({ path, setting }) =>
      isInSharedTable(path) &&
      !setting.role &&
      !setting.isSecret &&
      !isRemoved(path) &&
      isNeeded(file.path, path),
  )
  const undone = decision.undone.filter((setting) => !needed.includes(setting))
  const ancestors = uniquePaths(
    undone.flatMap(({ path }) => path.map((_, end) => path.slice(0, end))),
  )
  const emptyTables = ancestors.filter(
    (table) =>
      table.length > 0 &&
      table.every((step) => typeof step === 'string') &&
      isShared(table.slice(0, -1)) &&
      !remains(table) &&
      !isRemoved(table) &&
      !needed.some(({ path }) => startsWith(path, table)) &&
      isNeeded(file.path, table),
  )
  return { ...decision, undone, needed, emptyTables }
}

function removeTable(
  history: ExistingFile,
  settings: readonly ComparedSetting[],
): SettingsDecision {
  const tables = tablesToRemove(history)
  const isUndone = ({ path, isOurs }: ComparedSetting) =>
    isOurs || tables.some((table) => startsWith(path, table))
  return {
    undone: settings.filter(isUndone),
    changed: settings.filter((setting) => !isUndone(setting)),
    needed: [],
    emptyTables: [],
    tables,
  }
}

/** The file after the undo. Null: nothing of it is left. */
function bytesAfter(
  { undone, changed, needed, emptyTables, tables }: SettingsDecision,
  { copies, file, now }: ExistingFile,
): Bytes | null {
  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.written),
    now: copies.bytesOf(now) as Bytes,
  }
  const restore = [...pathsOf(undone), ...tables]
  const keep = pathsOf([...changed, ...needed])
  const { undo, edit } = formatOf(file.format)
  const bytes = undo(versions, { restore, keep }, file.path)
  if (bytes === null || emptyTables.length === 0) return bytes
  const empty = emptyTables.map((path) => ({ path, value: {} }))
  return edit(bytes, empty, file.path)
}

function pathsOf(settings: readonly ComparedSetting[]): readonly SettingPath[] {
  return settings.map(({ path }) => path)
}

/**
 * The tables that the run created for an address or a key, which the undo removes as a whole. If someone
 * changed the address or the key, the table stays.
 */
function tablesToRemove(history: FileHistory): readonly SettingPath[] {
  const endpointPaths = history.file.settings.filter(decidesEndpoint).map(({ path }) => path)

  const isAsWritten = (path: SettingPath) =>
    isDeepStrictEqual(
      valueInVersion(history, 'now', path),
      valueInVersion(history, 'written', path),
    )
  const isEndpointAsWritten = (table: SettingPath) =>
    endpointPaths.filter((path) => startsWith(path, table)).every(isAsWritten)

  const tables = uniquePaths(endpointPaths.map((path) => path.slice(0, -1)))
  return tables.filter(
    (table) => table.length > 0 && isTableOfRun(history, table) && isEndpointAsWritten(table),
  )
}

/** The earlier permissions. A file that keeps a key keeps its own, which close it to other users. */
export function permissionsAfterUndo(
  history: ExistingFile,
  changed: readonly ComparedSetting[],
): number {
  const keepsKey = changed.some(({ setting }) => setting.role === 'key')
  const earlier = keepsKey ? null : versionToRestore(history)
  return earlier?.mode ?? history.now.mode
}

/** Whether the run created the table, or the file if it is the root. */
function isTableOfRun(history: FileHistory, table: SettingPath): boolean {
  if (table.length === 0) return history.file.before === null
  return valueInVersion(history, 'before', table) === undefined
}

/** The version before the run, with the permissions of now if someone changed them since the run. */
export function versionToRestore({
  file: { before, written },
  now,
}: FileHistory): FileVersion | null {
  const isChanged = now !== null && now.mode !== written?.mode
  return before !== null && isChanged ? { ...before, mode: now.mode } : before
}
