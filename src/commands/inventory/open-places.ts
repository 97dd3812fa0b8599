import { posix } from 'node:path'
import type { FileTexts, Obstacle } from '../../clients/client.ts'
import type { FileStatus } from '../../platform/platform.ts'
import type { Session } from '../screen/session.ts'

/**
 * Files that decide where the key goes, and folders on the way to them, that others may write. The
 * home folder is the last that is looked at, or the root for a file outside of it.
 */
export function openPlaces(session: Session, texts: FileTexts): readonly Obstacle[] {
  const { machine } = session.platform
  if (machine.os === 'win32') return []
  const places = new Set(
    texts
      .filter(({ use }) => use === 'target')
      .flatMap(({ path }) => [path, ...foldersAbove(path, machine.home)]),
  )
  return [...places].flatMap((path) => {
    const status = statusOf(session, path)
    return status && isOpen(status) ? [openPlace(session, path, status)] : []
  })
}

function* foldersAbove(path: string, home: string): Generator<string> {
  for (let place = path; place !== home && place !== posix.dirname(place); ) {
    place = posix.dirname(place)
    yield place
  }
}

function statusOf({ platform }: Session, path: string): FileStatus | undefined {
  try {
    return platform.files.stat(path)
  } catch {
    return undefined
  }
}

const [groupWrites, othersWrite, sticky] = [0o020, 0o002, 0o1000]

/**
 * In a folder with the sticky bit others can only add. A group with the number of its owner is, where
 * every user has a group of the same name, that user alone.
 */
function isOpen({ kind, mode, uid, gid }: FileStatus): boolean {
  if (kind === 'folder' && (mode & sticky) !== 0) return false
  return (mode & othersWrite) !== 0 || ((mode & groupWrites) !== 0 && gid !== uid)
}

function openPlace(session: Session, path: string, { kind, mode }: FileStatus): Obstacle {
  const who = (mode & othersWrite) === 0 ? 'its group' : 'anyone on this machine'
  const what = kind === 'folder' ? 'replace the files in it' : 'write it'
  const place = session.showPath(path)
  return {
    code: 'open-to-others',
    message: `${who} may ${what} (mode ${mode.toString(8)}), and so decide where the key goes`,
    place: path,
    cure: `chmod ${(mode & othersWrite) === 0 ? 'g-w' : 'go-w'} ${place}`,
    needsConsent: `${place} is open: ${who} may ${what}, and so decide where your key goes. Close it with \`chmod go-w ${place}\`.`,
    weight: 'blocks',
  }
}
