import { describe, expect, test } from 'vitest'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  catalog,
  codesOf,
  type Disk,
  emptyWorld,
  filesOf,
  findingsOn,
  inputFor,
  key,
  launchOn,
  planOn,
  readValues,
  requestOf,
  type Setup,
  text,
  written,
} from './support.ts'

const opencode = byId('opencode')
const path = '.config/opencode/opencode.json'
const authPath = '.local/share/opencode/auth.json'
const baseURL = 'https://gw.example/v1'
const npm = '@ai-sdk/openai-compatible'

/** A home with a working configuration. The arguments override parts of it. */
function aHome(inProvider: object = {}, more: object = {}, login: unknown = api('sk-a')): Disk {
  const gateway = { npm, options: { baseURL }, models: { big: {} }, ...inProvider }
  const config = { model: 'gateway/big', provider: { gateway }, ...more }
  return { [path]: JSON.stringify(config), [authPath]: JSON.stringify({ gateway: login }) }
}

function api(ownKey: string) {
  return { type: 'api', key: ownKey }
}

/** With these members of `options`, next to the address. */
function withOptions(options: object, login?: unknown, more: object = {}): Disk {
  return aHome({ options: { baseURL, ...options }, ...more }, {}, login)
}

function readBack(disk: Disk) {
  return readValues(opencode, aMachine(), disk)
}

function codesOn(disk: Disk, env: Machine['env'] = {}): readonly string[] {
  return codesOf(findingsOn(opencode, disk, aMachine({ env })))
}

/** The configuration and the entry of the provider in auth.json after a setup. */
function afterSetup(disk: Disk, setup: Setup = {}) {
  const { edits } = planOn(opencode, disk, setup)
  const [auth, config] = edits.map(({ after }) => JSON.parse(text(after) || '{}'))
  return { login: auth.gateway, config, gateway: config.provider.gateway }
}

describe('repoint reads the key as opencode does', () => {
  test.each([
    ['from auth.json', {}, api('sk-a'), { key: 'sk-a', keyPath: `/home/ada/${authPath}` }],
    ['from its own file first', { apiKey: 'sk-b' }, api('sk-a'), { keyPath: `/home/ada/${path}` }],
    ['from a variable', { apiKey: '{env:NAME}' }, api('sk-a'), { keyFrom: { variable: 'NAME' } }],
    ['from another file', { apiKey: '{file:x}' }, api('sk-a'), { keyFrom: 'elsewhere' }],
  ])('%s', (_, options, login, expected) => {
    expect(readBack(withOptions(options, login))).toMatchObject(expected)
  })

  test('not from a login, nor next to an empty key', () => {
    expect(readBack(withOptions({}, { type: 'oauth', key: 'x' })).key).toBeUndefined()
    expect(readBack(withOptions({ apiKey: '' })).key).toBeUndefined()
  })

  test('from the variable of the provider, unless the file has a key, even an empty one', () => {
    const more = { env: ['NAME'] }
    expect(readBack(withOptions({}, {}, more)).keyFrom).toEqual({ variable: 'NAME' })
    expect(readBack(withOptions({ apiKey: '' }, {}, more)).keyFrom).toBeUndefined()
  })

  test('from an auth.json with a byte order mark', () => {
    const disk = { ...aHome(), [authPath]: `\uFEFF${JSON.stringify({ gateway: api('sk-a') })}` }
    expect(readBack(disk).key).toBe('sk-a')
  })
})

test.each([
  ['of the provider', {}, { protocol: 'chat', baseUrl: baseURL, unsetOptions: ['protocol'] }],
  [
    'of the model first',
    { models: { big: { provider: { npm: '@ai-sdk/openai' } } } },
    { protocol: 'responses', baseUrl: baseURL },
  ],
  [
    'for messages, which has another base URL',
    { npm: '@ai-sdk/anthropic' },
    { protocol: 'messages', baseUrl: 'https://gw.example' },
  ],
])('reads the package %s', (_, inProvider, expected) => {
  expect(readBack(aHome(inProvider))).toMatchObject(expected)
})

