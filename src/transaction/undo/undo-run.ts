/**
 * Undoes one run, client by client. Pure functions over values: `../rollback.ts` loads the files and
 * applies the plan.
 *
 * A client's address, key, provider and models are one group. If only the key were restored, the client
 * would send it to the gateway's address. So the group is undone as a whole, or kept as a whole if
 * someone has pointed the client elsewhere since. docs/transaction.md, "Undo", lists the rules.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FileVersion, KeptSetting, RecordedFile, RunPart, RunRecord } from '../record.ts'
import type { Copies } from './copies.ts'
import {
  type ComparedValue,
  compareSettings,
  isAddress,
  isConnection,
  isSameContent,
  type ModelCheck,
  valueIn,
} from './settings.ts'
import { type UndoFileOptions, undoFile } from './undo-file.ts'
import type { SharedTables } from './undo-settings.ts'

/** The contents of files: the current ones, or those after a plan. */
export interface Contents {
  /** @throws UserError if the file cannot be read */
  readonly get: (path: string) => FileVersion | null
  /** The changes of a plan so far. */
  readonly changes: ReadonlyMap<string, FileVersion | null>
}

export interface UndoOptions {
  readonly copies: Copies
  /** Restores the copies byte for byte, even if someone changed the files since. */
  readonly force?: boolean | undefined
  /** Only the files of these clients. Absent: all. */
  readonly clients?: readonly string[] | undefined
  /** Reports what an undo would break for a client. */
  readonly problemAfter?:
    | ((client: string, after: Contents, before: Contents) => UndoProblem | undefined)
    | undefined
}

/**
 * `unreadable`: the client could no longer read its files. `wrong-key`: it would send a login or a key
 * to an address for which it was not given.
 */
export type UndoProblem = 'unreadable' | 'wrong-key'

