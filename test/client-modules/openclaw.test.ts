import { describe, expect, test } from 'vitest'
import type { ClientWorld } from '../../src/clients/contract/client.ts'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import type { OfferedModel } from '../../src/clients/contract/setup.ts'
import { emptyState } from '../../src/clients/contract/state.ts'
import { outputLimitCures } from '../../src/clients/options/flags.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { failureOf } from '../support/failure.ts'
import {
  aMachine,
  byId,
  catalog,
  codesAfterFix,
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
  type StateValues,
  text,
  textAfter,
  windows,
  written,
} from './support.ts'

const openclaw = byId('openclaw')
const path = '.openclaw/openclaw.json'

/** A home with a working configuration. The arguments override parts of it. */
function aHome(inProvider: object = {}, more: object = {}, agents: object = {}): Disk {
  const gateway = {
    baseUrl: 'https://gw.example/v1',
    apiKey: 'sk-a',
    auth: 'api-key',
    models: [
      { id: 'big', name: 'Big' },
      { id: 'small', name: 'Small' },
    ],
    ...inProvider,
  }
  const defaults = { model: { primary: 'gateway/big' } }
  const config = { models: { providers: { gateway } }, agents: { defaults, ...agents }, ...more }
  return { [path]: JSON.stringify(config, null, 2) }
}

function readBack(disk: Disk): StateValues {
  return readValues(openclaw, aMachine(), disk)
}

/** OpenClaw 2026.9.5 and 2026.9.6 were run with each row, 2026-11-23. */
describe('repoint reads the configuration as OpenClaw does', () => {
  const good = {
    baseUrl: 'https://gw.example/v1',
    model: 'big',
    key: 'sk-a',
    providerId: 'gateway',
  }

  test.each([
    ['strict JSON', aHome()[path] as string],
    ['JSON5', `// mine\n${aHome()[path]}`.replaceAll('"', "'").replace("'models'", 'models')],
    ['the model as text', text5("{ primary: 'gateway/big' }", "'gateway/big'")],
  ])('%s', (_, content) => {
    expect(readBack({ [path]: content })).toMatchObject(good)
  })

  test.each([
    ['an empty file', ''],
    ['a file of blanks', ' \n'],
    ['a provider that is not an object', text5('gateway: {', 'other: 5, gateway: {')],
    ['a provider without models', text5('models: [{', 'x: [{')],
    ['models that are not a list', text5("[{ id: 'big', name: 'Big' }]", '{}')],
    ['a model without an ID', text5("id: 'big'", 'x: 1')],
    ['a model without a name', text5("name: 'Big'", 'x: 1')],
    ['an address that is not a string', text5("'https://gw.example/v1'", '5')],
    ['a protocol that is not a string', text5("auth: 'api-key'", 'api: 5')],
    ['invalid JSON5', '{ models: '],
  ])('and reports that OpenClaw does not start with %s', (_, content) => {
    const read = readBack({ [path]: content })
    expect(read.broken).toContain('openclaw.json')
    expect(read.baseUrl).toBeUndefined()
  })

  test('and accepts a provider without models that OpenClaw ships', () => {
    const content = text5('gateway: {', "anthropic: { apiKey: 'sk-b' }, gateway: {")
    expect(readBack({ [path]: content })).toMatchObject(good)
  })

  test('and without a model finds nothing', () => {
    expect(openclaw.read(filesOf(openclaw, aMachine(), {}))).toEqual(emptyState)
  })

  const big = { model: 'gateway/big' }
  const small = { model: { primary: 'gateway/small' } }
  test.each([
    ['the only agent', { writer: small }, {}, 'small'],
    ['main of several', { writer: big, main: small }, {}, 'small'],
    ['no agent if none is called main', { writer: small, reader: small }, {}, 'big'],
    ['the agent that is marked', { main: big, writer: { ...small, default: true } }, {}, 'small'],
    [
      'the agent of the system, even if another one is marked',
      { main: { ...big, default: true }, writer: small },
      { systemAgent: { agentId: 'writer' } },
      'small',
    ],
  ])('and starts with the model of %s', (_, entries, inDefaults, model) => {
    const defaults = { model: 'gateway/big', ...inDefaults }
    expect(readBack(aHome({}, {}, { defaults, entries })).model).toBe(model)
  })

  test('and lists the models of its picker', () => {
    expect(openclaw.read(filesOf(openclaw, aMachine(), aHome())).offered).toEqual(['big', 'small'])
    expect(readBack(aHome()).keyPath).toBe(`/home/ada/${path}`)
  })

  test.each([
    ['without `auth`', { auth: undefined }, 'gateway', 'the login gateway:manual in its database'],
    ['without a key', { apiKey: undefined }, 'gateway', 'the login gateway:manual in its database'],
    ['with both', {}, 'gateway', undefined],
    ['of another provider', { auth: undefined }, 'other', undefined],
  ])('and uses a login %s', (_, inProvider, provider, expected) => {
    const profiles = { 'gateway:manual': { provider, mode: 'api_key' } }
    expect(readBack(aHome(inProvider, { auth: { profiles } })).login).toBe(expected)
  })

  test.each([
    ['the default agent has another model', aHome({}, {}, { entries: { main: { model: 'a/b' } } })],
    [
      'the model is of a built-in provider',
      aHome({}, {}, { defaults: { model: 'anthropic/claude-opus-4-8' } }),
    ],
  ])('and finds no gateway if %s', (_, disk) => {
    expect(readBack(disk).baseUrl).toBeUndefined()
  })

  test.each([['${GATEWAY_KEY}'], ['$GATEWAY_KEY'], ['OPENAI_API_KEY'], ['gateway:manual']])(
    'and reads no key from the reference %s',
    (apiKey) => {
      const profiles = { 'gateway:manual': { provider: 'gateway', mode: 'api_key' } }
      const read = readBack(aHome({ apiKey }, { auth: { profiles } }))
      expect(read.key).toBeUndefined()
    },
  )
})