test('names a model of another provider completely, and lists its own', () => {
  const disk = aHome({}, { small_model: 'other/small' })
  expect(readBack(disk)).toMatchObject({ model: 'big', smallModel: 'other/small' })
  expect(opencode.read(filesOf(opencode, aMachine(), disk)).offered).toEqual(['big'])
})

test("agents of the home folder are the user's own", () => {
  const disk = { '.opencode/agent/a.md': '', 'work/.opencode/agent/b.md': '' }
  const agents = filesOf(opencode, aMachine(), disk).filter(({ kind }) => kind === 'project-agent')
  expect(agents.map((file) => file.path)).toEqual(['/home/ada/work/.opencode/agent/b.md'])
})

test.each([
  [{ provider: { gateway: { options: { headers: { a: 'b' } } } } }],
  [{ provider: { gateway: { env: ['NAME'] } } }],
  [{ default_agent: 'x' }],
])('reports the file of a project with %j', (config) => {
  const disk = { ...aHome(), 'work/opencode.json': JSON.stringify(config) }
  expect(codesOn(disk)).toEqual(['opencode-project-config'])
})

describe('the settings of a gateway', () => {
  const settingsIn = (disk: Disk) => {
    const { config = [], auth = [] } = opencode.gatewaySettings(filesOf(opencode, aMachine(), disk))
    const shown = (paths: readonly (readonly unknown[])[]) =>
      paths.map((setting) =>
        setting.map((name) => (typeof name === 'string' ? name : '*')).join('.'),
      )
    return { config: shown(config), auth: shown(auth) }
  }
  const anthropic = (login: object): Disk => ({
    [path]: JSON.stringify({
      model: 'anthropic/big',
      provider: { anthropic: { options: { baseURL, headers: {}, timeout: 5 }, models: {} } },
    }),
    [authPath]: JSON.stringify({ anthropic: login }),
  })

  test('are the provider, its models and its key', () => {
    const more = { small_model: 'gateway/small', agent: { a: { model: 'other/x' } } }
    expect(settingsIn(aHome({}, more))).toEqual({
      config: ['provider.gateway', 'model', 'small_model'],
      auth: ['gateway'],
    })
  })

  test('are only the address and the headers of a provider that opencode ships, and no login', () => {
    const moved = [
      'model',
      'provider.anthropic.options.baseURL',
      'provider.anthropic.options.headers',
    ]
    expect(settingsIn(anthropic({ type: 'oauth' }))).toEqual({ config: moved, auth: [] })
    expect(settingsIn(anthropic(api('sk-a'))).auth).toEqual(['anthropic'])
  })

  test('include the list of providers, if the list names no other one', () => {
    const listed = (enabled_providers: readonly string[]) =>
      settingsIn(aHome({}, { enabled_providers })).config.at(-1)
    expect(listed(['gateway'])).toBe('enabled_providers')
    expect(listed(['gateway', 'other'])).toBe('enabled_providers.*')
  })

  test('are none without an address', () => {
    expect(settingsIn(aHome({ options: {} }))).toEqual({ config: [], auth: [] })
  })
})

const other = { baseURL: 'https://other.example/v1' }

