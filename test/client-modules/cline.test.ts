import { describe, expect, test } from 'vitest'
import type { KeyHeader } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  codesOf,
  type Disk,
  findingsOn,
  key,
  launchOn,
  planOn,
  readValues,
  requestOf,
  type StateValues,
  text,
  textAfter,
} from './support.ts'

const cline = byId('cline')
const file = '.cline/data/settings/providers.json'
const path = `/home/ada/${file}`

const ours = {
  provider: 'openai-compatible',
  apiKey: 'sk-a',
  model: 'big',
  baseUrl: 'https://gw.example/v1',
}
const entry = { settings: ours, updatedAt: '2026-11-23T00:00:00.000Z', tokenSource: 'manual' }
const expectedValues = { baseUrl: ours.baseUrl, model: 'big', key: 'sk-a', keyPath: path }

/** A home after a setup. The arguments override parts of its file. */
function home(more: object = {}, settings: object = {}, others: object = {}): Disk {
  return {
    [file]: JSON.stringify({
      version: 1,
      lastUsedProvider: 'openai-compatible',
      providers: {
        ...others,
        'openai-compatible': { ...entry, settings: { ...ours, ...settings } },
      },
      ...more,
    }),
  }
}

const login = {
  cline: { ...entry, settings: { provider: 'cline', auth: { accessToken: 'token' } } },
}
const broken = (why: string) => ({ broken: expect.stringContaining(why) })

/** Cline 3.0.57 or 3.0.65 was run with each row, 2026-11-23. */
describe('repoint reads the values that Cline uses', () => {
  test.each<readonly [string, Disk, StateValues]>([
    ['from an empty home', {}, {}],
    ['after a setup', home(), expectedValues],
    ['next to unknown members', home({ extra: 1 }, { more: 2 }), expectedValues],
    [
      'with a context window',
      home({}, { contextWindow: 9000 }),
      { ...expectedValues, contextWindow: 9000 },
    ],
    ['for another provider', home({ lastUsedProvider: 'ollama' }), {}],
    [
      'for a login',
      home({ lastUsedProvider: 'cline' }, {}, login),
      { login: 'the login of its provider cline' },
    ],
    [
      'with a token that is sent instead of the key',
      home({}, { auth: { accessToken: 'token' } }),
      { login: 'the login of its provider openai-compatible' },
    ],
    ['but rejects a comment', { [file]: `// mine\n${home()[file]}` }, broken('a comment')],
    [
      'but rejects a byte order mark',
      { [file]: `\ufeff${home()[file]}` },
      broken('a byte order mark'),
    ],
    [
      'but rejects a file without a version',
      home({ version: undefined }),
      broken('version is missing'),
    ],
    ['but rejects an empty window', home({}, { contextWindow: 0 }), broken('contextWindow')],
    ['but rejects an invalid address', home({}, { baseUrl: 'gw' }), broken('settings.baseUrl')],
    [
      'but rejects an invalid entry of another provider',
      home({}, {}, { ollama: { ...entry, updatedAt: '2026-11-23T00:00:00+02:00' } }),
      broken('providers.ollama.updatedAt has a value'),
    ],
    [
      'but rejects an unknown token source',
      home({}, {}, { ollama: { ...entry, tokenSource: 'me' } }),
      broken('providers.ollama.tokenSource'),
    ],
  ])('%s', (_, disk, expected) => {
    expect(readValues(cline, aMachine(), disk)).toEqual(expected)
  })

  test.each([
    [{ CLINE_DIR: '/c', CLINE_DATA_DIR: '/d' }, '/d/settings/providers.json'],
    [{ CLINE_DIR: '/c' }, '/c/data/settings/providers.json'],
  ])('of the folder that %j names', (env, path) => {
    const disk = { [path]: home()[file]! }
    expect(readValues(cline, aMachine({ env }), disk)).toMatchObject({ model: 'big' })
  })
})

