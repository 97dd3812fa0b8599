import { join } from 'node:path'
import type { Files, Platform } from '../../platform/platform.ts'
import { randomName } from '../../transaction/files.ts'
import { openState } from '../../transaction/state.ts'

/**
 * Makes a folder that only we may enter. It lies beside our records: above it are the user's own
 * folders alone, in which clients look for projects too.
 */
export function makeEmptyFolder(platform: Platform): string {
  const name = `.try-${randomName()}`
  const folder = join(openState(platform).folder, name)
  platform.files.mkdir(folder, 0o700)
  return folder
}

/** Removes a folder with all that is in it; symlinks are removed, not followed. */
export function removeFolder(files: Files, folder: string): void {
  for (const name of files.readdir(folder)) {
    const path = join(folder, name)
    if (files.lstat(path).kind === 'folder') removeFolder(files, path)
    else files.unlink(path)
  }
  files.rmdir(folder)
}
