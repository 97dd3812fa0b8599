import { describe, expect, test } from 'vitest'
import type { ClientContext } from '../../src/clients/contract/client.ts'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { caught } from '../edits/helpers.ts'
import {
  aMachine,
  byId,
  catalog,
  type Disk,
  filesOf,
  findingsOn,
  inputFor,
  key,
  planOn,
  readValues,
  type StateValues,
  text,
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
    ['a provider without models', text5('models: [{', 'x: [{')],
    ['a model without a name', text5("name: 'Big'", 'x: 1')],
    ['an address that is not a string', text5("'https://gw.example/v1'", '5')],
    ['invalid JSON5', '{ models: '],
  ])('and reports that OpenClaw does not start with %s', (_, content) => {
    const read = readBack({ [path]: content })
    expect(read.broken).toContain('openclaw.json')
    expect(read.baseUrl).toBeUndefined()
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
  test('limits the output to what gateways accept, unless the user names a limit', () => {
    const most = (named: object) =>
      openclaw.resolve(inputFor(catalog, named)).offered?.[0]?.outputLimit
    expect(most({})).toBe(32_000)
    expect(most({ outputLimit: 64_000 })).toBe(64_000)
  })

  test.each([['sk-a${HOME}'], ['$MY_KEY'], ['MY_KEY'], ['oauth:x'], ['ollama-local']])(
    'rejects the key %s, because OpenClaw would replace it',
    (refused) => {
      expect(caught(() => planOn(openclaw, {}, { target: { key: refused } }))).toMatchObject({
        code: 'config-conflict',
      })
    },
  )

  test.each([['m@work'], ['vendor/m@work'], ['a${HOME}']])('rejects the model %s', (model) => {
    const launchInput = () => openclaw.resolve(inputFor({ models: [{ id: model }] }, { model }))
    expect(caught(launchInput)).toMatchObject({ code: 'config-conflict' })
  })

  test.each([['@cf/meta/llama'], ['claude-haiku@20251001'], ['vendor/m:free'], ['qwen@q4_k_m']])(
    'accepts the model %s',
    (model) => {
      const { edits, machine } = planOn(openclaw, {}, { options: { model }, catalog: undefined })
      expect(readBack(written({}, machine, edits)).model).toBe(model)
    },
  )
})

interface Case {
  readonly code: string
  readonly disk: Disk
  readonly line?: number
  readonly env?: Machine['env']
  readonly context?: Partial<ClientContext>
  /** There is no fix, because it would remove something of the user's. */
  readonly stays?: boolean
}

const login = { auth: { profiles: { 'gateway:manual': { provider: 'gateway', mode: 'api_key' } } } }

const cases: Case[] = [
  { code: 'openclaw-config-invalid', disk: { [path]: '' }, stays: true },
  {
    code: 'openclaw-relative-folder',
    disk: {},
    env: { OPENCLAW_STATE_DIR: 'rel' },
    stays: true,
  },
  { code: 'openclaw-include', disk: aHome({}, { $include: './base.json5' }), stays: true },
  {
    code: 'openclaw-proxy',
    disk: aHome({ baseUrl: 'http://127.0.0.1:1/v1' }),
    env: { HTTP_PROXY: 'http://proxy.example:8080' },
    stays: true,
  },
  { code: 'openclaw-other-key', disk: aHome({ auth: undefined }, login), line: 29 },
  {
    code: 'openclaw-other-key',
    disk: aHome({ auth: undefined, apiKey: 'gateway:manual' }, login),
    line: 29,
    stays: true,
  },
  { code: 'openclaw-request', disk: aHome({ request: { auth: { mode: 'header' } } }), line: 18 },
  { code: 'openclaw-model-unlisted', disk: aHome({ models: [] }), line: 15, stays: true },
  { code: 'openclaw-no-key', disk: aHome({ apiKey: '${NO_KEY}' }), line: 6, stays: true },
]

describe('check finds', () => {
  test.each(cases)('$code', ({ code, disk, line, env = {}, context, stays = false }) => {
    const machine = aMachine({ env })
    const found = findingsOn(openclaw, disk, machine, context).filter((one) => one.code === code)
    expect(found).toHaveLength(1)
    if (line !== undefined) expect(found[0]!.location).toBe(`/home/ada/${path}:${line}`)
    expect(found[0]!.fix === undefined).toBe(stays)
    if (found[0]!.fix === undefined) return

    const edits = planFixes(openclaw, filesOf(openclaw, machine, disk), [found[0]!.fix])
    const after = findingsOn(openclaw, written(disk, machine, edits), machine, context)
    expect(after.map((one) => one.code)).not.toContain(code)
  })

  test('nothing in a working configuration', () => {
    expect(findingsOn(openclaw, aHome())).toEqual([])
    expect(findingsOn(openclaw, aHome({}, login))).toEqual([])
    const env = { GATEWAY_KEY: 'sk-x' }
    expect(findingsOn(openclaw, aHome({ apiKey: '${GATEWAY_KEY}' }), aMachine({ env }))).toEqual([])
  })
})

