import * as v from 'valibot'
import { gatewayNamePattern } from './gateway-list.ts'
import type { SavedList } from './saved-list.ts'

/** A folder and the gateway of the clients that are started in it or below it. */
export type SavedFolder = v.InferOutput<typeof savedFolder>

const savedFolder = v.object({
  /** Absolute, with all links resolved when it was saved. */
  path: v.pipe(v.string(), v.minLength(1)),
  gateway: v.pipe(v.string(), v.regex(gatewayNamePattern)),
  /** The gateway's address when the folder was saved. Another gateway may get the name later. */
  address: v.pipe(v.string(), v.url()),
})

export const folderList: SavedList<SavedFolder> = {
  member: 'folders',
  newMember: 'newFolders',
  title: 'saved folders',
  entry: savedFolder,
}
