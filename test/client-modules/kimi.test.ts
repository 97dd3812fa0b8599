import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  codesOf,
  type Disk,
  filesOf,
  findingsOn,
  key,
  launchOn,
  planOn,
  readValues,
  requestOf,
  type Setup,
  type StateValues,
  text,
  textAfter,
} from './support.ts'

const kimi = byId('kimi')
const file = '.kimi-code/config.toml'
const path = `/home/ada/${file}`

/** A home after a setup, with more lines for its provider and for its model. */
function home(provider = 'api_key = "sk-a"', model = ''): Record<string, string> {
  return {
    [file]: `default_model = "gateway/glm-5"

[providers.gateway]
type = "openai"
base_url = "https://gw.example/v1"
${provider}

[models."gateway/glm-5"]
provider = "gateway"
model = "glm-5"
max_context_size = 200000
${model}
`,
  }
}

const expectedValues = {
  baseUrl: 'https://gw.example/v1',
  model: 'glm-5',
  key: 'sk-a',
  keyPath: path,
  providerId: 'gateway',
  contextWindow: 200_000,
  protocol: 'chat' as const,
}
const login = `default_model = "kimi-code/k3"
[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.kimi.com/coding/v1"
oauth = { storage = "file", key = "oauth/kimi-code" }
[models."kimi-code/k3"]
provider = "managed:kimi-code"
model = "k3"
max_context_size = 262144
`

/** Kimi Code 2.1.0 was run with each row, except the last two, 2026-11-29. */
describe('repoint reads the values that Kimi Code uses', () => {
  test.each<readonly [string, Disk, StateValues]>([
    ['from an empty home', {}, {}],
    ['after a setup', home(), expectedValues],
    ['after a byte order mark', { [file]: `\ufeff${home()[file]}` }, expectedValues],
    ['next to unknown settings', home('api_key = "sk-a"\nzzz = 1', 'zzz = 1'), expectedValues],
    [
      'without a key for a variable',
      home('api_key_env = "MY_KEY"'),
      { ...expectedValues, key: undefined, keyPath: undefined, keyFrom: { variable: 'MY_KEY' } },
    ],
    ['but no fault', { [file]: 'a = = 1\n' }, { broken: expect.stringContaining('line 1') }],
    ['for the login of its vendor', { [file]: login }, { login: expect.stringContaining('login') }],
    [
      'for a login that another provider names',
      home('oauth = { storage = "file", key = "k" }'),
      { login: expect.stringContaining('login') },
    ],
    [
      'and the address of another model of the same provider, which gets the key too',
      {
        [file]: `${home()[file]}[models.other]\nprovider = "gateway"\nbase_url = "https://b.example/v1"\n`,
      },
      { ...expectedValues, alsoSendsTo: 'https://b.example/v1' },
    ],
    [
      'for a key of its vendor',
      { [file]: login.replace(/oauth = .*/, 'api_key = "sk-vendor"') },
      {},
    ],
  ])('%s', (_, disk, expected) => {
    expect(readValues(kimi, aMachine(), disk)).toEqual(expected)
  })

  test('from the folder that KIMI_CODE_HOME names', () => {
    const machine = aMachine({ env: { KIMI_CODE_HOME: '/k' } })
    expect(readValues(kimi, machine, { '/k/config.toml': home()[file]! }).model).toBe('glm-5')
  })

  test('a window that repoint assumed counts as unknown', () => {
    const setup = { options: { model: 'house-1' }, catalog: undefined }
    const { target, edits } = planOn(kimi, {}, setup)
    expect(text(edits[0]!.after)).toContain('max_context_size = 128_000')
    expect(target.resolved.findings.map(({ code }) => code)).toContain('context-window-unknown')
    const after = { [file]: text(edits[0]!.after) }
    expect(readValues(kimi, aMachine(), after).contextWindow).toBeUndefined()
  })
})

test('the way back removes the provider with all of its models, and no other', () => {
  const others = '[models.b]\nprovider = "gateway"\n[models.c]\nprovider = "mine"\n'
  const files = filesOf(kimi, aMachine(), { [file]: home()[file]! + others })
  expect(kimi.gatewaySettings(files)).toEqual({
    config: [
      ['default_model'],
      ['providers', 'gateway'],
      ['models', 'gateway/glm-5'],
      ['models', 'b'],
    ],
  })
})

