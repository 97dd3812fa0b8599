import { describe, expect, test } from 'vitest'
import { isCatalogBody, readPage } from '../../../src/gateway/models/catalog-page.ts'
import { isChatModel } from '../../../src/gateway/models/rules.ts'

const idsIn = (body: unknown) => readPage(JSON.stringify(body), [], 100).models.map(({ id }) => id)

const two = [{ id: 'a-1' }, { id: 'b-2' }]

describe('catalog: formats of all gateways', () => {
  test.each<[string, unknown]>([
    ['a map below data', { data: { 'a-1': { owned_by: 'x' }, 'b-2': {} } }],
    ['a map below models', { models: { 'a-1': {}, 'b-2': { slug: 'b-2' } } }],
    ['a map at the root', { 'a-1': { mode: 'chat' }, 'b-2': { mode: 'chat' } }],
    ['data.models', { code: 0, data: { models: two } }],
    ['data.list', { success: true, data: { list: two, total: 2 } }],
    ['items', { items: two }],
    ['result.items', { result: { items: two } }],
    ['response.data.records', { response: { data: { records: two } } }],
    ['slug', { models: [{ slug: 'a-1', title: 'A' }, { slug: 'b-2' }] }],
    ['model_name', { data: [{ model_name: 'a-1' }, { model_name: 'b-2' }] }],
    ['modelId', { modelSummaries: [{ modelId: 'a-1' }, { modelId: 'b-2' }] }],
    ['key', { models: [{ key: 'a-1' }, { key: 'b-2' }] }],
    ['strings', { models: ['a-1', 'b-2'] }],
    [
      'a number of a database',
      {
        result: [
          { id: '429b9e8b-d99e-44de-91ad-706cf8183658', name: 'a-1' },
          { id: '7f9a76e1-d120-48dd-a565-101d328bbb02', name: 'b-2' },
        ],
      },
    ],
    [
      'providers with models each',
      {
        data: [
          { provider: 'x', models: [{ id: 'a-1' }] },
          { provider: 'y', models: [{ id: 'b-2' }] },
        ],
      },
    ],
  ])('%s', (_name, body) => {
    expect(idsIn(body)).toEqual(['a-1', 'b-2'])
    expect(isCatalogBody(JSON.stringify(body))).toBe(true)
  })

  test.each<[unknown]>([
    [{ detail: { a: {} } }],
    [{ status: { healthy: true }, version: { major: 1 } }],
    [{ data: { id: 7 } }],
    [{ data: { user: 'x' } }],
    [{ message: 'x' }],
  ])('%j is not a catalog', (body) => {
    expect(isCatalogBody(JSON.stringify(body))).toBe(false)
  })
})

const isOffered = (entry: object) =>
  readPage(JSON.stringify({ data: [{ id: 'm-1', ...entry }] }), [], 1).models.every(isChatModel)

