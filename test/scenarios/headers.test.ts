import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Front, startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { textsIn } from '../support/texts.ts'

const key = 'sk-canary-key-5e6f708192a3b47f'
const secret = 'pk-canary-header-d1c0b9a8f7e6d5c4'
const wanted = { 'x-portkey-provider': 'openai', 'x-portkey-api-key': secret }

const gateway = await withGateway({ key: 'sk-inner-5e6f708192a3b47f' })
/** Requires two headers in addition to the key. */
const particular = await startFront(gateway, { key, headers: wanted })
/** Requires only the same key. */
const plain = await startFront(gateway, { key })
afterAll(() => Promise.all([particular.close(), plain.close()]))
beforeEach(() => {
  particular.seen.length = 0
  plain.seen.length = 0
})

const env = { REPOINT_API_KEY: key, PK: secret }
const asked = ['--header', 'x-portkey-provider: openai', '--header', 'x-portkey-api-key: $PK']
const clients = ['codex', 'claude', 'opencode']

/** Runs repoint, and checks that no document and no message contains the secret header. */
async function repoint(home: Home, args: readonly string[], given: Record<string, string> = env) {
  const result = await runHere(home, args, given)
  for (const canary of [key, secret]) expect(result.text).not.toContain(canary)
  return result
}

function setUp(home: Home, ...more: string[]) {
  return setUpAt(particular, home, ...more)
}

function setUpAt({ url }: Front, home: Home, ...more: string[]) {
  return repoint(home, ['setup', ...clients, '--base-url', url, '--yes', ...more])
}

/** Every file that holds the secret, with its mode. */
function holders(home: Home): Readonly<Record<string, string>> {
  const paths = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home.path, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(secret))
  return Object.fromEntries(
    paths.map((path) => [
      path.slice(home.path.length + 1).replace(/runs\/.*|blobs\/.*/, '…'),
      (statSync(path).mode & 0o777).toString(8),
    ]),
  )
}

