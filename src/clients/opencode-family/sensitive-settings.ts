import type { SensitiveSettings } from '../contract/config.ts'

/** Run with opencode; Kilo 7.7.9 reads the same keys. */
const run = '1.18.33, 2026-11-23'
const read = 'read in 1.18.34, 2026-11-23'

/** Files that override the user's own. */
const stronger = ['project', 'upper', 'managed']
const all = ['config', ...stronger]
const folder = ['project']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  rows: [
    { path: 'provider.:provider.options.baseURL', role: 'address', fileKinds: all, source: run },
    { path: 'provider.:provider.api', role: 'address', fileKinds: stronger, source: run },
    { path: 'provider.*.models.*.provider', role: 'address', fileKinds: folder, source: read },
    { path: 'enterprise.url', role: 'address', fileKinds: folder, source: read },
    { path: 'provider.:provider.options.apiKey', role: 'key', fileKinds: all, source: run },
    { path: 'provider.:provider.options.headers', role: 'key', fileKinds: stronger, source: run },
    { path: 'provider.*.models.*.headers', role: 'key', fileKinds: folder, source: read },
    { path: 'provider.:provider.env', role: 'key', fileKinds: stronger, source: run },
    { path: ':provider.key', role: 'key', fileKinds: ['auth'], source: run },
    { path: 'provider.:provider.npm', role: 'provider', fileKinds: all, source: run },
    {
      path: 'provider.:provider.models.*.provider.npm',
      role: 'provider',
      fileKinds: ['config'],
      source: '1.18.34, 2026-11-26',
    },
    { path: 'model', role: 'model', fileKinds: [...stronger, 'project-agent'], source: run },
    { path: 'small_model', role: 'model', fileKinds: stronger, source: run },
    { path: 'default_agent', role: 'model', fileKinds: stronger, source: run },
    { path: 'agent.*.model', role: 'model', fileKinds: folder, source: run },
    { path: 'mode.*.model', role: 'model', fileKinds: folder, source: run },
    { path: 'command.*.model', role: 'model', fileKinds: folder, source: read },
    { path: 'enabled_providers', role: 'model', fileKinds: stronger, source: run },
    { path: 'disabled_providers', role: 'model', fileKinds: stronger, source: run },
  ],
}
