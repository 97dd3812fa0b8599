/**
 * Undo as a stack of runs: which runs `repoint rollback` undoes. Pure functions over values.
 *
 * For example, run 1 sets up Codex, and run 2 changes its model:
 *
 *     repoint rollback               undoes run 2: Codex has the model of run 1
 *     repoint rollback               undoes run 1: Codex has its configuration from before repoint
 *     repoint rollback --redo        undoes the newest undo: run 1 is active again
 *     repoint rollback --redo        undoes the undo before it: both runs are active again
 *     repoint rollback --original    undoes both runs in one plan
 *
 * An undo and a redo are recorded as runs too, so nothing is taken from the stack. `active-runs.ts`
 * finds the changes that are not undone, `undo-run.ts` undoes one run, and `undo-several.ts` makes one
 * plan of several. `../rollback.ts` reads the files and applies the plan.
 */
import { basename } from 'node:path'
import { isChange, type RecordedFile, type RunPart, type RunRecord, type Runs } from '../record.ts'
import { activeRuns, partName, recordedChanges, type Stack, undoneParts } from './active-runs.ts'
import { isConnection, settingAt } from './settings.ts'
import { type Contents, type UndoOptions, undoRun } from './undo-run.ts'
import { hasEffect, type StackPlan, undoSeveral } from './undo-several.ts'

/**
 * `repoint rollback`: undoes the newest change whose undo would change a file or keep a setting. An undo
 * that keeps settings counts, because the user must see them.
 *
 * Promise: the same command again goes one run further back. It returns undefined if nothing is left.
 * Directly after an undo that kept settings, `--force` restores the files of those settings instead,
 * and no others.
 */
export function undoLatest(
  stack: Stack,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  const incomplete = options.force ? runsWithKeptSettings(stack, 'undo', options.clients) : []
  if (incomplete.length > 0) return undoSeveral(incomplete, contents, options)

  // Runs without an effect are recorded as undone together with the run that has one.
  const withoutEffect: RunPart[] = []
  for (const run of activeRuns(stack, options.clients).toReversed()) {
    const plan = undoRun(run, contents, options)
    if (hasEffect(plan, contents))
      return { ...plan, undoes: [...withoutEffect, ...plan.undoes], runs: [run] }
    withoutEffect.push(...plan.undoes)
  }

  return undefined
}

/**
 * `repoint rollback --run ID`: undoes that run and every newer one of its clients, newest first.
 *
 * Promise: the files are the same as after single undos, but it is one plan and one run.
 */
export function undoTo(
  stack: Stack,
  runId: string,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  const active = activeRuns(stack, options.clients)
  const index = active.findIndex(({ id }) => id === runId)
  if (index < 0) return undefined

  const undoneFiles: RecordedFile[] = []
  const runs: RunRecord[] = []
  for (const run of active.slice(index)) {
    const isShared = ({ client }: RecordedFile) => isSameInstallation(run, client, undoneFiles)
    const files = run.id === runId ? run.files : run.files.filter(isShared)
    undoneFiles.push(...files)
    if (files.length > 0) runs.push({ ...run, files })
  }

  return undoSeveral(runs.toReversed(), contents, options)
}

/**
 * Whether a run wrote files of the same installation of a client. A second installation
 * (`CODEX_HOME`) has files of the same name in another folder.
 */
function isSameInstallation(
  run: RunRecord,
  client: string,
  files: readonly RecordedFile[],
): boolean {
  const known = files.filter((file) => file.client === client)
  if (known.length === 0) return false

  const isInAnotherFolder = ({ path }: RecordedFile) =>
    known.some((file) => file.path !== path && basename(file.path) === basename(path))
  return !run.files.some((file) => file.client === client && isInAnotherFolder(file))
}

/**
 * `repoint rollback --original`: undoes every run that is not undone. With `force`, every file gets its
 * first copy, even if an earlier undo kept something in it.
 */
