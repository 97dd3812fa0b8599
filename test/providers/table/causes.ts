import type { ErrorCode } from '../../../src/error-codes.ts'
import type { Reply } from '../shape.ts'

/** A provider's error, and what repoint must report for it. */
export interface CauseRow {
  readonly who: string
  readonly client: 'codex' | 'claude' | 'opencode'
  /** Whether the requested model is missing from the provider's list. */
  readonly isUnlisted?: true
  readonly reply: Reply
  readonly code: ErrorCode
  readonly says: RegExp
  /** The provider answers clients whose user agent begins with this. */
  readonly admits?: string
  /** The source of the error, or why it is a guess. */
  readonly source: string
}

const json = (status: number, body: object): Reply => ({ status, body })
const error = (status: number, message: string, more: object = {}): Reply =>
  json(status, { error: { message, ...more } })
const anthropic = (status: number, type: string, message: string): Reply =>
  json(status, { type: 'error', error: { type, message } })
const text = (status: number, body: string): Reply => ({ status, body })

const github = 'https://github.com/'

/** Errors of providers for a valid key. */
export const goodKeyRows: readonly CauseRow[] = [
  {
    who: 'claude-relay-service, which rejects the client for this key',
    client: 'claude',
    reply: json(403, {
      error: 'Client not allowed',
      message: 'Your client is not authorized to use this API key',
      allowedClients: ['claude_code'],
    }),
    admits: 'claude-cli/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}Wei-Shaw/claude-relay-service/issues/972 (2026-02)`,
  },
  {
    who: 'claude-relay-service, which rejects the client at this endpoint',
    client: 'claude',
    reply: error(403, 'This endpoint only accepts requests from Claude Code CLI', {
      type: 'client_validation_error',
    }),
    admits: 'claude-cli/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}Wei-Shaw/claude-relay-service/issues/1088 (2026-03)`,
  },
  {
    who: 'sub2api',
    client: 'claude',
    reply: anthropic(
      503,
      'api_error',
      'No available accounts: this group only allows Claude Code clients',
    ),
    admits: 'claude-cli/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}Wei-Shaw/sub2api/issues/248 (2026-01)`,
  },
  {
    who: 'agentrouter',
    client: 'claude',
    reply: error(401, 'unauthorized client detected, contact support for assistance'),
    admits: 'claude-cli/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: 'reports of 2025-11',
  },
  {
    who: 'Kimi Code',
    client: 'opencode',
    reply: error(
      403,
      'Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.',
      { type: 'access_terminated_error' },
    ),
    admits: 'opencode/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}musistudio/claude-code-router/issues/991 (2025-11)`,
  },
  {
    who: "Anthropic, a subscription's token",
    client: 'claude',
    reply: anthropic(
      400,
      'invalid_request_error',
      'This credential is only authorized for use with Claude Code and cannot be used for other API requests.',
    ),
    admits: 'claude-cli/',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}anthropics/claude-code/issues/24690 (2026-02)`,
  },
  {
    who: 'Cloudflare, the user agent',
    client: 'codex',
    reply: text(403, 'error code: 1010'),
    admits: 'codex_',
    code: 'client-refused',
    says: /nobody could ask it/,
    source: `${github}anomalyco/opencode/issues/41320 (2026-08)`,
  },
  {
    who: 'Cloudflare, the country',
    client: 'codex',
    reply: text(403, 'error code: 1009'),
    code: 'forbidden',
    says: /country or region/,
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/',
  },
  {
    who: 'Cloudflare, the address',
    client: 'codex',
    reply: text(403, 'error code: 1006'),
    code: 'forbidden',
    says: /networks/,
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/',
  },
  {
    who: 'OpenAI, region',
    client: 'codex',
    reply: error(403, 'Country, region, or territory not supported', {
      code: 'unsupported_country_region_territory',
      param: null,
      type: 'request_forbidden',
    }),
    code: 'forbidden',
    says: /country or region/,
    source: `${github}continuedev/continue/issues/11449 (2026-03)`,
  },
  {
    who: 'Anthropic, region',
    client: 'claude',
    reply: anthropic(403, 'forbidden', 'Request not allowed'),
    code: 'forbidden',
    says: /country or region/,
    source: `${github}anthropics/claude-code/issues/1613 (2025-06)`,
  },
  {
    who: 'Gemini, region',
    client: 'opencode',
    reply: json(400, [
      {
        error: {
          code: 400,
          message: 'User location is not supported for the API use.',
          status: 'FAILED_PRECONDITION',
        },
      },
    ]),
    code: 'forbidden',
    says: /country or region/,
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
  },
  {
    who: 'Groq, network',
    client: 'opencode',
    reply: error(403, 'Access denied. Please check your network settings.'),
    code: 'forbidden',
    says: /networks/,
    source: 'community reports, 2025',
  },
  {
    who: 'New API, the addresses of a token',
    client: 'codex',
    reply: error(403, '您的 IP 不在令牌允许访问的列表中', { type: 'new_api_error', code: '' }),
    code: 'forbidden',
    says: /networks/,
    source: `${github}QuantumNous/new-api/issues/6752 (2026-08), its source`,
  },
  {
    who: 'OpenRouter, the limit of a key',
    client: 'opencode',
    reply: error(
      403,
      'Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys',
      { code: 403 },
    ),
    code: 'quota',
    says: /no credit left|used up/,
    source: `${github}MCPJam/inspector/issues/1287 (2026-01)`,
  },
  {
    who: 'OpenRouter, moderation',
    client: 'opencode',
    reply: error(
      403,
      'Your chosen model requires moderation and your input was flagged. No credits were charged.',
      { code: 403 },
    ),
    code: 'forbidden',
    says: /content/,
    source: 'https://openrouter.ai/docs/api-reference/errors',
  },
  {
    who: 'Bedrock, no access to a model',
    client: 'opencode',
    reply: json(403, {
      message: "You don't have access to the model with the specified model ID.",
    }),
    code: 'model-not-allowed',
    says: /gpt-5\.6-sol/,
    source: `${github}anthropics/claude-code/issues/536 (2025-03)`,
  },
  {
    who: 'SiliconFlow, a disabled model',
    client: 'opencode',
    reply: json(403, { code: 30003, message: 'Model disabled.', data: null }),
    code: 'model-not-allowed',
    says: /gpt-5\.6-sol/,
    source: 'https://docs.siliconflow.cn/en/faqs/error-code',
  },
  {
    who: 'OpenAI, a project without the model',
    client: 'codex',
    reply: error(403, 'Project `proj_x` does not have access to model `gpt-5.6-sol`'),
    code: 'model-not-allowed',
    says: /gpt-5\.6-sol/,
    source: `${github}continuedev/continue/issues/10120 (2026-02)`,
  },
  {
    who: 'NVIDIA, a listed model that the account cannot use',
    client: 'opencode',
    reply: json(404, {
      status: 404,
      title: 'Not Found',
      detail: "Function '23d4f03a': Not found for account 'Qawmu2'",
    }),
    code: 'model-not-allowed',
    says: /gpt-5\.6-sol/,
    source: `${github}Alishahryar1/free-claude-code/issues/1021 (2026-07)`,
  },
  {
    who: 'OpenRouter, data policy',
    client: 'opencode',
    reply: error(
      404,
      'No endpoints found matching your data policy. Check your settings: https://openrouter.ai/settings/privacy',
      { code: 404 },
    ),
    code: 'model-not-allowed',
    says: /data policy/,
    source: `${github}dnakov/anon-kode/issues/13 (2025-03)`,
  },
  {
    who: 'OpenAI, an organization that is not verified',
    client: 'codex',
    reply: error(
      400,
      'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general',
      {
        type: 'invalid_request_error',
        param: 'stream',
        code: 'unsupported_value',
      },
    ),
    code: 'forbidden',
    says: /verified/,
    source: `${github}langflow-ai/openrag/issues/257 (2025-10)`,
  },
  {
    who: 'opencode Zen, credits',
    client: 'opencode',
    reply: anthropic(
      401,
      'CreditsError',
      'No payment method. Add a payment method here: https://opencode.ai/workspace/x/billing',
    ),
    code: 'quota',
    says: /no credit left|used up/,
    source: `${github}anomalyco/opencode/issues/37161 (2026-07)`,
  },
  {
    who: 'opencode Zen, a model',
    client: 'opencode',
    reply: anthropic(401, 'ModelError', 'Model GLM-5.2 is not supported'),
    code: 'model-unknown',
    says: /gpt-5\.6-sol/,
    source: `${github}leookun/cursor-byok/issues/94 (2026-07)`,
  },
  {
    who: 'opencode Zen, forbidden without a message',
    client: 'opencode',
    reply: json(403, { model: 'mimo-v2.5-free' }),
    code: 'forbidden',
    says: /nobody could ask it/,
    source: `${github}anomalyco/opencode/issues/47940 (2026-09)`,
  },
  {
    who: 'Kong, without its header',
    client: 'codex',
    reply: json(401, { message: 'No API key found in request' }),
    code: 'header-missing',
    says: /apikey/,
    source: 'https://developer.konghq.com/plugins/key-auth/',
  },
  {
    who: "Azure's API Management, without its header",
    client: 'codex',
    reply: json(401, {
      statusCode: 401,
      message:
        'Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.',
    }),
    code: 'header-missing',
    says: /ocp-apim-subscription-key/,
    source: `${github}continuedev/continue/issues/4601 (2025-03)`,
  },
  {
    who: 'Helicone, without its header',
    client: 'codex',
    reply: json(401, { error: 'Helicone-Auth header is required' }),
    code: 'header-missing',
    says: /helicone-auth/,
    source: 'a guess: its words were found nowhere',
  },
  {
    who: 'New API, a banned user',
    client: 'codex',
    reply: error(403, '用户已被封禁', { type: 'new_api_error', code: '' }),
    code: 'forbidden',
    says: /account/,
    source: 'its source (2026-11-21)',
  },
  {
    who: 'Anthropic, a disabled organization',
    client: 'claude',
    reply: anthropic(400, 'invalid_request_error', 'This organization has been disabled.'),
    code: 'forbidden',
    says: /account/,
    source: `${github}anthropics/claude-code/issues/19028 (2026-01)`,
  },
  {
    who: 'Groq, a restricted organization',
    client: 'opencode',
    reply: error(400, 'Organization has been restricted. Please reach out to support.'),
    code: 'forbidden',
    says: /account/,
    source: `${github}songquanpeng/one-api/issues/271 (2024-08)`,
  },
  {
    who: 'a gateway that is blocked for legal reasons',
    client: 'codex',
    reply: text(451, 'Unavailable For Legal Reasons'),
    code: 'forbidden',
    says: /country or region/,
    source: 'https://www.rfc-editor.org/rfc/rfc7725',
  },
  {
    who: 'a 403 without a message',
    client: 'codex',
    reply: json(403, { message: 'Forbidden' }),
    code: 'forbidden',
    says: /nobody could ask it/,
    source: 'AWS API Gateway',
  },
]

/** Errors of providers for tools, with a model that supports none. */
export const toolRows: readonly CauseRow[] = [
  {
    who: 'vLLM without its flag',
    client: 'codex',
    reply: error(
      400,
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      { type: 'BadRequestError', param: null, code: 400 },
    ),
    source: 'https://docs.vllm.ai/en/latest/features/tool_calling.html',
  },
  {
    who: 'OpenRouter',
    client: 'opencode',
    reply: error(
      404,
      'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing',
      { code: 404 },
    ),
    source: `${github}evalstate/fast-agent/issues/122 (2025-04)`,
  },
  {
    who: 'Ollama',
    client: 'opencode',
    reply: error(400, 'registry.ollama.ai/library/gemma3:latest does not support tools', {
      type: 'api_error',
    }),
    source: 'its source, server/routes.go',
  },
  {
    who: 'a gateway for messages',
    client: 'claude',
    reply: anthropic(400, 'invalid_request_error', 'tools: this model does not support tools'),
    source: 'a guess',
  },
].map((row) => ({ ...row, code: 'tools-unsupported', says: /tools/ }) as CauseRow)

/** Errors of providers for an unknown model. */
export const wrongModelRows: readonly CauseRow[] = [
  {
    who: 'SiliconFlow',
    client: 'opencode',
    reply: json(400, {
      code: 20012,
      message: 'Model does not exist. Please check it carefully.',
      data: null,
    }),
    source: `${github}anyme123/Any-code/issues/1 (2025-07)`,
  },
  {
    who: 'Bedrock',
    client: 'opencode',
    reply: json(400, { message: 'The provided model identifier is invalid.' }),
    source: `${github}iOfficeAI/AionCore/pull/377 (2026-06)`,
  },
  {
    who: 'NVIDIA',
    client: 'opencode',
    reply: text(404, '404 page not found'),
    source: `${github}Hmbown/Codewhale/issues/1482 (2026-05)`,
  },
  {
    who: 'Novita',
    client: 'opencode',
    reply: json(404, {
      code: 404,
      reason: 'MODEL_NOT_FOUND',
      message: 'model not found',
      metadata: {},
    }),
    source: 'https://novita.ai/docs/api-reference/basic-error-code',
  },
  {
    who: 'Novita, over messages',
    client: 'claude',
    reply: json(404, { code: 404, reason: 'NOT_FOUND', message: 'not found', metadata: {} }),
    source: 'a guess after the same',
  },
  {
    who: 'Databricks',
    client: 'opencode',
    reply: json(404, {
      error_code: 'ENDPOINT_NOT_FOUND',
      message:
        'The given endpoint does not exist, please retry after checking the specified model and version deployment exists.',
    }),
    source: 'https://docs.databricks.com/aws/en/machine-learning/model-serving/',
  },
  {
    who: 'Databricks, a resource',
    client: 'opencode',
    reply: json(404, {
      error_code: 'RESOURCE_DOES_NOT_EXIST',
      message: 'It does not exist.',
      details: [],
    }),
    source: `${github}databricks-demos/dbdemos/issues/220 (2025-06)`,
  },
  {
    who: 'FastAPI, for every request',
    client: 'codex',
    reply: json(404, { detail: 'Not Found' }),
    source: 'its default',
  },
  {
    who: 'a 400 without a cause',
    client: 'codex',
    reply: error(400, 'Bad request'),
    source: 'a guess',
  },
].map(
  (row) => ({ ...row, isUnlisted: true, code: 'model-unknown', says: /unheard-of-9/ }) as CauseRow,
)

/** Errors of providers for a wrong key. */
export const wrongKeyRows: readonly CauseRow[] = [
  {
    who: 'xAI',
    client: 'codex',
    reply: json(400, {
      code: 'Client specified an invalid argument',
      error:
        'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
    }),
    source: `${github}hotovo/aider-desk/issues/653 (2026-02)`,
  },
  {
    who: 'Gemini',
    client: 'opencode',
    reply: json(400, [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ]),
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
  },
  {
    who: 'New API',
    client: 'codex',
    reply: error(401, '无效的令牌', { type: 'new_api_error', code: '' }),
    source: 'its source (2026-11-21)',
  },
  {
    who: 'one-api, as 403',
    client: 'codex',
    reply: error(403, '令牌已过期', { type: 'one_api_error' }),
    source: 'its source',
  },
  {
    who: 'OpenAI',
    client: 'codex',
    reply: error(401, 'Incorrect API key provided: sk-x.', { code: 'invalid_api_key' }),
    source: 'https://platform.openai.com/docs/guides/error-codes',
  },
  {
    who: 'Anthropic',
    client: 'claude',
    reply: anthropic(401, 'authentication_error', 'invalid x-api-key'),
    source: 'https://docs.claude.com/en/api/errors',
  },
  {
    who: 'DeepSeek',
    client: 'opencode',
    reply: error(401, 'Authentication Fails, Your api key: ****4860 is invalid', {
      type: 'authentication_error',
    }),
    source: `${github}deepwn/addi/issues/13 (2026-03)`,
  },
  {
    who: 'Mistral',
    client: 'opencode',
    reply: json(401, { detail: 'Unauthorized' }),
    source: 'https://docs.mistral.ai/',
  },
  {
    who: 'Groq',
    client: 'opencode',
    reply: error(401, 'Invalid API Key', { code: 'invalid_api_key' }),
    source: 'https://console.groq.com/docs/errors',
  },
  {
    who: 'OpenRouter',
    client: 'opencode',
    reply: error(401, 'User not found.', { code: 401 }),
    source: 'https://openrouter.ai/docs/api-reference/errors',
  },
  {
    who: 'SiliconFlow',
    client: 'opencode',
    reply: json(401, { code: 20001, message: 'Invalid token', data: null }),
    source: 'https://docs.siliconflow.cn/en/faqs/error-code',
  },
  {
    who: 'NVIDIA',
    client: 'opencode',
    reply: json(403, {
      status: 403,
      title: 'Forbidden',
      detail: 'Authorization failed: the API key is invalid',
    }),
    source: 'a guess after reports',
  },
  {
    who: 'Fireworks, as 403',
    client: 'opencode',
    reply: error(403, 'The API key you provided is invalid.'),
    source: 'https://docs.fireworks.ai/',
  },
  {
    who: 'New API, as 403',
    client: 'codex',
    reply: error(403, '无效的令牌', { type: 'new_api_error', code: '' }),
    source: 'a guess after its 401',
  },
  {
    who: 'a gateway that answers with 403',
    client: 'codex',
    reply: error(403, 'Invalid token'),
    source: 'a guess',
  },
  { who: 'an empty response', client: 'codex', reply: text(401, ''), source: 'HTTP' },
].map((row) => ({ ...row, code: 'key-rejected', says: /rejects this key/ }) as CauseRow)
