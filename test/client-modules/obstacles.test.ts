import { describe, expect, test } from 'vitest'
import type { Scene } from '../../src/clients/client.ts'
import { planRepairs } from '../../src/clients/repairs.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  type Disk,
  obstaclesOn,
  planOn,
  type Setup,
  textsOf,
  written,
} from './support.ts'

/** A working pair or file of each client, and what to put in its place. */
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

interface Case {
  readonly code: string
  readonly disk: Disk
  readonly machine?: Partial<Machine>
  readonly context?: Partial<Scene>
  /** Of the only obstacle of that code; the home folder is `~`. */
  readonly place: string
  readonly weight: 'blocks' | 'may-block'
  /** `none`: outside of what we may write. */
  readonly repair: 'consent' | 'plain' | 'none'
}

const profile = (path: string, text: string) => ({ shellProfiles: [{ path, text }] })

const codexCases: Case[] = [
  {
    code: 'codex-config-invalid',
    disk: { ...codexAuth, '.codex/config.toml': 'model = "a"\nmodel = "b"\n' },
    place: '~/.codex/config.toml',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-old-conversations',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(/^openai_base_url.*\n/m, ''),
    },
    context: { ownRoots: ['https://gw.example/v1'] },
    place: '~/.codex/config.toml',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-old-conversations',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('https://gw', 'https://user:secret@other'),
    },
    context: { ownRoots: ['https://gw.example/v1'] },
    place: '~/.codex/config.toml:3',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-model-migrated',
    disk: {
      ...codexAuth,
      '.codex/config.toml': `${codexConfig.replace(/^model = .*$/m, 'model = "gpt-6-sol"')}
[notice.model_migrations]
"gpt-5.6-sol" = "gpt-6-sol"
`,
    },
    context: { ownRoots: ['https://gw.example/v1'], knownModels: ['gpt-5.6-sol'] },
    place: '~/.codex/config.toml:1',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-credential-store',
    disk: codexHome('', 'cli_auth_credentials_store = "keyring"\n'),
    place: '~/.codex/config.toml:1',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-credential-store',
    disk: codexHome('', '\ncli_auth_credentials_store = "ephemeral"\n'),
    place: '~/.codex/config.toml:2',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-forced-login',
    disk: codexHome('', 'forced_login_method = "chatgpt"\n'),
    place: '~/.codex/config.toml:1',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'codex-legacy-profile',
    disk: codexHome('', 'profile = "x"\n'),
    place: '~/.codex/config.toml:1',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-profile',
    disk: codexHome('\n[profiles.x]\nmodel = "y"\n'),
    place: '~/.codex/config.toml:11',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'codex-profile',
    disk: { ...codexHome(), '.codex/deep.config.toml': 'model = "y"\n' },
    place: '~/.codex/deep.config.toml:1',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'codex-chat-wire',
    disk: codexHome('\n[model_providers.old]\nname = "Old"\nwire_api = "chat"\n'),
    place: '~/.codex/config.toml:13',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-reserved-provider',
    disk: codexHome('\n[model_providers.openai]\nname = "x"\n[model_providers.openai.a]\nb = 1\n'),
    place: '~/.codex/config.toml:11',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'codex-environment-key',
    disk: codexHome(),
    machine: { env: { CODEX_API_KEY: 'sk-env' } },
    place: 'environment',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-environment-key',
    disk: codexHome(),
    context: profile('/home/ada/.zshrc', '# mine\nexport CODEX_API_KEY=sk-env\n'),
    place: '~/.zshrc:2',
    weight: 'blocks',
    repair: 'none',
  },
  ...['env_key = "K"', 'experimental_bearer_token = "sk-x"', 'auth = { command = "x" }'].map(
    (line): Case => ({
      code: 'codex-provider-auth',
      disk: codexHome(`${line}\n`),
      place: '~/.codex/config.toml:10',
      weight: 'blocks',
      repair: 'consent',
    }),
  ),
  {
    code: 'codex-no-auth',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('requires_openai_auth = true\n', ''),
    },
    place: '~/.codex/config.toml:4',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-login',
    disk: {
      ...codexHome(),
      '.codex/auth.json':
        '{"auth_mode":"chatgpt","OPENAI_API_KEY":"sk-a","tokens":{"access_token":"t"}}',
    },
    place: '~/.codex/auth.json',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'codex-login',
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{}}' },
    place: '~/.codex/auth.json',
    weight: 'blocks',
    repair: 'none',
  },
  ...[
    '\uFEFF{"OPENAI_API_KEY":"sk-a"}',
    '{"OPENAI_API_KEY":"sk-a"} // mine',
    '{"OPENAI_API',
    '',
  ].map(
    (content): Case => ({
      code: 'codex-auth-unreadable',
      disk: { ...codexHome(), '.codex/auth.json': content },
      place: '~/.codex/auth.json',
      weight: 'blocks',
      repair: 'none',
    }),
  ),
  {
    code: 'codex-auth-unreadable',
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a\\n"}' },
    place: '~/.codex/auth.json',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-managed-config',
    disk: { ...codexHome(), '/etc/codex/managed_config.toml': 'model_provider = "x"\n' },
    place: '/etc/codex/managed_config.toml:1',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-system-config',
    disk: {
      ...codexHome(),
      '/etc/codex/config.toml': 'cli_auth_credentials_store = "ephemeral"\n',
    },
    place: '/etc/codex/config.toml',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-project-config',
    disk: {
      ...codexHome(),
      '/home/ada/work/.codex/config.toml': 'openai_base_url = "https://evil.example"\n',
    },
    place: '~/work/.codex/config.toml:1',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-project-config',
    disk: {
      ...codexHome(),
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/.codex/config.toml': '\nmodel = "x"\n',
    },
    machine: { cwd: '/home/ada/work/deep/in' },
    place: '~/work/.codex/config.toml:2',
    weight: 'may-block',
    repair: 'none',
  },
]

