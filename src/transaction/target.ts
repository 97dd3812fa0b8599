import { dirname, relative, resolve } from 'node:path'
import type { Bytes } from '../edits/plan.ts'
import { maxConfigBytes } from '../edits/text.ts'
import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { FileStatus, Files, Machine } from '../platform/platform.ts'
import { codeOf, ifThere, isInside, missingFolders, shownPath } from './files.ts'
import type { World } from './record.ts'

/** Where the bytes of a configuration file lie, or would lie. */
export interface TargetFile {
  /** Behind all symlinks. */
  readonly realPath: string
  /** Undefined: there is no such file yet. */
  readonly status: FileStatus | undefined
  /** Folders that must be made first, outermost first. */
  readonly missingFolders: readonly string[]
}

/**
 * Node gives bytes of a path that are no UTF-8 as U+FFFD, and what is written there comes to another
 * place (seen in 20.20).
 *
 * @throws UserError `config-conflict`
 */
export function refuseNoUtf8(machine: Machine, path: string): void {
  if (!path.includes('\ufffd')) return
  throw new UserError({
    code: 'config-conflict',
    message: `The path ${shownPath(machine, path)} has bytes that are no UTF-8, so no file can be named there`,
    hint: 'Rename that folder; or name another one, by HOME or by the variable of the client.',
  })
}

/**
 * Follows symlinks to the file itself. A symlink that leads to nothing is followed too, as far as
 * its folder exists: writing then creates the file it names, and the link stays.
 *
 * @throws UserError `config-conflict` if there is, or could be, no regular file; Node's own errors
 */
export function findTarget(files: Files, machine: Machine, path: string): TargetFile {
  refuseNoUtf8(machine, path)
  const conflict = (problem: string, hint: string) =>
    new UserError({
      code: 'config-conflict',
      message: `${shownPath(machine, path)} ${problem}`,
      hint,
    })
  const away = 'Move it away, then run the same command again.'

  const passed = new Set<string>()
  let current = path
  while (!passed.has(current)) {
    const status = lstatIfThere(files, current)

    if (status === undefined) {
      const missing = missingFolders(files, dirname(current))
      if (passed.size > 0 && missing.length > 0)
        throw conflict(
          `is a symbolic link into a folder that does not exist: ${shownPath(machine, current)}`,
          'Make that folder or remove the link, then run the same command again.',
        )
      const realPath = realPathOf(files, current, missing)
      if (realPath === undefined)
        throw conflict('lies behind a symbolic link that leads nowhere', away)
      return { realPath, status, missingFolders: missing }
    }

    if (status.kind !== 'symlink') {
      if (status.kind !== 'file') throw conflict(`is ${kindNames[status.kind]}, not a file`, away)
      if (status.links > 1)
        throw conflict(
          `has ${status.links} names (hard links), and switching it would part them`,
          'Make the other names symbolic links to it, or give it a copy of its own: cp -p FILE FILE.own && mv FILE.own FILE',
        )
      return { realPath: files.realpath(current), status, missingFolders: [] }
    }

    passed.add(current)
    current = resolve(files.realpath(dirname(current)), files.readlink(current))
  }
  throw conflict('is a symbolic link that leads in a circle', away)
}

const kindNames = { folder: 'a folder', other: 'a device, a pipe or a socket' }

function lstatIfThere(files: Files, path: string): FileStatus | undefined {
  return ifThere(() => files.lstat(path))
}

/** Undefined: the nearest folder on the way is a symlink to nothing. */
function realPathOf(files: Files, path: string, missing: readonly string[]): string | undefined {
  const anchor = dirname(missing[0] ?? path)
  return ifThere(() => resolve(files.realpath(anchor), relative(anchor, path)))
}

/**
 * The bytes at `path`, or null where nothing is.
 *
 * @throws UserError `tooLarge` if the file is larger than any configuration
 */
export function readIfThere(
  files: Files,
  machine: Machine,
  path: string,
  tooLarge: 'config-conflict' | 'config-invalid' = 'config-conflict',
): Bytes | null {
  try {
    return files.read(path, maxConfigBytes)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    if (!(error instanceof RangeError)) throw error
    throw new UserError({
      code: tooLarge,
      message: `${shownPath(machine, path)} is larger than ${maxConfigBytes} bytes, which no configuration is`,
      hint: 'Look at what stands in it.',
      cause: error,
    })
  }
}

