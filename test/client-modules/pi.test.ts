import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unknownVariableFindings } from '../../src/clients/checks/environment.ts'
import type { OfferedModel } from '../../src/clients/contract/setup.ts'
import { formatOf } from '../../src/edits/format.ts'
import { plainPath } from '../../src/edits/values/paths.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import { failureOf } from '../support/failure.ts'
import {
  aContext,
  aMachine,
  byId,
  catalog,
  codesAfterFix,
  codesOf,
  type Disk,
  earlierIn,
  filesOf,
  findingsOn,
  inputFor,
  key,
  launchOn,
  planOn,
  readValues,
  type Setup,
  type StateValues,
  text,
  textAfter,
  written,
} from './support.ts'

const pi = byId('pi')
const models = '.pi/agent/models.json'
const settings = '.pi/agent/settings.json'
const auth = '.pi/agent/auth.json'

const provider = {
  baseUrl: 'https://gw.example/v1',
  api: 'openai-completions',
  apiKey: 'sk-a',
  models: [{ id: 'big' }, { id: 'small' }],
}
const chosen = { defaultProvider: 'gateway', defaultModel: 'big' }

function json(value: object): string {
  return JSON.stringify(value, null, 2)
}

/** A home with working files. The arguments override parts of them. */
function piHome(inProvider: object = {}, inSettings: object = {}, more: Disk = {}): Disk {
  return {
    [models]: json({ providers: { gateway: { ...provider, ...inProvider } } }),
    [settings]: json({ ...chosen, ...inSettings }),
    ...more,
  }
}

function readBack(disk: Disk): StateValues {
  return readValues(pi, aMachine(), disk)
}