/** The configuration in JSON5, with one part replaced. */
function text5(from: string, to: string): string {
  const content = `{
  models: { providers: { gateway: {
    baseUrl: 'https://gw.example/v1', apiKey: 'sk-a', auth: 'api-key',
    models: [{ id: 'big', name: 'Big' }],
  } } },
  agents: { defaults: { model: { primary: 'gateway/big' } } },
}`
  if (!content.includes(from)) throw new Error(`the configuration does not contain ${from}`)
  return content.replace(from, to)
}

/** Recorded from `openclaw config file` of 2026.9.6. */
test.each([
  [{}, '/home/ada/.openclaw/openclaw.json'],
  [{ OPENCLAW_HOME: '~/srv' }, '/home/ada/srv/.openclaw/openclaw.json'],
  [{ OPENCLAW_STATE_DIR: '~/srv' }, '/home/ada/srv/openclaw.json'],
  [{ OPENCLAW_STATE_DIR: 'rel' }, '/home/ada/work/rel/openclaw.json'],
  [{ OPENCLAW_STATE_DIR: '/srv', OPENCLAW_HOME: '/x' }, '/srv/openclaw.json'],
  [{ OPENCLAW_CONFIG_PATH: '~/own.json', OPENCLAW_STATE_DIR: '/srv' }, '/home/ada/own.json'],
  [{ OPENCLAW_PROFILE: 'p' }, '/home/ada/.openclaw/openclaw.json'],
] as readonly (readonly [Machine['env'], string])[])('with %j the file is %s', (env, at) => {
  expect(filesOf(openclaw, aMachine({ env }), {})[0]!.path).toBe(at)
})

test('a file with the old name is still used if it exists', () => {
  const files = filesOf(openclaw, aMachine(), { '.clawdbot/clawdbot.json': '{}' })
  expect(files[0]!.path).toBe('/home/ada/.clawdbot/clawdbot.json')
})

