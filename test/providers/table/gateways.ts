import {
  claudeIds,
  everyRoute,
  gptIds,
  listOf,
  messagesRefusal,
  openAiKey,
  openAiModel,
  refusal,
  type Setup,
  type Shape,
} from '../shape.ts'

/** Services and programs that give access to the models of others. */

const noPage = { status: 404, body: '<!doctype html><title>404: Not Found</title>' }

const openRouterIds = [
  ...claudeIds('anthropic/', '.'),
  'openai/gpt-5.6-sol',
  'openai/gpt-5.4',
  'openai/gpt-5.4-mini',
]
const openRouter: Shape = {
  name: 'OpenRouter',
  host: 'https://openrouter.ai',
  roots: [{ at: '/api/v1', routes: everyRoute }],
  key: ['authorization', 'x-api-key'],
  isListPublic: true,
  list: listOf(openRouterIds, { context_length: 400_000 }),
  models: [...openRouterIds, ...openRouterIds.map((id) => `${id}:*`), '@preset/*'],
  wrongKey: refusal(401, { message: 'User not found.', code: 401 }),
  wrongModel: refusal(400, { message: '$MODEL is not a valid model ID', code: 400 }),
  wrongRoute: noPage,
  setups: {
    responses: { paste: '/api/v1' },
    chat: {
      paste: '/api/v1',
      args: ['--model', 'openai/gpt-5.6-sol:floor'],
      note: 'the list has no variants such as `:floor`',
    },
    messages: { paste: '/api', note: 'repoint pins its IDs in every slot' },
    'claude-gpt': { paste: '/api' },
  },
  wrongAddresses: [
    { client: 'codex', paste: '', refused: { code: 'not-an-api', says: /web page|API/ } },
  ],
  sources: [
    {
      url: 'https://openrouter.ai/docs/guides/coding-agents/claude-code-integration',
      date: '2026-11-22',
    },
    { url: 'https://github.com/OpenRouterTeam/openrouter-examples/issues/74', date: '2026-05' },
    { url: 'https://github.com/continuedev/continue/issues/9769', date: '2026-01' },
  ],
  unchecked: [
    'errors of its messages route',
    "whether it takes Claude's bare names there: here it does not",
  ],
}

const liteLlmIds = ['gpt-5.6-sol', 'gpt-5.4', 'gpt-5.4-mini', ...claudeIds('')]
const liteLlm: Shape = {
  name: 'LiteLLM',
  host: 'http://localhost:4000',
  roots: [
    { at: '/v1', routes: everyRoute },
    { at: '', routes: ['models', 'chat', 'responses'] },
  ],
  key: ['authorization', 'x-api-key'],
  list: listOf(liteLlmIds, { owned_by: 'openai' }),
  models: liteLlmIds,
  wrongKey: refusal(401, {
    message:
      'Authentication Error, Invalid proxy server token passed. Received API Key = sk-...8aSP, Key Hash (Token) = 569909. Unable to find token in cache or `LiteLLM_VerificationTokenTable`',
    type: 'token_not_found_in_db',
    param: 'key',
    code: '401',
  }),
  wrongModel: refusal(400, {
    message:
      "{'error': '/chat/completions: Invalid model name passed in model=$MODEL. Call `/v1/models` to view available models for your key.'}",
    type: 'None',
    param: 'None',
    code: '400',
  }),
  wrongRoute: { status: 404, body: { detail: 'Not Found' } },
  setups: {
    responses: { paste: '/v1' },
    chat: { paste: '/v1' },
    messages: { paste: '' },
    'claude-gpt': { paste: '' },
  },
  wrongAddresses: [
    { client: 'claude', paste: '/proxy', refused: { code: 'wrong-route', says: /\/proxy/ } },
  ],
  sources: [
    { url: 'https://github.com/OpenHands/OpenHands/issues/17390', date: '2026-09' },
    { url: 'https://github.com/forpublicai/platform.publicai.co/issues/6', date: '2025-09' },
    { url: 'https://github.com/BerriAI/litellm/issues/14257', date: '2025-09' },
  ],
  unchecked: [],
}

