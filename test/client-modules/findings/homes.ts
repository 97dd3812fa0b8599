import type { Disk } from '../support.ts'

/** Working files of each client. The arguments override parts of them. */
export const codexAuth = { '.codex/auth.json': '{"OPENAI_API_KEY":"sk-a"}' }
export const codexConfig = `model = "gpt-5.6-sol"
model_provider = "gateway"
openai_base_url = "https://gw.example/v1"
[model_providers.gateway]
name = "Gateway"
base_url = "https://gw.example/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`
export const codexHome = (more = '', root = ''): Disk => ({
  ...codexAuth,
  '.codex/config.toml': `${root}${codexConfig}${more}`,
})
export const claudeHome = (more: object = {}, env: object = {}): Disk => ({
  '.claude/settings.json': JSON.stringify(
    {
      env: {
        ANTHROPIC_AUTH_TOKEN: 'sk-a',
        ANTHROPIC_BASE_URL: 'https://gw.example',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...env,
      },
      model: 'sonnet',
      ...more,
    },
    null,
    2,
  ),
})
export const opencodeHome = (more: object = {}, provider: object = {}): Disk => ({
  '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"sk-a"}}',
  '.config/opencode/opencode.json': JSON.stringify(
    {
      provider: {
        gateway: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: 'https://gw.example/v1' },
          models: { big: {}, small: {} },
          ...provider,
        },
      },
      model: 'gateway/big',
      small_model: 'gateway/small',
      ...more,
    },
    null,
    2,
  ),
})
