import { dirname, relative, resolve } from 'node:path'
import { maxConfigBytes } from '../edits/text.ts'
import type { Bytes } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { FileStatus, Files, Machine } from '../platform/platform.ts'
import { displayPath, errorCode, isInside, missingFolders, undefinedIfMissing } from './files.ts'
import type { World } from './record.ts'

/** The file that a configuration path leads to. It may not exist yet. */
export interface ResolvedFile {
  /** The path after all symlinks are resolved. */
  readonly realPath: string
  readonly status: FileStatus | undefined
  /** Folders that must be created first, outermost first. */
  readonly missingFolders: readonly string[]
}

/**
 * Rejects paths that are not valid UTF-8. Node replaces the invalid bytes with U+FFFD and would write
 * to a different path (seen in 20.20).
 *
 * @throws UserError `config-conflict`
 */
export function refuseInvalidUtf8(machine: Machine, path: string): void {
  if (!path.includes('\ufffd')) return
  throw new UserError({
    code: 'config-conflict',
    message: `The path ${displayPath(machine, path)} is not valid UTF-8, so repoint cannot use it`,
    hint: "Rename that folder, or set HOME or the client's variable to another one.",
  })
}

/**
 * Follows symlinks to the file itself. A dangling symlink is followed too if its target's folder
 * exists. Writing then creates the target and keeps the link.
 *
 * @throws UserError `config-conflict` if the path is not, or cannot become, a regular file; Node's own
 *   errors
 */
export function resolveFile(files: Files, machine: Machine, path: string): ResolvedFile {
  refuseInvalidUtf8(machine, path)
  const conflictError = (problem: string, hint: string) =>
    new UserError({
      code: 'config-conflict',
      message: `${displayPath(machine, path)} ${problem}`,
      hint,
    })
  const hint = 'Move it away, then run the same command again.'

  const visited = new Set<string>()
  let current = path
  while (!visited.has(current)) {
    const status = lstatIfExists(files, current)

    if (status === undefined) {
      const missing = missingFolders(files, dirname(current))
      if (visited.size > 0 && missing.length > 0)
        throw conflictError(
          `is a symbolic link into a folder that does not exist: ${displayPath(machine, current)}`,
          'Create that folder or remove the link, then run the same command again.',
        )
      const realPath = resolveMissing(files, current, missing)
      if (realPath === undefined)
        throw conflictError('is below a symbolic link whose target does not exist', hint)
      return { realPath, status, missingFolders: missing }
    }

    if (status.kind !== 'symlink') {
      if (status.kind !== 'file')
        throw conflictError(`is ${kindNames[status.kind]}, not a file`, hint)
      if (status.links > 1)
        throw conflictError(
          `has ${status.links} names (hard links), and a new file would separate them`,
          'Make it a separate file: cp -p FILE FILE.own && mv FILE.own FILE. Or make the other names symbolic links.',
        )
      return { realPath: files.realpath(current), status, missingFolders: [] }
    }

    visited.add(current)
    current = resolve(files.realpath(dirname(current)), files.readlink(current))
  }

  throw conflictError('is a symbolic link to itself', hint)
}

const kindNames = { folder: 'a folder', other: 'a device, a pipe or a socket' }

function lstatIfExists(files: Files, path: string): FileStatus | undefined {
  return undefinedIfMissing(() => files.lstat(path))
}

/** @returns undefined if the nearest existing parent is a dangling symlink */
function resolveMissing(
  files: Files,
  path: string,
  missing: readonly string[],
): string | undefined {
  const anchor = dirname(missing[0] ?? path)
  return undefinedIfMissing(() => resolve(files.realpath(anchor), relative(anchor, path)))
}

/**
 * The bytes of the file, or null if there is none.
 *
 * @throws UserError with the code `tooLarge` if the file is larger than any configuration
 */
export function readIfExists(
  files: Files,
  machine: Machine,
  path: string,
  tooLarge: 'config-conflict' | 'config-invalid' = 'config-conflict',
): Bytes | null {
  try {
    return files.read(path, maxConfigBytes)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    if (!(error instanceof RangeError)) throw error

    throw new UserError({
      code: tooLarge,
      message: `${displayPath(machine, path)} is too large for a configuration (more than ${maxConfigBytes} bytes)`,
      hint: 'Check its content.',
      cause: error,
    })
  }
}

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

function resolveExisting(files: Files, path: string): string {
  const missing = missingFolders(files, path)
  if (missing.length > 0) return resolveMissing(files, path, missing) ?? path
  return undefinedIfMissing(() => files.realpath(path)) ?? path
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
