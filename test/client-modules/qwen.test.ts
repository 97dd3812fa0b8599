import { describe, expect, test } from 'vitest'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { asPlanned, fileOf, textOf } from '../../src/clients/files/parse-file.ts'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import type { Finding } from '../../src/finding.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  catalogWithWindows,
  type Disk,
  filesOf,
  findingsOn,
  key,
  planOn,
  readValues,
  type StateValues,
  text,
  written,
} from './support.ts'

const qwen = byId('qwen')
const file = '.qwen/settings.json'
const tempFolder = '/tmp/run'
const variable = 'QWEN_GATEWAY_API_KEY'

const entry = { id: 'big', name: 'Gateway', baseUrl: 'https://gw.example/v1', envKey: variable }

/** A home after a setup. The arguments override parts of its file. */
function home(more: object = {}, otherEntries: readonly object[] = [], ours: object = {}): Disk {
  return {
    [file]: JSON.stringify(
      {
        $version: 4,
        env: { [variable]: 'sk-a' },
        modelProviders: { openai: [...otherEntries, { ...entry, ...ours }] },
        security: { auth: { selectedType: 'openai' } },
        model: { name: 'big' },
        ...more,
      },
      null,
      2,
    ),
  }
}

const otherEntry = { id: 'big', baseUrl: 'https://api.openai.com/v1', envKey: 'OPENAI_API_KEY' }
const expectedValues = {
  baseUrl: 'https://gw.example/v1',
  protocol: 'chat' as const,
  model: 'big',
  key: 'sk-a',
  keyPath: `/home/ada/${file}`,
}

describe('repoint reads the values that Qwen Code uses', () => {
  test.each<readonly [string, Disk, StateValues]>([
    ['from an empty home', {}, {}],
    ['after a setup', home(), expectedValues],
    ['with comments', { [file]: `// mine\n${home()[file]}` }, expectedValues],
    ['with a byte order mark', { [file]: `\ufeff${home()[file]}` }, expectedValues],
    [
      'but rejects a trailing comma',
      { [file]: '{"model": {"name": "big"},}' },
      { broken: `/home/ada/${file} line 1, column 26: a trailing comma` },
    ],
    [
      'from the first entry with the ID',
      home({ env: { OPENAI_API_KEY: 'sk-b' } }, [otherEntry]),
      {
        ...expectedValues,
        baseUrl: otherEntry.baseUrl,
        key: 'sk-b',
      },
    ],
    [
      'from the entry with the address of the model',
      home({ model: { name: 'big', baseUrl: entry.baseUrl } }, [otherEntry]),
      expectedValues,
    ],
    [
      'from the first entry if the model has none',
      home({ model: { name: 'none' } }),
      expectedValues,
    ],
    ['without a model', home({ model: {} }), expectedValues],
    [
      'with another key, because the variable of the entry is not set',
      home({ env: { OPENAI_API_KEY: 'sk-b' } }),
      { ...expectedValues, key: 'sk-b' },
    ],
    [
      'without a key that comes from a variable',
      home({ env: { [variable]: '${KEY}' } }),
      {
        baseUrl: expectedValues.baseUrl,
        protocol: 'chat',
        model: 'big',
      },
    ],
    [
      'from the login settings if there are no entries',
      home({
        modelProviders: {},
        security: {
          auth: { selectedType: 'openai', apiKey: 'sk-b', baseUrl: 'https://b.example/v1/' },
        },
      }),
      { ...expectedValues, baseUrl: 'https://b.example/v1', key: 'sk-b' },
    ],
    [
      'with a context window',
      home({}, [], { generationConfig: { contextWindowSize: 9000 } }),
      {
        ...expectedValues,
        contextWindow: 9000,
      },
    ],
    ['for another service', home({ security: { auth: { selectedType: 'gemini' } } }), {}],
    [
      'for a model over messages',
      home({
        modelProviders: {
          openai: [entry],
          anthropic: [{ ...entry, id: 'claude-opus-5-5', baseUrl: 'https://gw.example' }],
        },
        security: { auth: { selectedType: 'anthropic' } },
        model: { name: 'claude-opus-5-5' },
      }),
      {
        ...expectedValues,
        baseUrl: 'https://gw.example',
        protocol: 'messages',
        model: 'claude-opus-5-5',
      },
    ],
    [
      'for a login',
      {
        ...home({ security: { auth: { selectedType: 'qwen-oauth' } } }),
        '.qwen/oauth_creds.json': '{}',
      },
      { login: "an account of Qwen Code's vendor" },
    ],
    [
      'from the system defaults',
      {
        [file]: '{"model": {"name": "big"}}',
        '/etc/qwen-code/system-defaults.json': home()[file]!,
      },
      { ...expectedValues, keyPath: '/etc/qwen-code/system-defaults.json' },
    ],
  ])('%s', (_, disk, expected) => {
    expect(readValues(qwen, aMachine(), disk)).toEqual(expected)
  })
})

