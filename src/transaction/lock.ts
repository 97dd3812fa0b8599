/** The lock of the state folder: one run at a time. */
import { ifPossible, UserError } from '../errors.ts'
import {
  displayPath,
  errorCode,
  ignoreFileErrors,
  pathExists,
  randomName,
  undefinedIfMissing,
  wrapFileErrors,
} from './files.ts'
import type { World } from './record.ts'
import { openState, type StatePaths } from './records/state-folder.ts'

/** How long a run waits for another, in ms. A run holds the lock for 20 to 100 ms. */
const defaultWaitMs = 600
const retryDelayMs = 15

/**
 * After how long a file of a process that cannot be checked from here counts as abandoned, in ms: the lock
 * of another machine or container, or a file that was never renamed.
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

/** @throws UserError `locked` as `withLock` would. Takes nothing and writes nothing */
export function expectUnlocked(world: World, paths: StatePaths, maxWaitMs = defaultWaitMs): void {
  wrapFileErrors(world.machine, paths.lock, () => {
    for (let waitedMs = 0; ; waitedMs += retryDelayMs) {
      const { living } = findHolders(world, paths, world.clock.now().getTime())
      if (living === undefined) return
      if (waitedMs >= maxWaitMs) throw lockedError(world, paths, living)
      pause()
    }
  })
}

function lockedError(
  world: World,
  paths: StatePaths,
  holder: LockHolder | 'unknown' | undefined,
): UserError {
  return new UserError({
    code: 'locked',
    message: `Another run of repoint is in progress${describeHolder(holder, world)}`,
    hint: `Wait for it, then run the same command again. If no other run exists, delete ${displayPath(world.machine, paths.lock)}`,
  })
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelayMs)
}

function acquireLock(world: World, paths: StatePaths, name: string, maxWaitMs: number): void {
  const { files } = world
  const candidate = `${paths.lock}-${world.processes.pid}-${randomName()}`
  files.mkdir(candidate, 0o700)
  let isAcquired = false

  try {
    const file = childPath(candidate, name)
    files.close(files.createNew(file, 0o600))
    const createdMs = files.lstat(file).modifiedMs
    for (let waitedMs = 0; ; waitedMs += retryDelayMs) {
      isAcquired = renameToLock(world, candidate, paths.lock)
      if (isAcquired) return
      const holder = removeDeadHolder(world, paths, createdMs + waitedMs)
      if (waitedMs >= maxWaitMs) throw lockedError(world, paths, holder)
      if (holder) pause()
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

/**
 * Frees the lock if nobody holds it any more.
 *
 * @returns the living holder of the lock; undefined if the lock is free now
 */
function removeDeadHolder(
  world: World,
  paths: StatePaths,
  nowMs?: number,
): LockHolder | 'unknown' | undefined {
  const { files } = world
  const { living, dead } = findHolders(world, paths, nowMs)
  for (const path of dead) ignoreFileErrors(() => files.unlink(path))
  if (living === undefined) ignoreFileErrors(() => files.rmdir(paths.lock))
  return living
}

/**
 * @param nowMs the time by the clock that dates the files of the state folder. Clocks of two machines differ.
 *   Absent: unknown, so that no lock counts as abandoned
 * @returns the living holder of the lock, and the files of dead ones
 */
function findHolders(
  world: World,
  paths: StatePaths,
  nowMs = 0,
): { readonly living: LockHolder | 'unknown' | undefined; readonly dead: readonly string[] } {
  const { files } = world
  const names = undefinedIfMissing(() => files.readdir(paths.lock)) ?? []

  const dead: string[] = []
  for (const name of names) {
    const holder = parseHolderName(name)
    if (holder === undefined) return { living: 'unknown', dead }
    const path = childPath(paths.lock, name)
    const isOld = ifPossible(() => nowMs - files.lstat(path).modifiedMs > abandonedAfterMs) ?? false
    if (mayLive(world, holder, isOld) && !isCurrentProcess(world, holder))
      return { living: holder, dead }
    dead.push(path)
  }
  return { living: undefined, dead }
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

/**
 * Whether the process of a lock may still run. A process of another machine or container cannot be looked up from
 * here, so the age of its file decides.
 */
function mayLive({ processes }: World, holder: LockHolder, isOld: boolean): boolean {
  const isHere = holder.host === (processes.host ?? '')
  if (!isHere) return !isOld
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
const unfinishedNamePattern = /^((models|address|served)\.txt\.\d+|(gateways|folders)-new\.json)$/

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
      const isDead = holder === undefined ? isOld(path) : !mayLive(world, holder, isOld(path))
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
