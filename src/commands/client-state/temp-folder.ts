import { join } from 'node:path'
import type { Files, Platform } from '../../platform/platform.ts'
import { createDurably, ignoreFileErrors, randomName, sha256Of } from '../../transaction/files.ts'
import { openState, statePaths } from '../../transaction/state.ts'

/** Whose process cannot be seen from here, on another machine or before a boot, is gone after so long, in ms. */
const unseenPatienceMs = 24 * 60 * 60_000

/** The process that a folder is for, where that process runs, and what makes the name its own. */
const folderNames = /^\.try-(\d+)-([0-9a-f]{12})-[0-9a-f]{12}$/

/**
 * The path of a folder that is not there yet. It lies beside our records: above it are the user's own
 * folders alone, in which clients look for projects too. What killed processes have left there goes.
 */
export function newFolder(platform: Platform): string {
  const { folder } = statePaths(platform.machine)
  ignoreFileErrors(() => sweep(platform, folder))
  return join(folder, `.try-${platform.processes.pid}-${placeMark(platform)}-${randomName()}`)
}

/** Each of our folders there whose process is gone: a file in it may hold a secret. */
function sweep(platform: Platform, folder: string): void {
  const { files, processes, clock } = platform
  const now = clock.now().getTime()
  for (const name of files.readdir(folder)) {
    const [, pid, mark] = folderNames.exec(name) ?? []
    if (pid === undefined) continue

    ignoreFileErrors(() => {
      const path = join(folder, name)
      const { kind, uid, modifiedMs } = files.lstat(path)

      const isSeen = mark === placeMark(platform)
      const isGone = isSeen
        ? processes.startTime(Number(pid)) === undefined
        : now - modifiedMs > unseenPatienceMs
      const isOurs = kind === 'folder' && (processes.uid === -1 || uid === processes.uid)
      if (isOurs && isGone) removeFolder(files, path)
    })
  }
}

/** Differs from machine to machine and from boot to boot. */
function placeMark({ processes }: Platform): string {
  const place = `${processes.host ?? ''}\n${processes.bootId()}`
  return sha256Of(Buffer.from(place)).slice(0, 12)
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
    // What was started there may still be writing.
    ignoreFileErrors(() => removeFolder(files, folder))
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
