/** The lock of the state folder: one run at a time. */
import { ifPossible, UserError } from '../errors.ts'
import {
  displayPath,
  errorCode,
  ignoreFileErrors,
  pathExists,
  randomName,
  wrapFileErrors,
} from './files.ts'
import type { World } from './record.ts'
import { openState, type StatePaths } from './records/state-folder.ts'

/** How long a run waits for another, in ms. A run holds the lock for 20 to 100 ms. */
const defaultWaitMs = 600
const retryDelayMs = 15

/**
 * After how long a file of a process that cannot be checked from here counts as abandoned, in ms: the lock
 * of another machine, or a file that was never renamed.
 */
const abandonedAfterMs = 10 * 60_000

/** The lock of the state folder, as a function gets it from its caller. */
export type Lock =
  | { readonly kind: 'held'; readonly paths: StatePaths }
  /** The function takes the lock itself. */
  | { readonly kind: 'free' }

/** Runs `work` under the lock, which it takes if it is free. @throws as `withLock` does */
export function underLock<T>(world: World, lock: Lock, work: (paths: StatePaths) => T): T {
  if (lock.kind === 'held') return work(lock.paths)
  const paths = openState(world)
  return withLock(world, paths, () => work(paths))
}

/** The process that holds the lock. All of it is in the file name, so it is never half-written. */
interface LockHolder {
  readonly pid: number
  readonly startTime: string
  readonly bootId: string
  readonly host: string
  /** ms since 1970. */
  readonly since: number
}

/**
 * Runs `work` while no other run of this user can.
 *
 * The lock is a folder with one empty file, whose name describes the holder. A run creates a complete
 * folder under another name and renames it to the lock. The rename fails while a lock with a file in
 * it exists. The file of a dead holder is deleted by its name. No other process ever has that name, so
 * two runs that find the same dead holder cannot take the lock from each other.
 *
 * @throws UserError `locked` if a living process holds the lock, or if that cannot be decided
 */
export function withLock<T>(
  world: World,
  paths: StatePaths,
  work: () => T,
  maxWaitMs = defaultWaitMs,
): T {
  const name = holderName(currentHolder(world))
  wrapFileErrors(world.machine, paths.lock, () => acquireLock(world, paths, name, maxWaitMs))

  try {
    return work()
  } finally {
    ignoreFileErrors(() => world.files.unlink(childPath(paths.lock, name)))
    ignoreFileErrors(() => world.files.rmdir(paths.lock))
  }
}

function acquireLock(world: World, paths: StatePaths, name: string, maxWaitMs: number): void {
  const { files, machine } = world
  const candidate = `${paths.lock}-${world.processes.pid}-${randomName()}`
  files.mkdir(candidate, 0o700)
  let isAcquired = false

  try {
    files.close(files.createNew(childPath(candidate, name), 0o600))
    for (let waitedMs = 0; ; waitedMs += retryDelayMs) {
      isAcquired = renameToLock(world, candidate, paths.lock)
      if (isAcquired) return
      const holder = removeDeadHolder(world, paths)
      if (waitedMs >= maxWaitMs)
        throw new UserError({
          code: 'locked',
          message: `Another run of repoint is in progress${describeHolder(holder, world)}`,
          hint: `Wait for it, then run the same command again. If no other run exists, delete ${displayPath(machine, paths.lock)}`,
        })
      if (holder) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelayMs)
    }
  } finally {
    if (!isAcquired) removeLockFolder(world, candidate)
  }
}

/** @returns whether this process holds the lock now */
function renameToLock({ files }: World, from: string, to: string): boolean {
  try {
    files.rename(from, to)
    return true
  } catch (error) {
    const code = errorCode(error)
    // Windows reports EPERM or EACCES if the folder exists. If it does not, the error is real.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    if ((code === 'EPERM' || code === 'EACCES') && pathExists(files, to)) return false
    throw error
  }
}

