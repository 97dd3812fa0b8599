import { ifPossible, UserError } from '../errors.ts'
import { attempt, codeOf, isThere, randomName, shownPath, wrapFileErrors } from './files.ts'
import type { World } from './record.ts'
import type { StatePaths } from './state.ts'

/** How long one run waits for another, in ms: one run holds the lock for 20 to 100. */
const usualPatienceMs = 600
const pauseMs = 15

/** A lock of another machine is left alone for this long, in ms: nobody here can see its holder. */
const foreignPatienceMs = 10 * 60_000

/** Who holds the lock. Its file name says it all, so a half-written holder cannot exist. */
interface LockHolder {
  readonly pid: number
  readonly startTime: string
  readonly bootId: string
  readonly host: string
  /** ms since 1970. */
  readonly since: number
}

/**
 * Does `work` while no other run of this user does.
 *
 * The lock is a folder with one empty file, whose name is its holder. It is put in place by renaming
 * a folder that is complete already: that fails while another one with a file in it stands there. A
 * dead holder's file is deleted by its name, which no other process ever has, so two runs that find
 * the same dead holder cannot take the lock from each other.
 *
 * @throws UserError `locked` while a living process holds it, and in doubt
 */
export function withLock<T>(
  world: World,
  paths: StatePaths,
  work: () => T,
  patienceMs = usualPatienceMs,
): T {
  const name = holderName(ourselves(world))
  wrapFileErrors(world.machine, paths.lock, () => take(world, paths, name, patienceMs))

  try {
    return work()
  } finally {
    attempt(() => world.files.unlink(inside(paths.lock, name)))
    attempt(() => world.files.rmdir(paths.lock))
  }
}

function take(world: World, paths: StatePaths, name: string, patienceMs: number): void {
  const { files, machine } = world
  const ready = `${paths.lock}-${world.processes.pid}-${randomName()}`
  files.mkdir(ready, 0o700)
  let isTaken = false

  try {
    files.close(files.createNew(inside(ready, name), 0o600))
    for (let waitedMs = 0; ; waitedMs += pauseMs) {
      isTaken = rename(world, ready, paths.lock)
      if (isTaken) return
      const holder = clearIfDead(world, paths)
      if (waitedMs >= patienceMs)
        throw new UserError({
          code: 'locked',
          message: `Another run of repoint is at work${shownHolder(holder, world)}`,
          hint: `Wait until it has ended, then run the same command again. If there is none, delete ${shownPath(machine, paths.lock)}`,
        })
      if (holder) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  } finally {
    if (!isTaken) removeLockFolder(world, ready)
  }
}

/** Whether the lock is ours now. */
function rename({ files }: World, from: string, to: string): boolean {
  try {
    files.rename(from, to)
    return true
  } catch (error) {
    const code = codeOf(error)
    // Windows says EPERM or EACCES where a folder stands; elsewhere they mean what they say.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    if ((code === 'EPERM' || code === 'EACCES') && isThere(files, to)) return false
    throw error
  }
}

/** @returns undefined if it is worth trying again at once; else who holds the lock */
function clearIfDead(world: World, paths: StatePaths): LockHolder | 'unknown' | undefined {
  const { files } = world
  let names: string[]
  try {
    names = files.readdir(paths.lock)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  for (const name of names) {
    const holder = holderOf(name)
    if (holder === undefined) return 'unknown'
    if (isAlive(world, holder) && !isOurOwn(world, holder)) return holder
    attempt(() => files.unlink(inside(paths.lock, name)))
  }
  attempt(() => files.rmdir(paths.lock))

  return undefined
}

function ourselves({ processes, clock }: World): LockHolder {
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

function holderOf(name: string): LockHolder | undefined {
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

function isAlive({ processes, clock }: World, holder: LockHolder): boolean {
  if (holder.host !== (processes.host ?? ''))
    return clock.now().getTime() - holder.since < foreignPatienceMs
  if (holder.bootId !== processes.bootId()) return false
  const startTime = processes.startTime(holder.pid)
  if (startTime === undefined) return false
  return startTime === '' || holder.startTime === '' || startTime === holder.startTime
}

/** A lock that this very process could not give back: it never takes two. */
function isOurOwn(world: World, holder: LockHolder): boolean {
  const own = { ...ourselves(world), since: holder.since }
  return own.startTime !== '' && holderName(own) === holderName(holder)
}

function shownHolder(holder: LockHolder | 'unknown' | undefined, { processes }: World): string {
  if (holder === undefined || holder === 'unknown') return ''
  const where = holder.host === (processes.host ?? '') ? '' : ` on ${holder.host}`
  return `: process ${holder.pid}${where}`
}

/** New versions of lists, before their renames. A running process may still need a recent one. */
const unfinishedNames = /^(models\.txt\.\d+|(gateways|folders)-new\.json)$/

/** Removes what runs left that were killed: the lock of a dead one, and what they were making. */
export function sweep(world: World, paths: StatePaths): void {
  const { files, clock } = world
  const isOld = (path: string) =>
    clock.now().getTime() - files.lstat(path).modifiedMs > foreignPatienceMs

  attempt(() => {
    for (const name of files.readdir(paths.folder)) {
      const path = paths.named(name)
      if (name === 'lock') clearIfDead(world, paths)
      if (unfinishedNames.test(name) && isOld(path)) files.unlink(path)
      if (!/^lock-\d+-[0-9a-f]{12}$/.test(name)) continue

      const holder = holderOf(files.readdir(path)[0] ?? '')
      const isDead = holder === undefined ? isOld(path) : !isAlive(world, holder)
      if (isDead) removeLockFolder(world, path)
    }
  })
}

function removeLockFolder({ files }: World, folder: string): void {
  attempt(() => {
    for (const name of files.readdir(folder)) files.unlink(inside(folder, name))
  })
  attempt(() => files.rmdir(folder))
}

function inside(folder: string, name: string): string {
  return `${folder}/${name}`
}