/** pi 0.73.1 was run with each row. Where 0.60.0 and 0.87.1 differ, the row has the stricter result. */
describe('repoint reads the files as pi does', () => {
  const good = { baseUrl: 'https://gw.example/v1', protocol: 'chat', model: 'big', key: 'sk-a' }

  test('from working files', () => {
    expect(readBack(piHome())).toMatchObject(good)
  })

  const pair = piHome()[models] as string
  test.each([
    ['line comments', `// mine\n${pair}`],
    ['trailing commas', pair.replace('}\n    ]', '},\n    ]').replace(/\n}$/, ',\n}')],
    ['a string that looks like a comment', pair.replace('{', '{ "x": "a // b, ]",')],
    ['unknown keys', pair.replace('{', '{ "x": 1,')],
  ])('from a models.json with %s', (_, content) => {
    expect(readBack({ ...piHome(), [models]: content })).toMatchObject(good)
  })

  const ofSmall = (members: string) => pair.replace('"id": "small"', members)
  const inProvider = (member: string) => pair.replace('"apiKey"', `${member}, "apiKey"`)
  test.each([
    ['a block comment', `/* mine */ ${pair}`],
    ['a byte order mark', `\ufeff${pair}`],
    ['an empty file', ''],
    ['a missing "providers"', '{}'],
    ['another provider of a wrong type', json({ providers: { gateway: provider, x: 1 } })],
    ['an address that is not a string', pair.replace('"https://gw.example/v1"', '5')],
    ['a key that is not a string', pair.replace('"sk-a"', '5')],
    ['a protocol that is empty', pair.replace('"openai-completions"', '""')],
    ['an "authHeader" that is text', inProvider('"authHeader": "yes"')],
    ['headers that are not strings', inProvider('"headers": { "a": 1 }')],
    ['models that are no list', pair.replace(/\[[^\]]*\]/, '{}')],
    ['a model without an ID', ofSmall('"name": "small"')],
    ['an empty ID of a model', ofSmall('"id": ""')],
    ['an empty name of a model', ofSmall('"id": "small", "name": ""')],
    ['an address of a model that is not a string', ofSmall('"id": "small", "baseUrl": 5')],
    ['a window that is text', ofSmall('"id": "small", "contextWindow": "9"')],
    ['a size of 0', ofSmall('"id": "small", "maxTokens": 0')],
    ['headers of a model that are not strings', ofSmall('"id": "small", "headers": { "a": 1 }')],
  ])('and ignores a models.json with %s', (_, content) => {
    const read = readBack({ ...piHome(), [models]: content })
    expect(read.broken).toContain('models.json')
    expect(read.baseUrl).toBeUndefined()
  })

  test.each([
    ['models but no address', { models: [{ id: 'a', api: 'openai-completions' }] }],
    ['models but no protocol', { baseUrl: 'https://a.example', models: [{ id: 'a' }] }],
    ['only a name', { name: 'x' }],
  ])('and reports another provider with %s, which older versions reject', (_, other) => {
    const disk = { ...piHome(), [models]: json({ providers: { gateway: provider, other } }) }
    const broken = expect.stringContaining('models.json: the provider other ')
    expect(readBack(disk)).toMatchObject({ ...good, broken })
    expect(readBack({ [models]: json({ providers: { other } }) })).toEqual({ broken })
    expect(codesOf(planOn(pi, disk).findings)).toEqual(['pi-provider-incomplete'])
  })

  test.each([
    ['a built-in provider', { openai: { models: [{ id: 'a' }] } }],
    ['only a key', { other: { apiKey: 'sk-b' } }],
    ['only headers', { other: { headers: { a: 'b' } } }],
    ['only a way to send the key', { other: { authHeader: true } }],
    [
      'everything in the model',
      { other: { models: [{ ...provider, id: 'a', models: undefined }] } },
    ],
  ])('and accepts an incomplete provider with %s', (_, others) => {
    const disk = { ...piHome(), [models]: json({ providers: { gateway: provider, ...others } }) }
    expect(readBack(disk)).not.toHaveProperty('broken')
  })

  test.each([
    ['a comment', `// mine\n${json(chosen)}`],
    ['a trailing comma', '{ "theme": "dark", }'],
    ['a list', '[]'],
  ])('and ignores a settings.json with %s', (_, content) => {
    expect(readBack({ ...piHome(), [settings]: content }).broken).toContain('settings.json')
  })

  test('from an empty settings.json, which counts as missing', () => {
    expect(readBack({ ...piHome(), [settings]: '' })).toEqual({})
  })

  test.each([{ defaultProvider: 'gateway' }, { defaultModel: 'big' }])(
    'and no gateway if settings.json has only %j',
    (only) => {
      expect(readBack({ ...piHome(), [settings]: json(only) })).toEqual({})
    },
  )

  test('and which file each value comes from, and which models are offered', () => {
    const { origins, offered } = pi.read(filesOf(pi, aMachine(), piHome()))
    const inFolder = (path: string) => `/home/ada/${path}`
    expect(origins).toEqual({
      ...{ baseUrl: inFolder(models), model: inFolder(settings), key: inFolder(models) },
    })
    expect(offered).toEqual(['big', 'small'])
  })

  test.each([
    ['oauth', 'the login for gateway in auth.json'],
    ['api_key', undefined],
  ])('and a login of the type %s as %s', (type, login) => {
    const disk = piHome({}, {}, { [auth]: json({ gateway: { type } }) })
    expect(readBack(disk).login).toBe(login)
  })

  test('and uses the last of two entries for a model', () => {
    const twice = [{ id: 'big', baseUrl: 'https://other.example/v1' }, { id: 'big' }]
    expect(readBack(piHome({ models: twice })).baseUrl).toBe('https://gw.example/v1')
  })

  test.each([['!pass show gateway'], ['GATEWAY_KEY'], ['$gateway'], [`a\${KEY}b`]])(
    'and reads no key from the reference %s',
    (apiKey) => {
      expect(readBack(piHome({ apiKey })).key).toBeUndefined()
    },
  )

  test('and prefers a login to the key in models.json', () => {
    const login = { [auth]: '{"gateway":{"type":"api_key","key":"sk-b"}}' }
    const read = readBack(piHome({}, {}, login))
    expect(read).toMatchObject({ key: 'sk-b', keyPath: `/home/ada/${auth}` })
  })

  test.each([
    [{ api: 'openai-responses' }, 'responses', 'https://gw.example/v1'],
    [
      { api: 'anthropic-messages', baseUrl: 'https://gw.example/' },
      'messages',
      'https://gw.example',
    ],
    [{ models: [{ id: 'big', api: 'openai-responses' }] }, 'responses', 'https://gw.example/v1'],
  ])('and reads the protocol and base URL of %j', (inProvider, protocol, baseUrl) => {
    expect(readBack(piHome(inProvider))).toMatchObject({ protocol, baseUrl })
  })

  test('and finds no gateway if the provider is built in', () => {
    const own = { [settings]: '{"defaultProvider":"anthropic","defaultModel":"claude-opus-4-5"}' }
    expect(readBack(own).baseUrl).toBeUndefined()
    expect(findingsOn(pi, own)).toEqual([])
  })
})

