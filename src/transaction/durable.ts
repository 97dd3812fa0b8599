import { createHash, randomBytes } from 'node:crypto'
import type { Bytes } from '../edits/plan.ts'
import type { Files } from '../platform/platform.ts'

/** Hexadecimal. */
export function sha256Of(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Part of a name that nobody can guess or have taken: hexadecimal, 12 long. */
export function randomName(): string {
  return randomBytes(6).toString('hex')
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
  mode: number,
  prepare: (handle: number) => void = () => {},
): void {
  const handle = files.createNew(path, mode)
  let isOpen = true
  try {
    prepare(handle)
    writeAll(files, handle, bytes)
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
function writeAll(files: Files, handle: number, bytes: Bytes): void {
  let offset = 0
  while (offset < bytes.length) {
    const count = files.write(handle, bytes, offset)
    if (count <= 0) throw Object.assign(new Error('EIO: nothing was written'), { code: 'EIO' })
    offset += count
  }
}

/** For tidying up where the outcome changes nothing. */
export function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** Does `work`; that something is already gone is as good. */
export function unlessGone(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
}