describe('catalog: models that cannot hold a conversation are skipped', () => {
  test.each<[object]>([
    [{ type: 'embedding' }],
    [{ type: 'IMAGE' }],
    [{ type: 'text-embedding' }],
    [{ model_type: 'rerank' }],
    [{ sub_type: 'speech-to-text' }],
    [{ task: 'text-to-image' }],
    [{ task: { name: 'Automatic Speech Recognition' } }],
    [{ tasks: ['feature-extraction'] }],
    [{ pipeline_tag: 'text-to-speech' }],
    [{ mode: 'image_generation' }],
    [{ model_info: { mode: 'audio_transcription' } }],
    [{ object: 'embedding_model' }],
    [{ kind: 'EMBEDDING_MODEL' }],
    [{ purpose: 'moderation' }],
    [{ reported_type: 'text-to-video' }],
    [{ capabilities: { type: 'embeddings' } }],
    [{ capabilities: { completion_chat: false, fine_tuning: true } }],
    [{ capabilities: { chat_completion: false, embeddings: true } }],
    [{ capabilities: ['embedding'] }],
    [{ capabilities: ['text-to-image', 'inpainting-image'] }],
    [{ supports_chat: false }],
    [{ output_modalities: ['image'] }],
    [{ outputModalities: ['EMBEDDING'] }],
    [{ modalities: { input: ['text'], output: ['audio'] } }],
    [{ architecture: { modality: 'text->image' } }],
    [{ type: 'language', output_modalities: ['video'] }],
    [{ endpoints: ['embed', 'classify'] }],
    [{ supported_endpoints: ['/v1/images/generations'] }],
    [{ supportedGenerationMethods: ['embedContent'] }],
    [{ active: false }],
    [{ enabled: false, type: 'chat' }],
    [{ status: 'Offline' }],
    [{ archived: true }],
  ])('%j', (entry) => {
    expect(isOffered(entry)).toBe(false)
  })

  test.each<[object]>([
    [{}],
    [{ object: 'model', type: 'model' }],
    [{ type: 'chat' }],
    [{ type: 'language' }],
    [{ type: 'llm', capabilities: ['vision', 'audio'] }],
    [{ type: 'vlm' }],
    [{ task: 'image-text-to-text' }],
    [{ task: { name: 'Text Generation' } }],
    [{ pipeline_tag: 'any-to-any' }],
    [{ mode: 'responses' }],
    [{ capabilities: { completion_chat: true, vision: true, ocr: true } }],
    [{ capabilities: { type: 'chat', family: 'gpt' } }],
    [{ capabilities: ['completion', 'tools', 'vision'] }],
    [{ output_modalities: ['text', 'image'] }],
    [{ architecture: { modality: 'text+image+audio->text', input_modalities: ['audio'] } }],
    [{ endpoints: ['chat', 'embed'] }],
    [{ supported_endpoints: ['/chat/completions', '/v1/messages'] }],
    [{ supportedGenerationMethods: ['generateContent', 'countTokens'] }],
    [{ active: true, status: 'live' }],
    [{ status: 'deprecated' }],
    [{ tasks: ['embedding', 'chat'] }],
  ])('%j is kept', (entry) => {
    expect(isOffered(entry)).toBe(true)
  })
})

const otherShapes: readonly unknown[] = [
  { Data: [{ Id: 'a-1' }, { Id: 'b-2' }] },
  { Models: [{ ModelName: 'a-1' }, { ModelName: 'b-2' }] },
  { Response: { ModelList: [{ ModelName: 'a-1' }, { ModelName: 'b-2' }] } },
  { Result: { Items: [{ Name: 'a-1' }, { Name: 'b-2' }] } },
  { data: { data: two } },
  { data: ['a-1', 'b-2'] },
  ['a-1', 'b-2'],
  two,
  { model_ids: ['a-1', 'b-2'] },
  {
    deployments: [
      { id: 'a-1', model: 'x' },
      { id: 'b-2', model: 'y' },
    ],
  },
  { endpoints: [{ name: 'a-1', state: { ready: 'READY' } }, { name: 'b-2' }] },
  {
    openai: { id: 'openai', models: { 'a-1': { id: 'a-1' } } },
    z: { id: 'z', models: { 'b-2': { name: 'B' } } },
  },
  {
    providers: [
      { name: 'x', models: ['a-1'] },
      { name: 'y', models: ['b-2'] },
    ],
  },
  { data: { chat: ['a-1'], code: ['b-2'] } },
  { models: { language: [{ id: 'a-1' }], vision: [{ id: 'b-2' }] } },
  { catalogue: two },
  { success: true, message: '', info: { x: 1 }, llms: [{ model_id: 'a-1' }, { model_id: 'b-2' }] },
  {
    data: [
      { model: 'a-1', provider: 'q' },
      { model: 'b-2', provider: 'q' },
    ],
  },
  {
    data: [
      { id: 1, name: 'a-1' },
      { id: 2, name: 'b-2' },
    ],
  },
  { models: { 'a-1': { name: 'Alpha One' }, 'b-2': { name: 'Beta Two' } } },
  { data: { 'a-1': { label: 'A' }, 'b-2': { label: 'B' } } },
  { code: 200, result: { list: { records: two } } },
  { modelInfos: [{ modelCode: 'a-1', name: 'a-1' }, { name: 'b-2' }] },
  { object: 'list', data: [{ id: 'a-1', object: 'model' }, null, 7, { id: 'b-2' }] },

  { status: 'success', data: { total: 2, page: 1, models: [{ slug: 'a-1' }, { slug: 'b-2' }] } },
  { model_list: [{ model_name: 'a-1', litellm_params: { model: 'x' } }, { model_name: 'b-2' }] },
  {
    data: [
      { attributes: {}, id: 'a-1', type: 'models' },
      { id: 'b-2', type: 'models' },
    ],
  },
  { hits: [{ modelId: 'a-1' }, { modelId: 'b-2' }] },
  { data: { items: [{ key: 'a-1' }, { key: 'b-2' }], next: null } },
  { available: ['a-1', 'b-2'] },
  { _embedded: { models: [{ id: 'a-1' }, { id: 'b-2' }] } },
  { value: [{ id: 'a-1' }, { id: 'b-2' }], '@odata.count': 2 },
  { results: { models: { 'a-1': { ctx: 1 }, 'b-2': { ctx: 2 } } } },
  {
    data: [
      { provider: 'x', models: { 'a-1': { ctx: 1 } } },
      { provider: 'y', models: { 'b-2': {} } },
    ],
  },
  { text: [{ id: 'a-1' }], code: [{ id: 'b-2' }] },
]

