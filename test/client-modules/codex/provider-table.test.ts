import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { planFixes } from '../../../src/clients/plan/edit-file.ts'
import { decidesEndpoint } from '../../../src/transaction/record.ts'
import {
  aMachine,
  byId,
  type Disk,
  filesOf,
  findingsOn,
  key,
  planOn,
  type Setup,
  text,
  written,
} from '../support.ts'

/** repoint keeps only settings in a provider table that are known to be harmless for the key of auth.json. */

const codex = byId('codex')
const ours = { writtenBaseUrls: ['https://gw.example/v1'] }
const oldCatalog = 'model_catalog_url = "https://old.example/models"'
const oauth = 'gateway_oauth = { authorization_url = "https://old.example/a" }'

const aTable = (more: string, id = 'gateway', url = 'https://gw.example/v1') =>
  `[model_providers.${id}]\nname = "Mine"\nbase_url = "${url}"\nwire_api = "responses"\nrequires_openai_auth = true\n${more}\n`

const aHome = (config: string, files: Disk = {}): Disk => ({
  '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: key }),
  '.codex/config.toml': `model_provider = "gateway"\nopenai_base_url = "https://gw.example/v1"\n${config}`,
  ...files,
})

function setUp(disk: Disk, setup: Setup = {}) {
  const { findings, edits, machine } = planOn(codex, disk, setup)
  const codes = findings.map(({ code }) => code)
  return { findings, codes, after: written(disk, machine, edits), edits }
}

function tableOf(disk: Disk, id = 'gateway') {
  const config = filesOf(codex, aMachine(), disk).find(({ kind }) => kind === 'config')
  const providers = parse(text(config?.bytes))['model_providers']
  return (providers as Record<string, Record<string, unknown>>)[id]
}

describe('our table', () => {
  test.each([
    ['model_catalog_url', oldCatalog],
    ['gateway_oauth', oauth],
    ['gateway_oauth', '[model_providers.gateway.gateway_oauth.delivery]\nkind = "header"'],
    ['aws', 'aws = { region = "x" }'],
    ['project_id', 'project_id = "p"'],
    ['a_key_of_tomorrow', 'a_key_of_tomorrow = true'],
  ])('a setup removes %s without a question', (name, line) => {
    const { findings, after } = setUp(aHome(aTable(line)))
    const [found, ...more] = findings.filter(({ code }) => code === 'codex-provider-setting')
    expect(more).toEqual([])
    expect(found).toMatchObject({
      severity: 'error',
      message: expect.stringContaining(name),
      location: '/home/ada/.codex/config.toml:8',
    })
    expect(found?.needsConsentTo).toBeUndefined()
    expect(tableOf(after)).not.toHaveProperty(name)
    expect(setUp(after).codes).toEqual([])
    expect(findingsOn(codex, after, aMachine(), ours)).toEqual([])
  })

  test('several harmful settings are reported once, and undone together with the address', () => {
    const { codes, edits } = setUp(aHome(aTable(`${oldCatalog}\n${oauth}`)))
    expect(codes).toEqual(['codex-provider-setting'])
    const removed = edits[1]!.changes.filter(({ value }) => value === undefined)
    expect(removed.map(({ path }) => path.at(-1))).toEqual(['model_catalog_url', 'gateway_oauth'])
    expect(removed.every(decidesEndpoint)).toBe(true)
  })

  test.each([
    'supports_websockets = false',
    'query_params = { tenant = "a" }',
    'http_headers = { x-team = "a" }',
    'env_http_headers = { x-team = "TEAM" }',
    'request_max_retries = 1\nstream_max_retries = 1',
    'stream_idle_timeout_ms = 1\nwebsocket_connect_timeout_ms = 1',
    'capabilities = { remote_compaction = "v2" }\nsupports_standalone_web_search = true',
    'env_key_instructions = "x"',
  ])('a setup keeps %s', (line) => {
    const { codes, after } = setUp(aHome(aTable(line)))
    expect(codes).toEqual([])
    expect(tableOf(after)).toMatchObject(parse(line))
  })

  test('settings for an earlier gateway are removed with its address', () => {
    const lines = 'env_http_headers = { x = "OLD_KEY" }\nsupports_standalone_web_search = true'
    const { findings, after } = setUp(aHome(aTable(lines, 'gateway', 'https://old.example/v1')))
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'codex-foreign-settings',
        needsConsentTo: expect.stringMatching(
          /env_http_headers and .*supports_standalone_web_search/,
        ),
      }),
    )
    expect(tableOf(after)).not.toHaveProperty('env_http_headers')
    expect(tableOf(after)).not.toHaveProperty('supports_standalone_web_search')
  })

  test('a setup replaces a name for which Codex sends no key', () => {
    const table = aTable('').replace('"Mine"', '"Amazon Bedrock"')
    const { codes, after } = setUp(aHome(table))
    expect(codes).toEqual(['codex-provider-setting'])
    expect(tableOf(after)).toMatchObject({ name: 'Gateway' })
  })

  test('a setup removes a harmful setting even if the key is in a header', () => {
    const { codes, after } = setUp(aHome(aTable(oldCatalog)), {
      target: { keyHeader: 'x-api-key' },
    })
    expect(codes).toContain('codex-provider-setting')
    expect(tableOf(after)).not.toHaveProperty('model_catalog_url')
  })

  test('status and doctor report a harmful setting, and the fix removes it', () => {
    const disk = aHome(aTable(oldCatalog))
    const found = findingsOn(codex, disk, aMachine(), ours)
    expect(found).toMatchObject([{ code: 'codex-provider-setting', severity: 'error' }])
    expect(found[0]?.needsConsentTo).toBeUndefined()
    const edits = planFixes(codex, filesOf(codex, aMachine(), disk), [found[0]!.fix!])
    expect(tableOf(written(disk, aMachine(), edits))).not.toHaveProperty('model_catalog_url')
    // A gateway that repoint did not set up is not checked.
    expect(findingsOn(codex, disk)).toEqual([])
  })
})

