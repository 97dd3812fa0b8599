import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildSync } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nodeProcesses } from '../../src/platform/node-processes.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { aHome } from '../support/home.ts'

const machine: Machine = { os: 'linux', env: {}, home: '/home/me', cwd: '/' }
const { run } = nodeProcesses(machine, 'here')
const { startTime } = nodeProcesses({ ...machine, os: platform() as Machine['os'] }, 'here')

/** A process that its parent has not collected yet counts as ended. */
function isAlive(pid: number): boolean {
  if (!(pid > 0)) throw new Error(`${pid} is no process ID`)
  return startTime(pid) !== undefined
}

/** How long the commands run if nothing ends them, in s. Longer than a test. */
const longS = 120

function aCommand(text: string, whenFinished = onTestFinished): string {
  const home = aHome({ command: text }, whenFinished)
  chmodSync(home.at('command'), 0o755)
  return home.at('command')
}

describe.runIf(process.platform !== 'win32')('a command', () => {
  test('started a dozen times at once, causes no warning of Node', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    await Promise.all(Array.from({ length: 12 }, () => run('true', [], { timeoutMs: 10_000 })))
    await sleep(0)
    process.off('warning', listen)
    expect(warnings).toEqual([])
  })

  test('does not wait for a background process with an open output', async () => {
    const codex = aCommand(
      `#!/bin/sh\n(sleep ${longS} & echo "$!")\necho "codex-cli 0.169.0"\nexit 0\n`,
    )
    const result = await run(codex, [], { timeoutMs: 50_000 })
    expect(result).toMatchObject({ exitStatus: 0, reason: 'exited' })
    expect(result.stdout).toMatch(/^\d+\ncodex-cli 0\.169\.0\n$/)
    const childPid = Number(result.stdout.split('\n')[0])
    expect(isAlive(childPid)).toBe(true)
    process.kill(childPid)
  })

  test('that ends immediately has all of its output read', async () => {
    const args = ['-e', 'process.stdout.write("x".repeat(3_000_000))']
    const { stdout } = await run(process.execPath, args, { timeoutMs: 20_000 })
    expect(stdout.length).toBe(3_000_000)
  })

  test('is killed if its output is too long', async () => {
    const result = await run('sh', ['-c', 'yes'], { timeoutMs: 20_000 })
    expect(result.reason).toBe('killed')
    expect(result.stdout.length).toBe(10_000_000)
  })

  test('never receives our variables, one of which is the key', async () => {
    process.env['REPOINT_API_KEY'] = 'sk-canary'
    process.env['REPOINT_TEST_OTHER'] = 'x'
    try {
      const options = { timeoutMs: 5_000 }
      const filtered = await run('env', [], options)
      const given = await run('env', [], {
        ...options,
        env: { ...process.env, GIVEN: 'yes' },
      })
      for (const { stdout } of [filtered, given]) expect(stdout).not.toContain('REPOINT_')
      expect(filtered.stdout).toContain('PATH=')
      expect(given.stdout).toContain('GIVEN=yes')

      // A client that is started gets those that point it at the gateway.
      const env = { ...process.env, REPOINT_RUN_PI: '{}', REPOINT_RUN_HEADER_1: 'x' }
      const launched = await run('env', [], { ...options, env, isLaunch: true })
      expect(launched.stdout).toContain('REPOINT_RUN_PI={}')
      expect(launched.stdout).toContain('REPOINT_RUN_HEADER_1=x')
      expect(launched.stdout).not.toContain('REPOINT_API_KEY')
    } finally {
      delete process.env['REPOINT_API_KEY']
      delete process.env['REPOINT_TEST_OTHER']
    }
  })
})

/** A time limit that leaves a shell on a busy machine time to start and print its first line, in ms. */
const startLimitMs = 2_000

// These tests only wait, so they wait together.
describe.runIf(process.platform !== 'win32')(
  'a command that does not end',
  { concurrent: true },
  () => {
    test('ends at its time limit with all its child processes', async ({
      expect,
      onTestFinished,
    }) => {
      const slow = aCommand(
        `#!/bin/sh\nsleep ${longS} &\necho "$!"\nsleep ${longS}\necho never\n`,
        onTestFinished,
      )
      const result = await run(slow, [], { timeoutMs: startLimitMs })
      expect(result).toMatchObject({ exitStatus: undefined, reason: 'timed-out' })
      const childPid = Number(result.stdout)
      await expect.poll(() => isAlive(childPid)).toBe(false)
    })

    test('is killed after its time limit if it ignores signals', async ({
      expect,
      onTestFinished,
    }) => {
      const deaf = aCommand(
        '#!/bin/sh\ntrap "" TERM\necho "$$"\nwhile true; do sleep 1; done\n',
        onTestFinished,
      )
      const result = await run(deaf, [], { timeoutMs: startLimitMs })
      expect(result).toMatchObject({ reason: 'timed-out' })
      expect(isAlive(Number(result.stdout))).toBe(false)
    })

    test('ends when a signal ends repoint', async ({ expect, onTestFinished }) => {
      const command = aCommand(
        `#!/bin/sh\necho "$$" > "$0.pid"\nexec sleep ${longS}\n`,
        onTestFinished,
      )
      const home = aHome({}, onTestFinished)
      buildSync({
        stdin: {
          contents: `import { run } from './src/platform/node-run.ts'
          void run('linux', ${JSON.stringify(command)}, [], { timeoutMs: 60_000 })`,
          resolveDir: process.cwd(),
          loader: 'ts',
        },
        outfile: home.at('caller.cjs'),
        bundle: true,
        platform: 'node',
        logLevel: 'error',
      })
      const caller = spawn(process.execPath, [home.at('caller.cjs')], { stdio: 'ignore' })
      const ended = once(caller, 'exit')
      const pid = () =>
        Number(existsSync(`${command}.pid`) && readFileSync(`${command}.pid`, 'utf8'))
      await expect.poll(pid).toBeGreaterThan(0)
      caller.kill('SIGINT')
      expect(await ended).toEqual([null, 'SIGINT'])
      await expect.poll(() => isAlive(pid())).toBe(false)
    })
  },
)
