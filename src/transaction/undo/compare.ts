/**
 * Compares the settings of a file in three versions: before a run, as the run wrote it, and now.
 *
 *     before            written            now                 the value now
 *     model = "gpt"     model = "gw/a"     model = "gw/a"      is ours
 *     model = "gpt"     model = "gw/a"     model = "gpt"       is the earlier one
 *     model = "gpt"     model = "gw/a"     model = "other"     someone changed it
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigValue, SettingPath } from '../../edits/types.ts'
import { valuePathsAt } from '../../edits/undo.ts'
import { startsWith } from '../../edits/values/paths.ts'
import type { Contents, Copies } from '../contents.ts'
import type { FileVersion, KeptSetting, RecordedFile, RecordedSetting } from '../record.ts'

/** A file as a run recorded it, and its version now. */
export interface FileHistory {
  readonly copies: Copies
  readonly file: RecordedFile
  readonly now: FileVersion | null
}

export function historyOf(contents: Contents, file: RecordedFile): FileHistory {
  return { copies: contents.copies, file, now: contents.get(file.path) }
}

/** Decides whether a model that someone chose since the run counts as ours. */
export type ModelCheck = (setting: RecordedSetting, value: string) => boolean

/** A value that a run wrote or confirmed. A table is compared value by value. */
export interface ComparedValue {
  readonly path: SettingPath
  readonly setting: RecordedSetting
  readonly isChangedByRun: boolean
  /** It still has the value of the run, or one that counts as ours. */
  readonly isOurs: boolean
  /** It has the value from before the run. */
  readonly isEarlier: boolean
  readonly now: ConfigValue | undefined
}

export function compareSettings(
  history: FileHistory,
  isOurModel: ModelCheck = () => false,
): readonly ComparedValue[] {
  const { copies, file } = history
  const before = copies.documentOf(file, file.before)
  const written = copies.documentOf(file, file.written)

  return file.settings.flatMap((setting) =>
    valuePathsAt(before?.root, written?.root, setting.path).map((path): ComparedValue => {
      const earlier = before?.get(path)
      const ours = written?.get(path)
      const now = valueInVersion(history, 'now', path)

      return {
        path,
        setting,
        isChangedByRun: !isDeepStrictEqual(earlier, ours),
        isOurs: isDeepStrictEqual(now, ours) || countsAsOurs(setting, now, isOurModel),
        isEarlier: isDeepStrictEqual(now, earlier),
        now,
      }
    }),
  )
}

function countsAsOurs(
  setting: RecordedSetting,
  now: ConfigValue | undefined,
  isOurModel: ModelCheck,
): boolean {
  if (setting.rewrittenByClient) return now !== undefined
  return setting.role === 'model' && typeof now === 'string' && isOurModel(setting, now)
}

/** The value at `path` in one of the three versions. Only that version is read. */
export function valueInVersion(
  history: FileHistory,
  version: 'before' | 'written' | 'now',
  path: SettingPath,
): ConfigValue | undefined {
  const { copies, file, now } = history
  const versions = { before: file.before, written: file.written, now }
  return copies.documentOf(file, versions[version])?.get(path)
}

/** A setting of a file that an undo does not change. */
export function keptSetting(
  { client, path: file }: RecordedFile,
  path: SettingPath,
  why: KeptSetting['why'],
): KeptSetting {
  return { client, file, path, why }
}

/** The recorded setting at `path`, or the one whose table contains it. */
export function settingAt(
  { settings }: Pick<RecordedFile, 'settings'>,
  path: SettingPath,
): RecordedSetting | undefined {
  return settings.find((setting) => startsWith(path, setting.path))
}
