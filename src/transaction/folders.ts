import * as v from 'valibot'
import { gatewayNames } from './gateways.ts'
import { withLock } from './lock.ts'
import type { World } from './record.ts'
import { changeList, findList, removeList, type SavedList } from './saved-list.ts'
import { openState } from './state.ts'

/** A folder, and the gateway of what is started in it or below it. */
export type SavedFolder = v.InferOutput<typeof savedFolder>

const savedFolder = v.object({
  /** Absolute, without links when it was remembered. */
  path: v.pipe(v.string(), v.minLength(1)),
  gateway: v.pipe(v.string(), v.regex(gatewayNames)),
  /** Of that gateway then: another one that gets its name later is not meant. */
  baseUrl: v.pipe(v.string(), v.url()),
})

const list: SavedList<SavedFolder> = {
  member: 'folders',
  newMember: 'newFolders',
  title: 'remembered folders',
  entry: savedFolder,
}

/** The remembered folders. @throws as `findList` does */
export function readFolders(world: World): readonly SavedFolder[] {
  return findList(world, list)
}

/** @throws UserError `locked`, and as `changeList` does */
export function changeFolders(
  world: World,
  change: (all: readonly SavedFolder[]) => readonly SavedFolder[],
): void {
  const paths = openState(world)
  withLock(world, paths, () => changeList(world, paths, list, change))
}

/** Forgets all of them, also where the list cannot be read. */
export function removeFolders(world: World): void {
  removeList(world, list)
}
