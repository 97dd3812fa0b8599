import { describe, expect, test } from 'vitest'
import { unknownVariableFindings } from '../../src/clients/checks/environment.ts'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { showPath } from '../../src/edits/values/paths.ts'
import type { Finding } from '../../src/finding.ts'
import type { CatalogModel, Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aContext,
  aHistory,
  aMachine,
  byId,
  catalogWithWindows,
  codesAfterFix,
  codesOf,
  type Disk,
  filesOf,
  findingsOn,
  key,
  launchOn,
  planOn,
  readValues,
  type Setup,
  type StateValues,
  textAfter,
  windows,
} from './support.ts'

const qwen = byId('qwen')
const file = '.qwen/settings.json'
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
      'from the first entry if the model has none',
      home({ model: { name: 'none' } }),
      expectedValues,
    ],
    [
      'from the first entry with the ID, although another has no address',
      home({ modelProviders: { openai: [entry, { ...entry, baseUrl: undefined }] } }),
      expectedValues,
    ],
    [
      'next to elements that are no entries',
      home({ modelProviders: { openai: [null, 'x', entry] } }),
      expectedValues,
    ],
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
      'from the usual variables, which override the login settings',
      home({
        modelProviders: {},
        env: { OPENAI_BASE_URL: 'https://c.example', OPENAI_API_KEY: 'sk-c' },
        security: {
          auth: { selectedType: 'openai', apiKey: 'sk-b', baseUrl: 'https://b.example' },
        },
      }),
      { ...expectedValues, baseUrl: 'https://c.example', key: 'sk-c' },
    ],
    [
      'from the login settings if a value of the entry is empty',
      home({ security: { auth: { selectedType: 'openai', baseUrl: 'https://b.example' } } }, [], {
        baseUrl: '',
      }),
      { ...expectedValues, baseUrl: 'https://b.example' },
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
      'for a login',
      {
        ...home({ security: { auth: { selectedType: 'qwen-oauth' } } }),
        '.qwen/oauth_creds.json': '{}',
      },
      { login: "an account of Qwen Code's vendor" },
    ],
    ['for a login that is gone', home({ security: { auth: { selectedType: 'qwen-oauth' } } }), {}],
    [
      'for another service, with a login that is not used',
      {
        ...home({ security: { auth: { selectedType: 'gemini' } } }),
        '.qwen/oauth_creds.json': '{}',
      },
      {},
    ],
    [
      'over the system defaults',
      {
        ...home(),
        '/etc/qwen-code/system-defaults.json': JSON.stringify({ env: { [variable]: 'sk-d' } }),
      },
      expectedValues,
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

const defaults = '/etc/qwen-code/system-defaults.json'

test.each<readonly [string, Disk, object]>([
  ['the file', home(), { baseUrl: file, model: file, key: file }],
  [
    'the list of models, if no setting names the model',
    { ...home({ model: {} }), [defaults]: '{"env": {"OPENAI_API_KEY": "sk-d"}}' },
    { baseUrl: file, model: file, key: file },
  ],
  [
    'the system defaults, if they name the model',
    { ...home({ model: {} }), [defaults]: '{"model": {"name": "big"}}' },
    { baseUrl: file, model: defaults, key: file },
  ],
  [
    'the login settings, if there is no entry',
    {
      [file]: '{"model": {"name": "big"}, "modelProviders": {"openai": []}}',
      [defaults]: JSON.stringify({
        security: { auth: { selectedType: 'openai', baseUrl: 'https://b.example' } },
      }),
    },
    { baseUrl: defaults, model: file },
  ],
])('the values come from %s', (_, disk, expected) => {
  const { origins } = qwen.read(filesOf(qwen, aMachine(), disk))
  const shown = Object.entries(origins).flatMap(([name, path]) =>
    path === undefined ? [] : [[name, path.replace('/home/ada/', '')]],
  )
  expect(Object.fromEntries(shown)).toEqual(expected)
})

const usualEntry = { ...entry, envKey: 'OPENAI_API_KEY' }
const login = (more: object = {}) => ({ security: { auth: { selectedType: 'openai', ...more } } })

test.each<readonly [string, Disk, readonly string[]]>([
  ['nothing of another service', home(login({ selectedType: 'gemini' })), []],
  [
    'no key that a model at another address uses too',
    home({}, [{ ...entry, id: 'elsewhere', baseUrl: otherEntry.baseUrl }]),
    [`modelProviders.openai."${variable} big"`],
  ],
  [
    'the usual variables, if the entry names no other',
    home({
      env: { OPENAI_API_KEY: 'sk-a', OPENAI_BASE_URL: 'x', OPENAI_MODEL: 'x', OTHER: 'x' },
      modelProviders: { openai: [usualEntry] },
    }),
    ['modelProviders.openai.big', 'env.OPENAI_API_KEY', 'env.OPENAI_BASE_URL', 'env.OPENAI_MODEL'],
  ],
  [
    'no usual variables, if the entry names another',
    home({ env: { [variable]: 'sk-a', OPENAI_BASE_URL: 'x', OPENAI_MODEL: 'x' } }),
    [`modelProviders.openai."${variable} big"`, `env.${variable}`],
  ],
  [
    'no login settings, if the entry has its own',
    home(login({ apiKey: 'sk-b', baseUrl: 'https://b.example' })),
    [`modelProviders.openai."${variable} big"`, `env.${variable}`],
  ],
  [
    'the login settings, if there is no entry, and no model of another list',
    home({
      ...login({ apiKey: 'sk-b', baseUrl: entry.baseUrl }),
      env: {},
      modelProviders: { anthropic: [entry] },
    }),
    ['security.auth.apiKey', 'security.auth.baseUrl'],
  ],
  [
    'an entry by its variable and address, if another in its list has the same ID',
    home({
      env: {},
      modelProviders: {
        openai: [usualEntry, otherEntry, { ...otherEntry, id: 'claude' }],
        anthropic: [
          { ...usualEntry, id: 'claude' },
          { ...otherEntry, id: 'big' },
        ],
      },
      model: { name: 'big', baseUrl: entry.baseUrl },
    }),
    [
      'modelProviders.openai."big OPENAI_API_KEY https://gw.example/v1"',
      'modelProviders.anthropic.claude',
      'model.baseUrl',
    ],
  ],
])('off removes %s', (_, disk, expected) => {
  const { settings = [] } = qwen.gatewaySettings(filesOf(qwen, aMachine(), disk))
  const choices = expected.length > 0 ? ['model.name', 'security.auth.selectedType'] : []
  expect(settings.map(showPath).sort()).toEqual([...expected, ...choices].sort())
})

/** Files that have no content worth reading, at these paths. */
const emptyFiles = (...paths: readonly string[]): Disk =>
  Object.fromEntries(paths.map((path) => [path, '{}']))

test.each<readonly [string, Partial<Machine>, Disk, readonly string[]]>([
  ['in an empty home', {}, {}, ['settings /home/ada/.qwen/settings.json']],
  [
    'in the folder of QWEN_HOME',
    { env: { QWEN_HOME: '/home/ada/q' } },
    emptyFiles('q/oauth_creds.json', 'q/.env', '.qwen/.env', '.qwen/oauth_creds.json', '.env'),
    [
      'settings /home/ada/q/settings.json',
      'login /home/ada/q/oauth_creds.json',
      'home-env /home/ada/.env',
      'home-env /home/ada/.qwen/.env',
      'home-env /home/ada/q/.env',
    ],
  ],
  [
    'for all users of macOS',
    { os: 'darwin' },
    emptyFiles(
      '/Library/Application Support/QwenCode/settings.json',
      '/Library/Application Support/QwenCode/system-defaults.json',
    ),
    [
      'settings /home/ada/.qwen/settings.json',
      'lower /Library/Application Support/QwenCode/system-defaults.json',
      'managed /Library/Application Support/QwenCode/settings.json',
    ],
  ],
  [
    'for all users of Windows',
    windows,
    emptyFiles('C:\\ProgramData\\qwen-code\\settings.json'),
    [
      'settings C:\\Users\\Ada\\.qwen\\settings.json',
      'managed C:\\ProgramData\\qwen-code\\settings.json',
    ],
  ],
  [
    'where variables name those for all users',
    {
      env: {
        QWEN_CODE_SYSTEM_SETTINGS_PATH: '/srv/all.json',
        QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/srv/least.json',
      },
    },
    emptyFiles('/srv/all.json', '/srv/least.json', '/srv/system-defaults.json'),
    ['settings /home/ada/.qwen/settings.json', 'lower /srv/least.json', 'managed /srv/all.json'],
  ],
  [
    'that Qwen Code left as copies',
    {},
    emptyFiles(
      ...['orig', 'corrupted', 'corrupted.17', 'corrupted.old', 'bak'].map(
        (end) => `.qwen/settings.json.${end}`,
      ),
    ),
    [
      'settings /home/ada/.qwen/settings.json',
      'copy /home/ada/.qwen/settings.json.corrupted',
      'copy /home/ada/.qwen/settings.json.corrupted.17',
      'copy /home/ada/.qwen/settings.json.orig',
    ],
  ],
  [
    'of the nearest folder with a .env file',
    { cwd: '/home/ada/work/a' },
    emptyFiles('work/.qwen/.env', 'work/.env', '.env'),
    [
      'settings /home/ada/.qwen/settings.json',
      'home-env /home/ada/.env',
      'project-env /home/ada/work/.qwen/.env',
    ],
  ],
  [
    'of the folders above, up to the root',
    { cwd: '/srv/a' },
    emptyFiles('/.env'),
    ['settings /home/ada/.qwen/settings.json', 'project-env /.env'],
  ],
  [
    'of the folders above, but not of the one above the home',
    { cwd: '/home/ada/work' },
    emptyFiles('/home/.env'),
    ['settings /home/ada/.qwen/settings.json'],
  ],
])('reads the files %s', (_, machine, disk, expected) => {
  const files = filesOf(qwen, aMachine(machine), disk)
  expect(files.map(({ kind, path }) => `${kind} ${path}`)).toEqual(expected)
})

type Case = [
  code: string,
  severity: Finding['severity'],
  location: string,
  disk: Disk,
  machine?: Partial<Machine>,
]

const atLocalServer = home({}, [], { baseUrl: 'http://127.0.0.1:4000/v1' })
const throughProxy = { HTTP_PROXY: 'http://proxy.example:8080', NO_PROXY: 'localhost' }

const cases: readonly Case[] = [
  ['qwen-settings-broken', 'error', file, { [file]: '{"a":' }],
  ['qwen-entry-broken', 'error', `${file}:7`, home({}, [{ name: 'no id' }])],
  [
    'qwen-entry-broken',
    'error',
    `${file}:1`,
    { [file]: '{"modelProviders": {"openai": {"models": []}}}' },
  ],
  [
    'qwen-entry-broken',
    'error',
    `${file}:15`,
    home({ modelProviders: { openai: [entry], anthropic: [{}] } }),
  ],
  [
    'qwen-entry-broken',
    'error',
    `${file}:1`,
    { [file]: '{"modelProviders": {"openai": ["big"]}}' },
  ],
  [
    'qwen-same-model',
    'warning',
    `${file}:8`,
    home({ model: { name: 'big', baseUrl: entry.baseUrl } }, [otherEntry]),
  ],
  ['qwen-rewrites', 'warning', `${file}:2`, home({ $version: 3 })],
  ['qwen-rewrites', 'warning', file, home({ $version: undefined, vimMode: true })],
  ['qwen-rewrites', 'warning', file, home({ $version: undefined, model: 'big' })],
  ['qwen-proxy', 'error', 'environment', atLocalServer, { env: throughProxy }],
  ['qwen-copy', 'warning', `${file}.orig:4`, { [`${file}.orig`]: home()[file]! }],
  ['qwen-shell-variable', 'error', 'environment', home(), { env: { [variable]: 'sk-old' } }],
  ...['.env', '.qwen/.env', 'work/.env', 'work/.qwen/.env'].map(
    (path): Case => [
      path.startsWith('work') ? 'qwen-project-settings' : 'qwen-env-file',
      'error',
      `${path}:3`,
      { ...home(), [path]: `# mine\nX=1\n${variable}="sk-old"\n` },
    ],
  ),
  ['qwen-folder-elsewhere', 'error', '.env:1', { ...home(), '.env': 'QWEN_HOME=/srv/qwen\n' }],
  ['qwen-relative-folder', 'warning', 'environment', {}, { env: { QWEN_HOME: 'q' } }],
  ['qwen-no-key', 'error', file, home({ env: {} })],
  ['qwen-placeholder-key', 'error', `${file}:4`, home({ env: { [variable]: 'PROXY_MANAGED' } })],
]

/** `doctor --fix` removes them. */
const repaired: readonly Case[] = [
  ['qwen-settings-broken', 'error', file, { [file]: '// mine\n{"a": 1,}' }],
  ['qwen-only-other-login', 'error', `${file}:19`, home(login({ enforcedType: 'qwen-oauth' }))],
]

describe('check finds', () => {
  const findOne = ([code, severity, location, disk, machine]: Case) => {
    const found = findingsOn(qwen, disk, aMachine(machine))
    const one = found.find((finding) => finding.code === code)!
    expect([one.severity, one.location?.replace('/home/ada/', '')]).toEqual([severity, location])
    expect(JSON.stringify(found)).not.toMatch(/sk-/)
    return one
  }

  test.each(cases)('%s, a %s, at %s', (...row) => {
    expect(findOne(row).fix).toBeUndefined()
  })

  test.each(repaired)('and repairs %s, a %s, at %s', (...row) => {
    const [code, , , disk] = row
    expect(codesAfterFix(qwen, disk, findOne(row))).not.toContain(code)
  })

  test('nothing after a setup, whatever other variables are set', () => {
    const around = { ...home(), '.env': 'OPENAI_API_KEY=sk-theirs\n', 'work/.env': 'A=1\n' }
    const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: 'https://x.example', OPENAI_MODEL: 'x' }
    expect(findingsOn(qwen, around, aMachine({ env }))).toEqual([])
  })

  test.each<readonly [string, Disk, Partial<Machine>]>([
    ['another service', home({ security: { auth: { selectedType: 'gemini' } } }), {}],
    ['no other kind of login allowed', home(login({ enforcedType: 'openai' })), {}],
    ['a copy without a key', { '.qwen/settings.json.orig': '{}' }, {}],
    [
      'another entry in use: an old layout, and a value of our variable',
      home({
        $version: 3,
        env: { OPENAI_API_KEY: 'sk-b' },
        modelProviders: { openai: [usualEntry] },
      }),
      { env: { [variable]: 'sk-old' } },
    ],
    [
      'a .env file that names the folder, if the environment does too',
      { 'q/settings.json': home()[file]!, '.env': 'QWEN_HOME=/srv/qwen\n' },
      { env: { QWEN_HOME: '/home/ada/q' } },
    ],
    [
      'a key in a .env file of the home',
      { ...home({ env: {} }), '.env': 'OPENAI_API_KEY=x\n' },
      {},
    ],
    [
      'a key in a .env file of the project',
      { ...home({ env: {} }), 'work/.env': 'OPENAI_API_KEY=x\n' },
      {},
    ],
    ['a key of the usual variable', home({ env: {} }), { env: { OPENAI_API_KEY: 'sk-x' } }],
    ['a key that is a variable', home({ env: { [variable]: '${KEY}' } }), {}],
    [
      'a variable for the key whose name is a variable',
      home({ env: {} }, [], { envKey: '$X' }),
      {},
    ],
    [
      'no key for a server on this machine',
      home({ env: {} }, [], { baseUrl: 'http://127.0.0.1:4000/v1' }),
      {},
    ],
    ['an address from its environment', home({ env: {}, modelProviders: {} }), {}],
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

test.each<readonly [string, Disk, boolean]>([
  ['an entry of a setup', home({}, [], { baseUrl: 'https://gw.example' }), true],
  [
    'an entry of the user',
    home({ env: { OPENAI_API_KEY: 'sk-b' } }, [], { ...usualEntry, baseUrl: 'https://gw.example' }),
    false,
  ],
  [
    'an entry over messages',
    home({
      ...login({ selectedType: 'anthropic' }),
      modelProviders: { anthropic: [{ ...entry, baseUrl: 'https://gw.example' }] },
    }),
    false,
  ],
])('check reports a missing /v1 in %s: %s', (_, disk, isReported) => {
  const found = findingsOn(qwen, disk, aMachine(), { writtenBaseUrls: ['https://gw.example/v1'] })
  expect(codesOf(found)).toEqual(isReported ? ['qwen-base-url-version'] : [])
})

test.each([
  ['OPENAI_NEW_AUTH_TOKEN', true],
  ['OPENAI_BASE_URL', false],
])('the variable %s is unknown: %s', (name, isUnknown) => {
  const machine = aMachine({ env: { [name]: 'x' } })
  const findings = [...unknownVariableFindings(qwen, aContext(qwen, machine, home()))]
  expect(codesOf(findings)).toEqual(isUnknown ? ['unknown-variable'] : [])
})

const project = 'work/.qwen/settings.json'
const administrators = '/etc/qwen-code/settings.json'

describe.each([
  [project, 'qwen-project-settings'],
  [administrators, 'qwen-managed-settings'],
])('check reports what overrides a setup in %s:', (path, code) => {
  const codesWith = (settings: object) =>
    codesOf(findingsOn(qwen, { ...home(), [path]: JSON.stringify(settings) }))

  test.each<[string, object]>([
    ['the lists of models', { modelProviders: { openai: [], gemini: [otherEntry] } }],
    ['the protocol of the models', { providerProtocol: 'anthropic' }],
    ['the kind of login', { security: { auth: { selectedType: 'gemini' } } }],
    ['the kind of login that is allowed', { security: { auth: { enforcedType: 'openai' } } }],
    ['the address of the login', { security: { auth: { baseUrl: 'https://x.example' } } }],
    ['the key of the login', { security: { auth: { apiKey: 'sk-x' } } }],
    ['the key of a setup', { env: { [variable]: 'sk-x' } }],
    ['the model', { model: { name: 'x' } }],
    ['the address next to the model', { model: { baseUrl: 'https://x.example' } }],
  ])('%s', (_, settings) => {
    expect(codesWith(settings)).toContain(code)
  })

  test.each<[string, object]>([
    ['a proxy', { proxy: 'http://x.example' }],
    ['the variable of a proxy', { env: { HTTPS_PROXY: 'http://x.example' } }],
    ['the variable that trusts any certificate', { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }],
  ])('%s, only of a project', (_, settings) => {
    expect(codesWith(settings)).toEqual(path === project ? [code] : [])
  })
})

test.each([variable, 'HTTP_PROXY', 'NODE_TLS_REJECT_UNAUTHORIZED'])(
  'check reports %s in the .env file of a project once',
  (name) => {
    const disk = { ...home(), 'work/.env': `${name}=0\n` }
    expect(codesOf(findingsOn(qwen, disk))).toEqual(['qwen-project-settings'])
  },
)

describe('a setup', () => {
  const settingsAfter = (disk: Disk, setup: Setup = {}) => JSON.parse(textAfter(qwen, disk, setup))

  /** The entry of the model that Qwen Code starts with. */
  const firstEntry = ({ modelProviders, security }: ReturnType<typeof settingsAfter>) =>
    modelProviders[security.auth.selectedType][0]

  test('keeps the version of a file with an older layout, because only Qwen Code can convert it', () => {
    expect(settingsAfter({ [file]: '{"vimMode": true}' })).not.toHaveProperty('$version')
    expect(settingsAfter({ [file]: '{"general": {"gitCoAuthor": true}}' })).not.toHaveProperty(
      '$version',
    )
    expect(settingsAfter({ [file]: '{"$version": 3}' }).$version).toBe(3)
  })

  test.each([
    ...['$schema', 'env', 'mcpServers', 'modelProviders', 'hooks', 'permissions', 'ui', 'tools'],
    ...['mcp', 'context', 'security', 'ide', 'privacy', 'advanced', 'model', 'general'],
  ])('writes the version into a file without one that has %s', (name) => {
    expect(settingsAfter({ [file]: JSON.stringify({ [name]: {} }) }).$version).toBe(4)
  })

  test('keeps what only Qwen Code uses in an entry of another gateway', () => {
    const mine = {
      ...{ name: 'Mine', description: 'x', capabilities: { vision: true } },
      generationConfig: {
        ...{ timeout: 9000, streamIdleTimeoutMs: 9000, maxRetries: 1 },
        ...{ retryInitialDelayMs: 9, retryMaxDelayMs: 99, contextWindowSize: 9000 },
        ...{ modalities: { image: true }, reasoning: false, samplingParams: { max_tokens: 9 } },
      },
    }
    const disk = home({}, [], { ...mine, baseUrl: 'https://other.example/v1' })
    const catalog = { models: [{ id: 'big' }] }
    const setup = { catalog, options: { protocol: 'chat' as const } }
    expect(firstEntry(settingsAfter(disk, setup))).toEqual({ ...entry, ...mine })
    expect(codesOf(planOn(qwen, disk, setup).findings)).not.toContain('qwen-foreign-settings')
  })

  const chatOnly = (...models: readonly CatalogModel[]) => ({
    catalog: { models },
    options: { model: models[0]!.id, protocol: 'chat' as const },
  })

  test('keeps the entry over the protocol, and removes the one over another', () => {
    const over = (name: string) => [{ ...entry, name }]
    const lists = { 'openai-responses': over('responses'), openai: over('chat') }
    const disk = home({ modelProviders: lists })
    const overChat = settingsAfter(disk, chatOnly({ id: 'big' }))
    expect(overChat.modelProviders).toEqual({ 'openai-responses': [], openai: over('chat') })
    const options = { model: 'big', protocol: 'responses' as const }
    const overResponses = settingsAfter(disk, { ...chatOnly({ id: 'big' }), options })
    expect(overResponses.modelProviders).toEqual({
      ...{ 'openai-responses': over('responses'), openai: [] },
    })
  })

  test('keeps the models of a gateway with separate addresses if it has not listed its models', () => {
    const anthropic = [{ ...entry, id: 'claude', baseUrl: 'https://claude.example' }]
    const disk = home({ modelProviders: { openai: [entry], anthropic } })
    const baseUrls = { chat: entry.baseUrl, messages: 'https://claude.example' }
    const { modelProviders } = settingsAfter(disk, {
      catalog: undefined,
      options: { model: 'big', protocol: 'chat' },
      target: { baseUrls },
    })
    expect(modelProviders.anthropic).toEqual(anthropic)
  })

  test('writes the key as a secret', () => {
    const { edits } = planOn(qwen, {})
    const secret = { value: key, isSecret: true, role: 'key' }
    expect(edits[0]!.changes).toContainEqual({ path: ['env', variable], ...secret })
  })

  test('sends no headers of an entry without an address, which was for another service', () => {
    const generationConfig = { timeout: 9000, customHeaders: { 'x-mine': 'a' } }
    const disk = home({}, [], { baseUrl: undefined, generationConfig })
    const after = firstEntry(settingsAfter(disk, chatOnly({ id: 'big' })))
    expect(after.generationConfig).toEqual({ timeout: 9000 })
  })

  test.each([
    ['all of them', {}, undefined],
    ["those next to the user's settings", { timeout: 9000 }, { timeout: 9000 }],
  ])('removes the tables that an earlier setup added, if they are empty: %s', (_, mine, left) => {
    const limits = { contextWindowSize: 9000, samplingParams: { max_tokens: 9 } }
    const disk = home({}, [], { generationConfig: { ...mine, ...limits } })
    const earlier = new TextEncoder().encode(
      String(home({}, [], Object.keys(mine).length > 0 ? { generationConfig: mine } : {})[file]),
    )
    const history = aHistory({ earlierVersionsOf: () => [earlier] })
    const after = settingsAfter(disk, { ...chatOnly({ id: 'new' }), target: { history } })
    expect(firstEntry(after).generationConfig).toEqual(left)
  })

  test('does not make the entry of an offered model the one of a new model', () => {
    const disk = home({}, [], { name: 'Mine' })
    const after = settingsAfter(disk, chatOnly({ id: 'new' }, { id: 'big' }))
    expect(after.modelProviders.openai).toEqual([
      { ...entry, id: 'new' },
      { ...entry, name: 'Mine' },
    ])
  })

  test('makes the entry of a model that the gateway no longer offers the one of a new model', () => {
    const other = { ...otherEntry, id: 'new' }
    const disk = home({}, [other], { name: 'Mine' })
    const { modelProviders, model } = settingsAfter(disk, chatOnly({ id: 'new' }))
    expect(modelProviders.openai).toEqual([other, { ...entry, id: 'new', name: 'Mine' }])
    expect(model).toEqual({ name: 'new', baseUrl: entry.baseUrl })
  })

  test("names the models as the gateway shows them, and keeps the user's names", () => {
    const ours = [entry, { ...entry, id: 'named', name: 'Mine' }]
    const disk = home({ modelProviders: { openai: ours } })
    const models = ['big', 'named', 'new'].map((id) => ({ id, displayName: `The ${id}` }))
    const { modelProviders } = settingsAfter(disk, chatOnly(...models, { id: 'plain' }))
    expect(modelProviders.openai.map(({ name }: typeof entry) => name)).toEqual([
      ...['Gateway', 'Mine', 'The new', 'plain'],
    ])
  })

  test.each<readonly [string, object, Protocol, boolean]>([
    ['the one for the model in use', { openai: [otherEntry, entry] }, 'chat', true],
    [
      'the one for the model in use, behind another of ours',
      { openai: [{ ...entry, id: 'first' }, otherEntry, entry] },
      'chat',
      true,
    ],
    [
      'none in the list of another protocol',
      { openai: [otherEntry], 'openai-responses': [entry] },
      'responses',
      false,
    ],
    ['none behind ours', { openai: [entry, otherEntry] }, 'chat', false],
  ])('reports an entry that comes before ours: %s', (_, modelProviders, protocol, isReported) => {
    const { findings } = planOn(qwen, home({ modelProviders }), {
      catalog: { models: [{ id: 'big' }] },
      options: { model: 'big', protocol },
    })
    expect(codesOf(findings).includes('qwen-same-model')).toBe(isReported)
  })

  test.each<readonly [string, Disk, Partial<Machine>]>([
    ['qwen-only-other-login', home(login({ enforcedType: 'qwen-oauth' })), {}],
    ['qwen-rewrites', { [file]: '{"$version": 3}' }, {}],
    ['qwen-shell-variable', {}, { env: { [variable]: 'sk-old' } }],
    ['qwen-proxy', {}, { env: { HTTP_PROXY: 'http://proxy.example:8080' } }],
  ])('reports %s', (code, disk, machine) => {
    const target = { baseUrl: 'http://127.0.0.1:4000/v1' }
    const { findings } = planOn(qwen, disk, { machine: aMachine(machine), target })
    expect(codesOf(findings)).toContain(code)
  })

  test('reports no login that is gone', () => {
    const { findings } = planOn(qwen, home(login({ selectedType: 'qwen-oauth' })))
    expect(findings).toEqual([])
  })

  test('changes the ID of no entry but the first: the others have theirs in their paths', () => {
    const { edits } = planOn(qwen, home(), chatOnly({ id: 'big' }, { id: 'other' }))
    const ids = edits[0]!.changes.filter(({ path }) => path.at(-1) === 'id')
    expect(ids.map(({ value }) => value)).toEqual(['big'])
  })

  test('turns the thinking of no model off that chooses itself how long it thinks', () => {
    const after = settingsAfter(home(), {
      ...chatOnly({ id: 'claude-opus-5-5', outputLimit: 20_000 }),
      options: { model: 'claude-opus-5-5', protocol: 'messages' },
    })
    expect(firstEntry(after).generationConfig).toEqual({ samplingParams: { max_tokens: 20_000 } })
  })

  test.each([
    ['qwen3-coder', true, { image: true }],
    ['qwen3-coder', false, undefined],
    ['qwen3-vl', true, undefined],
    ['qwen3-vl', false, { image: false }],
    ['vendor/gpt-4.1', true, undefined],
  ])('writes of %s, images: %s, only what Qwen Code does not know', (id, images, modalities) => {
    const after = settingsAfter({}, chatOnly({ id, images }))
    expect(firstEntry(after).generationConfig?.modalities).toEqual(modalities)
  })

  const resolveWith = (models: readonly CatalogModel[], model: string) =>
    qwen.resolve({
      requested: { model },
      gatewayInfo: {
        catalogAnswer: { kind: 'received', catalog: { models } },
        rejections: [],
      },
    })

  test('says that --model finds only the models of one protocol, if there are several', () => {
    const claude = { id: 'claude-opus-5-5', endpointTypes: ['anthropic'] }
    const notesOn = (...models: readonly CatalogModel[]) =>
      codesOf(resolveWith(models, models[0]!.id).findings)
    expect(notesOn({ id: 'gpt-5.6-sol' }, { id: 'gpt-5.4' })).toEqual([])
    expect(notesOn({ id: 'gpt-5.6-sol' }, claude)).toEqual(['qwen-model-flag'])
    expect(notesOn({ id: 'mine' }, claude)).toEqual(['context-window-unknown', 'qwen-model-flag'])
  })

  test.each([
    ...['gpt-5.4', 'o3', 'claude-opus-5-5', 'gemini-3-pro', 'vendor/qwen3-max', 'deepseek-v3.2'],
    ...['glm-4.7', 'kimi-k2.5', 'minimax-m2.5'],
  ])('writes the window of %s only if the gateway reports it', (id) => {
    const { offered, findings } = resolveWith([{ id }], id)
    expect(offered[0]?.contextWindow).toBeUndefined()
    expect(findings).toEqual([])
    const listed = resolveWith([{ id, contextWindow: 54_321 }], id)
    expect(listed.offered[0]?.contextWindow).toBe(54_321)
  })

  test('removes the context window of another model, and writes the one that the user names', () => {
    const with9000 = home({}, [], { generationConfig: { contextWindowSize: 9000 } })
    const windowAfter = (setup: Setup) =>
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
    const overChat = { ...input, requested: { ...input.requested, protocol: 'chat' as const } }
    expect(qwen.resolve(overChat, { version: '0.23.0' }).protocol).toBe('chat')
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
    const after = textAfter(qwen, { [file]: '{\n  "ui": {}, // mine\n}' })
    expect(after).toContain('"ui": {}, // mine\n  "$version": 4,')
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
})

describe('a run', () => {
  const run = (args: readonly string[], setup: Setup, disk: Disk = home()) => {
    const { files, ...others } = launchOn(qwen, disk, setup, { args, env: { A: '1' } })
    return { ...others, settings: JSON.parse(files!['qwen-settings.json']!) }
  }

  test("uses a file that overrides all others, with the administrator's settings and without the key", () => {
    const disk = {
      ...home(),
      '/etc/qwen-code/settings.json': '{"ui": {"theme": "x"}, "model": {"name": "y"}}',
    }
    const headers = [{ name: 'x-team', value: 'sk-team', isSecret: true } as const]
    const setup = { options: { contextWindow: 9000 }, target: { headers } }
    const { args, env, settings } = run(['-m', 'other', 'x'], setup, disk)
    expect({ args, env }).toEqual({
      args: ['-m', 'other', 'x'],
      env: {
        A: '1',
        QWEN_CODE_SYSTEM_SETTINGS_PATH: '/run/qwen-settings.json',
        REPOINT_RUN_HEADER_1: 'sk-team',
      },
    })
    const type = 'openai-responses'
    expect(settings).toEqual({
      $version: 4,
      ui: { theme: 'x' },
      security: { auth: { selectedType: type, enforcedType: type } },
      modelProviders: {
        [type]: ['gpt-5.6-sol', 'other'].map((id) => ({
          ...{ id, name: 'Gateway', baseUrl: 'https://gw.example/v1', envKey: launchKeyVariable },
          generationConfig: {
            contextWindowSize: 9000,
            customHeaders: { 'x-team': '${REPOINT_RUN_HEADER_1}' },
          },
        })),
      },
      model: { name: 'gpt-5.6-sol', baseUrl: 'https://gw.example/v1' },
    })
  })

  test('knows the window of each model that the command line names', () => {
    const models = [{ id: 'mine' }, { id: 'b', contextWindow: 54_321 }]
    const { settings } = run(['--model=b', 'x'], {
      catalog: { models },
      options: { model: 'mine' },
    })
    const written = settings.modelProviders.openai as (typeof entry & {
      generationConfig: object
    })[]
    expect(written.map(({ id, generationConfig }) => [id, generationConfig])).toEqual([
      ['mine', { customHeaders: {} }],
      ['b', { contextWindowSize: 54_321, customHeaders: {} }],
    ])
  })
})

const configOverMessages = (model: CatalogModel, outputLimit?: number) => {
  const options = {
    model: model.id,
    protocol: 'messages' as const,
    ...(outputLimit && { outputLimit }),
  }
  const after = textAfter(qwen, home(), { catalog: { models: [model] }, options })
  return JSON.parse(after).modelProviders.anthropic[0].generationConfig
}

test.each([
  ['claude-opus-5-5', 100_000, 1_000_000, 100_000],
  ['claude-opus-5-5', 100_000, 100_000, undefined],
  ['claude-opus-5-5', 128_000, 1_000_000, undefined],
  ['claude-sonnet-5-5', 100_000, 1_000_000, undefined],
  ['devstral-2512', 50_000, 1_000_000, 50_000],
])(
  'the limit of %s, %i tokens of a window of %i, is written if it is low: %s',
  (id, outputLimit, contextWindow, written) => {
    const { samplingParams } = configOverMessages({ id, outputLimit, contextWindow })
    expect(samplingParams?.max_tokens).toBe(written)
  },
)

test.each([
  [32_000, false],
  [64_000, undefined],
])(
  'over messages, the user limits a model that thinks in a budget to %i tokens: reasoning is %s',
  (outputLimit, reasoning) => {
    const config = configOverMessages({ id: 'glm-x' }, outputLimit)
    expect(config.samplingParams.max_tokens).toBe(outputLimit)
    expect(config.reasoning).toBe(reasoning)
  },
)
