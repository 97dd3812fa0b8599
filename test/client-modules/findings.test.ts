import { describe, expect, test } from 'vitest'
import type { ClientContext } from '../../src/clients/contract/client.ts'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  type Disk,
  filesOf,
  findingsOn,
  planOn,
  readValues,
  type Setup,
  written,
} from './support.ts'

/** Working files of each client. The arguments override parts of them. */
const codexAuth = { '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a"}' }
const codexConfig = `model = "gpt-5.6-sol"
model_provider = "gateway"
openai_base_url = "https://gw.example/v1"
[model_providers.gateway]
name = "Gateway"
base_url = "https://gw.example/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`
const codexHome = (more = '', root = ''): Disk => ({
  ...codexAuth,
  '.codex/config.toml': `${root}${codexConfig}${more}`,
})
const claudeHome = (more: object = {}, env: object = {}): Disk => ({
  '.claude/settings.json': JSON.stringify(
    {
      env: {
        ANTHROPIC_AUTH_TOKEN: 'sk-a',
        ANTHROPIC_BASE_URL: 'https://gw.example',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...env,
      },
      model: 'sonnet',
      ...more,
    },
    null,
    2,
  ),
})
const opencodeHome = (more: object = {}, provider: object = {}): Disk => ({
  '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"sk-a"}}',
  '.config/opencode/opencode.json': JSON.stringify(
    {
      provider: {
        gateway: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: 'https://gw.example/v1' },
          models: { big: {}, small: {} },
          ...provider,
        },
      },
      model: 'gateway/big',
      small_model: 'gateway/small',
      ...more,
    },
    null,
    2,
  ),
})

/** The expected finding. No other may have its code. */
interface Expected {
  readonly code: string
  /** `~` stands for the home folder. */
  readonly location: string
  readonly severity: 'error' | 'warning'
  /** `none` if repoint may not write the file. */
  readonly fix: 'consent' | 'plain' | 'none'
}

interface Case extends Expected {
  readonly disk: Disk
  readonly machine?: Partial<Machine>
  readonly context?: Partial<ClientContext>
}

function expected(
  code: string,
  location: string,
  severity: Expected['severity'],
  fix: Expected['fix'],
): Expected {
  return { code, location, severity, fix }
}

const profile = (path: string, text: string) => ({ shellProfiles: [{ path, text }] })

