import { describe, expect, test } from 'vitest'
import { aMachine, byId, type Disk, findingsOn } from '../support.ts'

describe('a client that is not pointed at a gateway has no findings', () => {
  const shell = aMachine({
    env: { ANTHROPIC_API_KEY: 'sk-a', CODEX_API_KEY: 'sk-a', ANTHROPIC_MODEL: 'x' },
  })
  const opencodeDisk = (config: object, auth = '{"anthropic":{"type":"oauth"}}'): Disk => ({
    '.config/opencode/opencode.json': JSON.stringify(config),
    '.local/share/opencode/auth.json': auth,
  })
  const cases: readonly (readonly [id: string, what: string, disk: Disk])[] = [
    ['codex', 'a ChatGPT login', { '.codex/auth.json': '{"tokens":{"access_token":"t"}}' }],
    [
      'codex',
      'a forced login that is stored elsewhere',
      {
        '.codex/config.toml':
          'cli_auth_credentials_store = "keyring"\nforced_login_method = "chatgpt"\n',
      },
    ],
    [
      'codex',
      'settings of a built-in provider',
      { '.codex/config.toml': '[model_providers.amazon-bedrock.aws]\nregion = "eu-west-1"\n' },
    ],
    [
      'codex',
      'a custom provider with a separate key',
      {
        '.codex/config.toml':
          'model_provider = "x"\n[model_providers.x]\nname = "X"\nbase_url = "https://x.example/v1"\nexperimental_bearer_token = "sk-x"\n',
      },
    ],
    ['claude', 'a model', { '.claude/settings.json': '{"model":"opus"}' }],
    ['claude', 'the default model', { '.claude/settings.json': '{"model":"default"}' }],
    [
      'claude',
      'a login at the console',
      { '.claude.json': '{"primaryApiKey":"sk-ant"}', '.claude/settings.json': '{}' },
    ],
    [
      'opencode',
      'a model of a built-in provider',
      opencodeDisk({ model: 'anthropic/claude-sonnet-4-5' }),
    ],
    [
      'opencode',
      'a built-in provider at another address',
      opencodeDisk({
        model: 'anthropic/claude-sonnet-4-5',
        provider: { anthropic: { options: { baseURL: 'https://proxy.example/v1' } } },
      }),
    ],
    [
      'opencode',
      'a list of enabled providers without the gateway',
      opencodeDisk({ enabled_providers: ['anthropic'] }),
    ],
  ]
  test.each(cases)('%s: %s', (id, _, disk) => {
    const machine = id === 'codex' || id === 'claude' ? shell : aMachine()
    expect(findingsOn(byId(id), disk, machine)).toEqual([])
  })

  const custom = (options: object, more: object = {}) =>
    opencodeDisk({ model: 'x/m', provider: { x: { options, models: { m: {} }, ...more } } }, '{}')
  test.each<readonly [string, Disk]>([
    ['inline', custom({ baseURL: 'https://x.example/v1', apiKey: 'sk-a' })],
    ['in a variable', custom({ baseURL: 'https://x.example/v1', apiKey: '{env:X_KEY}' })],
    ['in a named variable', custom({ baseURL: 'https://x.example/v1' }, { env: ['X_KEY'] })],
    ['not needed', custom({ baseURL: 'http://127.0.0.1:11434/v1' })],
  ])('opencode: a custom provider whose key is %s', (_, disk) => {
    const machine = aMachine({ env: { X_KEY: 'sk-a' } })
    expect(findingsOn(byId('opencode'), disk, machine)).toEqual([])
  })

  test('opencode: a custom provider needs a key if the variable for it is not set', () => {
    const disk = custom({ baseURL: 'https://x.example/v1', apiKey: '{env:X_KEY}' })
    const found = findingsOn(byId('opencode'), disk, aMachine())
    expect(found.map(({ code, fix }) => [code, fix])).toEqual([['opencode-no-key', undefined]])
  })

  test.each<readonly [id: string, what: string, disk: Disk]>([
    [
      'codex',
      'a provider with a separate key',
      {
        '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a"}',
        '.codex/config.toml':
          'model_provider = "azure"\n[model_providers.azure]\nname = "Azure"\nbase_url = "https://az.example/v1"\nenv_key = "AZURE"\n',
      },
    ],
    ['claude', 'a helper for its key', { '.claude/settings.json': '{"apiKeyHelper":"/bin/x"}' }],
    [
      'claude',
      'another address with an API key',
      {
        '.claude/settings.json':
          '{"env":{"ANTHROPIC_BASE_URL":"https://x.example","ANTHROPIC_API_KEY":"sk"}}',
      },
    ],
  ])('%s: what is found with %s has no fix', (id, _, disk) => {
    const withKeys = aMachine({ env: { ANTHROPIC_API_KEY: 'sk-a', CODEX_API_KEY: 'sk-a' } })
    const found = findingsOn(byId(id), disk, withKeys)
    expect(found.filter(({ fix }) => fix !== undefined)).toEqual([])
  })
})
