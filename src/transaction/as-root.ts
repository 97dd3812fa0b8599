/** Which paths may root change? Nothing here applies to another user, or to Windows. */
import { dirname } from 'node:path'
import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Files } from '../platform/platform.ts'
import { displayPath, isInside, missingFolders } from './files.ts'
import type { World } from './record.ts'
import { lstatIfExists, resolveExisting } from './resolve-file.ts'

/**
 * As root, rejects every path that another user controls. Such a user could redirect the path, and
 * could write records that root would follow. Allowed are root's own files in root's home and, if the
 * environment names another folder, paths that only root can change.
 *
 * @param path the path as it was given
 * @param realPath the same path with symlinks resolved, as far as it exists
 * @throws UserError `not-permitted`; Node's own errors
 */
export function refuseUnsafeAsRoot(
  world: World,
  path: string,
  realPath = resolveExisting(world.files, path),
): void {
  const { files, machine, processes } = world
  if (!isRoot(world)) return
  const unsafeError = (problem: string) =>
    new UserError({
      code: 'not-permitted',
      message: `repoint runs as root, and ${displayPath(machine, path)} ${problem}`,
      hint: "Run repoint as the owner of the file. As root, repoint changes only files that root alone can write, in root's home or in a folder that the environment names.",
    })

  if (!isInside(path, machine.home)) {
    const place = findUnsafeFolder(world, path) ?? findUnsafeFolder(world, realPath)
    if (place === undefined) return
    throw unsafeError(`is open to other users, who can write at ${place}`)
  }

  const owner = ownerUid(files, machine.home)
  if (owner !== processes.uid) throw foreignHomeError(world, owner)
  const home = resolveExisting(files, machine.home)
  if (!isInside(realPath, home)) throw unsafeError(`is outside root's home, ${home}`)

  for (let place = realPath; place !== home; place = dirname(place))
    if (ownerUid(files, place) !== processes.uid)
      throw unsafeError(`belongs to another user, or is in a folder of another user: ${place}`)
}

/**
 * The nearest of `path` and its parents that is not root's or that other users can write. A folder with
 * the sticky bit, such as /tmp, is safe, because nobody else can move root's files there.
 */
function findUnsafeFolder({ files }: World, path: string): string | undefined {
  for (let place = path; ; place = dirname(place)) {
    const status = lstatIfExists(files, place)
    const isSticky = status !== undefined && (status.mode & 0o1000) !== 0
    const isOpen = status?.kind === 'folder' && (status.mode & 0o022) !== 0 && !isSticky
    if (status !== undefined && (status.uid !== 0 || isOpen)) return place
    if (dirname(place) === place) return undefined
  }
}

function isRoot({ machine, processes }: Pick<World, 'machine' | 'processes'>): boolean {
  return processes.uid === 0 && machine.os !== 'win32'
}

function foreignHomeError({ machine }: World, owner: number): UserError {
  const isHomeOfCaller = machine.env['SUDO_UID'] === String(owner)
  return new UserError({
    code: 'not-permitted',
    message: isHomeOfCaller
      ? `repoint runs as root by sudo, and ${machine.home} is yours`
      : `repoint runs as root, and ${machine.home} belongs to another user (${owner})`,
    hint: isHomeOfCaller
      ? 'Run it without sudo: these are your own files.'
      : `Run it as that user: sudo -H -u '#${owner}' repoint …`,
  })
}

/** The owner of the file, or of its nearest existing parent. */
function ownerUid(files: Files, path: string): number {
  const missing = missingFolders(files, path)
  return files.stat(dirname(missing[0] ?? `${path}/.`)).uid
}

/** A warning that `sudo` selected root's own home, which the user most likely did not want. */
export function superuserFinding(world: Pick<World, 'machine' | 'processes' | 'files'>): Finding[] {
  const { machine, files } = world
  const { SUDO_UID: caller } = machine.env
  if (!isRoot(world) || !caller || caller === '0' || ownerUid(files, machine.home) !== 0) return []
  return [
    {
      code: 'runs-as-root',
      severity: 'warning',
      message: `repoint runs as root (sudo), so it reads and changes root's files in ${machine.home}, not yours`,
      hint: 'For your own clients, run it without sudo.',
    },
  ]
}
