/**
 * Undoes one run in one file. Pure functions over values. The first row that applies decides:
 *
 *     before    written    now                 result
 *     any       any        any                 `restore-copies`: before. `keep-all`: now
 *     A         B          B, or A             A, byte for byte
 *     A         A          any                 now: the run changed only the permissions
 *     A         B          no file             no file
 *     A         B          another, `whole`    A with what others added; now, if that can be a newer login
 *     A         B          another, `keys`     each setting: see `undo-settings.ts`
 */
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../../edits/format.ts'
import { type Bytes, type ConfigValue, type SettingPath, wholeFile } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { isSameContent, type KeptSetting, type RecordedFile } from '../record.ts'
import { compareSettings, type FileHistory, keptSetting } from './compare.ts'
import {
  type ExistingFile,
  permissionsAfterUndo,
  type SettingChecks,
  type SettingWay,
  type UndoneFile,
  undoSettings,
  versionToRestore,
} from './undo-settings.ts'

/**
 * What an undo does with the files of a client. `undo-client.ts` chooses it:
 *
 *     restore-copies      each file gets its copy, even if someone changed it since
 *     keep-all            every setting stays, including those that still have our value
 *     the others          each setting that still has our value gets its earlier one
 */
export type UndoWay = 'restore-copies' | 'keep-all' | SettingWay

/**
 * Undoes one run in one file. Its permissions are restored too, unless someone changed them since, or our
 * key stays in the file.
 *
 * @throws UserError `backup-missing`; `config-invalid` if the file cannot be parsed
 */
export function undoFile(
  history: FileHistory,
  way: UndoWay = 'remove-ours',
  { isOurModel = () => false, ...checks }: Partial<SettingChecks> = {},
): UndoneFile {
  const { file, now } = history
  const { before, written } = file
  if (way === 'restore-copies') return { result: before, kept: [] }
  if (way === 'keep-all') return keepFile(history)

  const isAsWritten = isSameContent(now, written)
  const isUndoneAlready = isSameContent(now, before)
  if (isAsWritten || isUndoneAlready) return restoreCopy(history)

  if (!changesContent(file)) return { result: now, kept: [] }
  if (now === null)
    return { result: null, kept: before === null ? [] : [keptSetting(file, wholeFile, 'changed')] }
  if (file.scope === 'whole') return undoWholeFile({ ...history, now })
  return withForceHint(() => undoSettings({ ...history, now }, way, { isOurModel, ...checks }))
}

function restoreCopy(history: FileHistory): UndoneFile {
  return { result: versionToRestore(history), kept: [] }
}

/** Keeps the file as it is now, and lists the settings of the run that are still in it. */
function keepFile(history: FileHistory): UndoneFile {
  const { file, now } = history
  if (file.scope === 'whole') {
    const isUndoneAlready = isSameContent(now, file.before) || !changesContent(file)
    return { result: now, kept: isUndoneAlready ? [] : keptWholeFile(history) }
  }
  // A forced undo of a run that changed only the permissions can write other bytes.
  if (file.settings.length === 0 && changesContent(file) && !isSameContent(now, file.before))
    return { result: now, kept: keptWholeFile(history) }

  return {
    result: now,
    kept: compareSettings(history)
      .filter(({ isEarlier, isChangedByRun }) => isChangedByRun && !isEarlier)
      .map(({ path, isOurs }) => keptSetting(file, path, isOurs ? 'together' : 'changed')),
  }
}

/**
 * Undoes a file with scope `whole` that someone changed since. Members that the run did not touch stay:
 *
 *     before                 written                  now                               result
 *     -                      { "KEY": "sk-gw" }       { "KEY": "sk-gw", "mine": 1 }     { "mine": 1 }
 *     { "tokens": "old" }    { "KEY": "sk-gw" }       { "KEY": "sk-gw", "mine": 1 }     { "tokens": "old", "mine": 1 }
 *     { "tokens": {…} }      { "KEY": "sk-gw" }       { "KEY": "sk-gw", "tokens": {…} } { "tokens": {…} }, the newer
 */
