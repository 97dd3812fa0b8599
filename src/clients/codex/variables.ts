import type { HarmfulVariable, KnownVariables } from '../contract/config.ts'

/** Without effect next to a key in the provider's table (0.171.0, 2026-11-28). */
export const keyVariables: readonly HarmfulVariable[] = [
  {
    name: 'CODEX_API_KEY',
    code: 'codex-environment-key',
    effect: 'Codex sends this key instead of your gateway key',
    severity: 'error',
  },
  {
    name: 'CODEX_ACCESS_TOKEN',
    code: 'codex-environment-token',
    effect: 'Codex sends no key',
    severity: 'error',
  },
]

/** They stop Codex, whatever key its table has (0.171.0, 2026-11-28). Earlier versions do not read them. */
export const identityVariables: readonly HarmfulVariable[] = [
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_IDENTITY_TOKEN_SOURCE',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_SPIFFE_AUDIENCE',
].map((name) => ({
  name,
  code: 'codex-environment-identity',
  effect: 'Codex does not start, from 0.171.0 on',
  severity: 'error',
}))

export const variables: KnownVariables = {
  families: ['CODEX_', 'OPENAI_'],
  harmful: [...keyVariables, ...identityVariables],
  // Each was run with 0.171.0 and a key in auth.json, 2026-11-28.
  harmless: [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_API_BASE',
    'CODEX_EXEC_SERVER_URL',
    'CODEX_GITHUB_PERSONAL_ACCESS_TOKEN',
    'CODEX_OSS_BASE_URL',
    'CODEX_CONNECTORS_TOKEN',
    'CODEX_REFRESH_TOKEN_URL_OVERRIDE',
    'CODEX_REVOKE_TOKEN_URL_OVERRIDE',
    'CODEX_AUTHAPI_BASE_URL',
    'CODEX_APP_SERVER_LOGIN_CLIENT_ID',
  ],
}
