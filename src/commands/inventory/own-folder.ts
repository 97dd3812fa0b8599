import { join } from 'node:path'
import type { Files, Platform } from '../../platform/platform.ts'
import { attempt, createDurably, randomName } from '../../transaction/files.ts'
import { openState } from '../../transaction/state.ts'

/**
 * The path of a folder that is not there yet. It lies beside our records: above it are the user's own
 * folders alone, in which clients look for projects too.
 */
export function newFolder(platform: Platform): string {
  return join(openState(platform).folder, `.try-${randomName()}`)
}

/** Does `work` while files with these texts lie in a folder that only we may enter; none: no folder. */
export function withFiles<Result>(
  platform: Platform,
  folder: string,
  texts: Readonly<Record<string, string>> = {},
  work: () => Promise<Result>,
): Promise<Result> {
  return Object.keys(texts).length === 0 ? work() : inFolder(platform, folder, texts, work)
}

/** The same in a folder that may stay empty. */
export async function inFolder<Result>(
  { files }: Platform,
  folder: string,
  texts: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  files.mkdir(folder, 0o700)
  try {
    for (const [name, text] of Object.entries(texts))
      createDurably(files, join(folder, name), Buffer.from(text), { mode: 0o600 })
    return await work()
  } finally {
    // What was started there may still be writing.
    attempt(() => removeFolder(files, folder))
  }
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
