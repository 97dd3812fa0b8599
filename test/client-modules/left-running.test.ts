import { describe, expect, test } from 'vitest'
import type { ClientWorld } from '../../src/clients/contract/client.ts'
import type { Finding } from '../../src/finding.ts'
import type { Platform, RunResult } from '../../src/platform/platform.ts'
import { aMachine, byId, findingsOn } from './support.ts'

/** Codex 0.169.0 writes this file, with a digest that is omitted here (2026-11-21). */
const pidFile =
  '{"pid":31089,"processStartTime":"Sat Nov 21 09:46:41 2026","processIdentity":{"bootId":"0cba85fa","startTicks":200495}}'

/** Codex 0.169.0 prints this (2026-11-21). */
const stopped =
  '{"status":"stopped","backend":"pid","socketPath":"/home/ada/.codex/app-server-control/app-server-control.sock","cliVersion":"0.169.0"}\n'
const notRunning = stopped.replace('stopped', 'notRunning')

interface Fake {
  readonly files?: Readonly<Record<string, string>>
  /** The modification time of each file. The default is 0. */
  readonly modifiedMs?: Readonly<Record<string, number>>
  readonly alive?: readonly number[]
  readonly inPath?: boolean
  readonly result?: Partial<RunResult>
}

function outside({ files = {}, modifiedMs = {}, alive = [], inPath = true, result = {} }: Fake) {
  const ran: { command: string; args: readonly string[] }[] = []
  const missing = () => Object.assign(new Error('no such file'), { code: 'ENOENT' })
  const world = {
    machine: aMachine({ env: { CODEX_HOME: '/srv/codex' } }),
    files: {
      read: (path: string) => {
        if (files[path] === undefined) throw missing()
        return new TextEncoder().encode(files[path])
      },
      stat: (path: string) => {
        if (files[path] === undefined) throw missing()
        return { kind: 'file', modifiedMs: modifiedMs[path] ?? 0 }
      },
    },
    processes: {
      startTime: (pid: number) => (alive.includes(pid) ? 'then' : undefined),
      which: () => (inPath ? '/usr/bin/codex' : undefined),
      run: async (command: string, args: readonly string[]) => {
        ran.push({ command, args })
        return { exitStatus: 0, reason: 'exited', stdout: stopped, stderr: '', ...result }
      },
    },
  } as unknown as Pick<Platform, 'files' | 'processes' | 'machine'>
  return { world, ran }
}

const pidPath = '/srv/codex/app-server-daemon/daemon.pid'

const codex = byId('codex')

/** The server that `checkNow` finds for Codex. */
function serverIn(world: ClientWorld): Finding | undefined {
  const found = findingsOn(codex, {}, world.machine, { world })
  return found.find(({ code }) => code === 'codex-server')
}

const running = { files: { [pidPath]: pidFile }, alive: [31089] }

describe('check finds a server of Codex', () => {
  test('if it has a pid file and its process is running', () => {
    const { world, ran } = outside(running)
    expect(serverIn(world)).toMatchObject({
      message: expect.stringContaining('pid 31089'),
      hint: 'codex app-server daemon stop',
    })
    expect(ran).toEqual([])
  })

  test('only if it started before the key was written, because it has the current key otherwise', () => {
    const authPath = '/srv/codex/auth.json'
    const files = { ...running.files, [authPath]: '{"OPENAI_API_KEY":"sk-a"}' }
    const found = (startedMs: number) =>
      serverIn(
        outside({ ...running, files, modifiedMs: { [pidPath]: startedMs, [authPath]: 1000 } })
          .world,
      )
    expect(found(999)).toMatchObject({
      message: expect.stringContaining('pid 31089'),
      hint: 'codex app-server daemon stop',
    })
    expect(found(1001)).toBeUndefined()
  })

  test.each([
    ['auth.json', 'repoint-key'],
    ['repoint-key', 'auth.json'],
  ])('also if only %s is newer than the server', (newer, older) => {
    const [newerPath, olderPath] = [newer, older].map((name) => `/srv/codex/${name}`)
    const files = { ...running.files, [newerPath!]: '{}', [olderPath!]: '{}' }
    const modifiedMs = { [olderPath!]: 1, [pidPath]: 2, [newerPath!]: 3 }
    expect(serverIn(outside({ ...running, files, modifiedMs }).world)).toBeDefined()
  })

  test.each([
    ['without a pid file', {}],
    ['with a pid file whose process has ended', { files: { [pidPath]: pidFile } }],
    ['with a damaged pid file', { files: { [pidPath]: '{"pid":"1"}' }, alive: [1] }],
    ['with an empty pid file', { files: { [pidPath]: '' }, alive: [1] }],
  ])('but not %s', (_, fake) => {
    expect(serverIn(outside(fake).world)).toBeUndefined()
  })
})

describe('to stop the server', () => {
  test('repoint runs codex', async () => {
    const { world, ran } = outside(running)
    expect(await serverIn(world)?.process?.stop()).toBeUndefined()
    expect(ran).toEqual([{ command: '/usr/bin/codex', args: ['app-server', 'daemon', 'stop'] }])
  })

  test('without codex in PATH, repoint runs the copy that the server runs from', async () => {
    const copy = '/srv/codex/packages/app-server-daemon/current/bin/codex'
    const files = { ...running.files, [copy]: '' }
    const { world, ran } = outside({ ...running, inPath: false, files })
    await serverIn(world)?.process?.stop()
    expect(ran[0]?.command).toBe(copy)
  })

  test.each([
    [{ result: { stdout: notRunning } }, undefined],
    [
      { result: { exitStatus: 1, stdout: '', stderr: 'WARNING: x\nError: failed to connect\n' } },
      'Error: failed to connect',
    ],
    [
      { result: { exitStatus: undefined, reason: 'timed-out', stdout: '' } },
      'it did not end within 30 s',
    ],
    [{ inPath: false }, 'codex is not in PATH'],
  ] as const)('repoint runs codex with %j, and reports a failure: %s', async (fake, why) => {
    const { world } = outside({ ...running, ...(fake as Fake) })
    expect(await serverIn(world)?.process?.stop()).toBe(why)
  })
})
