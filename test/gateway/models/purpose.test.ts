import { describe, expect, test } from 'vitest'
import { isCatalogBody, readPage } from '../../../src/gateway/models/catalog-page.ts'
import { isChatModel } from '../../../src/gateway/models/rules.ts'

const idsIn = (body: unknown) => readPage(JSON.stringify(body), [], 100).models.map(({ id }) => id)

const two = [{ id: 'a-1' }, { id: 'b-2' }]

/** Lists of the models a-1 and b-2. Some formats are of gateways, others were found in no source. */
const formats: readonly unknown[] = [
  // Lists below one or more names.
  two,
  ['a-1', 'b-2'],
  { items: two },
  { model_ids: ['a-1', 'b-2'] },
  { available: ['a-1', 'b-2'] },
  { code: 200, result: { list: { records: two } } },
  { data: { items: [{ key: 'a-1' }, { key: 'b-2' }], next: null } },
  { Response: { ModelList: [{ ModelName: 'a-1' }, { ModelName: 'b-2' }] } },
  { success: true, message: '', info: { x: 1 }, llms: [{ model_id: 'a-1' }, { model_id: 'b-2' }] },
  { endpoints: [{ name: 'a-1', state: { ready: 'READY' } }, { name: 'b-2' }] },
  // The member that has the ID.
  { models: [{ slug: 'a-1', title: 'A' }, { slug: 'b-2' }] },
  { modelInfos: [{ modelCode: 'a-1', name: 'a-1' }, { name: 'b-2' }] },
  {
    data: [
      { model: 'a-1', provider: 'q' },
      { model: 'b-2', provider: 'q' },
    ],
  },
  // The IDs are those of a database.
  {
    result: [
      { id: '429b9e8b-d99e-44de-91ad-706cf8183658', name: 'a-1' },
      { id: '7f9a76e1-d120-48dd-a565-101d328bbb02', name: 'b-2' },
    ],
  },
  // Maps by ID, purpose or provider.
  { data: { 'a-1': { owned_by: 'x' }, 'b-2': {} } },
  { models: { 'a-1': {}, 'b-2': { slug: 'b-2' } } },
  { 'a-1': { mode: 'chat' }, 'b-2': { mode: 'chat' } },
  { data: { chat: ['a-1'], code: ['b-2'] } },
  {
    providers: [
      { name: 'x', models: ['a-1'] },
      { name: 'y', models: ['b-2'] },
    ],
  },
  {
    openai: { id: 'openai', models: { 'a-1': { id: 'a-1' } } },
    z: { id: 'z', models: { 'b-2': { name: 'B' } } },
  },
]

describe('catalog: formats of all gateways', () => {
  test.each(formats.map((body) => [body]))('%j', (body) => {
    expect(idsIn(body)).toEqual(['a-1', 'b-2'])
    expect(isCatalogBody(JSON.stringify(body))).toBe(true)
  })

  test.each<[unknown]>([
    [{ data: { id: 7 } }],
    [{ message: 'hi', data: { id: 'x' } }],
    [{ errors: [{ id: 'e1', message: 'x' }] }],
    [{ status: 'ok', checks: { db: { up: true } } }],
    [{ name: 'gw', version: '1', endpoints: { chat: '/v1/chat' } }],
    [{ users: ['a', 'b'] }],
  ])('%j is not a catalog', (body) => {
    expect(isCatalogBody(JSON.stringify(body))).toBe(false)
  })
})

const isOffered = (entry: object) =>
  readPage(JSON.stringify({ data: [{ id: 'm-1', ...entry }] }), [], 1).models.every(isChatModel)

