import type { SettingChange } from '../../src/edits/types.ts'

/** What the setup of Codex changes, and keys that it removes with consent. */
export const codexChanges: readonly SettingChange[] = [
  { path: ['profile'], value: undefined },
  { path: ['model'], value: 'gpt-5.6-sol' },
  { path: ['model_provider'], value: 'gateway' },
  { path: ['model_providers', 'gateway', 'name'], value: 'Gateway' },
  { path: ['model_providers', 'gateway', 'base_url'], value: 'https://gw.example/v1' },
  { path: ['model_providers', 'gateway', 'wire_api'], value: 'responses' },
  { path: ['model_providers', 'gateway', 'requires_openai_auth'], value: true },
  { path: ['model_providers', 'gateway', 'supports_websockets'], value: false },
  { path: ['model_providers', 'gateway', 'env_key'], value: undefined },
  { path: ['model_providers', 'gateway', 'auth'], value: undefined },
]

/** What the setup of Claude Code changes, with an API key that would compete with the token. */
export const claudeChanges: readonly SettingChange[] = [
  { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: 'sk-gateway-0123456789', isSecret: true },
  { path: ['env', 'ANTHROPIC_BASE_URL'], value: 'https://gw.example' },
  { path: ['env', 'ANTHROPIC_API_KEY'], value: undefined },
  { path: ['model'], value: 'sonnet' },
]

/** What the setup of opencode changes in its configuration. */
export const opencodeChanges: readonly SettingChange[] = [
  { path: ['$schema'], value: 'https://opencode.ai/config.json' },
  { path: ['provider', 'gateway', 'npm'], value: '@ai-sdk/openai-compatible' },
  { path: ['provider', 'gateway', 'name'], value: 'Gateway' },
  { path: ['provider', 'gateway', 'options', 'baseURL'], value: 'https://gw.example/v1' },
  { path: ['provider', 'gateway', 'models'], value: { 'gpt-5.6-sol': {}, 'gpt-5.4-mini': {} } },
  { path: ['model'], value: 'gateway/gpt-5.6-sol' },
  { path: ['small_model'], value: 'gateway/gpt-5.4-mini' },
]

/** What a setup of OpenClaw changes in its configuration. */
export const openclawChanges: readonly SettingChange[] = [
  { path: ['models', 'providers', 'gateway', 'baseUrl'], value: 'https://gw.example/v1' },
  {
    path: ['models', 'providers', 'gateway', 'apiKey'],
    value: 'sk-gateway-0123456789',
    isSecret: true,
  },
  { path: ['models', 'providers', 'gateway', 'api'], value: undefined },
  {
    path: ['models', 'providers', 'gateway', 'models'],
    value: [{ id: 'gpt-5.6-sol', name: 'GPT', input: ['text', 'image'], reasoning: true }],
  },
  { path: ['agents', 'defaults', 'model'], value: { primary: 'gateway/gpt-5.6-sol' } },
]