const left = (lines: string) => codexHome(`\n[model_providers.left]\n${lines}\n`)
codexCases.push(
  {
    code: 'codex-nameless-provider',
    disk: left('http_headers = { a = "b" }'),
    place: '~/.codex/config.toml:11',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-nameless-provider',
    disk: left('name = " "\nbase_url = "https://x.example/v1"'),
    place: '~/.codex/config.toml:11',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-nameless-provider',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace('name = "Gateway"\n', ''),
    },
    place: '~/.codex/config.toml:4',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'codex-no-address',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(/^base_url.*\n/m, ''),
    },
    place: '~/.codex/config.toml:4',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-provider-missing',
    disk: { ...codexAuth, '.codex/config.toml': '\nmodel_provider = "gone"\n' },
    place: '~/.codex/config.toml:2',
    weight: 'blocks',
    repair: 'none',
  },
  ...['{}', '{"OPENAI_API_KEY":null}', '{"GLM_API_KEY":"sk-zcf"}'].map(
    (content): Case => ({
      code: 'codex-no-key',
      disk: { ...codexHome(), '.codex/auth.json': content },
      place: '~/.codex/auth.json',
      weight: 'blocks',
      repair: 'none',
    }),
  ),
  {
    code: 'codex-placeholder-key',
    disk: { ...codexHome(), '.codex/auth.json': '{"OPENAI_API_KEY":"PROXY_MANAGED"}' },
    place: '~/.codex/auth.json',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'codex-local-proxy',
    disk: {
      ...codexAuth,
      '.codex/config.toml': codexConfig.replace(
        /^base_url.*/m,
        'base_url = "http://127.0.0.1:15721/v1"',
      ),
    },
    place: '~/.codex/config.toml:6',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'codex-relative-home',
    disk: { 'work/c/config.toml': '' },
    machine: { env: { CODEX_HOME: 'c' } },
    place: 'environment',
    weight: 'may-block',
    repair: 'none',
  },
)

