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
 * How an undo changes settings. Every undo but that of whole files begins with `remove-ours`. The ways differ only
 * in a shared table: one that the run created, and into which someone wrote since. Here the user added the
 * retries:
 *
 *     before    written                      now
 *     -         [model_providers.gateway]    [model_providers.gateway]
 *               name = "Gateway"             name = "Gateway"
 *               base_url = "https://gw"      base_url = "https://gw"
 *                                            request_max_retries = 9
 *
 * - `remove-ours` leaves only the retries. Codex does not start with that: a provider must have a name.
 * - `keep-without-role` leaves the name too. It may stay, because it names neither the address nor the key.
 * - `remove-table` leaves nothing, if Codex does not start with what someone wrote there either.
 */
export const settingWays = ['remove-ours', 'keep-without-role', 'remove-table'] as const
export type SettingWay = (typeof settingWays)[number]

export interface UndoneFile {
  /** The file after the undo. Null: the undo removes it, or it is gone already. */
  readonly result: FileVersion | null
  readonly kept: readonly KeptSetting[]
}

/** The history of a file that exists now. */
interface ExistingFile extends FileHistory {
  readonly now: FileVersion
}

/**
 * Gives each setting that is still ours its earlier value. The others are kept: as `changed` if someone
 * changed them since, and with `keep-without-role` as `together` if they have no role and are in a shared table.
 */
export function undoSettings(
  history: ExistingFile,
  way: SettingWay,
  isOurModel: ModelCheck,
): UndoneFile {
  const { copies, file, now } = history
  const decision = decide(history, way, isOurModel)
  const { changed, together } = decision
  const kept = [
    ...pathsOf(changed).map((path) => keptSetting(file, path, 'changed')),
    ...pathsOf(together).map((path) => keptSetting(file, path, 'together')),
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
  /** Kept, because they must stay together with what someone wrote into their table. */
  readonly together: readonly ComparedSetting[]
  /** Removed with everything in them. */
  readonly tables: readonly SettingPath[]
}

function decide(history: ExistingFile, way: SettingWay, isOurModel: ModelCheck): SettingsDecision {
  const settings = compareSettings(history, isOurModel).filter(
    ({ isChangedByRun, isEarlier }) => isChangedByRun && !isEarlier,
  )
  switch (way) {
    case 'remove-ours':
      return removeOurs(settings)
    case 'keep-without-role':
      return keepWithoutRole(history, settings)
    case 'remove-table':
      return removeTable(history, settings)
  }
}

function removeOurs(settings: readonly ComparedSetting[]): SettingsDecision {
  return {
    undone: settings.filter(({ isOurs }) => isOurs),
    changed: settings.filter(({ isOurs }) => !isOurs),
    together: [],
    tables: [],
  }
}

function keepWithoutRole(
  history: ExistingFile,
  settings: readonly ComparedSetting[],
): SettingsDecision {
  const decision = removeOurs(settings)
  const together = withoutRoleInSharedTables(history, decision)
  const undone = decision.undone.filter((setting) => !together.includes(setting))
  return { ...decision, undone, together }
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
    together: [],
    tables,
  }
}

/** The file after the undo. Null: nothing of it is left. */
function bytesAfter(
  { undone, changed, together, tables }: SettingsDecision,
  { copies, file, now }: ExistingFile,
): Bytes | null {
  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.written),
    now: copies.bytesOf(now) as Bytes,
  }
  const restore = [...pathsOf(undone), ...tables]
  const keep = pathsOf([...changed, ...together])
  return formatOf(file.format).undo(versions, { restore, keep }, file.path)
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
  return tables.filter((table) => isTableOfRun(history, table) && isEndpointAsWritten(table))
}

/**
 * The settings of ours without a role, in the tables that remain if every setting of ours is undone: someone else
 * wrote into those.
 *
 * @param removesOurs the decision to undo every setting of ours
 */
function withoutRoleInSharedTables(
  history: ExistingFile,
  removesOurs: SettingsDecision,
): readonly ComparedSetting[] {
  const bytesWithoutOurs = bytesAfter(removesOurs, history)
  if (bytesWithoutOurs === null) return []
  const { file } = history
  const document = formatOf(file.format).read(bytesWithoutOurs, file.path)

  return removesOurs.undone.filter(({ path, setting }) => {
    const table = path.slice(0, -1)
    const isShared = isTableOfRun(history, table) && document.get(table) !== undefined
    return isShared && !setting.role && !setting.isSecret
  })
}

/** The earlier permissions. A file that keeps a key keeps its own, which close it to other users. */
function permissionsAfterUndo(history: ExistingFile, changed: readonly ComparedSetting[]): number {
  const keepsKey = changed.some(({ setting }) => setting.role === 'key')
  const earlier = keepsKey ? null : versionToRestore(history)
  return earlier?.mode ?? history.now.mode
}

/** Whether the run created the table. The root of a file is no such table. */
function isTableOfRun(history: FileHistory, table: SettingPath): boolean {
  return table.length > 0 && valueInVersion(history, 'before', table) === undefined
}

/** The version before the run, with the permissions of now if someone changed them since the run. */
export function versionToRestore({
  file: { before, written },
  now,
}: FileHistory): FileVersion | null {
  const isChanged = now !== null && now.mode !== written?.mode
  return before !== null && isChanged ? { ...before, mode: now.mode } : before
}