/** @returns the living holder of the lock; undefined if the lock is free now */
function removeDeadHolder(world: World, paths: StatePaths): LockHolder | 'unknown' | undefined {
  const { files } = world
  let names: string[]
  try {
    names = files.readdir(paths.lock)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }

  for (const name of names) {
    const holder = parseHolderName(name)
    if (holder === undefined) return 'unknown'
    if (isAlive(world, holder) && !isCurrentProcess(world, holder)) return holder
    ignoreFileErrors(() => files.unlink(childPath(paths.lock, name)))
  }

  ignoreFileErrors(() => files.rmdir(paths.lock))

  return undefined
}

function currentHolder({ processes, clock }: World): LockHolder {
  const { pid, host = '' } = processes
  return {
    pid,
    startTime: processes.startTime(pid) ?? '',
    bootId: processes.bootId(),
    host,
    since: clock.now().getTime(),
  }
}

function holderName({ pid, startTime, bootId, host, since }: LockHolder): string {
  return [pid, startTime, bootId, host, since].map((part) => encodeURIComponent(part)).join(',')
}

function parseHolderName(name: string): LockHolder | undefined {
  const match = /^(\d+),([^,]*),([^,]*),([^,]*),(\d+)$/.exec(name)
  if (!match) return undefined
  const [, pid = '', startTime = '', bootId = '', host = '', since = ''] = match

  return ifPossible(() => ({
    pid: Number(pid),
    startTime: decodeURIComponent(startTime),
    bootId: decodeURIComponent(bootId),
    host: decodeURIComponent(host),
    since: Number(since),
  }))
}

/** Whether the process of a lock may still run. A process of another host cannot be looked up from here. */
function isAlive({ processes, clock }: World, holder: LockHolder): boolean {
  const isOnThisHost = holder.host === (processes.host ?? '')
  if (!isOnThisHost) return clock.now().getTime() - holder.since < abandonedAfterMs
  if (holder.bootId !== processes.bootId()) return false

  const startTime = processes.startTime(holder.pid)
  if (startTime === undefined) return false
  // A later process can have the same ID. Without both start times, it counts as the holder.
  const areStartTimesKnown = startTime !== '' && holder.startTime !== ''
  return !areStartTimesKnown || startTime === holder.startTime
}

/**
 * Whether this process is the holder. It never takes two locks, so it failed to release an earlier one.
 * Without a start time, an earlier process with the same ID may be the holder.
 */
function isCurrentProcess(world: World, holder: LockHolder): boolean {
  const current = currentHolder(world)
  const isSure = current.startTime !== ''
  return isSure && holderName({ ...current, since: holder.since }) === holderName(holder)
}

function describeHolder(holder: LockHolder | 'unknown' | undefined, { processes }: World): string {
  if (holder === undefined || holder === 'unknown') return ''
  const where = holder.host === (processes.host ?? '') ? '' : ` on ${holder.host}`
  return `: process ${holder.pid}${where}`
}

/** Files that were written but not yet renamed. A running process may still need a recent one. */
const unfinishedNamePattern = /^((models|address)\.txt\.\d+|(gateways|folders)-new\.json)$/

/** Removes what killed runs left: the lock of a dead process, and unfinished files. */
export function removeLeftovers(world: World, paths: StatePaths): void {
  const { files, clock } = world
  const isOld = (path: string) =>
    clock.now().getTime() - files.lstat(path).modifiedMs > abandonedAfterMs

  ignoreFileErrors(() => {
    for (const name of files.readdir(paths.folder)) {
      const path = paths.file(name)
      if (name === 'lock') removeDeadHolder(world, paths)
      if (unfinishedNamePattern.test(name) && isOld(path)) files.unlink(path)
      if (!/^lock-\d+-[0-9a-f]{12}$/.test(name)) continue

      const holder = parseHolderName(files.readdir(path)[0] ?? '')
      const isDead = holder === undefined ? isOld(path) : !isAlive(world, holder)
      if (isDead) removeLockFolder(world, path)
    }
  })
}

function removeLockFolder({ files }: World, folder: string): void {
  ignoreFileErrors(() => {
    for (const name of files.readdir(folder)) files.unlink(childPath(folder, name))
  })
  ignoreFileErrors(() => files.rmdir(folder))
}

function childPath(folder: string, name: string): string {
  return `${folder}/${name}`
}
