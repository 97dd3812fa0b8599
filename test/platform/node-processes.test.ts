import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { findProgram, imageName, nodeProcesses } from '../../src/platform/node-processes.ts'
import type { Machine } from '../../src/platform/platform.ts'

const machine: Machine = {
  os: 'linux',
  env: { PATH: process.env['PATH'] },
  home: '/home/me',
  cwd: '/',
}
const processes = nodeProcesses(machine, 'here')

describe('processes', () => {
  test.runIf(process.platform === 'linux')(
    'a living process has a start time, and a dead one has none',
    async () => {
      expect(processes.startTime(process.pid)).toMatch(/^\d+$/)
      expect(processes.startTime(process.pid)).toBe(processes.startTime(process.pid))
      const child = spawn('sleep', ['60'])
      const pid = child.pid ?? 0
      expect(processes.startTime(pid)).toMatch(/^\d+$/)
      child.kill('SIGKILL')
      while (processes.startTime(pid) !== undefined) await sleep(5)
      expect(processes.startTime(2 ** 30)).toBeUndefined()
    },
  )

  test.runIf(process.platform === 'linux')('a boot has an id', () => {
    expect(processes.bootId()).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('run waits for a command and passes its environment', async () => {
    const result = await processes.run('sh', ['-c', 'echo "$A"; echo e >&2; exit 3'], {
      timeoutMs: 5_000,
      env: { A: 'given', B: undefined, PATH: process.env['PATH'] },
    })
    expect(result).toEqual({ exitStatus: 3, reason: 'exited', stdout: 'given\n', stderr: 'e\n' })
  })

  test('run reports a command that is missing, too slow or killed, and does not throw', async () => {
    const run = (command: string, args: string[], timeoutMs = 5_000) =>
      processes.run(command, args, { timeoutMs })
    expect(await run('no-such-command', [])).toMatchObject({ reason: 'not-found' })
    expect(await run('sleep', ['60'], 50)).toMatchObject({
      reason: 'timed-out',
      exitStatus: undefined,
    })
    expect(await run('sh', ['-c', 'kill -9 $$'])).toMatchObject({ reason: 'killed' })
  })
})

describe('which', () => {
  const found = (files: readonly string[]) => (path: string) => files.includes(path)

  test('finds the first in PATH, and skips relative entries', () => {
    const here = { ...machine, env: { PATH: '.::/a:/b' } }
    expect(findProgram(here, 'codex', found(['codex', '/a/codex', '/b/codex']))).toBe('/a/codex')
    expect(findProgram(here, 'claude', found(['./claude']))).toBeUndefined()
  })

  test('on Windows tries the extensions of PATHEXT, whatever the case of Path', () => {
    const env = { Path: 'C:\\a;C:\\b', PATHEXT: '.EXE;.CMD' }
    const windows: Machine = { ...machine, os: 'win32', env }
    expect(findProgram(windows, 'codex', found(['C:\\b\\codex.CMD']))).toBe('C:\\b\\codex.CMD')
  })
})

test('a Windows task list gives the name of the program, or nothing', () => {
  expect(imageName('"node.exe","4711","Console","1","40,000 K"')).toBe('node.exe')
  expect(imageName('INFO: No tasks are running which match the specified criteria.')).toBe('')
})
