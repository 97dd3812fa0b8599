import { everyRoute, listOf, refusal, type Shape } from '../shape.ts'

/** Servers that run models locally. */

const ollamaIds = ['qwen3-coder:30b', 'gpt-oss:20b']
const ollama: Shape = {
  name: 'Ollama',
  host: 'http://localhost:11434',
  roots: [{ at: '/v1', routes: everyRoute }],
  key: [],
  list: listOf(ollamaIds, { owned_by: 'library' }),
  models: ollamaIds,
  wrongKey: refusal(401, { message: 'unauthorized' }),
  wrongModel: refusal(404, {
    message: "model '$MODEL' not found",
    type: 'not_found_error',
    param: null,
    code: null,
  }),
  wrongRoute: { status: 404, body: '404 page not found' },
  setups: {
    responses: { paste: '/v1', args: ['--model', 'gpt-oss:20b'], note: 'any word is a key' },
    chat: { paste: '/v1', args: ['--model', 'gpt-oss:20b'] },
    messages: { paste: '', args: ['--model', 'qwen3-coder:30b'], note: 'one model for all slots' },
  },
  sources: [
    { url: 'https://docs.ollama.com/api/openai-compatibility', date: '2026-11-22' },
    {
      url: 'https://www.developersdigest.tech/reference/api-compatibility/ollama',
      date: '2026-11-22',
    },
  ],
  unchecked: ['the types of its errors'],
}

const studioIds = [
  'openai/gpt-oss-20b',
  'qwen/qwen3-coder-30b',
  'text-embedding-nomic-embed-text-v1.5',
]
const studio: Shape = {
  name: 'LM Studio',
  host: 'http://localhost:1234',
  roots: [{ at: '/v1', routes: everyRoute }],
  key: [],
  list: listOf(studioIds, { owned_by: 'organization_owner' }),
  models: studioIds.slice(0, 2),
  wrongKey: refusal(401, {
    message: 'Invalid API token',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  }),
  wrongModel: refusal(404, {
    message: 'Model "$MODEL" not found',
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  }),
  wrongRoute: { status: 200, body: { error: 'Unexpected endpoint or method. ($METHOD $PATH)' } },
  setups: {
    responses: { paste: '/v1', args: ['--model', 'openai/gpt-oss-20b'] },
    chat: { paste: '/v1', args: ['--model', 'openai/gpt-oss-20b'] },
    messages: {
      paste: '',
      args: ['--model', 'openai/gpt-oss-20b'],
      note: 'one model for all slots',
    },
  },
  wrongAddresses: [
    {
      client: 'codex',
      paste: '/api',
      args: ['--model', 'openai/gpt-oss-20b'],
      refused: { code: 'wrong-route', says: /\/api/ },
    },
  ],
  sources: [
    { url: 'https://lmstudio.ai/docs/developer/anthropic-compat', date: '2026-11-22' },
    { url: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/618', date: '2025-04' },
    { url: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2085', date: '2026-06' },
  ],
  unchecked: ['its error for an unknown model'],
}

const oldStudio: Shape = {
  ...studio,
  name: 'LM Studio 0.3',
  roots: [{ at: '/v1', routes: ['models', 'chat', 'responses'] }],
  setups: {
    ...studio.setups,
    messages: {
      paste: '',
      args: ['--model', 'openai/gpt-oss-20b'],
      refused: { code: 'protocol-unsupported', says: /messages/ },
      note: 'it serves messages since 0.4.1',
    },
  },
  wrongAddresses: [],
  sources: [{ url: 'https://github.com/lmstudio-ai/lms/issues/425', date: '2026-01' }],
}

const vllmId = 'Qwen/Qwen3-Coder-30B-A3B-Instruct'
const vllm: Shape = {
  name: 'vLLM',
  host: 'http://localhost:8000',
  roots: [{ at: '/v1', routes: everyRoute }],
  key: ['authorization'],
  list: listOf([vllmId], { owned_by: 'vllm', root: vllmId, parent: null, max_model_len: 262_144 }),
  models: [vllmId],
  wrongKey: { status: 401, body: { error: 'Unauthorized' } },
  wrongModel: refusal(404, {
    message: 'The model `$MODEL` does not exist.',
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  }),
  wrongRoute: { status: 404, body: { detail: 'Not Found' } },
  setups: {
    responses: { paste: '/v1', note: 'repoint takes its only model' },
    chat: { paste: '/v1' },
    messages: { paste: '', note: 'one model for all slots' },
  },
  sources: [
    {
      url: 'https://www.developersdigest.tech/reference/api-compatibility/vllm',
      date: '2026-11-22',
    },
  ],
  unchecked: ['the errors of its messages route'],
}

const llamaId = 'qwen3-coder-30b-q4_k_m.gguf'
const llama: Shape = {
  name: 'llama.cpp',
  host: 'http://localhost:8080',
  roots: [
    { at: '/v1', routes: everyRoute },
    { at: '', routes: ['models', 'chat'] },
  ],
  key: ['authorization', 'x-api-key'],
  isListPublic: true,
  list: {
    status: 200,
    body: {
      models: [{ name: llamaId, model: llamaId, type: 'model' }],
      object: 'list',
      data: [
        {
          id: llamaId,
          object: 'model',
          created: 1_760_000_000,
          owned_by: 'llamacpp',
          meta: { n_ctx: 131_072, n_ctx_train: 262_144 },
        },
      ],
    },
  },
  // A server with one model ignores the model name of a request.
  models: ['*'],
  wrongKey: refusal(401, { code: 401, message: 'Invalid API Key', type: 'authentication_error' }),
  wrongModel: refusal(404, { code: 404, message: 'model not found', type: 'not_found_error' }),
  wrongRoute: refusal(404, { code: 404, message: 'File Not Found', type: 'not_found_error' }),
  setups: {
    responses: { paste: '/v1', note: 'repoint takes its only model' },
    chat: { paste: '/v1' },
    messages: { paste: '' },
  },
  sources: [
    {
      url: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
      date: '2026-11-22',
    },
  ],
  unchecked: ['its errors'],
}

export const local: readonly Shape[] = [ollama, studio, oldStudio, vllm, llama]