interface Case {
  readonly code: string
  readonly disk: Disk
  readonly machine?: Partial<Machine>
  readonly location: string
  readonly severity: Finding['severity']
  /** Whether `doctor --fix` removes it. */
  readonly isRepaired?: true
}

const cases: readonly Case[] = [
  { code: 'qwen-settings-broken', disk: { [file]: '{"a":' }, location: file, severity: 'error' },
  {
    code: 'qwen-settings-broken',
    disk: { [file]: '// mine\n{"a": 1,}' },
    location: file,
    severity: 'error',
    isRepaired: true,
  },
  {
    code: 'qwen-entry-broken',
    disk: home({}, [{ name: 'no id' }]),
    location: `${file}:7`,
    severity: 'error',
  },
  {
    code: 'qwen-entry-broken',
    disk: { [file]: '{"modelProviders": {"openai": {"models": []}}}' },
    location: `${file}:1`,
    severity: 'error',
  },
  {
    code: 'qwen-only-other-login',
    disk: home({ security: { auth: { selectedType: 'openai', enforcedType: 'qwen-oauth' } } }),
    location: `${file}:19`,
    severity: 'error',
    isRepaired: true,
  },
  {
    code: 'qwen-same-model',
    disk: home({ model: { name: 'big', baseUrl: entry.baseUrl } }, [otherEntry]),
    location: `${file}:8`,
    severity: 'warning',
  },
  {
    code: 'qwen-rewrites',
    disk: home({ $version: 3 }),
    location: `${file}:2`,
    severity: 'warning',
  },
  {
    code: 'qwen-rewrites',
    disk: home({ $version: undefined, vimMode: true }),
    location: file,
    severity: 'warning',
  },
  {
    code: 'qwen-proxy',
    disk: home({}, [], { baseUrl: 'http://127.0.0.1:4000/v1' }),
    machine: { env: { HTTP_PROXY: 'http://proxy.example:8080', NO_PROXY: 'localhost' } },
    location: 'environment',
    severity: 'error',
  },
  {
    code: 'qwen-copy',
    disk: { '.qwen/settings.json.orig': home()[file]! },
    location: '.qwen/settings.json.orig:4',
    severity: 'warning',
  },
  {
    code: 'qwen-shell-variable',
    disk: home(),
    machine: { env: { [variable]: 'sk-old' } },
    location: 'environment',
    severity: 'error',
  },
  ...['.env', '.qwen/.env', 'work/.env', 'work/.qwen/.env'].map(
    (path): Case => ({
      code: path.startsWith('work') ? 'qwen-project-settings' : 'qwen-env-file',
      disk: { ...home(), [path]: `# mine\nX=1\n${variable}="sk-old"\n` },
      location: `${path}:3`,
      severity: 'error',
    }),
  ),
  {
    code: 'qwen-project-settings',
    disk: { ...home(), 'work/.env': `export ${variable}=sk-old\n` },
    machine: { cwd: '/home/ada/work/a/b' },
    location: 'work/.env:1',
    severity: 'error',
  },
  {
    code: 'qwen-folder-elsewhere',
    disk: { ...home(), '.env': 'QWEN_HOME=/srv/qwen\n' },
    location: '.env:1',
    severity: 'error',
  },
  {
    code: 'qwen-relative-folder',
    disk: {},
    machine: { env: { QWEN_HOME: 'q' } },
    location: 'environment',
    severity: 'warning',
  },
  { code: 'qwen-no-key', disk: home({ env: {} }), location: file, severity: 'error' },
  {
    code: 'qwen-placeholder-key',
    disk: home({ env: { [variable]: 'PROXY_MANAGED' } }),
    location: `${file}:4`,
    severity: 'error',
  },
  {
    code: 'qwen-project-settings',
    disk: { ...home(), 'work/.qwen/settings.json': '{"model": {"name": "x"}}' },
    location: 'work/.qwen/settings.json:1',
    severity: 'warning',
  },
  {
    code: 'qwen-project-settings',
    disk: {
      ...home(),
      'work/.qwen/settings.json': JSON.stringify({ modelProviders: { openai: [otherEntry] } }),
    },
    location: 'work/.qwen/settings.json:1',
    severity: 'error',
  },
  {
    code: 'qwen-managed-settings',
    disk: { ...home(), '/srv/all.json': JSON.stringify({ env: { [variable]: 'sk-all' } }) },
    machine: { env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: '/srv/all.json' } },
    location: '/srv/all.json:1',
    severity: 'error',
  },
]

