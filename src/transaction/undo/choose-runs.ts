/**
 * Chooses the runs that `repoint rollback` undoes. Pure functions over values.
 *
 *     rollback                        the newest active run whose undo the user can see
 *     rollback --run ID               that run, and the newer active runs of its clients
 *     rollback --original             every active run
 *     rollback --original --force     every run, also those that are undone already
 *     rollback --redo                 the newest undo, unless a later run wrote its files
 *     rollback --force, directly      the files that this undo kept
 *       after an undo
 *
 * A run is active if it is not undone (`active-runs.ts`). For example, run 1 sets up Codex, and run 2
 * gives it another model:
 *
 *     command               undoes                     active afterwards
 *     rollback              run 2                      run 1
 *     rollback              run 1                      -
 *     rollback --redo       the undo of run 1          run 1
 *     rollback --redo       the undo of run 2          run 1, run 2
 */
import { isDeepStrictEqual } from 'node:util'
import { isWholeFile } from '../../edits/types.ts'
import { pathKey, startsWith } from '../../edits/values/paths.ts'
import type { AllFiles } from '../contents.ts'
import {
  decidesEndpoint,
  type FileVersion,
  isHeldBack,
  isSameContent,
  isUndoOrRedo,
  type KeptSetting,
  type RecordedFile,
  type RunPart,
  type RunRecord,
  type Runs,
} from '../record.ts'
import {
  activeRuns,
  fileKey,
  isElsewhere,
  isSelected,
  runsExceptUndos,
  undoneFiles,
} from './active-runs.ts'
import type { UndoOptions } from './undo-client.ts'
import { hasVisibleEffect, type UndoPlan, undoRuns } from './undo-runs.ts'

/**
 * `repoint rollback`: undoes the newest active run whose undo changes a file or keeps a setting. The user
 * must see the kept ones.
 *
 * Promise: the same command again goes one run further back. It returns undefined if nothing is left.
 * Directly after an undo that kept settings, `--force` restores the files of those settings instead,
 * and no others.
 */
export function undoNewest(runs: Runs, now: AllFiles, options: UndoOptions): UndoPlan | undefined {
  const keptRuns = options.force ? runsWithKeptFiles('undo', runs, options.clients) : []
  if (keptRuns.length > 0) return undoRuns(keptRuns, now, options)

  // Runs without an effect are recorded as undone together with the run that has one.
  const withoutEffect: RunPart[] = []
  for (const run of activeRuns(runs, options.clients)) {
    const plan = undoRuns([run], now, options)
    if (hasVisibleEffect(plan, now)) return { ...plan, undoes: [...withoutEffect, ...plan.undoes] }
    withoutEffect.push(...plan.undoes)
  }

  return options.force ? finishHeldBack(runs, now, options) : undefined
}

/** Restores the files of what earlier undos held back, if no run is active: `--force` is the hint for them. */
function finishHeldBack(runs: Runs, now: AllFiles, options: UndoOptions): UndoPlan | undefined {
  const clients = [...new Set(heldBackIn(runs, now, options.clients).map(({ client }) => client))]
  if (clients.length === 0) return undefined
  const plan = undoRuns(runsExceptUndos(runs, clients), now, options)
  return hasVisibleEffect(plan, now) ? plan : undefined
}

/**
 * The settings that undos held back, and that still have the values which those left. A setting that has its value
 * from before every run is undone, whatever an undo left: for example, an undo of `off` kept its model, and then the
 * setup before `off` was undone.
 *
 * @param files the files now, or after another undo
 */
export function heldBackIn(
  runs: Runs,
  files: AllFiles,
  clients: readonly string[] | undefined,
): readonly KeptSetting[] {
  const undone = undoneFiles(runs)
  const found = new Map<string, KeptSetting>()
  for (const run of runs) {
    if (run.kind !== 'undo') continue
    for (const setting of (run.kept ?? []).filter(isHeldBack)) {
      const file = run.files.find(({ path }) => path === setting.file)
      const key = pathKey([setting.file, ...setting.path])
      if (file === undefined || found.has(key) || !isSelected(setting.client, clients)) continue
      if (undone.has(fileKey(run.id, file)) || !hasValueOf(file.written, { files, file, setting }))
        continue
      const first = runs.flatMap((one) => one.files).findLast(({ path }) => path === file.path)
      const isOriginal = first !== undefined && hasValueOf(first.before, { files, file, setting })
      if (!isOriginal) found.set(key, setting)
    }
  }
  return [...found.values()]
}

/** Whether a setting that exists now has the same value as in another version of its file. */
function hasValueOf(
  version: FileVersion | null,
  {
    files,
    file,
    setting: { path },
  }: { readonly files: AllFiles; readonly file: RecordedFile; readonly setting: KeptSetting },
): boolean {
  const now = files.get(file.path)
  if (isWholeFile(path)) return now !== null && isSameContent(now, version)
  const { copies } = files
  const value = copies.documentOf(file, now)?.get(path)
  return (
    value !== undefined && isDeepStrictEqual(value, copies.documentOf(file, version)?.get(path))
  )
}

/**
 * `repoint rollback --run ID`: undoes that run and every newer one of its clients, newest first.
 *
 * Promise: the files are the same as after single undos, but it is one plan and one run.
 */