describe('a setup', () => {
  test('limits the output to what gateways accept, unless the user names a limit of its model', () => {
    const limits = (named: object) =>
      openclaw.resolve(inputFor(catalog, named)).offered.map(({ outputLimit }) => outputLimit)
    expect(limits({}).slice(0, 2)).toEqual([32_000, 32_000])
    expect(limits({ outputLimit: 64_000 }).slice(0, 2)).toEqual([64_000, 32_000])
  })

  test.each([
    ...['sk-a${HOME}', '$MY_KEY', 'MY_KEY', 'oauth:x', 'secretref-x', 'custom-local'],
    ...['ollama-local', 'lmstudio-local', 'codex-app-server', 'gcp-vertex-credentials'],
    'minimax-oauth',
  ])('rejects the key %s, because OpenClaw would replace it', (refused) => {
    expect(failureOf(() => planOn(openclaw, {}, { target: { key: refused } }))).toMatchObject({
      code: 'config-conflict',
    })
  })

  test('keeps the settings of another gateway that OpenClaw only uses itself', () => {
    const kept = { maxTokens: 5000, contextWindow: 6000 }
    const models = [{ id: 'gpt-5.6-sol', name: 'Sol', contextTokens: 7000 }]
    const disk = aHome({ baseUrl: 'https://other.example/v1', ...kept, models })
    const { edits, findings } = planOn(openclaw, disk)
    expect(codesOf(findings)).toEqual(['openclaw-provider-conflict'])
    const { gateway } = JSON.parse(text(edits[0]!.after)).models.providers
    expect(gateway).toMatchObject(kept)
    expect(gateway.models[0]).toMatchObject({ id: 'gpt-5.6-sol', contextTokens: 7000 })
  })

  test('gives undo the role of each setting, so that an address and its key stay together', () => {
    const models = [{ id: 'big', name: 'Big', baseUrl: 'https://other.example' }]
    const disk = aHome({ models, request: { proxy: 'x' } })
    const { edits } = planOn(openclaw, disk)
    const roles = edits[0]!.changes.map(({ path, role }) => [
      path.map((name) => (typeof name === 'string' ? name : '*')).join('.'),
      role,
    ])
    expect(Object.fromEntries(roles)).toMatchObject({
      'models.providers.gateway.baseUrl': 'address',
      'models.providers.gateway.models.*.baseUrl': 'address',
      'models.providers.gateway.apiKey': 'key',
      'models.providers.gateway.auth': 'key',
      'models.providers.gateway.authHeader': 'key',
      'models.providers.gateway.request': 'key',
      'models.providers.gateway.api': 'provider',
      'agents.defaults.model.primary': 'model',
    })
  })

  test.each([['m@work'], ['vendor/m@work'], ['a${HOME}']])('rejects the model %s', (model) => {
    const launchInput = () => openclaw.resolve(inputFor({ models: [{ id: model }] }, { model }))
    expect(failureOf(launchInput)).toMatchObject({ code: 'config-conflict' })
  })

  test.each([
    ['@cf/meta/llama'],
    ['claude-haiku@20251001'],
    ['vendor/m:free'],
    ['qwen@q4_k_m'],
    ['qwen@8bit'],
  ])('accepts the model %s', (model) => {
    const { edits, machine } = planOn(openclaw, {}, { options: { model }, catalog: undefined })
    expect(readBack(written({}, machine, edits)).model).toBe(model)
  })
})

type Case = [code: string, line: number | undefined, disk: Disk, env?: Machine['env']]

const login = { auth: { profiles: { 'gateway:manual': { provider: 'gateway', mode: 'api_key' } } } }
const withRequest = aHome({ request: { auth: { mode: 'header' } } })

const withFix: readonly Case[] = [
  ['openclaw-other-key', 29, aHome({ auth: undefined }, login)],
  ['openclaw-request', 18, withRequest],
]

/** A fix would remove something of the user's. */
const withoutFix: readonly Case[] = [
  ['openclaw-config-invalid', undefined, { [path]: '' }],
  ...['OPENCLAW_STATE_DIR', 'OPENCLAW_CONFIG_PATH', 'OPENCLAW_HOME'].map(
    (name): Case => ['openclaw-relative-folder', undefined, {}, { [name]: 'rel' }],
  ),
  ['openclaw-include', undefined, aHome({}, { $include: './base.json5' })],
  ['openclaw-include', undefined, aHome({}, { tools: [{ $include: 'x' }] })],
  [
    'openclaw-proxy',
    undefined,
    aHome({ baseUrl: 'http://127.0.0.1:1/v1' }),
    { HTTP_PROXY: 'http://proxy.example:8080' },
  ],
  ['openclaw-other-key', 29, aHome({ auth: undefined, apiKey: 'gateway:manual' }, login)],
  ['openclaw-model-unlisted', 15, aHome({ models: [] })],
  ['openclaw-no-key', 6, aHome({ apiKey: '${NO_KEY}' })],
]

