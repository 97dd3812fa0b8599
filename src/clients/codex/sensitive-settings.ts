import type { SensitiveSettings } from '../contract/config.ts'

const tried = '0.169.0, 2026-11-21'

const provider = 'model_providers.:provider'

/** From 0.129.0 on, Codex says "Ignored unsupported project-local config keys" (0.128.0 to 0.171.0 run, 2026-11-28). */
const ofOldProjects = {
  fileKinds: ['project'],
  before: '0.129.0',
  source: '0.105.0 to 0.128.0, 2026-11-28',
}

const user = ['config']
/** Files that override the user's own. */
const stronger = ['managed', 'profile']

export const sensitiveSettings: SensitiveSettings = {
  codeWord: 'config',
  // In a project Codex reads them only if the folder is trusted.
  rows: [
    { path: 'openai_base_url', role: 'address', fileKinds: [...user, ...stronger], source: tried },
    { path: 'openai_base_url', role: 'address', ...ofOldProjects },
    {
      path: 'experimental_realtime_ws_base_url',
      role: 'address',
      fileKinds: user,
      isUntested: true,
      source: 'program of 0.171.0, 2026-11-29',
    },
    { path: provider, role: 'provider', fileKinds: stronger, source: tried },
    { path: provider, role: 'provider', ...ofOldProjects },
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
    { path: 'model_provider', role: 'provider', fileKinds: [...user, ...stronger], source: tried },
    { path: 'model_provider', role: 'provider', ...ofOldProjects },
    { path: 'cli_auth_credentials_store', role: 'key', fileKinds: stronger, source: tried },
    { path: 'forced_login_method', role: 'key', fileKinds: stronger, source: tried },
    { path: 'model', role: 'model', fileKinds: [...user, ...stronger, 'project'], source: tried },
    { path: 'OPENAI_API_KEY', role: 'key', fileKinds: ['auth'], source: tried },
    { path: 'auth_mode', role: 'key', fileKinds: ['auth'], source: tried },
    { path: 'key', role: 'key', fileKinds: ['key'], source: '0.118.0 and 0.171.0, 2026-11-29' },
  ],
}
