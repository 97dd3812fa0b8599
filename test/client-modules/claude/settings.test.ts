import { describe, expect, test } from 'vitest'
import { claudeHome } from '../findings/homes.ts'
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
} from '../support.ts'

const claude = byId('claude')
const project = '/home/ada/work/.claude/settings.json'
const managed = '/etc/claude-code/managed-settings.json'
const login = { '.claude/.credentials.json': '{"claudeAiOauth":{}}' }

function setUp(disk: Disk, setup: Setup = {}) {
  const { edits, findings } = planOn(claude, disk, setup)
  const root = JSON.parse(text(edits[0]!.after))
  return { root, env: root.env, codes: findings.map(({ code }) => code) }
}

const codesOn = (disk: Disk, context = {}) =>
  findingsOn(claude, disk, aMachine(), context).map(({ code }) => code)

describe('a setup', () => {
  test.each([
    ['its own gateway', 'https://gw.example', 'X-Team: a'],
    ['another gateway', 'https://other.example', undefined],
  ])('removes the second key in the headers, and keeps those for %s', (_, url, left) => {
    const headers = { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nx-api-key: sk' }
    const { env } = setUp(claudeHome({}, { ...headers, ANTHROPIC_BASE_URL: url }))
    expect(env.ANTHROPIC_CUSTOM_HEADERS).toBe(left)
  })

  test('replaces the token by a key for the other header', () => {
    const { env } = setUp(claudeHome(), { target: { keyHeader: 'x-api-key' } })
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: key })
    expect(env).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN')
  })

  test('keeps an attribution of the user', () => {
    const attribution = { CLAUDE_CODE_ATTRIBUTION_HEADER: '1' }
    const { env } = setUp(claudeHome({}, attribution), { options: { hidesAttribution: false } })
    expect(env).toMatchObject(attribution)
  })

  test("keeps the user's label of a pin that stays", () => {
    const pin = {
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5-5',
      ANTHROPIC_DEFAULT_OPUS_MODEL_NAME: 'Mine',
    }
    const options = { slotModels: { opus: 'claude-opus-5-5' } }
    expect(setUp(claudeHome({}, pin), { options }).env).toMatchObject(pin)
  })

  test('reports a key that a login left', () => {
    const disk = { '.claude.json': '{"primaryApiKey":"sk-ant-api03-users-own"}' }
    expect(setUp(disk).codes).toEqual(['claude-login-key'])
  })

  test.each<readonly [string, Disk, readonly string[], unknown]>([
    ['no choice', {}, ['claude-auto-mode'], 'default'],
    [
      'auto mode',
      claudeHome({ permissions: { defaultMode: 'auto' } }),
      ['claude-auto-mode'],
      'auto',
    ],
    ['another mode', claudeHome({ permissions: { defaultMode: 'plan' } }), [], 'plan'],
    ['no auto mode', claudeHome({ disableAutoMode: 'disable' }), [], undefined],
    [
      'no auto mode in the other place',
      claudeHome({ permissions: { disableAutoMode: 'disable' } }),
      [],
      undefined,
    ],
    [
      'a choice of the administrator',
      { [managed]: '{"permissions":{"defaultMode":"plan"}}' },
      [],
      undefined,
    ],
  ])('at a gateway without safety checks respects %s', (_, disk, codes, mode) => {
    const found = setUp(disk, { target: { safeguards: 'unanswered' } })
    expect(found.codes).toEqual(codes)
    expect(found.root.permissions?.defaultMode).toBe(mode)
  })
})