describe('check finds', () => {
  test.each(cases)(
    '$code at $location',
    ({ code, disk, machine = {}, location, severity, isRepaired }) => {
      const found = findingsOn(qwen, disk, aMachine(machine))
      const one = found.find((finding) => finding.code === code)
      expect(one?.location).toBe(
        location.startsWith('/') || location === 'environment' ? location : `/home/ada/${location}`,
      )
      expect(one?.severity).toBe(severity)
      expect(JSON.stringify(found)).not.toMatch(/sk-/)
      expect(one?.fix !== undefined).toBe(isRepaired === true)
      if (one?.fix === undefined) return

      const on = aMachine(machine)
      const edits = planFixes(qwen, filesOf(qwen, on, disk), [one.fix])
      expect(findingsOn(qwen, written(disk, on, edits), on).map((left) => left.code)).not.toContain(
        code,
      )
    },
  )

  test('nothing after a setup, whatever other variables are set', () => {
    const around = { ...home(), '.env': 'OPENAI_API_KEY=sk-theirs\n', 'work/.env': 'A=1\n' }
    const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: 'https://x.example', OPENAI_MODEL: 'x' }
    expect(findingsOn(qwen, around, aMachine({ env }))).toEqual([])
  })

  test.each<readonly [string, Disk, Partial<Machine>]>([
    ['another service', home({ security: { auth: { selectedType: 'gemini' } } }), {}],
    ['an address from its environment', home({ env: {}, modelProviders: {} }), {}],
    [
      'a key from its environment',
      home({ env: {} }, [], { envKey: 'MINE' }),
      { env: { MINE: 'sk-mine' } },
    ],
    [
      'a project that sets QWEN_HOME, which has no effect',
      { ...home(), 'work/.env': 'QWEN_HOME=/x\n' },
      {},
    ],
    [
      'the home folder as the working folder, which is not a project',
      { 'q/settings.json': home()[file]!, [file]: home()[file]! },
      { cwd: '/home/ada', env: { QWEN_HOME: '/home/ada/q' } },
    ],
  ])('nothing with %s', (_, disk, machine) => {
    expect(findingsOn(qwen, disk, aMachine(machine))).toEqual([])
  })
})

