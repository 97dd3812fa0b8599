/** Undo as a stack of runs: which runs `repoint rollback` undoes. Pure functions over values. */
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KeptSetting, RecordedFile, RunPart, RunRecord, Runs } from '../record.ts'
import type { Copies } from './copies.ts'
import { isAddress, isConnection, isSameContent, isSameVersion, settingAt } from './undo-file.ts'
import { type Contents, type UndoOptions, type UndoPlan, undoRun } from './undo-run.ts'

/** The recorded runs, oldest first. The last one is the top of the stack. */
export type Stack = readonly RunRecord[]

/** A plan that undoes several runs. */
export interface StackPlan extends UndoPlan {
  /** The undone runs that have an effect, newest first. */
  readonly runs: Runs
}

/**
 * `repoint rollback`: undoes the newest change that still has an effect.
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
  if (incomplete.length > 0) return undoRuns(incomplete, contents, options)

  const withoutEffect: RunPart[] = []
  for (const run of activeRuns(stack, options.clients).toReversed()) {
    const plan = undoRun(run, contents, options)
    const undoes = [...withoutEffect, ...plan.undoes]
    if (hasEffect(plan, contents)) return { ...plan, undoes, runs: [run] }
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

  const undone: RecordedFile[] = []
  const runs: RunRecord[] = []
  for (const run of active.slice(index)) {
    const isShared = ({ client }: RecordedFile) => isSameInstallation(run, client, undone)
    const files = run.id === runId ? run.files : run.files.filter(isShared)
    undone.push(...files)
    if (files.length > 0) runs.push({ ...run, files })
  }

  return undoRuns(runs.toReversed(), contents, options)
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
  const isElsewhere = run.files.some(
    ({ client: id, path }) =>
      id === client &&
      known.some((one) => one.path !== path && basename(one.path) === basename(path)),
  )
  return known.length > 0 && !isElsewhere
}

/**
 * `repoint rollback --original`: undoes every run that is not undone. With `force`, every file gets its
 * first copy, also if an earlier undo kept something in it.
 */
export function undoAll(
  stack: Stack,
  contents: Contents,
  options: UndoOptions,
): StackPlan | undefined {
  const active = options.force
    ? recordedChanges(stack, options.clients)
    : activeRuns(stack, options.clients)
  const plan = undoRuns(active.toReversed(), contents, options)
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
  if (incomplete.length > 0) return undoRuns(incomplete, contents, options)

  const undoneUndos = undoneParts(stack)
  const changed = new Set<string>()

  // From the newest run to the oldest: an undo can be redone if no newer change wrote its files.
  for (const run of stack.toReversed()) {
    if (run.kind === 'change') for (const { path } of run.files) changed.add(path)
    if (run.kind !== 'undo') continue

    const isSelected = ({ client }: RunPart) =>
      (options.clients?.includes(client) ?? true) &&
      !undoneUndos.has(partName({ run: run.id, client })) &&
      run.files.every((file) => file.client !== client || !changed.has(file.path))
    const clients = (run.undoes ?? []).filter(isSelected).map(({ client }) => client)
    const files = run.files.filter(({ client }) => clients.includes(client))
    if (files.length === 0) continue

    const plan = undoRun({ ...run, files }, contents, options)
    return { ...plan, runs: [run] }
  }

  return undefined
}

/**
 * If the last run of these clients is an undo (or a redo) that kept settings: the runs that it undid,
 * newest first, with only the files of those settings. If it kept a client's address or key, all files
 * with its address and key, because they belong together.
 */
function runsWithKeptSettings(
  stack: Stack,
  kind: 'undo' | 'redo',
  clients?: readonly string[],
): Runs {
  const isSelected = ({ client }: { readonly client: string }) => clients?.includes(client) ?? true
  const last = stack.findLast(({ files, undoes = [] }) => [...files, ...undoes].some(isSelected))
  if (last?.kind !== kind) return []

  const undone = new Set((last.undoes ?? []).filter(isSelected).map(({ run }) => run))
  const kept = last.kept ?? []
  const isKept = (file: RecordedFile) => kept.some((one) => one.file === file.path)
  const keepsConnection = (client: string) =>
    last.files.some(
      (file) =>
        file.client === client &&
        kept.some((one) => {
          if (one.file !== file.path) return false
          const setting = settingAt(file, one.path)
          return setting ? isConnection(setting) : file.settings.some(isConnection)
        }),
    )
  const isRestored = (file: RecordedFile) =>
    isKept(file) || (file.settings.some(isConnection) && keepsConnection(file.client))

  return stack
    .filter(({ id }) => undone.has(id))
    .map((run) => ({
      ...run,
      files: run.files.filter((one) => isSelected(one) && isRestored(one)),
    }))
    .filter(({ files }) => files.length > 0)
    .toReversed()
}

/** One plan for several runs, newest first. Each undo starts with the result of the previous one. */
function undoRuns(runs: Runs, contents: Contents, options: UndoOptions): StackPlan | undefined {
  const plans: UndoPlan[] = []
  for (const run of runs) plans.push(undoRun(run, plans.at(-1)?.contents ?? contents, options))

  const files = new Map<string, RecordedFile>()
  for (const file of plans.flatMap((plan) => plan.files))
    files.set(file.path, mergeRecorded(files.get(file.path), file))

  const plan: UndoPlan = {
    undoes: plans.flatMap(({ undoes }) => undoes),
    files: inSafeOrder([...files.values()], runs),
    kept: [],
    removedTables: plans.flatMap(({ removedTables }) => removedTables),
    contents: plans.at(-1)?.contents ?? contents,
  }
  const kept = stillKept(plans, plan, options.copies)
  return runs.length > 0 ? { ...plan, kept, runs } : undefined
}

