/** Steps with files that the whole transaction uses, and the errors that they report. */
import { createHash, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { Bytes } from '../edits/types.ts'
import { type FilesState, UserError } from '../errors.ts'
import type { Files, Machine } from '../platform/platform.ts'
import { shortPath } from '../text.ts'

/** The SHA-256 hash in hexadecimal. */
export function sha256Of(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Twelve random hexadecimal digits, for a file name that nobody can guess. */
export function randomName(): string {
  return randomBytes(6).toString('hex')
}

/** A path with `~` for the home folder: `~/.codex/config.toml`. */
export function displayPath({ home }: Machine, path: string): string {
  return shortPath(home, path)
}

/**
 * Creates a file that must not exist yet, and flushes its contents to the disk. The caller flushes the
 * folder. If a step fails, the file is removed again.
 *
 * @param prepare sets owner, mode and attributes while the file is still empty
 */
export function createDurably(
  files: Files,
  path: string,
  bytes: Bytes,
  options: { readonly mode: number; readonly prepare?: (handle: number) => void },
): void {
  const handle = files.createNew(path, options.mode)
  let isOpen = true

  try {
    options.prepare?.(handle)
    writeAll(files, handle, bytes)
    files.fsync(handle)
    isOpen = false
    files.close(handle)
  } catch (error) {
    if (isOpen) ignoreFileErrors(() => files.close(handle))
    ignoreFileErrors(() => files.unlink(path))
    throw error
  }
}

/** Repeats short writes, which happen on a nearly full disk. */
function writeAll(files: Files, handle: number, bytes: Bytes): void {
  let offset = 0
  while (offset < bytes.length) {
    const count = files.write(handle, bytes, offset)
    if (count <= 0) throw Object.assign(new Error('EIO: nothing was written'), { code: 'EIO' })
    offset += count
  }
}

/** Creates the folders that do not exist, and flushes the parent of each. */
export function createFolders(files: Files, folders: readonly string[]): void {
  for (const folder of folders) {
    if (pathExists(files, folder)) continue
    try {
      files.mkdir(folder, 0o700)
    } catch (error) {
      // Another run has just created it.
      if (errorCode(error) !== 'EEXIST') throw error
    }
    files.fsyncFolder(dirname(folder))
  }
}

/** `path` and its parent folders, as far as they do not exist, outermost first. */
export function missingFolders(files: Files, path: string): string[] {
  const missing: string[] = []
  for (let folder = path; !pathExists(files, folder); folder = dirname(folder))
    missing.unshift(folder)
  return missing
}

/** Removes those of the folders that are empty, innermost first. */
export function removeEmptyFolders(files: Files, folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    ignoreFileErrors(() => {
      files.rmdir(folder)
      files.fsyncFolder(dirname(folder))
    })
}

/** Whether `path` is below `folder`. */
export function isInside(path: string, folder: string): boolean {
  const start = /[/\\]$/.test(folder) ? folder : folder + (folder.includes('\\') ? '\\' : '/')
  return path.startsWith(start) && path !== start
}

/** Whether something exists at `path`. A dangling symlink counts. */
export function pathExists(files: Files, path: string): boolean {
  return ignoreMissing(() => files.lstat(path))
}

/** Runs `work` and ignores file errors, and every `UserError`. For cleanup that may fail. */
export function ignoreFileErrors(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (errorCode(error) === undefined) throw error
  }
}

/** Runs `work` and ignores that the file does not exist. @returns whether it existed */
export function ignoreMissing(work: () => unknown): boolean {
  return undefinedIfMissing(() => ({ result: work() })) !== undefined
}

/** The result of `work`, or undefined if the file does not exist. */
export function undefinedIfMissing<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    return undefined
  }
}

/** The code of Node's file error or of a `UserError`. An error without a code is a bug of ours. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** A copy of the error that reports another state of the files. */
export function withFilesState(error: unknown, filesState: FilesState): unknown {
  return error instanceof UserError ? error.with({ filesState }) : error
}

/** Turns Node's file error into a `UserError`. Returns every other error unchanged. */
export function toFileError(machine: Machine, path: string, error: unknown): unknown {
  if (error instanceof UserError) return error
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  if (code === undefined) return error

  const isRename = syscall === 'rename' || syscall === 'unlink'
  const problem = isRename ? (renameFailures[code] ?? fileFailures[code]) : fileFailures[code]
  const shownPath = displayPath(machine, path)

  if (problem !== undefined)
    return new UserError({
      code: problem.code,
      message: `${shownPath} ${problem.problem(readCalls.includes(syscall) ? 'read' : 'written')}`,
      hint: problem.hint(path),
      cause: error,
    })

  return new UserError({
    code: 'io-failed',
    message: `Cannot read or write ${shownPath} (${code})`,
    hint: 'Check the disk, then run the same command again.',
    cause: error,
  })
}

/** Runs `work`, and turns Node's file errors into errors about `path`: see `toFileError`. */
export function wrapFileErrors<Result>(machine: Machine, path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw toFileError(machine, path, error)
  }
}

/** System calls that only read, by their names in Node's errors. */
const readCalls = ['read', 'lstat', 'stat', 'scandir', 'readlink', 'realpath']

interface FileProblem {
  readonly code: 'disk-full' | 'not-permitted' | 'config-conflict'
  readonly problem: (done: 'read' | 'written') => string
  readonly hint: (path: string) => string
}

function diskFull(reason: string): FileProblem {
  return {
    code: 'disk-full',
    problem: () => `cannot be written: ${reason}`,
    hint: () => 'Make room on the disk, then run the same command again.',
  }
}

function permissionDenied(reason: string): FileProblem {
  return {
    code: 'not-permitted',
    problem: (done) => `cannot be ${done}: ${reason}`,
    hint: (path) =>
      `Check the owner and the mode: ls -ld ${path}. If another tool generates the file, change it in that tool.`,
  }
}

const notARegularFile: FileProblem = {
  code: 'config-conflict',
  problem: () => 'is not a regular file in a folder',
  hint: () => 'Move it away, then run the same command again.',
}

const fileFailures: Readonly<Record<string, FileProblem>> = {
  ENOSPC: diskFull('no space is left on the disk'),
  EDQUOT: diskFull('the disk quota is used up'),
  EFBIG: diskFull('the limit for the size of a file is reached'),
  EACCES: permissionDenied('permission denied'),
  EPERM: permissionDenied('permission denied'),
  EROFS: {
    ...permissionDenied('the file system is read-only'),
    hint: () => 'Mount the file system as writable.',
  },
  ELOOP: notARegularFile,
  ENOTDIR: notARegularFile,
  EISDIR: notARegularFile,
  EINVAL: notARegularFile,
  ENAMETOOLONG: notARegularFile,
}

const mountPoint: FileProblem = {
  code: 'config-conflict',
  problem: () => 'is a mount point, as in a container, so repoint cannot replace it',
  hint: () => 'Mount the folder instead of the file, or run repoint outside the container.',
}

/** Errors of a rename in a folder that is writable. */
const renameFailures: Readonly<Record<string, FileProblem>> = {
  EBUSY: mountPoint,
  EXDEV: mountPoint,
  EPERM: {
    code: 'not-permitted',
    problem: () => 'is locked: the file or its folder is immutable or append-only',
    hint: (path) =>
      `To see the flags: lsattr -d ${path} (macOS: ls -lO). To remove them, as root: chattr -ia ${path} (macOS: chflags nouchg).`,
  },
}