describe('a setup', () => {
  const settingsAfter = (disk: Disk, setup: Parameters<typeof planOn>[2] = {}) => {
    const { edits } = planOn(qwen, disk, setup)
    return JSON.parse(text(edits[0]!.after))
  }

  /** The entry of the model that Qwen Code starts with. */
  const firstEntry = ({ modelProviders, security }: ReturnType<typeof settingsAfter>) =>
    modelProviders[security.auth.selectedType][0]

  test('keeps the version of a file with an older layout, because only Qwen Code can convert it', () => {
    expect(settingsAfter({ [file]: '{"vimMode": true}' })).not.toHaveProperty('$version')
    expect(settingsAfter({ [file]: '{"general": {"gitCoAuthor": true}}' })).not.toHaveProperty(
      '$version',
    )
    expect(settingsAfter({ [file]: '{"ui": {}}' }).$version).toBe(4)
  })

  test('removes the context window of another model, and writes the one that the user names', () => {
    const with9000 = home({}, [], { generationConfig: { contextWindowSize: 9000 } })
    const windowAfter = (setup: Parameters<typeof planOn>[2]) =>
      firstEntry(settingsAfter(with9000, setup)).generationConfig
    expect(windowAfter({ options: { model: 'gpt-5.4' } })).toEqual({})
    expect(windowAfter({ catalog: catalogWithWindows, options: { model: 'gpt-5.4' } })).toEqual({
      contextWindowSize: 272_000,
    })
    const earlier = { options: { model: 'big', contextWindow: 9000 } }
    expect(windowAfter({ earlier })).toEqual({ contextWindowSize: 9000 })
    expect(windowAfter({ earlier, options: { contextWindow: 5000 } })).toEqual({
      contextWindowSize: 5000,
    })
  })

  test("moves a model to the list of its protocol, with the user's settings", () => {
    const mine = { samplingParams: { temperature: 0.2 } }
    const ours = { ...entry, id: 'gpt-5.6-sol', generationConfig: mine }
    const disk = home({ modelProviders: { openai: [otherEntry, ours] }, model: { name: ours.id } })
    const { modelProviders, security, model } = settingsAfter(disk)
    expect(security.auth.selectedType).toBe('openai-responses')
    expect(modelProviders.openai.filter(({ envKey }: typeof entry) => envKey === variable)).toEqual(
      [],
    )
    expect(modelProviders.openai).toContainEqual(otherEntry)
    expect(modelProviders['openai-responses'][0]).toEqual(ours)
    expect(model.name).toBe(ours.id)
  })

  test.each([
    ['at the same gateway the effort of its thinking', entry.baseUrl, { effort: 'high' }],
    ['no effort of another gateway', 'https://other.example/v1', undefined],
  ])('keeps %s', (_, baseUrl, reasoning) => {
    const disk = home({}, [], { baseUrl, generationConfig: { reasoning: { effort: 'high' } } })
    const after = settingsAfter(disk, { options: { model: 'big', protocol: 'chat' } })
    expect(firstEntry(after).generationConfig?.reasoning).toEqual(reasoning)
  })

  test('keeps two entries for one model, of which Qwen Code uses the first', () => {
    const copy = { ...entry, name: 'copy' }
    const disk = home({ modelProviders: { openai: [entry, copy, { ...copy, id: 'gone' }] } })
    const catalog = { models: [{ id: 'big' }] }
    const { modelProviders } = settingsAfter(disk, { catalog, options: { protocol: 'chat' } })
    expect(modelProviders).toEqual({ openai: [entry, copy] })
  })

  test('uses chat with a version that has no other protocols, and rejects --protocol', () => {
    const gatewayInfo = { catalogAnswer: { kind: 'not-requested' }, rejections: [] } as const
    const input = { requested: { model: 'gpt-5.6-sol' }, gatewayInfo }
    const protocolOf = (version?: string) => qwen.resolve(input, { version }).protocol
    expect([protocolOf('0.15.10'), protocolOf('0.23.4'), protocolOf()]).toEqual([
      'chat',
      'responses',
      'responses',
    ])
    const withProtocol = {
      ...input,
      requested: { ...input.requested, protocol: 'responses' as const },
    }
    expect(() => qwen.resolve(withProtocol, { version: '0.23.0' })).toThrow(
      expect.objectContaining({ code: 'client-too-old' }),
    )
  })

  test('replaces a login only with consent', () => {
    const disk = {
      [file]: '{"security": {"auth": {"selectedType": "qwen-oauth"}}}',
      '.qwen/oauth_creds.json': '{}',
    }
    const { findings } = planOn(qwen, disk)
    expect(findings).toMatchObject([{ code: 'qwen-login', needsConsentTo: expect.any(String) }])
  })

  test('rejects a file that Qwen Code cannot read, removes trailing commas, and keeps comments', () => {
    const { edits } = planOn(qwen, { [file]: '{\n  "ui": {}, // mine\n}' })
    expect(text(edits[0]!.after)).toContain('"ui": {}, // mine\n  "$version": 4,')
    expect(() => planOn(qwen, { [file]: '{"ui": {}' })).toThrow('Cannot read')
  })

  test('writes headers into the entry, and rejects $NAME in a header, the address or the key', () => {
    const headers = [{ name: 'x-team', value: 'one' }]
    const { modelProviders } = settingsAfter({}, { target: { headers } })
    expect(modelProviders['openai-responses'][0].generationConfig).toEqual({
      customHeaders: { 'x-team': 'one' },
    })
    for (const target of [
      { key: 'sk-$HOME' },
      { baseUrl: 'https://gw.example/$A' },
      { headers: [{ ...headers[0]!, value: '${A}' }] },
    ])
      expect(() => planOn(qwen, {}, { target })).toThrow('Qwen Code would replace a part')
  })

  test('adds its entry before another with the same ID, or names its address next to the model', () => {
    const other = { ...otherEntry, id: 'gpt-5.6-sol' }
    const list = { 'openai-responses': [other] }
    const without = { [file]: JSON.stringify({ modelProviders: list }) }
    const { modelProviders, model, env } = settingsAfter(without)
    const firstTwo = modelProviders['openai-responses'].slice(0, 2)
    expect(firstTwo.map(({ envKey }: typeof entry) => envKey)).toEqual([variable, 'OPENAI_API_KEY'])
    expect(model).toEqual({ name: 'gpt-5.6-sol' })
    expect(env).toEqual({ [variable]: key })
    const behind = { 'openai-responses': [other, { ...entry, id: 'gpt-5.6-sol' }] }
    expect(settingsAfter(home({ modelProviders: behind })).model).toEqual({
      name: 'gpt-5.6-sol',
      baseUrl: 'https://gw.example/v1',
    })
  })
})

