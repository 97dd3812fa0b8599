/**
 * Undoes one run in one file. Pure functions over values.
 *
 * For example, a setup wrote `model_provider` and `model_context_window` into a file. Since then the
 * user wrote a comment and changed the window. The undo gives `model_provider` its earlier value. The
 * comment and the changed window stay, and the window is reported as kept.
 */
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../../edits/format.ts'
import type { Bytes, SettingPath } from '../../edits/plan.ts'
import { includesPath, startsWith, uniquePaths } from '../../edits/values/paths.ts'
import { resultOf, UserError } from '../../errors.ts'
import type { FileVersion, KeptSetting, RecordedFile } from '../record.ts'
import {
  type ComparedValue,
  compareSettings,
  type FileHistory,
  isConnection,
  isSameContent,
  type ModelCheck,
  settingAt,
  valueIn,
} from './settings.ts'

export interface UndoFileOptions {
  /** Restores the copy, even if someone changed the file since. */
  readonly force?: boolean | undefined
  /** Keeps every setting, including those that still have our value. */
  readonly keepsAll?: boolean | undefined
  readonly sharedTables?: SharedTables
  /** Whether a model that someone chose since the run is undone too: see `modelsOfGateway`. */
  readonly isOurModel?: ModelCheck
}

/**
 * What an undo does with a table that repoint created and someone wrote into. `keep`: our settings
 * without a role stay. `remove`: the whole table is removed. Absent: only our settings are removed.
 */
export type SharedTables = 'keep' | 'remove'

export interface UndoneFile {
  /** The file after the undo. */
  readonly result: FileVersion | null
  readonly kept: readonly KeptPath[]
  /** Someone changed a whole file, which stays, and one of our secrets is still in it. */
  readonly keepsOurKey?: boolean
}

type KeptPath = Pick<KeptSetting, 'path' | 'why'>

/**
 * Undoes one run in one file.
 *
 * Promises:
 * - If nobody changed the content since the run, the result is the copy, byte for byte.
 * - Otherwise each setting that the run changed is compared: one that still has our value gets its
 *   earlier value, one that someone changed stays. No other byte changes.
 * - A file with scope `whole` is restored if only its formatting changed. Otherwise it stays, because
 *   it can hold a newer login.
 * - A file that someone deleted stays deleted.
 * - The mode is restored unless someone changed it since, or our key stays in the file.
 *
 * @throws UserError `backup-missing`; `config-invalid` if the file cannot be parsed
 */
export function undoFile(history: FileHistory, options: UndoFileOptions = {}): UndoneFile {
  const { file, now } = history
  const { before, after } = file
  if (options.force) return { result: before, kept: [] }
  if (options.keepsAll) return keepFile(history)

  const isUnchangedSince = isSameContent(now, after) || isSameContent(now, before)
  if (isUnchangedSince) return { result: withModeOfNow(before, history), kept: [] }
  if (!isChangedByRun(file)) return { result: now, kept: [] }
  if (now === null) return { result: null, kept: before === null ? [] : [changedFile] }
  if (file.scope === 'whole') return undoWholeFile(history)

  const undone = resultOf(() => undoSettings(history, now, options))
  if (!(undone instanceof UserError)) return undone
  if (undone.code === 'backup-missing') throw undone
  throw new UserError({
    code: undone.code,
    message: undone.message,
    hint: 'Fix the file, or restore the old one: repoint rollback --force',
    cause: undone,
  })
}

/** The whole file stays, because someone changed or deleted it. */
const changedFile: KeptPath = { path: [], why: 'changed' }

/** Keeps the file as it is now, and lists the settings of the run that are still in it. */
function keepFile(history: FileHistory): UndoneFile {
  const { file, now } = history
  if (file.scope === 'whole') {
    const isUndoneAlready = isSameContent(now, file.before) || !isChangedByRun(file)
    return { result: now, kept: isUndoneAlready ? [] : keptWholeFile(history) }
  }

  return {
    result: now,
    kept: compareSettings(history)
      .filter(({ isEarlier, isChangedByRun }) => isChangedByRun && !isEarlier)
      .map(({ path, isOurs }) => ({ path, why: isOurs ? 'together' : 'changed' })),
  }
}

/** Undoes a file with scope `whole`. A login made since the run is never replaced by an older one. */
function undoWholeFile(history: FileHistory): UndoneFile {
  const { copies, file, now } = history
  const written = copies.documentOf(file, file.after)
  const isReformatted =
    written !== undefined && isDeepStrictEqual(copies.documentOf(file, now)?.root, written.root)
  if (isReformatted) return { result: withModeOfNow(file.before, history), kept: [] }

  const keepsOurKey = file.settings.some(({ isSecret, path }) => {
    const value = valueIn(history, now, path)
    const ours = valueIn(history, file.after, path)
    return isSecret && value !== undefined && isDeepStrictEqual(value, ours)
  })

  return { result: now, kept: keptWholeFile(history), keepsOurKey }
}

