/** Compares the settings of a file in its three versions: before a run, after it, and now. */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigValue, SettingPath } from '../../edits/plan.ts'
import { valuePathsAt } from '../../edits/undo.ts'
import { startsWith } from '../../edits/values/paths.ts'
import type { FileVersion, RecordedFile, RecordedSetting } from '../record.ts'
import type { Copies } from './copies.ts'

/** A file as a run recorded it, and its version now. */
export interface FileHistory {
  readonly copies: Copies
  readonly file: RecordedFile
  readonly now: FileVersion | null
}

/** Decides whether a model that someone chose since the run counts as ours. */
export type ModelCheck = (setting: RecordedSetting, value: string) => boolean

/** A value that a run wrote or confirmed, with its history. A table is compared value by value. */
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
  const written = copies.documentOf(file, file.after)

  return file.settings.flatMap((setting) =>
    valuePathsAt(before?.root, written?.root, setting.path).map((path) => {
      const earlier = before?.get(path)
      const ours = written?.get(path)
      const now = valueIn(history, history.now, path)

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

/** The value at `path` in one version of the file. */
export function valueIn(
  { copies, file }: Pick<FileHistory, 'copies' | 'file'>,
  version: FileVersion | null,
  path: SettingPath,
): ConfigValue | undefined {
  return copies.documentOf(file, version)?.get(path)
}

/** The recorded setting at `path`, or the one whose table contains it. */
export function settingAt(
  { settings }: Pick<RecordedFile, 'settings'>,
  path: SettingPath,
): RecordedSetting | undefined {
  return settings.find((setting) => startsWith(path, setting.path))
}

/** Whether a setting decides where the client connects: its address, key or provider. */
export function isConnection({ role }: RecordedSetting): boolean {
  return role !== undefined && role !== 'model'
}

export function isAddress(role: RecordedSetting['role']): boolean {
  return role === 'address' || role === 'provider'
}

export function isSameContent(a: FileVersion | null, b: FileVersion | null): boolean {
  return a?.sha256 === b?.sha256
}

export function isSameVersion(a: FileVersion | null, b: FileVersion | null): boolean {
  return isSameContent(a, b) && a?.mode === b?.mode
}
