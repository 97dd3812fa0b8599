import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { builtInCatalog, type Gateway } from '../../src/serve/index.ts'
import { replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { textsIn } from '../support/texts.ts'

const canary = 'sk-canary-1f2e3d4c5b6a79887766554433'
const newCanary = 'sk-canary-33445566778899aabbccddeeff'

let gateway: Gateway
beforeEach(async () => {
  gateway = await withGateway({ key: canary }, onTestFinished)
})

/** Starts the gateway again at the same address, with another key and one more model. */
async function rotateKey() {
  const models = [...builtInCatalog, { ...builtInCatalog[0]!, id: 'gpt-5.9-sol' }]
  gateway = await replaceGateway(gateway, { key: newCanary, models })
}

function changeKey(home: Home, line = '', env: Record<string, string> = {}) {
  const args = ['key', ...line.split(' ').filter(Boolean), '--yes']
  return runHere(home, args, { REPOINT_API_KEY: newCanary, ...env })
}

function withNewKey(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll(canary, newCanary)]),
  )
}

async function threeClients(): Promise<Home> {
  const home = aHome()
  for (const line of [
    'codex --model gpt-5.4 --provider-id work',
    'claude-gpt --slot opus --haiku-model gpt-5.6-luna --enable-discovery --no-attribution',
    'opencode --model gpt-5.4',
  ])
    expect((await setUp(home, line, gateway)).status).toBe(0)
  return home
}

test.each(['sonnet[1m]', 'inherit'])(
  'tests no model for subagents that is only the word %s',
  async (word) => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    home.replace(
      '.claude/settings.json',
      /"env": \{/,
      `"env": { "CLAUDE_CODE_SUBAGENT_MODEL": "${word}",`,
    )
    const before = textsIn(home)
    await rotateKey()

    expect(await changeKey(home)).toMatchObject({ status: 0, json: { changed: true } })
    expect(textsIn(home)).toEqual(withNewKey(before))
    const sent = gateway.requests().filter(({ method }) => method === 'POST')
    expect(sent).toHaveLength(1)

    await setUp(home, 'claude', gateway)
    expect(textsIn(home)).toEqual(withNewKey(before))
  },
)

test('changes the key in every client of the gateway, in one run, and nothing else', async () => {
  const home = await threeClients()
  const before = textsIn(home)
  await rotateKey()

  const result = await changeKey(home)
  expect(result.json).toMatchObject({ command: 'key', changed: true, verified: { before: true } })
  expect(result.text).not.toContain(canary)
  expect(result.text).not.toContain(newCanary)
  expect(textsIn(home)).toEqual(withNewKey(before))
  expect(gateway.requests().filter(({ method }) => method === 'POST')).toHaveLength(3)

  expect((await changeKey(home)).json).toMatchObject({ changed: false })
  await runHere(home, ['rollback', '--yes'])
  expect(textsIn(home)).toEqual(before)
})

test('leaves out a client whose file cannot be read, and reports it', async () => {
  const home = await threeClients()
  home.put('.claude/settings.json', '{ broken')
  await rotateKey()

  const result = await changeKey(home)
  const warnings = [{ code: 'client-left-out', message: expect.stringContaining('Claude Code') }]
  expect(result.json).toMatchObject({ command: 'key', changed: true, warnings })
  expect(home.text('.claude/settings.json')).toBe('{ broken')
})

test.each<[string, string[]]>([
  ['alone', []],
  ['by its name', ['claude']],
])(
  'reports the file of the only client that is set up if it cannot be read: %s',
  async (_, ids) => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    home.put('.claude/settings.json', '{ broken')
    const { status, json } = await changeKey(home, ...ids)
    const error = { code: 'config-invalid', message: expect.stringContaining('settings.json') }
    expect({ status, json }).toMatchObject({ status: 8, json: { changed: false, error } })
    expect(home.text('.claude/settings.json')).toBe('{ broken')
  },
)