describe('the folder of pi follows PI_CODING_AGENT_DIR', () => {
  test.each([
    ['/srv/pi', '/srv/pi/models.json'],
    ['~/pi', '/home/ada/pi/models.json'],
    ['~', '/home/ada/models.json'],
    ['pi', '/home/ada/work/pi/models.json'],
    ['', '/home/ada/.pi/agent/models.json'],
  ])('with %j models.json is %s', (value, path) => {
    const machine = aMachine({ env: { PI_CODING_AGENT_DIR: value } })
    expect(filesOf(pi, machine, {})[0]!.path).toBe(path)
  })
})

test('auth.json is read only if it exists, and settings.json holds no key', () => {
  const shown = (disk: Disk) =>
    filesOf(pi, aMachine(), disk).map(({ kind, content, holdsSecret }) => [
      kind,
      content,
      holdsSecret,
    ])
  const both = [
    ['models', 'settings', true],
    ['settings', 'settings', false],
  ]
  expect(shown({})).toEqual(both)
  expect(shown({ [auth]: '{}' })).toEqual([['auth', 'credentials', true], ...both])
})

test('an undo restores address, key, protocol and model together', () => {
  const model = 'claude-opus-5-5'
  const models = [{ id: model, baseUrl: 'https://gw.example/old' }]
  const { edits } = planOn(pi, piHome({ models }), { options: { model, protocol: 'messages' } })
  const changes = edits.flatMap((edit) => edit.changes)
  const roles = Object.fromEntries(changes.map(({ path, role }) => [plainPath(path), role]))
  expect(roles).toMatchObject({
    'providers.gateway.baseUrl': 'address',
    [`providers.gateway.models.${model}.baseUrl`]: 'address',
    'providers.gateway.apiKey': 'key',
    'providers.gateway.authHeader': 'key',
    'providers.gateway.api': 'provider',
    defaultProvider: 'model',
    defaultModel: 'model',
  })
})

describe('off removes the login', () => {
  const login = (id: string, type: string) => ({ [auth]: json({ [id]: { type, key: 'sk-b' } }) })
  const asProvider = (id: string): Disk => ({
    [models]: json({ providers: { [id]: provider } }),
    [settings]: json({ ...chosen, defaultProvider: id }),
  })

  test.each<readonly [string, Disk, readonly string[][]]>([
    ['of a gateway', { ...piHome(), ...login('gateway', 'api_key') }, [['gateway']]],
    ['of a gateway, of any type', { ...piHome(), ...login('gateway', 'oauth') }, [['gateway']]],
    [
      'of a vendor, if it is a key',
      { ...asProvider('openai'), ...login('openai', 'api_key') },
      [['openai']],
    ],
    ['of no vendor', { ...asProvider('openai'), ...login('openai', 'oauth') }, []],
    ['of no other provider', { ...piHome(), ...login('mine', 'api_key') }, []],
  ])('%s', (_, disk, expected) => {
    expect(pi.gatewaySettings(filesOf(pi, aMachine(), disk))['auth']).toEqual(expected)
  })
})

