import type { DecidingTable } from '../client.ts'

const run = '0.15.10 and 0.24.4, 2026-11-22'

const others = ['project', 'managed']
const folder = ['project']
/** Beside an entry that names its key, `OPENAI_BASE_URL` and its like change nothing there. */
const variables = ['project', 'project-env']

export const deciding: DecidingTable = {
  called: 'settings',
  rows: [
    { at: 'modelProviders.*.*.baseUrl', decides: 'address', layers: ['settings'], seen: run },
    // Its lists take the place of the user's.
    { at: 'modelProviders', decides: 'provider', layers: others, seen: run },
    { at: 'providerProtocol', decides: 'provider', layers: others, seen: run },
    { at: 'security.auth.selectedType', decides: 'provider', layers: others, seen: run },
    { at: 'security.auth.enforcedType', decides: 'provider', layers: others, seen: run },
    { at: 'security.auth.baseUrl', decides: 'address', layers: others, seen: run },
    { at: 'security.auth.apiKey', decides: 'key', layers: others, seen: run },
    {
      at: 'env.QWEN_GATEWAY_API_KEY',
      decides: 'key',
      layers: ['settings', 'managed', ...variables],
      seen: run,
    },
    { at: 'proxy', decides: 'proxy', layers: folder, seen: run },
    { at: 'env.HTTP*_PROXY', decides: 'proxy', layers: variables, seen: run },
    { at: 'env.NODE_TLS_REJECT_UNAUTHORIZED', decides: 'trust', layers: variables, seen: run },
    { at: 'model.name', decides: 'model', layers: others, seen: run },
    { at: 'model.baseUrl', decides: 'address', layers: ['settings', ...others], seen: run },
  ],
}

export const qwenName = { id: 'qwen', label: 'Qwen Code', deciding }
