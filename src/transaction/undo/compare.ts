/** Compares the settings of a file before a run, as the run wrote it, and now. */
import { isDeepStrictEqual } from 'node:util'
import { type ComparedValue, compareValues } from '../../edits/compare-values.ts'
import type { ConfigValue, SettingPath } from '../../edits/types.ts'
import type { AllFiles, Copies } from '../contents.ts'
import {
  type FileVersion,
  hasAddressRole,
  type KeptSetting,
  type RecordedFile,
  type RecordedSetting,
} from '../record.ts'

/** A file as a run recorded it, and the version that its undo finds (`now`). */
export interface FileHistory {
  readonly copies: Copies
  readonly file: RecordedFile
  readonly now: FileVersion | null
}

export function historyOf(now: AllFiles, file: RecordedFile): FileHistory {
  return { copies: now.copies, file, now: now.get(file.path) }
}

/** Decides whether a model that someone chose since the run counts as ours, and so is undone with it. */
export type ModelCheck = (setting: RecordedSetting, value: string) => boolean

/**
 * Makes the check for the files of a client. If the run connected the client to the gateway, every model of the
 * gateway is ours, because it does not exist at the earlier service. A model of another provider stays. If
 * there is one, models that do not name their provider stay too.
 */
export function modelCheckFor(files: readonly RecordedFile[], now: AllFiles): ModelCheck {
  return ({ ourPrefix }, model) => {
    if (!connectsToGateway(files, now)) return false
    return ourPrefix === undefined ? !usesAnotherProvider(files, now) : model.startsWith(ourPrefix)
  }
}

/** Whether the run changed the client's address or provider. */
function connectsToGateway(files: readonly RecordedFile[], now: AllFiles): boolean {
  return files.some((file) => {
    const history = historyOf(now, file)
    return file.settings
      .filter(hasAddressRole)
      .some(
        ({ path }) =>
          !isDeepStrictEqual(
            valueInVersion(history, 'before', path),
            valueInVersion(history, 'written', path),
          ),
      )
  })
}

/** Whether a model that names its provider names another one now. */
function usesAnotherProvider(files: readonly RecordedFile[], now: AllFiles): boolean {
  return files.some((file) =>
    file.settings.some(({ role, path, ourPrefix }) => {
      if (role !== 'model' || ourPrefix === undefined) return false
      const model = valueInVersion(historyOf(now, file), 'now', path)
      return typeof model === 'string' && !model.startsWith(ourPrefix)
    }),
  )
}

export interface ComparedSetting extends ComparedValue {
  readonly setting: RecordedSetting
}

/** Decides for each value of the run whether it is ours: it is as the run wrote it, or counts as that. */
export function compareSettings(
  history: FileHistory,
  isOurModel: ModelCheck = () => false,
): readonly ComparedSetting[] {
  const { copies, file, now } = history
  const documents = {
    before: copies.documentOf(file, file.before),
    written: copies.documentOf(file, file.written),
    now: copies.documentOf(file, now),
  }

  return file.settings.flatMap((setting) =>
    compareValues(documents, setting.path).map((value) => ({
      ...value,
      setting,
      isOurs: value.isOurs || countsAsOurs(setting, value.now, isOurModel),
    })),
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