describe('check finds', () => {
  test.each<readonly [string, Disk, Partial<Machine['env']>]>([
    ['kimi-config-unreadable', { [file]: 'a = = 1\n' }, {}],
    ['kimi-model-missing', { [file]: 'default_model = "nope"\n' }, {}],
    ['kimi-no-window', { [file]: home()[file]!.replace(/max_context_size.*/, '') }, {}],
    ['kimi-no-key', home('api_key_env = "MY_KEY"'), {}],
    ['kimi-two-keys', home('api_key = "sk-a"\napi_key_env = "MY_KEY"'), {}],
    [
      'kimi-authorizing-header',
      home('api_key = "sk-a"\ncustom_headers = { Authorization = "Bearer sk-b" }'),
      {},
    ],
    ['kimi-environment-model', home(), { KIMI_MODEL_NAME: 'other' }],
    ['kimi-placeholder-key', home('api_key = "PROXY_MANAGED"'), {}],
    ['kimi-relative-folder', {}, { KIMI_CODE_HOME: 'here' }],
  ])('%s', (code, disk, env) => {
    const writtenBaseUrls = ['https://gw.example/v1']
    expect(codesOf(findingsOn(kimi, disk, aMachine({ env }), { writtenBaseUrls }))).toEqual([code])
  })

  test('a lost /v1, at the model if it has its own address', () => {
    const writtenBaseUrls = ['https://gw.example/v1']
    const lost = { [file]: home()[file]!.replace('/v1"', '"') }
    const ofModel = home(undefined, 'base_url = "https://gw.example"')
    for (const [disk, line] of [
      [lost, 5],
      [ofModel, 12],
    ] as const) {
      const [finding] = findingsOn(kimi, disk, aMachine(), { writtenBaseUrls })
      expect(finding).toMatchObject({ code: 'kimi-base-url-version', location: `${path}:${line}` })
    }
  })

  test.each([
    ['a key in a variable that is set', home('api_key_env = "MY_KEY"'), { MY_KEY: 'sk-x' }],
    ['a key for the environment of the provider', home('env = { KIMI_API_KEY = "sk-x" }'), {}],
    ['a variable of the environment without a model', home(), { KIMI_MODEL_API_KEY: 'sk-x' }],
    ['a service of its vendor', { [file]: login }, { KIMI_MODEL_NAME: 'k3' }],
    [
      'a server of this machine without a key',
      { [file]: home('')[file]!.replace('https://gw.example', 'http://127.0.0.1:9') },
      {},
    ],
  ])('nothing about %s', (_, disk, env) => {
    expect(findingsOn(kimi, disk as Disk, aMachine({ env }))).toEqual([])
  })
})

describe('a setup', () => {
  test.each(['api_key_env = "MY_KEY"', 'oauth = { storage = "file", key = "k" }'])(
    'replaces without a question what would stop Kimi Code next to the key: %s',
    (line) => {
      const { edits, findings } = planOn(kimi, home(line))
      expect(text(edits[0]!.after)).not.toContain(line)
      expect(findings).toEqual([])
    },
  )

  test('asks before it takes over a provider', () => {
    const other = home()[file]!.replaceAll('gw.example', 'b.example')
    expect(codesOf(planOn(kimi, { [file]: other }).findings)).toEqual(['kimi-provider-conflict'])
  })

  test('reports a variable that replaces its model', () => {
    const machine = aMachine({ env: { KIMI_MODEL_NAME: 'other' } })
    expect(codesOf(planOn(kimi, {}, { machine }).findings)).toEqual(['kimi-environment-model'])
  })

  test('writes an address for the messages protocol only if it is another one', () => {
    const options = { model: 'claude-sonnet-5-5', protocol: 'messages' as Protocol }
    const { models } = parse(textAfter(kimi, {}, { options })) as {
      models: Record<string, Record<string, unknown>>
    }
    expect(models['gateway/claude-sonnet-5-5']).toMatchObject({
      protocol: 'anthropic',
      base_url: 'https://gw.example',
    })
    expect(models['gateway/gpt-5.4']).not.toHaveProperty('base_url')
  })

  test.each([
    [{ id: 'house-1' }, 16_384],
    [{ id: 'house-1', contextWindow: 9000 }, 9000],
    [{ id: 'house-1', outputLimit: 4000 }, 4000],
    [{ id: 'claude-house' }, undefined],
  ])('limits the answers of %j to %s tokens', (model, limit) => {
    const setup = { catalog: { models: [model] }, options: { model: model.id } }
    const written = /max_output_size = ([\d_]+)/.exec(textAfter(kimi, {}, setup))?.[1]
    expect(written?.replace('_', '')).toBe(limit?.toString())
  })
})

