import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import {
  aContext,
  aHistory,
  aMachine,
  byId,
  type Disk,
  earlierIn,
  filesOf,
  findingsOn,
  key,
  planOn,
  readValues,
  type Setup,
  text,
  windows,
  written,
} from '../support.ts'

/** With `--keep-login`, the gateway's key is in repoint-key, and auth.json keeps the login. */

const codex = byId('codex')
const configPath = '/home/ada/.codex/config.toml'
const authPath = '/home/ada/.codex/auth.json'
const keyPath = '/home/ada/.codex/repoint-key'
const login = '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}'
const withLogin: Disk = { [authPath]: login }
const keeping: Setup = { options: { keepsLogin: true } }

function setUp(disk: Disk, setup: Setup) {
  const planned = planOn(codex, disk, setup)
  return { ...planned, disk: written(disk, aMachine(), planned.edits) }
}

function contentOf(disk: Disk, path: string): string | undefined {
  const content = disk[path]
  return typeof content === 'string' || content === undefined ? content : text(content)
}

function namesOf(edits: readonly { readonly path: string }[]): readonly string[] {
  return edits.map(({ path }) => path.split('/').at(-1)!)
}

const kept = setUp(withLogin, keeping)

describe('a setup that keeps the login', () => {
  test('leaves auth.json alone, and writes the key only into a private file', () => {
    expect(namesOf(kept.edits)).toEqual(['repoint-key', 'config.toml'])
    expect(contentOf(kept.disk, authPath)).toBe(login)
    expect(contentOf(kept.disk, keyPath)).toBe(`${key}\n`)
    expect(kept.edits[0]).toMatchObject({ holdsSecret: true, scope: 'whole', before: null })
    expect(contentOf(kept.disk, configPath)).not.toContain(key)
    expect(kept.findings).toEqual([])
  })

  test('writes a table with nothing next to its command, and no address for old conversations', () => {
    const config = contentOf(kept.disk, configPath)
    expect(config).not.toMatch(/requires_openai_auth|openai_base_url/)
    expect(config).toContain('command = "cat"\nargs = ["repoint-key"]\ncwd = "."')
  })

  test('is read back, and stays in the next setup', () => {
    expect(readValues(codex, aMachine(), kept.disk)).toMatchObject({
      key,
      keyPath,
      keepsLogin: true,
    })
    expect(findingsOn(codex, kept.disk)).toEqual([])

    const earlier = earlierIn(codex, codex.read(filesOf(codex, aMachine(), kept.disk)))
    const { edits, findings } = planOn(codex, kept.disk, { earlier })
    expect(edits.map(({ before, after }) => text(before) === text(after))).toEqual([true, true])
    expect(findings).toEqual([])
  })

  test('removes the table of an earlier one with another ID', () => {
    const setup = { options: { keepsLogin: true, providerId: 'gw2' } }
    const { findings, disk } = setUp(kept.disk, setup)
    expect(findings).toMatchObject([{ code: 'codex-former-provider', fix: expect.anything() }])
    expect(contentOf(disk, configPath)).not.toContain('[model_providers.gateway]')
  })

  test('leaves a table for the gateway turned off, because it would send the login', () => {
    const table =
      '[model_providers.old]\nname = "Old"\nbase_url = "https://gw.example/v1"\nrequires_openai_auth = true\nenv_key = "REPOINT_SET_ASIDE"\n'
    const disk = { ...withLogin, [configPath]: table }
    expect(setUp(disk, keeping).findings).toEqual([])
    expect(setUp(disk, {}).findings.map(({ code }) => code)).toContain('codex-set-aside')
  })

  test('on Windows prints the file with a command of Windows', () => {
    const machine = aMachine(windows)
    const { edits } = planOn(codex, {}, { ...keeping, machine })
    const config = text(edits.find(({ path }) => path.endsWith('config.toml'))!.after)
    expect(config).toContain('command = "cmd"\nargs = ["/d", "/c", "type", "repoint-key"]')
    const disk = written({}, machine, edits)
    expect(codex.read(filesOf(codex, machine, disk)).endpoint.key).toBe(key)
    expect(findingsOn(codex, disk, machine)).toEqual([])
  })

  test('needs a gateway that accepts the key as Authorization', () => {
    const target = { keyHeader: 'x-api-key' } as const
    expect(() => planOn(codex, withLogin, { ...keeping, target })).toThrow(
      'only in the header x-api-key',
    )
  })

  test.each([
    ['0.142.5', true],
    ['0.143.0', false],
    [undefined, false],
  ])('with Codex %s, is refused: %s', (version, isRefused) => {
    const plan = () => planOn(codex, withLogin, { ...keeping, program: { version } })
    if (isRefused) expect(plan).toThrow('Codex 0.142.5 cannot keep the login')
    else expect(plan).not.toThrow(UserError)
  })

  test('does not care about variables and a store that decide about auth.json', () => {
    const disk = { ...withLogin, [configPath]: 'cli_auth_credentials_store = "keyring"\n' }
    const machine = aMachine({ env: { CODEX_API_KEY: 'sk-other', CODEX_ACCESS_TOKEN: 't' } })
    expect(planOn(codex, disk, { ...keeping, machine }).findings).toEqual([])
  })

  test('removes a setting with which Codex would delete the login', () => {
    const disk = { ...withLogin, [configPath]: 'forced_login_method = "api"\n' }
    const { findings, disk: after } = setUp(disk, keeping)
    expect(findings).toMatchObject([
      { code: 'codex-forced-login', message: expect.stringContaining('deletes your ChatGPT') },
    ])
    expect(contentOf(after, configPath)).not.toContain('forced_login_method')
    const broken = {
      ...kept.disk,
      [configPath]: `forced_login_method = "api"\n${contentOf(kept.disk, configPath)}`,
    }
    expect(findingsOn(codex, broken)).toMatchObject([{ code: 'codex-forced-login' }])
  })

  test('removes another key from the table, with consent', () => {
    const table =
      '[model_providers.gateway]\nname = "Gateway"\nbase_url = "https://gw.example/v1"\n'
    const disk = {
      ...withLogin,
      [configPath]: `${table}env_key = "MINE"\nenv_key_instructions = "Ask"\nauth = { command = "pass" }\n`,
    }
    const { findings, disk: after } = setUp(disk, keeping)
    expect(findings).toMatchObject([
      { code: 'codex-provider-auth', needsConsentTo: expect.stringContaining('env_key') },
      { code: 'codex-provider-auth', needsConsentTo: expect.stringContaining('auth') },
    ])
    expect(contentOf(after, configPath)).not.toMatch(/env_key|Ask|pass/)
    expect(findingsOn(codex, after)).toEqual([])
  })
})