describe('a gateway that wants headers', () => {
  test('is set up with them in every client, and rollback restores every byte', async () => {
    const home = aHome({
      '.codex/config.toml':
        '# mine\nmodel = "o3"\n\n[model_providers.gateway]\nname = "Mine"\nhttp_headers = { "X-Team" = "a" } # keep\n',
      '.claude/settings.json':
        '{ "env": { "ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\\nX-Mine: b" } }\n',
      '.config/opencode/opencode.json': '{ "theme": "x" }\n',
    })
    const before = home.snapshot()
    const { status, json } = await setUp(home, ...asked)
    expect([status, json['error']]).toEqual([0, undefined])
    for (const headers of particular.seen) expect(headers).toMatchObject(wanted)

    const codex = home.text('.codex/config.toml')
    expect(codex).toContain('"X-Team" = "a"')
    expect(codex).toMatch(/x-portkey-provider"? = "openai"/)
    const { env: claude } = JSON.parse(home.text('.claude/settings.json'))
    expect(claude.ANTHROPIC_CUSTOM_HEADERS.split('\n')).toEqual([
      'X-Team: a',
      'X-Mine: b',
      'x-portkey-provider: openai',
      `x-portkey-api-key: ${secret}`,
    ])
    const opencode = JSON.parse(home.text('.config/opencode/opencode.json'))
    expect(opencode.provider.gateway.options.headers).toEqual(wanted)
    expect(Object.values(holders(home)).every((mode) => mode === '600')).toBe(true)
    expect(Object.keys(holders(home))).toEqual(
      expect.arrayContaining([
        '.codex/config.toml',
        '.claude/settings.json',
        '.config/opencode/opencode.json',
        '.local/state/repoint/gateways.json',
      ]),
    )

    expect((await repoint(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test('is shown with them, the secret one masked, and needs no flag in a second run, in doctor or for another client', async () => {
    const home = aHome()
    await setUp(home, ...asked, '--name', 'pk')
    const shownHeaders = { 'x-portkey-provider': 'openai', 'x-portkey-api-key': '....d5c4' }
    const { json: shown } = await repoint(home, ['gateways'])
    expect(shown).toMatchObject({ gateways: [{ name: 'pk', headers: shownHeaders }] })
    const status = (await repoint(home, ['status', ...clients])).json
    expect(status).toMatchObject({
      clients: clients.map((id) => ({ id, gateway: 'pk', headers: shownHeaders })),
    })

    const again = await setUp(home)
    expect(again.json).toMatchObject({ changed: false })
    for (const args of [
      ['models'],
      ['doctor', 'codex'],
      ['check', 'pk'],
      ['use', 'pk', 'codex', '--yes', '--defaults'],
      ['key', 'codex', '--yes'],
    ]) {
      particular.seen.length = 0
      const { json } = await repoint(home, args, args[0] === 'key' ? env : {})
      expect([args[0], json['error']]).toEqual([args[0], undefined])
      expect(particular.seen.length).toBeGreaterThan(0)
      for (const headers of particular.seen) expect(headers).toMatchObject(wanted)
    }
  })

  test("a team's file has the headers that are no secret, and the export names the other flags", async () => {
    const home = aHome()
    await setUp(home, ...asked, '--name', 'pk')
    const { stdout, stderr } = await runInProcess(home, ['gateways', 'export', 'pk'])
    expect(JSON.parse(stdout)).toMatchObject({ headers: ['x-portkey-provider: openai'] })
    expect(stdout + stderr).not.toContain(secret)
    expect(stderr).toContain(`--header 'x-portkey-api-key: $VARIABLE'`)

    const other = aHome({ 'team.json': stdout })
    const from = ['setup', '--from', other.at('team.json'), '--yes']
    expect((await repoint(other, from)).status).not.toBe(0)
    const { status } = await repoint(other, [...from, '--header', 'x-portkey-api-key: $PK'])
    expect(status).toBe(0)
    expect(other.text('.codex/config.toml')).toContain(secret)

    particular.seen.length = 0
    await repoint(other, [...from, '--header', 'X-Portkey-Provider: azure'])
    expect(particular.seen[0]).toMatchObject({ 'x-portkey-provider': 'azure' })
  })

  test.each([
    ['codex', '.codex/config.toml'],
    ['opencode', '.config/opencode/opencode.json'],
  ])(
    'doctor reports that others may read the secret header of %s, and closes %s',
    async (client, file) => {
      const home = aHome()
      await setUp(home, ...asked)
      chmodSync(home.at(file), 0o644)
      const open = home.snapshot()

      const found = await repoint(home, ['doctor', client, '--no-verify'], {})
      expect(found.status).toBe(8)
      expect(found.json).toMatchObject({
        checks: expect.arrayContaining([
          expect.objectContaining({
            id: 'private',
            result: 'problem',
            message: expect.stringMatching(/ contains a secret header .*mode 644/),
          }),
        ]),
      })

      expect((await repoint(home, ['doctor', client, '--no-verify', '--fix'], {})).status).toBe(0)
      expect(statSync(home.at(file)).mode & 0o777).toBe(0o600)
      await repoint(home, ['rollback', '--yes'])
      expect(home.snapshot()).toEqual(open)
    },
  )

  test('is the only gateway that gets them', async () => {
    const home = aHome()
    await setUp(home, ...asked)
    const { status } = await setUpAt(plain, home)
    expect(status).toBe(0)
    expect(plain.seen.some((headers) => 'x-portkey-provider' in headers)).toBe(false)
    const filesWithSecrets = holders(home)
    for (const path of [
      '.codex/config.toml',
      '.claude/settings.json',
      '.config/opencode/opencode.json',
    ])
      expect(Object.keys(filesWithSecrets)).not.toContain(path)
  })

  test('is the only gateway that gets them after it was forgotten, also those that the user added', async () => {
    const userSettings = '{"env":{"ANTHROPIC_CUSTOM_HEADERS":"X-Team: a"}}\n'
    const home = aHome({ '.claude/settings.json': userSettings })
    const tenant = ['--header', 'x-tenant: $TENANT', '--header', 'x-plan: blue']
    const given = { ...env, TENANT: 'acme-red-7' }
    const first = ['setup', ...clients, '--base-url', particular.url, '--yes', '--name', 'a']
    expect((await repoint(home, [...first, ...asked, ...tenant], given)).status).toBe(0)
    expect(home.text('.claude/settings.json')).toContain('acme-red-7')
    home.replace('.claude/settings.json', 'X-Team: a', 'X-Team: a\\nX-Since: b')
    await repoint(home, ['forget', 'a', '--yes'])

    const { status, json } = await setUpAt(plain, home)
    expect(status).toBe(0)
    expect(JSON.stringify(json['warnings'])).toContain('Remove env.ANTHROPIC_CUSTOM_HEADERS from')
    const written = Object.values(textsIn(home))
    for (const text of written) expect(text).not.toMatch(/acme-red-7|x-plan|x-portkey/)
    expect(home.text('.claude/settings.json')).not.toContain('ANTHROPIC_CUSTOM_HEADERS')
    await repoint(home, ['rollback', '--yes'])
    expect(home.text('.claude/settings.json')).toContain('X-Team: a\\nX-Since: b')
  })

  test('no longer gets a header that --header removes', async () => {
    const home = aHome()
    await setUpAt(plain, home, ...asked)
    const { json } = await setUpAt(plain, home, '--header', 'x-portkey-api-key:')
    expect(json).toMatchObject({ changed: true })
    const { json: after } = await repoint(home, ['gateways'])
    expect(after).toMatchObject({ gateways: [{ headers: { 'x-portkey-provider': 'openai' } }] })
    expect(Object.keys(holders(home))).not.toContain('.codex/config.toml')
    expect(JSON.parse(home.text('.claude/settings.json')).env.ANTHROPIC_CUSTOM_HEADERS).toBe(
      'x-portkey-provider: openai',
    )
  })

  test('is reported if a client no longer sends them', async () => {
    const home = aHome()
    await setUp(home, ...asked)
    expect((await repoint(home, ['status', '--exit-code'])).status).toBe(0)
    home.replace('.codex/config.toml', /.*x-portkey-provider.*\n/, '')
    const { status, json } = await repoint(home, ['status', 'codex', '--exit-code'])
    expect([status, JSON.stringify(json)]).toEqual([
      11,
      expect.stringContaining('the header x-portkey-provider is missing or has another value'),
    ])
  })

  test('keeps them with a new key, also if another gateway has the same address', async () => {
    const home = aHome()
    const at = ['--base-url', plain.url, '--yes']
    await repoint(home, ['codex', ...at, '--name', 'a', '--header', 'x-team: a'])
    await repoint(home, ['opencode', ...at, '--name', 'b', '--header', 'x-team: b'])
    plain.seen.length = 0
    await repoint(home, ['key', 'codex', '--yes'])
    expect(new Set(plain.seen.map((headers) => headers['x-team']))).toEqual(new Set(['a']))
  })
})

test('refuses a secret in the arguments before any request', async () => {
  const home = aHome()
  const { status, json } = await setUp(home, '--header', `x-portkey-api-key: ${secret}`)
  expect([status, json['error']]).toEqual([2, expect.objectContaining({ code: 'usage' })])
  expect(particular.seen).toEqual([])
})

describe('a gateway that refuses the key as Bearer', () => {
  /** Takes the key in one header, and in no other. */
  async function aFront(keyHeader: 'api-key' | 'x-api-key', more = {}): Promise<Front> {
    const front = await startFront(gateway, { key, keyHeader, ...more })
    onTestFinished(() => front.close())
    return front
  }

  test('gets one more request with the key in its header, and every client sends that header', async () => {
    const home = aHome({ '.codex/auth.json': '{"OPENAI_API_KEY":"sk-mine-0123456789"}\n' })
    const before = home.snapshot()
    const front = await aFront('x-api-key')
    const asked = ['setup', ...clients, '--base-url', front.url, '--yes', '--name', 'k']
    const { status, json } = await repoint(home, asked)
    expect([status, json['error']]).toEqual([0, undefined])
    expect(json['warnings']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'key-header' }),
        expect.objectContaining({ code: 'claude-asks-for-key' }),
      ]),
    )
    expect(home.snapshot()).not.toHaveProperty(['.codex/auth.json'])
    const { env: claude } = JSON.parse(home.text('.claude/settings.json'))
    expect(claude).toMatchObject({ ANTHROPIC_API_KEY: key })
    expect(claude).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN')
    expect(await repoint(home, ['gateways'])).toMatchObject({
      json: { gateways: [{ keyHeader: 'x-api-key', clients }] },
    })

    front.seen.length = 0
    expect(await repoint(home, asked)).toMatchObject({ status: 0, json: { changed: false } })
    expect((await repoint(home, ['doctor'])).json).not.toHaveProperty('error')
    expect(front.seen.every((headers) => headers['x-api-key'] === key)).toBe(true)
    expect(front.seen.every((headers) => headers.authorization === undefined)).toBe(true)

    await repoint(home, ['rollback', '--yes'])
    expect(home.snapshot()).toEqual(before)
  })

  test('is found with the named model if it has no list of models', async () => {
    const home = aHome()
    const front = await aFront('api-key', { hasList: false })
    const asked = ['--model', 'gpt-5.6-sol', '--base-url', front.url, '--yes']
    const { status, json } = await repoint(home, ['opencode', ...asked])
    expect([status, json['error']]).toEqual([0, undefined])
    const { options } = JSON.parse(home.text('.config/opencode/opencode.json')).provider.gateway
    expect(options.headers).toEqual({ 'api-key': key })
    // As Bearer, in all others at once, and in two of them alone. A rejected request costs nothing.
    expect(front.seen.filter((headers) => 'content-type' in headers).length).toBe(4)
  })

  test('is not set up for a client that cannot send that header', async () => {
    const home = aHome()
    const front = await aFront('api-key')
    const { status, json } = await repoint(home, ['claude', '--base-url', front.url, '--yes'])
    expect(status).toBe(5)
    expect(json['error']).toMatchObject({
      code: 'protocol-unsupported',
      message: expect.stringContaining('only as api-key, and Claude Code cannot'),
    })
    expect(home.snapshot()).toEqual({})
  })

  test('for only one protocol is set up for the clients of each protocol separately', async () => {
    const home = aHome()
    const front = await aFront('x-api-key', { onlyAt: '/v1/messages' })
    const at = ['--base-url', front.url, '--yes']
    const { status, json } = await repoint(home, ['setup', 'claude', 'opencode', ...at])
    expect(status).toBe(5)
    expect(json['error']).toMatchObject({ code: 'protocol-unsupported' })
    expect(home.snapshot()).toEqual({})
    expect((await repoint(home, ['opencode', ...at])).status).toBe(0)
    expect((await repoint(home, ['claude', ...at, '--name', 'm'])).status).toBe(0)
    expect(home.text('.config/opencode/opencode.json')).not.toContain('x-api-key')
    expect(home.text('.claude/settings.json')).toContain('ANTHROPIC_API_KEY')
  })
})
