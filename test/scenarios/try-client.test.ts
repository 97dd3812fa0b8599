import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { aServer } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-708192a3b47f3a9b2c4d5e6f'

const gateway = await withGateway({ key: canary })

/** A home with a `codex` that is a shell script. test/clients tries real clients. */
function withCodex(script: string): Home {
  const home = aHome()
  home.put('bin/codex', `#!/bin/sh\n${script}\n`, 0o755)
  return home
}

function tryCodex(home: Home, env: Record<string, string> = {}) {
  return runInProcess(
    home,
    ['codex', '--base-url', gateway.url, '--yes', '--json', '--try-client'],
    {
      env: { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:/usr/bin:/bin`, ...env },
    },
  )
}

test('--try-client: reports the answer of the client to the prompt ping', async () => {
  const { json, status } = await tryCodex(withCodex('echo "heard: $*"'))
  expect(json).toMatchObject({
    changed: true,
    tried: [{ client: 'codex', said: expect.stringMatching(/^heard: exec .*ping$/) }],
  })
  expect(status).toBe(0)
})

test('--try-client: fails if the client sends another key first, whatever it answers', async () => {
  const asking = (key: string) =>
    `${process.execPath} -e "fetch('${gateway.url}/v1/models', {headers: {authorization: 'Bearer ${key}'}})"`
  const right = await tryCodex(withCodex(`${asking(canary)} && echo pong`))
  expect(right).toMatchObject({ status: 0, json: { tried: [{ said: 'pong' }] } })

  const script = `${asking('sk-saved-login')} && ${asking(canary)} && echo pong`
  const { json, status, stdout } = await tryCodex(withCodex(script))
  expect({ json, status }).toMatchObject({
    status: 8,
    json: {
      error: { code: 'client-failed', message: expect.stringContaining('sent another key') },
    },
  })
  expect(stdout).not.toContain('sk-saved-login')
})

test('--try-client: the client runs in an empty folder of ours, which is removed afterwards', async () => {
  const home = withCodex('echo "$(stat -c %a .) $(ls -A | wc -l) $PWD $(pwd -P)"; touch left')
  const project = home.at('project')
  home.put('project/opencode.json', '{"provider": {}}')
  const { json } = await runInProcess(
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
  expect((await runInProcess(home, ['rollback', '--yes', '--json'])).json).toMatchObject({
    changed: true,
  })
})

test('repoint asks a client for its version in the home, not in a project', async () => {
  const home = withCodex('pwd > "$HOME/where"; echo 0.169.0')
  home.put('project/opencode.json', '{"provider": {}}')
  await runCli(home, ['doctor', '--no-verify'], {
    cwd: home.at('project'),
    env: { PATH: `${home.at('bin')}:/usr/bin:/bin` },
  })
  expect(home.text('where')).toBe(`${home.path}\n`)
})

test('--try-client: Ctrl-C ends the client too, and the error describes the state of the files', async () => {
  const home = withCodex('[ "$1" = exec ] && { echo $$ > "$HOME/pid"; exec sleep 60; }')
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

test('--try-client: a client that fails is an error, which describes the state of the files', async () => {
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

test('--try-client: the error does not repeat what a failing client prints of its configuration', async () => {
  const home = withCodex(`echo '{"mcp":{"env":{"DB":"other-secret-01"}}} is invalid'; exit 1`)
  expect((await tryCodex(home)).stdout).not.toContain('other-secret-01')
})

test('--try-client: the key is not in the client’s environment', async () => {
  const home = withCodex('env; echo done')
  const { stdout } = await tryCodex(home)
  expect(stdout).toContain('done')
  expect(stdout).not.toContain('REPOINT_API_KEY')
})

describe('a gateway that accepts only certain clients', () => {
  async function setUpAt(home: Home, ...args: string[]) {
    const { port, seen } = await aServer(({ method }, response) => {
      const list = { data: [{ id: 'gpt-5.6-sol' }] }
      const message = 'This plan is currently only available for Coding Agents such as Codex.'
      response.writeHead(method === 'GET' ? 200 : 403, { 'content-type': 'application/json' })
      response.end(JSON.stringify(method === 'GET' ? list : { error: { message } }))
    })
    const env = { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:/usr/bin:/bin` }
    const url = `http://127.0.0.1:${port}`
    const flags = ['--base-url', url, '--yes', '--json', ...args]
    return { ...(await runInProcess(home, ['codex', ...flags], { env })), url, seen }
  }

  async function gatewaysIn(home: Home) {
    return (await runInProcess(home, ['gateways', '--json'])).json
  }

  test('is checked with the installed client, without a flag and before anything is written', async () => {
    const home = withCodex(
      'ls -A "$HOME" > "$PWD/../../../../../asked"; echo "$HOME $PWD" >> "$PWD/../../../../../asked"; echo pong',
    )
    const { status, json, seen, url } = await setUpAt(home)
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { changed: true, verified: { before: true, after: true } },
    })
    expect((json as { warnings: { code: string }[] }).warnings).toContainEqual(
      expect.objectContaining({ code: 'proven-by-client' }),
    )
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
    expect(await gatewaysIn(home)).toMatchObject({ gateways: [{ baseUrl: url, proven: null }] })

    const [place = ''] = home.text('asked').trim().split('\n').slice(-1)
    const [itsHome = '', folder = ''] = place.split(' ')
    for (const path of [itsHome, folder]) {
      expect(path).toContain(home.at('.local/state/repoint/.try-'))
      expect(existsSync(path)).toBe(false)
    }
  })

  test('is passed to the client with address and key, for this one process', async () => {
    const home = withCodex(
      'echo "$*" > "$PWD/../../../../../args"; env > "$PWD/../../../../../env"; echo pong',
    )
    const { url } = await setUpAt(home)
    const received = home.text('args') + home.text('env')
    expect(received).toContain(url)
    expect(received).toContain(canary)
    expect(home.text('args')).not.toContain(canary)
  })

  test('is not set up if the client fails', async () => {
    const home = withCodex('echo "stream error: 403 Forbidden" >&2; exit 1')
    home.put('.codex/config.toml', '# mine\nmodel = "o3"\n')
    const before = home.snapshot()
    const { status, json } = await setUpAt(home)
    expect({ status, json }).toMatchObject({
      status: 7,
      json: {
        changed: false,
        error: {
          code: 'client-refused',
          message: expect.stringContaining('stream error: 403 Forbidden'),
          filesChanged: false,
        },
      },
    })
    expect(home.snapshot()).toEqual(before)
    expect(await gatewaysIn(home)).toMatchObject({ gateways: [] })
  })

  test('is not set up without the client, and the hint says so', async () => {
    const { status, json } = await setUpAt(aHome())
    expect({ status, json }).toMatchObject({
      status: 7,
      json: { error: { code: 'client-refused', hint: expect.stringContaining('Install Codex') } },
    })
  })
})

test('--try-client: writes nothing without the client', async () => {
  const home = aHome()
  const { json } = await tryCodex(home)
  expect(json).toMatchObject({ error: { code: 'client-failed', filesChanged: false } })
  expect(home.snapshot()).toEqual({})
})