describe('the other form', () => {
  const replaced = setUp(withLogin, { options: { keepsLogin: false } })

  test('says what keeps the login', () => {
    expect(replaced.findings).toMatchObject([
      { code: 'codex-login', needsConsentTo: expect.stringContaining('add --keep-login') },
    ])
  })

  test('becomes this one: the key moves, and the login comes back last', () => {
    const history = aHistory({ earlierVersionsOf: () => [new TextEncoder().encode(login)] })
    const { edits, findings, disk } = setUp(replaced.disk, { ...keeping, target: { history } })
    expect(namesOf(edits)).toEqual(['repoint-key', 'config.toml', 'auth.json'])
    expect(contentOf(disk, authPath)).toBe(login)
    expect(contentOf(disk, configPath)).not.toMatch(/requires_openai_auth|openai_base_url/)
    expect(findings).toMatchObject([
      { code: 'codex-kept-login', message: expect.stringContaining('gets back the ChatGPT login') },
    ])
    expect(findingsOn(codex, disk)).toEqual([])
  })

  test('becomes this one without a login that could come back', () => {
    const { findings, disk } = setUp(replaced.disk, keeping)
    expect(contentOf(disk, authPath)).toBe(undefined)
    expect(contentOf(disk, keyPath)).toBe(`${key}\n`)
    expect(findings).toMatchObject([{ code: 'codex-kept-login', hint: 'To log in: codex login' }])
  })

  test('follows this one: auth.json gets the key first, and the key file goes last', () => {
    const { edits, disk } = setUp(kept.disk, { options: { keepsLogin: false } })
    expect(namesOf(edits)).toEqual(['auth.json', 'config.toml', 'repoint-key'])
    expect(contentOf(disk, keyPath)).toBe(undefined)
    expect(contentOf(disk, configPath)).not.toContain('auth]')
    expect(readValues(codex, aMachine(), disk)).toMatchObject({ key, keyPath: authPath })
    expect(findingsOn(codex, disk)).toEqual([])
  })
})