describe('the first request', () => {
  const bodyFor = async (model: string, protocol: Protocol, disk: Disk = {}) =>
    (await requestOf(kimi, disk, { model, protocol })).body

  /** From anthropic-profile.ts of 2.1.0; each kind was run. */
  test.each([
    ['claude-opus-4-6', 'adaptive'],
    ['claude-mythos-preview', 'adaptive'],
    ['sonnet-latest', 'adaptive'],
    ['claude-sonnet-4-20250514', 'enabled'],
    ['claude-3-5-haiku-20241022', 'enabled'],
    ['glm-5', 'disabled'],
  ])('over messages, %s has thinking %s', async (model, type) => {
    expect(await bodyFor(model, 'messages')).toMatchObject({ thinking: { type } })
  })

  test.each([
    ['claude-sonnet-5-5', 'high'],
    ['claude-haiku-4-5', 'high'],
    ['claude-haiku-5-5', undefined],
    ['glm-5', undefined],
  ])('over chat, %s has the effort %s', async (model, effort) => {
    expect((await bodyFor(model, 'chat'))['reasoning_effort']).toBe(effort)
  })

  test.each<readonly [string, Protocol, string]>([
    ['gpt-5.6-sol', 'chat', 'max_completion_tokens'],
    ['o3', 'chat', 'max_completion_tokens'],
    ['gpt-6-sol', 'chat', 'max_tokens'],
    ['glm-5', 'responses', 'max_output_tokens'],
  ])('of %s over %s has its limit in %s', async (model, protocol, name) => {
    const disk = home(undefined, 'max_output_size = 1234')
    const ofModel = { [file]: disk[file]!.replaceAll('glm-5', model) }
    const body = await bodyFor(model, protocol, ofModel)
    const limits = Object.entries(body).filter(([member]) => /^max_.*tokens$/.test(member))
    expect(limits).toEqual([[name, 1234]])
  })

  test('offers a tool for pictures only to a model that accepts them', async () => {
    const seeing = home(undefined, 'capabilities = ["image_in"]')
    expect(JSON.stringify(await bodyFor('glm-5', 'chat', seeing))).toContain('ReadMediaFile')
    expect(JSON.stringify(await bodyFor('glm-5', 'chat', home()))).not.toContain('ReadMediaFile')
  })
})

describe('a launch', () => {
  const launch = (args: readonly string[], setup: Setup = {}) =>
    launchOn(kimi, home(), setup, { args })

  test('has the gateway and its headers in variables, and no file', () => {
    const headers = [{ name: 'x-team', value: 'blue' }]
    const setup = { target: { headers }, options: { model: 'glm-5', outputLimit: 999 } }
    const { files, ...launched } = launch(['-p', 'hi'], setup)
    expect(files).toBeUndefined()
    expect(launched).toMatchObject({
      args: ['-p', 'hi'],
      env: {
        KIMI_MODEL_NAME: 'glm-5',
        KIMI_MODEL_API_KEY: key,
        KIMI_MODEL_MAX_OUTPUT_SIZE: '999',
        KIMI_CODE_CUSTOM_HEADERS: 'x-team: blue',
      },
    })
  })

  test.each([
    [true, 'image_in'],
    [false, 'tool_use'],
  ])('of a model that accepts pictures (%s) has the ability %s', (images, ability) => {
    const catalog = { models: [{ id: 'house-1', images }] }
    const { env: launched } = launch([], { catalog, options: { model: 'house-1' } })
    expect(launched['KIMI_MODEL_CAPABILITIES']).toBe(ability)
  })

  test.each(['-c', '--continue', '-mother', '--model=other', '--session', '-r'])(
    'refuses %s',
    (flag) => {
      expect(() => launch([flag])).toThrow(/chooses a model/)
    },
  )
})