describe('a setup', () => {
  test('replaces another login completely, and removes a key that goes into another header', () => {
    const oauth = { type: 'oauth', refresh: 'r' }
    expect(afterSetup(aHome({}, {}, oauth)).login).toEqual({ type: 'api', key })
    const target = { keyHeader: 'x-api-key' } as const
    const options = { protocol: 'chat' } as const
    expect(afterSetup(aHome(), { target, options }).login).toBeUndefined()
  })

  test('removes the models of another gateway, also if `api` has its address', () => {
    const inProvider = { api: 'https://other.example/v1', options: {} }
    expect(afterSetup(aHome(inProvider)).gateway.models).not.toHaveProperty('big')
    expect(afterSetup(aHome()).gateway.models).toHaveProperty('big')
  })

  test('keeps the settings of another gateway that opencode only uses itself', () => {
    const kept = { whitelist: ['gpt-5.6-sol', 'gpt-5.4-mini'], blacklist: ['x'] }
    const entry = { options: { effort: 'high', reasoningEffort: 'low' } }
    const options = { baseURL: 'https://other.example/v1' }
    const disk = aHome({ ...kept, options, models: { 'gpt-5.6-sol': entry } })
    const { gateway } = afterSetup(disk)
    expect(gateway).toMatchObject({ blacklist: ['x'], models: { 'gpt-5.6-sol': entry } })
    expect(gateway.whitelist).toEqual(expect.arrayContaining(kept.whitelist))
  })

  test('chooses a small model, unless an earlier setup chose one', () => {
    const disk = aHome({}, { small_model: 'gateway/old' })
    expect(afterSetup(disk).config.small_model).not.toBe('gateway/old')
    const earlier = { options: { model: 'gpt-5.4', smallModel: 'old' } }
    expect(afterSetup(disk, { earlier }).config.small_model).toBe('gateway/old')

    // Its picker does not offer that one.
    const other = inputFor(catalog, { model: 'gpt-5.4' }, { options: { smallModel: 'gone' } })
    expect(opencode.resolve(other).smallModel).toBe('gpt-5.4')
  })

  test('names no package if opencode used the model without one', () => {
    const earlier = {
      options: { model: 'gpt-5.4', protocol: 'chat' },
      unsetOptions: ['protocol'],
    } as const
    expect(afterSetup({}, { earlier }).gateway.models['gpt-5.4']).not.toHaveProperty('provider')
  })

  test('says what the gateway reports: no tools, and answers of half the window at most', () => {
    const models = [{ id: 'm', tools: false, contextWindow: 1001, outputLimit: 900 }]
    const { gateway } = afterSetup({}, { catalog: { models }, options: { model: 'm' } })
    expect(gateway.models.m).not.toHaveProperty('tool_call')
    expect(gateway.models.m.limit).toEqual({ context: 1001, output: 501 })
  })

  test('asks about a key that it did not write, but not about a placeholder of another tool', () => {
    const options = { baseURL: 'https://other.example/v1' }
    const codes = (login: object) =>
      codesOf(planOn(opencode, aHome({ options }, {}, login)).findings)
    expect(codes(api('sk-other'))).toContain('opencode-other-key')
    expect(codes(api('PROXY_MANAGED'))).not.toContain('opencode-other-key')
  })

  test.each([
    ['no question about the key of the gateway', aHome({ options: other }, {}, api(key)), {}, []],
    ['a proxy', {}, { HTTP_PROXY: 'http://p' }, ['opencode-proxy']],
  ])('finds %s', (_, disk, env, codes) => {
    const target = { baseUrl: 'http://127.0.0.1:9/v1' }
    const { findings } = planOn(opencode, disk, { machine: aMachine({ env }), target })
    const others = codesOf(findings).filter((code) => !code.includes('conflict'))
    expect(others).toEqual(codes)
  })

  test('leaves a provider with another package alone', () => {
    const codes = (former: string) => {
      const old = { npm: former, options: { baseURL }, models: {} }
      const disk = { [path]: JSON.stringify({ provider: { old } }) }
      const context = { writtenBaseUrls: [baseURL] }
      return codesOf(planOn(opencode, disk, { context }).findings)
    }
    expect(codes(npm)).toEqual(['opencode-former-provider'])
    expect(codes('@ai-sdk/openai')).toEqual([])
  })
})