describe('check finds', () => {
  const findOne = (
    code: string,
    line: number | undefined,
    disk: Disk,
    env: Machine['env'] = {},
  ) => {
    const found = findingsOn(openclaw, disk, aMachine({ env })).filter((one) => one.code === code)
    expect(found).toHaveLength(1)
    if (line !== undefined) expect(found[0]!.location).toBe(`/home/ada/${path}:${line}`)
    return found[0]!
  }

  test.each(withFix)('%s, with a fix', (code, line, disk) => {
    expect(codesAfterFix(openclaw, disk, findOne(code, line, disk))).not.toContain(code)
  })

  test.each(withoutFix)('%s, without a fix', (code, line, disk, env) => {
    expect(findOne(code, line, disk, env).fix).toBeUndefined()
  })

  test('nothing in a working configuration', () => {
    expect(findingsOn(openclaw, aHome())).toEqual([])
    expect(findingsOn(openclaw, aHome({}, login))).toEqual([])
    const env = { GATEWAY_KEY: 'sk-x' }
    expect(findingsOn(openclaw, aHome({ apiKey: '${GATEWAY_KEY}' }), aMachine({ env }))).toEqual([])
    expect(findingsOn(openclaw, aHome({ apiKey: { source: 'env', id: 'X' } }))).toEqual([])
    const tilde = { OPENCLAW_HOME: '~' }
    expect(findingsOn(openclaw, aHome(), aMachine({ env: tilde }))).toEqual([])
  })

  test('nothing in the configuration of a provider that OpenClaw ships', () => {
    const providers = { anthropic: { apiKey: '${NO_KEY}', request: {} } }
    const agents = { defaults: { model: 'anthropic/claude-opus-5-5' } }
    const disk = { [path]: JSON.stringify({ models: { providers }, agents, $include: 'x' }) }
    expect(findingsOn(openclaw, disk)).toEqual([])
  })

  test('no missing key if the file names a login instead', () => {
    const found = findingsOn(openclaw, aHome({ apiKey: undefined }, login))
    expect(codesOf(found)).toEqual(['openclaw-other-key'])
  })

  test('that `request` may hold a key', () => {
    const [finding] = findingsOn(openclaw, withRequest)
    expect(finding!.fix!.changes).toMatchObject([{ isSecret: true }])
  })
})

describe('before a setup, check', () => {
  const findingsOn = (disk: Disk) =>
    planOn(openclaw, disk).findings.map(({ code, needsConsentTo, fix }) => {
      return { code, asks: needsConsentTo !== undefined, goes: fix !== undefined }
    })

  const url = 'https://gw.example/v1'
  test.each([
    ['openclaw-include', aHome({}, { $include: './base.json5' })],
    ['openclaw-request', aHome({ request: {} })],
    ['openclaw-provider-conflict', aHome({ baseUrl: 'https://other.example/v1' })],
    ['openclaw-relative-folder', aHome(), { OPENCLAW_HOME: 'rel' }],
    ['openclaw-proxy', aHome(), { HTTP_PROXY: 'http://proxy.example:8080' }],
  ])('finds %s', (code, disk, env: Machine['env'] = {}) => {
    const { findings } = planOn(openclaw, disk, {
      machine: aMachine({ env }),
      target: { baseUrl: code === 'openclaw-proxy' ? 'http://127.0.0.1:1/v1' : url },
      context: { writtenBaseUrls: [url] },
    })
    expect(codesOf(findings)).toContain(code)
  })

  test('asks about a login, and the key of the setup overrides it afterwards', () => {
    const disk = aHome({ auth: undefined, apiKey: 'gateway:manual' }, login)
    expect(findingsOn(disk)).toEqual([{ code: 'openclaw-other-key', asks: true, goes: true }])
    const after = textAfter(openclaw, disk)
    expect(after).toContain('"auth": "api-key"')
    expect(readBack({ [path]: after })).toMatchObject({ key })
  })

  test('accepts an agent with the model of the setup', () => {
    const entries = { main: { model: 'gateway/gpt-5.6-sol' } }
    expect(findingsOn(aHome({}, {}, { entries }))).toEqual([])
  })

  test('asks to remove the model of the default agent, and reports the model of another agent', () => {
    const entries = { main: { default: true, model: 'a/b' }, writer: { model: 'a/c' } }
    const disk = aHome({}, {}, { entries })
    expect(findingsOn(disk)).toEqual([
      { code: 'openclaw-agent-model', asks: true, goes: true },
      { code: 'openclaw-agent-model', asks: false, goes: false },
    ])
    const after = textAfter(openclaw, disk)
    expect(after).not.toContain('a/b')
    expect(after).toContain('a/c')
  })
})

