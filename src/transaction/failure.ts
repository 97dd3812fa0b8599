import { type FilesState, UserError } from '../errors.ts'
import type { Machine } from '../platform/platform.ts'
import { shortPath } from '../text.ts'

/** A path as a person writes it: `~/.codex/config.toml`. */
export function placeOf({ home }: Machine, path: string): string {
  return shortPath(home, path)
}

/** Node's error as one that a person can act on. A `UserError` passes as it is. */
export function fileFailure(
  machine: Machine,
  path: string,
  error: unknown,
  files: FilesState = 'unchanged',
): unknown {
  if (error instanceof UserError) return error
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  if (error instanceof RangeError || !(error instanceof Error) || code === undefined) return error
  const place = placeOf(machine, path)
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new UserError({
        code: 'disk-full',
        message: `${place} cannot be written: ${fullReason[code]}`,
        hint: 'Make room there, then run the same command again.',
        files,
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS': {
      const isRead = lookingCalls.includes(syscall)
      const reason = code === 'EROFS' ? 'the file system is read-only' : 'permission denied'
      return new UserError({
        code: 'not-permitted',
        message: `${place} cannot be ${isRead ? 'read' : 'written'}: ${reason}`,
        hint: `Check the owner and the mode of the file and its folder with: ls -ld.${isRead ? '' : ' A file that another tool generates must be changed there.'}`,
        files,
        cause: error,
      })
    }
    case 'ELOOP':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EINVAL':
    case 'ENAMETOOLONG':
      return new UserError({
        code: 'config-conflict',
        message: `${place} is not a regular file in a folder (${code})`,
        hint: 'Move away what stands in its place, then run the same command again.',
        files,
        cause: error,
      })
    default:
      return new UserError({
        code: 'io-failed',
        message: `${place} cannot be read or written (${code})`,
        hint: 'Check the disk, then run the same command again.',
        files,
        cause: error,
      })
  }
}

/** As Node names them in an error. */
const lookingCalls = ['read', 'lstat', 'stat', 'scandir', 'readlink', 'realpath']

const fullReason = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the limit for the size of a file is reached',
}
