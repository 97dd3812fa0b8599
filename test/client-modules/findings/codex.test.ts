import type { Disk } from '../support.ts'
import { type Case, expected, profile, testFindings } from './case.ts'
import { codexAuth, codexConfig, codexHome } from './homes.ts'

const withTable = (lines: string) => codexHome(`\n[model_providers.left]\n${lines}\n`)

const changedHome = (from: string | RegExp, to: string): Disk => ({
  ...codexAuth,
  '.codex/config.toml': codexConfig.replace(from, to),
})

const cases: readonly Case[] = [
  {
    ...expected('codex-config-invalid', '~/.codex/config.toml', 'error', 'none'),
    disk: { ...codexAuth, '.codex/config.toml': 'model = "a"\nmodel = "b"\n' },
  },
  {
    ...expected('codex-old-conversations', '~/.codex/config.toml', 'error', 'plain'),
    disk: changedHome(/^openai_base_url.*\n/m, ''),
    context: { writtenBaseUrls: ['https://gw.example/v1'] },
  },
  {
    ...expected('codex-old-conversations', '~/.codex/config.toml:3', 'error', 'plain'),
    disk: changedHome('https://gw', 'https://user:secret@other'),
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
  {
    ...expected('codex-environment-identity', 'environment', 'error', 'none'),
    disk: codexHome(),
    machine: { env: { OPENAI_IDENTITY_TOKEN_FILE: '/x' } },
  },
  ...['env_key = "K"', 'experimental_bearer_token = "sk-x"', 'auth = { command = "x" }'].map(
    (line): Case => ({
      ...expected('codex-provider-auth', '~/.codex/config.toml:10', 'error', 'consent'),
      disk: codexHome(`${line}\n`),
      context: { writtenBaseUrls: ['https://gw.example/v1'] },
    }),
  ),
  {
    ...expected('codex-remote-compaction', '~/.codex/config.toml:5', 'warning', 'plain'),
    disk: changedHome(/^name = .*$/m, 'name = "OpenAI"'),
  },
  {
    ...expected('codex-auth-combined', '~/.codex/config.toml:15', 'error', 'none'),
    disk: withTable(
      'name = "Left"\nbase_url = "http://127.0.0.1:9/v1"\nrequires_openai_auth = true\nauth = { command = "x" }',
    ),
  },
  {
    ...expected('codex-no-auth', '~/.codex/config.toml:4', 'error', 'plain'),
    disk: changedHome('requires_openai_auth = true\n', ''),
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
    ...expected('codex-project-config', '~/work/.codex/config.toml:2', 'warning', 'none'),
    disk: {
      ...codexHome(),
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/.codex/config.toml': '\nmodel = "x"\n',
    },
    machine: { cwd: '/home/ada/work/deep/in' },
  },
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
    disk: changedHome('name = "Gateway"\n', ''),
  },
  {
    ...expected('codex-no-address', '~/.codex/config.toml:4', 'error', 'none'),
    disk: changedHome(/^base_url.*\n/m, ''),
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
    disk: changedHome(/^base_url.*/m, 'base_url = "http://127.0.0.1:15721/v1"'),
  },
  ...['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].map(
    (name): Case => ({
      ...expected('codex-proxy', 'environment', 'error', 'none'),
      disk: {
        ...codexAuth,
        '.codex/config.toml': codexConfig.replaceAll('https://gw.example', 'http://127.0.0.1:8080'),
      },
      machine: { env: { [name]: 'http://proxy:3128', NO_PROXY: 'internal' } },
    }),
  ),
  {
    ...expected('codex-relative-home', 'environment', 'warning', 'none'),
    disk: { 'work/c/config.toml': '' },
    machine: { env: { CODEX_HOME: 'c' } },
  },
]

testFindings('codex', codexHome(), cases)
