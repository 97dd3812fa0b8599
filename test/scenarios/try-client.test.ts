import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { aHome, type Home } from '../support/home.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-708192a3b47f3a9b2c4d5e6f'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ port: 0, key: canary })
})
afterAll(() => gateway.close())

/** A home with a `codex` of its own: a shell script. Real clients are tried in test/clients. */
function withCodex(script: string): Home {
  const home = aHome()
  home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
  return home
}

function tryCodex(home: Home, env: Record<string, string> = {}) {
  return runCli(home, ['codex', '--base-url', gateway.url, '--yes', '--json', '--try-client'], {
    env: { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:/usr/bin:/bin`, ...env },
  })
}

test('--try-client: tells what the client said, and that it was asked for ping', async () => {
  const { json, status } = await tryCodex(withCodex('echo "heard: $*"'))
  expect(json).toMatchObject({
    changed: true,
    tried: [{ client: 'codex', said: expect.stringMatching(/^heard: exec .*ping$/) }],
  })
  expect(status).toBe(0)
})

test('--try-client: the client runs in an empty folder of ours, which is gone afterwards', async () => {
  const home = withCodex('echo "$(stat -c %a .) $(ls -A | wc -l) $PWD $(pwd -P)"; touch left')
  const project = home.at('project')
  home.put('project/opencode.json', '{"provider": {}}')
  const { json } = await runCli(
    home,
    ['codex', '--base-url', gateway.url, '--yes', '--json', '--try-client'],
    {
      cwd: project,
      env: { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:/usr/bin:/bin`, PWD: project },
    },
  )
  const { said } = (json as { tried: { said: string }[] }).tried[0]!
  const [mode, entries, pwd, folder] = said.split(' ')
  expect([mode, entries]).toEqual(['700', '0'])
  expect(pwd).toBe(folder)
  expect(folder).toContain(home.at('.local/state/repoint/'))
  expect(existsSync(folder!)).toBe(false)
  expect((await runCli(home, ['rollback', '--yes', '--json'])).json).toMatchObject({
    changed: true,
  })
})

test('a client is asked for its version in the home, not in a project', async () => {
  const home = withCodex('pwd > "$HOME/where"; echo 0.169.0')
  home.put('project/opencode.json', '{"provider": {}}')
  await runCli(home, ['doctor', '--no-verify'], {
    cwd: home.at('project'),
    env: { PATH: `${home.at('bin')}:/usr/bin:/bin` },
  })
  expect(home.text('where')).toBe(`${home.path}\n`)
})

test('--try-client: Ctrl-C ends the client too, and the state of the files is told', async () => {
  const home = withCodex('echo $$ > "$HOME/pid"; exec sleep 60')
  const run = runOnTerminal(home, ['codex', '--base-url', gateway.url, '--yes', '--try-client'], {
    env: { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:/usr/bin:/bin` },
  })
  await run.shows('Trying Codex')
  const pid = () => (existsSync(home.at('pid')) ? Number(home.text('pid')) : 0)
  while (!pid()) await new Promise((settle) => setTimeout(settle, 20))
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
  expect(run.screen()).toContain('The files were changed')
  expect(() => process.kill(pid(), 0)).toThrow()
  expect(readdirSync(home.at('.local/state/repoint')).join(' ')).not.toContain('.try-')
})

test('--try-client: a client that fails is an error, with the files as they are', async () => {
  const home = withCodex('echo "stream error: 401 Invalid token" >&2; exit 1')
  const { json, status } = await tryCodex(home)
  expect(json).toMatchObject({
    error: {
      code: 'client-failed',
      message: expect.stringContaining('stream error: 401 Invalid token'),
      filesChanged: true,
    },
  })
  expect(status).toBe(8)
})

test('--try-client: what a failing client prints of its configuration is not passed on', async () => {
  const home = withCodex(`echo '{"mcp":{"env":{"DB":"other-secret-01"}}} is invalid'; exit 1`)
  expect((await tryCodex(home)).stdout).not.toContain('other-secret-01')
})

test('--try-client: the key is not in the client’s environment', async () => {
  const home = withCodex('env; echo done')
  const { stdout } = await tryCodex(home)
  expect(stdout).toContain('done')
  expect(stdout).not.toContain('REPOINT_API_KEY')
})

test('--try-client: without the client nothing is written', async () => {
  const home = aHome()
  const { json } = await tryCodex(home)
  expect(json).toMatchObject({ error: { code: 'client-failed', filesChanged: false } })
  expect(home.snapshot()).toEqual({})
})
