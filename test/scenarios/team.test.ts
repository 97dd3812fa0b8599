import { describe, expect, test } from 'vitest'
import { aServer, tlsFile } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

const canary = 'sk-canary-team-5e6f708192a3b47f'

const gateway = await withGateway({ key: canary })

async function setUp(home: Home, args: readonly string[], env: Record<string, string> = {}) {
  // A separate process, because Node reads its authorities at the start.
  const run = 'NODE_EXTRA_CA_CERTS' in env ? runCli : runInProcess
  const { status, stdout, stderr } = await run(home, ['setup', ...args, '--json'], {
    env: { REPOINT_API_KEY: canary, ...env },
  })
  expect(stdout + stderr).not.toContain(canary)
  return { status, json: JSON.parse(stdout) }
}

describe('repoint setup', () => {
  test('sets up several clients in one run, with one document and one undo', async () => {
    const home = aHome()
    const before = home.snapshot()
    const args = ['codex', 'claude-gpt', 'opencode', '--base-url', gateway.url, '--yes']
    const { status, json } = await setUp(home, args)
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { command: 'setup', changed: true, baseUrl: gateway.url },
    })
    expect(json.files).toHaveLength(5)
    expect((await setUp(home, args)).json).toMatchObject({ changed: false })
    expect((await runInProcess(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })

  test.each([
    ['no client is named', []],
    ['two setups of one file are named', ['claude', 'claude-gpt']],
    ['an unknown client is named', ['nobody']],
  ])('reports an error without a question if %s', async (_, clients) => {
    const args = [...clients, '--base-url', gateway.url, '--yes']
    expect(await setUp(aHome(), args)).toMatchObject({
      status: 2,
      json: { error: { code: 'usage' } },
    })
  })
})

const team = () => ({
  version: 1,
  name: 'team',
  baseUrl: gateway.url,
  clients: {
    codex: { model: 'gpt-5.4', 'provider-id': 'team' },
    claude: { slot: 'opus', 'opus-model': 'claude-opus-5-5' },
  },
})

describe('repoint setup --from', () => {
  test('takes address, name, clients and their choices from the file, and the key from the user', async () => {
    const home = aHome({ 'team.json': JSON.stringify(team()) })
    const { status, json } = await setUp(home, ['--from', home.at('team.json'), '--yes'])
    expect({ status, json }).toMatchObject({ status: 0, json: { changed: true } })
    expect(home.text('.codex/config.toml')).toMatch(/^model = "gpt-5.4"/m)
    expect(home.text('.codex/config.toml')).toMatch(/^model_provider = "team"/m)
    expect(JSON.parse(home.text('.claude/settings.json'))).toMatchObject({
      model: 'opus',
      env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5-5' },
    })
    const exported = await runInProcess(home, ['gateways', 'export', 'team'])
    expect(exported.stdout).not.toContain(canary)
    expect(JSON.parse(exported.stdout)).toEqual(team())
  })

  test('shows all of the file, and sends the key nowhere without consent', async () => {
    const home = aHome({ 'team.json': JSON.stringify(team()) })
    gateway.clearRequests()
    const { status, stdout } = await runInProcess(home, ['setup', '--from', home.at('team.json')], {
      env: { REPOINT_API_KEY: canary },
    })
    expect(status).toBe(2)
    expect(stdout).toContain('"opus-model": "claude-opus-5-5"')
    expect(stdout).toContain(gateway.url)
    expect(gateway.requests()).toEqual([])
  })

  test.each<[string, string | object]>([
    ['no JSON', 'x'],
    ['another version', { version: 2 }],
    ['an unknown key', { key: 'sk-0123456789abcdef' }],
    ['a key for a client', { clients: { codex: { 'key-file': '/etc/passwd' } } }],
    ['an unknown client', { clients: { nobody: {} } }],
    ['__proto__', '{"version":1,"baseUrl":"https://x.example","clients":{"__proto__":{}}}'],
    ['a flag of the wrong type', { clients: { codex: { model: 5 } } }],
    ['a value that is no choice', { clients: { claude: { slot: 'best' } } }],
    ['a value with control characters', { clients: { codex: { model: 'a\u001b[2J' } } }],
    ['plain http to another machine', { baseUrl: 'http://192.0.2.1' }],
    ['an invalid name', { name: '../x' }],
    ['a file that is too large', `"${'x'.repeat(70_000)}"`],
    ['no client', { clients: {} }],
    ['a header with a variable', { headers: ['x-team: $HOME'] }],
    ['a header from a file', { headers: ['x-team: @/etc/passwd'] }],
    ['a header without a value', { headers: ['x-team: '] }],
    ['headers as a table', { headers: { 'x-team': 'a' } }],
  ])('%s is refused, before any request or change', async (_, content) => {
    const text = typeof content === 'string' ? content : JSON.stringify({ ...team(), ...content })
    const home = aHome({ 'team.json': text })
    const before = home.snapshot()
    gateway.clearRequests()
    const { status, json } = await setUp(home, ['--from', home.at('team.json'), '--yes'])
    expect([2, 8]).toContain(status)
    expect(json.error.message).not.toContain('\u001b')
    expect(home.snapshot()).toEqual(before)
    expect(gateway.requests()).toEqual([])
  })

  test.each(['http://127.0.0.1:9/team.json', 'ftp://x.example/a', 'https://me:pw@x.example/a'])(
    'is not read from %s',
    async (source) => {
      expect(await setUp(aHome(), ['--from', source, '--yes'])).toMatchObject({
        status: 2,
        json: { error: { code: 'usage' } },
      })
    },
  )

  test('over https: reads the file without a key, and follows no redirect to another origin', async () => {
    const server = await aServer(
      ({ url }, response) => {
        if (url === '/away') response.writeHead(302, { location: 'https://127.0.0.2/' })
        response.end(JSON.stringify(team()))
      },
      { certificate: 'good.pem' },
    )
    const root = `https://127.0.0.1:${server.port}`
    const env = { NODE_EXTRA_CA_CERTS: tlsFile('ca.pem') }

    const home = aHome()
    const setup = await setUp(home, ['--from', `${root}/team.json`, '--yes'], env)
    expect(setup).toMatchObject({ status: 0, json: { changed: true, baseUrl: gateway.url } })
    expect(await setUp(aHome(), ['--from', `${root}/away`, '--yes'], env)).toMatchObject({
      status: 6,
      json: { error: { code: 'redirected' } },
    })
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })
})

test('--from: an address with a login in it is not repeated, with or without a scheme', async () => {
  const home = aHome()
  for (const login of ['me:hunter2@', 'https:me:hunter2@', 'https://me:hunter2@']) {
    const result = await runHere(home, ['setup', '--from', `${login}gw.example/team.json`, '--yes'])
    expect(result.status).toBe(2)
    expect(result.text).not.toContain('hunter2')
  }
})