describe('files that a setup does not write', () => {
  const places = [
    '/home/ada/.codex/x.config.toml',
    '/etc/codex/config.toml',
    '/etc/codex/managed_config.toml',
  ]

  test.each(places)('a harmful key of our table in %s stops a setup', (path) => {
    const disk = aHome(aTable(''), { [path]: `[model_providers.gateway]\n${oldCatalog}\n` })
    const expected = expect.objectContaining({
      code: 'codex-key-elsewhere',
      severity: 'error',
      location: `${path}:2`,
      message: expect.stringContaining('model_catalog_url'),
    })
    const { findings } = setUp(disk)
    expect(findings).toContainEqual(expected)
    expect(findings.find(({ code }) => code === 'codex-key-elsewhere')?.fix).toBeUndefined()
    expect(findingsOn(codex, disk, aMachine(), ours)).toContainEqual(expected)
  })

  test('a harmful key of the table "openai" stops it too', () => {
    const profile = '[model_providers.openai]\nmodel_catalog_url = "https://chatgpt.com/x"\n'
    const { codes } = setUp(aHome(aTable(''), { '.codex/x.config.toml': profile }))
    expect(codes).toContain('codex-key-elsewhere')
  })
})

describe('another table at the same gateway', () => {
  const turnedOffTable = expect.objectContaining({ env_key: 'REPOINT_SET_ASIDE' })
  // A table with websockets is not from an earlier setup.
  const other = (more: string) => aTable(`supports_websockets = true\n${more}`, 'other')

  test('is turned off if it has a harmful key in config.toml or in a profile', () => {
    for (const disk of [
      aHome(aTable('') + other(oldCatalog)),
      aHome(aTable('') + other(''), {
        '.codex/x.config.toml': `[model_providers.other]\n${oldCatalog}\n`,
      }),
    ]) {
      expect(findingsOn(codex, disk, aMachine(), ours)).toMatchObject([
        { code: 'codex-other-provider', message: expect.stringContaining('model_catalog_url') },
      ])
      const { codes, after } = setUp(disk)
      expect(codes).toEqual(['codex-other-provider'])
      expect(tableOf(after, 'other')).toEqual(turnedOffTable)
      expect(setUp(after).codes).toEqual([])
      expect(findingsOn(codex, after, aMachine(), ours)).toEqual([])
    }
  })

  test('is not changed if its keys are harmless', () => {
    expect(setUp(aHome(aTable('') + other('stream_max_retries = 1'))).codes).toEqual([])
  })

  test('is removed if an earlier setup wrote it, whatever keys it has', () => {
    const former = aTable(`supports_websockets = false\n${oldCatalog}`, 'former')
    const { codes, after } = setUp(aHome(aTable('') + former))
    expect(codes).toEqual(['codex-former-provider'])
    expect(tableOf(after, 'former')).toBeUndefined()
  })

  test('is not changed if it has a separate token', () => {
    const table = other(oauth).replace('requires_openai_auth = true\n', '')
    expect(setUp(aHome(aTable('') + table)).codes).toEqual([])
  })
})

test.each([
  ['OpenAI', 'Gateway'],
  ['Amazon Bedrock', 'Gateway'],
  ['Amazon Bedrock Runtime', 'Gateway'],
  ['', 'Gateway'],
  ['Mine', 'Mine'],
])('a setup of a table with the name %j leaves the name %s', (name, left) => {
  const { after } = setUp(aHome(aTable('').replace('Mine', name)))
  expect(tableOf(after)).toMatchObject({ name: left })
})

describe('a run', () => {
  const launched = (disk: Disk) => {
    const { target } = planOn(codex, {})
    const launchInput = { args: [], tempFolder: '/home/ada/run', env: {} }
    return codex.launchSettings(filesOf(codex, aMachine(), disk), target, launchInput).args
  }
  const providerOf = (disk: Disk) => launched(disk).find((arg) => arg.startsWith('model_provider='))

  test('hides its key from the shell of the model, and what the user hides', () => {
    const policy = '[shell_environment_policy]\nexclude = ["MY_*"]\n'
    expect(launched(aHome(policy))).toContain(
      'shell_environment_policy.exclude=["MY_*","REPOINT_RUN_KEY"]',
    )
  })

  test('keeps the ID of a table that has only harmless keys', () => {
    const disk = aHome(aTable('stream_max_retries = 1'), { '.codex/x.config.toml': 'model = "y"' })
    expect(providerOf(disk)).toBe('model_provider="gateway"')
  })

  test.each([
    ['config.toml', aHome(aTable(oldCatalog))],
    ...['/home/ada/.codex/x.config.toml', '/etc/codex/config.toml'].map((path): [string, Disk] => [
      path,
      aHome(aTable(''), { [path]: `[model_providers.gateway]\n${oldCatalog}\n` }),
    ]),
  ])('uses another ID if %s has a harmful key', (_, disk) => {
    expect(providerOf(disk)).toBe('model_provider="repoint-run"')
  })
})

test.each(['gcp', 'amazon-bedrock-runtime'])('%s is an ID that Codex reserves', (id) => {
  const found = findingsOn(codex, aHome(aTable('') + aTable('', id)))
  expect(found).toMatchObject([{ code: 'codex-reserved-provider' }])
  const settings = `[model_providers.${id}]\nhttp_headers = { x = "y" }\n`
  expect(findingsOn(codex, aHome(aTable('') + settings))).toEqual([])
})
