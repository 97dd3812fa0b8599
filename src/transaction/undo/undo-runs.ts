/**
 * Undoes several runs in one plan, newest first, and each run client by client. Pure functions over values:
 * each undo starts with the files that the previous one left in memory.
 */
import { isDeepStrictEqual } from 'node:util'
import { isWholeFile } from '../../edits/types.ts'
import { pathKey } from '../../edits/values/paths.ts'
import type { AllFiles } from '../contents.ts'
import {
  inWriteOrder,
  isSameContent,
  isSameVersion,
  type KeptSetting,
  type RecordedFile,
  type RunPart,
  type RunRecord,
  type Runs,
  writeOrderOf,
} from '../record.ts'
import { isSelected } from './active-runs.ts'
import { type UndoOptions, undoClient } from './undo-client.ts'

/** What an undo would do. */
export interface UndoPlan {
  /** The undone runs, newest first. */
  readonly runs: Runs
  /** The undone parts, to be recorded. They include runs that changed nothing which is still there. */
  readonly undoes: readonly RunPart[]
  /** The files of the undone runs in write order, including those that do not change. */
  readonly files: readonly RecordedFile[]
  readonly kept: readonly KeptSetting[]
  /** Clients that lose whole tables, with what others wrote there: their way was `remove-table`. */
  readonly clientsLosingTables: readonly string[]
  /** All files after the undo. */
  readonly result: AllFiles
}

/**
 * Plans an undo of these runs.
 *
 * Promises:
 * - A client's address, key, provider and models are undone together, or stay together.
 * - Without `force`, no client has a problem after the undo that it did not have before.
 * - No client that starts between two writes sends its login to a gateway: see `inUndoOrder`.
 * - The plan is recorded even if it changes nothing, so the next undo goes one run further back.
 *
 * @param runs newest first
 * @param now the files on the disk
 */
export function undoRuns(runs: Runs, now: AllFiles, options: UndoOptions): UndoPlan {
  let result = now
  const steps = runs.map((run) => {
    const step = undoRun(run, result, options)
    result = step.result
    return step
  })
  const files = mergeFiles(steps.map((step) => step.files))

  return {
    runs,
    undoes: steps.flatMap(({ undoes }) => undoes),
    files: inUndoOrder(files, runs),
    kept: stillKept(steps, files, result),
    clientsLosingTables: steps.flatMap(({ clientsLosingTables }) => clientsLosingTables),
    result,
  }
}

/**
 * Undoes one run, or the part of it that belongs to the given clients.
 *
 * @param now all files: on the disk, or after the undo of newer runs
 */
export function undoRun(
  run: RunRecord,
  now: AllFiles,
  options: UndoOptions,
): Omit<UndoPlan, 'runs'> {
  const files = run.files.filter(({ client }) => isSelected(client, options.clients))
  const clients = clientsOf(files)

  let result = now
  const kept: KeptSetting[] = []
  const clientsLosingTables: string[] = []

  for (const client of clients) {
    const clientFiles = files.filter((file) => file.client === client)
    const undone = undoClient(client, clientFiles, result, options)
    result = undone.result
    kept.push(...undone.kept)
    if (undone.way === 'remove-table') clientsLosingTables.push(client)
  }

  const undoes = clients.map((client) => ({ run: run.id, client }))
  return { undoes, files, kept, clientsLosingTables, result }
}

/** Whether a plan changes a file or keeps a setting. The user must see both. */
export function hasVisibleEffect({ files, kept, result }: UndoPlan, now: AllFiles): boolean {
  const isChanged = ({ path }: RecordedFile) => !isSameVersion(now.get(path), result.get(path))
  return kept.length > 0 || files.some(isChanged)
}

/** Each file once, with its version before the oldest of the runs. @param filesOfRuns newest run first */
export function mergeFiles(
  filesOfRuns: readonly (readonly RecordedFile[])[],
): readonly RecordedFile[] {
  const merged = new Map<string, RecordedFile>()

  for (const file of filesOfRuns.flat()) {
    const newer = merged.get(file.path)
    if (newer === undefined) merged.set(file.path, file)
    else
      merged.set(file.path, {
        ...newer,
        before: file.before,
        holdsSecret: newer.holdsSecret || file.holdsSecret,
        settings: mergeSettings(file, newer),
      })
  }

  return [...merged.values()]
}

/** The settings of two runs. Those of the newer one win. */
function mergeSettings(older: RecordedFile, newer: RecordedFile): RecordedFile['settings'] {
  const newerPaths = new Set(newer.settings.map(({ path }) => pathKey(path)))
  const onlyInOlder = older.settings.filter(({ path }) => !newerPaths.has(pathKey(path)))
  return [...onlyInOlder, ...newer.settings]
}

/**
 * Sorts the files of each client for an undo. No login may reach a gateway, not even between two renames. So
 * a setup writes the key before the address, and an undo of it the address before the key. In general, an undo
 * takes the opposite order of the newest run that wrote a client's key and address into two files:
 *
 *     newest run     it wrote first    its undo writes first
 *     setup          the key           the address
 *     off            the address       the key
 *     undo of one    the opposite      the same as that run: it is a redo
 *
 * @param runs newest first
 */
function inUndoOrder(files: readonly RecordedFile[], runs: Runs): readonly RecordedFile[] {
  const reversed = files.toReversed()
  return clientsOf(reversed).flatMap((client) => {
    const isOfClient = (file: RecordedFile) => file.client === client
    const orders = runs.map((run) => writeOrderOf(run.files.filter(isOfClient)))
    const newestOrder = orders.find((order) => order !== 'any')

    const undoOrder = newestOrder === 'address-first' ? 'key-first' : 'address-first'
    return inWriteOrder(reversed.filter(isOfClient), undoOrder)
  })
}

function clientsOf(files: readonly RecordedFile[]): readonly string[] {
  return [...new Set(files.map(({ client }) => client))]
}

/** The settings that are still kept at the end. An undo of an older run may restore a kept setting. */
function stillKept(
  steps: readonly Pick<UndoPlan, 'kept'>[],
  files: readonly RecordedFile[],
  result: AllFiles,
): readonly KeptSetting[] {
  const { copies } = result
  const byPath = new Map<string, KeptSetting>()
  for (const setting of steps.flatMap(({ kept }) => kept))
    byPath.set(pathKey([setting.file, ...setting.path]), setting)

  return [...byPath.values()].filter((setting) => {
    const file = files.find(({ path }) => path === setting.file)
    const version = result.get(setting.file)
    if (file === undefined || isSameContent(file.before, version)) return false
    if (isWholeFile(setting.path) || file.scope === 'whole') return true

    const earlier = copies.documentOf(file, file.before)?.get(setting.path)
    const left = copies.documentOf(file, version)?.get(setting.path)
    return !isDeepStrictEqual(earlier, left)
  })
}
