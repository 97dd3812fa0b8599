import type { DecidingTable } from '../client.ts'
import { providerId } from './providers.ts'

const run = '3.0.57 and 3.0.65, 2026-11-23'
const newest = '3.0.65, 2026-11-23'

const own = ['providers']
/** Read by its runtime, Bun, before Cline starts; what the environment says already wins over it. */
const variables = ['project-env']

export const deciding: DecidingTable = {
  called: 'settings',
  nameOf: () => providerId,
  rows: [
    { at: 'providers.:provider.settings.baseUrl', decides: 'address', layers: own, seen: run },
    { at: 'providers.:provider.settings.apiKey', decides: 'key', layers: own, seen: run },
    // An access token goes out in the place of the key.
    { at: 'providers.:provider.settings.auth', decides: 'key', layers: own, seen: run },
    { at: 'lastUsedProvider', decides: 'model', layers: [], seen: run },
    { at: 'providers.:provider.settings.model', decides: 'model', layers: [], seen: run },
    // CLINE_DIR, CLINE_DATA_DIR, CLINE_PROVIDER_SETTINGS_PATH and CLINE_SANDBOX lead to other settings.
    { at: 'env.CLINE_*', decides: 'provider', layers: variables, seen: newest },
    { at: 'env.HTTP*_PROXY', decides: 'proxy', layers: variables, seen: newest },
    { at: 'env.NODE_TLS_REJECT_UNAUTHORIZED', decides: 'trust', layers: variables, seen: newest },
  ],
}

export const clineName = { id: 'cline', label: 'Cline', deciding }
