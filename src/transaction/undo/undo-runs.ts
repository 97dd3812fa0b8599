/**
 * Undoes one run or several, client by client. Pure functions over values: `../rollback.ts` loads the
 * files and applies the plan.
 *
 * A client's address, key, provider and models are one group. If only the key were restored, the client
 * would send it to the gateway's address. So the group is undone as a whole, or kept as a whole if
 * someone has pointed the client elsewhere since. docs/transaction.md, "Undo", lists the rules.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Contents, withChanges } from '../contents.ts'
import {
  type FileVersion,
  isAddress,
  isSameContent,
  isSameVersion,
  type KeptSetting,
  type RecordedFile,
  type RunPart,
  type RunRecord,
  type Runs,
} from '../record.ts'
import { isSelected } from './active-runs.ts'
import { historyOf } from './compare.ts'
import { isRedirected, modelsOfGateway } from './connection.ts'
import { type UndoFileOptions, undoFile } from './undo-file.ts'
import type { SharedTables } from './undo-settings.ts'

export interface UndoOptions {
  /** Restores the copies byte for byte, even if someone changed the files since. */
  readonly force?: boolean | undefined
  /** Only the files of these clients. */
  readonly clients?: readonly string[] | undefined
  /**
   * Whether an undo would give a client a problem that it does not have: it could no longer read its
   * files, or it would send a login or a key to an address for which it was not given.
   */
  readonly breaksClient?:
    | ((client: string, after: Contents, before: Contents) => boolean)
    | undefined
}

export interface UndoPlan {
  /** The undone runs, newest first. */
  readonly runs: Runs
  /** The parts to record as undone. They can include runs without an effect. */
  readonly undoes: readonly RunPart[]
  /** The files of the undone runs in write order, including those that do not change. */
  readonly files: readonly RecordedFile[]
  readonly kept: readonly KeptSetting[]
  /** Clients that lose a whole table, including what others wrote into it. */
  readonly clientsLosingTables: readonly string[]
  /** All files after the plan. */
  readonly contents: Contents
}

/**
 * Makes one plan that undoes several runs. Each undo starts with the result of the previous one.
 *
 * @param runs newest first
 * @returns undefined if there are no runs
 */
export function undoRuns(
  runs: Runs,
  contents: Contents,
  options: UndoOptions,
): UndoPlan | undefined {
  if (runs.length === 0) return undefined

  let after = contents
  const plans = runs.map((run) => {
    const plan = undoRun(run, after, options)
    after = plan.contents
    return plan
  })
  const files = inSafeOrder(mergeFiles(plans.flatMap((plan) => plan.files)), runs)

  return {
    runs,
    undoes: plans.flatMap(({ undoes }) => undoes),
    files,
    kept: stillKept(plans, files, after),
    clientsLosingTables: plans.flatMap(({ clientsLosingTables }) => clientsLosingTables),
    contents: after,
  }
}

/**
 * Undoes one run, or the given clients' part of it.
 *
 * Promises:
 * - A client's address, key, provider and models are undone together, or stay together.
 * - Without `force`, no client has a problem after the undo that it did not have before.
 * - The files are written in the reverse of the run's order.
 * - The plan is recorded even if it changes nothing, so the next undo goes one run further back.
 */
export function undoRun(run: RunRecord, contents: Contents, options: UndoOptions): UndoPlan {
  const files = run.files.filter(({ client }) => isSelected(client, options.clients))
  const clients = [...new Set(files.map(({ client }) => client))]

  let after = contents
  const kept: KeptSetting[] = []
  const clientsLosingTables: string[] = []

  for (const client of clients) {
    const clientFiles = files.filter((file) => file.client === client)
    const undone = undoClient(client, clientFiles, after, options)
    after = undone.contents
    kept.push(...undone.kept)
    if (undone.losesTables) clientsLosingTables.push(client)
  }

  return {
    runs: [run],
    undoes: clients.map((client) => ({ run: run.id, client })),
    files: files.toReversed(),
    kept,
    clientsLosingTables,
    contents: after,
  }
}

interface UndoneClient {
  readonly contents: Contents
  readonly kept: readonly KeptSetting[]
  readonly keepsOurKey: boolean
  readonly losesTables?: boolean
}

/**
 * How an undo treats shared tables. If the client would have a problem after the first attempt, the next
 * one follows. If all of them fail, everything stays. See docs/transaction.md, "No new problem".
 */
const attempts: readonly SharedTables[] = ['remove-ours', 'keep-plain', 'remove-table']

/** @param files the client's files in the run */
function undoClient(
  client: string,
  files: readonly RecordedFile[],
  contents: Contents,
  { force, breaksClient }: UndoOptions,
): UndoneClient {
  if (force) return undoFiles(files, contents, { force })
  if (isRedirected(files, contents)) return undoFiles(files, contents, { keepsAll: true })

  // Unchanged files are restored without reading their copies, one of which may be missing.
  const isChanged = files.some(({ path, written }) => !isSameContent(contents.get(path), written))
  const isOurModel = isChanged ? modelsOfGateway(files, contents) : () => false

  for (const sharedTables of attempts) {
    const undone = undoFiles(files, contents, { sharedTables, isOurModel })
    // A file keeps the key of the gateway, so its address must stay too: nothing is undone.
    if (undone.keepsOurKey) break

    const isBroken = breaksClient?.(client, undone.contents, contents) === true
    if (!isBroken) return { ...undone, losesTables: sharedTables === 'remove-table' }
  }

  return undoFiles(files, contents, { keepsAll: true })
}

function undoFiles(
  files: readonly RecordedFile[],
  contents: Contents,
  options: UndoFileOptions,
): UndoneClient {
  const results = new Map<string, FileVersion | null>()
  const kept: KeptSetting[] = []
  let keepsOurKey = false

  for (const file of files) {
    const undone = undoFile(historyOf(contents, file), options)
    results.set(file.path, undone.result)
    kept.push(...undone.kept)
    keepsOurKey ||= undone.keepsOurKey === true
  }

  return { contents: withChanges(contents, results), kept, keepsOurKey }
}

/** Whether a plan changes a file or keeps a setting. The user must see both. */
export function hasVisibleEffect({ files, kept, contents }: UndoPlan, before: Contents): boolean {
  const isChanged = ({ path }: RecordedFile) => !isSameVersion(before.get(path), contents.get(path))
  return kept.length > 0 || files.some(isChanged)
}

/** Each file once, with its version before the oldest of the runs. @param files those of newer runs first */
function mergeFiles(files: readonly RecordedFile[]): readonly RecordedFile[] {
  const merged = new Map<string, RecordedFile>()

  for (const file of files) {
    const newer = merged.get(file.path)
    if (newer === undefined) merged.set(file.path, file)
    else {
      const settings = mergeSettings(file, newer)
      merged.set(file.path, { ...newer, before: file.before, settings })
    }
  }

  return [...merged.values()]
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
    settings.some(({ role }) => role === 'key') && !settings.some(isAddress)
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
): readonly KeptSetting[] {
  const { copies } = after
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
