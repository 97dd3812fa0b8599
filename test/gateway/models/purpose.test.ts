import { describe, expect, test } from 'vitest'
import { isCatalogBody, readPage } from '../../../src/gateway/models/catalog.ts'
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
  ])('%j stays', (entry) => {
    expect(isOffered(entry)).toBe(true)
  })
})