const claudeCases: Case[] = [
  ...['{\n  // mine\n  "model": "opus"\n}', '{"model":"opus",}'].map(
    (content): Case => ({
      code: 'claude-settings-skipped',
      disk: { '.claude/settings.json': content },
      place: '~/.claude/settings.json',
      weight: 'blocks',
      repair: 'consent',
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
      code: 'claude-settings-skipped',
      disk: { '.claude/settings.json': content },
      place: '~/.claude/settings.json',
      weight: 'blocks',
      repair: 'none',
    }),
  ),
  {
    code: 'claude-api-key',
    disk: claudeHome({}, { ANTHROPIC_API_KEY: 'sk-ant' }),
    place: '~/.claude/settings.json:6',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'claude-api-key-helper',
    disk: claudeHome({ apiKeyHelper: '/bin/helper' }),
    place: '~/.claude/settings.json:8',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'claude-custom-headers',
    disk: claudeHome({}, { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nx-api-key: sk' }),
    place: '~/.claude/settings.json:6',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'claude-service-switch',
    disk: claudeHome({}, { CLAUDE_CODE_USE_VERTEX: '1' }),
    place: '~/.claude/settings.json:6',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'claude-environment-model',
    disk: claudeHome({}, { ANTHROPIC_MODEL: 'x' }),
    place: '~/.claude/settings.json:6',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'claude-small-fast-model',
    disk: claudeHome({}, { ANTHROPIC_SMALL_FAST_MODEL: 'x' }),
    place: '~/.claude/settings.json:6',
    weight: 'may-block',
    repair: 'consent',
  },
  {
    code: 'claude-model-default',
    disk: claudeHome({ model: 'default' }),
    place: '~/.claude/settings.json:7',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'claude-base-url-version',
    disk: claudeHome({}, { ANTHROPIC_BASE_URL: 'https://gw.example/v1/' }),
    place: '~/.claude/settings.json:4',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'claude-login-leak',
    disk: {
      ...claudeHome({}, { ANTHROPIC_AUTH_TOKEN: '' }),
      '.claude/.credentials.json': '{"claudeAiOauth":{}}',
    },
    place: '~/.claude/settings.json:4',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'claude-discovery-suppressed',
    disk: claudeHome({}, { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' }),
    place: '~/.claude/settings.json:5',
    weight: 'may-block',
    repair: 'plain',
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
      code: 'claude-shell-variable',
      disk: claudeHome(),
      machine: { env: { [name]: '1' } },
      place: 'environment',
      weight: 'blocks',
      repair: 'plain',
    }),
  ),
  {
    code: 'claude-shell-variable',
    disk: claudeHome(),
    machine: { env: { ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer x' } },
    place: 'environment',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'claude-shell-variable',
    disk: claudeHome(),
    context: profile(
      '/home/ada/.config/fish/config.fish',
      'set -gx EDITOR vi\nset -gx ANTHROPIC_API_KEY sk\n',
    ),
    place: '~/.config/fish/config.fish:2',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'claude-proxy',
    disk: claudeHome({}, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000' }),
    machine: { env: { HTTP_PROXY: 'http://proxy:3128', NO_PROXY: 'internal' } },
    place: 'environment',
    weight: 'blocks',
    repair: 'plain',
  },
  {
    code: 'claude-project-settings',
    disk: { ...claudeHome(), '/home/ada/work/.claude/settings.local.json': '{\n"model":"x"}' },
    place: '~/work/.claude/settings.local.json:2',
    weight: 'may-block',
    repair: 'none',
  },
  ...[
    '{"env":{"ANTHROPIC_BASE_URL":"https://evil.example"}}',
    '{"apiKeyHelper":"curl https://evil.example"}',
  ].map(
    (settings): Case => ({
      code: 'claude-project-settings',
      disk: { ...claudeHome(), '/home/ada/work/.claude/settings.json': settings },
      place: '~/work/.claude/settings.json:1',
      weight: 'blocks',
      repair: 'none',
    }),
  ),
  {
    code: 'claude-managed-settings',
    disk: {
      ...claudeHome(),
      '/etc/claude-code/managed-settings.d/10.json': '{"env":{"ANTHROPIC_BASE_URL":"https://x"}}',
    },
    place: '/etc/claude-code/managed-settings.d/10.json:1',
    weight: 'blocks',
    repair: 'none',
  },
]

claudeCases.push(
  {
    code: 'claude-login-key',
    disk: { ...claudeHome(), '.claude.json': '{\n "primaryApiKey": "sk-ant-api03-users-own"\n}' },
    place: '~/.claude.json:2',
    weight: 'blocks',
    repair: 'none',
  },
  ...['PROXY_MANAGED', 'ccs-internal-managed', 'proxy-placeholder'].map(
    (token): Case => ({
      code: 'claude-placeholder-key',
      disk: claudeHome({}, { ANTHROPIC_AUTH_TOKEN: token }),
      place: '~/.claude/settings.json:3',
      weight: 'blocks',
      repair: 'none',
    }),
  ),
  ...['http://127.0.0.1:3456', 'http://localhost:15721/', 'http://[::1]:8317/api/provider/x'].map(
    (url): Case => ({
      code: 'claude-local-proxy',
      disk: claudeHome({}, { ANTHROPIC_BASE_URL: url }),
      place: '~/.claude/settings.json:4',
      weight: 'may-block',
      repair: 'none',
    }),
  ),
  {
    code: 'claude-local-proxy',
    disk: {},
    machine: { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3456' } },
    place: 'environment',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'claude-empty-folder',
    disk: claudeHome(),
    machine: { env: { CLAUDE_CONFIG_DIR: '' } },
    place: 'environment',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'claude-relative-folder',
    disk: {},
    machine: { env: { CLAUDE_CONFIG_DIR: 'cc' } },
    place: 'environment',
    weight: 'may-block',
    repair: 'none',
  },
)

const opencodeCases: Case[] = [
  {
    code: 'opencode-config-invalid',
    disk: { ...opencodeHome(), '.config/opencode/config.json': '{"model":' },
    place: '~/.config/opencode/config.json',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-newer-keys',
    disk: opencodeHome({ permissions: {} }),
    place: '~/.config/opencode/opencode.json:16',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-auth-unreadable',
    disk: {
      ...opencodeHome(),
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"sk-a"},}',
    },
    place: '~/.local/share/opencode/auth.json',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'opencode-api-key',
    disk: opencodeHome({}, { options: { baseURL: 'https://gw.example/v1', apiKey: '{env:NO}' } }),
    place: '~/.config/opencode/opencode.json:7',
    weight: 'blocks',
    repair: 'consent',
  },
  {
    code: 'opencode-api-key',
    disk: {
      ...opencodeHome(),
      '.config/opencode/config.json': '{"provider":{"gateway":{"options":{"apiKey":""}}}}',
    },
    place: '~/.config/opencode/config.json:1',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-model-unlisted',
    disk: opencodeHome({ model: 'gateway/other' }),
    place: '~/.config/opencode/opencode.json:14',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-no-key',
    disk: { ...opencodeHome(), '.local/share/opencode/auth.json': '{}' },
    place: '~/.local/share/opencode/auth.json',
    weight: 'blocks',
    repair: 'none',
  },
  ...[{ enabled_providers: ['anthropic'] }, { disabled_providers: ['gateway'] }].map(
    (more): Case => ({
      code: 'opencode-hidden',
      disk: opencodeHome(more),
      place: '~/.config/opencode/opencode.json:16',
      weight: 'blocks',
      repair: 'plain',
    }),
  ),
  ...[{ whitelist: ['small'] }, { blacklist: ['big'] }].map(
    (more): Case => ({
      code: 'opencode-hidden',
      disk: opencodeHome({}, more),
      place: '~/.config/opencode/opencode.json:12',
      weight: 'blocks',
      repair: 'plain',
    }),
  ),
  {
    code: 'opencode-agent-model',
    disk: opencodeHome({ agent: { build: { model: 'anthropic/x' } } }),
    place: '~/.config/opencode/opencode.json:18',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'opencode-environment-auth',
    disk: opencodeHome(),
    machine: { env: { OPENCODE_AUTH_CONTENT: '{}' } },
    place: 'environment',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-environment-config',
    disk: opencodeHome(),
    machine: { env: { OPENCODE_CONFIG_CONTENT: '{}' } },
    place: 'environment',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'opencode-project-config',
    disk: { ...opencodeHome(), '/home/ada/opencode.json': '{"model":"x/y"}' },
    place: '~/opencode.json:1',
    weight: 'may-block',
    repair: 'none',
  },
  ...(
    [
      ['blocks', '{"provider":{"gateway":{"options":{"baseURL":"https://evil.example/v1"}}}}'],
      ['may-block', '{"plugin":["./evil.js"]}'],
    ] as const
  ).map(
    ([weight, config]): Case => ({
      code: 'opencode-project-config',
      disk: { ...opencodeHome(), '/home/ada/opencode.json': config },
      place: '~/opencode.json:1',
      weight,
      repair: 'none',
    }),
  ),
  {
    code: 'opencode-project-code',
    disk: { ...opencodeHome(), '/home/ada/work/.opencode/plugin/evil.js': 'export {}' },
    place: '~/work/.opencode/plugin/evil.js',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'opencode-upper-config',
    disk: { ...opencodeHome(), '/srv/oc/opencode.jsonc': '{"model":"x/y"}' },
    machine: { env: { OPENCODE_CONFIG_DIR: '/srv/oc' } },
    place: '/srv/oc/opencode.jsonc:1',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'opencode-managed-config',
    disk: { ...opencodeHome(), '/etc/opencode/opencode.json': '{"model":"x/y"}' },
    place: '/etc/opencode/opencode.json:1',
    weight: 'may-block',
    repair: 'none',
  },
]

opencodeCases.push(
  {
    code: 'opencode-placeholder-key',
    disk: {
      ...opencodeHome(),
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"PROXY_MANAGED"}}',
    },
    place: '~/.local/share/opencode/auth.json',
    weight: 'blocks',
    repair: 'none',
  },
  {
    code: 'opencode-local-proxy',
    disk: opencodeHome({}, { options: { baseURL: 'http://127.0.0.1:15721/v1' } }),
    place: '~/.config/opencode/opencode.json:6',
    weight: 'may-block',
    repair: 'none',
  },
  {
    code: 'opencode-relative-folder',
    disk: {},
    machine: { env: { XDG_DATA_HOME: 'd' } },
    place: 'environment',
    weight: 'may-block',
    repair: 'none',
  },
)

describe.each([
  ['codex', codexCases],
  ['claude', claudeCases],
  ['opencode', opencodeCases],
] as const)('%s obstacles', (id, cases) => {
  const client = byId(id)
  const healthy = { codex: codexHome(), claude: claudeHome(), opencode: opencodeHome() }[id]

  test('a working configuration has none', () => {
    expect(obstaclesOn(client, healthy)).toEqual([])
  })

  test.each(cases.map((one) => [`${one.code} at ${one.place}`, one] as const))(
    'finds %s, and its repair removes it',
    (_, { code, disk, machine: changes, context, place, weight, repair }) => {
      const machine = aMachine(changes)
      const found = obstaclesOn(client, disk, machine, context).filter((one) => one.code === code)
      expect(found).toHaveLength(1)
      const [obstacle] = found
      expect(obstacle!.place.replace(machine.home, '~')).toBe(place)
      expect(obstacle!.weight).toBe(weight)
      if (repair === 'none') {
        expect(obstacle!.repair).toBeUndefined()
        return
      }
      expect(obstacle!.needsConsent === undefined ? 'plain' : 'consent').toBe(repair)
      expect(obstacle!.needsConsent ?? 'A sentence.').toMatch(/\.$/)
      const texts = textsOf(client, machine, disk)
      const edits = planRepairs(client, texts, [obstacle!.repair!])
      const mended = written(disk, machine, edits)
      const left = obstaclesOn(client, mended, machine, context)
      expect(left.filter((one) => one.code === code)).toEqual([])
    },
  )
})

describe('obstacles that only a setup has', () => {
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
  test.each(cases)('%s: %s', (id, code, disk, setup) => {
    const { obstacles } = planOn(byId(id), disk, setup)
    expect(obstacles.map((one) => one.code)).toContain(code)
  })

  test('a password in an address is not shown', () => {
    const disk = cases.find(([, code]) => code === 'opencode-provider-conflict')![2]
    expect(JSON.stringify(planOn(byId('opencode'), disk).obstacles)).not.toContain('pw')
  })

  test.each([
    'https://me:pw@other.example/v1?key=pw#pw',
    'https://me:p@pw@other.example',
    'https://me:pw/?#pw@other.example/v1',
    'me:pw@other.example?k=pw',
  ])('nothing secret of an address is shown: %s', (url) => {
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
      const { obstacles } = planOn(byId(id), disk)
      expect(JSON.stringify(obstacles)).toContain('other.example')
      expect(JSON.stringify(obstacles)).not.toContain('pw')
    }
  })

  test.each<readonly [string, string, string, Disk]>([
    [
      'codex',
      'codex-login',
      'Your ChatGPT login in auth.json will be replaced by the key; rollback brings it back.',
      { '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}' },
    ],
    [
      'codex',
      'codex-other-key',
      'The API key in auth.json will be replaced; rollback brings it back.',
      codexAuth,
    ],
    [
      'codex',
      'codex-unread-key',
      'GLM_API_KEY in auth.json will be dropped; rollback brings it back.',
      { '.codex/auth.json': '{"GLM_API_KEY":"sk-zcf"}' },
    ],
    [
      'opencode',
      'opencode-other-key',
      'The login for gateway in auth.json will be replaced; rollback brings it back.',
      { '.local/share/opencode/auth.json': '{"gateway":{"type":"oauth"}}' },
    ],
  ])('%s: %s says what is lost once, and no command that is running', (id, code, consent, disk) => {
    const found = planOn(byId(id), disk).obstacles.filter((one) => one.code === code)
    expect(found).toMatchObject([{ needsConsent: consent }])
    expect(`${found[0]!.message} ${found[0]!.cure}`).not.toMatch(
      /repoint (?:codex|opencode)|rollback/,
    )
  })

  test.each(['codex', 'opencode'])('%s: a placeholder is nothing to be asked about', (id) => {
    const { obstacles } = planOn(byId(id), {
      '.codex/auth.json': '{"OPENAI_API_KEY":"PROXY_MANAGED"}',
      '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"PROXY_MANAGED"}}',
    })
    expect(obstacles).toEqual([])
  })

  test('codex: a new key for an address that repoint wrote before needs no consent', () => {
    const { obstacles } = planOn(byId('codex'), codexHome(), {
      choice: { root: 'https://new.example/v1' },
      context: { ownRoots: ['https://gw.example/v1'] },
    })
    expect(obstacles).toEqual([])
  })

  test("codex: a newer model that the gateway has, or that nobody offered, is nobody else's business", () => {
    const answered = '[notice.model_migrations]\n"gpt-5.6-sol" = "gpt-6-sol"\n'
    const found = (answer: string, knownModels: readonly string[]) => {
      const config = codexConfig.replace(/^model = .*$/m, 'model = "gpt-6-sol"') + answer
      const context = { ownRoots: ['https://gw.example/v1'], knownModels }
      const disk = { ...codexAuth, '.codex/config.toml': config }
      return obstaclesOn(byId('codex'), disk, aMachine(), context).map(({ code }) => code)
    }
    expect(found(answered, ['gpt-5.6-sol'])).toEqual(['codex-model-migrated'])
    expect(found(answered, ['gpt-5.6-sol', 'gpt-6-sol'])).toEqual([])
    expect(found('', ['gpt-5.6-sol'])).toEqual([])
  })

  test('claude: a pin that the setup sets itself is no obstacle', () => {
    const { obstacles } = planOn(
      byId('claude-gpt'),
      {},
      {
        machine: aMachine({ env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'x' } }),
      },
    )
    expect(obstacles).toEqual([])
  })
})