test('the key can be in another header over each protocol', () => {
  const { protocols, sends } = openclaw
  expect(Object.keys(sends.otherKeyHeaders ?? {}).sort()).toEqual([...protocols].sort())
})

describe('the settings of a gateway', () => {
  const pathsIn = (disk: Disk) => {
    const { config = [] } = openclaw.gatewaySettings(filesOf(openclaw, aMachine(), disk))
    return config.map((setting) => setting.join('.'))
  }
  const provider = 'models.providers.gateway'

  test.each([
    ['the table of the model if it has nothing else', {}, ['agents.defaults.model']],
    [
      'the model',
      { model: { primary: 'gateway/big', fallbacks: [] } },
      ['agents.defaults.model.primary'],
    ],
    ['the model as text', { model: 'gateway/big' }, ['agents.defaults.model']],
  ])('include %s', (_, more, expected) => {
    const defaults = { model: { primary: 'gateway/big' }, ...more }
    expect(pathsIn(aHome({}, {}, { defaults }))).toEqual([provider, ...expected])
  })

  test('include the models of agents, but of no other provider', () => {
    const entries = {
      main: { model: 'gateway/small' },
      writer: { model: 'gateway2/small' },
      reader: { model: 'a/b' },
    }
    const defaults = { model: 'a/b' }
    expect(pathsIn(aHome({}, {}, { defaults, entries }))).toEqual([
      provider,
      'agents.entries.main.model',
    ])
  })

  test('are none for a provider that OpenClaw ships', () => {
    expect(pathsIn(aHome({}, {}, { defaults: { model: 'anthropic/claude-opus-5-5' } }))).toEqual([])
  })
})

test.each(['undo', 'forget', 'setup'] as const)(
  'after %s, copies with the key are reported',
  (by) => {
    const machine = aMachine()
    const before = filesOf(openclaw, machine, aHome())
    const read = () => new TextEncoder().encode('{ apiKey: "sk-a" }')
    const world = { ...emptyWorld(machine), files: { read } } as unknown as ClientWorld
    const found = [...openclaw.sideEffects!(world, { by, before, after: before })]
    const copies = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4']
    expect(found.map(({ hint }) => hint)).toEqual(
      by === 'setup' ? [] : copies.map((end) => `To remove it: delete /home/ada/${path}${end}`),
    )
  },
)

