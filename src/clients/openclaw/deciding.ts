import type { DecidingTable } from '../client.ts'

/** A folder's .env counts for what OpenClaw thinks harmless: none of its keys, addresses and proxies. */
const run = '2026.9.5 and 2026.9.6, 2026-11-23'
const read = 'read in 2026.9.6, 2026-11-23'

const provider = 'models.providers.:provider'
const config = ['config']

export const deciding: DecidingTable = {
  called: 'config',
  rows: [
    { at: `${provider}.baseUrl`, decides: 'address', layers: config, seen: run },
    { at: `${provider}.models.*.baseUrl`, decides: 'address', layers: config, seen: read },
    { at: `${provider}.apiKey`, decides: 'key', layers: config, seen: run },
    { at: `${provider}.auth`, decides: 'key', layers: config, seen: run },
    { at: `${provider}.authHeader`, decides: 'key', layers: config, seen: run },
    { at: `${provider}.request`, decides: 'key', layers: config, seen: run },
    { at: `${provider}.api`, decides: 'provider', layers: config, seen: run },
    { at: 'agents.defaults.model', decides: 'model', layers: [], seen: run },
  ],
}