function keptWholeFile({ file: { settings, after }, now }: FileHistory): UndoneFile['kept'] {
  const why = isSameContent(now, after) ? 'together' : 'changed'
  if (settings.length === 0) return [{ path: [], why }]
  return settings.map(({ path }) => ({ path, why }))
}

/** Gives each setting of the run its earlier value, unless someone changed it since. */
function undoSettings(
  history: FileHistory,
  now: FileVersion,
  { sharedTables, isOurModel }: UndoFileOptions,
): UndoneFile {
  const { copies, file } = history
  const values = compareSettings(history, isOurModel).filter((value) => value.isChangedByRun)
  const paths = values.map(({ path }) => path)

  const withOurs = withOurValues(history, now, values)
  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.after),
    current: sharedTables === 'remove' ? withOurTables(history, withOurs) : withOurs,
  }
  const undoAt = (undonePaths: readonly SettingPath[]) =>
    formatOf(file.format).undo(versions, undonePaths, file.path)

  const shared =
    sharedTables === 'keep' ? settingsInSharedTables(history, paths, undoAt(paths).bytes) : []
  const undone = undoAt(paths.filter((path) => !includesPath(shared, path)))

  const keptSettings: UndoneFile['kept'] = [
    ...undone.kept.map((path) => ({ path, why: 'changed' as const })),
    ...shared.map((path) => ({ path, why: 'together' as const })),
  ]
  if (undone.bytes === null) return { result: null, kept: keptSettings }

  // A file that keeps a key also keeps its mode, which closes it to other users.
  const keepsKey = undone.kept.some((path) => settingAt(file, path)?.role === 'key')
  const earlier = keepsKey ? null : withModeOfNow(file.before, history)
  const mode = earlier?.mode ?? now.mode
  return { result: copies.add(undone.bytes, { ...now, mode }), kept: keptSettings }
}

/** The file with our values in all places that count as ours, so that the undo finds them. */
function withOurValues(
  history: FileHistory,
  now: FileVersion,
  values: readonly ComparedValue[],
): Bytes {
  const { copies, file } = history
  const changes = values
    .filter(({ isOurs, isEarlier }) => isOurs && !isEarlier)
    .map(({ path }) => ({ path, value: valueIn(history, file.after, path) }))
    .filter(({ path, value }) => !isDeepStrictEqual(value, valueIn(history, now, path)))

  const bytes = copies.bytesOf(now) as Bytes
  return changes.length === 0 ? bytes : formatOf(file.format).edit(bytes, changes, file.path)
}

/**
 * Resets the tables that we created for address and key to what we wrote, without the additions of
 * others. A table whose address or key someone changed stays.
 */
function withOurTables(history: FileHistory, current: Bytes): Bytes {
  const { file } = history
  const format = formatOf(file.format)
  const now = format.read(current, file.path)
  const connection = file.settings.filter(isConnection).map(({ path }) => path)

  const isCreatedByRun = (table: SettingPath) =>
    table.length > 0 && valueIn(history, file.before, table) === undefined
  const isAsWritten = (path: SettingPath) =>
    isDeepStrictEqual(now.get(path), valueIn(history, file.after, path))
  const isConnectionAsWritten = (table: SettingPath) =>
    connection.filter((path) => startsWith(path, table)).every(isAsWritten)

  const tables = uniquePaths(connection.map((path) => path.slice(0, -1)))
  const changes = tables
    .filter((table) => isCreatedByRun(table) && isConnectionAsWritten(table))
    .map((table) => ({ path: table, value: valueIn(history, file.after, table) }))

  return format.edit(current, changes, file.path)
}

/**
 * Our settings without a role in tables that we created and that others wrote into.
 *
 * @param undone the file without any of our settings
 */
function settingsInSharedTables(
  history: FileHistory,
  paths: readonly SettingPath[],
  undone: Bytes | null,
): readonly SettingPath[] {
  const { file } = history
  const left = undone === null ? undefined : formatOf(file.format).read(undone, file.path)

  return paths.filter((path) => {
    const table = path.slice(0, -1)
    const isCreatedByRun = table.length > 0 && valueIn(history, file.before, table) === undefined
    const isShared = isCreatedByRun && left?.get(table) !== undefined
    const setting = settingAt(file, path)
    return isShared && !setting?.role && !setting?.isSecret
  })
}

function isChangedByRun({ before, after }: RecordedFile): boolean {
  return !isSameContent(before, after)
}

/** The earlier version. If someone changed the mode since the run, it keeps that mode. */
function withModeOfNow(
  before: FileVersion | null,
  { file: { after }, now }: FileHistory,
): FileVersion | null {
  const isModeChanged = now !== null && now.mode !== after?.mode
  return before !== null && isModeChanged ? { ...before, mode: now.mode } : before
}
