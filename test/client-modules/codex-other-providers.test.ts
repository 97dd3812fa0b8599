import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { planFixes } from '../../src/clients/fixes.ts'
import {
  aMachine,
  byId,
  type Disk,
  key,
  obstaclesOn,
  planOn,
  readValues,
  type Setup,
  text,
  textsOf,
  written,
} from './support.ts'

/**
 * auth.json is one for all providers of Codex: what takes its key to another address than the
 * gateway's is kept from it, in every layer.
 */

const codex = byId('codex')
const oldKey = 'sk-old-6f5e4d3c2b1a0987'
const ours = { ownRoots: ['https://gw.example/v1'] }

/** `more`: further lines of the table `old`. */
const aTable = (more = '', id = 'old', url = 'https://old.example/v1') =>
  `[model_providers.${id}]\nname = "Mine"\nbase_url = "${url}"\nwire_api = "responses"\n${more}\n`
const takesKey = 'requires_openai_auth = true'

const aHome = (config: string, files: Disk = {}): Disk => ({
  '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: oldKey }),
  '.codex/config.toml': config,
  ...files,
})

/** What a setup says, what it makes of config.toml, and what it leaves. */
function setUp(disk: Disk, setup: Setup = {}) {
  const { obstacles, edits, machine } = planOn(codex, disk, setup)
  const after = written(disk, machine, edits)
  const said = obstacles.filter(({ code }) => /other-provider|keyless|set-aside/.test(code))
  return { said, config: text(edits[1]?.after), after }
}

/** A table of config.toml as it is read. */
function tableOf(disk: Disk, id: string): unknown {
  const config = textsOf(codex, aMachine(), disk).find(({ kind }) => kind === 'config')
  return (parse(text(config?.bytes))['model_providers'] as Record<string, unknown>)[id]
}

const aside = expect.objectContaining({
  env_key: 'REPOINT_SET_ASIDE',
  env_key_instructions: expect.stringContaining('codex fork ID'),
})

describe('a setup sets aside what takes the key of auth.json elsewhere', () => {
  test.each([
    ['by hand, as a service describes it', aTable(takesKey)],
    [
      'without an address, which is the service of OpenAI',
      `[model_providers.old]\nname = "x"\n${takesKey}\n`,
    ],
    [
      'with a header, which loses to auth.json',
      aTable(`${takesKey}\nhttp_headers = { Authorization = "Bearer h" }`),
    ],
    [
      'inline',
      `model_providers = { old = { name = "x", base_url = "https://old.example/v1", ${takesKey} } }\n`,
    ],
    [
      'with a login of another kind in a header',
      aTable('http_headers = { authorization = "Basic eA==" }'),
    ],
    ['with a header from a variable', aTable('env_http_headers = { Authorization = "MINE" }')],
  ])('%s', (_, table) => {
    const { said, after } = setUp(aHome(table))
    expect(said).toMatchObject([
      { consent: expect.stringMatching(/can still read .*codex fork ID/) },
    ])
    expect(tableOf(after, 'old')).toEqual(aside)
    expect(setUp(after).said).toEqual([])
    expect(obstaclesOn(codex, after, aMachine(), ours)).toEqual([])
  })

  test('the provider of an earlier setup under another id, whose conversations stay', () => {
    const first = setUp({}).after
    const setup = { options: { providerId: 'two' }, choice: { baseUrl: 'https://two.example/v1' } }
    const { said, after } = setUp(first, setup)
    expect(said).toMatchObject([{ code: 'codex-other-provider' }])
    expect(tableOf(after, 'gateway')).toEqual(aside)
  })

  test('a table of a profile, or of the system, by the same lines in config.toml', () => {
    const places = [
      '.codex/x.config.toml',
      '/etc/codex/config.toml',
      '/etc/codex/managed_config.toml',
    ]
    for (const path of places) {
      const { said, after } = setUp(aHome('', { [path]: aTable(takesKey) }))
      expect(said).toMatchObject([{ code: 'codex-other-provider' }])
      expect(tableOf(after, 'old')).toEqual(aside)
      // Codex does not start with a table that has no name.
      expect(tableOf(after, 'old')).toMatchObject({ name: 'Mine' })
      expect(setUp(after).said).toEqual([])
    }
  })

  test('an address that a profile gives to a table of config.toml', () => {
    const config = `[model_providers.old]\nname = "x"\n${takesKey}\nbase_url = "https://gw.example/v1"\n`
    const profile = '[model_providers.old]\nbase_url = "https://old.example/v1"\n'
    const { after } = setUp(aHome(config, { '.codex/x.config.toml': profile }))
    expect(tableOf(after, 'old')).toEqual(aside)
  })

  test.each(['env_key = "MINE"', 'experimental_bearer_token = "m"', 'auth = { command = "x" }'])(
    'not one that has a key of its own: %s',
    (line) => expect(setUp(aHome(aTable(`${takesKey}\n${line}`))).said).toEqual([]),
  )

  test('not where the key goes in a header, and auth.json goes away', () => {
    const choice = { keyHeader: 'x-api-key' } as const
    expect(setUp(aHome(aTable(takesKey)), { choice }).said).toEqual([])
  })
})