describe('check finds', () => {
  const keyed = { apiKey: undefined, headers: { 'api-key': 'sk-b' } }

  test.each<readonly [string, Disk, Partial<Machine['env']>]>([
    ['cline-providers-unreadable', { [file]: `{"version": 1,}` }, {}],
    ['cline-sandbox', home(), { CLINE_SANDBOX: '1' }],
    ['cline-no-key', home({}, { apiKey: undefined, baseUrl: 'https://b.example/v1' }), {}],
    ['cline-second-key', home({}, keyed), { OPENAI_API_KEY: 'sk-env' }],
    ['cline-placeholder-key', home({}, { apiKey: 'PROXY_MANAGED' }), {}],
    ['cline-proxy', home({}, { baseUrl: 'http://127.0.0.1:9/v1' }), { HTTP_PROXY: 'http://p' }],
    ['cline-base-url-version', home({}, { baseUrl: 'https://gw.example' }), {}],
    ['cline-relative-folder', {}, { CLINE_DIR: 'here' }],
  ])('%s', (code, disk, env) => {
    const writtenBaseUrls = [ours.baseUrl]
    expect(codesOf(findingsOn(cline, disk, aMachine({ env }), { writtenBaseUrls }))).toEqual([code])
  })

  test.each([
    ['.env', 'CLINE_DIR=/x'],
    ['.env.local', 'HTTPS_PROXY=http://p'],
    ['.env.test', 'NODE_TLS_REJECT_UNAUTHORIZED=0'],
    ['.env.test.local', 'CLINE_SANDBOX=1'],
  ])('a variable in the %s of the project: %s', (name, line) => {
    const disk = { ...home(), [`/home/ada/work/${name}`]: `${line}\n` }
    expect(codesOf(findingsOn(cline, disk, aMachine({ env: { NODE_ENV: 'test' } })))).toEqual([
      'cline-project-settings',
    ])
  })

  test('no missing key if a variable has it, or at a server on this machine', () => {
    const without = (more: object = {}) => home({}, { apiKey: undefined, ...more })
    const env = { OPENAI_API_KEY: 'sk-env' }
    expect(findingsOn(cline, without(), aMachine({ env }))).toEqual([])
    expect(findingsOn(cline, without({ baseUrl: 'http://127.0.0.1:9/v1' }))).toEqual([])
  })

  test('a second key before a setup, if the gateway wants the key in another header', () => {
    const machine = aMachine({ env: { OPENAI_API_KEY: 'sk-env' } })
    const codesWith = (keyHeader: KeyHeader) =>
      codesOf(planOn(cline, {}, { machine, target: { keyHeader } }).findings)
    expect(codesWith('api-key')).toEqual(['cline-second-key'])
    expect(codesWith('authorization')).toEqual([])
  })

  test.each<readonly [string, Disk, string]>([
    ['cline-provider-conflict', home({}, { baseUrl: 'https://b.example/v1' }), 'b.example'],
    ['cline-login', home({ lastUsedProvider: 'cline' }, {}, login), 'provider cline'],
  ])('%s, and a setup asks for consent', (code, disk, expectedText) => {
    const found = planOn(cline, disk).findings.find((one) => one.code === code)
    expect(found?.message).toContain(expectedText)
    expect(found?.needsConsentTo).toBeDefined()
  })
})

describe('a setup', () => {
  test('keeps a harmless setting of another gateway, and says that Cline rewrites the time', () => {
    const more = { baseUrl: 'https://b.example/v1', timeout: 9, extra: 1 }
    const [edit] = planOn(cline, home({}, more)).edits
    const { settings } = JSON.parse(text(edit!.after)).providers['openai-compatible']
    expect(settings).toMatchObject({ timeout: 9 })
    expect(settings).not.toHaveProperty('extra')
    const changeOf = (name: string) => edit!.changes.find(({ path }) => path.at(-1) === name)
    expect(changeOf('updatedAt')).toMatchObject({ rewrittenByClient: true })
    expect(changeOf('apiKey')).toMatchObject({ role: 'key' })
  })

  test('removes a token that Cline would send instead of the key', () => {
    expect(textAfter(cline, home({}, { auth: { accessToken: 'token' } }))).not.toContain('token"')
  })

  const ofLimit = (outputLimit: number) => ({
    catalog: { models: [{ id: 'big', contextWindow: 200_000, outputLimit }] },
  })

  test.each([
    [8_000, false],
    [31_999, false],
    [32_000, true],
  ])(
    'for a model with at most %d output tokens, writes the context window: %s',
    (limit, hasWindow) => {
      const options = { model: 'big' }
      const { edits, target } = planOn(cline, {}, { ...ofLimit(limit), options })
      expect(text(edits[0]!.after!).includes('200000')).toBe(hasWindow)
      expect(target.resolved.findings.map(({ code }) => code)).toEqual(
        hasWindow ? [] : ['context-window-left-out'],
      )
      const withWindow = { ...options, contextWindow: 90_000 }
      for (const more of [{ options: withWindow }, { earlier: { options: withWindow } }]) {
        const { edits, target } = planOn(cline, {}, { ...ofLimit(limit), ...more })
        expect(text(edits[0]!.after!)).toContain('90000')
        expect(target.resolved.findings).toEqual([])
      }
    },
  )
})

