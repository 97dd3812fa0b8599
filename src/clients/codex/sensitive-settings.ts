import type { SensitiveSettings } from '../client.ts'

/** In a project 0.169.0 reads only `model` of these, and only if the folder is trusted. */
const run = '0.169.0, 2026-11-21'

const provider = 'model_providers.:provider'

const user = ['config']
const others = ['project', 'managed', 'profile']
const own = [...user, ...others]

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  rows: [
    { path: 'openai_base_url', role: 'address', fileKinds: own, source: run },
    { path: provider, role: 'provider', fileKinds: others, source: run },
    { path: `${provider}.base_url`, role: 'address', fileKinds: user, source: run },
    { path: `${provider}.query_params`, role: 'address', fileKinds: user, source: run },
    { path: `${provider}.requires_openai_auth`, role: 'key', fileKinds: user, source: run },
    { path: `${provider}.env_key`, role: 'key', fileKinds: user, source: run },
    { path: `${provider}.experimental_bearer_token`, role: 'key', fileKinds: user, source: run },
    { path: `${provider}.auth`, role: 'key', fileKinds: user, source: run },
    { path: 'model_provider', role: 'provider', fileKinds: own, source: run },
    { path: 'cli_auth_credentials_store', role: 'key', fileKinds: others, source: run },
    { path: 'forced_login_method', role: 'key', fileKinds: others, source: run },
    { path: 'model', role: 'model', fileKinds: others, source: run },
  ],
}
