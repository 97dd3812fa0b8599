import * as v from 'valibot'
import { gatewayNames } from './gateways.ts'
import { withLock } from './lock.ts'
import type { World } from './record.ts'
import { readList, replaceList, type SavedList } from './saved-list.ts'
import { findState, openState } from './state.ts'

/** A folder, and the gateway of what is started in it or below it. */
export interface SavedFolder {
  /** Absolute, without links when it was remembered. */
  readonly path: string
  readonly gateway: string
  /** Of that gateway then: another one that gets its name later is not meant. */
  readonly baseUrl: string
}

const folders: SavedList<SavedFolder> = {
  member: 'folders',
  newMember: 'newFolders',
  title: 'remembered folders',
  entry: v.looseObject({
    path: v.pipe(v.string(), v.minLength(1)),
    gateway: v.pipe(v.string(), v.regex(gatewayNames)),
    baseUrl: v.pipe(v.string(), v.url()),
  }),
}

/**
 * The remembered folders. Reads only.
 *
 * @throws UserError `record-damaged`
 */
export function readFolders(world: World): readonly SavedFolder[] {
  const paths = findState(world)
  return paths === undefined ? [] : readList(world, paths, folders)
}

/**
 * Puts what `change` makes of the list in the place of the list: all of it or nothing.
 *
 * @throws UserError `locked`, `record-damaged`, `disk-full`, `not-permitted`
 */
export function changeFolders(
  world: World,
  change: (all: readonly SavedFolder[]) => readonly SavedFolder[],
): void {
  const paths = openState(world)
  withLock(world, paths, () => {
    const before = readList(world, paths, folders)
    const after = change(before)
    if (after !== before) replaceList(world, paths, folders, after)
  })
}

/** Forgets all of them, also where the list cannot be read. */
export function removeFolders(world: World): void {
  const paths = findState(world)
  if (paths !== undefined) withLock(world, paths, () => replaceList(world, paths, folders, []))
}
