import { chmodSync, existsSync, rmSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'

/** `repoint codex --keep-login`: the key of the gateway is in repoint-key, and the ChatGPT login stays. */

const canary = 'sk-canary-0a1b2c3d4e5f60718293a4b5'
const newCanary = 'sk-canary-99887766554433221100ffee'
const otherCanary = 'sk-canary-5566778899aabbccddeeff00'

const login = JSON.stringify({
  auth_mode: 'chatgpt',
  OPENAI_API_KEY: null,
  tokens: { id_token: 'x.y.z', access_token: 'a.b.c', refresh_token: 'r', account_id: 'u' },
  last_refresh: '2026-11-01T00:00:00Z',
})

const [auth, keyFile, config] = ['auth.json', 'repoint-key', 'config.toml'].map(
  (name) => `.codex/${name}`,
) as [string, string, string]

function aHomeWithLogin(): Home {
  return aHome({ [auth]: login, [config]: '# mine\nmodel = "o3"\n' })
}

function aGateway(key: string): Promise<Gateway> {
  return withGateway({ key }, onTestFinished)
}

/** Runs a command, whose output must have no key. */
async function run(home: Home, line: string, env: Record<string, string> = {}) {
  const result = await runHere(home, line.split(' '), env)
  expect(result.text).not.toMatch(/sk-canary-/)
  expect(has(home, config) ? home.text(config) : '').not.toMatch(/sk-canary-/)
  return result
}

function has(home: Home, name: string): boolean {
  return existsSync(home.at(name))
}

/** The files of Codex, by name. */
function filesOf(home: Home): Record<string, string> {
  const names = [auth, keyFile, config].filter((name) => has(home, name))
  return Object.fromEntries(names.map((name) => [name, home.text(name)]))
}

test('every command reads and writes the key file, and the login stays byte for byte', async () => {
  let gateway = await aGateway(canary)
  const home = aHomeWithLogin()

  await setUp(home, 'codex --keep-login --name work', gateway)
  expect(filesOf(home)).toMatchObject({ [auth]: login, [keyFile]: `${canary}\n` })
  expect(home.text(config)).not.toContain(canary)
  expect(statSync(home.at(keyFile)).mode & 0o777).toBe(0o600)

  expect(await run(home, 'status codex')).toMatchObject({
    status: 0,
    json: { clients: [{ baseUrl: gateway.url, key: `....${canary.slice(-4)}` }] },
  })
  expect((await run(home, 'doctor codex')).status).toBe(0)

  const second = await setUp(home, 'codex', gateway)
  expect(second.json).toMatchObject({ changed: false })

  gateway = await replaceGateway(gateway, { key: newCanary })
  expect((await run(home, 'doctor codex')).status).toBe(3)
  expect(await run(home, 'key --yes', { REPOINT_API_KEY: newCanary })).toMatchObject({
    status: 0,
    json: { files: [{ path: home.at(keyFile), action: 'updated' }, { action: 'unchanged' }] },
  })
  expect(filesOf(home)).toMatchObject({ [auth]: login, [keyFile]: `${newCanary}\n` })
  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toMatchObject({ [auth]: login, [keyFile]: `${canary}\n` })
})

test('another gateway, off and rollback change the key file, and the login stays byte for byte', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  const before = filesOf(home)
  await setUp(home, 'codex --keep-login --name work', gateway)
  const other = await aGateway(otherCanary)
  await run(home, `gateways add ${other.url} --name other`, { REPOINT_API_KEY: otherCanary })
  expect((await run(home, 'use other codex --yes')).status).toBe(0)
  expect(filesOf(home)).toMatchObject({ [auth]: login, [keyFile]: `${otherCanary}\n` })
  expect(home.text(config)).toContain(other.url)

  const records = home.everything().filter((name) => /\/run-[^/]+\.json$/.test(name))
  expect(records.length).toBe(2)
  for (const name of records) expect(home.text(name)).not.toMatch(/sk-canary-/)

  const withOther = filesOf(home)
  expect((await run(home, 'off codex --yes')).status).toBe(0)
  expect(filesOf(home)).toEqual(before)
  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toEqual(withOther)
  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toMatchObject({ [auth]: login, [keyFile]: `${canary}\n` })
  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toEqual(before)
})