describe('a run', () => {
  const headers = [{ name: 'x-team', value: 'sk-users-own-key', isSecret: true as const }]
  const run = (disk: Disk, args = ['agent', 'exec', 'x'], setup: Setup = {}, roots?: string) => {
    const env = { [launchKeyVariable]: key, ...(roots && { OPENCLAW_INCLUDE_ROOTS: roots }) }
    const { files, ...launched } = launchOn(openclaw, disk, setup, { args, env })
    const content = files?.['openclaw-run.json']
    return { ...launched, files, config: content && JSON.parse(content) }
  }
  const providerOf = (setup: Setup) => run({}, [], setup).config.models.providers['repoint-run']

  test("uses a separate file, which includes the user's file and contains no secret", () => {
    const entries = { main: { model: { primary: 'a/b', fallbacks: ['a/c'] } } }
    const args = ['agent', 'exec', 'x']
    const setup = { target: { headers } }
    const launched = run(aHome({}, {}, { entries }), args, setup, '/srv')
    expect(launched.args).toEqual(args)
    expect(launched.env).toMatchObject({
      OPENCLAW_CONFIG_PATH: '/run/openclaw-run.json',
      OPENCLAW_INCLUDE_ROOTS: '/home/ada/.openclaw:/srv',
      REPOINT_RUN_HEADER_1: 'sk-users-own-key',
    })
    const provider = {
      ...{ apiKey: '${REPOINT_RUN_KEY}', auth: 'api-key' },
      headers: { 'x-team': '${REPOINT_RUN_HEADER_1}' },
    }
    const model = 'repoint-run/gpt-5.6-sol'
    expect(launched.config).toMatchObject({
      $include: `/home/ada/${path}`,
      models: { providers: { 'repoint-run': provider } },
      agents: { defaults: { model }, entries: { main: { model } } },
    })
    expect(JSON.stringify(launched.files)).not.toMatch(/sk-(test|users)/)
  })

  test('changes only the agents and the allow list that the file has', () => {
    const model = 'repoint-run/gpt-5.6-sol'
    expect(run(aHome()).config.agents).toEqual({ defaults: { model } })
    const defaults = { model: 'gateway/big', modelPolicy: { allow: ['gateway/*'] } }
    expect(run(aHome({}, {}, { defaults })).config.agents).toEqual({
      defaults: { model, modelPolicy: { allow: ['repoint-run/*'] } },
    })
  })

  test('sends the key as a bearer token over messages too', () => {
    expect(providerOf({ options: { protocol: 'messages' } })).toMatchObject({ authHeader: true })

    // Also for a model that the user can choose later.
    const { resolved } = planOn(openclaw, {}).target
    const claude = { id: 'claude-opus-4-8', protocol: 'messages' } as const
    const offering = (offered: readonly OfferedModel[]) => ({
      target: { resolved: { ...resolved, offered } },
    })
    expect(providerOf(offering([claude]))).toHaveProperty('authHeader')
    expect(providerOf(offering([]))).not.toHaveProperty('authHeader')
  })

  test('separates the folders of included files as Windows does', () => {
    const { env } = run({}, [], { machine: aMachine(windows) }, 'D:\\x')
    expect(env).toMatchObject({ OPENCLAW_INCLUDE_ROOTS: 'C:\\Users\\Ada\\.openclaw;D:\\x' })
  })

  test("includes no missing file, and does not change commands that manage the user's file", () => {
    expect(run({}).config).not.toHaveProperty('$include')
    const commands = ['config', 'configure', 'onboard', 'setup', 'doctor', 'plugins', 'update']
    for (const command of commands) expect(run({}, [command]).files).toBeUndefined()
  })

  test.each([
    ...['--profile', '--profile=p', '--dev', '--config', '--isolated', '--auth-env-only'],
  ])('rejects %s', (arg) => {
    expect(failureOf(() => run({}, ['agent', arg]))).toMatchObject({ code: 'usage' })
  })
})

