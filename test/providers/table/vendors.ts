import {
  gptIds,
  listOf,
  messagesRefusal,
  openAiKey,
  openAiModel,
  type Route,
  refusal,
  type Shape,
} from '../shape.ts'

/** Services that have their own models. */

const openAi: readonly Route[] = ['models', 'chat', 'responses']

const scopes = {
  message:
    "You have insufficient permissions for this operation. Missing scopes: api.model.read. Check that you have the correct role in your organization (Reader, Writer, Owner) and project (Member, Owner), and if you're using a restricted API key, that it has the necessary scopes.",
  type: 'invalid_request_error',
  param: null,
  code: null,
}
const restricted: Shape = {
  name: 'OpenAI, restricted key',
  host: 'https://api.openai.com',
  roots: [{ at: '/v1', routes: openAi }],
  key: ['authorization'],
  list: refusal(403, scopes),
  models: gptIds,
  wrongKey: openAiKey,
  wrongModel: openAiModel,
  wrongRoute: refusal(404, {
    message: 'Invalid URL ($METHOD $PATH)',
    type: 'invalid_request_error',
    param: null,
    code: null,
  }),
  setups: {
    responses: {
      paste: '/v1',
      args: ['--model', 'gpt-5.6-sol'],
      note: 'name the model, because the key cannot read the list',
    },
    chat: { paste: '/v1', args: ['--model', 'gpt-5.6-sol'] },
    messages: {
      paste: '',
      args: ['--model', 'gpt-5.6-sol'],
      refused: { code: 'protocol-unsupported', says: /messages/ },
    },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '/v1',
      refused: { code: 'route-not-allowed', says: /--model/ },
      note: 'no model named',
    },
  ],
  sources: [
    {
      url: 'https://community.openai.com/t/restricted-api-key-and-scopes-for-responses-api/1143672',
      date: '2025-03',
    },
  ],
  unchecked: ['the status of the closed list: 403 here'],
}

const restrictedAnew: Shape = {
  ...restricted,
  name: 'OpenAI, restricted key, as of 2026',
  list: refusal(401, scopes),
  sources: [
    {
      url: 'https://community.openai.com/t/api-key-permissions-ui-model-request-scope-only-appears-when-model-capabilities-is-set-to-request/1374480',
      date: '2026-02',
    },
  ],
  unchecked: [],
}

const azureKey = refusal(401, {
  code: '401',
  message:
    'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
})
const azure: Shape = {
  name: 'Azure OpenAI',
  host: 'https://NAME.openai.azure.com',
  roots: [{ at: '/openai/v1', routes: openAi }],
  key: ['authorization', 'api-key'],
  // The list has the models that can be deployed, not the deployments.
  list: listOf(['gpt-5.6-sol-2026-08-11', 'gpt-5.4-2026-03-05', 'text-embedding-3-large'], {
    lifecycle_status: 'generally-available',
  }),
  models: ['team-sol'],
  wrongKey: azureKey,
  wrongModel: refusal(404, {
    code: 'DeploymentNotFound',
    message:
      'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
  }),
  wrongRoute: refusal(404, { code: '404', message: 'Resource not found' }),
  setups: {
    responses: {
      paste: '/openai/v1',
      args: ['--model', 'team-sol'],
      note: 'the model is the name of the deployment',
    },
    chat: { paste: '/openai/v1', args: ['--model', 'team-sol'] },
    messages: {
      paste: '/openai/v1',
      args: ['--model', 'team-sol'],
      refused: { code: 'protocol-unsupported', says: /messages/ },
    },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '',
      args: ['--model', 'team-sol'],
      refused: { code: 'wrong-route', says: /127\.0\.0\.1/ },
    },
  ],
  sources: [
    { url: 'https://github.com/openai/codex/issues/2024', date: '2026-01' },
    { url: 'https://github.com/microsoft/autogen/issues/822', date: '2023-11' },
  ],
  unchecked: ['its error for a wrong route'],
}