test("a run uses a file that overrides all others, with the administrator's settings and without the key", () => {
  const disk = {
    ...home(),
    '/etc/qwen-code/settings.json': '{"ui": {"theme": "x"}, "model": {"name": "y"}}',
  }
  const headers = [{ name: 'x-team', value: 'sk-team', isSecret: true } as const]
  const planned = planOn(qwen, disk, {
    options: { contextWindow: 9000 },
    target: { headers },
  })
  const launchInput = { args: ['-m', 'other', 'x'], env: { A: '1' }, tempFolder }
  const { args, env, files = {} } = qwen.launchSettings(planned.files, planned.target, launchInput)
  expect({ args, env }).toEqual({
    args: ['-m', 'other', 'x'],
    env: {
      A: '1',
      QWEN_CODE_SYSTEM_SETTINGS_PATH: `${tempFolder}/qwen-settings.json`,
      REPOINT_RUN_HEADER_1: 'sk-team',
    },
  })
  expect(Object.keys(files)).toEqual(['qwen-settings.json'])
  expect(JSON.parse(files['qwen-settings.json']!)).toEqual({
    $version: 4,
    ui: { theme: 'x' },
    security: { auth: { selectedType: 'openai-responses', enforcedType: 'openai-responses' } },
    modelProviders: {
      'openai-responses': ['gpt-5.6-sol', 'other'].map((id) => ({
        id,
        name: 'Gateway',
        baseUrl: 'https://gw.example/v1',
        envKey: launchKeyVariable,
        generationConfig: {
          contextWindowSize: 9000,
          customHeaders: { 'x-team': '${REPOINT_RUN_HEADER_1}' },
        },
      })),
    },
    model: { name: 'gpt-5.6-sol', baseUrl: 'https://gw.example/v1' },
  })
})

test('a run says of a model what the setup says of it', () => {
  const model = { id: 'glm-x', images: true, outputLimit: 16_000 }
  const planned = planOn(qwen, home(), {
    catalog: { models: [model] },
    options: { model: model.id, protocol: 'messages' },
  })
  const launchInput = { args: [], env: {}, tempFolder }
  const { files = {} } = qwen.launchSettings(planned.files, planned.target, launchInput)
  const { modelProviders } = JSON.parse(files['qwen-settings.json']!)
  expect(modelProviders.anthropic[0].generationConfig).toEqual({
    reasoning: false,
    modalities: { image: true },
    samplingParams: { max_tokens: 16_000 },
    customHeaders: {},
  })
})

test.each([
  ['claude-opus-5-5', 100_000, 100_000],
  ['claude-opus-5-5', 128_000, undefined],
  ['claude-sonnet-5-5', 100_000, undefined],
])(
  'the limit of %s, %i tokens, is written if Qwen Code would request more: %s',
  (id, outputLimit, written) => {
    const model = { id, outputLimit, contextWindow: 1_000_000 }
    const { files, edits } = planOn(qwen, home(), {
      catalog: { models: [model] },
      options: { model: id, protocol: 'messages' },
    })
    const { modelProviders } = JSON.parse(textOf(fileOf(asPlanned(files, edits), 'settings')))
    expect(modelProviders.anthropic[0].generationConfig.samplingParams?.max_tokens).toBe(written)
  },
)

test.each([
  [32_000, false],
  [63_999, undefined],
  [64_000, undefined],
  [100_000, undefined],
])(
  'over messages, the user limits a model that thinks in a budget to %i tokens: reasoning is %s',
  (outputLimit, reasoning) => {
    const { files, edits } = planOn(qwen, home(), {
      catalog: { models: [{ id: 'glm-x' }] },
      options: { model: 'glm-x', protocol: 'messages', outputLimit },
    })
    const { modelProviders } = JSON.parse(textOf(fileOf(asPlanned(files, edits), 'settings')))
    const config = modelProviders.anthropic[0].generationConfig
    expect(config.samplingParams.max_tokens).toBe(outputLimit)
    expect(config.reasoning).toBe(reasoning)
  },
)
