import type { DecidingTable } from '../client.ts'

/** In a project 0.169.0 reads of these `model` alone, and that where the folder is trusted. */
const run = '0.169.0, 2026-11-21'

const provider = 'model_providers.:provider'

const user = ['config']
const others = ['project', 'managed', 'profile']
const own = [...user, ...others]

export const deciding: DecidingTable = {
  called: 'config',
  rows: [
    { at: 'openai_base_url', decides: 'address', layers: own, seen: run },
    { at: provider, decides: 'provider', layers: others, seen: run },
    { at: `${provider}.base_url`, decides: 'address', layers: user, seen: run },
    { at: `${provider}.query_params`, decides: 'address', layers: user, seen: run },
    { at: `${provider}.requires_openai_auth`, decides: 'key', layers: user, seen: run },
    { at: `${provider}.env_key`, decides: 'key', layers: user, seen: run },
    { at: `${provider}.experimental_bearer_token`, decides: 'key', layers: user, seen: run },
    { at: `${provider}.auth`, decides: 'key', layers: user, seen: run },
    { at: 'model_provider', decides: 'provider', layers: own, seen: run },
    { at: 'cli_auth_credentials_store', decides: 'key', layers: others, seen: run },
    { at: 'forced_login_method', decides: 'key', layers: others, seen: run },
    { at: 'model', decides: 'model', layers: others, seen: run },
  ],
}