const azureClosed: Shape = {
  ...azure,
  name: 'Azure OpenAI, api-key alone',
  key: ['api-key'],
  setups: {
    ...azure.setups,
    responses: { ...azure.setups.responses!, note: 'clients send the key as `api-key`' },
    messages: {
      ...azure.setups.messages!,
      refused: { code: 'protocol-unsupported', says: /messages|only as api-key/ },
    },
    editor: {
      ...azure.setups.chat!,
      refused: { code: 'protocol-unsupported', says: /Cursor/ },
    },
  },
  wrongAddresses: [],
  sources: [{ url: 'https://github.com/steipete/oracle/pull/92', date: '2026-01' }],
}

const deepSeekIds = ['deepseek-flash', 'deepseek-v4-pro']
const deepSeekMissing = {
  message: 'Model Not Exist',
  type: 'invalid_request_error',
  param: null,
  code: 'invalid_request_error',
}
const deepSeek: Shape = {
  name: 'DeepSeek',
  host: 'https://api.deepseek.com',
  roots: [
    { at: '', routes: openAi },
    { at: '/v1', routes: openAi },
    {
      at: '/anthropic/v1',
      routes: ['messages'],
      key: ['authorization', 'x-api-key'],
      models: [...deepSeekIds, 'claude-*'],
    },
  ],
  key: ['authorization'],
  list: {
    status: 200,
    body: {
      object: 'list',
      data: deepSeekIds.map((id) => ({ id, object: 'model', owned_by: 'deepseek' })),
    },
  },
  models: deepSeekIds,
  wrongKey: refusal(401, {
    message: 'Authentication Fails, Your api key: ****4860 is invalid',
    type: 'authentication_error',
    param: null,
    code: 'invalid_request_error',
  }),
  wrongModel: refusal(400, deepSeekMissing),
  wrongRoute: { status: 404, body: '' },
  setups: {
    responses: { paste: '', args: ['--model', 'deepseek-flash'] },
    chat: { paste: '', args: ['--model', 'deepseek-flash'] },
    messages: {
      paste: '/anthropic',
      args: ['--model', 'deepseek-v4-pro'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  sources: [
    { url: 'https://api-docs.deepseek.com/guides/anthropic_api', date: '2026-11-22' },
    { url: 'https://api-docs.deepseek.com/guides/responses_api', date: '2026-08' },
    { url: 'https://github.com/deepwn/addi/issues/13', date: '2026-03' },
  ],
  unchecked: ['the words for a wrong key', 'what it answers to another path'],
}

const kimiIds = ['kimi-k3', 'kimi-k2.7-code']
const kimiMissing = refusal(404, {
  message: 'Not found the model $MODEL or Permission denied',
  type: 'resource_not_found_error',
})
const moonshot: Shape = {
  name: 'Moonshot',
  host: 'https://api.moonshot.ai',
  roots: [
    { at: '/v1', routes: openAi },
    { at: '/anthropic/v1', routes: ['messages'], key: ['authorization', 'x-api-key'] },
  ],
  key: ['authorization'],
  list: listOf(kimiIds, { owned_by: 'moonshot', context_length: 1_048_576 }),
  models: kimiIds,
  wrongKey: refusal(401, {
    message: 'Invalid Authentication',
    type: 'invalid_authentication_error',
  }),
  wrongModel: kimiMissing,
  wrongRoute: {
    status: 404,
    body: {
      code: 5,
      error: 'url.not_found',
      message: '没找到对象',
      method: '$METHOD',
      scode: '0x5',
      status: false,
      url: '$PATH',
    },
  },
  setups: {
    responses: { paste: '/v1', args: ['--model', 'kimi-k3'] },
    chat: { paste: '/v1', args: ['--model', 'kimi-k3'] },
    messages: {
      paste: '/anthropic',
      args: ['--model', 'kimi-k3'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  sources: [
    { url: 'https://platform.kimi.ai/docs/api/overview.md', date: '2026-11-22' },
    { url: 'https://github.com/langgenius/dify/issues/39778', date: '2026-07' },
    { url: 'https://github.com/continuedev/continue/issues/11231', date: '2026-03' },
  ],
  unchecked: ['what it answers to another path'],
}

const kimiCode: Shape = {
  name: 'Kimi Code',
  host: 'https://api.kimi.com',
  roots: [{ at: '/coding/v1', routes: ['models', 'chat', 'messages'] }],
  key: ['authorization', 'x-api-key'],
  list: listOf(['kimi-for-coding'], { context_length: 262_144 }),
  models: ['kimi-for-coding'],
  agents: {
    names: ['claude-cli/', 'KimiCLI/', 'Kilo-Code/', 'RooCode/'],
    admits: ['claude', 'kilo', 'qwen over messages'],
    otherwise: refusal(403, {
      message:
        'Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.',
      type: 'access_terminated_error',
    }),
  },
  wrongKey: refusal(401, {
    message:
      'The API Key appears to be invalid or may have expired. Please verify your credentials and try again.',
    type: 'invalid_authentication_error',
  }),
  wrongModel: kimiMissing,
  wrongRoute: refusal(404, {
    message: 'The requested resource was not found',
    type: 'resource_not_found_error',
  }),
  setups: {
    responses: {
      paste: '/coding/v1',
      refused: { code: 'protocol-unsupported', says: /responses/ },
    },
    chat: {
      paste: '/coding/v1',
      refused: { code: 'client-refused', says: /Install|installed client/ },
      note: 'it accepts only certain agents: repoint asks the installed client',
    },
    messages: {
      paste: '/coding',
      refused: { code: 'client-refused', says: /Install|installed client/ },
      note: 'repoint asks the installed client',
    },
  },
  sources: [
    { url: 'https://github.com/MoonshotAI/kimi-code/issues/416', date: '2026-06' },
    { url: 'https://github.com/musistudio/claude-code-router/issues/991', date: '2025-11' },
  ],
  unchecked: ['which agents it knows by what', 'the words for a wrong key'],
}

const glmIds = ['glm-5.3', 'glm-5.3-flash']
const zAiKey = {
  status: 401,
  body: { code: 401, msg: 'token expired or incorrect', success: false },
}
const zAi: Shape = {
  name: 'Z.ai',
  host: 'https://api.z.ai',
  roots: [
    { at: '/api/paas/v4', routes: ['models', 'chat'] },
    { at: '/api/coding/paas/v4', routes: ['models', 'chat'] },
    { at: '/api/v1', routes: ['responses'] },
    {
      at: '/api/anthropic/v1',
      routes: ['messages'],
      key: ['authorization', 'x-api-key'],
      wrongKey: zAiKey,
    },
  ],
  key: ['authorization'],
  list: listOf(glmIds, { owned_by: 'z-ai' }),
  models: glmIds,
  wrongKey: refusal(401, { code: '401', message: 'token expired or incorrect' }),
  wrongModel: refusal(400, {
    code: '1211',
    message: 'Unknown Model, please check the model code.',
  }),
  wrongRoute: { status: 200, body: { code: 500, msg: '404 NOT_FOUND', success: false } },
  setups: {
    responses: {
      paste: '/api/v1',
      args: ['--model', 'glm-5.3'],
      note: 'a separate base URL, without a list of models',
    },
    chat: { paste: '/api/coding/paas/v4', args: ['--model', 'glm-5.3'] },
    messages: {
      paste: '/api/anthropic',
      args: ['--model', 'glm-5.3'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '/api/coding/paas/v4',
      args: ['--model', 'glm-5.3'],
      refused: { code: 'protocol-unsupported', says: /responses/ },
    },
    {
      client: 'opencode',
      paste: '',
      args: ['--model', 'glm-5.3'],
      refused: { code: 'wrong-route', says: /127\.0\.0\.1/ },
    },
  ],
  sources: [
    { url: 'https://docs.z.ai/devpack/quick-start.md', date: '2026-11-22' },
    { url: 'https://www.developersdigest.tech/setup/zai/codex-cli', date: '2026-11-22' },
    { url: 'https://docs.z.ai/api-reference/api-code', date: '2026-11-22' },
    { url: 'https://github.com/JailbrokenAI/wallbreaker/issues/20', date: '2026-07' },
    { url: 'https://github.com/chatboxai/chatbox/issues/3052', date: '2025-12' },
  ],
  unchecked: ['the words for a wrong key', 'the status of `404 NOT_FOUND`'],
}

const geminiIds = ['gemini-3.1-pro-preview', 'gemini-3-flash-preview']
/** An error of Gemini's compatible routes, which is in a list. */
const geminiError = (code: number, message: string, status: string, reason: string) => ({
  status: code,
  body: [
    {
      error: {
        code,
        message,
        status,
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' },
        ],
      },
    },
  ],
})
const gemini: Shape = {
  name: 'Gemini, OpenAI-compatible',
  host: 'https://generativelanguage.googleapis.com',
  roots: [{ at: '/v1beta/openai', routes: ['models', 'chat'] }],
  key: ['authorization'],
  list: listOf(
    geminiIds.map((id) => `models/${id}`),
    { owned_by: 'google' },
  ),
  models: [...geminiIds, ...geminiIds.map((id) => `models/${id}`)],
  wrongKey: geminiError(
    400,
    'API key not valid. Please pass a valid API key.',
    'INVALID_ARGUMENT',
    'API_KEY_INVALID',
  ),
  wrongModel: geminiError(
    404,
    'models/$MODEL is not found for API version v1main, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.',
    'NOT_FOUND',
    'NOT_FOUND',
  ),
  wrongRoute: { status: 404, body: '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>' },
  setups: {
    responses: {
      paste: '/v1beta/openai',
      args: ['--model', 'gemini-3.1-pro-preview'],
      refused: { code: 'protocol-unsupported', says: /responses/ },
    },
    chat: { paste: '/v1beta/openai', args: ['--model', 'gemini-3.1-pro-preview'] },
    messages: {
      paste: '/v1beta/openai',
      args: ['--model', 'gemini-3.1-pro-preview'],
      refused: { code: 'protocol-unsupported', says: /messages/ },
    },
  },
  wrongAddresses: [
    {
      client: 'opencode',
      paste: '',
      args: ['--model', 'gemini-3.1-pro-preview'],
      refused: { code: 'not-an-api', says: /127\.0\.0\.1/ },
    },
  ],
  sources: [
    {
      url: 'https://discuss.ai.google.dev/t/where-can-i-find-the-error-format-doc/115017',
      date: '2026-11-22',
    },
    { url: 'https://github.com/OpenCoworkAI/open-codesign/issues/175', date: '2026-11-22' },
    { url: 'https://github.com/assafelovic/gpt-researcher/issues/410', date: '2024-03' },
  ],
  unchecked: ['whether a wrong model comes in a list too'],
}

const arkKey = refusal(401, {
  code: 'AuthenticationError',
  message: 'The API key format is incorrect. Request id: 0217389254687',
  param: '',
  type: 'Unauthorized',
})
const arkModels = ['ark-code-latest', 'doubao-seed-2-1-pro-260628']
const ark: Shape = {
  name: 'Ark',
  host: 'https://ark.cn-beijing.volces.com',
  roots: [
    { at: '/api/v3', routes: openAi },
    { at: '/api/coding/v3', routes: openAi },
    { at: '/api/coding/v1', routes: ['messages'], key: ['authorization', 'x-api-key'] },
    { at: '/api/compatible/v1', routes: ['messages'], key: ['authorization', 'x-api-key'] },
  ],
  key: ['authorization'],
  // The list has every model, but not the model names of the plan.
  list: listOf(['doubao-seed-2-1-pro-260628', 'doubao-seedream-4-0-250828'], { domain: 'LLM' }),
  models: arkModels,
  wrongKey: arkKey,
  wrongModel: refusal(404, {
    code: 'InvalidEndpointOrModel.NotFound',
    message:
      'The model or endpoint $MODEL does not exist or you do not have access to it. Request id: 0217389254687',
    param: '',
    type: 'NotFound',
  }),
  wrongRoute: { status: 404, body: '' },
  setups: {
    responses: {
      paste: '/api/coding/v3',
      args: ['--model', 'ark-code-latest'],
      note: 'the list does not contain the names for plans',
    },
    chat: { paste: '/api/coding/v3', args: ['--model', 'ark-code-latest'] },
    messages: {
      paste: '/api/coding',
      args: ['--model', 'ark-code-latest'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  sources: [
    { url: 'https://github.com/can1357/oh-my-pi/issues/4201', date: '2026-07' },
    { url: 'https://github.com/aipoch/open-science/pull/289', date: '2026-07' },
    { url: 'https://www.volcengine.com/docs/82379/1299023', date: '2026-11-22' },
  ],
  unchecked: ['the words for a wrong key', 'what it answers to another path: 401 was seen too'],
}

const qwenIds = ['qwen3.7-max', 'qwen3.6-flash', 'qwen3-coder-plus']
const dashScope: Shape = {
  name: 'DashScope',
  host: 'https://dashscope-intl.aliyuncs.com',
  roots: [
    { at: '/compatible-mode/v1', routes: openAi },
    {
      at: '/apps/anthropic/v1',
      routes: ['messages'],
      key: ['authorization', 'x-api-key'],
      wrongKey: messagesRefusal(401, 'authentication_error', 'invalid api-key'),
      wrongModel: messagesRefusal(404, 'not_found_error', 'model: $MODEL'),
    },
  ],
  key: ['authorization'],
  list: listOf(qwenIds, { owned_by: 'system' }),
  models: qwenIds,
  wrongKey: {
    status: 401,
    body: {
      error: {
        message:
          'Incorrect API key provided. For details, see: https://www.alibabacloud.com/help/en/model-studio/error-code#apikey-error',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
      request_id: '6e1e7c1a',
    },
  },
  wrongModel: {
    status: 404,
    body: {
      error: {
        message: 'The model `$MODEL` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
      request_id: '6e1e7c1a',
    },
  },
  wrongRoute: { status: 404, body: '' },
  setups: {
    responses: { paste: '/compatible-mode/v1', args: ['--model', 'qwen3.7-max'] },
    chat: { paste: '/compatible-mode/v1', args: ['--model', 'qwen3.7-max'] },
    messages: {
      paste: '/apps/anthropic',
      args: ['--model', 'qwen3.7-max'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  sources: [
    { url: 'https://www.alibabacloud.com/help/en/model-studio/claude-code', date: '2026-02' },
    { url: 'https://github.com/Aider-AI/aider/issues/4712', date: '2025-12' },
  ],
  unchecked: ['the errors of its messages route', 'what it answers to another path'],
}

const miniMaxIds = ['MiniMax-M3', 'MiniMax-M2.7', 'MiniMax-M2.7-highspeed']
const miniMaxError = (status: number, type: string, message: string) => ({
  status,
  body: {
    type: 'error',
    error: { type, message, http_code: String(status) },
    request_id: '063432299e74d9b466b94f06aa8d7835',
  },
})
const miniMax: Shape = {
  name: 'MiniMax',
  host: 'https://api.minimax.io',
  roots: [
    { at: '/v1', routes: openAi },
    { at: '/anthropic/v1', routes: ['messages'], key: ['authorization', 'x-api-key'] },
  ],
  key: ['authorization'],
  list: listOf(miniMaxIds, { owned_by: 'minimax' }),
  models: miniMaxIds,
  wrongKey: miniMaxError(
    401,
    'authorized_error',
    "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
  ),
  wrongModel: miniMaxError(
    400,
    'bad_request_error',
    "invalid params, unknown model '$MODEL' (2013)",
  ),
  wrongRoute: { status: 404, body: '404 page not found' },
  setups: {
    responses: { paste: '/v1', args: ['--model', 'MiniMax-M3'] },
    chat: { paste: '/v1', args: ['--model', 'MiniMax-M3'] },
    messages: {
      paste: '/anthropic',
      args: ['--model', 'MiniMax-M3'],
      note: 'a separate base URL; one model for all slots',
    },
  },
  sources: [
    {
      url: 'https://platform.minimax.io/docs/api-reference/text-anthropic-api',
      date: '2026-11-22',
    },
    {
      url: 'https://www.developersdigest.tech/reference/api-compatibility/minimax',
      date: '2026-11-22',
    },
    { url: 'https://github.com/wavetermdev/waveterm/issues/3238', date: '2026-04' },
  ],
  unchecked: ['the words for a wrong model', 'what it answers to another path'],
}

export const vendors: readonly Shape[] = [
  restricted,
  restrictedAnew,
  azure,
  azureClosed,
  gemini,
  deepSeek,
  moonshot,
  kimiCode,
  zAi,
  ark,
  dashScope,
  miniMax,
]