/**
 * As root a run reads, writes and makes only what is root's own: in root's home or, where the environment
 * names another folder, where nobody but root could lead a path elsewhere. In anybody else's place its
 * owner could, and what was recorded there would be their word.
 *
 * @param path as it is named
 * @param real the same behind all symlinks, as far as it exists
 * @throws UserError `not-permitted`; Node's own errors
 */
export function refuseAsRoot(
  world: World,
  path: string,
  real = realPathNow(world.files, path),
): void {
  const { files, machine, processes } = world
  if (!isRoot(world)) return
  const refuse = (problem: string) =>
    new UserError({
      code: 'not-permitted',
      message: `repoint runs as root, and ${shownPath(machine, path)} ${problem}`,
      hint: "Run it as the user whose file it is. As root it touches only what is root's: in root's home, or in a folder that the environment names and that is root's alone.",
    })
  if (!isInside(path, machine.home)) {
    const place = [path, real].map((one) => sharedFolderOn(world, one)).find(Boolean)
    if (place === undefined) return
    throw refuse(`is not root's alone: others may write at ${place}`)
  }

  const owner = ownerOf(files, machine.home)
  if (owner !== processes.uid) throw foreignHome(world, owner)
  const home = realPathNow(files, machine.home)
  if (!isInside(real, home)) throw refuse(`does not lie in root's home, ${home}`)
  for (let place = real; place !== home; place = dirname(place))
    if (ownerOf(files, place) !== processes.uid)
      throw refuse(`belongs to another user, or lies in a folder that does: ${place}`)
}

/**
 * The first place on the way to a path that is not root's, or that others may write; undefined: none. In
 * a folder with the sticky bit, as /tmp, nobody can move what is root's.
 */
function sharedFolderOn({ files }: World, path: string): string | undefined {
  for (let place = path; ; place = dirname(place)) {
    const status = lstatIfThere(files, place)
    const isSticky = status !== undefined && (status.mode & 0o1000) !== 0
    const isOpen = status?.kind === 'folder' && (status.mode & 0o022) !== 0 && !isSticky
    if (status !== undefined && (status.uid !== 0 || isOpen)) return place
    if (dirname(place) === place) return undefined
  }
}

function isRoot({ machine, processes }: Pick<World, 'machine' | 'processes'>): boolean {
  return processes.uid === 0 && machine.os !== 'win32'
}

function foreignHome({ machine }: World, owner: number): UserError {
  const isCallers = machine.env['SUDO_UID'] === String(owner)
  return new UserError({
    code: 'not-permitted',
    message: isCallers
      ? `repoint runs as root by sudo, and ${machine.home} is yours`
      : `repoint runs as root, and ${machine.home} belongs to another user (${owner})`,
    hint: isCallers
      ? 'These are your own files, so no rights are missing: run it without sudo.'
      : `Run it as that user: sudo -H -u '#${owner}' repoint …`,
  })
}

/** Of what stands at `path`, else of the nearest folder around it. */
function ownerOf(files: Files, path: string): number {
  const missing = missingFolders(files, path)
  return files.stat(dirname(missing[0] ?? `${path}/.`)).uid
}

function realPathNow(files: Files, path: string): string {
  const missing = missingFolders(files, path)
  if (missing.length > 0) return realPathOf(files, path, missing) ?? path
  return ifThere(() => files.realpath(path)) ?? path
}

/** What to say first where `sudo` leads to root's own home: most likely it was not meant. */
export function rootFinding(world: Pick<World, 'machine' | 'processes' | 'files'>): Finding[] {
  const { machine, files } = world
  const { SUDO_UID: caller } = machine.env
  if (!isRoot(world) || !caller || caller === '0' || ownerOf(files, machine.home) !== 0) return []
  return [
    {
      code: 'runs-as-root',
      message: `repoint runs as root by sudo: what it looks at and sets up is root's own, in ${machine.home}, and not yours`,
      hint: 'For your own clients run it without sudo.',
    },
  ]
}
