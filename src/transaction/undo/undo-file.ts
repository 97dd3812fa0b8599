/**
 * Undoes one run in one file. Pure functions over values. The first row that applies decides:
 *
 *     before    written    now                 result
 *     any       any        any                 `restore-copies`: before. `keep-all`: now
 *     A         B          B, or A             A, byte for byte
 *     A         A          any                 now: the run changed only the permissions
 *     A         B          no file             no file
 *     A         B          another, `whole`    A if only the formatting changed, else now: it can be a login
 *     A         B          another, `keys`     each setting: see `undo-settings.ts`
 */
import { isDeepStrictEqual } from 'node:util'
import { wholeFile } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { isSameContent, type KeptSetting, type RecordedFile } from '../record.ts'
import { compareSettings, type FileHistory, keptSetting, type ModelCheck } from './compare.ts'
import {
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
  isOurModel: ModelCheck = () => false,
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
  if (file.scope === 'whole') return undoWholeFile(history)
  return withForceHint(() => undoSettings({ ...history, now }, way, isOurModel))
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

  return {
    result: now,
    kept: compareSettings(history)
      .filter(({ isEarlier, isChangedByRun }) => isChangedByRun && !isEarlier)
      .map(({ path, isOurs }) => keptSetting(file, path, isOurs ? 'together' : 'changed')),
  }
}

/** Undoes a file with scope `whole`. A login made since the run is never replaced by an older one. */
function undoWholeFile(history: FileHistory): UndoneFile {
  const { copies, file, now } = history
  const written = copies.documentOf(file, file.written)
  const isReformatted =
    written !== undefined && isDeepStrictEqual(copies.documentOf(file, now)?.root, written.root)
  if (isReformatted) return restoreCopy(history)

  return { result: now, kept: keptWholeFile(history) }
}

function keptWholeFile({ file, now }: FileHistory): readonly KeptSetting[] {
  const why = isSameContent(now, file.written) ? 'together' : 'changed'
  if (file.settings.length === 0) return [keptSetting(file, wholeFile, why)]
  return file.settings.map(({ path }) => keptSetting(file, path, why))
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
