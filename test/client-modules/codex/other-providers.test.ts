import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { planFixes } from '../../../src/clients/plan/edit-file.ts'
import {
  aMachine,
  byId,
  type Disk,
  filesOf,
  findingsOn,
  key,
  planOn,
  readValues,
  type Setup,
  text,
  written,
} from '../support.ts'

/**
 * All providers of Codex share auth.json. repoint keeps its key from every provider that would send it to
 * another address than the gateway's, in every layer.
 */

const codex = byId('codex')
const oldKey = 'sk-old-6f5e4d3c2b1a0987'
const ours = { writtenBaseUrls: ['https://gw.example/v1'] }

/** `more`: further lines of the table `old`. */
const aTable = (more = '', id = 'old', url = 'https://old.example/v1') =>
  `[model_providers.${id}]\nname = "Mine"\nbase_url = "${url}"\nwire_api = "responses"\n${more}\n`
const takesKey = 'requires_openai_auth = true'

const aHome = (config: string, files: Disk = {}): Disk => ({
  '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: oldKey }),
  '.codex/config.toml': config,
  ...files,
})

/** The findings of a setup about other providers, the new config.toml, and the disk afterwards. */
function setUp(disk: Disk, setup: Setup = {}) {
  const { findings: all, edits, machine } = planOn(codex, disk, setup)
  const after = written(disk, machine, edits)
  const findings = all.filter(({ code }) => /other-provider|keyless|set-aside/.test(code))
  return { findings, config: text(edits[1]?.after), after }
}

/** A provider's table in config.toml, parsed. */
function tableOf(disk: Disk, id: string): unknown {
  const config = filesOf(codex, aMachine(), disk).find(({ kind }) => kind === 'config')
  return (parse(text(config?.bytes))['model_providers'] as Record<string, unknown>)[id]
}

const turnedOffTable = expect.objectContaining({
  env_key: 'REPOINT_SET_ASIDE',
  env_key_instructions: expect.stringContaining('codex fork ID'),
})

describe('a setup turns off a provider that sends the key of auth.json elsewhere', () => {
  test.each([
    ['a table written by hand, as a service documents it', aTable(takesKey)],
    [
      'a table without an address, which means the service of OpenAI',
      `[model_providers.old]\nname = "x"\n${takesKey}\n`,
    ],
    [
      'a table with a header, which auth.json overrides',
      aTable(`${takesKey}\nhttp_headers = { Authorization = "Bearer h" }`),
    ],
    [
      'an inline table',
      `model_providers = { old = { name = "x", base_url = "https://old.example/v1", ${takesKey} } }\n`,
    ],
    [
      'a table with another kind of login in a header',
      aTable('http_headers = { authorization = "Basic eA==" }'),
    ],
    [
      'a table with a header from a variable',
      aTable('env_http_headers = { Authorization = "MINE" }'),
    ],
  ])('%s', (_, table) => {
    const { findings, after } = setUp(aHome(table))
    expect(findings).toMatchObject([
      { needsConsentTo: expect.stringMatching(/can still read .*codex fork ID/) },
    ])
    expect(tableOf(after, 'old')).toEqual(turnedOffTable)
    expect(setUp(after).findings).toEqual([])
    expect(findingsOn(codex, after, aMachine(), ours)).toEqual([])
  })

  test('a table of an earlier setup with another ID, so that its conversations stay', () => {
    const first = setUp({}).after
    const setup = { options: { providerId: 'two' }, target: { baseUrl: 'https://two.example/v1' } }
    const { findings, after } = setUp(first, setup)
    expect(findings).toMatchObject([{ code: 'codex-other-provider' }])
    expect(tableOf(after, 'gateway')).toEqual(turnedOffTable)
  })

  test('a table in a profile or system file, by an entry in config.toml', () => {
    const places = [
      '.codex/x.config.toml',
      '/etc/codex/config.toml',
      '/etc/codex/managed_config.toml',
    ]
    for (const path of places) {
      const { findings, after } = setUp(aHome('', { [path]: aTable(takesKey) }))
      expect(findings).toMatchObject([{ code: 'codex-other-provider' }])
      expect(tableOf(after, 'old')).toEqual(turnedOffTable)
      // Codex does not start if a table has no name.
      expect(tableOf(after, 'old')).toMatchObject({ name: 'Mine' })
      expect(setUp(after).findings).toEqual([])
    }
  })

  test('a table in config.toml whose address comes from a profile', () => {
    const config = `[model_providers.old]\nname = "x"\n${takesKey}\nbase_url = "https://gw.example/v1"\n`
    const profile = '[model_providers.old]\nbase_url = "https://old.example/v1"\n'
    const { after } = setUp(aHome(config, { '.codex/x.config.toml': profile }))
    expect(tableOf(after, 'old')).toEqual(turnedOffTable)
  })

  test.each(['env_key = "MINE"', 'experimental_bearer_token = "m"', 'auth = { command = "x" }'])(
    'but not a table with a separate key: %s',
    (line) => expect(setUp(aHome(aTable(`${takesKey}\n${line}`))).findings).toEqual([]),
  )

  test('but not if the key is in a header and the setup removes auth.json', () => {
    const target = { keyHeader: 'x-api-key' } as const
    expect(setUp(aHome(aTable(takesKey)), { target }).findings).toEqual([])
  })
})

