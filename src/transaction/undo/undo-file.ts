/** Undoes one run in one file. Pure functions over values. */
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../../edits/format.ts'
import type { Bytes, ConfigValue, SettingPath } from '../../edits/plan.ts'
import { valuePathsAt } from '../../edits/undo.ts'
import { includesPath, startsWith, uniquePaths } from '../../edits/values.ts'
import { resultOf, UserError } from '../../errors.ts'
import type { FileVersion, KeptSetting, RecordedFile, RecordedSetting } from '../record.ts'
import type { Copies } from './copies.ts'

export interface UndoFileOptions {
  /** Restores the copy, even if someone changed the file since. */
  readonly force?: boolean | undefined
  /** Keeps every setting, including those that still have our value. */
  readonly keepsAll?: boolean | undefined
  readonly sharedTables?: SharedTables
  /** Whether a model that someone chose since the run is undone too: see `modelsOfGateway`. */
  readonly isOurModel?: (setting: RecordedSetting, value: string) => boolean
}

/**
 * What an undo does with a table that repoint created and someone wrote into. `keep`: our settings
 * without a role stay. `remove`: the whole table is removed. Absent: only our settings are removed.
 */
export type SharedTables = 'keep' | 'remove'

export interface UndoneFile {
  readonly after: FileVersion | null
  readonly kept: readonly Pick<KeptSetting, 'path' | 'why'>[]
  /** Someone changed a whole file, which stays, and one of our secrets is still in it. */
  readonly keepsOurKey?: boolean
}

/** A file as a run recorded it, and its version now. */
export interface FileHistory {
  readonly copies: Copies
  readonly file: RecordedFile
  readonly now: FileVersion | null
}

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
  if (options.force) return { after: before, kept: [] }
  if (options.keepsAll) return keepFile(history)

  if (isSameContent(now, after) || isSameContent(now, before))
    return { after: keepChangedMode(before, history), kept: [] }
  if (isSameContent(before, after)) return { after: now, kept: [] }
  if (now === null)
    return { after: null, kept: before ? [{ path: [], why: 'changed' as const }] : [] }
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

function keepFile(history: FileHistory): UndoneFile {
  const { file, now } = history
  if (file.scope === 'whole') {
    const isBefore = isSameContent(now, file.before)
    return { after: now, kept: isBefore || !isChangedByRun(history) ? [] : keptFile(history) }
  }

  return {
    after: now,
    kept: listLeaves(history)
      .filter(({ isEarlier, isChanged }) => isChanged && !isEarlier)
      .map(({ path, isOurs }) => ({ path, why: isOurs ? 'together' : 'changed' })),
  }
}

/** Undoes a file with scope `whole`. A login made since the run is never replaced by an older one. */
function undoWholeFile(history: FileHistory): UndoneFile {
  const { copies, file, now } = history
  const written = copies.documentOf(file, file.after)
  const isReformatted =
    written !== undefined && isDeepStrictEqual(copies.documentOf(file, now)?.root, written.root)
  if (isReformatted) return { after: keepChangedMode(file.before, history), kept: [] }

  const secrets = file.settings.filter(({ isSecret }) => isSecret)
  const keepsOurKey = secrets.some((setting) => {
    const value = recordedValue(history, now, setting.path)
    return (
      value !== undefined &&
      isDeepStrictEqual(value, recordedValue(history, file.after, setting.path))
    )
  })

  return { after: now, kept: keptFile(history), keepsOurKey }
}

function keptFile({ file: { settings, after }, now }: FileHistory): UndoneFile['kept'] {
  const why = isSameContent(now, after) ? 'together' : 'changed'
  const paths = settings.length > 0 ? settings.map(({ path }) => path) : [[]]
  return paths.map((path) => ({ path, why }))
}

function undoSettings(
  history: FileHistory,
  now: FileVersion,
  { sharedTables, isOurModel }: UndoFileOptions,
): UndoneFile {
  const { copies, file } = history
  const leaves = listLeaves(history, isOurModel).filter(({ isChanged }) => isChanged)
  const asWritten = withOurValues(history, now, leaves)
  const current = sharedTables === 'remove' ? withOurTables(history, asWritten) : asWritten
  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.after),
    current,
  }
  const undo = (paths: readonly SettingPath[]) =>
    formatOf(file.format).undo(versions, paths, file.path)

  const paths = leaves.map(({ path }) => path)
  let undone = undo(paths)
  let shared: readonly SettingPath[] = []
  if (sharedTables === 'keep') {
    shared = settingsInSharedTables(history, paths, undone.bytes)
    undone = undo(paths.filter((path) => !includesPath(shared, path)))
  }

  const kept: UndoneFile['kept'] = [
    ...undone.kept.map((path) => ({ path, why: 'changed' as const })),
    ...shared.map((path) => ({ path, why: 'together' as const })),
  ]
  if (undone.bytes === null) return { after: null, kept }
  const keepsKey = undone.kept.some((path) => settingAt(file, path)?.role === 'key')
  const { mode } = (keepsKey ? undefined : keepChangedMode(file.before, history)) ?? now
  return { after: copies.add(undone.bytes, { ...now, mode }), kept }
}

// ---------------------------------------------------------------- settings