describe('a provider that asks for no key goes on without it', () => {
  // Codex up to 0.145.0 sends it the key of auth.json all the same.
  test.each([
    ['', 'repoint-no-key'],
    ['requires_openai_auth = false', 'repoint-no-key'],
    ['http_headers = { Authorization = "Bearer sk-mine" }', 'sk-mine'],
  ])('%s', (line, token) => {
    const { said, after } = setUp(aHome(aTable(line)))
    expect(said).toMatchObject([{ code: 'codex-keyless-provider', severity: 'warning' }])
    expect(said[0]?.consent).toBeUndefined()
    expect(tableOf(after, 'old')).toMatchObject({ experimental_bearer_token: token })
    expect(setUp(after).said).toEqual([])
  })
})

describe('--keep-old-gateway', () => {
  const options = { keepOldGateway: true }

  test('gives the provider in use its key for itself, where others may not read it', () => {
    const disk = aHome(`model_provider = "old"\n${aTable(takesKey)}${aTable(takesKey, 'third')}`)
    expect(setUp(disk).said[0]?.consent).toContain('--keep-old-gateway')
    const { edits, obstacles } = planOn(codex, disk, { options })
    expect(edits[1]?.holdsSecret).toBe(true)
    expect(JSON.stringify(obstacles.map(({ fix: _, ...said }) => said))).not.toContain(oldKey)

    const { after } = setUp(disk, { options })
    expect(tableOf(after, 'old')).toMatchObject({ experimental_bearer_token: oldKey })
    // Whether the key was ever meant for that one, nobody knows.
    expect(tableOf(after, 'third')).toEqual(aside)
    expect(setUp(after, { options }).said).toEqual([])
  })

  test.each([
    ['the new key', { '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: key }) }],
    ['a login', { '.codex/auth.json': '{"tokens":{"access_token":"t"}}' }],
    ['nothing', { '.codex/auth.json': '{}' }],
  ])('gives nothing where auth.json holds %s', (_, files) => {
    const disk = aHome(`model_provider = "old"\n${aTable(takesKey)}`, files)
    expect(setUp(disk).said[0]?.consent).not.toContain('--keep-old-gateway')
    expect(tableOf(setUp(disk, { options }).after, 'old')).toEqual(aside)
  })
})

describe('a later setup at that address gives the provider back', () => {
  const back = { choice: { baseUrl: 'https://old.example/v1' } }

  test.each([aTable(takesKey), aTable()])('%s', (table) => {
    const { after } = setUp(aHome(`model_provider = "old"\n${table}`))
    const { said, after: returned } = setUp(after, back)
    expect(said.map(({ code }) => code)).toContain('codex-set-aside')
    expect(tableOf(returned, 'old')).toEqual(tableOf(aHome(table), 'old'))
  })

  test('also under its own id, without a question about our own lines', () => {
    const { after } = setUp(aHome(aTable(takesKey)))
    const setup = { ...back, options: { providerId: 'old' } }
    const { obstacles } = planOn(codex, after, setup)
    expect(obstacles.map(({ code }) => code)).not.toContain('codex-provider-auth')
    expect(tableOf(setUp(after, setup).after, 'old')).not.toHaveProperty('env_key')
  })
})

describe('a setup is stopped', () => {
  const stopping = (disk: Disk, setup: Setup = {}) =>
    planOn(codex, disk, setup).obstacles.filter(
      ({ severity, fix, consent }) => severity === 'error' && !fix && !consent,
    )

  test.each([
    ['openai_base_url = "https://old.example/v1"\n', ':1'],
    ['[model_providers.gateway]\nbase_url = "https://old.example/v1"\n', ':2'],
  ])('where a profile leads the provider itself elsewhere: %s', (profile, line) => {
    for (const path of ['/home/ada/.codex/x.config.toml', '/etc/codex/managed_config.toml'])
      expect(stopping(aHome('', { [path]: profile }))).toContainEqual(
        expect.objectContaining({ code: 'codex-key-elsewhere', location: `${path}${line}` }),
      )
  })

  test('where the variable is set that nobody may set', () => {
    const machine = aMachine({ env: { REPOINT_SET_ASIDE: 'x' } })
    expect(stopping(aHome(aTable(takesKey)), { machine })).toMatchObject([
      { code: 'codex-set-aside-variable' },
    ])
    expect(stopping(aHome(''), { machine })).toEqual([])
  })

  test('not for a profile that says what is so anyway', () => {
    const profile = 'openai_base_url = "https://gw.example/v1/"\nmodel_provider = "openai"\n'
    expect(setUp(aHome('', { '.codex/x.config.toml': profile })).said).toEqual([])
  })
})

describe('status and doctor', () => {
  const left = aHome('', {})
  const config = () => setUp(left).config

  test('know a table that was added since, and its repair sets it aside', () => {
    const disk = aHome(`${config()}\n${aTable(takesKey)}`)
    const found = obstaclesOn(codex, disk, aMachine(), ours)
    expect(found).toMatchObject([{ code: 'codex-other-provider', severity: 'error' }])
    const files = textsOf(codex, aMachine(), disk)
    expect(codex.read(files).endpoint.alsoSendsTo).toBe('https://old.example')

    const edits = planFixes(codex, files, [found[0]!.fix!])
    const repaired = written(disk, aMachine(), edits)
    expect(obstaclesOn(codex, repaired, aMachine(), ours)).toEqual([])
    expect(readValues(codex, aMachine(), repaired).alsoSendsTo).toBeUndefined()
  })

  test('know a profile that leads the gateway elsewhere', () => {
    const profile = '[model_providers.gateway]\nbase_url = "https://old.example/v1"\n'
    const disk = aHome(config(), { '.codex/x.config.toml': profile })
    expect(obstaclesOn(codex, disk, aMachine(), ours)).toContainEqual(
      expect.objectContaining({ code: 'codex-key-elsewhere', severity: 'error' }),
    )
  })

  test('leave what repoint has not set up to its owner', () => {
    const disk = aHome(`${config()}\n${aTable(takesKey)}`)
    expect(obstaclesOn(codex, disk)).toEqual([])
  })

  test('do not advise to give the key to a provider that was set aside and is in use', () => {
    const { config } = setUp(aHome(aTable(takesKey)))
    const disk = aHome(config.replace('model_provider = "gateway"', 'model_provider = "old"'))
    const found = obstaclesOn(codex, disk, aMachine(), ours)
    expect(found).toMatchObject([{ code: 'codex-set-aside', cause: 'key-missing' }])
    expect(found[0]?.fix).toBeUndefined()
    expect(readValues(codex, aMachine(), disk).key).toBeUndefined()
  })
})
