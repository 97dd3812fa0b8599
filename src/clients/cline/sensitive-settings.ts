import type { SensitiveSettings } from '../contract/config.ts'
import { providerId } from './providers.ts'

const tried = '3.0.57 and 3.0.65, 2026-11-23'
const newest = '3.0.65, 2026-11-23'

const all = ['providers']
/** Cline's runtime, Bun, reads these files before Cline starts; the environment overrides them. */
const variables = ['project-env']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  providerTable: () => providerId,
  rows: [
    {
      path: 'providers.:provider.settings.baseUrl',
      role: 'address',
      fileKinds: all,
      source: tried,
    },
    { path: 'providers.:provider.settings.apiKey', role: 'key', fileKinds: all, source: tried },
    // Cline sends an access token instead of the key.
    { path: 'providers.:provider.settings.auth', role: 'key', fileKinds: all, source: tried },
    { path: 'lastUsedProvider', role: 'model', fileKinds: all, source: tried },
    { path: 'providers.:provider.settings.model', role: 'model', fileKinds: all, source: tried },
    // CLINE_DIR, CLINE_DATA_DIR, CLINE_PROVIDER_SETTINGS_PATH and CLINE_SANDBOX select other settings.
    { path: 'env.CLINE_*', role: 'provider', fileKinds: variables, source: newest },
    { path: 'env.HTTP*_PROXY', role: 'proxy', fileKinds: variables, source: newest },
    {
      path: 'env.NODE_TLS_REJECT_UNAUTHORIZED',
      role: 'trust',
      fileKinds: variables,
      source: newest,
    },
  ],
}