const liteLlmVirtual: Shape = {
  ...liteLlm,
  name: 'LiteLLM, virtual key without the list',
  list: {
    status: 403,
    body: {
      detail:
        "Virtual key is not allowed to call this route. Only allowed to call routes: ['/chat/completions', '/v1/responses', '/v1/messages']. ClientAnswer to call route: /v1/models",
    },
  },
  setups: {
    responses: {
      paste: '/v1',
      args: ['--model', 'gpt-5.6-sol'],
      note: 'name the model, because the key cannot read the list',
    },
    chat: { paste: '/v1', args: ['--model', 'gpt-5.6-sol'] },
    messages: { paste: '' },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '/v1',
      refused: { code: 'route-not-allowed', says: /--model/ },
      note: 'no model named',
    },
  ],
  sources: [{ url: 'https://github.com/BerriAI/litellm/issues/32443', date: '2026-07' }],
}

const liteLlmWildcards: Shape = {
  ...liteLlm,
  name: 'LiteLLM with wildcards',
  list: listOf(['openai/*', 'anthropic/*'], { owned_by: 'openai' }),
  models: ['openai/*', 'anthropic/*'],
  setups: {
    responses: {
      paste: '/v1',
      args: ['--model', 'openai/gpt-5.6-sol'],
      note: 'name the model, because a wildcard is no model',
    },
    chat: { paste: '/v1', args: ['--model', 'openai/gpt-5.6-sol'] },
    messages: { paste: '', args: ['--model', 'anthropic/claude-sonnet-5-5'] },
  },
  wrongAddresses: [],
  sources: [{ url: 'https://github.com/BerriAI/litellm/issues/16178', date: '2025-11' }],
  unchecked: ['which versions list the wildcard itself'],
}

const cloudflareRoot = '/v1/ACCOUNT/GATEWAY'
const cloudflareError = (status: number, code: number, message: string) => ({
  status,
  body: {
    success: false,
    result: [],
    messages: [],
    error: [{ code, message }],
    name: 'AiGatewayError',
    httpCode: status,
    internalCode: code,
    message,
    description: message,
  },
})
const cloudflare: Shape = {
  name: 'Cloudflare AI Gateway',
  host: 'https://gateway.ai.cloudflare.com',
  roots: [
    { at: `${cloudflareRoot}/openai`, routes: ['models', 'chat', 'responses'] },
    {
      at: `${cloudflareRoot}/compat`,
      routes: ['chat'],
      models: gptIds.map((id) => `openai/${id}`),
      wrongModel: cloudflareError(400, 2008, 'Invalid provider'),
    },
    {
      at: `${cloudflareRoot}/anthropic/v1`,
      routes: ['models', 'messages'],
      key: ['x-api-key'],
      models: claudeIds(''),
      list: {
        status: 200,
        body: {
          data: claudeIds('').map((id) => ({ id, type: 'model', display_name: id })),
          has_more: false,
        },
      },
      wrongKey: messagesRefusal(401, 'authentication_error', 'invalid x-api-key'),
      wrongModel: messagesRefusal(404, 'not_found_error', 'model: $MODEL'),
    },
  ],
  key: ['authorization'],
  list: listOf(gptIds),
  models: gptIds,
  wrongKey: openAiKey,
  wrongModel: openAiModel,
  wrongRoute: cloudflareError(400, 2008, 'Invalid provider'),
  setups: {
    responses: { paste: `${cloudflareRoot}/openai` },
    chat: {
      paste: `${cloudflareRoot}/compat`,
      args: ['--model', 'openai/gpt-5.6-sol'],
      note: '`/compat` lists no models',
    },
    messages: { paste: `${cloudflareRoot}/anthropic`, note: 'clients send the key as `x-api-key`' },
  },
  severalRefused: { code: 'protocol-unsupported', says: /x-api-key/ },
  wrongAddresses: [
    {
      client: 'codex',
      paste: cloudflareRoot,
      args: ['--model', 'gpt-5.6-sol'],
      refused: { code: 'protocol-unsupported', says: /Invalid provider/ },
    },
  ],
  sources: [
    {
      url: 'https://developers.cloudflare.com/ai-gateway/integrations/coding-agents/claude-code/',
      date: '2026-11-22',
    },
    { url: 'https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/1254', date: '2026-07' },
  ],
  unchecked: ['what it answers to a path without a provider'],
}