/** Recorded from OpenClaw 2026.9.5 and 2026.9.6, 2026-11-23. */
describe('the first request', () => {
  const requestWith = (protocol: Protocol, model: string, entry: object, more: object = {}) => {
    const models = [{ id: model, name: 'x', maxTokens: 32_000, ...entry }]
    const defaults = { model: `gateway/${model}`, ...more }
    const disk = aHome({ models, maxTokens: 16_000 }, {}, { defaults })
    return requestOf(openclaw, disk, { model, protocol })
  }
  const bodyOf = async (...input: Parameters<typeof requestWith>) =>
    (await requestWith(...input)).body
  const adaptive = { thinking: { type: 'adaptive', display: 'summarized' } }
  const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })

  test.each([
    ['chat', 'm', { reasoning: true }, { max_completion_tokens: 32_000, tool_choice: 'auto' }],
    ['chat', 'm', { compat: { maxTokensField: 'max_tokens' } }, { max_tokens: 32_000 }],
    ['responses', 'm', { reasoning: true }, { reasoning: { effort: 'medium', summary: 'auto' } }],
    ['responses', 'm', { maxTokens: undefined }, { max_output_tokens: 16_000, store: false }],
    ['messages', 'claude-opus-5-5', {}, adaptive],
    ['messages', 'claude-sonnet-5-5', {}, adaptive],
    ['messages', 'm', { reasoning: true }, budget(8192)],
    ['messages', 'claude-haiku-4-5', { reasoning: true }, budget(8192)],
    ['messages', 'm', { reasoning: true, maxTokens: 2049 }, budget(1025)],
    ['messages', 'm', {}, { max_tokens: 32_000 }],
  ] as const)(
    'over %s with %s and the entry %j has these members',
    async (protocol, model, entry, body) => {
      expect(await bodyOf(protocol, model, entry)).toMatchObject(body)
    },
  )

  test.each([
    ['chat', 'reasoning_effort'],
    ['responses', 'include'],
    ['messages', 'thinking'],
  ] as const)('over %s has no %s for a model that does not reason', async (protocol, member) => {
    expect(await bodyOf(protocol, 'm', {})).not.toHaveProperty(member)
  })

  test.each([
    ['claude-sonnet-4-5', { reasoning: true }],
    ['m', { reasoning: true, maxTokens: 2048 }],
    ['m', { reasoning: true }, { thinkingDefault: 'high' }],
    ['claude-opus-5-5', {}, { thinkingDefault: 'high' }],
  ])(
    'over messages has no thinking for %s with the entry %j and the defaults %j',
    async (model, entry, more?: object) => {
      expect(await bodyOf('messages', model, entry, more)).not.toHaveProperty('thinking')
    },
  )

  test('has the usual limit if neither the model nor the provider has one', async () => {
    const input = { model: 'big', protocol: 'responses' } as const
    expect((await requestOf(openclaw, aHome(), input)).body).toMatchObject({
      max_output_tokens: 8192,
    })
  })

  test('has one limit and the headers of the entry', async () => {
    const compat = { maxTokensField: 'max_tokens', supportsUsageInStreaming: false }
    const entry = { compat, headers: { 'x-team': 'a' } }
    const { body, addedHeaders } = await requestWith('chat', 'm', entry)
    expect(body).not.toHaveProperty('max_completion_tokens')
    expect(body['stream_options']).toBeUndefined()
    expect(addedHeaders).toMatchObject([{ name: 'x-team', value: 'a' }])
  })

  test.each([
    ['chat', 'm', ['max_completion_tokens', 'stream_options']],
    ['responses', 'm', ['include', 'reasoning']],
    ['messages', 'm', ['thinking']],
    // OpenClaw lets it think whatever the file says.
    ['messages', 'claude-opus-5-5', []],
  ] as const)('over %s with %s comes with cures for %j', async (protocol, model, members) => {
    const usual: Readonly<Record<string, string>> = outputLimitCures
    const cures = Object.entries((await requestWith(protocol, model, {})).hints ?? {})
    const others = cures.filter(([name, cure]) => cure !== usual[name]).map(([name]) => name)
    expect(others.sort()).toEqual(members)
  })

  test.each(['chat', 'responses', 'messages'] as const)(
    'over %s has an image tool if the model accepts images',
    async (protocol) => {
      const tools = async (entry: object) =>
        JSON.stringify((await bodyOf(protocol, 'm', entry))['tools'])
      expect(await tools({ input: ['text', 'image'] })).toContain('view_image')
      expect(await tools({ input: ['text'] })).not.toContain('view_image')
    },
  )
})

// 2026.5.18 and 2026.8.1 were run with these arguments. 2026.7.35 rejects `agent exec ping` (2026-11-24).
test.each([
  ['2026.5.18', ['agent', '--local', '--session-id', 'repoint', '-m', 'ping']],
  ['2026.7.35', ['agent', '--local', '--session-id', 'repoint', '-m', 'ping']],
  ['2026.8.1', ['agent', 'exec', 'ping']],
  [undefined, ['agent', 'exec', 'ping']],
])('%s answers one prompt to %j', (version, args) => {
  expect(openclaw.program.pingArgs('ping', version)).toEqual(args)
})