export interface UndoPlan {
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
 * Undoes one run, or the given clients' part of it.
 *
 * Promises:
 * - A client's address, key, provider and models are undone together, or stay together.
 * - Without `force`, no client has a problem after the undo that it did not have before.
 * - The files are written in the reverse of the run's order.
 * - The plan is recorded even if it changes nothing, so the next undo goes one run further back.
 */
export function undoRun(
  run: Pick<RunRecord, 'id' | 'files'>,
  contents: Contents,
  options: UndoOptions,
): UndoPlan {
  const files = run.files.filter(({ client }) => options.clients?.includes(client) ?? true)
  const clients = [...new Set(files.map(({ client }) => client))]

  let after = contents
  const keptSettings: KeptSetting[] = []
  const clientsLosingTables: string[] = []

  for (const client of clients) {
    const clientFiles = files.filter((file) => file.client === client)
    const undone = undoClient(client, clientFiles, after, options)
    after = undone.contents
    keptSettings.push(...undone.kept)
    if (undone.losesTables) clientsLosingTables.push(client)
  }

  return {
    undoes: clients.map((client) => ({ run: run.id, client })),
    files: files.toReversed(),
    kept: keptSettings,
    clientsLosingTables,
    contents: after,
  }
}

/** The contents after some of the files were changed. */
export function withChanges(
  contents: Contents,
  changed: ReadonlyMap<string, FileVersion | null>,
): Contents {
  const changes = new Map([...contents.changes, ...changed])
  return {
    changes,
    get: (path) => (changes.has(path) ? (changes.get(path) ?? null) : contents.get(path)),
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
  { copies, force, problemAfter }: UndoOptions,
): UndoneClient {
  const undo = (options: UndoFileOptions) => undoFiles(copies, files, contents, options)
  if (force) return undo({ force })
  if (isRedirected(copies, files, contents)) return undo({ keepsAll: true })

  // Unchanged files are restored without reading their copies, one of which may be missing.
  const isChanged = files.some(({ path, after }) => !isSameContent(contents.get(path), after))
  const isOurModel = isChanged ? modelsOfGateway(copies, files, contents) : () => false

  for (const sharedTables of attempts) {
    const undone = undo({ sharedTables, isOurModel })
    // A file keeps the key of the gateway, so its address must stay too: nothing is undone.
    if (undone.keepsOurKey) break

    const hasProblem = problemAfter?.(client, undone.contents, contents) !== undefined
    if (!hasProblem) return { ...undone, losesTables: sharedTables === 'remove-table' }
  }

  return undo({ keepsAll: true })
}

function undoFiles(
  copies: Copies,
  files: readonly RecordedFile[],
  contents: Contents,
  options: UndoFileOptions,
): UndoneClient {
  const results = new Map<string, FileVersion | null>()
  const keptSettings: KeptSetting[] = []
  let keepsOurKey = false

  for (const file of files) {
    const { client, path } = file
    const undone = undoFile({ copies, file, now: contents.get(path) }, options)
    results.set(path, undone.result)
    keptSettings.push(...undone.kept.map((setting) => ({ client, file: path, ...setting })))
    keepsOurKey ||= undone.keepsOurKey === true
  }

  return { contents: withChanges(contents, results), kept: keptSettings, keepsOurKey }
}

/**
 * Whether someone pointed a client elsewhere since the run: they changed its address, key or provider.
 * Then all of its settings stay, because half of them would send a key to the wrong address.
 *
 * An exception: a login replaced the gateway's key, and the client had no address before the run.
 *
 *     changed since the run     address before the run    the connection
 *     nothing                   any                       is undone
 *     address or provider       any                       stays
 *     the key is gone           none                      is undone: the login must not go to the gateway
 *     the key is gone           one                       stays: the login was not made for that address
 */
export function isRedirected(
  copies: Copies,
  files: readonly RecordedFile[],
  contents: Contents,
): boolean {
  const changed = files.flatMap((file) => changedConnection(copies, file, contents))
  if (changed.length === 0) return false

  const onlyKeyIsRemoved = changed.every(({ setting, now }) => setting.isSecret && !now)
  const hadAddress = files.some((file) =>
    file.settings.some(
      ({ role, path }) =>
        isAddress(role) && valueIn({ copies, file }, file.before, path) !== undefined,
    ),
  )

  return !onlyKeyIsRemoved || hadAddress
}

/**
 * The connection settings of a file that someone changed since the run. A file with scope `whole` that
 * someone wrote since is a new login, even if it has no key, as before the run.
 */
function changedConnection(
  copies: Copies,
  file: RecordedFile,
  contents: Contents,
): readonly ComparedValue[] {
  if (!file.settings.some(isConnection)) return []
  const now = contents.get(file.path)
  if (isSameContent(now, file.after) || isSameContent(now, file.before)) return []

  const connection = compareSettings({ copies, file, now }).filter(({ setting }) =>
    isConnection(setting),
  )
  if (file.scope !== 'whole')
    return connection.filter(({ isOurs, isEarlier }) => !isOurs && !isEarlier)

  // The run removed the file, so everything in it was written since.
  if (file.after === null) return connection
  return connection.filter(({ isOurs }) => !isOurs)
}

/**
 * Which models that someone chose since the run are undone with it. If the run connected the client to
 * the gateway, every model of the gateway is undone, because it does not exist at the earlier service.
 * A model of another provider stays. If there is one, models that do not name their provider stay too.
 */
function modelsOfGateway(
  copies: Copies,
  files: readonly RecordedFile[],
  contents: Contents,
): ModelCheck {
  const connectsToGateway = files.some((file) =>
    file.settings.some(({ role, path }) => {
      const before = valueIn({ copies, file }, file.before, path)
      const after = valueIn({ copies, file }, file.after, path)
      return isAddress(role) && !isDeepStrictEqual(before, after)
    }),
  )

  const usesAnotherProvider = files.some((file) =>
    file.settings.some(({ role, path, ourPrefix }) => {
      if (role !== 'model' || ourPrefix === undefined) return false
      const model = valueIn({ copies, file }, contents.get(file.path), path)
      return typeof model === 'string' && !model.startsWith(ourPrefix)
    }),
  )

  return ({ ourPrefix }, model) => {
    if (!connectsToGateway) return false
    return ourPrefix === undefined ? !usesAnotherProvider : model.startsWith(ourPrefix)
  }
}