test('each form follows the other, and a rollback returns', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()

  await setUp(home, 'codex', gateway)
  const asKey = filesOf(home)
  expect(JSON.parse(asKey[auth]!)).toEqual({ OPENAI_API_KEY: canary })

  const { json } = await setUp(home, 'codex --keep-login', gateway)
  expect(json['warnings']).toContainEqual(expect.objectContaining({ code: 'codex-kept-login' }))
  const asLogin = filesOf(home)
  expect(asLogin).toMatchObject({ [auth]: login, [keyFile]: `${canary}\n` })
  expect((await run(home, 'doctor codex')).status).toBe(0)

  await setUp(home, 'codex --no-keep-login', gateway)
  expect(Object.keys(filesOf(home))).toEqual([auth, config])
  expect(home.text(auth)).toBe(asKey[auth])
  expect((await run(home, 'doctor codex')).status).toBe(0)

  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toEqual(asLogin)
  expect((await run(home, 'rollback --yes')).status).toBe(0)
  expect(filesOf(home)).toEqual(asKey)
})

test('a key file without its key, or that others can read, is reported', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  await setUp(home, 'codex --keep-login', gateway)

  chmodSync(home.at(keyFile), 0o644)
  expect(await run(home, 'status codex')).toMatchObject({
    status: 8,
    json: { clients: [{ obstacles: [{ code: 'private' }] }] },
  })

  rmSync(home.at(keyFile))
  const missing = await run(home, 'status codex')
  expect(missing.status).toBe(8)
  expect(JSON.stringify(missing.json)).toContain('repoint-key does not exist')

  await setUp(home, 'codex', gateway)
  expect(home.text(keyFile)).toBe(`${canary}\n`)
  expect(statSync(home.at(keyFile)).mode & 0o777).toBe(0o600)
})

test('a key file that is left behind is reported, and off removes it', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  await setUp(home, 'codex --keep-login', gateway)
  home.put(config, '# mine\n')

  const left = await run(home, 'status codex')
  expect(left.status).toBe(8)
  expect(JSON.stringify(left.json)).toContain('client-key-left')
  expect((await run(home, 'off codex --yes')).status).toBe(0)
  expect(has(home, keyFile)).toBe(false)
  expect(home.text(auth)).toBe(login)
})

test('forget reports a key file that is in use', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  await setUp(home, 'codex --keep-login', gateway)
  expect((await run(home, 'forget --all --yes')).status).toBe(0)
  expect(home.text(keyFile)).toBe(`${canary}\n`)
})

test('run starts Codex with the key in a variable, and without the command of the table', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  await setUp(home, 'codex --keep-login --name work', gateway)

  let started: unknown
  home.put('bin/codex', '#!/bin/sh\necho 0.171.0\n', 0o755)
  const { status } = await runInProcess(home, ['run', 'work', '--', 'codex'], {
    env: { PATH: `${home.at('bin')}:${process.env['PATH']}` },
    runInForeground: async (_, args, { env }) => {
      started = { args, key: env?.['REPOINT_RUN_KEY'] }
      return { reason: 'exited', exitStatus: 0 }
    },
  })
  expect(status).toBe(0)
  expect(started).toMatchObject({
    key: canary,
    args: expect.arrayContaining(['model_providers.repoint-run.env_key="REPOINT_RUN_KEY"']),
  })
  expect(home.text(auth)).toBe(login)
})

test.each([
  ['yes', true, [auth, keyFile, config]],
  ['no', false, [auth, config]],
])('a terminal asks whether to keep the login: %s', async (_, answer, names) => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  const questions: unknown[] = []
  const result = await runInProcess(home, ['codex', '--base-url', gateway.url], {
    env: { REPOINT_API_KEY: canary },
    ask: {
      confirm: async ({ message, default: preset }) => {
        questions.push([message, preset])
        return message.startsWith('Keep') ? answer : true
      },
    },
  })
  expect(result.status).toBe(0)
  expect(questions[0]).toEqual(['Keep your ChatGPT login?', true])
  expect(questions).toHaveLength(2)
  expect(Object.keys(filesOf(home))).toEqual(names)
  expect(home.text(auth) === login).toBe(answer)
})

test('a script without the flag replaces the login, and says what keeps it', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  const { json } = await setUp(home, 'codex', gateway)
  const message = expect.stringContaining('--keep-login')
  expect(json['warnings']).toContainEqual(expect.objectContaining({ code: 'codex-login', message }))
  expect(Object.keys(filesOf(home))).toEqual([auth, config])
})

test('an old Codex is refused before a request is sent', async () => {
  const gateway = await aGateway(canary)
  const home = aHomeWithLogin()
  home.put('bin/codex', '#!/bin/sh\necho 0.142.5\n', 0o755)
  const args = ['codex', '--keep-login', '--base-url', gateway.url, '--yes']
  const { status, stderr } = await runInProcess(home, args, {
    env: { REPOINT_API_KEY: canary, PATH: `${home.at('bin')}:${process.env['PATH']}` },
  })
  expect(stderr).toContain('cannot keep the login at a gateway: that needs 0.143.0 or newer')
  expect(status).toBe(8)
  expect(gateway.requests().filter(({ method }) => method === 'POST')).toEqual([])
  expect(home.text(auth)).toBe(login)
})
