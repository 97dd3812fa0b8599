/** Saved contents of files, named by their SHA-256 hash: `blobs/<sha256>`, compressed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Bytes } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { createDurably, displayPath, errorCode, randomName, sha256Of } from '../files.ts'
import type { FileVersion, World } from '../record.ts'
import { type StatePaths, statePaths } from './state-folder.ts'

/** The largest copy that repoint reads, in bytes: larger than any configuration file that it edits. */
const maxBlobBytes = 16_000_000

/**
 * Reads the saved copy with this hash.
 *
 * @throws UserError `backup-missing` if the copy is gone or its hash is wrong
 */
export function readBlob(world: World, sha256: string): Bytes {
  const paths = statePaths(world.machine)
  const bytes = findBlob(world, paths, sha256)
  if (bytes) return bytes
  throw new UserError({
    code: 'backup-missing',
    message: `A saved copy (${sha256.slice(0, 12)}…) of a file is missing or damaged in ${displayPath(world.machine, paths.blobs)}`,
    hint: 'See the other runs: repoint rollback --list',
  })
}

/** The contents of a recorded version, or null if there was no file. @throws as `readBlob` does */
export function contentsOf(world: World, version: FileVersion | null): Bytes | null {
  return version && readBlob(world, version.sha256)
}

/** Like `contentsOf`, but returns null if the copy is gone or damaged. */
export function contentsIfAvailable(world: World, version: FileVersion | null): Bytes | null {
  const bytes = valueOrError(() => contentsOf(world, version))
  return bytes instanceof UserError ? null : bytes
}

function findBlob({ files }: World, paths: StatePaths, sha256: string): Bytes | undefined {
  try {
    const stored = files.read(paths.blob(sha256), maxBlobBytes)
    const bytes =
      sha256Of(stored) === sha256
        ? stored
        : inflateRawSync(stored, { maxOutputLength: maxBlobBytes })
    return sha256Of(bytes) === sha256 ? bytes : undefined
  } catch (error) {
    if (error instanceof RangeError || errorCode(error)) return undefined
    throw error
  }
}

/** Stores contents under their hashes, durably. A sound copy that is already there is kept. */
export function writeBlobs(world: World, paths: StatePaths, contents: Iterable<Bytes>): void {
  const { files } = world

  for (const bytes of contents) {
    const sha256 = sha256Of(bytes)
    if (findBlob(world, paths, sha256)) continue

    const packed = deflateRawSync(bytes)
    const temp = paths.file(`blobs/new-${randomName()}`)
    createDurably(files, temp, packed.length < bytes.length ? packed : bytes, { mode: 0o600 })
    files.rename(temp, paths.blob(sha256))
  }

  files.fsyncFolder(paths.blobs)
}