function undoWholeFile(history: ExistingFile): UndoneFile {
  const { copies, file, now } = history
  const written = copies.documentOf(file, file.written)
  const current = copies.documentOf(file, now)
  const isUnreadableBefore =
    file.before !== null && copies.documentOf(file, file.before) === undefined
  const hasTable = Object.values(current?.root ?? {}).some(isObject)
  const isLogin = file.written === null && hasTable
  const isUnreadable = file.written !== null && written === undefined
  const isUnknown = isLogin || isUnreadable || file.settings.length === 0
  if (isUnknown || current === undefined || isUnreadableBefore)
    return { result: now, kept: keptWholeFile(history) }
  if (isDeepStrictEqual(current.root, written?.root ?? {})) return restoreCopy(history)

  const settings = compareSettings(history).filter(
    ({ isChangedByRun, isEarlier }) => isChangedByRun && !isEarlier,
  )
  const changed = settings.filter(({ isOurs }) => !isOurs)
  const { restored, newer } = membersNextToOurs(history)
  const restore = [...settings.filter(({ isOurs }) => isOurs).map(({ path }) => path), ...restored]
  const kept = [
    ...changed.map(({ path }) => keptSetting(file, path, 'changed')),
    ...newer.map((path) => keptSetting(file, path, 'newer')),
  ]

  const versions = {
    before: copies.bytesOf(file.before),
    written: copies.bytesOf(file.written),
    now: copies.bytesOf(now) as Bytes,
  }
  const decision = { restore, keep: changed.map(({ path }) => path) }
  const bytes = formatOf(file.format).undo(versions, decision, file.path)
  if (bytes === null) return { result: null, kept }
  // A login that someone made since stays as private as it is.
  const mode = kept.length > 0 ? now.mode : permissionsAfterUndo(history, changed)
  return { result: copies.add(bytes, { ...now, mode }), kept }
}

/**
 * What a run that replaced a whole file did to the members that are not its settings: those that get their earlier
 * value, and those that someone wrote again since. A login made since is never replaced by an older one, or mixed with
 * it: it has a table (`tokens`) or every member that the run removed, or our key is gone.
 */
function membersNextToOurs(history: ExistingFile): {
  readonly restored: readonly SettingPath[]
  readonly newer: readonly SettingPath[]
} {
  const { copies, file, now } = history
  const before = copies.documentOf(file, file.before)?.root ?? {}
  const written = copies.documentOf(file, file.written)?.root ?? {}
  const current = copies.documentOf(file, now)?.root ?? {}
  const isSetting = (name: string) => file.settings.some(({ path }) => path[0] === name)

  const names = [...new Set([...Object.keys(before), ...Object.keys(written)])].filter(
    (name) => !isSetting(name) && !isDeepStrictEqual(before[name], written[name]),
  )
  const rewritten = names.filter(
    (name) =>
      current[name] !== undefined &&
      !isDeepStrictEqual(current[name], written[name]) &&
      !isDeepStrictEqual(current[name], before[name]),
  )
  const hasTable = rewritten.some((name) => typeof current[name] === 'object')
  const isComplete = rewritten.length > 0 && rewritten.length === names.length
  const isKeyGone = compareSettings(history).some(
    ({ isOurs, setting }) => setting.isSecret && !isOurs,
  )

  const isNewer = hasTable || isComplete || isKeyGone
  const paths = (of: readonly string[]) => of.map((name): SettingPath => [name])
  return isNewer ? { restored: [], newer: paths(rewritten) } : { restored: paths(names), newer: [] }
}

function keptWholeFile(history: FileHistory): readonly KeptSetting[] {
  const { file, now } = history
  const reasonFor = (isOurs: boolean) => (isOurs ? 'together' : 'changed')
  if (file.settings.length === 0)
    return [keptSetting(file, wholeFile, reasonFor(isSameContent(now, file.written)))]
  return compareSettings(history).map(({ path, isOurs }) =>
    keptSetting(file, path, reasonFor(isOurs)),
  )
}

/** Adds to the error of an impossible undo that `--force` needs no edit. */
function withForceHint(undo: () => UndoneFile): UndoneFile {
  const result = valueOrError(undo)
  if (!(result instanceof UserError)) return result
  if (result.code === 'backup-missing') throw result
  throw result.with({
    hint: 'Fix the file, or restore the old one: repoint rollback --force',
    cause: result,
  })
}

/** Whether the run changed the content of a file, and not only its permissions. */
function changesContent({ before, written }: RecordedFile): boolean {
  return !isSameContent(before, written)
}

export function isObject(value: ConfigValue | undefined): boolean {
  return typeof value === 'object' && value !== null
}