export function undoAll(
  stack: Stack,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  const runs = options.force
    ? recordedChanges(stack, options.clients)
    : activeRuns(stack, options.clients)
  const plan = undoSeveral(runs.toReversed(), contents, options)
  return plan && hasEffect(plan, contents) ? plan : undefined
}

/**
 * `repoint rollback --redo`: undoes the newest undo.
 *
 * Promise: it works until the next change of the same files. The same command again redoes the next
 * older undo. If nobody wrote the files since the undo, they are restored byte for byte, unless the
 * client would then have a problem. Directly after a redo that kept settings, `--force` restores the
 * files of those settings.
 */
export function redo(
  stack: Stack,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  const incomplete = options.force ? runsWithKeptSettings(stack, 'redo', options.clients) : []
  if (incomplete.length > 0) return undoSeveral(incomplete, contents, options)

  const redoneUndos = undoneParts(stack)
  const changedPaths = new Set<string>()

  // From the newest run to the oldest: an undo can be redone if no newer change wrote its files.
  for (const run of stack.toReversed()) {
    if (isChange(run)) for (const { path } of run.files) changedPaths.add(path)
    if (run.kind !== 'undo') continue

    const canBeRedone = ({ client }: RunPart) =>
      isSelected(client, options.clients) &&
      !redoneUndos.has(partName({ run: run.id, client })) &&
      run.files.every((file) => file.client !== client || !changedPaths.has(file.path))
    const clients = (run.undoes ?? []).filter(canBeRedone).map(({ client }) => client)
    const files = run.files.filter(({ client }) => clients.includes(client))
    if (files.length === 0) continue

    return { ...undoRun({ ...run, files }, contents, options), runs: [run] }
  }

  return undefined
}

function isSelected(client: string, clients: readonly string[] | undefined): boolean {
  return clients?.includes(client) ?? true
}

/**
 * The runs that `--force` undoes again, newest first: if the last run of these clients is an undo (or a
 * redo) that kept settings, the runs that it undid, with only the files that it did not restore.
 *
 * For example, run 1 wrote auth.json and config.toml, and its undo kept `model` in config.toml. The result
 * is run 1 with config.toml alone.
 */
function runsWithKeptSettings(
  stack: Stack,
  kind: 'undo' | 'redo',
  clients?: readonly string[],
): Runs {
  const concernsClients = ({ files, undoes = [] }: RunRecord) =>
    [...files, ...undoes].some(({ client }) => isSelected(client, clients))
  const last = stack.findLast(concernsClients)
  if (last?.kind !== kind) return []

  const parts = (last.undoes ?? []).filter(({ client }) => isSelected(client, clients))
  const undoneIds = new Set(parts.map(({ run }) => run))
  const isUnfinished = (file: RecordedFile) =>
    isSelected(file.client, clients) && keepsSettings(last, file)

  return stack
    .filter(({ id }) => undoneIds.has(id))
    .map((run) => ({ ...run, files: run.files.filter(isUnfinished) }))
    .filter(({ files }) => files.length > 0)
    .toReversed()
}

/**
 * Whether an undo kept settings in a file. If it kept a client's address or key, all files with its
 * address and key count, because they belong together.
 */
function keepsSettings(undo: RunRecord, file: RecordedFile): boolean {
  const { kept = [] } = undo
  if (kept.some((setting) => setting.file === file.path)) return true
  return file.settings.some(isConnection) && keepsConnection(undo, file.client)
}

function keepsConnection({ files, kept = [] }: RunRecord, client: string): boolean {
  return files
    .filter((file) => file.client === client)
    .some((file) => {
      const keptHere = kept.filter((setting) => setting.file === file.path)
      return keptHere.some(({ path }) => {
        const setting = settingAt(file, path)
        // Without a recorded setting, the whole file was kept.
        return setting ? isConnection(setting) : file.settings.some(isConnection)
      })
    })
}