describe('check', () => {
  test('removes only the second key from the headers', () => {
    const env = { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nx-api-key: sk' }
    expect(findingsOn(claude, claudeHome({}, env))).toMatchObject([
      { code: 'claude-custom-headers', fix: { changes: [{ value: 'X-Team: a' }] } },
    ])
  })

  test('finds a placeholder in a variable of the shell', () => {
    const machine = aMachine({ env: { ANTHROPIC_AUTH_TOKEN: 'PROXY_MANAGED' } })
    const [found] = findingsOn(claude, {}, machine)
    expect(found).toMatchObject({ code: 'claude-placeholder-key', location: 'environment' })
  })

  test('accepts a login next to an API key that the user approved', () => {
    const env = { ANTHROPIC_AUTH_TOKEN: '', ANTHROPIC_API_KEY: key }
    const disk = { ...claudeHome({}, env), ...login }
    const approved = JSON.stringify({ customApiKeyResponses: { approved: [key.slice(-20)] } })
    expect(codesOn(disk)).toEqual(['claude-login-leak'])
    expect(codesOn({ ...disk, '.claude.json': approved })).toEqual([])
  })

  test('asks nothing of a VS Code without settings of Claude Code', () => {
    const code = { '.config/Code/User/settings.json': '{"editor.fontSize":13}' }
    expect(codesOn({ ...claudeHome(), ...code })).toEqual([])
  })

  test('accepts a base URL that ends in /v1 if a setup wrote it', () => {
    const url = 'https://gw.example/v1'
    const disk = claudeHome({}, { ANTHROPIC_BASE_URL: url })
    expect(codesOn(disk)).toEqual(['claude-base-url-version'])
    expect(codesOn(disk, { writtenBaseUrls: [url] })).toEqual([])
  })

  test('accepts a helper for the key of a server on this machine', () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: '' }
    expect(codesOn(claudeHome({}, env))).toEqual(['claude-no-key'])
    expect(codesOn(claudeHome({ apiKeyHelper: 'x' }, env))).toEqual(['claude-api-key-helper'])
  })

  test('finds that any value turns off the discovery of models', () => {
    const env = {
      CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '0',
    }
    expect(codesOn(claudeHome({}, env))).toEqual(['claude-discovery-suppressed'])
  })

  test.each([
    ['claude', 'claude-opus-5-5'],
    ['claude-gpt', 'gpt-5.6-sol'],
  ])('names the command that sets it up again: repoint %s', (command, model) => {
    const pins = Object.fromEntries(
      ['OPUS', 'SONNET', 'HAIKU', 'FABLE'].map((slot) => [
        `ANTHROPIC_DEFAULT_${slot}_MODEL`,
        model,
      ]),
    )
    const disk = { ...claudeHome({}, { ...pins, ANTHROPIC_AUTH_TOKEN: '' }), ...login }
    const leak = findingsOn(claude, disk).find(({ code }) => code === 'claude-login-leak')
    expect(leak?.hint).toMatch(new RegExp(`repoint ${command}$`))
  })
})

test.each([
  ['leaves a slot, which the own service has too', 'sonnet', false],
  ['removes a model', 'gpt-5.6-sol', true],
])('the way back %s', (_, model, isRemoved) => {
  const env = {
    ANTHROPIC_DEFAULT_OPUS_MODEL_NAME: 'x',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
  }
  const files = filesOf(claude, aMachine(), claudeHome({ model }, env))
  const { settings = [] } = claude.gatewaySettings(files)
  expect(settings.some(([name]) => name === 'model')).toBe(isRemoved)
  for (const name of Object.keys(env)) expect(settings).toContainEqual(['env', name])
})

describe('a run', () => {
  const run = (disk: Disk, setup: Setup = {}) => {
    const { target } = planOn(claude, {}, setup)
    const files = filesOf(claude, aMachine(), disk)
    const launch = { args: [], env: { NO_PROXY: 'b' }, tempFolder: '/t' }
    return JSON.parse(claude.launchSettings(files, target, launch).args[1]!)
  }

  test('asks before commands, unless a file chooses the mode', () => {
    expect(run({})).toMatchObject({ permissions: { defaultMode: 'default' } })
    const chosen = { [project]: '{"permissions":{"defaultMode":"plan"}}' }
    expect(run(chosen)).not.toHaveProperty('permissions')
  })

  test('turns off what the file of a project sets, and adds to the hosts without a proxy', () => {
    const disk = {
      ...claudeHome({}, { NO_PROXY: 'a' }),
      [project]: '{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}',
    }
    expect(run(disk).env).toMatchObject({ CLAUDE_CODE_USE_BEDROCK: '', NO_PROXY: 'a,b' })
  })

  test("refuses an administrator's other gateway", () => {
    const disk = { [managed]: '{"env":{"ANTHROPIC_BASE_URL":"https://other.example"}}' }
    expect(() => run(disk)).toThrow("the administrator's file sets ANTHROPIC_BASE_URL")
  })

  test('refuses a key for which Claude Code may send a login', () => {
    const setup = { target: { keyHeader: 'x-api-key' } } as const
    expect(() => run(login, setup)).toThrow('would ask whether to use the key')
    expect(run({}, setup)).toMatchObject({ apiKeyHelper: '' })
  })
})