describe('catalog: models that cannot hold a conversation are skipped', () => {
  test.each<[object]>([
    // A member that names the purpose.
    [{ type: 'diffusion' }],
    [{ task: 'text-to-image' }],
    [{ task: { name: 'Automatic Speech Recognition' } }],
    [{ tasks: ['feature-extraction'] }],
    [{ primary_task: 'Speech Recognition' }],
    [{ model_info: { mode: 'audio_transcription' } }],
    [{ object: 'embedding_model' }],
    [{ kind: 'EMBEDDING_MODEL' }],
    [{ kind: 'classifier' }],
    [{ purpose: 'moderation' }],
    [{ model_category: 'image' }],
    [{ domain: 'audio' }],
    [{ arch: 'nomic-bert' }],
    [{ returns: 'embedding' }],
    [{ responseType: 'image' }],
    [{ output_modality: 'video' }],
    [{ output_modalities: ['image'] }],
    [{ modalities: { input: ['text'], output: ['audio'] } }],
    [{ architecture: { modality: 'text->image' } }],
    [{ attributes: { output_types: ['audio'] } }],
    // Abilities and routes.
    [{ capabilities: { completion: false } }],
    [{ capabilities: { completion_chat: false, fine_tuning: true } }],
    [{ capabilities: { chat_completions: false } }],
    [{ capabilities: { embeddings: true } }],
    [{ capabilities: ['text-to-image', 'inpainting-image'] }],
    [{ supports_image_generation: true }],
    [{ supports_text_generation: false }],
    [{ can_chat: false }],
    [{ is_chat: false }],
    [{ is_embedding: true }],
    [{ isReranker: true }],
    [{ dimensions: 1536 }],
    [{ endpoint: '/v1/rerank' }],
    [{ supportedGenerationMethods: ['embedContent'] }],
    [{ supported_methods: ['transcribe'] }],
    // The model is not available.
    [{ active: false }],
    [{ enabled: false, type: 'chat' }],
    [{ archived: true }],
    [{ offline: true }],
    [{ hidden: true }],
    [{ ready: false }],
    [{ isAvailable: false }],
    [{ availability: 'unavailable' }],
    [{ visibility: 'hide' }],
    [{ status: 'Retired' }],
    [{ status: { state: 'OFFLINE' } }],
    [{ state: 'Suspended' }],
    [{ policy: { state: 'disabled' } }],
    [{ model_picker_enabled: false }],
  ])('%j', (entry) => {
    expect(isOffered(entry)).toBe(false)
  })

  test.each<[object]>([
    [{}],
    [{ object: 'model', type: 'model' }],
    [{ type: 'chat', supported_endpoints: ['/v1/images'] }],
    [{ type: 'vision' }],
    [{ task: 'image-text-to-text' }],
    [{ task: { name: 'Text Generation' } }],
    [{ tasks: ['embedding', 'chat'] }],
    [{ pipeline_tag: 'any-to-any' }],
    [{ mode: 'chat', supports_embedding: false }],
    [{ tags: ['vision', 'image-input', 'audio'] }],
    [{ capabilities: { vision: true, image: true } }],
    [{ capabilities: ['chat', 'embeddings'] }],
    [
      {
        capabilities: {
          object: 'model_capabilities',
          type: 'chat',
          supports: { tool_calls: true, embeddings: false },
        },
        model_picker_enabled: true,
      },
    ],
    [{ output_modalities: ['text', 'image'] }],
    [{ architecture: { modality: 'text+image+audio->text', input_modalities: ['audio'] } }],
    [{ details: { family: 'llama', families: ['llama', 'clip'] } }],
    [{ supported_generation_methods: ['generateContent', 'embedContent'] }],
    [{ supported_endpoints: ['/chat/completions', '/v1/messages'] }],
    [{ state: 'not-loaded', type: 'llm' }],
    [{ status: { value: 'unloaded' } }],
    [{ active: true, status: 'live' }],
    [{ deprecated: true }],
    [{ flags: { hidden: true } }],
    [{ permission: [{ allow_view: false }] }],
    [{ features: { web_search: { enabled: false } } }],
    [{ pricing: { image: 0, enabled: false } }],
    [{ pricing: { type: 'per_image' } }],
    [{ owned_by: 'image-lab' }],
    [{ name: 'Image lover', description: 'creates images and embeddings' }],
    [{ voice: true }],
  ])('%j is kept', (entry) => {
    expect(isOffered(entry)).toBe(true)
  })
})