const cloudflareClosed: Shape = {
  ...cloudflare,
  name: 'Cloudflare AI Gateway, authenticated',
  needs: {
    header: 'cf-aig-authorization',
    value: 'Bearer cf-token-1f2e3d4c5b6a7988',
    otherwise: cloudflareError(401, 2009, 'Unauthorized'),
  },
  setups: Object.fromEntries(
    Object.entries({ ...cloudflare.setups, editor: headersRefused(cloudflare) }).map(
      ([client, setup]) => [
        client,
        {
          ...setup!,
          args: [...(setup!.args ?? []), '--header', 'cf-aig-authorization: $CF_AIG'],
          env: { CF_AIG: 'Bearer cf-token-1f2e3d4c5b6a7988' },
          note: 'needs this header in addition to the key',
        },
      ],
    ),
  ),
  wrongAddresses: [],
  unchecked: ['its refusal without the header'],
}

/** Cursor sends its key as Bearer, and no other header. */
function headersRefused({ setups }: Shape): Setup {
  return { ...setups.chat!, refused: { code: 'protocol-unsupported', says: /Cursor/ } }
}

const vercelIds = [
  ...claudeIds('anthropic/', '.'),
  'openai/gpt-5.6-sol',
  'openai/gpt-5.4',
  'openai/gpt-5.4-mini',
]
const vercel: Shape = {
  name: 'Vercel AI Gateway',
  host: 'https://ai-gateway.vercel.sh',
  roots: [
    { at: '/v1', routes: ['models', 'chat', 'responses'] },
    { at: '/v1', routes: ['messages'], models: [...vercelIds, 'claude-*'] },
  ],
  key: ['authorization', 'x-api-key'],
  isListPublic: true,
  list: listOf(vercelIds, { context_window: 400_000, type: 'language' }),
  models: vercelIds,
  wrongKey: refusal(401, { message: 'Authentication failed', type: 'authentication_error' }),
  wrongModel: refusal(404, {
    message: "Model '$MODEL' not found",
    type: 'model_not_found',
    param: { modelId: '$MODEL' },
  }),
  wrongRoute: noPage,
  setups: {
    responses: { paste: '/v1' },
    chat: { paste: '/v1' },
    messages: { paste: '' },
    'claude-gpt': { paste: '' },
  },
  sources: [
    { url: 'https://vercel.com/docs/ai-gateway/anthropic-compat', date: '2026-01' },
    { url: 'https://vercel.com/changelog/ai-gateway-support-for-claude-code', date: '2026-11-22' },
  ],
  unchecked: ['its errors'],
}

const githubIds = [
  'openai/gpt-5.6-sol',
  'openai/gpt-5.4',
  'openai/gpt-5.4-mini',
  'meta/llama-4-maverick',
]
const github: Shape = {
  name: 'GitHub Models',
  host: 'https://models.github.ai',
  roots: [
    { at: '/inference', routes: ['chat'] },
    { at: '/catalog', routes: ['models'] },
  ],
  key: ['authorization'],
  list: {
    status: 200,
    body: githubIds.map((id) => ({
      id,
      name: id,
      publisher: 'OpenAI',
      limits: { max_input_tokens: 1_048_576, max_output_tokens: 32_768 },
    })),
  },
  models: githubIds,
  wrongKey: refusal(401, {
    code: 'unauthorized',
    message: 'Bad credentials',
    details: 'Bad credentials',
  }),
  wrongModel: refusal(404, {
    code: 'unknown_model',
    message: 'Unknown model: $MODEL',
    details: 'Unknown model: $MODEL',
  }),
  wrongRoute: { status: 404, body: '404 page not found' },
  setups: {
    responses: {
      paste: '/inference',
      args: ['--model', 'openai/gpt-5.6-sol'],
      refused: { code: 'wrong-route', says: /responses/ },
    },
    chat: {
      paste: '/inference',
      args: ['--model', 'openai/gpt-5.6-sol'],
      note: 'its list is at `/catalog/models`',
    },
    messages: {
      paste: '/inference',
      args: ['--model', 'openai/gpt-5.6-sol'],
      refused: { code: 'wrong-route', says: /messages/ },
    },
  },
  sources: [
    { url: 'https://docs.github.com/rest/models/catalog', date: '2026-03' },
    { url: 'https://github.com/danny-avila/LibreChat/issues/8679', date: '2025-07' },
    { url: 'https://github.com/tashfeenahmed/freellmapi/pull/18', date: '2026-05' },
  ],
  unchecked: ['the body for a wrong token'],
}