test('keeps that the user allowed plain http', async () => {
  const home = aHome()
  const target = { url: 'http://gw.example', key: canary }
  await setUp(home, 'codex --model gpt-5.6-sol --allow-http --no-verify', target)
  await changeKey(home, '--no-verify')
  const { json } = await runHere(home, ['gateways'])
  expect(json['gateways']).toMatchObject([{ baseUrl: 'http://gw.example', allowHttp: true }])
  expect(home.text('.codex/auth.json')).toContain(newCanary)
})

test('keeps GPT models that the user pinned in every slot of Claude Code', async () => {
  const home = aHome()
  const pins = 'claude --opus-model gpt-5.4 --sonnet-model gpt-5.4 --haiku-model gpt-5.4-mini'
  await setUp(home, `${pins} --fable-model gpt-5.4`, gateway)
  const before = textsIn(home)
  await rotateKey()
  expect((await changeKey(home)).json).toMatchObject({ changed: true })
  expect(textsIn(home)).toEqual(withNewKey(before))
})

test('changes nothing if the gateway rejects the key: status 3', async () => {
  const home = await threeClients()
  const before = home.snapshot()
  const result = await changeKey(home)
  expect(result).toMatchObject({ status: 3, json: { error: { code: 'key-rejected' } } })
  expect(home.snapshot()).toEqual(before)
})

test('reports a model that the new key may not use, and chooses no other model', async () => {
  const home = aHome()
  await setUp(home, 'codex --model gpt-5.4', gateway)
  const before = home.snapshot()
  const models = builtInCatalog.filter(({ id }) => id !== 'gpt-5.4')
  gateway = await replaceGateway(gateway, { key: newCanary, models })
  expect(await changeKey(home)).toMatchObject({ status: 5 })
  expect(home.snapshot()).toEqual(before)
})

test('changes only the named clients', async () => {
  const home = await threeClients()
  const before = textsIn(home)
  await rotateKey()
  // Both names of its two setups select the same client.
  expect((await changeKey(home, 'claude')).status).toBe(0)
  const now = textsIn(home)
  expect(now['.claude/settings.json']).toBe(withNewKey(before)['.claude/settings.json'])
  expect(now['.codex/auth.json']).toBe(before['.codex/auth.json'])
})

describe('clients at two gateways', () => {
  let other: Gateway
  let home: Home
  beforeEach(async () => {
    other = await withGateway({ key: canary }, onTestFinished)
    home = aHome()
    await setUp(home, 'codex', gateway)
    await setUp(home, 'opencode', other)
    await rotateKey()
  })

  const refused = { status: 2, json: { error: { code: 'usage' } } }

  test('a new key needs the name of its gateway', async () => {
    const result = await changeKey(home)
    expect(result).toMatchObject(refused)
    expect(result.text).toContain(`${gateway.url} (Codex)`)
    expect(await changeKey(home, 'codex opencode')).toMatchObject(refused)
    expect(other.requests().some(({ auth }) => JSON.stringify(auth).includes('eeff'))).toBe(false)
  })

  test.each<[string, (url: string) => [string, Record<string, string>]]>([
    ['a client', () => ['codex', {}]],
    ['the address', (url) => [`--base-url ${url}/v1/`, {}]],
    ['the address in the environment', (url) => ['', { REPOINT_BASE_URL: url }]],
  ])('%s selects the gateway, and no other one gets the key', async (_, named) => {
    const seen = other.requests().length
    const before = home.text('.local/share/opencode/auth.json')
    expect((await changeKey(home, ...named(gateway.url))).json).toMatchObject({ changed: true })
    expect(home.text('.codex/auth.json')).toContain(newCanary)
    expect(home.text('.local/share/opencode/auth.json')).toBe(before)
    expect(other.requests()).toHaveLength(seen)
  })

  test('an address that no client uses is refused, and the error names the addresses in use', async () => {
    const result = await changeKey(home, '--base-url https://third.example')
    expect(result).toMatchObject(refused)
    expect(result.text).toContain(other.url)
    const env = { REPOINT_BASE_URL: 'https://third.example' }
    expect(await changeKey(home, 'codex', env)).toMatchObject(refused)
  })
})