test("a user's own key in auth.json stays there", () => {
  const disk = { [authPath]: '{"OPENAI_API_KEY":"sk-users-own-key-1"}' }
  const { edits, findings } = planOn(codex, disk, keeping)
  expect(namesOf(edits)).toEqual(['repoint-key', 'config.toml'])
  expect(findings).toEqual([])
})

test("the gateway's key moves out of an auth.json that Codex does not use for a gateway yet", () => {
  const { disk } = setUp({ [authPath]: JSON.stringify({ OPENAI_API_KEY: key }) }, keeping)
  expect(contentOf(disk, authPath)).toBe(undefined)
  expect(contentOf(disk, keyPath)).toBe(`${key}\n`)
})

test('old conversations return from the former gateway too, because the login returns', () => {
  const former = setUp(withLogin, { options: { keepsLogin: false } }).disk
  const target = { baseUrl: 'https://new.example/v1' }
  const context = { writtenBaseUrls: ['https://gw.example/v1'] }
  const { disk } = setUp(former, { ...keeping, target, context })
  expect(contentOf(disk, configPath)).toContain('base_url = "https://new.example/v1"')
  expect(contentOf(disk, configPath)).not.toContain('openai_base_url')
})

test("a user's own address of OpenAI's provider stays", () => {
  const line = 'openai_base_url = "https://mine.example/v1"'
  const { disk } = setUp({ ...withLogin, [configPath]: `${line}\n` }, keeping)
  expect(contentOf(disk, configPath)).toContain(line)
})

test('a login that comes back is not sent to the provider that had a key until now', () => {
  const old = [
    'model_provider = "old"',
    '[model_providers.old]',
    'name = "Old"',
    'base_url = "https://old.example/v1"',
    'requires_openai_auth = true',
    '[model_providers.free]',
    'name = "Free"',
    'base_url = "https://free.example/v1"',
  ]
  const disk = { [authPath]: '{"OPENAI_API_KEY":"sk-old-gateway-1"}', [configPath]: old.join('\n') }
  const history = aHistory({ earlierVersionsOf: () => [new TextEncoder().encode(login)] })
  const { findings, disk: after } = setUp(disk, { ...keeping, target: { history } })
  expect(findings).toContainEqual(
    expect.objectContaining({
      code: 'codex-other-provider',
      needsConsentTo: expect.stringMatching(/old\.example\S* does not get the login/),
    }),
  )
  expect(contentOf(after, authPath)).toBe(login)
  expect(contentOf(after, configPath)).toContain('env_key = "REPOINT_SET_ASIDE"')
  expect(JSON.stringify(findings)).not.toContain('free.example')
})

describe('the question for the login', () => {
  const ask = (disk: Disk, setup: Setup = {}) => {
    const { files, machine, target } = planOn(codex, disk, setup)
    const context = aContext(codex, machine, disk, { files, ...setup.context })
    return codex.question!(context, target)?.message
  }

  test.each([
    ['a login', withLogin, {}, 'Keep your ChatGPT login?'],
    ['no login', {}, {}, undefined],
    ['an answer already', withLogin, { options: { keepsLogin: false } }, undefined],
    ['an earlier answer', withLogin, { earlier: { options: { keepsLogin: true } } }, undefined],
    ['a Codex that cannot', withLogin, { context: { version: '0.142.5' } }, undefined],
    [
      'a Codex that can',
      withLogin,
      { context: { version: '0.143.0' } },
      'Keep your ChatGPT login?',
    ],
    ['another header for the key', withLogin, { target: { keyHeader: 'x-api-key' } }, undefined],
  ] as const)('with %s', (_, disk, setup, question) => {
    expect(ask(disk, setup as Setup)).toBe(question)
  })
})

