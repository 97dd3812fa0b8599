/**
 * Undoes one run in one file: restores the saved copy, keeps the file, or undoes its settings one by one
 * (`undo-settings.ts`). Pure functions over values.
 *
 *     before    written    now           result
 *     A         B          B             A, byte for byte
 *     A         B          B and x       A and x
 *     A         B          no file       no file
 */
import { isDeepStrictEqual } from 'node:util'
import { resultOf, UserError } from '../../errors.ts'
import { type FileVersion, isSameContent, type KeptSetting, type RecordedFile } from '../record.ts'
import { compareSettings, type FileHistory, keptSetting, valueInVersion } from './compare.ts'
import {
  type UndoneFile,
  type UndoSettingsOptions,
  undoSettings,
  withModeOfNow,
} from './undo-settings.ts'

export interface UndoFileOptions extends UndoSettingsOptions {
  /** Restores the copy, even if someone changed the file since. */
  readonly force?: boolean | undefined
  /** Keeps every setting, including those that still have our value. */
  readonly keepsAll?: boolean | undefined
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
  const { before, written } = file
  if (options.force) return { result: before, kept: [] }
  if (options.keepsAll) return keepFile(history)

  const isAsWritten = isSameContent(now, written)
  const isUndoneAlready = isSameContent(now, before)
  if (isAsWritten || isUndoneAlready) return restoreCopy(history)

  if (!changesContent(file)) return { result: now, kept: [] }
  if (now === null)
    return { result: null, kept: before === null ? [] : [keptSetting(file, [], 'changed')] }
  if (file.scope === 'whole') return undoWholeFile(history)
  return undoKeysFile(history, now, options)
}

function restoreCopy(history: FileHistory): UndoneFile {
  return { result: withModeOfNow(history.file.before, history), kept: [] }
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

  const keepsOurKey = file.settings.some(({ isSecret, path }) => {
    const value = valueInVersion(history, 'now', path)
    const ours = valueInVersion(history, 'written', path)
    return isSecret && value !== undefined && isDeepStrictEqual(value, ours)
  })

  return { result: now, kept: keptWholeFile(history), keepsOurKey }
}

function keptWholeFile({ file, now }: FileHistory): readonly KeptSetting[] {
  const why = isSameContent(now, file.written) ? 'together' : 'changed'
  if (file.settings.length === 0) return [keptSetting(file, [], why)]
  return file.settings.map(({ path }) => keptSetting(file, path, why))
}

/** Undoes a file with scope `keys`. */
function undoKeysFile(
  history: FileHistory,
  now: FileVersion,
  options: UndoSettingsOptions,
): UndoneFile {
  const undone = resultOf(() => undoSettings(history, now, options))
  if (!(undone instanceof UserError)) return undone
  if (undone.code === 'backup-missing') throw undone

  const { code, message } = undone
  throw new UserError({
    code,
    message,
    hint: 'Fix the file, or restore the old one: repoint rollback --force',
    cause: undone,
  })
}

/** Whether the run changed the content of a file, and not only its mode. */
function changesContent({ before, written }: RecordedFile): boolean {
  return !isSameContent(before, written)
}