describe('a setup keeps', () => {
  const planned = (inProvider: object) => {
    const catalog = { models: [{ id: 'big' }] }
    const options = { model: 'big', protocol: 'chat' as const }
    const { edits, findings } = planOn(pi, piHome(inProvider), { catalog, options })
    const { gateway } = JSON.parse(text(edits[0]!.after!)).providers
    return { gateway, codes: codesOf(findings) }
  }

  test('the name of the provider', () => {
    expect(planned({ name: 'Mine' }).gateway.name).toBe('Mine')
    expect(planned({}).gateway.name).toBe('Gateway')
  })

  test('what only pi uses in a provider for another address', () => {
    const compat = { requiresToolResultName: true, forceAdaptiveThinking: true }
    const model = { id: 'big', compat, inputLimits: { a: 1 }, promptCache: { a: 1 } }
    const mine = { name: 'Mine', baseUrl: 'https://other.example/v1', compat, models: [model] }
    const { gateway, codes } = planned(mine)
    expect(gateway).toEqual({ ...provider, ...mine, baseUrl: provider.baseUrl, apiKey: key })
    expect(codes).toEqual(['pi-provider-conflict'])
  })
})

describe('the protocol', () => {
  const listed = (...endpointTypes: string[]): Catalog => ({
    models: [{ id: 'gpt-5.6-sol', endpointTypes }],
  })

  test.each([
    ['openai', 'openai-response', 'responses'],
    ['anthropic', '', 'messages'],
  ])('of a model that is listed for %s %s is %s', (one, other, protocol) => {
    const types = [one, other].filter((type) => type !== '')
    expect(pi.resolve(inputFor(listed(...types))).protocol).toBe(protocol)
  })

  test('is the one that the user names, and a later setup keeps it', () => {
    const { protocol } = pi.resolve(inputFor(catalog, { protocol: 'chat' }))
    expect(protocol).toBe('chat')
    const again = pi.resolve(
      inputFor(catalog, {}, earlierIn(pi, pi.read(filesOf(pi, aMachine(), piHome())))),
    )
    expect(again.protocol).toBe('chat')
  })

  test('is rejected if the model is not listed for it', () => {
    const launchInput = () =>
      pi.resolve(inputFor(listed('anthropic'), { model: 'gpt-5.6-sol', protocol: 'chat' }))
    expect(failureOf(launchInput)).toMatchObject({ code: 'protocol-unsupported' })
  })

  test('messages also sends the key as Bearer, so that pi sends no key from a variable', () => {
    const after = textAfter(pi, {}, { options: { model: 'claude-opus-5-5' } })
    expect(after).toContain('"authHeader": true')
  })
})

test.each([
  ['glm-5', 'chat', { supportsDeveloperRole: false }],
  ['claude-opus-4-6', 'messages', { forceAdaptiveThinking: true }],
  ['claude-sonnet-5', 'messages', { forceAdaptiveThinking: true }],
  ['claude-opus-4-5', 'messages', undefined],
  ['claude-opus-5-5', 'responses', undefined],
] as const)('a setup writes what the reasoning of %s needs over %s', (id, protocol, compat) => {
  const catalog = { models: [{ id, reasoning: true }] }
  const setup = { catalog, options: { model: id, protocol } }
  const { gateway } = JSON.parse(textAfter(pi, {}, setup)).providers
  expect(gateway.models[0].compat).toEqual(compat)
})

