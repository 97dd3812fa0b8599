import { dirname, relative, resolve } from 'node:path'
import type { Bytes } from '../edits/plan.ts'
import { maxConfigBytes } from '../edits/text.ts'
import { UserError } from '../errors.ts'
import type { FileStatus, Files, Machine } from '../platform/platform.ts'
import { placeOf } from './failure.ts'
import { isThere } from './state.ts'

/** Where the bytes of a configuration file lie, or would lie. */
export interface Target {
  /** Behind all symlinks. */
  readonly realPath: string
  /** Undefined: there is no such file yet. */
  readonly status: FileStatus | undefined
  /** Folders that must be made first, outermost first. */
  readonly missingFolders: readonly string[]
}

/** Longest chain of symlinks that is followed; Linux itself stops at 40. */
const maxLinks = 40

/**
 * Follows symlinks to the file itself. A symlink that leads to nothing is followed too, as far as
 * its folder exists: writing then creates the file it names, and the link stays.
 *
 * @throws UserError `config-conflict` if there is, or could be, no regular file; Node's own errors
 */
export function findTarget(files: Files, machine: Machine, path: string): Target {
  const conflict = (problem: string, hint: string) =>
    new UserError({
      code: 'config-conflict',
      message: `${placeOf(machine, path)} ${problem}`,
      hint,
    })
  const away = 'Move it away, then run the same command again.'
  let current = path
  for (let links = 0; links <= maxLinks; links++) {
    const status = lstatIfThere(files, current)
    if (status === undefined) {
      const missing = missingFolders(files, dirname(current))
      if (links > 0 && missing.length > 0)
        throw conflict(
          `is a symbolic link into a folder that does not exist: ${placeOf(machine, current)}`,
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
    current = resolve(files.realpath(dirname(current)), files.readlink(current))
  }
  throw conflict('is a symbolic link that leads in a circle', away)
}

const kindNames = { folder: 'a folder', other: 'a device, a pipe or a socket' }

function lstatIfThere(files: Files, path: string): FileStatus | undefined {
  try {
    return files.lstat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function missingFolders(files: Files, folder: string): string[] {
  const missing: string[] = []
  for (let path = folder; !isThere(files, path); path = dirname(path)) missing.unshift(path)
  return missing
}

/** Undefined: the nearest folder on the way is a symlink to nothing. */
function realPathOf(files: Files, path: string, missing: readonly string[]): string | undefined {
  const anchor = dirname(missing[0] ?? path)
  try {
    return resolve(files.realpath(anchor), relative(anchor, path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The bytes at `path`, or null where nothing is.
 *
 * @throws UserError `config-conflict` if the file is larger than any configuration
 */
export function readIfThere(files: Files, machine: Machine, path: string): Bytes | null {
  try {
    return files.read(path, maxConfigBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (!(error instanceof RangeError)) throw error
    throw new UserError({
      code: 'config-conflict',
      message: `${placeOf(machine, path)} is larger than ${maxConfigBytes} bytes, which no configuration is`,
      hint: 'Look at what stands in it.',
      cause: error,
    })
  }
}
