import type { SensitiveSettings } from '../contract/config.ts'

/** Run with opencode; Kilo 7.7.9 reads the same keys. */
const tried = '1.18.33, 2026-11-23'
const read = { source: 'read in 1.18.34, 2026-11-23', isUntested: true } as const

/** Files that override the user's own. */
const stronger = ['project', 'upper', 'managed']
const all = ['config', ...stronger]
const folder = ['project']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  rows: [
    { path: 'provider.:provider.options.baseURL', role: 'address', fileKinds: all, source: tried },
    { path: 'provider.:provider.api', role: 'address', fileKinds: stronger, source: tried },
    { path: 'provider.*.models.*.provider', role: 'address', fileKinds: folder, ...read },
    { path: 'enterprise.url', role: 'address', fileKinds: folder, ...read },
    { path: 'provider.:provider.options.apiKey', role: 'key', fileKinds: all, source: tried },
    { path: 'provider.:provider.options.headers', role: 'key', fileKinds: stronger, source: tried },
    { path: 'provider.*.models.*.headers', role: 'key', fileKinds: folder, ...read },
    { path: 'provider.:provider.env', role: 'key', fileKinds: stronger, source: tried },
    { path: ':provider.key', role: 'key', fileKinds: ['auth'], source: tried },
    { path: 'provider.:provider.npm', role: 'provider', fileKinds: all, source: tried },
    {
      path: 'provider.:provider.models.*.provider.npm',
      role: 'provider',
      fileKinds: ['config'],
      source: '1.18.34, 2026-11-26',
    },
    { path: 'model', role: 'model', fileKinds: [...all, 'project-agent'], source: tried },
    { path: 'small_model', role: 'model', fileKinds: all, source: tried },
    { path: 'default_agent', role: 'model', fileKinds: all, source: tried },
    { path: 'agent.*.model', role: 'model', fileKinds: ['config', ...folder], source: tried },
    { path: 'mode.*.model', role: 'model', fileKinds: ['config', ...folder], source: tried },
    { path: 'command.*.model', role: 'model', fileKinds: ['config', ...folder], ...read },
    { path: 'enabled_providers', role: 'model', fileKinds: all, source: tried },
    { path: 'disabled_providers', role: 'model', fileKinds: all, source: tried },
  ],
}
