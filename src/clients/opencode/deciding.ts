import type { DecidingTable } from '../client.ts'

/** opencode; Kilo 7.7.9 reads the same keys. */
const run = '1.18.33, 2026-11-23'
const read = 'read in 1.18.34, 2026-11-23'

const others = ['project', 'upper', 'managed']
const own = ['config', ...others]
const folder = ['project']

export const deciding: DecidingTable = {
  called: 'config',
  rows: [
    { at: 'provider.:provider.options.baseURL', decides: 'address', layers: own, seen: run },
    { at: 'provider.:provider.api', decides: 'address', layers: others, seen: run },
    { at: 'provider.*.models.*.provider', decides: 'address', layers: folder, seen: read },
    { at: 'enterprise.url', decides: 'address', layers: folder, seen: read },
    { at: 'provider.:provider.options.apiKey', decides: 'key', layers: own, seen: run },
    { at: 'provider.:provider.options.headers', decides: 'key', layers: others, seen: run },
    { at: 'provider.*.models.*.headers', decides: 'key', layers: folder, seen: read },
    { at: 'provider.:provider.env', decides: 'key', layers: others, seen: run },
    { at: ':provider.key', decides: 'key', layers: ['auth'], seen: run },
    { at: 'provider.:provider.npm', decides: 'provider', layers: own, seen: run },
    { at: 'model', decides: 'model', layers: [...others, 'project-agent'], seen: run },
    { at: 'small_model', decides: 'model', layers: others, seen: run },
    { at: 'default_agent', decides: 'model', layers: others, seen: run },
    { at: 'agent.*.model', decides: 'model', layers: folder, seen: run },
    { at: 'mode.*.model', decides: 'model', layers: folder, seen: run },
    { at: 'command.*.model', decides: 'model', layers: folder, seen: read },
    { at: 'enabled_providers', decides: 'model', layers: others, seen: run },
    { at: 'disabled_providers', decides: 'model', layers: others, seen: run },
  ],
}
