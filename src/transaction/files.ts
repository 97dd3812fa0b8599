import { createHash, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { Bytes } from '../edits/plan.ts'
import { type FilesState, UserError } from '../errors.ts'
import type { Files, Machine } from '../platform/platform.ts'
import { shortPath } from '../text.ts'

/** Hexadecimal. */
export function sha256Of(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Part of a name that nobody can guess or have taken: hexadecimal, 12 long. */
export function randomName(): string {
  return randomBytes(6).toString('hex')
}

/** A path as a person writes it: `~/.codex/config.toml`. */
export function shownPath({ home }: Machine, path: string): string {
  return shortPath(home, path)
}

/**
 * Creates a file that must not exist yet and makes its contents durable; its name becomes durable
 * with its folder. Nothing is left of it if that fails.
 *
 * @param prepare runs while the file is still empty: owner, mode, attributes
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
    writeWhole(files, handle, bytes)
    files.fsync(handle)
    isOpen = false
    files.close(handle)
  } catch (error) {
    if (isOpen) attempt(() => files.close(handle))
    attempt(() => files.unlink(path))
    throw error
  }
}

/** A write may take less than it was given: on a nearly full disk it does. */
function writeWhole(files: Files, handle: number, bytes: Bytes): void {
  let offset = 0
  while (offset < bytes.length) {
    const count = files.write(handle, bytes, offset)
    if (count <= 0) throw Object.assign(new Error('EIO: nothing was written'), { code: 'EIO' })
    offset += count
  }
}

/** Makes the folders that are not there, each durably in its parent. */
export function makeFolders(files: Files, folders: readonly string[]): void {
  for (const folder of folders) {
    if (isThere(files, folder)) continue
    try {
      files.mkdir(folder, 0o700)
    } catch (error) {
      // Another run has just made it.
      if (codeOf(error) !== 'EEXIST') throw error
    }
    files.fsyncFolder(dirname(folder))
  }
}

/** The folders on the way to `path`, and itself, that are not there; outermost first. */
export function missingFolders(files: Files, path: string): string[] {
  const missing: string[] = []
  for (let folder = path; !isThere(files, folder); folder = dirname(folder)) missing.unshift(folder)
  return missing
}

/** Removes folders, innermost first, as far as nothing is in them. */
export function removeEmptyFolders(files: Files, folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    attempt(() => {
      files.rmdir(folder)
      files.fsyncFolder(dirname(folder))
    })
}

/** Whether `path` lies below `folder`. */
export function isInside(path: string, folder: string): boolean {
  const start = /[/\\]$/.test(folder) ? folder : folder + (folder.includes('\\') ? '\\' : '/')
  return path.startsWith(start) && path !== start
}

/** Whether anything, be it a dangling symlink, stands at `path`. */
export function isThere(files: Files, path: string): boolean {
  return unlessGone(() => files.lstat(path))
}

/** For tidying up where the outcome changes nothing. */
export function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (codeOf(error) === undefined) throw error
  }
}

/** Does `work`; that something is already gone is as good. */
export function unlessGone(work: () => unknown): boolean {
  return ifThere(() => ({ result: work() })) !== undefined
}

/** What `work` gives; undefined: nothing stands there. */
export function ifThere<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  }
}

/** Node's code of an error, or ours; undefined: it is our own bug. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** The same error, about files in another state. */
export function withFilesState(error: unknown, files: FilesState): unknown {
  if (!(error instanceof UserError)) return error
  const { code, message, hint, cause } = error
  return new UserError({ code, message, hint, cause, files })
}

/** Node's error as one that a person can act on. A `UserError` passes as it is. */
export function fileFailure(machine: Machine, path: string, error: unknown): unknown {
  if (error instanceof UserError) return error
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  if (code === undefined) return error

  const isMove = syscall === 'rename' || syscall === 'unlink'
  const what = isMove ? (moveFailures[code] ?? fileFailures[code]) : fileFailures[code]
  const place = shownPath(machine, path)
  if (what !== undefined)
    return new UserError({
      code: what.code,
      message: `${place} ${what.problem(lookingCalls.includes(syscall) ? 'read' : 'written')}`,
      hint: what.hint(path),
      cause: error,
    })

  return new UserError({
    code: 'io-failed',
    message: `${place} cannot be read or written (${code})`,
    hint: 'Check the disk, then run the same command again.',
    cause: error,
  })
}

/** What `work` gives. Node's own errors come as those of `path`: see `fileFailure`. */
export function wrapFileErrors<Result>(machine: Machine, path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw fileFailure(machine, path, error)
  }
}

/** As Node names them in an error. */
const lookingCalls = ['read', 'lstat', 'stat', 'scandir', 'readlink', 'realpath']

interface Failure {
  readonly code: 'disk-full' | 'not-permitted' | 'config-conflict'
  readonly problem: (done: 'read' | 'written') => string
  readonly hint: (path: string) => string
}

function full(reason: string): Failure {
  return {
    code: 'disk-full',
    problem: () => `cannot be written: ${reason}`,
    hint: () => 'Make room there, then run the same command again.',
  }
}

function denied(reason: string): Failure {
  return {
    code: 'not-permitted',
    problem: (done) => `cannot be ${done}: ${reason}`,
    hint: (path) =>
      `Check the owner and the mode of the file and its folder with: ls -ld ${path}. A file that another tool generates must be changed there.`,
  }
}

const noFile: Failure = {
  code: 'config-conflict',
  problem: () => 'is not a regular file in a folder',
  hint: () => 'Move away what stands in its place, then run the same command again.',
}

const fileFailures: Readonly<Record<string, Failure>> = {
  ENOSPC: full('no space is left on the disk'),
  EDQUOT: full('the disk quota is used up'),
  EFBIG: full('the limit for the size of a file is reached'),
  EACCES: denied('permission denied'),
  EPERM: denied('permission denied'),
  EROFS: {
    ...denied('the file system is read-only'),
    hint: () => 'Run it where that can be written, or mount it so.',
  },
  ELOOP: noFile,
  ENOTDIR: noFile,
  EISDIR: noFile,
  EINVAL: noFile,
  ENAMETOOLONG: noFile,
}

const mountPoint: Failure = {
  code: 'config-conflict',
  problem: () =>
    'is mounted by itself, as containers do it, so no other file can be put in its place',
  hint: () => 'Mount its folder in place of the file, or run repoint where the file comes from.',
}

/** What stands in the way of a rename although the folder may be written. */
const moveFailures: Readonly<Record<string, Failure>> = {
  EBUSY: mountPoint,
  EXDEV: mountPoint,
  EPERM: {
    code: 'not-permitted',
    problem: () =>
      'cannot be replaced, whatever its mode: it, or its folder, is marked as immutable or append-only',
    hint: (path) =>
      `See its marks with: lsattr -d ${path} (macOS: ls -lO). To take them away, as root: chattr -ia ${path} (macOS: chflags nouchg).`,
  },
}