describe('before a setup, check', () => {
  const findingsOn = (disk: Disk) =>
    planOn(openclaw, disk).findings.map(({ code, needsConsentTo, fix }) => {
      return { code, asks: needsConsentTo !== undefined, goes: fix !== undefined }
    })

  test('asks about a login, and the key of the setup overrides it afterwards', () => {
    const disk = aHome({ auth: undefined, apiKey: 'gateway:manual' }, login)
    expect(findingsOn(disk)).toEqual([{ code: 'openclaw-other-key', asks: true, goes: true }])
    const { edits } = planOn(openclaw, disk)
    expect(text(edits[0]!.after)).toContain('"auth": "api-key"')
    expect(readBack({ [path]: text(edits[0]!.after) })).toMatchObject({ key })
  })

  test('asks to remove the model of the default agent, and reports the model of another agent', () => {
    const entries = { main: { default: true, model: 'a/b' }, writer: { model: 'a/c' } }
    const disk = aHome({}, {}, { entries })
    expect(findingsOn(disk)).toEqual([
      { code: 'openclaw-agent-model', asks: true, goes: true },
      { code: 'openclaw-agent-model', asks: false, goes: false },
    ])
    const { edits } = planOn(openclaw, disk)
    expect(text(edits[0]!.after)).not.toContain('a/b')
    expect(text(edits[0]!.after)).toContain('a/c')
  })
})

describe('a run', () => {
  const launchInput = {
    args: ['agent', 'exec', 'x'],
    env: { REPOINT_RUN_KEY: key },
    tempFolder: '/run/one',
  }
  const headers = [{ name: 'x-team', value: 'sk-users-own-key', isSecret: true as const }]
  const run = (disk: Disk, changes: Partial<typeof launchInput> = {}) => {
    const { target } = planOn(openclaw, {}, { target: { headers } })
    const texts = filesOf(openclaw, aMachine(), disk)
    return openclaw.launchSettings(texts, target, { ...launchInput, ...changes })
  }

  test("uses a separate file, which includes the user's file and contains no secret", () => {
    const entries = { main: { model: { primary: 'a/b', fallbacks: ['a/c'] } } }
    const { args, env, files } = run(aHome({}, {}, { entries }), {
      env: { ...launchInput.env, OPENCLAW_INCLUDE_ROOTS: '/srv' } as typeof launchInput.env,
    })
    expect(args).toEqual(launchInput.args)
    expect(env).toMatchObject({
      OPENCLAW_CONFIG_PATH: '/run/one/openclaw-run.json',
      OPENCLAW_INCLUDE_ROOTS: '/home/ada/.openclaw:/srv',
    })
    const config = JSON.parse(files!['openclaw-run.json']!)
    expect(config).toMatchObject({
      $include: `/home/ada/${path}`,
      models: { providers: { 'repoint-run': { apiKey: '${REPOINT_RUN_KEY}', auth: 'api-key' } } },
      agents: {
        defaults: { model: 'repoint-run/gpt-5.6-sol' },
        entries: { main: { model: 'repoint-run/gpt-5.6-sol' } },
      },
    })
    expect(JSON.stringify(files)).not.toMatch(/sk-(test|users)/)
  })

  test("includes no missing file, and does not change commands that manage the user's file", () => {
    expect(JSON.parse(run({}).files!['openclaw-run.json']!)).not.toHaveProperty('$include')
    expect(run({}, { args: ['config', 'get', 'x'] }).files).toBeUndefined()
  })

  test.each([['--profile'], ['--profile=p'], ['--config'], ['--isolated']])('rejects %s', (arg) => {
    expect(caught(() => run({}, { args: ['agent', arg] }))).toMatchObject({ code: 'usage' })
  })
})

/** Recorded from OpenClaw 2026.9.5 and 2026.9.6, 2026-11-23. */
describe('the first request', async () => {
  const recordings = await openclaw.loadRecordings()
  const bodyOf = (protocol: Protocol, model: string, entry: object) => {
    const models = [{ id: model, name: 'x', maxTokens: 32_000, ...entry }]
    const disk = aHome({ models }, {}, { defaults: { model: `gateway/${model}` } })
    const files = filesOf(openclaw, aMachine(), disk)
    return openclaw.firstRequest(recordings, files, { model, protocol, env: {} }).body
  }
  const adaptive = { thinking: { type: 'adaptive', display: 'summarized' } }

  test.each([
    ['chat', 'm', { reasoning: true }, { max_completion_tokens: 32_000, tool_choice: 'auto' }],
    ['chat', 'm', { compat: { maxTokensField: 'max_tokens' } }, { max_tokens: 32_000 }],
    ['responses', 'm', { reasoning: true }, { reasoning: { effort: 'medium', summary: 'auto' } }],
    ['responses', 'm', { maxTokens: undefined }, { max_output_tokens: 8192, store: false }],
    ['messages', 'claude-opus-5-5', {}, adaptive],
    ['messages', 'm', { reasoning: true }, { thinking: { type: 'enabled', budget_tokens: 8192 } }],
    ['messages', 'm', {}, { max_tokens: 32_000 }],
  ] as const)(
    'over %s with %s and the entry %j has these members',
    (protocol, model, entry, body) => {
      expect(bodyOf(protocol, model, entry)).toMatchObject(body)
    },
  )

  test.each([
    ['chat', 'reasoning_effort'],
    ['responses', 'include'],
    ['messages', 'thinking'],
  ] as const)('over %s has no %s for a model that does not reason', (protocol, member) => {
    expect(bodyOf(protocol, 'm', {})).not.toHaveProperty(member)
  })

  test.each(['chat', 'responses', 'messages'] as const)(
    'over %s has an image tool if the model accepts images',
    (protocol) => {
      const tools = (entry: object) => JSON.stringify(bodyOf(protocol, 'm', entry)['tools'])
      expect(tools({ input: ['text', 'image'] })).toContain('view_image')
      expect(tools({ input: ['text'] })).not.toContain('view_image')
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