describe('a provider that asks for no key gets a placeholder instead', () => {
  // Otherwise Codex up to 0.145.0 sends it the key of auth.json.
  test.each([
    ['', 'repoint-no-key'],
    ['requires_openai_auth = false', 'repoint-no-key'],
    ['http_headers = { Authorization = "Bearer sk-mine" }', 'sk-mine'],
  ])('%s', (line, token) => {
    const { findings, after } = setUp(aHome(aTable(line)))
    expect(findings).toMatchObject([{ code: 'codex-keyless-provider', severity: 'warning' }])
    expect(findings[0]?.needsConsentTo).toBeUndefined()
    expect(tableOf(after, 'old')).toMatchObject({ experimental_bearer_token: token })
    expect(setUp(after).findings).toEqual([])
  })
})

describe('--keep-old-gateway', () => {
  const options = { keepOldGateway: true }

  test('copies the key into the table of the current provider, in a file that is private', () => {
    const disk = aHome(`model_provider = "old"\n${aTable(takesKey)}${aTable(takesKey, 'third')}`)
    expect(setUp(disk).findings[0]?.needsConsentTo).toContain('--keep-old-gateway')
    const { edits, findings } = planOn(codex, disk, { options })
    expect(edits[1]?.holdsSecret).toBe(true)
    expect(JSON.stringify(findings.map(({ fix: _, ...shown }) => shown))).not.toContain(oldKey)

    const { after } = setUp(disk, { options })
    expect(tableOf(after, 'old')).toMatchObject({ experimental_bearer_token: oldKey })
    // repoint cannot know whether the key was ever meant for the third provider.
    expect(tableOf(after, 'third')).toEqual(turnedOffTable)
    expect(setUp(after, { options }).findings).toEqual([])
  })

  test.each([
    ['the new key', { '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: key }) }],
    ['a login', { '.codex/auth.json': '{"tokens":{"access_token":"t"}}' }],
    ['nothing', { '.codex/auth.json': '{}' }],
  ])('copies no key if auth.json holds %s', (_, files) => {
    const disk = aHome(`model_provider = "old"\n${aTable(takesKey)}`, files)
    expect(setUp(disk).findings[0]?.needsConsentTo).not.toContain('--keep-old-gateway')
    expect(tableOf(setUp(disk, { options }).after, 'old')).toEqual(turnedOffTable)
  })

  test('changes nothing for a provider that asks for no key', () => {
    const placeholder = aHome(`model_provider = "old"\n${aTable()}`)
    const { findings, after } = setUp(placeholder, { options })
    expect(findings[0]?.needsConsentTo).toBeUndefined()
    expect(tableOf(after, 'old')).toMatchObject({ experimental_bearer_token: 'repoint-no-key' })

    const header = 'http_headers = { authorization = "Basic eA==" }'
    const otherLogin = aHome(`model_provider = "old"\n${aTable(header)}`)
    expect(setUp(otherLogin).findings[0]?.needsConsentTo).not.toContain('--keep-old-gateway')
  })
})

describe('a later setup at that address restores the provider', () => {
  const back = { target: { baseUrl: 'https://old.example/v1' } }

  test.each([aTable(takesKey), aTable()])('%s', (table) => {
    const { after } = setUp(aHome(`model_provider = "old"\n${table}`))
    const { findings, after: returned } = setUp(after, back)
    expect(findings.map(({ code }) => code)).toContain('codex-set-aside')
    expect(tableOf(returned, 'old')).toEqual(tableOf(aHome(table), 'old'))
  })

  test('it does so too if the gateway accepts the key only in another header', () => {
    const { after } = setUp(aHome(`model_provider = "old"\n${aTable(takesKey)}`))
    const target = { ...back.target, providerId: 'old', keyHeader: 'x-api-key' } as const
    const { findings, after: returned } = setUp(after, { target })
    expect(findings.map(({ code }) => code)).toContain('codex-set-aside')
    expect(tableOf(returned, 'old')).not.toHaveProperty('env_key')
  })

  test('it does so under the same ID too, and does not ask about lines that repoint wrote', () => {
    const { after } = setUp(aHome(aTable(takesKey)))
    const setup = { ...back, options: { providerId: 'old' } }
    const { findings } = planOn(codex, after, setup)
    expect(findings.map(({ code }) => code)).not.toContain('codex-provider-auth')
    expect(tableOf(setUp(after, setup).after, 'old')).not.toHaveProperty('env_key')
  })
})

describe('a setup stops', () => {
  const stopping = (disk: Disk, setup: Setup = {}) =>
    planOn(codex, disk, setup).findings.filter(
      ({ severity, fix, needsConsentTo }) => severity === 'error' && !fix && !needsConsentTo,
    )

  test.each([
    ['openai_base_url = "https://old.example/v1"\n', ':1'],
    ['[model_providers.gateway]\nbase_url = "https://old.example/v1"\n', ':2'],
  ])('if a profile points the provider elsewhere: %s', (profile, line) => {
    for (const path of ['/home/ada/.codex/x.config.toml', '/etc/codex/managed_config.toml'])
      expect(stopping(aHome('', { [path]: profile }))).toContainEqual(
        expect.objectContaining({ code: 'codex-key-elsewhere', location: `${path}${line}` }),
      )
  })

  const local = 'openai_base_url = "http://127.0.0.1:10100/v1"\n'

  test('but asks if the address of a profile is on this machine', () => {
    const disk = aHome('', { '.codex/opencodex.config.toml': local })
    expect(stopping(disk)).toEqual([])
    expect(planOn(codex, disk).findings).toContainEqual(
      expect.objectContaining({
        code: 'codex-key-elsewhere',
        needsConsentTo: expect.stringContaining('opencodex.config.toml:1'),
      }),
    )
    const { after } = setUp(disk)
    expect(readValues(codex, aMachine(), after).alsoSendsTo).toBeUndefined()
    expect(findingsOn(codex, after, aMachine(), ours)).toContainEqual(
      expect.objectContaining({ code: 'codex-key-elsewhere', severity: 'warning' }),
    )

    const managed = aHome('', { '/etc/codex/managed_config.toml': local })
    expect(stopping(managed)).toContainEqual(
      expect.objectContaining({ code: 'codex-key-elsewhere' }),
    )
  })

  test('if REPOINT_SET_ASIDE is set', () => {
    const machine = aMachine({ env: { REPOINT_SET_ASIDE: 'x' } })
    expect(stopping(aHome(aTable(takesKey)), { machine })).toMatchObject([
      { code: 'codex-set-aside-variable' },
    ])
    expect(stopping(aHome(''), { machine })).toEqual([])
  })

  test('but not for a profile with the same values', () => {
    const profile = 'openai_base_url = "https://gw.example/v1/"\nmodel_provider = "openai"\n'
    expect(setUp(aHome('', { '.codex/x.config.toml': profile })).findings).toEqual([])
  })
})

test.each([
  ['http://127.0.0.1:10100/v1', undefined],
  ['https://gw.example/v1', 'https://gw.example/v1'],
])('a setup leaves the address for voice %s as %s', (url, left) => {
  const { config } = setUp(aHome(`experimental_realtime_ws_base_url = "${url}"\n`))
  const line = left === undefined ? '' : `experimental_realtime_ws_base_url = "${left}"`
  expect(/^experimental_realtime.*$/m.exec(config)?.[0] ?? '').toBe(line)
})

describe('status and doctor', () => {
  const emptyHome = aHome('', {})
  const config = () => setUp(emptyHome).config

  test('report a table that was added later, and the fix sets it aside', () => {
    const disk = aHome(`${config()}\n${aTable(takesKey)}`)
    const found = findingsOn(codex, disk, aMachine(), ours)
    expect(found).toMatchObject([{ code: 'codex-other-provider', severity: 'error' }])
    const files = filesOf(codex, aMachine(), disk)
    expect(codex.read(files).endpoint.alsoSendsTo).toBe('https://old.example')

    const edits = planFixes(codex, files, [found[0]!.fix!])
    const repaired = written(disk, aMachine(), edits)
    expect(findingsOn(codex, repaired, aMachine(), ours)).toEqual([])
    expect(readValues(codex, aMachine(), repaired).alsoSendsTo).toBeUndefined()
  })

  test('report a profile that points the gateway elsewhere', () => {
    const profile = '[model_providers.gateway]\nbase_url = "https://old.example/v1"\n'
    const disk = aHome(config(), { '.codex/x.config.toml': profile })
    expect(findingsOn(codex, disk, aMachine(), ours)).toContainEqual(
      expect.objectContaining({ code: 'codex-key-elsewhere', severity: 'error' }),
    )
  })

  test('report nothing about a gateway that repoint did not set up', () => {
    const disk = aHome(`${config()}\n${aTable(takesKey)}`)
    expect(findingsOn(codex, disk)).toEqual([])
  })

  test('do not suggest a key for a current provider that was set aside', () => {
    const { config } = setUp(aHome(aTable(takesKey)))
    const disk = aHome(config.replace('model_provider = "gateway"', 'model_provider = "old"'))
    const found = findingsOn(codex, disk, aMachine(), ours)
    expect(found).toMatchObject([{ code: 'codex-set-aside', topic: 'key-missing' }])
    expect(found[0]?.fix).toBeUndefined()
    expect(readValues(codex, aMachine(), disk).key).toBeUndefined()
  })
})