describe('a setup rejects', () => {
  test.each([['sk-a$HOME'], ['!true'], ['MY_KEY']])('the key %s', (key) => {
    expect(failureOf(() => planOn(pi, {}, { target: { key } }))).toMatchObject({
      code: 'config-conflict',
    })
  })

  test('a model with two entries', () => {
    const disk = piHome({ models: [{ id: 'gpt-5.6-sol' }, { id: 'gpt-5.6-sol' }] })
    expect(failureOf(() => planOn(pi, disk)).message).toContain('twice')
  })

  test.each([
    [auth, '{"a": {}'],
    [settings, '{"theme": "dark"'],
  ])('a broken file: %s', (path, content) => {
    expect(failureOf(() => planOn(pi, { ...piHome(), [path]: content }))).toMatchObject({
      code: 'config-invalid',
    })
  })

  test.each([auth, models, settings])('to leave a comment in %s', (path) => {
    const disk = { ...piHome({}, {}, { [auth]: '{}' }) }
    const commented = { ...disk, [path]: `/* mine */ ${disk[path]}` }
    const { target } = planOn(pi, disk)
    const files = filesOf(pi, aMachine(), commented)
    expect(failureOf(() => pi.plan(files, target))).toMatchObject({ code: 'config-invalid' })
  })

  test('a file that pi would still not read', () => {
    const disk = { ...piHome(), [models]: '{"providers":{"x":{"baseUrl":5}}}' }
    expect(failureOf(() => planOn(pi, disk))).toMatchObject({ code: 'config-invalid' })
  })
})

const project = 'work/.pi/settings.json'
const userKey = 'sk-users-own-key'

type Case = [code: string, location: string, disk: Disk, env?: Machine['env']]

const withFix: readonly Case[] = [
  ['pi-models-invalid', models, { ...piHome(), [models]: `/* x */${piHome()[models]}` }],
  ['pi-settings-invalid', settings, { ...piHome(), [settings]: `// x\n${json(chosen)}` }],
  ['pi-auth-unreadable', auth, piHome({}, {}, { [auth]: '{"a":{},}' })],
  [
    'pi-other-key',
    `${auth}:2`,
    piHome({}, {}, { [auth]: '{"a":{},\n"gateway":{"type":"oauth"}}' }),
  ],
  ['pi-authorizing-header', `${models}:16`, piHome({ headers: { 'X-API-Key': userKey } })],
  [
    'pi-authorizing-header',
    `${models}:18`,
    piHome({ modelOverrides: { big: { headers: { Authorization: userKey } } } }),
  ],
  [
    'pi-model-address',
    `${models}:13`,
    piHome({ models: [{ id: 'big' }, { id: 'b', baseUrl: 'https://other.example/v1' }] }),
  ],
  ['pi-enabled-models', `${settings}:4`, piHome({}, { enabledModels: ['anthropic/*'] })],
  ['pi-base-url-version', `${models}:4`, piHome({ baseUrl: 'https://gw.example' })],
]

/** A fix would remove something of the user's. */
const withoutFix: readonly Case[] = [
  ['pi-models-invalid', models, { ...piHome(), [models]: '{"providers":5}' }],
  ['pi-models-invalid', models, { ...piHome(), [models]: '/* x */{"providers":{"x":5}}' }],
  ['pi-relative-folder', 'environment', {}, { PI_CODING_AGENT_DIR: 'pi' }],
  [
    'pi-proxy',
    'environment',
    piHome({ baseUrl: 'http://127.0.0.1:1/v1' }),
    { HTTP_PROXY: 'http://proxy.example:8080' },
  ],
  ...[{ defaultModel: 'other' }, { defaultProvider: 'other' }, { enabledModels: ['other'] }].map(
    (inProject): Case => [
      'pi-project-settings',
      `${project}:1`,
      piHome({}, {}, { [project]: JSON.stringify(inProject) }),
    ],
  ),
  ['pi-model-unlisted', `${settings}:3`, piHome({ models: [{ id: 'x' }] })],
  ['pi-no-key', `${models}:6`, piHome({ apiKey: 'MY_KEY' })],
  ['pi-placeholder-key', models, piHome({ apiKey: 'proxy_managed' })],
]

