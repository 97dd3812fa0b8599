import type { Bytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { createDurably, randomName, sha256Of } from './durable.ts'
import { placeOf } from './failure.ts'
import { findState, type StatePaths } from './state.ts'
import { steadyWorld } from './steady.ts'
import type { FileVersion, World } from './types.ts'

/** Largest copy that is read, in bytes: more than any configuration file that is edited. */
const maxBlobBytes = 16_000_000

/**
 * The contents that a record names.
 *
 * @throws UserError `backup-missing` if the copy is gone or is not what it was
 */
export function readBlob(world: World, sha256: string): Bytes {
  const steady = steadyWorld(world)
  const paths = findState(steady)
  const bytes = paths && readIfSound(steady, paths, sha256)
  if (bytes) return bytes
  throw new UserError({
    code: 'backup-missing',
    message: `The saved copy ${sha256.slice(0, 12)}… of a file is missing or damaged${paths ? ` in ${placeOf(world.machine, paths.blobs)}` : ''}`,
    hint: 'That run cannot be undone. `repoint rollback --list` shows the others.',
  })
}

/** A version of a file as far as there is one: a copy that is gone proves nothing. */
export function copyOf(world: World, version: FileVersion | null): Bytes | null {
  try {
    return version && readBlob(world, version.sha256)
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}

function readIfSound(world: World, paths: StatePaths, sha256: string): Bytes | undefined {
  if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined
  try {
    const bytes = world.files.read(paths.blob(sha256), maxBlobBytes)
    return sha256Of(bytes) === sha256 ? bytes : undefined
  } catch (error) {
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code) return undefined
    throw error
  }
}

/** Stores contents under their hashes, durably. A sound copy that is already there is kept. */
export function writeBlobs(world: World, paths: StatePaths, contents: Iterable<Bytes>): void {
  const { files } = world
  for (const bytes of contents) {
    const sha256 = sha256Of(bytes)
    if (readIfSound(world, paths, sha256)) continue
    const temp = paths.named(`blobs/new-${randomName()}`)
    createDurably(files, temp, bytes, 0o600)
    files.rename(temp, paths.blob(sha256))
  }
  files.fsyncFolder(paths.blobs)
}
