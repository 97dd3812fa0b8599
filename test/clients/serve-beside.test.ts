import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { installClients, type Program } from './support/install.ts'

/** `repoint serve -- CLIENT`: the client uses the local gateway, whatever its files say. */

const { codex, claude, opencode } = installClients()

/** A home with the client in its `bin`, and how to run something there. */
function homeWith(name: string, start: Program) {
  const home = aHome({ 'work/.keep': '' })
  const quoted = start.map((word) => `'${word}'`).join(' ')
  // opencode waits for the end of a standard input that is a socket.
  home.put(`bin/${name}`, `#!/bin/sh\nexec ${quoted} "$@" </dev/null\n`, 0o755)
  return (...args: string[]) =>
    runCli(home, args, {
      cwd: home.at('work'),
      env: {
        PATH: `${home.at('bin')}:${process.env['PATH']}`,
        REPOINT_API_KEY: 'sk-beside-3f2e1d0c9b8a7654',
      },
      timeoutMs: 150_000,
    })
}

test.each([
  ['codex', codex, ['exec', '--skip-git-repo-check', 'ping']],
  ['claude', claude['2.1.330'], ['-p', 'ping']],
  ['opencode', opencode, ['run', 'ping']],
])('%s in a fresh home answers', async (name, start, args) => {
  const { status, stdout, stderr } = await homeWith(name, start)('serve', '--', name, ...args)
  expect({ status, stdout }, stderr).toEqual({
    status: 0,
    stdout: expect.stringContaining('pong'),
  })
})

test('codex in a home that is set up for another gateway answers too', async () => {
  const run = homeWith('codex', codex)
  const elsewhere = ['--base-url', 'http://127.0.0.1:9', '--model', 'another-model']
  expect((await run('codex', ...elsewhere, '--no-verify', '--yes', '--json')).status).toBe(0)
  const { stdout } = await run('serve', '--', 'codex', 'exec', '--skip-git-repo-check', 'ping')
  expect(stdout).toContain('pong')
})
