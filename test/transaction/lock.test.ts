import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UserError, valueOrError } from '../../src/errors.ts'
import type { Processes } from '../../src/platform/platform.ts'
import { expectUnlocked, removeLeftovers, withLock } from '../../src/transaction/lock.ts'
import type { World } from '../../src/transaction/record.ts'
import { openState } from '../../src/transaction/records/state-folder.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { failureOf } from '../support/failure.ts'
import { aHome } from '../support/home.ts'
import { withCalls, worldIn } from '../support/world.ts'

/** How long a run waits for the lock if the test needs only the end of the wait, in ms. */
const soonMs = 30

/** No process has this ID: Linux allows at most 2 ** 22. */
const noPid = 2 ** 30

function aLock() {
  const home = aHome()
  const world = worldIn(home)
  const paths = openState(world)
  const holders = () => {
    try {
      return readdirSync(paths.lock)
    } catch {
      return 'no lock'
    }
  }
  const held = (name: string, { ageMs = 0 } = {}) => {
    mkdirSync(paths.lock)
    writeFileSync(`${paths.lock}/${name}`, '')
    const then = new Date(Date.now() - ageMs)
    utimesSync(`${paths.lock}/${name}`, then, then)
  }
  return { world, paths, holders, held, leftovers: () => readdirSync(paths.folder).sort() }
}

function as(world: World, processes: Partial<Processes>): World {
  return { ...world, processes: { ...world.processes, ...processes } }
}

function nameOf(world: World, pid: number, startTime: string, since = Date.now()): string {
  const { processes } = world
  return [pid, startTime, processes.bootId(), processes.host, since].join(',')
}

describe('a check of the lock', () => {
  test('ends as a run would, and leaves the lock as it is', () => {
    const { world, paths, held, holders } = aLock()
    expectUnlocked(world, paths, soonMs)

    const living = nameOf(world, 1, world.processes.startTime(1) ?? '')
    for (const [name, ageMs, isHeld] of [
      [living, 0, true],
      ['of-a-later-version', 0, true],
      [nameOf(world, noPid, ''), 0, false],
      [nameOf(as(world, { host: 'other' }), 99, 'x'), 9 * 60_000, true],
      [nameOf(as(world, { host: 'other' }), 99, 'x'), 11 * 60_000, false],
    ] as const) {
      held(name, { ageMs })
      const found = valueOrError(() => expectUnlocked(world, paths, soonMs))
      expect([name, found instanceof UserError && found.code]).toEqual([name, isHeld && 'locked'])
      expect(holders()).toEqual([name])

      const run = valueOrError(() => withLock(world, paths, () => {}, soonMs))
      expect(run instanceof UserError && run.message).toBe(
        found instanceof UserError && found.message,
      )
      rmSync(paths.lock, { recursive: true, force: true })
    }
  })
})