describe('catalog: formats that no source describes', () => {
  test.each(otherShapes.map((body) => [body]))('%j', (body) => {
    expect(idsIn(body)).toEqual(['a-1', 'b-2'])
    expect(isCatalogBody(JSON.stringify(body))).toBe(true)
  })

  const others: readonly unknown[] = [
    { status: 'ok', routes: ['/v1/chat'] },
    { status: 'ok', checks: { db: { up: true } } },
    { detail: [{ loc: ['x'], msg: 'y' }] },
    { errors: [{ id: 'e1', message: 'x' }] },
    { message: 'hi', data: { id: 'x' } },
    { name: 'gw', version: '1', endpoints: { chat: '/v1/chat' } },
    { users: ['a', 'b'] },
    { features: [{ name: 'x' }] },
    {},
    { ok: true, uptime: 3 },
  ]
  test.each(others.map((body) => [body]))('%j is not a catalog', (body) => {
    expect(isCatalogBody(JSON.stringify(body))).toBe(false)
  })
})

describe('catalog: any member can name the purpose of a model', () => {
  const skippedEntries: readonly object[] = [
    { type: 'Text Embedding' },
    { tags: ['embedding'] },
    { category: 'Speech' },
    { features: ['embeddings'] },
    { capabilities: { embeddings: true } },
    { supports: { chat: false } },
    { endpoint_type: 'embeddings' },
    { interfaces: ['embeddings'] },
    { api: 'embeddings' },
    { model_category: 'image' },
    { domain: 'audio' },
    { use_case: 'embedding' },
    { supported_tasks: ['embed'] },
    { output: { type: 'image' } },
    { responseType: 'image' },
    { details: { family: 'bert', families: ['bert'] } },
    { arch: 'nomic-bert' },
    { dimensions: 1536 },
    { is_embedding: true },
    { is_chat: false },
    { model_picker_enabled: false },
    { policy: { state: 'disabled' } },
    { visibility: 'hide' },
    { hidden: true },
    { ready: false },
    { status: { state: 'OFFLINE' } },
    { state: 'Suspended' },
    { metadata: { kind: 'reranker' } },
    { spec: { task: 'text-to-video' } },
    { model_spec: { type: 'image' } },
    { offline: true },
    { info: { modalities: { output: ['audio'] } } },
    { capabilities: { chat_completions: false } },
    { task_type: 'ASR' },
    { Type: 'EMBEDDING' },
    { modelType: 'TTS' },
    { supported_endpoints: ['/v1/audio/speech'] },
    { output_modality: 'video' },
    { abilities: ['image-generation'] },
    { labels: ['moderation'] },
    { isReranker: true },
    { supports_image_generation: true },
    { type: 'diffusion' },
    { embedding_dimensions: 768 },
    { endpoint: '/v1/rerank' },
    { function: 'embedding' },
    { role: 'embed' },
    { modality: 'text2image' },
    { modality: 'image' },
    { model_class: 'Embedding' },
    { primary_task: 'Speech Recognition' },
    { Category: 'Embeddings' },
    { meta: { task: 'image-generation' } },
    { spec: { kind: 'TTS' } },
    { attributes: { output_types: ['audio'] } },
    { capabilities: { completion: false } },
    { profile: { type: 'reranking' } },
    { can_chat: false },
    { supported_methods: ['transcribe'] },
    { status: 'Retired' },
    { isAvailable: false },
    { availability: 'unavailable' },
    { outputs: ['image/png'] },
    { returns: 'embedding' },
    { modelCapabilities: ['EMBEDDING'] },
    { kind: 'classifier' },
    { supports_text_generation: false },
  ]
  test.each(skippedEntries.map((entry) => [entry]))('%j', (entry) => {
    expect(isOffered(entry)).toBe(false)
  })

  const offered: readonly object[] = [
    {},
    { type: 'model' },
    { tags: ['vision', 'image-input', 'audio'] },
    { features: ['vision', 'function-calling'] },
    { capabilities: { vision: true, image: true } },
    { modalities: ['text', 'image'] },
    { input_modalities: ['image', 'text'], output_modalities: ['text'] },
    { details: { family: 'llama', families: ['llama', 'clip'] } },
    { state: 'not-loaded', type: 'llm' },
    { status: { value: 'unloaded' } },
    { pricing: { image: 0, enabled: false } },
    { permission: [{ allow_view: false }] },
    { features: { web_search: { enabled: false } } },
    { architecture: { modality: 'text+image->text', tokenizer: 'GPT' } },
    { deprecated: true },
    { status: 'preview' },
    { status: 'READY' },
    { supported_parameters: ['tools'], category: 'flagship' },
    { type: 'chat', supported_endpoints: ['/v1/images'] },
    { capabilities: ['image', 'tools'] },
    { object: 'model', owned_by: 'image-lab' },
    { domain: 'general' },
    { usage: 'general' },
    { mode: 'chat', supports_embedding: false },
    { task: 'conversational' },
    {
      capabilities: {
        object: 'model_capabilities',
        type: 'chat',
        supports: { tool_calls: true, embeddings: false },
      },
      model_picker_enabled: true,
    },
    { modality: 'multimodal' },
    { category: 'reasoning' },
    { api: 'anthropic-messages' },
    { endpoint: 'https://gw.example/v1' },
    { supported_generation_methods: ['generateContent', 'embedContent'] },
    { use_case: 'coding' },
    { category: 'vision' },
    { type: 'vision' },
    { meta: { tags: ['image understanding'] } },
    { outputs: ['text/plain'] },
    { capabilities: ['chat', 'embeddings'] },
    { limits: { available: false } },
    { flags: { hidden: true } },
    { scope: 'public' },
    { profile: { image: 'https://x/y.png', type: 'base' } },
    { description: 'creates images and embeddings' },
    { name: 'Image lover' },
    { pricing: { type: 'per_image' } },
    { owned_by: 'speech-team' },
    { voice: true },
    { type: 'foundation' },
    { type: 'code' },
    { status: 'Generally available' },
  ]
  test.each(offered.map((entry) => [entry]))('%j is kept', (entry) => {
    expect(isOffered(entry)).toBe(true)
  })
})
