import { describe, expect, test } from 'vitest'
import type { SystemReader } from '../../src/clients/client.ts'
import type { Finding } from '../../src/finding.ts'
import type { Platform, RunResult } from '../../src/platform/platform.ts'
import { aMachine, byId, obstaclesOn } from './support.ts'

/** As 0.169.0 writes it, the digest left out (2026-11-21). */
const pidFile =
  '{"pid":31089,"processStartTime":"Sat Nov 21 09:46:41 2026","processIdentity":{"bootId":"0cba85fa","startTicks":200495}}'

/** What 0.169.0 answers (2026-11-21). */
const stopped =
  '{"status":"stopped","backend":"pid","socketPath":"/home/ada/.codex/app-server-control/app-server-control.sock","cliVersion":"0.169.0"}\n'
const notRunning = stopped.replace('stopped', 'notRunning')

interface Fake {
  readonly files?: Readonly<Record<string, string>>
  /** When each changed last; 0 where it is not said. */
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

/** The server that the check of Codex finds. */
function serverIn(system: SystemReader): Finding | undefined {
  const found = obstaclesOn(codex, {}, system.machine, { system })
  return found.find(({ code }) => code === 'codex-server')
}

const running = { files: { [pidPath]: pidFile }, alive: [31089] }

describe('finding what Codex has left running', () => {
  test('a pid file and a living process', () => {
    const { world, ran } = outside(running)
    expect(serverIn(world)).toMatchObject({
      message: expect.stringContaining('pid 31089'),
      hint: 'codex app-server daemon stop',
    })
    expect(ran).toEqual([])
  })

  test('it started after the key was written: it holds the present one', () => {
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
    ['no pid file', {}],
    ['a pid file that outlived its process', { files: { [pidPath]: pidFile } }],
    ['a damaged pid file', { files: { [pidPath]: '{"pid":"1"}' }, alive: [1] }],
    ['an empty pid file', { files: { [pidPath]: '' }, alive: [1] }],
  ])('%s is none', (_, fake) => {
    expect(serverIn(outside(fake).world)).toBeUndefined()
  })
})

describe('stopping it', () => {
  test('Codex itself is asked', async () => {
    const { world, ran } = outside(running)
    expect(await serverIn(world)?.process?.stop()).toBeUndefined()
    expect(ran).toEqual([{ command: '/usr/bin/codex', args: ['app-server', 'daemon', 'stop'] }])
  })

  test('without codex in PATH, the copy that runs the server is asked', async () => {
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
  ] as const)('%j', async (fake, why) => {
    const { world } = outside({ ...running, ...(fake as Fake) })
    expect(await serverIn(world)?.process?.stop()).toBe(why)
  })
})
