import type { DecidingTable } from '../client.ts'

/** From 0.79 on a folder's settings count where its owner trusts it; of its providers nothing does. */
const run = '0.60.0 to 0.87.1, 2026-11-22'

const user = ['models']
const folder = ['project']

export const deciding: DecidingTable = {
  called: 'settings',
  rows: [
    { at: 'providers.:provider.baseUrl', decides: 'address', layers: user, seen: run },
    { at: 'providers.:provider.models.*.baseUrl', decides: 'address', layers: user, seen: run },
    { at: 'providers.:provider.apiKey', decides: 'key', layers: user, seen: run },
    { at: 'providers.:provider.authHeader', decides: 'key', layers: user, seen: run },
    { at: 'providers.:provider.api', decides: 'provider', layers: user, seen: run },
    { at: 'defaultProvider', decides: 'model', layers: folder, seen: run },
    { at: 'defaultModel', decides: 'model', layers: folder, seen: run },
    { at: 'enabledModels', decides: 'model', layers: folder, seen: run },
  ],
}
