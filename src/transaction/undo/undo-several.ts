import { isDeepStrictEqual } from 'node:util'
import type { KeptSetting, RecordedFile, Runs } from '../record.ts'
import type { Copies } from './copies.ts'
import { isAddress, isSameContent, isSameVersion } from './settings.ts'
import { type Contents, type UndoOptions, type UndoPlan, undoRun } from './undo-run.ts'

/** A plan that undoes one or more runs. */
export interface StackPlan extends UndoPlan {
  /** The undone runs that have an effect, newest first. */
  readonly runs: Runs
}

/**
 * Makes one plan that undoes several runs. Each undo starts with the result of the previous one.
 *
 * @param runs newest first
 * @returns undefined if there are no runs
 */
export function undoSeveral(
  runs: Runs,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  if (runs.length === 0) return undefined

  const plans: UndoPlan[] = []
  for (const run of runs) plans.push(undoRun(run, plans.at(-1)?.contents ?? contents, options))

  const files = inSafeOrder(mergeFiles(plans), runs)
  const after = plans.at(-1)?.contents ?? contents

  return {
    runs,
    undoes: plans.flatMap(({ undoes }) => undoes),
    files,
    kept: stillKept(plans, files, after, options.copies),
    clientsLosingTables: plans.flatMap(({ clientsLosingTables }) => clientsLosingTables),
    contents: after,
  }
}

/** Whether a plan changes a file or keeps a setting. The user must see both. */
export function hasEffect({ files, kept, contents: after }: UndoPlan, before: Contents): boolean {
  const isChanged = ({ path }: RecordedFile) => !isSameVersion(before.get(path), after.get(path))
  return kept.length > 0 || files.some(isChanged)
}

/** Each file once, with its version before the oldest of the runs. */
function mergeFiles(plans: readonly UndoPlan[]): readonly RecordedFile[] {
  const files = new Map<string, RecordedFile>()

  for (const older of plans.flatMap((plan) => plan.files)) {
    const newer = files.get(older.path)
    const merged = newer && {
      ...newer,
      before: older.before,
      settings: mergeSettings(older, newer),
    }
    files.set(older.path, merged ?? older)
  }

  return [...files.values()]
}

/** The settings of two runs. Those of the newer one win. */
export function mergeSettings(
  older: RecordedFile | undefined,
  newer: RecordedFile,
): RecordedFile['settings'] {
  const newerNames = new Set(newer.settings.map(({ path }) => JSON.stringify(path)))
  const onlyInOlder = (older?.settings ?? []).filter(
    ({ path }) => !newerNames.has(JSON.stringify(path)),
  )
  return [...onlyInOlder, ...newer.settings]
}

/**
 * Sorts the files so that a client that starts between two writes sends no earlier key to the gateway:
 * an undo writes the addresses before the keys, and a redo the other way round. In the plan of one run
 * the files have this order already.
 */
function inSafeOrder(files: readonly RecordedFile[], [newest]: Runs): readonly RecordedFile[] {
  const hasOnlyKey = ({ settings }: RecordedFile) =>
    settings.some(({ role }) => role === 'key') && !settings.some(({ role }) => isAddress(role))
  const withOnlyKey = files.filter(hasOnlyKey)
  const withAddress = files.filter((file) => !withOnlyKey.includes(file))

  return newest?.kind === 'undo'
    ? [...withOnlyKey, ...withAddress]
    : [...withAddress, ...withOnlyKey]
}

/** The settings that are still kept at the end. An undo of an older run may restore a kept setting. */
function stillKept(
  plans: readonly UndoPlan[],
  files: readonly RecordedFile[],
  after: Contents,
  copies: Copies,
): readonly KeptSetting[] {
  const byName = new Map<string, KeptSetting>()
  for (const setting of plans.flatMap(({ kept }) => kept))
    byName.set(JSON.stringify([setting.file, setting.path]), setting)

  return [...byName.values()].filter((setting) => {
    const file = files.find(({ path }) => path === setting.file)
    const result = after.get(setting.file)
    if (file === undefined || isSameContent(file.before, result)) return false
    if (setting.path.length === 0 || file.scope === 'whole') return true

    const earlier = copies.documentOf(file, file.before)?.get(setting.path)
    const left = copies.documentOf(file, result)?.get(setting.path)
    return !isDeepStrictEqual(earlier, left)
  })
}
