import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { killedBefore } from '../support/runs.ts'
import { setUp, setUpOffline } from '../support/setup.ts'

const key = 'sk-canary-d41f0c7b93aa4412'
/** A loopback address where nothing listens, because drift is reported without a network. */
const url = 'http://127.0.0.1:9'

async function drift(home: Home, ...args: string[]) {
  const { status, json, stdout } = await runInProcess(home, ['status', ...args, '--json'])
  expect(stdout).not.toContain(key)
  const { drifted, clients } = json as {
    drifted: boolean
    clients: { id: string; expected: string | null; drift: string[] }[]
  }
  return { status, drifted, reasons: clients.flatMap(({ drift }) => drift) }
}

test.each(['status', 'doctor --no-verify'])(
  '%s: recovers an interrupted run before it reads the records',
  async (words) => {
    const home = aHome()
    killedBefore(home, /run-.*\.json$/)
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[notice]\nx = true\n`)

    const { stdout, json } = await runInProcess(home, [...words.split(' '), '--json'])
    expect(stdout).toContain('was interrupted, and other programs changed its files since')
    const { clients = [] } = json as { clients?: { id: string; files: { run?: string }[] }[] }
    const codex = clients.find(({ id }) => id === 'codex')
    if (words === 'status') expect(codex?.files.some(({ run }) => run !== undefined)).toBe(true)
  },
)

test.each(['status', 'doctor --no-verify'])(
  '%s: reports an interrupted run once',
  async (words) => {
    const home = aHome()
    killedBefore(home, /run-.*\.json$/)
    const { stdout, stderr } = await runInProcess(home, words.split(' '))
    expect((stdout + stderr).split('was interrupted')).toHaveLength(2)
  },
)

describe('status --exit-code', () => {
  test('without a setup, and after an unchanged one: status 0', async () => {
    const home = aHome({ '.codex/config.toml': 'model = "o3"\n' })
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 0, drifted: false })
    await setUpOffline(home, 'codex', { url, key })
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 0, reasons: [] })
  })

  test.each<[string, (home: Home) => void, RegExp]>([
    [
      'another address',
      (home) =>
        home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "https://x.example/v1"'),
      /points at https:\/\/x\.example, expected http/,
    ],
    [
      'another model',
      (home) => home.replace('.codex/config.toml', /gpt-5\.6-sol/, 'gpt-5.4'),
      /^model gpt-5\.4 \(repoint set gpt-5\.6-sol\)$/,
    ],
    ['no address', (home) => rmSync(home.at('.codex/config.toml')), /its own service/],
    [
      'a login in the place of the key',
      (home) => home.put('.codex/auth.json', '{"auth_mode":"chatgpt","tokens":{"id_token":"x"}}'),
      /a ChatGPT login/,
    ],
    [
      'another key',
      (home) => home.put('.codex/auth.json', '{"OPENAI_API_KEY":"sk-other-0123456789"}'),
      /another key/,
    ],
    [
      'a file that cannot be read',
      (home) => home.put('.codex/config.toml', 'model = {{{'),
      /cannot read/,
    ],
    [
      'a setting that keeps the key from being used',
      (home) => home.replace('.codex/config.toml', /^/, 'cli_auth_credentials_store = "keyring"\n'),
      /cli_auth_credentials_store|keyring/,
    ],
  ])('%s: status 11, and only with the flag', async (name, change, reason) => {
    const home = aHome()
    await setUpOffline(home, 'claude', { url, key })
    await setUpOffline(home, 'codex', { url, key })
    change(home)
    const before = home.snapshot()
    const found = await drift(home, '--exit-code')
    expect(found).toMatchObject({ status: 11, drifted: true })
    expect(found.reasons).toEqual([expect.stringMatching(reason)])
    // Without the flag only what keeps the client from working counts.
    const isWorking = ['another model', 'another key'].includes(name)
    expect((await drift(home)).status).toBe(isWorking ? 0 : 8)
    expect((await drift(home, 'claude', '--exit-code')).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test('a rollback is no drift, and a redo expects the gateway again', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    await runInProcess(home, ['rollback', '--yes'])
    expect((await drift(home, '--exit-code')).status).toBe(0)
    await runInProcess(home, ['rollback', '--yes', '--redo'])
    expect((await drift(home, '--exit-code')).status).toBe(0)
    rmSync(home.at('.codex/config.toml'))
    expect((await drift(home, '--exit-code')).status).toBe(11)
  })
})

test("a setup that keeps the user's changes counts as approval, though it writes nothing", async () => {
  const home = aHome()
  await setUpOffline(home, 'opencode', { url, key })
  const file = '.config/opencode/opencode.json'
  const small = (id: string) => home.replace(file, /("small_model": )"[^"]*"/, `$1"gateway/${id}"`)
  const again = async () => (await setUp(home, 'opencode --no-verify', { url, key })).json
  const runs = async () => (await runHere(home, ['rollback', '--list'])).json['runs']

  small('gpt-5.6-luna')
  const before = home.snapshot()
  expect((await drift(home, '--exit-code')).status).toBe(11)
  expect(await again()).toMatchObject({ changed: false, run: null })
  expect(await again()).toMatchObject({ changed: false, run: null })
  expect(await drift(home, '--exit-code')).toMatchObject({ status: 0, reasons: [] })
  expect(home.snapshot()).toEqual(before)
  expect(await runs()).toHaveLength(2)

  small('gpt-5.6-terra')
  expect((await drift(home, '--exit-code')).reasons).toEqual([
    'small model gpt-5.6-terra (repoint set gpt-5.6-luna)',
  ])
  small('gpt-5.6-luna')
  await runInProcess(home, ['rollback', '--yes'])
  expect((await drift(home, '--exit-code')).status).toBe(0)
  await runInProcess(home, ['rollback', '--force', '--yes'])
  expect(home.snapshot()).toEqual({})
})

describe('doctor --fix does not approve what someone else has changed', () => {
  const elsewhere = 'base_url = "https://x.example/v1"'
  const fix = (home: Home, ...args: string[]) =>
    runInProcess(home, ['doctor', 'codex', '--fix', '--no-verify', '--json', ...args])
  const fileStates = async (home: Home) => {
    const { json } = await runInProcess(home, ['status', 'codex', '--json'])
    const [codex] = (json as { clients: [{ files: { path: string; state: string }[] }] }).clients
    return codex.files.map(({ state }) => state)
  }

  /** Set up, then redirected by hand, and with something that is safe to repair. */
  async function aRedirectedHome(): Promise<Home> {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    home.replace('.codex/config.toml', /^base_url = .*/m, elsewhere)
    home.replace('.codex/config.toml', /^/, 'cli_auth_credentials_store = "keyring"\n')
    return home
  }

  test('a safe repair keeps the change, says who changed what, and is no approval', async () => {
    const home = await aRedirectedHome()
    const before = home.snapshot()
    const { json } = await fix(home)
    expect(json).toMatchObject({
      changed: true,
      fixed: [expect.not.objectContaining({ id: 'drifted' })],
    })
    expect(home.text('.codex/config.toml')).not.toContain('keyring')
    expect(home.text('.codex/config.toml')).toContain(elsewhere)
    const { checks } = json as { checks: { id: string; message: string; cure: string }[] }
    const driftCheck = checks.find(({ id }) => id === 'drifted')
    expect(driftCheck?.message).toMatch(
      /Codex: points at https:\/\/x\.example, expected http.*base_url in ~\/\.codex\/config\.toml/,
    )
    expect(driftCheck?.cure).toContain('repoint doctor codex --fix --yes')
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 11 })
    expect(await fileStates(home)).toEqual(['as-written', 'changed-since'])

    await runInProcess(home, ['rollback', '--yes'])
    expect(home.snapshot()).toEqual(before)
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 11 })
    expect(await fileStates(home)).toEqual(['as-written', 'changed-since'])
  })

  test('--yes restores what the setup wrote, and a rollback restores the drift', async () => {
    const home = await aRedirectedHome()
    home.put('.codex/auth.json', '{"OPENAI_API_KEY":"sk-other-0123456789"}', 0o600)
    const before = home.snapshot()
    const { json } = await fix(home, '--yes')
    expect(json).toMatchObject({
      fixed: expect.arrayContaining([expect.objectContaining({ id: 'drifted' })]),
      checks: expect.not.arrayContaining([expect.objectContaining({ id: 'drifted' })]),
    })
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 0, reasons: [] })
    expect(await fileStates(home)).toEqual(['as-written', 'as-written'])

    await runInProcess(home, ['rollback', '--yes'])
    expect(home.snapshot()).toEqual(before)
    expect(await drift(home, '--exit-code')).toMatchObject({ status: 11 })
  })

  test('--yes restores a whole file that also has a fix', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    const written = home.text('.codex/auth.json')
    home.put(
      '.codex/auth.json',
      '{"auth_mode":"chatgpt","OPENAI_API_KEY":"sk-other","tokens":{"access_token":"t"}}',
      0o600,
    )

    const { status, json } = await fix(home, '--yes')
    const { fixed, checks } = json as Record<'fixed' | 'checks', { id: string }[]>
    expect(fixed.map(({ id }) => id).toSorted()).toEqual(['codex-login', 'drifted'])
    expect(checks.filter(({ id }) => ['codex-login', 'drifted'].includes(id))).toEqual([])
    expect({ status, auth: home.text('.codex/auth.json') }).toEqual({ status: 0, auth: written })
  })

  test('without a copy of the key, neither the address nor the key is restored', async () => {
    const home = await aRedirectedHome()
    const written = createHash('sha256').update(home.text('.codex/auth.json')).digest('hex')
    rmSync(home.at(`.local/state/repoint/blobs/${written}`))
    home.put('.codex/auth.json', '{"OPENAI_API_KEY":"sk-other-0123456789"}', 0o600)
    await fix(home, '--yes')
    expect(home.text('.codex/config.toml')).toContain(elsewhere)
    expect(home.text('.codex/auth.json')).toContain('sk-other')
  })
})

describe('status --expect', () => {
  test('an address: every client that is set up must use it', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    expect((await drift(home, '--expect', `${url}/v1`)).status).toBe(0)
    const elsewhere = url.replace('127.0.0.1', 'localhost')
    await setUpOffline(home, 'claude', { url: elsewhere, key })
    const found = await drift(home, '--expect', url)
    expect(found.status).toBe(11)
    expect(found.reasons).toEqual([expect.stringContaining(elsewhere)])
    expect((await drift(home, 'codex', '--expect', url)).status).toBe(0)
    expect((await drift(home, '--exit-code')).status).toBe(0)
  })

  test('a name: every client must use its address and its key', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    const { json } = await runInProcess(home, ['gateways', '--json'])
    const [{ name }] = (json as { gateways: [{ name: string }] }).gateways
    expect((await drift(home, '--expect', name)).status).toBe(0)
    home.put('.codex/auth.json', '{"OPENAI_API_KEY":"sk-other-0123456789"}')
    expect((await drift(home, '--expect', name)).status).toBe(11)
    const unknown = await runInProcess(home, ['status', '--expect', 'nope', '--json'])
    expect(unknown).toMatchObject({ status: 2, json: { error: { code: 'usage' } } })
  })

  test('a host without a scheme is an address, as everywhere else', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url: 'https://gw.example', key })
    expect((await drift(home, '--expect', 'gw.example')).status).toBe(0)
    expect((await drift(home, '--expect', 'other.example')).status).toBe(11)
  })

  test('a client whose file cannot be read is not called a client that is not set up', async () => {
    const home = aHome()
    await setUpOffline(home, 'codex', { url, key })
    home.put('.codex/config.toml', Buffer.from([0xff, 0xfe, 0x00]))
    const result = await runHere(home, ['status', 'codex', '--expect', url])
    expect(result).toMatchObject({ status: 8, json: { drifted: false, warnings: [] } })
  })

  test('if no client, or a named client, is not set up: status 11', async () => {
    const home = aHome()
    expect((await drift(home, '--expect', url)).status).toBe(11)
    await setUpOffline(home, 'codex', { url, key })
    expect((await drift(home, 'codex', 'claude', '--expect', url)).status).toBe(11)
  })
})

test('a dry run compares a setup offline without the name of a model', async () => {
  const home = aHome()
  await setUpOffline(home, 'codex', { url, key })
  const check = async () => {
    const args = ['codex', '--base-url', url, '--dry-run', '--no-verify']
    return (await runHere(home, args, { REPOINT_API_KEY: key })).json
  }
  expect(await check()).toMatchObject({ changed: false, model: 'gpt-5.6-sol' })
  home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "https://x.example/v1"')
  expect(await check()).toMatchObject({ changed: true, model: 'gpt-5.6-sol' })
})
