import type { SensitiveSettings } from '../contract/config.ts'

const tried = '0.169.0, 2026-11-21'

const provider = 'model_providers.:provider'

const user = ['config']
/** Files that override the user's own. */
const stronger = ['project', 'managed', 'profile']
const all = [...user, ...stronger]

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  // In a project 0.169.0 reads only `model` of these, and only if the folder is trusted.
  rows: [
    { path: 'openai_base_url', role: 'address', fileKinds: all, source: tried },
    { path: provider, role: 'provider', fileKinds: stronger, source: tried },
    { path: `${provider}.base_url`, role: 'address', fileKinds: user, source: tried },
    { path: `${provider}.query_params`, role: 'address', fileKinds: user, source: tried },
    { path: `${provider}.requires_openai_auth`, role: 'key', fileKinds: user, source: tried },
    { path: `${provider}.env_key`, role: 'key', fileKinds: user, source: tried },
    {
      path: `${provider}.experimental_bearer_token`,
      role: 'key',
      fileKinds: user,
      source: tried,
    },
    { path: `${provider}.auth`, role: 'key', fileKinds: user, source: tried },
    { path: 'model_provider', role: 'provider', fileKinds: all, source: tried },
    { path: 'cli_auth_credentials_store', role: 'key', fileKinds: stronger, source: tried },
    { path: 'forced_login_method', role: 'key', fileKinds: stronger, source: tried },
    { path: 'model', role: 'model', fileKinds: all, source: tried },
  ],
}
