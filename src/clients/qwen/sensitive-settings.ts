import type { SensitiveSettings } from '../contract/config.ts'

const run = '0.15.10 and 0.24.4, 2026-11-22'

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
    { path: 'modelProviders.*.*.baseUrl', role: 'address', fileKinds: ['settings'], source: run },
    // Its lists replace the user's.
    { path: 'modelProviders', role: 'provider', fileKinds: stronger, source: run },
    { path: 'providerProtocol', role: 'provider', fileKinds: stronger, source: run },
    { path: 'security.auth.selectedType', role: 'provider', fileKinds: stronger, source: run },
    { path: 'security.auth.enforcedType', role: 'provider', fileKinds: stronger, source: run },
    { path: 'security.auth.baseUrl', role: 'address', fileKinds: stronger, source: run },
    { path: 'security.auth.apiKey', role: 'key', fileKinds: stronger, source: run },
    {
      path: 'env.QWEN_GATEWAY_API_KEY',
      role: 'key',
      fileKinds: ['settings', 'managed', ...variables],
      source: run,
    },
    { path: 'proxy', role: 'proxy', fileKinds: folder, source: run },
    { path: 'env.HTTP*_PROXY', role: 'proxy', fileKinds: variables, source: run },
    { path: 'env.NODE_TLS_REJECT_UNAUTHORIZED', role: 'trust', fileKinds: variables, source: run },
    { path: 'model.name', role: 'model', fileKinds: stronger, source: run },
    { path: 'model.baseUrl', role: 'address', fileKinds: ['settings', ...stronger], source: run },
  ],
}
