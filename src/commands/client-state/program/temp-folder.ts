/**
 * A folder for the files of one process that repoint starts, such as settings with the key. Only this user can
 * read it, and it is removed when the process has ended. `newTempPath` names it, so that the process's arguments
 * can contain its path, and `withTempFiles` creates it.
 */
import { join } from 'node:path'
import type { Files, Platform } from '../../../platform/platform.ts'
import {
  createDurably,
  ignoreFileErrors,
  randomName,
  sha256Of,
} from '../../../transaction/files.ts'
import { openState, statePaths } from '../../../transaction/records/state-folder.ts'

/**
 * repoint cannot check the process of a folder that another machine made, or this one before a reboot.
 * It removes such a folder when it is this old, in ms.
 */
const uncheckedMaxAgeMs = 24 * 60 * 60_000

/** A folder's name contains the ID of its process, the ID of the machine and boot, and a random part. */
const folderNames = /^\.try-(\d+)-([0-9a-f]{12})-[0-9a-f]{12}$/

/**
 * The path for a new folder, next to our records. Clients also look for projects in the folders above it,
 * and there these are only the user's own. This also removes the folders that killed processes left there.
 */
export function newTempPath(platform: Platform): string {
  const { folder } = statePaths(platform.machine)
  ignoreFileErrors(() => removeAbandonedFolders(platform, folder))
  return join(folder, `.try-${platform.processes.pid}-${bootMark(platform)}-${randomName()}`)
}

/** Removes each of our folders whose process has ended: a file in it can contain a secret. */
function removeAbandonedFolders(platform: Platform, folder: string): void {
  const { files, processes, clock } = platform
  const now = clock.now().getTime()
  for (const name of files.readdir(folder)) {
    const [, pid, mark] = folderNames.exec(name) ?? []
    if (pid === undefined) continue

    ignoreFileErrors(() => {
      const path = join(folder, name)
      const { kind, uid, modifiedMs } = files.lstat(path)

      const isThisBoot = mark === bootMark(platform)
      const isGone = isThisBoot
        ? processes.startTime(Number(pid)) === undefined
        : now - modifiedMs > uncheckedMaxAgeMs
      const isOurs = kind === 'folder' && (processes.uid === -1 || uid === processes.uid)
      if (isOurs && isGone) removeFolder(files, path)
    })
  }
}

/** Identifies this machine and this boot. */
function bootMark({ processes }: Platform): string {
  const place = `${processes.host ?? ''}\n${processes.bootId()}`
  return sha256Of(Buffer.from(place)).slice(0, 12)
}

/**
 * Runs `work` while files with these texts exist in a folder that only this user can read. Creates no
 * folder if there are no texts.
 */
export function withTempFiles<Result>(
  platform: Platform,
  folder: string,
  texts: Readonly<Record<string, string>> = {},
  work: () => Promise<Result>,
): Promise<Result> {
  return Object.keys(texts).length === 0 ? work() : inTempFolder(platform, folder, texts, work)
}

/** Like `withTempFiles`, but always creates the folder. */
export async function inTempFolder<Result>(
  platform: Platform,
  folder: string,
  texts: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { files } = platform
  openState(platform)
  files.mkdir(folder, 0o700)

  try {
    for (const [name, text] of Object.entries(texts))
      createDurably(files, join(folder, name), Buffer.from(text), { mode: 0o600 })
    return await work()
  } finally {
    // A program that was started there may still be writing.
    ignoreFileErrors(() => removeFolder(files, folder))
  }
}

/** Removes a folder with everything in it. It removes symlinks and does not follow them. */
export function removeFolder(files: Files, folder: string): void {
  for (const name of files.readdir(folder)) {
    const path = join(folder, name)
    if (files.lstat(path).kind === 'folder') removeFolder(files, path)
    else files.unlink(path)
  }
  files.rmdir(folder)
}
