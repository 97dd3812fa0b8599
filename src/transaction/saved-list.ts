import * as v from 'valibot'
import { UserError } from '../errors.ts'
import {
  codeOf,
  createDurably,
  fileFailure,
  isThere,
  shownPath,
  toldAt,
  unlessGone,
} from './files.ts'
import { withLock } from './lock.ts'
import type { World } from './record.ts'
import { findState, type StatePaths } from './state.ts'

/** A list of the state folder that is no run's: a file that is read whole, and replaced whole. */
export interface SavedList<Entry> {
  /** Of the file's object, and of `StatePaths`. */
  readonly member: 'gateways' | 'folders'
  /** Where it is laid before it replaces the file. */
  readonly newMember: 'newGateways' | 'newFolders'
  /** For people: `remembered gateways`. */
  readonly title: string
  /** As far as the rest of repoint goes by it: a list that somebody edited by hand may hold anything. */
  readonly entry: v.GenericSchema<unknown, Entry>
}

/** Largest list that is read, in bytes: thousands of entries. */
export const maxListBytes = 1_000_000

/** The version of the format of every list. No other version is read. */
const listVersion = 1

/** The list, where there is one. Reads only. @throws UserError `record-damaged` */
export function findList<Entry>(world: World, list: SavedList<Entry>): readonly Entry[] {
  const paths = findState(world)
  return paths === undefined ? [] : readList(world, paths, list)
}

/** Forgets all of it, also where it cannot be read. */
export function removeList<Entry>(world: World, list: SavedList<Entry>): void {
  const paths = findState(world)
  if (paths !== undefined) withLock(world, paths, () => replaceList(world, paths, list, []))
}

/**
 * Puts what `change` makes of the list in its place: all of it or nothing. Needs the lock.
 *
 * @throws UserError `record-damaged`, `disk-full`, `not-permitted`
 */
export function changeList<Entry>(
  world: World,
  paths: StatePaths,
  list: SavedList<Entry>,
  change: (all: readonly Entry[]) => readonly Entry[],
): void {
  const before = readList(world, paths, list)
  const after = change(before)
  if (after !== before) replaceList(world, paths, list, after)
}

/** @throws UserError `record-damaged` */
export function readList<Entry>(
  world: World,
  paths: StatePaths,
  { member, title, entry }: SavedList<Entry>,
): readonly Entry[] {
  const path = paths[member]
  const schema = v.looseObject({ version: v.literal(listVersion), [member]: v.array(entry) })
  try {
    const bytes = world.files.read(path, maxListBytes)
    const list: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (v.is(schema, list)) return (list as Record<string, unknown>)[member] as readonly Entry[]
  } catch (error) {
    // A link to a file that is gone is no empty list.
    if (codeOf(error) === 'ENOENT' && !isThere(world.files, path)) return []
    const isDamage = error instanceof SyntaxError || error instanceof TypeError
    if (!isDamage && !(error instanceof RangeError)) throw fileFailure(world.machine, path, error)
  }

  throw new UserError({
    code: 'record-damaged',
    message: `The list of ${title} cannot be read: ${shownPath(world.machine, path)}`,
    hint: 'It is damaged, or another version of repoint wrote it. Move the file away to start a new list, or remove everything that repoint keeps: repoint forget --all',
  })
}

/** Puts the list in the place of the one there; one without entries has no file. Needs the lock. */
function replaceList<Entry>(
  world: World,
  paths: StatePaths,
  list: SavedList<Entry>,
  all: readonly Entry[],
): void {
  const { files, machine } = world
  const [path, newPath] = [paths[list.member], paths[list.newMember]]
  toldAt(machine, path, () => {
    if (all.length === 0) {
      unlessGone(() => files.unlink(newPath))
      unlessGone(() => files.unlink(path))
    } else {
      writeNewList(world, paths, list, all)
      files.rename(newPath, path)
    }
    files.fsyncFolder(paths.folder)
  })
}

/**
 * Lays the list beside the one there, with `run` where it counts once that is recorded. Needs the lock.
 * What a crash has left of an earlier try may hold keys, and goes first.
 */
export function writeNewList<Entry>(
  { files }: World,
  paths: StatePaths,
  { member, newMember }: SavedList<Entry>,
  all: readonly Entry[],
  run?: string,
): void {
  const text = JSON.stringify({ version: listVersion, run, [member]: all }, undefined, 1)
  unlessGone(() => files.unlink(paths[newMember]))
  createDurably(files, paths[newMember], new TextEncoder().encode(`${text}\n`), { mode: 0o600 })
}
