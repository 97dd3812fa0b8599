import { ifPossible, UserError } from '../../errors.ts'
import type { Files } from '../../platform/platform.ts'
import { folderList, type SavedFolder } from '../../state/folders.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { savedGateways } from '../../state/saved-gateways.ts'
import { readList } from '../../state/saved-list.ts'
import { printableLine } from '../../text.ts'
import { isInside } from '../../transaction/files.ts'
import type { Session } from '../screen/session.ts'

/**
 * The nearest remembered folder that contains the working folder.
 *
 * @throws UserError `record-damaged`
 */
export function folderHere(
  { platform }: Session,
  folders = readList(platform, folderList),
): SavedFolder | undefined {
  const { files, machine } = platform
  const here = realPath(files, machine.cwd)
  let nearest: SavedFolder | undefined
  let nearestLength = 0
  // A folder may have been replaced by a symlink since it was remembered, so both paths count.
  for (const folder of folders)
    for (const path of [folder.path, realPath(files, folder.path)]) {
      const containsHere = here === path || isInside(here, path)
      if (!containsHere || path.length <= nearestLength) continue
      nearest = folder
      nearestLength = path.length
    }
  return nearest
}

/** Returns the path unchanged if it does not exist. */
export function realPath(files: Files, path: string): string {
  return ifPossible(() => files.realpath(path)) ?? path
}

/** The folder's path on one line, even if its name contains line breaks. */
export function shownFolder(session: Session, { path }: Pick<SavedFolder, 'path'>): string {
  return printableLine(session.showPath(path))
}

/** The folder as `--json` prints it. */
export function folderDocument({ path, gateway, address }: SavedFolder) {
  return { path, gateway, baseUrl: address }
}

/**
 * The gateway that a folder names.
 *
 * @throws UserError `config-conflict` if the gateway was forgotten, or its name now belongs to another
 *   one
 */
export function gatewayOfFolder(session: Session, folder: SavedFolder): SavedGateway {
  const { gateway, address } = folder
  const path = shownFolder(session, folder)
  const saved = savedGateways(session).find(({ name }) => name === gateway)
  if (saved?.address === address) return saved

  throw new UserError({
    code: 'config-conflict',
    message:
      saved === undefined
        ? `Folder ${path} uses gateway ${gateway} (${address}), which is no longer saved`
        : `Folder ${path} uses gateway ${gateway} at ${address}, but that name is now ${saved.address}`,
    hint: 'In that folder, choose another gateway: repoint folder NAME. Or none: repoint folder --forget',
  })
}