const routerIds = [...claudeIds('cc/'), 'cx/gpt-5.6-sol', 'cx/gpt-5.4', 'cx/gpt-5.4-mini']
const nineRouter: Shape = {
  name: '9router',
  host: 'http://localhost:20128',
  roots: [{ at: '/v1', routes: everyRoute }],
  key: ['authorization', 'x-api-key'],
  list: listOf(routerIds, { owned_by: 'provider' }),
  models: routerIds,
  wrongKey: refusal(401, {
    message: 'Invalid API key',
    type: 'authentication_error',
    code: 'invalid_api_key',
  }),
  wrongModel: refusal(404, { message: 'No active credentials for provider: openai' }),
  wrongRoute: noPage,
  setups: {
    responses: { paste: '/v1' },
    chat: { paste: '/v1' },
    messages: { paste: '/v1', note: 'repoint pins its IDs in every slot' },
    'claude-gpt': { paste: '/v1' },
  },
  sources: [
    { url: 'https://github.com/decolua/9router/issues/4097', date: '2026-09' },
    { url: 'https://github.com/decolua/9router/issues/2594', date: '2026-07' },
  ],
  unchecked: ['its refusal of a key'],
}

const copilotIds = [
  'claude-opus-5.5',
  'claude-sonnet-5.5',
  'claude-haiku-5.5',
  'gpt-5.6-sol',
  'gpt-5.4',
  'gpt-5.4-mini',
]
const copilotApi: Shape = {
  name: 'copilot-api',
  host: 'http://localhost:4141',
  roots: [
    { at: '/v1', routes: everyRoute },
    { at: '', routes: ['models', 'chat', 'responses'] },
  ],
  key: [],
  list: {
    status: 200,
    body: {
      object: 'list',
      data: copilotIds.map((id) => ({
        id,
        object: 'model',
        type: 'model',
        created: 0,
        display_name: id,
      })),
      has_more: false,
    },
  },
  models: copilotIds,
  wrongKey: refusal(401, { message: 'Unauthorized', type: 'error' }),
  wrongModel: refusal(400, {
    message: 'The requested model is not supported.',
    code: 'model_not_supported',
    param: 'model',
    type: 'invalid_request_error',
  }),
  wrongRoute: { status: 404, body: '404 Not Found' },
  setups: {
    responses: { paste: '/v1' },
    chat: { paste: '/v1' },
    messages: {
      paste: '',
      note: 'repoint pins its IDs, because they have dots; it has no fable model',
    },
    'claude-gpt': { paste: '' },
  },
  sources: [{ url: 'https://github.com/farion1231/cc-switch/issues/2015', date: '2026-11-22' }],
  unchecked: ['the shape of its list'],
}

const portkey: Shape = {
  name: 'Portkey',
  host: 'http://localhost:8787',
  roots: [{ at: '/v1', routes: everyRoute }],
  needs: {
    header: 'x-portkey-provider',
    value: 'openai',
    otherwise: {
      status: 400,
      body: {
        status: 'failure',
        message: 'Either x-portkey-config or x-portkey-provider header is required',
      },
    },
  },
  key: ['authorization', 'x-api-key'],
  list: listOf(gptIds),
  models: gptIds,
  wrongKey: openAiKey,
  wrongModel: openAiModel,
  wrongRoute: { status: 404, body: '404 Not Found' },
  setups: {
    responses: {
      paste: '/v1',
      args: ['--header', 'x-portkey-provider: openai'],
      note: 'needs this header',
    },
    chat: { paste: '/v1', args: ['--header', 'x-portkey-provider: openai'] },
    messages: {
      paste: '',
      args: ['--header', 'x-portkey-provider: openai', '--model', 'gpt-5.6-sol'],
    },
    'claude-gpt': { paste: '', args: ['--header', 'x-portkey-provider: openai'] },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '/v1',
      refused: { code: 'header-missing', says: /--header/ },
      note: 'without its header',
    },
  ],
  sources: [
    { url: 'https://portkey.ai/docs/api-reference/inference-api/headers.md', date: '2026-11-22' },
    { url: 'https://github.com/mlflow/mlflow/issues/24391', date: '2026-07' },
  ],
  unchecked: [],
}

export const gateways: readonly Shape[] = [
  openRouter,
  liteLlm,
  liteLlmVirtual,
  liteLlmWildcards,
  cloudflare,
  cloudflareClosed,
  vercel,
  github,
  nineRouter,
  copilotApi,
  portkey,
]
