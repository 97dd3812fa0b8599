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

  describe('on Windows', () => {
    const env = { Path: 'C:\\a;b;C:\\c', PATHEXT: '.COM;.EXE;.BAT;.CMD' }
    const windows: Machine = { ...machine, os: 'win32', env }

    test('finds the .cmd shim that npm installs, whatever the case of Path', () => {
      expect(findProgram(windows, 'codex', found(['C:\\c\\codex.CMD']))).toBe('C:\\c\\codex.CMD')
    })

    test('prefers a program over a shim in the same folder, and searches no relative folder', () => {
      const asked: string[] = []
      findProgram(windows, 'codex', (path) => {
        asked.push(path)
        return false
      })
      expect(asked).toEqual(
        ['C:\\a', 'C:\\c'].flatMap((folder) =>
          ['COM', 'EXE', 'BAT', 'CMD'].map((extension) => `${folder}\\codex.${extension}`),
        ),
      )
    })
  })
})

test('a Windows task list gives the name of the program, or nothing', () => {
  expect(imageName('"node.exe","4711","Console","1","40,000 K"')).toBe('node.exe')
  expect(imageName('INFO: No tasks are running which match the specified criteria.')).toBe('')
})