test.each<readonly [string, object, object]>([
  ['o3', { contextWindow: 200_000 }, { max_completion_tokens: 32_000 }],
  ['glm-5', { contextWindow: 8_000 }, { max_tokens: undefined }],
  ['glm-5', { reasoning: { enabled: true, effort: 'none' } }, { reasoning_effort: undefined }],
])('the first request of %s with %j has %j', async (model, settings, expected) => {
  const { body } = await requestOf(cline, home({}, settings), { model })
  for (const [name, value] of Object.entries(expected))
    expect([name, body[name]]).toEqual([name, value])
})

test('codex models have the tools of GPT', async () => {
  const toolsOf = async (model: string) => (await requestOf(cline, {}, { model })).body['tools']
  expect(await toolsOf('codex-1')).toEqual(await toolsOf('gpt-5.6'))
  expect(await toolsOf('codex-1')).not.toEqual(await toolsOf('glm-5'))
})

test('-c and --cwd name another folder', () => {
  expect(cline.program.foldersIn?.(['-c', 'a', '--cwd=b', 'hi there'])).toEqual(['a', 'b'])
})

describe('a run', () => {
  const run = (more: object = {}) =>
    launchOn(cline, home({}, { headers: { 'x-own': 'a' } }), {}, { args: ['hi there'], ...more })

  test('uses a separate file without the key, and leaves no daemon running', () => {
    const { args, env, files } = run()
    expect(args).toEqual(['hi there'])
    expect(env).toMatchObject({
      CLINE_PROVIDER_SETTINGS_PATH: '/run/cline-providers.json',
      OPENAI_API_KEY: key,
      CLINE_SESSION_BACKEND_MODE: 'local',
    })
    const [content = ''] = Object.values(files ?? {})
    expect(content).not.toContain(key)
    expect(content).not.toContain('x-own')
    expect(readValues(cline, aMachine(), { [file]: content })).toMatchObject({
      baseUrl: 'https://gw.example/v1',
    })
  })

  test.each([
    [{ args: ['--data-dir', '/x', 'hi there'] }, '--data-dir'],
    [{ args: ['--provider=ollama', 'hi there'] }, '--provider'],
    [{ args: ['-Pollama', 'hi there'] }, '-P'],
    [{ args: ['-vPollama', 'hi there'] }, '-vP'],
    [{ args: ['-kollama', 'hi there'] }, '-k'],
    [{ env: { CLINE_SANDBOX: '1' } }, 'CLINE_SANDBOX'],
  ])('is rejected with %j', (more, expectedText) => {
    const refused = () => run(more)
    expect(refused).toThrow(expectedText)
    expect(refused).not.toThrow('ollama')
  })

  test.each([
    [[]],
    [['mcp']],
    [['-vi', 'hi there']],
    [['--id=1', 'hi there']],
    [['-z', 'hi there']],
    [['--kanban', 'hi there']],
    [['-s', 'You are terse']],
    [['-c', 'my folder']],
  ])('is rejected with %j, because a program with the key would keep running', (args) => {
    expect(() => run({ args })).toThrow('leaves a program running')
  })
})