test('two keys of one address: the new key replaces only the one that is named', async () => {
  const home = aHome()
  await setUp(home, 'codex --name work', gateway)
  gateway = await replaceGateway(gateway, { key: 'sk-canary-of-mine-0a1b2c3d4e5f' })
  await setUp(home, 'opencode --name mine', gateway)
  const before = textsIn(home)
  await rotateKey()

  for (const line of ['', `--base-url ${gateway.url}`]) {
    const refused = await changeKey(home, line)
    expect(refused).toMatchObject({ status: 2, json: { error: { code: 'usage' } } })
    expect(refused.text).toContain(`work  ${gateway.url} (Codex), mine  ${gateway.url} (opencode)`)
    expect(textsIn(home)).toEqual(before)
  }

  expect(await changeKey(home, 'codex')).toMatchObject({ status: 0, json: { changed: true } })
  expect(home.text('.codex/auth.json')).toContain(newCanary)
  const auth = '.local/share/opencode/auth.json'
  expect(home.text(auth)).toBe(before[auth])
  const { json } = await runHere(home, ['status'])
  const nameOf = (id: string) =>
    (json['clients'] as { id: string; gateway: string }[]).find((client) => client.id === id)
      ?.gateway
  expect(['codex', 'opencode'].map(nameOf)).toEqual(['work', 'mine'])
})

test.each(['', 'codex'])('reports that repoint has set up nothing: key %s', async (line) => {
  const home = aHome({
    '.claude/settings.json': `{"env":{"ANTHROPIC_BASE_URL":"${gateway.url}","ANTHROPIC_AUTH_TOKEN":"x"}}`,
  })
  const result = await changeKey(home, line)
  expect(result).toMatchObject({ status: 2, json: { error: { code: 'usage' } } })
  expect(result.text).toContain('repoint codex')
})

test('doctor suggests repoint key for a rejected key, and that command keeps the mapping', async () => {
  const home = aHome()
  await setUp(home, 'claude-gpt', gateway)
  const before = textsIn(home)
  await rotateKey()
  const { json } = await runHere(home, ['doctor', 'claude'])
  const [problem] = (json['checks'] as { result: string; cure: string }[]).filter(
    ({ result }) => result === 'problem',
  )
  expect(problem?.cure).toBe(`repoint key --base-url ${gateway.url}`)

  const words = problem!.cure.split(' ').slice(1)
  await runHere(home, [...words, '--yes'], { REPOINT_API_KEY: newCanary })
  expect(textsIn(home)).toEqual(withNewKey(before))
  expect((await runHere(home, ['doctor', 'claude'])).status).toBe(0)
})

test('the cure of a missing key keeps the mapping', async () => {
  const home = aHome()
  await setUp(home, 'claude-gpt', gateway)
  const before = home.text('.claude/settings.json')
  home.put('.claude/settings.json', before.replace(/.*AUTH_TOKEN.*\n/, ''))
  const { json } = await runHere(home, ['doctor', 'claude'])
  const [problem] = (json['checks'] as { result: string; cure: string }[]).filter(
    ({ result }) => result === 'problem',
  )
  await runHere(home, [...problem!.cure.split(' ').slice(1), '--yes'], { REPOINT_API_KEY: canary })
  expect(JSON.parse(home.text('.claude/settings.json'))).toEqual(JSON.parse(before))
})

test('accepts the name of a gateway, as `use` and `forget` do', async () => {
  const home = aHome()
  await setUp(home, 'codex --name work', gateway)
  const other = await withGateway({ key: canary }, onTestFinished)
  await setUp(home, 'opencode --name home', other)
  await rotateKey()
  const before = textsIn(home)

  expect(await changeKey(home, 'work')).toMatchObject({ status: 0, json: { changed: true } })
  expect(home.text('.codex/auth.json')).toContain(newCanary)
  const ofOther = Object.entries(before).filter(([name]) => name.includes('opencode'))
  expect(textsIn(home)).toMatchObject(Object.fromEntries(ofOther))

  await runHere(home, ['use', 'home', 'codex', '--yes'])
  expect(await changeKey(home, 'work')).toMatchObject({
    status: 2,
    json: { error: { message: 'No client points at work' } },
  })
  expect(await changeKey(home, 'wrok')).toMatchObject({
    json: { error: { hint: expect.stringContaining('Did you mean: repoint key work ') } },
  })
})