const codexCases: Case[] = [
  {
    ...expected('codex-config-invalid', '~/.codex/config.toml', 'error', 'none'),
    disk: { ...codexAuth, '.codex/config.toml': 'model = "a"\nmodel = "b"\n' },
  },
  {
    ...expected('codex-old-conversations', '~/.codex/config.toml', 'error', 'plain'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(/^openai_base_url.*\n/m, ''),
    },
    context: { writtenBaseUrls: ['https://gw.example/v1'] },
  },
  {
    ...expected('codex-old-conversations', '~/.codex/config.toml:3', 'error', 'plain'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('https://gw', 'https://user:secret@other'),
    },
    context: { writtenBaseUrls: ['https://gw.example/v1'] },
  },
  {
    ...expected('codex-model-migrated', '~/.codex/config.toml:1', 'error', 'plain'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': `${codexConfig.replace(/^model = .*$/m, 'model = "gpt-6-sol"')}
[notice.model_migrations]
"gpt-5.6-sol" = "gpt-6-sol"
`,
    },
    context: { writtenBaseUrls: ['https://gw.example/v1'], knownModels: ['gpt-5.6-sol'] },
  },
  {
    ...expected('codex-credential-store', '~/.codex/config.toml:1', 'error', 'plain'),
    disk: codexHome('', 'cli_auth_credentials_store = "keyring"\n'),
  },
  {
    ...expected('codex-credential-store', '~/.codex/config.toml:2', 'error', 'plain'),
    disk: codexHome('', '\ncli_auth_credentials_store = "ephemeral"\n'),
  },
  {
    ...expected('codex-forced-login', '~/.codex/config.toml:1', 'error', 'consent'),
    disk: codexHome('', 'forced_login_method = "chatgpt"\n'),
  },
  {
    ...expected('codex-legacy-profile', '~/.codex/config.toml:1', 'error', 'plain'),
    disk: codexHome('', 'profile = "x"\n'),
  },
  {
    ...expected('codex-profile', '~/.codex/config.toml:11', 'warning', 'none'),
    disk: codexHome('\n[profiles.x]\nmodel = "y"\n'),
  },
  {
    ...expected('codex-profile', '~/.codex/deep.config.toml:1', 'warning', 'none'),
    disk: { ...codexHome(), '.codex/deep.config.toml': 'model = "y"\n' },
  },
  {
    ...expected('codex-chat-wire', '~/.codex/config.toml:13', 'error', 'plain'),
    disk: codexHome('\n[model_providers.old]\nname = "Old"\nwire_api = "chat"\n'),
  },
  {
    ...expected('codex-reserved-provider', '~/.codex/config.toml:11', 'error', 'consent'),
    disk: codexHome('\n[model_providers.openai]\nname = "x"\n[model_providers.openai.a]\nb = 1\n'),
  },
  {
    ...expected('codex-environment-key', 'environment', 'error', 'none'),
    disk: codexHome(),
    machine: { env: { CODEX_API_KEY: 'sk-env' } },
  },
  {
    ...expected('codex-environment-key', '~/.zshrc:2', 'error', 'none'),
    disk: codexHome(),
    context: profile('/home/ada/.zshrc', '# mine\nexport CODEX_API_KEY=sk-env\n'),
  },
  ...['env_key = "K"', 'experimental_bearer_token = "sk-x"', 'auth = { command = "x" }'].map(
    (line): Case => ({
      ...expected('codex-provider-auth', '~/.codex/config.toml:10', 'error', 'consent'),
      disk: codexHome(`${line}\n`),
    }),
  ),
  {
    ...expected('codex-no-auth', '~/.codex/config.toml:4', 'error', 'plain'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('requires_openai_auth = true\n', ''),
    },
  },
  {
    ...expected('codex-login', '~/.codex/auth.json', 'error', 'consent'),
    disk: {
      ...codexHome(),
      '.codex/auth.json':
        '{"auth_mode":"chatgpt","OPENAI_API_KEY":"sk-a","tokens":{"access_token":"t"}}',
    },
  },
  {
    ...expected('codex-login', '~/.codex/auth.json', 'error', 'none'),
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{}}' },
  },
  ...[
    '\uFEFF{"OPENAI_API_KEY":"sk-a"}',
    '{"OPENAI_API_KEY":"sk-a"} // mine',
    '{"OPENAI_API',
    '',
  ].map(
    (content): Case => ({
      ...expected('codex-auth-unreadable', '~/.codex/auth.json', 'error', 'none'),
      disk: { ...codexHome(), '.codex/auth.json': content },
    }),
  ),
  {
    ...expected('codex-auth-unreadable', '~/.codex/auth.json', 'error', 'none'),
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a\\n"}' },
  },
  {
    ...expected('codex-managed-config', '/etc/codex/managed_config.toml:1', 'error', 'none'),
    disk: { ...codexHome(), '/etc/codex/managed_config.toml': 'model_provider = "x"\n' },
  },
  {
    ...expected('codex-system-config', '/etc/codex/config.toml', 'error', 'none'),
    disk: {
      ...codexHome(),
      '/etc/codex/config.toml': 'cli_auth_credentials_store = "ephemeral"\n',
    },
  },
  {
    ...expected('codex-project-config', '~/work/.codex/config.toml:1', 'error', 'none'),
    disk: {
      ...codexHome(),
      '/home/ada/work/.codex/config.toml': 'openai_base_url = "https://evil.example"\n',
    },
  },
  {
    ...expected('codex-project-config', '~/work/.codex/config.toml:2', 'warning', 'none'),
    disk: {
      ...codexHome(),
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/.codex/config.toml': '\nmodel = "x"\n',
    },
    machine: { cwd: '/home/ada/work/deep/in' },
  },
]

const withTable = (lines: string) => codexHome(`\n[model_providers.left]\n${lines}\n`)
codexCases.push(
  {
    ...expected('codex-nameless-provider', '~/.codex/config.toml:11', 'error', 'plain'),
    disk: withTable('http_headers = { a = "b" }'),
  },
  {
    ...expected('codex-nameless-provider', '~/.codex/config.toml:11', 'error', 'plain'),
    disk: withTable('name = " "\nbase_url = "https://x.example/v1"'),
  },
  {
    ...expected('codex-nameless-provider', '~/.codex/config.toml:4', 'error', 'plain'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('name = "Gateway"\n', ''),
    },
  },
  {
    ...expected('codex-no-address', '~/.codex/config.toml:4', 'error', 'none'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(/^base_url.*\n/m, ''),
    },
  },
  {
    ...expected('codex-provider-missing', '~/.codex/config.toml:2', 'error', 'none'),
    disk: { ...codexAuth, '.codex/config.toml': '\nmodel_provider = "gone"\n' },
  },
  ...['{}', '{"OPENAI_API_KEY":null}', '{"GLM_API_KEY":"sk-zcf"}'].map(
    (content): Case => ({
      ...expected('codex-no-key', '~/.codex/auth.json', 'error', 'none'),
      disk: { ...codexHome(), '.codex/auth.json': content },
    }),
  ),
  {
    ...expected('codex-placeholder-key', '~/.codex/auth.json', 'error', 'none'),
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":"PROXY_MANAGED"}' },
  },
  {
    ...expected('codex-local-proxy', '~/.codex/config.toml:6', 'warning', 'none'),
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(
        /^base_url.*/m,
        'base_url = "http://127.0.0.1:15721/v1"',
      ),
    },
  },
  {
    ...expected('codex-relative-home', 'environment', 'warning', 'none'),
    disk: { 'work/c/config.toml': '' },
    machine: { env: { CODEX_HOME: 'c' } },
  },
)

const claudeCases: Case[] = [
  ...['{\n  // mine\n  "model": "opus"\n}', '{"model":"opus",}'].map(
    (content): Case => ({
      ...expected('claude-settings-skipped', '~/.claude/settings.json', 'error', 'consent'),
      disk: { '.claude/settings.json': content },
    }),
  ),
  ...[
    '',
    '[]',
    '{"model":5}',
    '{"env":[]}',
    '{"permissions":{"allow":"Bash"}}',
    '{"model":"opus"',
  ].map(
    (content): Case => ({
      ...expected('claude-settings-skipped', '~/.claude/settings.json', 'error', 'none'),
      disk: { '.claude/settings.json': content },
    }),
  ),
  {
    ...expected('claude-api-key', '~/.claude/settings.json:6', 'error', 'consent'),
    disk: claudeHome({}, { ANTHROPIC_API_KEY: 'sk-ant' }),
  },
  {
    ...expected('claude-api-key-helper', '~/.claude/settings.json:8', 'error', 'consent'),
    disk: claudeHome({ apiKeyHelper: '/bin/helper' }),
  },
  {
    ...expected('claude-custom-headers', '~/.claude/settings.json:6', 'error', 'consent'),
    disk: claudeHome({}, { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nx-api-key: sk' }),
  },
  {
    ...expected('claude-service-switch', '~/.claude/settings.json:6', 'error', 'consent'),
    disk: claudeHome({}, { CLAUDE_CODE_USE_VERTEX: '1' }),
  },
  {
    ...expected('claude-environment-model', '~/.claude/settings.json:6', 'error', 'consent'),
    disk: claudeHome({}, { ANTHROPIC_MODEL: 'x' }),
  },
  {
    ...expected('claude-small-fast-model', '~/.claude/settings.json:6', 'warning', 'consent'),
    disk: claudeHome({}, { ANTHROPIC_SMALL_FAST_MODEL: 'x' }),
  },
  {
    ...expected('claude-model-default', '~/.claude/settings.json:7', 'error', 'plain'),
    disk: claudeHome({ model: 'default' }),
  },
  {
    ...expected('claude-base-url-version', '~/.claude/settings.json:4', 'error', 'plain'),
    disk: claudeHome({}, { ANTHROPIC_BASE_URL: 'https://gw.example/v1/' }),
  },
  {
    ...expected('claude-login-leak', '~/.claude/settings.json:4', 'error', 'none'),
    disk: {
      ...claudeHome({}, { ANTHROPIC_AUTH_TOKEN: '' }),
      '.claude/.credentials.json': '{"claudeAiOauth":{}}',
    },
  },
  {
    ...expected('claude-discovery-suppressed', '~/.claude/settings.json:5', 'warning', 'plain'),
    disk: claudeHome({}, { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' }),
  },
  ...[
    'ANTHROPIC_API_KEY',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
    'CLAUDE_CODE_USE_MANTLE',
    'CLAUDE_CODE_USE_ANTHROPIC_AWS',
    'CLAUDE_CODE_USE_GATEWAY',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_DEFAULT_OPUS_MODEL',
    'ANTHROPIC_DEFAULT_SONNET_MODEL',
    'ANTHROPIC_DEFAULT_HAIKU_MODEL',
    'ANTHROPIC_DEFAULT_FABLE_MODEL',
  ].map(
    (name): Case => ({
      ...expected('claude-shell-variable', 'environment', 'error', 'plain'),
      disk: claudeHome(),
      machine: { env: { [name]: '1' } },
    }),
  ),
  {
    ...expected('claude-shell-variable', 'environment', 'error', 'plain'),
    disk: claudeHome(),
    machine: { env: { ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer x' } },
  },
  {
    ...expected('claude-shell-variable', '~/.config/fish/config.fish:2', 'error', 'plain'),
    disk: claudeHome(),
    context: profile(
      '/home/ada/.config/fish/config.fish',
      'set -gx EDITOR vi\nset -gx ANTHROPIC_API_KEY sk\n',
    ),
  },
  {
    ...expected('claude-proxy', 'environment', 'error', 'plain'),
    disk: claudeHome({}, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000' }),
    machine: { env: { HTTP_PROXY: 'http://proxy:3128', NO_PROXY: 'internal' } },
  },
  {
    ...expected(
      'claude-project-settings',
      '~/work/.claude/settings.local.json:2',
      'warning',
      'none',
    ),
    disk: { ...claudeHome(), '/home/ada/work/.claude/settings.local.json': '{\n"model":"x"}' },
  },
  ...[
    '{"env":{"ANTHROPIC_BASE_URL":"https://evil.example"}}',
    '{"apiKeyHelper":"curl https://evil.example"}',
  ].map(
    (settings): Case => ({
      ...expected('claude-project-settings', '~/work/.claude/settings.json:1', 'error', 'none'),
      disk: { ...claudeHome(), '/home/ada/work/.claude/settings.json': settings },
    }),
  ),
  {
    ...expected(
      'claude-managed-settings',
      '/etc/claude-code/managed-settings.d/10.json:1',
      'error',
      'none',
    ),
    disk: {
      ...claudeHome(),
      '/etc/claude-code/managed-settings.d/10.json': '{"env":{"ANTHROPIC_BASE_URL":"https://x"}}',
    },
  },
]

claudeCases.push(
  {
    ...expected('claude-login-key', '~/.claude.json:2', 'error', 'none'),
    disk: { ...claudeHome(), '.claude.json': '{\n "primaryApiKey": "sk-ant-api03-users-own"\n}' },
  },
  ...['PROXY_MANAGED', 'ccs-internal-managed', 'proxy-placeholder'].map(
    (token): Case => ({
      ...expected('claude-placeholder-key', '~/.claude/settings.json:3', 'error', 'none'),
      disk: claudeHome({}, { ANTHROPIC_AUTH_TOKEN: token }),
    }),
  ),
  ...['http://127.0.0.1:3456', 'http://localhost:15721/', 'http://[::1]:8317/api/provider/x'].map(
    (url): Case => ({
      ...expected('claude-local-proxy', '~/.claude/settings.json:4', 'warning', 'none'),
      disk: claudeHome({}, { ANTHROPIC_BASE_URL: url }),
    }),
  ),
  {
    ...expected('claude-local-proxy', 'environment', 'warning', 'none'),
    disk: {},
    machine: { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3456' } },
  },
  {
    ...expected('claude-empty-folder', 'environment', 'error', 'none'),
    disk: claudeHome(),
    machine: { env: { CLAUDE_CONFIG_DIR: '' } },
  },
  {
    ...expected('claude-relative-folder', 'environment', 'warning', 'none'),
    disk: {},
    machine: { env: { CLAUDE_CONFIG_DIR: 'cc' } },
  },
)

const opencodeCases: Case[] = [
  {
    ...expected('opencode-config-invalid', '~/.config/opencode/config.json', 'error', 'none'),
    disk: { ...opencodeHome(), '.config/opencode/config.json': '{"model":' },
  },
  {
    ...expected('opencode-newer-keys', '~/.config/opencode/opencode.json:16', 'error', 'none'),
    disk: opencodeHome({ permissions: {} }),
  },
  {
    ...expected(
      'opencode-auth-unreadable',
      '~/.local/share/opencode/auth.json',
      'error',
      'consent',
    ),
    disk: {
      ...opencodeHome(),
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"sk-a"},}',
    },
  },
  {
    ...expected('opencode-api-key', '~/.config/opencode/opencode.json:7', 'error', 'consent'),
    disk: opencodeHome({}, { options: { baseURL: 'https://gw.example/v1', apiKey: '{env:NO}' } }),
  },
  {
    ...expected('opencode-api-key', '~/.config/opencode/config.json:1', 'error', 'none'),
    disk: {
      ...opencodeHome(),
      '.config/opencode/config.json': '{"provider":{"gateway":{"options":{"apiKey":""}}}}',
    },
  },
  {
    ...expected('opencode-model-unlisted', '~/.config/opencode/opencode.json:14', 'error', 'none'),
    disk: opencodeHome({ model: 'gateway/other' }),
  },
  {
    ...expected('opencode-no-key', '~/.local/share/opencode/auth.json', 'error', 'none'),
    disk: { ...opencodeHome(), '.local/share/opencode/auth.json': '{}' },
  },
  ...[{ enabled_providers: ['anthropic'] }, { disabled_providers: ['gateway'] }].map(
    (more): Case => ({
      ...expected('opencode-hidden', '~/.config/opencode/opencode.json:16', 'error', 'plain'),
      disk: opencodeHome(more),
    }),
  ),
  ...[{ whitelist: ['small'] }, { blacklist: ['big'] }].map(
    (more): Case => ({
      ...expected('opencode-hidden', '~/.config/opencode/opencode.json:12', 'error', 'plain'),
      disk: opencodeHome({}, more),
    }),
  ),
  {
    ...expected('opencode-agent-model', '~/.config/opencode/opencode.json:18', 'warning', 'none'),
    disk: opencodeHome({ agent: { build: { model: 'anthropic/x' } } }),
  },
  {
    ...expected('opencode-environment-auth', 'environment', 'error', 'none'),
    disk: opencodeHome(),
    machine: { env: { OPENCODE_AUTH_CONTENT: '{}' } },
  },
  {
    ...expected('opencode-environment-config', 'environment', 'warning', 'none'),
    disk: opencodeHome(),
    machine: { env: { OPENCODE_CONFIG_CONTENT: '{}' } },
  },
  {
    ...expected('opencode-project-config', '~/opencode.json:1', 'warning', 'none'),
    disk: { ...opencodeHome(), '/home/ada/opencode.json': '{"model":"x/y"}' },
  },
  {
    ...expected('opencode-project-config', '~/opencode.json:1', 'error', 'none'),
    disk: {
      ...opencodeHome(),
      '/home/ada/opencode.json':
        '{"provider":{"gateway":{"options":{"baseURL":"https://evil.example/v1"}}}}',
    },
  },
  {
    ...expected('opencode-upper-config', '/srv/oc/opencode.jsonc:1', 'warning', 'none'),
    disk: { ...opencodeHome(), '/srv/oc/opencode.jsonc': '{"model":"x/y"}' },
    machine: { env: { OPENCODE_CONFIG_DIR: '/srv/oc' } },
  },
  {
    ...expected('opencode-managed-config', '/etc/opencode/opencode.json:1', 'warning', 'none'),
    disk: { ...opencodeHome(), '/etc/opencode/opencode.json': '{"model":"x/y"}' },
  },
]

opencodeCases.push(
  {
    ...expected('opencode-placeholder-key', '~/.local/share/opencode/auth.json', 'error', 'none'),
    disk: {
      ...opencodeHome(),
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"PROXY_MANAGED"}}',
    },
  },
  {
    ...expected('opencode-local-proxy', '~/.config/opencode/opencode.json:6', 'warning', 'none'),
    disk: opencodeHome({}, { options: { baseURL: 'http://127.0.0.1:15721/v1' } }),
  },
  {
    ...expected('opencode-relative-folder', 'environment', 'warning', 'none'),
    disk: {},
    machine: { env: { XDG_DATA_HOME: 'd' } },
  },
)

describe.each([
  ['codex', codexCases],
  ['claude', claudeCases],
  ['opencode', opencodeCases],
] as const)('%s findings', (id, cases) => {
  const client = byId(id)
  const healthy = { codex: codexHome(), claude: claudeHome(), opencode: opencodeHome() }[id]

  test('a working configuration has none', () => {
    expect(findingsOn(client, healthy)).toEqual([])
  })

  test.each(cases.map((one) => [`${one.code} at ${one.location}`, one] as const))(
    'finds %s, and its fix removes it',
    (_, { code, disk, machine: changes, context, location, severity, fix }) => {
      const machine = aMachine(changes)
      const found = findingsOn(client, disk, machine, context).filter((one) => one.code === code)
      expect(found).toHaveLength(1)
      const [finding] = found
      expect(finding!.location?.replace(machine.home, '~')).toBe(location)
      expect(finding!.severity).toBe(severity)
      if (fix === 'none') {
        expect(finding!.fix).toBeUndefined()
        return
      }
      expect(finding!.consent === undefined ? 'plain' : 'consent').toBe(fix)
      expect(finding!.consent ?? 'A sentence.').toMatch(/\.$/)
      const files = filesOf(client, machine, disk)
      const edits = planFixes(client, files, [finding!.fix!])
      const fixedDisk = written(disk, machine, edits)
      const remaining = findingsOn(client, fixedDisk, machine, context)
      expect(remaining.filter((one) => one.code === code)).toEqual([])
    },
  )
})

describe('a setup', () => {
  const cases: readonly (readonly [client: string, code: string, disk: Disk, setup: Setup])[] = [
    [
      'codex',
      'codex-provider-conflict',
      {
        '.codex/config.toml':
          '[model_providers.gateway]\nname = "Other"\nbase_url = "https://other.example/v1"\n',
      },
      {},
    ],
    ['codex', 'codex-other-key', codexAuth, {}],
    [
      'codex',
      'codex-openai-base-url',
      { '.codex/config.toml': 'openai_base_url = "https://other.example/v1"\n' },
      {},
    ],
    ['codex', 'codex-login', { '.codex/auth.json': '{"tokens":{"access_token":"t"}}' }, {}],
    [
      'codex',
      'codex-context-window',
      { '.codex/config.toml': 'model = "other"\nmodel_context_window = 1000\n' },
      {},
    ],
    [
      'claude',
      'claude-old-pin',
      { '.claude/settings.json': '{"env":{"ANTHROPIC_DEFAULT_OPUS_MODEL":"mine"}}' },
      {},
    ],
    [
      'opencode',
      'opencode-provider-conflict',
      {
        '.config/opencode/opencode.json':
          '{"provider":{"gateway":{"options":{"baseURL":"https://me:pw@other.example/v1"}}}}',
      },
      {},
    ],
    [
      'opencode',
      'opencode-other-key',
      { '.local/share/opencode/auth.json': '{"gateway":{"type":"oauth"}}' },
      {},
    ],
  ]
  test.each(cases)('of %s finds %s', (id, code, disk, setup) => {
    const { findings } = planOn(byId(id), disk, setup)
    expect(findings.map((one) => one.code)).toContain(code)
  })

  test('does not show a password in an address', () => {
    const disk = cases.find(([, code]) => code === 'opencode-provider-conflict')![2]
    expect(JSON.stringify(planOn(byId('opencode'), disk).findings)).not.toContain('pw')
  })

  test.each([
    'https://me:pw@other.example/v1?key=pw#pw',
    'https://me:p@pw@other.example',
    'https://me:pw/?#pw@other.example/v1',
    'me:pw@other.example?k=pw',
  ])('shows no secret part of the address %s', (url) => {
    const codexDisk = { '.codex/config.toml': `[model_providers.gateway]\nbase_url = "${url}"\n` }
    const opencodeDisk = {
      '.config/opencode/opencode.json': JSON.stringify({
        provider: { gateway: { options: { baseURL: url } } },
      }),
    }
    for (const [id, disk] of [
      ['codex', codexDisk],
      ['opencode', opencodeDisk],
    ] as const) {
      const { findings } = planOn(byId(id), disk)
      expect(JSON.stringify(findings)).toContain('other.example')
      expect(JSON.stringify(findings)).not.toContain('pw')
    }
  })

  test.each<readonly [string, string, string, Disk]>([
    [
      'codex',
      'codex-login',
      'Replace your ChatGPT login in auth.json by the key. repoint rollback restores it.',
      { '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}' },
    ],
    [
      'codex',
      'codex-other-key',
      'Replace the API key in auth.json. repoint rollback restores it.',
      codexAuth,
    ],
    [
      'codex',
      'codex-unread-key',
      'Remove GLM_API_KEY from auth.json. repoint rollback restores it.',
      { '.codex/auth.json': '{"GLM_API_KEY":"sk-zcf"}' },
    ],
    [
      'opencode',
      'opencode-other-key',
      'Replace the login for gateway in auth.json. repoint rollback restores it.',
      { '.local/share/opencode/auth.json': '{"gateway":{"type":"oauth"}}' },
    ],
  ])(
    'of %s with %s says once what is lost, and names no command except in the question',
    (id, code, consent, disk) => {
      const found = planOn(byId(id), disk).findings.filter((one) => one.code === code)
      expect(found).toMatchObject([{ consent: consent }])
      expect(`${found[0]!.message} ${found[0]!.hint}`).not.toMatch(
        /repoint (?:codex|opencode)|rollback/,
      )
    },
  )

  test.each(['codex', 'opencode'])('of %s replaces a placeholder key without a question', (id) => {
    const { findings } = planOn(byId(id), {
      '.codex/auth.json': '{"OPENAI_API_KEY":"PROXY_MANAGED"}',
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"PROXY_MANAGED"}}',
    })
    expect(findings).toEqual([])
  })

  test('of codex needs no consent for a new key if repoint wrote the address', () => {
    const { findings } = planOn(byId('codex'), codexHome(), {
      target: { baseUrl: 'https://new.example/v1' },
      context: { writtenBaseUrls: ['https://gw.example/v1'] },
    })
    expect(findings).toEqual([])
  })

  test('of codex accepts a newer model that the gateway has, or that Codex did not offer', () => {
    const answered = '[notice.model_migrations]\n"gpt-5.6-sol" = "gpt-6-sol"\n'
    const found = (answer: string, knownModels: readonly string[]) => {
      const config = codexConfig.replace(/^model = .*$/m, 'model = "gpt-6-sol"') + answer
      const context = { writtenBaseUrls: ['https://gw.example/v1'], knownModels }
      const disk = { ...codexAuth, '.codex/config.toml': config }
      return findingsOn(byId('codex'), disk, aMachine(), context).map(({ code }) => code)
    }
    expect(found(answered, ['gpt-5.6-sol'])).toEqual(['codex-model-migrated'])
    expect(found(answered, ['gpt-5.6-sol', 'gpt-6-sol'])).toEqual([])
    expect(found('', ['gpt-5.6-sol'])).toEqual([])
  })

  test('of claude accepts a pin in the environment for a slot that it sets', () => {
    const { findings } = planOn(
      byId('claude-gpt'),
      {},
      {
        machine: aMachine({ env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'x' } }),
      },
    )
    expect(findings).toEqual([])
  })
})

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
    expect(found.map(({ code }) => code)).toEqual(['opencode-no-key'])
  })
})

test.each([
  ...['1', 'true', 'TRUE', 'yes', ' on '].map((value) => [value, true] as const),
  ...['', '0', 'false', 'False', 'no', 'off', '2', 'x'].map((value) => [value, false] as const),
])('claude: check and read agree on the discovery setting %j: on %s', (value, isOn) => {
  const claude = byId('claude')
  const switched = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: value }
  const codes = findingsOn(claude, claudeHome({}, switched)).map(({ code }) => code)
  expect(codes).toEqual(isOn ? ['claude-discovery-suppressed'] : [])
  const loud = claudeHome({}, { ...switched, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' })
  const { discoverModels = false } = readValues(claude, aMachine(), loud)
  expect(discoverModels).toBe(isOn)
})

test('a gateway of repoint on this machine is not reported as the proxy of another tool', () => {
  const disk = claudeHome({}, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3456' })
  const context = { writtenBaseUrls: ['http://127.0.0.1:3456'] }
  expect(findingsOn(byId('claude'), disk, aMachine(), context)).toEqual([])
})
