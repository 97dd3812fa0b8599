import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  codesOf,
  filesOf,
  findingsOn,
  key,
  launchOn,
  planOn,
  readValues,
  requestOf,
  type Setup,
  type StateValues,
  textAfter,
} from './support.ts'

const grok = byId('grok')
const file = '.grok/config.toml'
const path = `/home/ada/${file}`

/** A home after a setup, with other lines for its provider and more for its model. */
function home(provider = 'api_key = "sk-a"', model = ''): Record<string, string> {
  return {
    [file]: `[models]
default = "gateway/glm-5"
session_summary = "gateway/glm-5"

[model_providers.gateway]
base_url = "https://gw.example/v1"
${provider}

[model."gateway/glm-5"]
model_provider = "gateway"
model = "glm-5"
context_window = 200000
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

/** Grok Build 1.0.41 was run with each row, except the last two, 2026-11-29. */
describe('repoint reads the values that Grok Build uses', () => {
  test.each<readonly [string, Record<string, string>, StateValues]>([
    ['from an empty home', {}, {}],
    ['after a setup', home(), expectedValues],
    ['after a byte order mark', { [file]: `\ufeff${home()[file]}` }, expectedValues],
    ['next to unknown settings', home('api_key = "sk-a"\nzzz = 1', 'zzz = 1'), expectedValues],
    [
      'of a model before those of its provider',
      home(undefined, 'base_url = "https://b.example/v1"\napi_key = "sk-b"'),
      { ...expectedValues, baseUrl: 'https://b.example/v1', key: 'sk-b' },
    ],
    [
      'with headers and a query',
      home(
        'api_key = "sk-a"\nextra_headers = { "x-api-key" = "sk-a", "X-Team" = "blue" }\nquery_params = { a = "b" }',
      ),
      {
        ...expectedValues,
        keyHeader: 'x-api-key',
        headers: [{ name: 'x-team', value: 'blue' }],
        query: [{ name: 'a', value: 'b' }],
      },
    ],
    [
      'without a key for a variable',
      home('env_key = "MY_KEY"'),
      { ...expectedValues, key: undefined, keyPath: undefined, keyFrom: { variable: 'MY_KEY' } },
    ],
    [
      'and the address of another model of the same provider, which gets the key too',
      {
        [file]: `${home()[file]}[model.other]\nmodel_provider = "gateway"\nbase_url = "https://b.example/v1"\n`,
      },
      { ...expectedValues, alsoSendsTo: 'https://b.example/v1' },
    ],
    ['next to a variable', home('api_key = "sk-a"\nenv_key = "MY_KEY"'), expectedValues],
    ['but no fault', { [file]: 'a = = 1\n' }, { broken: expect.stringContaining('line 1') }],
    ['for a model of its vendor', { [file]: '[models]\ndefault = "grok-4.6"\n' }, {}],
    [
      'for a model with a command for its key',
      home('auth_provider = "work"'),
      { ...expectedValues, key: undefined, keyPath: undefined, keyFrom: 'elsewhere' },
    ],
  ])('%s', (_, disk, expected) => {
    expect(readValues(grok, aMachine(), disk)).toEqual(expected)
  })

  test('from the folder that GROK_HOME names', () => {
    const machine = aMachine({ env: { GROK_HOME: '/g' } })
    expect(readValues(grok, machine, { '/g/config.toml': home()[file]! }).model).toBe('glm-5')
  })
})

test.each<readonly [string, string, readonly string[]]>([
  ['all models of the provider', 'model_provider = "gateway"', ['gateway/glm-5', 'other']],
  ['no model of another provider', 'model_provider = "mine"', ['gateway/glm-5']],
])('the way back removes %s', (_, line, models) => {
  const text = `${home()[file]}[model.other]\n${line}\n`
  const { config } = grok.gatewaySettings(filesOf(grok, aMachine(), { [file]: text }))
  expect(config).toEqual([
    ['models', 'default'],
    ['models', 'session_summary'],
    ['model_providers', 'gateway'],
    ...models.map((name) => ['model', name]),
  ])
})

test('the way back of a model without a provider removes only this model', () => {
  const text = '[models]\ndefault = "a"\n[model.a]\nbase_url = "https://a.example/v1"\n[model.b]\n'
  const { config } = grok.gatewaySettings(filesOf(grok, aMachine(), { [file]: text }))
  expect(config).toEqual([
    ['models', 'default'],
    ['model', 'a'],
  ])
})

const writtenBaseUrls = ['https://gw.example/v1']

describe('check finds', () => {
  const atHome = { [file]: home()[file]!.replace('https://gw.example', 'http://127.0.0.1:9') }

  test.each<readonly [string, Record<string, string>, Partial<Machine['env']>]>([
    ['grok-config-invalid', { [file]: 'a = = 1\n' }, {}],
    ['grok-model-missing', { [file]: '[models]\ndefault = "nope"\n' }, {}],
    ['grok-no-key', home(''), {}],
    ['grok-no-key', home('env_key = ["MY_KEY", "OTHER"]'), {}],
    [
      'grok-authorizing-header',
      home('api_key = "sk-a"\nextra_headers = { Authorization = "Bearer sk-b" }'),
      {},
    ],
    ['grok-environment-model', home(), { GROK_DEFAULT_MODEL: 'other' }],
    ['grok-environment-model', home(), { GROK_CONFIG: '{"models":{"default":"other"}}' }],
    ['grok-environment-model', home(), { GROK_CONFIG_PATH: '/x.json' }],
    ['grok-placeholder-key', home('api_key = "PROXY_MANAGED"'), {}],
    ['grok-proxy', atHome, { HTTP_PROXY: 'http://127.0.0.1:1' }],
    ['grok-proxy', atHome, { ALL_PROXY: 'http://127.0.0.1:1' }],
    ['grok-relative-folder', {}, { GROK_HOME: 'here' }],
  ])('%s', (code, disk, env) => {
    expect(codesOf(findingsOn(grok, disk, aMachine({ env }), { writtenBaseUrls }))).toEqual([code])
  })

  test.each([
    ['the provider', home(undefined, ''), 6],
    ['the model', home(undefined, 'base_url = "https://gw.example/v1"'), 13],
  ])('a lost /v1 at the address of %s', (_, disk, line) => {
    const lines = disk[file]!.split('\n')
    lines[line - 1] = lines[line - 1]!.replace('/v1', '')
    const found = findingsOn(grok, { [file]: lines.join('\n') }, aMachine(), { writtenBaseUrls })
    expect(found).toMatchObject([{ code: 'grok-base-url-version', location: `${path}:${line}` }])
  })

  test.each<readonly [string, Record<string, string>, Partial<Machine['env']>]>([
    ['the second of several variables', home('env_key = ["MY_KEY", "OTHER"]'), { OTHER: 'sk-x' }],
    ['a command for the key', home('auth_provider = "work"'), {}],
    ['a key of its vendor next to ours', home(), { XAI_API_KEY: 'sk-x' }],
    ['a model of its vendor', { [file]: '[models]\ndefault = "grok-4.6"\n' }, {}],
    [
      'a server of this machine without a key',
      { [file]: home('')[file]!.replace('https://gw.example', 'http://127.0.0.1:9') },
      {},
    ],
  ])('nothing about %s', (_, disk, env) => {
    expect(findingsOn(grok, disk, aMachine({ env }))).toEqual([])
  })
})

describe('a setup', () => {
  test('asks before it takes over a provider', () => {
    const other = { [file]: home()[file]!.replaceAll('gw.example', 'b.example') }
    expect(codesOf(planOn(grok, other).findings)).toEqual(['grok-provider-conflict'])
  })

  test.each<readonly [string, Partial<Machine['env']>]>([
    ['grok-environment-model', { GROK_CONFIG: '{}' }],
    ['grok-proxy', { ALL_PROXY: 'http://127.0.0.1:1' }],
  ])('reports what defeats it: %s', (code, env) => {
    const setup = { machine: aMachine({ env }), target: { baseUrl: 'http://127.0.0.1:9/v1' } }
    expect(codesOf(planOn(grok, {}, setup).findings)).toEqual([code])
  })

  test('chooses the model for titles too', () => {
    const { models } = parse(textAfter(grok, {}, { options: { model: 'glm-5' } }))
    expect(models).toEqual({ default: 'gateway/glm-5', session_summary: 'gateway/glm-5' })
  })

  test.each([
    [{ id: 'house-1' }, 16_384],
    [{ id: 'house-1', contextWindow: 9000 }, 9000],
    [{ id: 'house-1', outputLimit: 4000 }, 4000],
  ])('limits the answers of %j to %s tokens', (model, limit) => {
    const setup = { catalog: { models: [model] }, options: { model: model.id } }
    expect(parse(textAfter(grok, {}, setup))['model']).toMatchObject({
      'gateway/house-1': { max_completion_tokens: limit },
    })
  })
})

describe('the first request', () => {
  const bodyFor = async (model: string, protocol: Protocol, disk = {}) =>
    (await requestOf(grok, disk, { model, protocol })).body

  test.each([
    ['grok-4.6', 'high'],
    ['grok-4.5', 'high'],
    ['x-ai/grok-4.6', undefined],
    ['glm-5', undefined],
  ])('over chat, %s has the effort %s', async (model, effort) => {
    expect((await bodyFor(model, 'chat'))['reasoning_effort']).toBe(effort)
  })

  test.each<readonly [Protocol, string]>([
    ['chat', 'max_tokens'],
    ['responses', 'max_output_tokens'],
  ])('over %s has its limit in %s', async (protocol, name) => {
    const body = await bodyFor('glm-5', protocol, home(undefined, 'max_completion_tokens = 1234'))
    expect(body[name]).toBe(1234)
  })
})

describe('a launch', () => {
  const launch = (args: readonly string[], disk: Record<string, string> = {}, setup: Setup = {}) =>
    launchOn(grok, disk, setup, { args })

  test("has a folder with the user's settings, without models and keys", () => {
    const command = '[auth_provider.work]\ncommand = "pass"\n'
    const disk = { [file]: `[cli]\nauto_update = false # mine\n\n${home()[file]}${command}` }
    const headers = [{ name: 'x-team', value: 'blue' }]
    const setup = { target: { headers }, options: { model: 'house-1' } }
    const { env: launched, files } = launch(['-p', 'hi'], disk, setup)
    expect(launched).toMatchObject({ GROK_HOME: '/run', REPOINT_RUN_HEADER_1: 'blue' })

    const config = files!['config.toml']!
    expect(config).toContain('auto_update = false # mine')
    expect(config).not.toMatch(/glm-5|sk-a|blue|pass/)
    expect(config).not.toContain(key)
    expect(parse(config)).toMatchObject({
      models: { default: 'gateway/house-1' },
      model_providers: {
        gateway: {
          env_key: launchKeyVariable,
          env_http_headers: { 'x-team': 'REPOINT_RUN_HEADER_1' },
        },
      },
    })
  })

  test('does without a file that Grok Build cannot read', () => {
    const { files } = launch([], { [file]: 'a = = 1\n' })
    expect(parse(files!['config.toml']!)).toHaveProperty('models')
  })

  test.each(['-c', '--continue', '-mother', '--model=other', '--resume'])('refuses %s', (flag) => {
    expect(() => launch([flag])).toThrow(/a run has its own/)
  })
})
