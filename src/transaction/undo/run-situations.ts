/** Finds the situations of a client by the files of one run. `undo-safety.ts` decides what they mean for its undo. */
import { isDeepStrictEqual } from 'node:util'
import type { AllFiles } from '../contents.ts'
import {
  decidesEndpoint,
  hasAddressRole,
  isSameContent,
  type KeptSetting,
  type RecordedFile,
} from '../record.ts'
import {
  type ComparedSetting,
  compareSettings,
  type FileHistory,
  historyOf,
  valueInVersion,
} from './compare.ts'
import { isObject } from './undo-file.ts'
import type { Situation } from './undo-safety.ts'

/**
 * Finds what someone did with a client's address, key and provider since the run. In `key-gone`, most likely a login
 * replaced the key.
 *
 * @param files the client's files in the run
 * @param now all files, as the undo finds them
 */
export function endpointSituations(
  files: readonly RecordedFile[],
  now: AllFiles,
): readonly Situation[] {
  const changed = files.flatMap((file) => changedEndpoint(file, now))
  if (changed.length === 0) return []

  const isOnlyKeyGone = changed.every((value) => value.setting.isSecret && !value.now)
  if (!isOnlyKeyGone) return ['endpoint-changed']
  return [hadAddress(files, now) ? 'key-gone-earlier-address' : 'key-gone']
}

/** The endpoint settings of a file that someone changed since the run. */
function changedEndpoint(file: RecordedFile, now: AllFiles): readonly ComparedSetting[] {
  const { scope, before, written } = file
  if (!file.settings.some(decidesEndpoint)) return []
  const current = now.get(file.path)
  if (isSameContent(current, written) || isSameContent(current, before)) return []

  const settings = compareSettings(historyOf(now, file)).filter(({ setting }) =>
    decidesEndpoint(setting),
  )
  // config.toml: an address with its earlier value is undone already.
  if (scope === 'keys') return settings.filter(({ isOurs, isEarlier }) => !isOurs && !isEarlier)
  // `off` deleted auth.json, and then a login created it: none of it is ours. A login has a key or a table.
  if (written === null) {
    const { root = {} } = now.copies.documentOf(file, current) ?? {}
    const isLogin = Object.values(root).some(isObject) || settings.some((value) => value.now)
    return isLogin ? settings : []
  }
  // A setup wrote a key into auth.json, and then a login removed it. The key counts as changed even if
  // there was none before the setup: without a key, the file can contain a login.
  return settings.filter(({ isOurs }) => !isOurs)
}

function hadAddress(files: readonly RecordedFile[], now: AllFiles): boolean {
  return files.some((file) =>
    file.settings
      .filter(hasAddressRole)
      .some(({ path }) => valueInVersion(historyOf(now, file), 'before', path) !== undefined),
  )
}

/**
 * Finds whether an undo keeps a whole file that still has a key as the run wrote it.
 *
 * @param undone all files after the undo, and the settings that it keeps
 */
export function keptKeySituations(
  files: readonly RecordedFile[],
  { result, kept }: { readonly result: AllFiles; readonly kept: readonly KeptSetting[] },
): readonly Situation[] {
  const isKept = ({ path }: RecordedFile) => kept.some(({ file }) => file === path)
  const keptFiles = files.filter((file) => file.scope === 'whole' && isKept(file))
  return keptFiles.some((file) => hasKeyOfRun(historyOf(result, file))) ? ['our-key-stays'] : []
}

function hasKeyOfRun(history: FileHistory): boolean {
  return history.file.settings.some(({ isSecret, path }) => {
    const value = valueInVersion(history, 'now', path)
    const ours = valueInVersion(history, 'written', path)
    return isSecret && value !== undefined && isDeepStrictEqual(value, ours)
  })
}