describe('check finds', () => {
  const context = { writtenBaseUrls: ['https://gw.example/v1'] }
  const findOne = ([code, location, disk, env = {}]: Case) => {
    const all = findingsOn(pi, disk, aMachine({ env }), context)
    const found = all.filter((finding) => finding.code === code)
    expect(found.map((one) => one.location?.replace('/home/ada/', ''))).toEqual([location])
    expect(found[0]!.message).not.toContain('users-own-key')
    return found[0]!
  }

  test.each(withFix)('%s at %s, with a fix', (...row) => {
    const [code, , disk] = row
    expect(codesAfterFix(pi, disk, findOne(row), aMachine(), context)).not.toContain(code)
  })

  test.each(withoutFix)('%s at %s, without a fix', (...row) => {
    expect(findOne(row).fix).toBeUndefined()
  })

  test('of a models.json that pi ignores, only that', () => {
    const disk = piHome({ apiKey: 'MY_KEY', models: [{ id: 'big', maxTokens: 0 }] })
    expect(codesOf(findingsOn(pi, disk))).toEqual(['pi-models-invalid'])
  })

  test.each([
    ['PI_NEW_KEY', true],
    ['PI_SHARE_VIEWER_URL', false],
    ['PI_INSTALLER_BASE_URL', false],
    ['PI_OAUTH_CALLBACK_HOST', false],
  ])('that the variable %s is unknown: %s', (name, isUnknown) => {
    const context = aContext(pi, aMachine({ env: { [name]: 'x' } }), piHome())
    expect(codesOf([...unknownVariableFindings(pi, context)])).toEqual(
      isUnknown ? ['unknown-variable'] : [],
    )
  })

  test("nothing about code in the user's home folder", () => {
    const machine = aMachine({ cwd: '/home/ada' })
    const disk = piHome({}, {}, { '.pi/extensions/x.ts': '' })
    expect(findingsOn(pi, disk, machine)).toEqual([])
  })

  test('nothing in working files', () => {
    expect(findingsOn(pi, piHome())).toEqual([])
    expect(findingsOn(pi, piHome({}, { enabledModels: [] }))).toEqual([])
  })

  test('nothing about a folder that is named from the home', () => {
    expect(findingsOn(pi, {}, aMachine({ env: { PI_CODING_AGENT_DIR: '~/pi' } }))).toEqual([])
  })

  test.each(['b.g', 'other/big', 'gateway/*/big', 'gateway/bi', '?big'])(
    'that enabledModels does not match the model with %s',
    (pattern) => {
      const found = findingsOn(pi, piHome({}, { enabledModels: [pattern] }))
      expect(codesOf(found)).toEqual(['pi-enabled-models'])
    },
  )

  test('that `*` matches no slash in the ID of a model', () => {
    const disk = piHome(
      { models: [{ id: 'vendor/big' }] },
      { defaultModel: 'vendor/big', enabledModels: ['gateway/*'] },
    )
    expect(codesOf(findingsOn(pi, disk))).toEqual(['pi-enabled-models'])
  })

  test.each([
    ['gateway/big'],
    ['big'],
    ['*big*'],
    ['gateway/*:high'],
    ['big:max'],
    ['GATEWAY/b?g'],
  ])('nothing if enabledModels matches the model with %s', (pattern) => {
    expect(findingsOn(pi, piHome({}, { enabledModels: ['anthropic/*', pattern] }))).toEqual([])
  })

  test.each([
    ['$MY_KEY', { MY_KEY: 'sk-x' }],
    ['!true', {}],
  ])('nothing if the key comes from %s', (apiKey, env) => {
    expect(findingsOn(pi, piHome({ apiKey }), aMachine({ env }))).toEqual([])
  })
})

