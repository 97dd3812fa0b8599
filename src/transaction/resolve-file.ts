/** Finds and reads the file behind a path of a client: the target of its symlinks. */
import { dirname, relative, resolve } from 'node:path'
import { maxConfigBytes } from '../edits/text.ts'
import type { Bytes } from '../edits/types.ts'
import { UserError } from '../errors.ts'
import type { FileStatus, Files, Machine } from '../platform/platform.ts'
import { displayPath, errorCode, missingFolders, undefinedIfMissing } from './files.ts'

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

/** The status of what is at `path`, or undefined if there is nothing. */
export function lstatIfExists(files: Files, path: string): FileStatus | undefined {
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

export function resolveExisting(files: Files, path: string): string {
  const missing = missingFolders(files, path)
  if (missing.length > 0) return resolveMissing(files, path, missing) ?? path
  return undefinedIfMissing(() => files.realpath(path)) ?? path
}
