import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'

/** `repoint serve -- CLIENT`: the client uses the local gateway, whatever its files say. */

/** A home with the client in its `bin`, and how to run something there. */
function homeWith(name: string) {
  const home = aHome({ 'work/.keep': '' })
  putInBin(home, name, installedClient(name))
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
  ['codex', ['exec', '--skip-git-repo-check', 'ping']],
  ['claude', ['-p', 'ping']],
  ['opencode', ['run', 'ping']],
])('%s in a fresh home answers', async (name, args) => {
  const { status, stdout, stderr } = await homeWith(name)('serve', '--', name, ...args)
  expect({ status, stdout }, stderr).toEqual({
    status: 0,
    stdout: expect.stringContaining('pong'),
  })
})

test('codex in a home that is set up for another gateway answers too', async () => {
  const run = homeWith('codex')
  const elsewhere = ['--base-url', 'http://127.0.0.1:9', '--model', 'another-model']
  expect((await run('codex', ...elsewhere, '--no-verify', '--yes', '--json')).status).toBe(0)
  const { stdout } = await run('serve', '--', 'codex', 'exec', '--skip-git-repo-check', 'ping')
  expect(stdout).toContain('pong')
})