/** One value that a run wrote or confirmed. A table is compared value by value. */
export interface Leaf {
  readonly path: SettingPath
  readonly setting: RecordedSetting
  /** The run changed it. */
  readonly isChanged: boolean
  /** It still has our value, or one that counts as ours. */
  readonly isOurs: boolean
  /** It has the value from before the run. */
  readonly isEarlier: boolean
  readonly now: ConfigValue | undefined
}

export function listLeaves(
  history: FileHistory,
  isOurModel: UndoFileOptions['isOurModel'] = () => false,
): readonly Leaf[] {
  const { copies, file } = history
  const [before, written] = [file.before, file.after].map((one) => copies.documentOf(file, one))

  return file.settings.flatMap((setting) =>
    valuePathsAt(before?.root, written?.root, setting.path).map((path): Leaf => {
      const [old, ours] = [before?.get(path), written?.get(path)]
      const now = recordedValue(history, history.now, path)
      const isWritten = isDeepStrictEqual(now, ours)

      return {
        path,
        setting,
        isChanged: !isDeepStrictEqual(old, ours),
        isOurs: isWritten || countsAsOurs(setting, now, isOurModel),
        isEarlier: isDeepStrictEqual(now, old),
        now,
      }
    }),
  )
}

function countsAsOurs(
  setting: RecordedSetting,
  now: ConfigValue | undefined,
  isOurModel: (setting: RecordedSetting, value: string) => boolean,
): boolean {
  if (setting.rewrittenByClient) return now !== undefined
  return setting.role === 'model' && typeof now === 'string' && isOurModel(setting, now)
}

/** The file with our values in all places that count as ours, so that the undo finds them. */
function withOurValues(history: FileHistory, now: FileVersion, leaves: readonly Leaf[]): Bytes {
  const { copies, file } = history
  const changes = leaves
    .filter(({ isOurs, isEarlier }) => isOurs && !isEarlier)
    .map(({ path }) => ({ path, value: recordedValue(history, file.after, path) }))
    .filter(({ path, value }) => !isDeepStrictEqual(value, recordedValue(history, now, path)))
  const bytes = copies.bytesOf(now) as Bytes
  return changes.length === 0 ? bytes : formatOf(file.format).edit(bytes, changes, file.path)
}

/**
 * Resets the tables that we created for address and key to what we wrote, without the additions of
 * others. A table whose address or key someone changed stays.
 */
function withOurTables(history: FileHistory, current: Bytes): Bytes {
  const { copies, file } = history
  const connection = file.settings.filter(isConnection).map(({ path }) => path)
  const now = formatOf(file.format).read(current, file.path)
  const isAsWritten = (path: SettingPath) =>
    isDeepStrictEqual(now.get(path), recordedValue(history, file.after, path))

  const changes = uniquePaths(connection.map((path) => path.slice(0, -1)))
    .filter((table) => table.length > 0 && recordedValue(history, file.before, table) === undefined)
    .filter((table) => connection.every((path) => !startsWith(path, table) || isAsWritten(path)))
    .map((path) => ({ path, value: copies.documentOf(file, file.after)?.get(path) }))

  return formatOf(file.format).edit(current, changes, file.path)
}

/** Our settings without a role in tables that we created and that keep additions of others. */
function settingsInSharedTables(
  { copies, file }: FileHistory,
  paths: readonly SettingPath[],
  after: Bytes | null,
): readonly SettingPath[] {
  const before = copies.documentOf(file, file.before)
  const left = after === null ? undefined : formatOf(file.format).read(after, file.path)

  return paths.filter((path) => {
    const table = path.slice(0, -1)
    const isOurs = table.length > 0 && before?.get(table) === undefined
    const setting = settingAt(file, path)
    return isOurs && left?.get(table) !== undefined && !setting?.role && !setting?.isSecret
  })
}

export function isConnection({ role }: RecordedSetting): boolean {
  return role !== undefined && role !== 'model'
}

export function isAddress(role: RecordedSetting['role']): boolean {
  return role === 'address' || role === 'provider'
}

export function settingAt(
  { settings }: Pick<RecordedFile, 'settings'>,
  path: SettingPath,
): RecordedSetting | undefined {
  return settings.find((setting) => startsWith(path, setting.path))
}

export function recordedValue(
  { copies, file }: FileHistory,
  version: FileVersion | null,
  path: SettingPath,
): ConfigValue | undefined {
  return copies.documentOf(file, version)?.get(path)
}

// ---------------------------------------------------------------- versions

function isChangedByRun({ file: { before, after } }: FileHistory): boolean {
  return !isSameContent(before, after)
}

export function isSameContent(one: FileVersion | null, other: FileVersion | null): boolean {
  return one?.sha256 === other?.sha256
}

export function isSameVersion(one: FileVersion | null, other: FileVersion | null): boolean {
  return isSameContent(one, other) && one?.mode === other?.mode
}

/** The earlier version. If someone changed the mode since the run, it keeps that mode. */
function keepChangedMode(
  before: FileVersion | null,
  { file: { after }, now }: FileHistory,
): FileVersion | null {
  return before && now && now.mode !== after?.mode ? { ...before, mode: now.mode } : before
}