/** It reads auth.json only once, so that the key is in a file that its configuration names. */
describe('a setup of opencode 2', () => {
  const two = { program: { version: '2.0.17' } }
  const keyPath = '/home/ada/.local/share/opencode/repoint-key'
  const setUp = (disk: Disk, setup: Setup = two) => {
    const { edits, findings } = planOn(opencode, disk, setup)
    const names = edits.map((edit) => edit.path.split('/').at(-1))
    return { edits, findings, names, disk: written(disk, aMachine(), edits) }
  }
  const fresh = setUp({})

  test('writes the key into its file only, and reads it there', () => {
    expect(fresh.names).toEqual(['repoint-key', 'opencode.json'])
    expect(text(fresh.edits[1]!.after)).not.toContain(key)
    expect(readBack(fresh.disk)).toMatchObject({ key, keyPath })
    expect(setUp(fresh.disk).findings).toEqual([])
  })

  test('removes the entry of the provider from auth.json', () => {
    const { names, disk } = setUp(aHome())
    expect(names).toEqual(['repoint-key', 'auth.json', 'opencode.json'])
    expect(text(disk[`/home/ada/${authPath}`] as Uint8Array)).not.toContain('gateway')
  })

  test('writes no file for a key in another header', () => {
    const target = { keyHeader: 'x-api-key' } as const
    const { names } = setUp({}, { ...two, options: { protocol: 'chat' }, target })
    expect(names).toEqual(['opencode.json'])
  })

  test('is taken back by a setup of opencode 1', () => {
    const { disk, edits, findings } = setUp(fresh.disk, { program: { version: '1.18.34' } })
    expect(findings).toEqual([])
    expect(disk).not.toHaveProperty([keyPath])
    expect(JSON.stringify(edits.map(({ after }) => text(after)))).not.toContain('{file:')
    expect(readBack(disk)).toMatchObject({ key, keyPath: `/home/ada/${authPath}` })
  })

  test('is not the reason for a key in a file of the user', () => {
    const disk = { ...withOptions({ apiKey: '{file:/mine}' }), [keyPath]: 'sk-a\n' }
    expect(readBack(disk)).toMatchObject({ keyFrom: 'elsewhere' })
    const settings = (one: Disk) => opencode.gatewaySettings(filesOf(opencode, aMachine(), one))
    expect(settings(disk)).not.toHaveProperty('key')
    expect(settings(fresh.disk)).toMatchObject({ key: [['key']] })
  })
})

describe('recorded conversations', () => {
  const reported = (before: readonly string[], after: readonly string[], isStarted = true) => {
    const files = (ids: readonly string[]) => {
      const models = Object.fromEntries(ids.map((id) => [id, {}]))
      return filesOf(opencode, aMachine(), aHome({ models }, { model: `gateway/${ids[0]}` }))
    }
    const world = emptyWorld(aMachine())
    const stat = isStarted ? () => ({ kind: 'file' }) : world.files.stat
    const change = { by: 'setup', before: files(before), after: files(after) } as const
    const found = opencode.sideEffects!(
      { ...world, files: { ...world.files, stat } } as typeof world,
      change,
    )
    return [...found].map(({ message, hint }) => `${message}. ${hint}`)
  }

  test.each([
    ['one model', ['a'], 'with gateway/a does not'],
    ['three models', ['a', 'b', 'c'], 'with gateway/a, gateway/b or gateway/c does not'],
    ['more models', ['a', 'b', 'c', 'd'], 'with one of 4 models does not'],
  ])('that lose %s are reported, with the way to go on', (_, lost, words) => {
    expect(reported([...lost, 'x'], ['y', 'x'])).toEqual([
      expect.stringMatching(new RegExp(`${words}.*opencode run -c -m gateway/y$`)),
    ])
  })

  test('are no news if their models stay, or if opencode was never started', () => {
    expect(reported(['a'], ['b', 'a'])).toEqual([])
    expect(reported(['a'], ['b'], false)).toEqual([])
  })
})

