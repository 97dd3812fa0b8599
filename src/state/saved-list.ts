import * as v from 'valibot'
import { UserError } from '../errors.ts'
import {
  createDurably,
  displayPath,
  errorCode,
  ignoreMissing,
  pathExists,
  toFileError,
  wrapFileErrors,
} from '../transaction/files.ts'
import { type Lock, underLock, withLock } from '../transaction/lock.ts'
import type { World } from '../transaction/record.ts'
import { findState, type StatePaths } from '../transaction/records/state-folder.ts'

/** A list in the state folder: one file, which is read and replaced as a whole. */
export interface SavedList<Entry> {
  /** The member of the file's object, and of `StatePaths`. */
  readonly member: 'gateways' | 'folders'
  /** The path of the new file before it replaces the old one. */
  readonly newMember: 'newGateways' | 'newFolders'
  /** For people: `saved gateways`. */
  readonly title: string
  /** A user may have edited the file, so an entry can be anything. */
  readonly entry: v.GenericSchema<unknown, Entry>
}

export type ListChange<Entry> = (all: readonly Entry[]) => readonly Entry[]

/** The largest list that is read, in bytes: thousands of entries. */
const maxListBytes = 1_000_000

/** The version of the format of every list. Lists of other versions count as damaged. */
const listVersion = 2

/** Reads the list; [] if there is none. @throws UserError `record-damaged`, `not-permitted`, `io-failed` */
export function readList<Entry>(world: World, list: SavedList<Entry>): readonly Entry[] {
  const paths = findState(world)
  return paths === undefined ? [] : readListAt(world, paths, list)
}

/**
 * Changes the list atomically.
 *
 * @throws UserError `locked`, `record-damaged`, `disk-full`, `not-permitted`, `io-failed`
 */
export function changeList<Entry>(
  world: World,
  list: SavedList<Entry>,
  change: ListChange<Entry>,
  lock: Lock = { kind: 'free' },
): void {
  underLock(world, lock, (paths) => {
    const before = readListAt(world, paths, list)
    const after = change(before)
    if (after !== before) replaceList(world, paths, list, after)
  })
}

/** Removes the list, even if it cannot be read. */
export function removeList<Entry>(world: World, list: SavedList<Entry>): void {
  const paths = findState(world)
  if (paths !== undefined) withLock(world, paths, () => replaceList(world, paths, list, []))
}

function readListAt<Entry>(
  world: World,
  paths: StatePaths,
  { member, title, entry }: SavedList<Entry>,
): readonly Entry[] {
  const path = paths[member]
  const schema = v.object({ version: v.literal(listVersion), [member]: v.array(entry) })

  try {
    const bytes = world.files.read(path, maxListBytes)
    const list: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const parsed = v.safeParse(schema, list)
    if (parsed.success) return parsed.output[member] as readonly Entry[]
  } catch (error) {
    // A link to a missing file is not an empty list.
    if (errorCode(error) === 'ENOENT' && !pathExists(world.files, path)) return []
    const isDamage = error instanceof SyntaxError || error instanceof TypeError
    if (!isDamage && !(error instanceof RangeError)) throw toFileError(world.machine, path, error)
  }

  throw new UserError({
    code: 'record-damaged',
    message: `Cannot read the list of ${title}: ${displayPath(world.machine, path)}`,
    hint: 'Move the file away to start a new list. Or delete everything that repoint saved: repoint forget --all',
  })
}

/** Replaces the list. An empty list has no file. The caller holds the lock. */
function replaceList<Entry>(
  world: World,
  paths: StatePaths,
  { member, newMember }: SavedList<Entry>,
  all: readonly Entry[],
): void {
  const { files, machine } = world
  const path = paths[member]
  const newPath = paths[newMember]

  wrapFileErrors(machine, path, () => {
    // An earlier run may have been killed before its rename. Its file can hold keys.
    ignoreMissing(() => files.unlink(newPath))

    if (all.length === 0) ignoreMissing(() => files.unlink(path))
    else {
      const text = JSON.stringify({ version: listVersion, [member]: all }, undefined, 1)
      createDurably(files, newPath, new TextEncoder().encode(`${text}\n`), { mode: 0o600 })
      files.rename(newPath, path)
    }
    files.fsyncFolder(paths.folder)
  })
}
