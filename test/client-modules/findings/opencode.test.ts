import { type Case, expected, testFindings } from './case.ts'
import { opencodeHome } from './homes.ts'

const cases: readonly Case[] = [
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
]

testFindings('opencode', opencodeHome(), cases)