describe('before a setup, check finds', () => {
  const codes = (disk: Disk, setup: Setup = {}) => codesOf(planOn(pi, disk, setup).findings)

  test('a provider with another address', () => {
    expect(codes(piHome({ baseUrl: 'https://other.example/v1' }))).toEqual(['pi-provider-conflict'])
    expect(codes(piHome())).toEqual([])
  })

  test.each<readonly [string, Disk, Machine['env']]>([
    ['pi-other-key', piHome({}, {}, { [auth]: '{"gateway":{"type":"oauth"}}' }), {}],
    ['pi-enabled-models', piHome({}, { enabledModels: ['anthropic/*'] }), {}],
    ['pi-proxy', {}, { HTTP_PROXY: 'http://proxy.example:8080' }],
    ['pi-relative-folder', {}, { PI_CODING_AGENT_DIR: 'pi' }],
  ])('%s', (code, disk, env) => {
    const target = { baseUrl: 'http://127.0.0.1:4000/v1' }
    expect(codes(disk, { machine: aMachine({ env }), target })).toContain(code)
  })

  test('nothing about a provider that the setup completes', () => {
    const disk = { [models]: json({ providers: { gateway: { name: 'x' } } }) }
    expect(codes(disk)).toEqual([])
  })

  test('nothing about a variable that no key can be', () => {
    const key = 'abc-123'
    expect(codes({}, { machine: aMachine({ env: { [key]: 'x' } }), target: { key } })).toEqual([])
  })

  test('a variable whose name is the key', () => {
    const key = 'abc123def456'
    const machine = aMachine({ env: { [key]: 'x' } })
    expect(codes({}, { machine, target: { key } })).toEqual(['pi-key-is-variable'])
    expect(codes({}, { target: { key } })).toEqual([])
  })
})

