import * as v from 'valibot'
import type { World } from '../transaction/record.ts'
import { gatewayNamePattern } from './gateway-list.ts'
import { changeList, type ListChange, readList, removeList, type SavedList } from './saved-list.ts'

/** A folder and the gateway of the clients that are started in it or below it. */
export type SavedFolder = v.InferOutput<typeof savedFolder>

const savedFolder = v.object({
  /** Absolute, with all links resolved when it was saved. */
  path: v.pipe(v.string(), v.minLength(1)),
  gateway: v.pipe(v.string(), v.regex(gatewayNamePattern)),
  /** The gateway's address when the folder was saved. Another gateway may get the name later. */
  address: v.pipe(v.string(), v.url()),
})

const list: SavedList<SavedFolder> = {
  member: 'folders',
  newMember: 'newFolders',
  title: 'saved folders',
  entry: savedFolder,
}

/** @throws as `readList` does */
export function readFolders(world: World): readonly SavedFolder[] {
  return readList(world, list)
}

/** @throws as `changeList` does */
export function changeFolders(world: World, change: ListChange<SavedFolder>): void {
  changeList(world, list, change)
}

/** Removes all of them, even if the list cannot be read. */
export function removeFolders(world: World): void {
  removeList(world, list)
}
