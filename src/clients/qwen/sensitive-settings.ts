import type { SensitiveSettings } from '../contract/config.ts'

const tried = '0.15.10 and 0.24.4, 2026-11-22'

/** Files that override the user's own. */
const stronger = ['project', 'managed']
const folder = ['project']
/**
 * `OPENAI_BASE_URL` and similar variables have no effect in the user's own file, because our entry names the
 * variable of its key.
 */
const variables = ['project', 'project-env']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'settings',
  rows: [
    { path: 'modelProviders.*.*.baseUrl', role: 'address', fileKinds: ['settings'], source: tried },
    // Its lists replace the user's.
    { path: 'modelProviders', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'providerProtocol', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'security.auth.selectedType', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'security.auth.enforcedType', role: 'provider', fileKinds: stronger, source: tried },
    { path: 'security.auth.baseUrl', role: 'address', fileKinds: stronger, source: tried },
    { path: 'security.auth.apiKey', role: 'key', fileKinds: stronger, source: tried },
    {
      path: 'env.QWEN_GATEWAY_API_KEY',
      role: 'key',
      fileKinds: ['settings', 'managed', ...variables],
      source: tried,
    },
    { path: 'proxy', role: 'proxy', fileKinds: folder, source: tried },
    { path: 'env.HTTP*_PROXY', role: 'proxy', fileKinds: variables, source: tried },
    {
      path: 'env.NODE_TLS_REJECT_UNAUTHORIZED',
      role: 'trust',
      fileKinds: variables,
      source: tried,
    },
    { path: 'model.name', role: 'model', fileKinds: ['settings', ...stronger], source: tried },
    { path: 'model.baseUrl', role: 'address', fileKinds: ['settings', ...stronger], source: tried },
  ],
}