export function undoTo(
  runs: Runs,
  runId: string,
  now: AllFiles,
  options: UndoOptions,
): UndoPlan | undefined {
  const active = activeRuns(runs, options.clients)
  const index = active.findLastIndex(({ id }) => id === runId)
  if (index < 0) return undefined

  // From that run to the newest: a newer run counts if it wrote files of the same installation.
  const runsToUndo: RunRecord[] = []
  for (const run of active.slice(0, index + 1).toReversed()) {
    const filesToUndo = runsToUndo.flatMap(({ files }) => files)
    const isIncluded = ({ client }: RecordedFile) =>
      run.id === runId || isSameInstallation(run, client, filesToUndo)
    const files = run.files.filter(isIncluded)
    if (files.length > 0) runsToUndo.push({ ...run, files })
  }

  return undoRuns(runsToUndo.toReversed(), now, options)
}

/**
 * Whether a run wrote files of the same installation of a client. The file names tell: a second installation
 * (`CODEX_HOME`) has files of the same name in another folder.
 */
function isSameInstallation(
  run: RunRecord,
  client: string,
  filesToUndo: readonly RecordedFile[],
): boolean {
  const known = filesToUndo.filter((file) => file.client === client)
  if (known.length === 0) return false
  return !run.files.some((file) => file.client === client && isElsewhere(file, known))
}

/**
 * `repoint rollback --original`: undoes every run that is not undone. With `force`, every file gets its
 * first copy, even if an earlier undo kept something in it.
 *
 * Promise: afterwards no run is active, even if the files did not change. So the next undo has nothing to do.
 */
export function undoAll(runs: Runs, now: AllFiles, options: UndoOptions): UndoPlan | undefined {
  const active = activeRuns(runs, options.clients)
  const runsToUndo = options.force ? runsExceptUndos(runs, options.clients) : active
  const plan = undoRuns(runsToUndo, now, options)
  return active.length > 0 || hasVisibleEffect(plan, now) ? plan : undefined
}

/**
 * `repoint rollback --redo`: undoes the newest undo.
 *
 * Promise: it works until another run writes the same files. The same command again redoes the next
 * older undo. If nobody wrote the files since the undo, they are restored byte for byte, unless the
 * client would then have a problem. Directly after a redo that kept settings, `--force` restores the
 * files of those settings.
 */
export function redo(runs: Runs, now: AllFiles, options: UndoOptions): UndoPlan | undefined {
  const keptRuns = options.force ? runsWithKeptFiles('redo', runs, options.clients) : []
  if (keptRuns.length > 0) return undoRuns(keptRuns, now, options)

  // They include the undos that a redo took back.
  const undone = undoneFiles(runs)
  const pathsWrittenSince = new Set<string>()

  for (const run of runs) {
    if (!isUndoOrRedo(run)) for (const { path } of run.files) pathsWrittenSince.add(path)
    if (run.kind !== 'undo') continue

    const canBeRedone = ({ client }: RunPart) =>
      isSelected(client, options.clients) &&
      run.files
        .filter((file) => file.client === client)
        .every((file) => !undone.has(fileKey(run.id, file)) && !pathsWrittenSince.has(file.path))
    const clients = (run.undoes ?? []).filter(canBeRedone).map(({ client }) => client)
    const files = run.files.filter(({ client }) => clients.includes(client))
    if (files.length === 0) continue

    const plan = undoRuns([{ ...run, files }], now, options)
    // The undo is reported whole, although only some of its clients may be redone.
    return { ...plan, runs: [run] }
  }

  return undefined
}

/**
 * What `--force` finishes directly after an undo (or a redo) that kept settings: the runs that it undid,
 * newest first, each with only the files that it did not restore. Empty if the last run of these clients
 * is no such undo.
 *
 *     run 1     a setup wrote auth.json and config.toml
 *     run 2     its undo restored auth.json, but kept `model` in config.toml
 *     result    run 1 with config.toml alone
 */
function runsWithKeptFiles(
  kind: 'undo' | 'redo',
  runs: Runs,
  clients: readonly string[] | undefined,
): Runs {
  const isOfClients = ({ files, undoes = [] }: RunRecord) =>
    [...files, ...undoes].some(({ client }) => isSelected(client, clients))
  const last = runs.find(isOfClients)
  if (last?.kind !== kind) return []

  const parts = (last.undoes ?? []).filter(({ client }) => isSelected(client, clients))
  const isUndone = ({ id }: RunRecord) => parts.some(({ run }) => run === id)
  const isKept = (file: RecordedFile) =>
    isSelected(file.client, clients) && keepsSettings(last, file)

  return runs
    .filter(isUndone)
    .map((run) => ({ ...run, files: run.files.filter(isKept) }))
    .filter(({ files }) => files.length > 0)
}

/**
 * Whether an undo kept settings in a file. If it kept a client's address or key, all files with its
 * address and key count, because they belong together.
 */
function keepsSettings(undo: RunRecord, file: RecordedFile): boolean {
  const { kept = [] } = undo
  if (kept.some((setting) => setting.file === file.path)) return true
  return file.settings.some(decidesEndpoint) && keepsEndpoint(undo, file.client)
}

function keepsEndpoint({ files, kept = [] }: RunRecord, client: string): boolean {
  const clientFiles = files.filter((file) => file.client === client)

  return kept.some((keptSetting) => {
    const file = clientFiles.find(({ path }) => path === keptSetting.file)
    if (file === undefined) return false

    // A kept value can be in a table that is the setting. Without a setting, the whole file was kept.
    const setting = file.settings.find(({ path }) => startsWith(keptSetting.path, path))
    return setting ? decidesEndpoint(setting) : file.settings.some(decidesEndpoint)
  })
}