describe('a client that is not pointed at a gateway has no obstacles', () => {
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
      'a login that is kept and forced elsewhere',
      {
        '.codex/config.toml':
          'cli_auth_credentials_store = "keyring"\nforced_login_method = "chatgpt"\n',
      },
    ],
    [
      'codex',
      'settings of the provider that has some',
      { '.codex/config.toml': '[model_providers.amazon-bedrock.aws]\nregion = "eu-west-1"\n' },
    ],
    [
      'codex',
      'a provider of its own with a key of its own',
      {
        '.codex/config.toml':
          'model_provider = "x"\n[model_providers.x]\nname = "X"\nbase_url = "https://x.example/v1"\nenv_key = "X_KEY"\n',
      },
    ],
    ['claude', 'a model', { '.claude/settings.json': '{"model":"opus"}' }],
    ['claude', 'the default model', { '.claude/settings.json': '{"model":"default"}' }],
    [
      'claude',
      'a login of the console',
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
      'a list that does not name the gateway',
      opencodeDisk({ enabled_providers: ['anthropic'] }),
    ],
  ]
  test.each(cases)('%s: %s', (id, _, disk) => {
    const machine = id === 'codex' || id === 'claude' ? shell : aMachine()
    expect(obstaclesOn(byId(id), disk, machine)).toEqual([])
  })

  const custom = (options: object, more: object = {}) =>
    opencodeDisk({ model: 'x/m', provider: { x: { options, models: { m: {} }, ...more } } }, '{}')
  test.each<readonly [string, Disk]>([
    ['inline', custom({ baseURL: 'https://x.example/v1', apiKey: 'sk-a' })],
    ['in a variable', custom({ baseURL: 'https://x.example/v1', apiKey: '{env:X_KEY}' })],
    ['in a named variable', custom({ baseURL: 'https://x.example/v1' }, { env: ['X_KEY'] })],
    ['not needed', custom({ baseURL: 'http://127.0.0.1:11434/v1' })],
  ])('opencode: a provider of one`s own whose key is %s', (_, disk) => {
    const machine = aMachine({ env: { X_KEY: 'sk-a' } })
    expect(obstaclesOn(byId('opencode'), disk, machine)).toEqual([])
  })

  test('opencode: a variable that is not set gives no key', () => {
    const disk = custom({ baseURL: 'https://x.example/v1', apiKey: '{env:X_KEY}' })
    const found = obstaclesOn(byId('opencode'), disk, aMachine())
    expect(found.map(({ code }) => code)).toEqual(['opencode-no-key'])
  })
})

test.each([
  ...['1', 'true', 'TRUE', 'yes', ' on '].map((value) => [value, true] as const),
  ...['', '0', 'false', 'False', 'no', 'off', '2', 'x'].map((value) => [value, false] as const),
])('claude: discovery that is %j is read alike everywhere: on %s', (value, isOn) => {
  const claude = byId('claude')
  const switched = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: value }
  const codes = obstaclesOn(claude, claudeHome({}, switched)).map(({ code }) => code)
  expect(codes).toEqual(isOn ? ['claude-discovery-suppressed'] : [])
  const loud = claudeHome({}, { ...switched, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' })
  const { isDiscovering = false } = claude.readBack(textsOf(claude, aMachine(), loud))
  expect(isDiscovering).toBe(isOn)
})

test('what repoint serves on this machine is no proxy of another tool', () => {
  const disk = claudeHome({}, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3456' })
  const context = { ownRoots: ['http://127.0.0.1:3456'] }
  expect(obstaclesOn(byId('claude'), disk, aMachine(), context)).toEqual([])
})