describe('a key that Codex does not get is reported', () => {
  test.each([
    ['no file', undefined, 'repoint-key does not exist'],
    ['an empty file', '\n', 'repoint-key is empty'],
    ['two lines', 'sk-1\nsk-2\n', 'repoint-key has more than one line'],
  ])('with %s', (_, content, why) => {
    const { [keyPath]: __, ...others } = kept.disk
    const disk = content === undefined ? others : { ...others, [keyPath]: content }
    expect(findingsOn(codex, disk)).toMatchObject([
      { code: 'codex-no-key', message: `Codex sends no key: ${why}`, topic: 'key-missing' },
    ])
    expect(readValues(codex, aMachine(), disk).key).toBe(undefined)
  })

  test('with the command of another system', () => {
    const config = contentOf(kept.disk, configPath)!
      .replace('"cat"', '"cmd"')
      .replace('["repoint-key"]', '["/d", "/c", "type", "repoint-key"]')
    const disk = { ...kept.disk, [configPath]: config }
    expect(findingsOn(codex, disk)).toMatchObject([
      { code: 'codex-key-command', fix: { changes: [{ value: { command: 'cat' } }] } },
    ])
  })

  test.each([
    ['another file', 'args = ["repoint-key"]', 'args = ["other-key"]'],
    ['another folder', 'cwd = "."', 'cwd = "/elsewhere"'],
  ])('but not with a command of the user, for %s', (_, ours, theirs) => {
    const disk = {
      ...kept.disk,
      [configPath]: contentOf(kept.disk, configPath)!.replace(ours, theirs),
    }
    expect(findingsOn(codex, disk)).toEqual([])
    expect(readValues(codex, aMachine(), disk)).toMatchObject({ keyFrom: 'elsewhere' })
  })

  test('with a Codex that does not run the command', () => {
    const found = findingsOn(codex, kept.disk, aMachine(), { version: '0.105.0' })
    expect(found).toMatchObject([
      { code: 'codex-key-command', severity: 'error', message: expect.stringContaining('0.105.0') },
    ])
  })
})

describe('the way back', () => {
  const settingsOf = (disk: Disk) => codex.gatewaySettings(filesOf(codex, aMachine(), disk))

  test('removes the table and the key file, and leaves the login', () => {
    const settings = settingsOf(kept.disk)
    expect(settings).toMatchObject({ key: [[]], auth: [] })
    expect(settings['config']).toContainEqual(['model_providers', 'gateway'])
  })

  test('leaves a key file that the provider in use does not name', () => {
    const { [configPath]: _, ...others } = kept.disk
    const table = '[model_providers.x]\nname = "X"\nbase_url = "https://x.example/v1"\n'
    const config = `model_provider = "x"\n${table}`
    expect(settingsOf({ ...others, [configPath]: config })).toMatchObject({ key: [] })
  })

  test.each([
    ['with which Codex would delete the login', 'forced_login_method = "api"', true],
    ['that requires the login', 'forced_login_method = "chatgpt"', false],
  ])('a setting %s, %s, is removed: %s', (_, line, isRemoved) => {
    const disk = { ...kept.disk, [configPath]: `${line}\n${contentOf(kept.disk, configPath)}` }
    const paths = JSON.stringify(settingsOf(disk)['config'])
    expect(paths.includes('forced_login_method')).toBe(isRemoved)
  })

  test.each([
    ['the provider in use', 'gateway', true],
    ['another one', 'mine', false],
  ])('a profile for %s, %s, is removed: %s', (_, provider, isRemoved) => {
    const profile = `[profiles.p]\nmodel_provider = "${provider}"\n`
    const config = `profile = "p"\n${contentOf(kept.disk, configPath)}\n${profile}`
    const settings = settingsOf({ ...kept.disk, [configPath]: config })
    expect(settings['config']!.some(([name]) => name === 'profile')).toBe(isRemoved)
  })
})
