import type { SensitiveSettings } from '../contract/config.ts'

/**
 * From a folder's .env, OpenClaw takes only what it considers harmless: none of its keys, addresses and
 * proxies.
 */
const tried = '2026.9.5 and 2026.9.6, 2026-11-23'
const read = 'read in 2026.9.6, 2026-11-23'

const provider = 'models.providers.:provider'
const config = ['config']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  rows: [
    { path: `${provider}.baseUrl`, role: 'address', fileKinds: config, source: tried },
    { path: `${provider}.models.*.baseUrl`, role: 'address', fileKinds: config, source: read },
    { path: `${provider}.apiKey`, role: 'key', fileKinds: config, source: tried },
    { path: `${provider}.auth`, role: 'key', fileKinds: config, source: tried },
    { path: `${provider}.authHeader`, role: 'key', fileKinds: config, source: tried },
    { path: `${provider}.request`, role: 'key', fileKinds: config, source: tried },
    { path: `${provider}.api`, role: 'provider', fileKinds: config, source: tried },
    { path: 'agents.defaults.model', role: 'model', fileKinds: config, source: tried },
  ],
}
