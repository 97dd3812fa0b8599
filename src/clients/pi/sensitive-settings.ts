import type { SensitiveSettings } from '../contract/config.ts'

/** From 0.79 on pi reads a folder's settings only if the user trusts it; it reads no providers there. */
const tried = '0.60.0 to 0.87.1, 2026-11-22'

const user = ['models']
const folder = ['project']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  rows: [
    { path: 'providers.:provider.baseUrl', role: 'address', fileKinds: user, source: tried },
    {
      path: 'providers.:provider.models.*.baseUrl',
      role: 'address',
      fileKinds: user,
      source: tried,
    },
    { path: 'providers.:provider.apiKey', role: 'key', fileKinds: user, source: tried },
    { path: 'providers.:provider.authHeader', role: 'key', fileKinds: user, source: tried },
    { path: 'providers.:provider.api', role: 'provider', fileKinds: user, source: tried },
    { path: 'defaultProvider', role: 'model', fileKinds: ['settings', ...folder], source: tried },
    { path: 'defaultModel', role: 'model', fileKinds: ['settings', ...folder], source: tried },
    { path: 'enabledModels', role: 'model', fileKinds: ['settings', ...folder], source: tried },
  ],
}