describe('lock', () => {
  test('is held during the work and released after it, also when the work fails', () => {
    const { world, paths, holders, leftovers } = aLock()
    withLock(world, paths, () => expect(holders()).toHaveLength(1))
    expect(leftovers()).toEqual(['blobs'])
    expect(() =>
      withLock(world, paths, () => {
        throw new Error('work')
      }),
    ).toThrow('work')
    expect(leftovers()).toEqual(['blobs'])
  })

  test('is respected if its process lives: the error names the PID after a short wait', () => {
    const { world, paths, held } = aLock()
    held(nameOf(world, 1, world.processes.startTime(1) ?? ''))
    const start = performance.now()
    expect(() => withLock(world, paths, () => {})).toThrow(
      'Another run of repoint is in progress: process 1',
    )
    expect(performance.now() - start).toBeGreaterThan(300)
  })

  test('is respected if its process is stopped, because it still lives', () => {
    const { world, paths, held } = aLock()
    const child = spawn('sleep', ['60'])
    onTestFinished(() => void child.kill('SIGKILL'))
    child.kill('SIGSTOP')
    const pid = child.pid ?? 0
    held(nameOf(world, pid, world.processes.startTime(pid) ?? ''))
    expect(() => withLock(world, paths, () => {}, soonMs)).toThrow(`process ${pid}`)
  })

  test('is taken over if its process is dead', async () => {
    const { world, paths, held, holders } = aLock()
    const child = spawn('sleep', ['60'])
    const pid = child.pid ?? 0
    held(nameOf(world, pid, world.processes.startTime(pid) ?? ''))
    child.kill('SIGKILL')
    while (world.processes.startTime(pid) !== undefined) await sleep(5)
    withLock(world, paths, () =>
      expect(holders()).toEqual([expect.stringContaining(`${process.pid},`)]),
    )
  })

  test.each([
    ['the pid was reused by another process', { startTime: () => 'later' }],
    ['the machine was started again', { bootId: () => 'another' }],
  ])('is taken over when %s', (_, now) => {
    const { world, paths, held } = aLock()
    held(nameOf(world, 1, world.processes.startTime(1) ?? ''))
    expect(withLock(as(world, now), paths, () => 'done')).toBe('done')
  })

  test('names no machine if a process of this one holds it', () => {
    const { world, paths, held } = aLock()
    const here = as(world, { host: 'here' })
    held(nameOf(here, 1, world.processes.startTime(1) ?? ''))
    const error = failureOf(() => withLock(here, paths, () => {}, soonMs))
    expect(error.message).toBe('Another run of repoint is in progress: process 1')
  })

  test.each([
    ['another machine', 'other', 'process 99 on other'],
    ['another container of this machine', 'here (container pid:[7])', 'process 99 on here (cont'],
  ])('is respected for ten minutes if it belongs to %s', (_, host, message) => {
    const { world, paths, held, holders } = aLock()
    const here = as(world, { host: 'here' })
    // No process of this machine has the ID.
    const name = nameOf(as(world, { host: encodeURIComponent(host) }), 99, 'x')
    held(name, { ageMs: 9 * 60_000 })
    expect(() => withLock(here, paths, () => {}, soonMs)).toThrow(message)
    removeLeftovers(here, paths)
    expect(holders()).toEqual([name])
    rmSync(paths.lock, { recursive: true })
    held(name, { ageMs: 11 * 60_000 })
    expect(withLock(here, paths, () => 'done')).toBe('done')
  })

  test.each([
    ['ahead', 365 * 24 * 60 * 60_000],
    ['behind', -365 * 24 * 60 * 60_000],
  ])('of another machine expires at the same time if its clock is %s', (_, aheadMs) => {
    const { world, paths, held } = aLock()
    const name = nameOf(as(world, { host: 'other' }), 99, 'x', Date.now() + aheadMs)
    held(name, { ageMs: 9 * 60_000 })
    expect(() => withLock(world, paths, () => {}, soonMs)).toThrow('process 99 on other')
    rmSync(paths.lock, { recursive: true })
    held(name, { ageMs: 11 * 60_000 })
    expect(withLock(world, paths, () => 'done')).toBe('done')
  })

  test('is not judged by our clock, which may be wrong', () => {
    const { world, paths, held } = aLock()
    const wrong = { ...world, clock: { now: () => new Date(Date.now() + 60 * 60_000) } }
    held(nameOf(as(world, { host: 'other' }), 99, 'x'))
    removeLeftovers(wrong, paths)
    expect(() => withLock(wrong, paths, () => {}, soonMs)).toThrow('process 99 on other')
  })

  test('is taken over if a killed run left it empty', () => {
    const { world, paths } = aLock()
    mkdirSync(paths.lock)
    expect(withLock(world, paths, () => 'done')).toBe('done')
  })

  test('is taken when it is released during the wait', async () => {
    const { world, paths, held, holders } = aLock()
    const child = spawn('sleep', ['0.2'])
    const pid = child.pid ?? 0
    held(nameOf(world, pid, world.processes.startTime(pid) ?? ''))
    // The parent collects its child only when the event loop turns, so the zombie counts as dead.
    withLock(
      world,
      paths,
      () => expect(holders()).toEqual([expect.stringMatching(`^${process.pid},`)]),
      30_000,
    )
  })

  test('two runs that find the same dead holder cannot both take it', () => {
    const { world, paths, held, holders } = aLock()
    const dead = nameOf(world, noPid, 'x')
    held(dead)
    const rival = `${nameOf(world, 1, world.processes.startTime(1) ?? '')}`
    let isTaken = false
    const late = withCalls(world, {
      unlink: (path) => {
        // The rival takes the lock over between our look at it and our delete.
        if (path.endsWith(dead) && !isTaken) {
          isTaken = true
          world.files.unlink(path)
          writeFileSync(`${paths.lock}/${rival}`, '')
        }
        world.files.unlink(path)
      },
    })
    expect(() => withLock(late, paths, () => {}, soonMs)).toThrow('process 1')
    expect(holders()).toEqual([rival])
  })

  test.each(['EPERM', 'ENOTEMPTY', 'EEXIST', 'EACCES'])(
    'works on a system that never renames onto a folder, and says %s',
    (code) => {
      const { world, paths, held } = aLock()
      const other = withCalls(world, {
        rename: (from, to) => {
          if (holdersAt(to)) throw Object.assign(new Error(), { code })
          world.files.rename(from, to)
        },
      })
      expect(withLock(other, paths, () => 'done')).toBe('done')
      held(nameOf(world, noPid, 'x'))
      expect(withLock(other, paths, () => 'done')).toBe('done')
    },
  )

  test('reports a folder that cannot be renamed or read, and leaves nothing behind', () => {
    for (const [call, code] of [
      ['rename', 'EACCES'],
      ['rename', 'EPERM'],
      ['rename', 'EIO'],
      ['readdir', 'EIO'],
    ] as const) {
      const { world, paths, held, leftovers } = aLock()
      if (call === 'readdir') held(nameOf(world, 1, world.processes.startTime(1) ?? ''))
      const failing = withCalls(world, {
        [call]: (path: string, to: string) => {
          if (call === 'readdir' && path !== paths.lock) return world.files.readdir(path)
          if (call === 'rename' && to !== paths.lock) return world.files.rename(path, to)
          throw Object.assign(new Error(code), { code })
        },
      })
      expect(() => withLock(failing, paths, () => {}, soonMs)).toThrow(
        code === 'EIO' ? 'repoint/lock (EIO)' : 'permission denied',
      )
      expect(leftovers()).toEqual(call === 'readdir' ? ['blobs', 'lock'] : ['blobs'])
    }
  })

  test('is taken again if this process could not release it, unless the start time is unknown', () => {
    const { world, paths, held } = aLock()
    const { pid } = world.processes
    held(nameOf(world, pid, world.processes.startTime(pid) ?? '', 1))
    expect(withLock(world, paths, () => 'done')).toBe('done')
    const unknown = as(world, { startTime: () => '' })
    held(nameOf(world, pid, '', 1))
    expect(() => withLock(unknown, paths, () => {}, soonMs)).toThrow(`in progress: process ${pid}`)
  })

  test('counts as held by a process of unknown start time while its PID exists', () => {
    for (const [then, now] of [
      ['', '17'],
      ['17', ''],
    ] as const) {
      const { world, paths, held } = aLock()
      held(nameOf(world, 1, then))
      const here = as(world, { startTime: (pid) => (pid === 1 ? now : 'ours') })
      expect(() => withLock(here, paths, () => {}, soonMs)).toThrow('in progress: process 1')
    }
  })

  test.each(['1,x,y,z', 'x1,a,b,c,2', '1,a,b,c,2x', '1,a,b,c,d', '1,%,b,c,2'])(
    'whose holder is called %s is left alone',
    (name) => {
      const { world, paths, held, holders } = aLock()
      held(name)
      const error = failureOf(() => withLock(world, paths, () => {}, soonMs))
      expect(error.message).toBe('Another run of repoint is in progress')
      expect(error.hint).toContain('delete ~/.local/state/repoint/lock')
      expect(holders()).toEqual([name])
    },
  )

  test('removes only the leftovers of dead runs, and only files with our names', () => {
    const { world, paths, leftovers } = aLock()
    const names = ['lock-1-0123456789ab', 'lock-2-0123456789ab', 'lock-3-0123456789ab']
    const holders = [nameOf(world, 1, world.processes.startTime(1) ?? ''), 'unknown', undefined]
    for (const [index, name] of names.entries()) {
      mkdirSync(`${paths.folder}/${name}`)
      const holder = holders[index]
      if (holder) writeFileSync(`${paths.folder}/${name}/${holder}`, '')
    }
    const odd = ['my-lock-1-0123456789ab', 'lock-1-0123456789abc']
    for (const name of odd) {
      mkdirSync(`${paths.folder}/${name}`)
      writeFileSync(`${paths.folder}/${name}/${nameOf(world, noPid, 'x')}`, '')
    }
    removeLeftovers(world, paths)
    expect(leftovers()).toEqual(['blobs', ...names, ...odd].sort())
  })

  test('reading the state removes the lock of a killed run at once, and files without a holder after ten minutes', () => {
    const { world, paths, held, leftovers } = aLock()
    held(nameOf(world, noPid, 'x'))
    mkdirSync(`${paths.lock}-999999-0123456789ab`)
    writeFileSync(paths.file('models.txt.999999'), 'm')
    writeFileSync(paths.file('address.txt.999999'), 'a')
    writeFileSync(paths.newGateways, '{')
    writeFileSync(paths.newFolders, '{')
    writeFileSync(paths.file('models.txt'), 'm')
    writeFileSync(paths.file('address.txt'), 'a')
    recoverRun(world)
    expect(leftovers()).toEqual([
      'address.txt',
      'address.txt.999999',
      'blobs',
      'folders-new.json',
      'gateways-new.json',
      'lock-999999-0123456789ab',
      'models.txt',
      'models.txt.999999',
    ])

    const later = new Date(Date.now() + 11 * 60_000)
    recoverRun({ ...world, clock: { now: () => later } })
    expect(leftovers()).toEqual(['address.txt', 'blobs', 'models.txt'])
  })

  test('reading the state keeps the lock of a living run', () => {
    const { world, held, holders } = aLock()
    const name = nameOf(world, 1, world.processes.startTime(1) ?? '')
    held(name)
    recoverRun(world)
    expect(holders()).toEqual([name])
  })

  test('removes the leftovers of a run that was killed while it waited', () => {
    const { world, paths, leftovers } = aLock()
    const leftover = `${paths.lock}-999999-0123456789ab`
    mkdirSync(leftover)
    writeFileSync(`${leftover}/${nameOf(world, noPid, 'x')}`, '')
    removeLeftovers(world, paths)
    expect(leftovers()).toEqual(['blobs'])
  })
})

function holdersAt(path: string): boolean {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}