/**
 * An undo writes a file with a client's address before one that has only its key, and a redo the other
 * way round. A client that starts in between sends no earlier key to our address. In the plan of one
 * run the files have this order already.
 */
function inSafeOrder(files: readonly RecordedFile[], [newest]: Runs): readonly RecordedFile[] {
  const hasOnlyKey = ({ settings }: RecordedFile) =>
    settings.some(({ role }) => role === 'key') && !settings.some(({ role }) => isAddress(role))
  const keys = files.filter(hasOnlyKey)
  const others = files.filter((file) => !keys.includes(file))
  return newest?.kind === 'undo' ? [...keys, ...others] : [...others, ...keys]
}

/** The settings that are still kept at the end. An undo of an older run may restore a kept setting. */
function stillKept(
  plans: readonly UndoPlan[],
  { files, contents }: UndoPlan,
  copies: Copies,
): readonly KeptSetting[] {
  const byName = new Map<string, KeptSetting>()
  for (const one of plans.flatMap(({ kept }) => kept))
    byName.set(JSON.stringify([one.file, one.path]), one)

  return [...byName.values()].filter(({ file: path, path: setting }) => {
    const file = files.find((one) => one.path === path)
    const [first, last] = [file?.before ?? null, contents.get(path)]
    if (file === undefined || isSameContent(first, last)) return false
    if (setting.length === 0 || file.scope === 'whole') return true
    const [then, now] = [first, last].map((one) => copies.documentOf(file, one)?.get(setting))
    return !isDeepStrictEqual(then, now)
  })
}

/** A file with the settings of a newer and an older run. */
function mergeRecorded(newer: RecordedFile | undefined, older: RecordedFile): RecordedFile {
  if (newer === undefined) return older
  return { ...newer, before: older.before, settings: mergeSettings(older, newer) }
}

/** The settings of two runs. Those of the newer one win. */
export function mergeSettings(
  older: RecordedFile | undefined,
  newer: RecordedFile,
): RecordedFile['settings'] {
  const names = new Set(newer.settings.map(({ path }) => JSON.stringify(path)))
  const others = (older?.settings ?? []).filter(({ path }) => !names.has(JSON.stringify(path)))
  return [...others, ...newer.settings]
}

/** Whether a plan changes a file or keeps a setting. The user must see both. */
function hasEffect({ files, kept, contents: after }: UndoPlan, before: Contents): boolean {
  return (
    kept.length > 0 || files.some(({ path }) => !isSameVersion(before.get(path), after.get(path)))
  )
}

// ---------------------------------------------------------------- which changes are not undone

/**
 * The changes that are not undone, oldest first. A change that was undone for some of its clients has
 * only the files of the others. A redone change counts at the time of its redo, so that the next
 * rollback undoes it.
 *
 * Promise: every change is in this list, or a recorded undo undid it and no redo followed.
 */
export function activeRuns(stack: Stack, clients?: readonly string[]): Stack {
  const undone = undoneParts(stack)
  const redone = redoneParts(stack)
  const effectiveRunId = (id: string, client: string) =>
    redone.get(partName({ run: id, client })) ?? id

  return recordedChanges(
    stack,
    clients,
    ({ id }, client) => !undone.has(partName({ run: id, client })),
  )
    .flatMap((run) => {
      const ids = new Set(run.files.map(({ client }) => effectiveRunId(run.id, client)))
      return [...ids].map((effectiveId) => ({
        effectiveId,
        run: {
          ...run,
          files: run.files.filter(({ client }) => effectiveRunId(run.id, client) === effectiveId),
        },
      }))
    })
    .toSorted(byEffectiveId)
    .map(({ run }) => run)
}

/** The IDs of runs begin with their time, so this is the order in which they count. */
function byEffectiveId(
  one: { readonly effectiveId: string },
  other: { readonly effectiveId: string },
): number {
  if (one.effectiveId === other.effectiveId) return 0
  return one.effectiveId < other.effectiveId ? -1 : 1
}

/** For each part of a change that was redone, the newest redo of it. */
function redoneParts(stack: Stack): ReadonlyMap<string, string> {
  const byId = new Map(stack.map((run) => [run.id, run]))
  const redone = new Map<string, string>()
  for (const { id, kind, undoes = [] } of stack) {
    if (kind !== 'redo') continue
    for (const { run, client } of undoes)
      for (const part of byId.get(run)?.undoes ?? [])
        if (part.client === client) redone.set(partName(part), id)
  }
  return redone
}

function recordedChanges(
  stack: Stack,
  clients: readonly string[] | undefined,
  isSelected: (run: RunRecord, client: string) => boolean = () => true,
): Stack {
  return stack.flatMap((run) => {
    if (run.kind !== 'change') return []
    const files = run.files.filter(
      ({ client }) => (clients?.includes(client) ?? true) && isSelected(run, client),
    )
    return files.length > 0 ? [{ ...run, files }] : []
  })
}

/** The parts that were undone. Starts with the newest run, so that it skips an undo that was redone. */
export function undoneParts(stack: Stack): ReadonlySet<string> {
  const undone = new Set<string>()
  for (const run of stack.toReversed())
    for (const part of run.undoes ?? [])
      if (!undone.has(partName({ run: run.id, client: part.client }))) undone.add(partName(part))
  return undone
}

export function partName({ run, client }: RunPart): string {
  return `${run} ${client}`
}