describe('a run', () => {
  const run = (disk: Disk, args = ['-p', 'x'], setup: Setup = {}) => {
    const { env, ...launched } = launchOn(pi, disk, setup, { args })
    return { ...launched, variable: env['REPOINT_RUN_PI']! }
  }

  test('uses an extension, which contains no secret', () => {
    const { args, variable, files } = run(piHome())
    expect(args).toEqual([
      ...['-e', '/run/pi-gateway.mjs', '--provider', 'gateway', '--model', 'gpt-5.6-sol'],
      ...['-p', 'x'],
    ])
    expect(Object.keys(files!)).toEqual(['pi-gateway.mjs'])
    expect(JSON.parse(variable)).toMatchObject({
      id: 'gateway',
      baseUrl: 'https://gw.example/v1',
      api: 'openai-responses',
    })
    expect(JSON.stringify([args, files, variable])).not.toContain(key)
  })

  test.each([
    ['a login', piHome({}, {}, { [auth]: '{"gateway":{"type":"api_key","key":"sk-b"}}' })],
    ['headers', piHome({ headers: { 'x-team': 'a' } })],
    ['headers of a model', piHome({ models: [{ id: 'big', headers: { 'x-team': 'a' } }] })],
    ['overrides of models', piHome({ modelOverrides: { big: {} } })],
  ])('uses another provider if the existing one has %s', (_, disk) => {
    expect(JSON.parse(run(disk).variable).id).toBe('repoint-run')
  })

  test.each([
    ['--provider', 'x'],
    ['--api-key', 'sk-other'],
    ['--provider=x'],
    ['--api-key=sk-other'],
  ])('rejects %s, and does not show its value', (...args) => {
    const refused = failureOf(() => run(piHome(), args))
    expect(refused).toMatchObject({ code: 'usage' })
    expect(JSON.stringify(refused)).not.toContain('sk-other')
  })

  test.each(['install', 'remove', 'uninstall', 'update', 'list', 'config'])(
    'does not change the command %s, which manages packages',
    (command) => {
      const args = [command, 'npm:x']
      expect(run(piHome(), args).args).toEqual(args)
    },
  )

  test('says all that models.json may leave out', () => {
    const models = [
      { id: 'mine', displayName: 'Mine' },
      { id: 'other', contextWindow: 50_000 },
    ]
    const { variable } = run({}, [], {
      catalog: { models },
      options: { model: 'mine', protocol: 'messages' },
      target: { headers: [{ name: 'x-team', value: 'one' }] },
    })
    const usual = {
      ...{ reasoning: false, input: ['text'], contextWindow: 128_000, maxTokens: 16_384 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    }
    expect(JSON.parse(variable)).toMatchObject({
      ...{ id: 'gateway', api: 'anthropic-messages', authHeader: true },
      headers: { 'x-team': 'one' },
      models: [
        { ...usual, id: 'mine', name: 'Mine' },
        { ...usual, id: 'other', name: 'other', contextWindow: 50_000 },
      ],
    })

    // Also for a model that the user can choose later.
    const { resolved } = planOn(pi, {}).target
    const claude = { id: 'claude-opus-4-8', protocol: 'messages' } as const
    const sendsBearer = (offered: readonly OfferedModel[]) =>
      JSON.parse(run({}, [], { target: { resolved: { ...resolved, offered } } }).variable)
        .authHeader
    expect([sendsBearer([]), sendsBearer([claude])]).toEqual([false, true])
  })
})

/** Generated files, which nobody would write. */
describe('with any files', () => {
  const url = fc.constantFrom(
    'https://gw.example/v1',
    'https://gw.example',
    'http://localhost:1/v1',
  )
  const api = fc.constantFrom('openai-responses', 'anthropic-messages', 'google-generative-ai')
  const word = fc.constantFrom('a', 'MY_KEY', '!x', '$Y', key)
  const headers = fc.dictionary(fc.constantFrom('Authorization', 'x-team', 'X-Api-Key'), word)
  const model = fc.record(
    {
      id: fc.constantFrom('gpt-5.6-sol', 'gpt-5.4', 'mine', 'a"b\n'),
      ...{ api, baseUrl: url, headers, contextWindow: fc.constantFrom(1, 200_000) },
    },
    { requiredKeys: ['id'] },
  )
  const aProvider = fc.record(
    {
      ...{ name: word, baseUrl: url, api, apiKey: word, headers, authHeader: fc.boolean() },
      models: fc.uniqueArray(model, { selector: ({ id }) => id, maxLength: 4 }),
    },
    { requiredKeys: [] },
  )
  const ids = fc.constantFrom('gateway', 'other', 'openai', '__proto__')
  const aSetting = fc.record(
    {
      ...{ defaultProvider: ids, defaultModel: fc.constantFrom('gpt-5.6-sol', 'mine') },
      enabledModels: fc.array(fc.constantFrom('gateway/*', '*sol*', 'anthropic/*', '['), {
        maxLength: 3,
      }),
    },
    { requiredKeys: [] },
  )
  const login = fc.constantFrom({ type: 'api_key', key: 'sk-o' }, { type: 'oauth' })
  const spelled = fc.constantFrom<((value: object) => string)[]>(
    (value) => JSON.stringify(value),
    (value) => `${JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n')}\r\n`,
    (value) => `/* mine */\n${JSON.stringify(value, null, 2)}`,
  )
  const disks = fc
    .tuple(fc.dictionary(ids, aProvider), aSetting, fc.dictionary(ids, login), spelled)
    .map(
      ([providers, inSettings, logins, spell]): Disk => ({
        [models]: spell({ providers }),
        [settings]: spell(inSettings),
        [auth]: JSON.stringify(logins),
      }),
    )

  test('a setup takes effect, changes nothing the second time, and is undone exactly', () => {
    const optionSets = fc.constantFrom({}, { model: 'claude-opus-5-5' }, { providerId: 'work' })
    fc.assert(
      fc.property(disks, optionSets, (disk, options) => {
        const { machine, edits, target } = planOn(pi, disk, { options })
        const after = written(disk, machine, edits)
        const { baseUrl, providerId } = target
        const { model, protocol } = target.resolved
        expect(readBack(after)).toMatchObject({ baseUrl, key, providerId, model, protocol })
        expect(findingsOn(pi, after).filter(({ severity }) => severity === 'error')).toEqual([])
        for (const edit of edits) {
          const versions = { before: edit.before, written: edit.after, now: edit.after }
          const paths = edit.changes.map(({ path }) => path)
          expect(undoOurs(formatOf('json'), versions, paths, '')).toEqual({
            bytes: edit.before,
            kept: [],
          })
        }
        const again = planOn(pi, after, { options }).edits
        for (const edit of again) expect(edit.after).toEqual(edit.before)
      }),
      { numRuns: 30 },
    )
  })
})