describe('check', () => {
  const inline = { apiKey: 'sk-b' }
  test.each([
    [
      'a key in the configuration next to one in auth.json',
      withOptions(inline),
      'opencode-api-key',
    ],
    ['a model that is not listed', aHome({ models: {} }), 'opencode-model-unlisted'],
    ['a hidden model', aHome({ blacklist: ['big'] }), 'opencode-hidden'],
    [
      'an agent with another model',
      aHome({}, { agent: { a: { model: 'b/c' } } }),
      'opencode-agent-model',
    ],
    [
      'a mode with another model',
      aHome({}, { mode: { a: { model: 'b/c' } } }),
      'opencode-agent-model',
    ],
    ['no key', aHome({}, {}, {}), 'opencode-no-key'],
    ['a variable that is not set', withOptions({ apiKey: '{env:NAME}' }, null), 'opencode-no-key'],
  ])('finds %s', (_, disk, code) => {
    expect(codesOn(disk)).toContain(code)
  })

  test('finds nothing about an agent with a model of the gateway', () => {
    expect(codesOn(aHome({}, { agent: { a: { model: 'gateway/big' } } }))).toEqual([])
  })

  test('finds the list that counts: the one of the stronger file', () => {
    const weaker = JSON.stringify({ enabled_providers: ['weak'] })
    const disk = {
      ...aHome({}, { enabled_providers: ['strong'] }),
      '.config/opencode/config.json': weaker,
    }
    expect(findingsOn(opencode, disk)).toMatchObject([
      { code: 'opencode-hidden', location: expect.stringContaining('opencode.json') },
    ])
  })

  test('finds that a list hides a provider that opencode ships', () => {
    const config = { model: 'anthropic/x', enabled_providers: ['other'] }
    expect(codesOn({ [path]: JSON.stringify(config) })).toEqual(['opencode-hidden'])
  })

  test('finds nothing if variables hold the key, or only the configuration', () => {
    const noEntry = (inProvider: object) => ({
      [path]: aHome(inProvider)[path]!,
      [authPath]: '{}',
    })
    const env = { NAME: 'sk-x' }
    const variable = { options: { baseURL, apiKey: '{env:NAME}' } }
    expect(codesOn(noEntry(variable), env)).toEqual([])
    expect(codesOn(noEntry({ env: ['OTHER', 'NAME'] }), env)).toEqual([])
    expect(codesOn(noEntry({ options: { baseURL, ...inline } }))).toEqual([])
  })

  test('fixes a key in the file that a setup writes, and in no weaker one', () => {
    const weaker = { provider: { gateway: { options: inline } } }
    const disk = { ...aHome(), '.config/opencode/config.json': JSON.stringify(weaker) }
    const isFixed = (found: Disk) =>
      findingsOn(opencode, found).find(({ code }) => code === 'opencode-api-key')?.fix !== undefined
    expect(isFixed(withOptions(inline))).toBe(true)
    expect(isFixed(disk)).toBe(false)
  })
})

describe('a run', () => {
  const run = (disk: Disk, keyHeader: 'authorization' | 'x-api-key' = 'authorization') => {
    const setup = { options: { protocol: 'chat' }, target: { keyHeader } } as const
    const { env, resumeKeeps } = launchOn(opencode, disk, setup)
    const content = JSON.parse(env['OPENCODE_CONFIG_CONTENT']!)
    return { content, resumeKeeps, id: content.model.split('/')[0] }
  }

  test('uses the provider in use, or a separate one if that one would send more', () => {
    expect(run(aHome())).toMatchObject({ id: 'gateway', resumeKeeps: 'model' })
    const separate = { id: 'repoint-run', resumeKeeps: 'gateway and model' }
    expect(run(withOptions({ headers: { 'x-team': 'a' } }))).toMatchObject(separate)
    expect(run(aHome(), 'x-api-key')).toMatchObject(separate)
    expect(run(withOptions({ ...other, region: 'x' }))).toMatchObject(separate)
  })

  test('is in no list of disabled providers', () => {
    const { content } = run(aHome({}, { disabled_providers: ['gateway', 'other'] }))
    expect(content.disabled_providers).toEqual(['other'])
  })
})

describe('the first request', () => {
  const bodyOf = async (protocol: Protocol, model: string, entry: object) => {
    const disk = aHome({ models: { [model]: entry } }, { model: `gateway/${model}` })
    return (await requestOf(opencode, disk, { model, protocol })).body
  }

  test('has at most the limit that opencode sends', async () => {
    const limited = (output: number) => bodyOf('chat', 'm', { limit: { output } })
    expect(await limited(64_000)).toMatchObject({ max_tokens: 32_000 })
    expect(await limited(5)).toMatchObject({ max_tokens: 5 })
  })

  test('has no reasoning for a GPT that does not reason, nor for an open model', async () => {
    const reasoningOf = async (model: string) => (await bodyOf('responses', model, {}))['reasoning']
    expect(await reasoningOf('gpt-5.4')).toBeDefined()
    expect(await reasoningOf('gpt-5-chat')).toBeUndefined()
    expect(await reasoningOf('gpt-oss-120b')).toBeUndefined()
  })

  test('has the effort under one name', async () => {
    const body = await bodyOf('chat', 'gpt-5.4', { options: { reasoningEffort: 'high' } })
    expect(body).toMatchObject({ reasoning_effort: 'high' })
    expect(body).not.toHaveProperty('reasoningEffort')
  })
})
