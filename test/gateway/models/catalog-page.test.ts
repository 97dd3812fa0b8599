import { describe, expect, test } from 'vitest'
import { isCatalogBody, readPage } from '../../../src/gateway/models/catalog-page.ts'

const models = (body: unknown) => readPage(JSON.stringify(body), [], 100).models

describe('catalog: every format', () => {
  test.each([
    [
      'New API',
      {
        success: true,
        object: 'list',
        data: [
          {
            id: 'gpt-5.6-sol',
            object: 'model',
            created: 1626777600,
            owned_by: 'openai',
            supported_endpoint_types: ['openai', 'openai-response'],
          },
        ],
      },
      [{ id: 'gpt-5.6-sol', endpointTypes: ['openai', 'openai-response'] }],
    ],
    [
      'OpenRouter',
      {
        data: [
          {
            id: 'openai/gpt-5.6-sol',
            name: 'OpenAI: GPT 5.6 Sol',
            context_length: 400000,
            top_provider: { context_length: 400000, max_completion_tokens: 128000 },
          },
        ],
      },
      [
        {
          id: 'openai/gpt-5.6-sol',
          displayName: 'OpenAI: GPT 5.6 Sol',
          contextWindow: 400000,
          outputLimit: 128000,
        },
      ],
    ],
    [
      'Ollama, its own',
      { models: [{ name: 'llama3.2:3b', model: 'llama3.2:3b', size: 1 }] },
      [{ id: 'llama3.2:3b' }],
    ],
    [
      'llama.cpp',
      {
        models: [{ name: '/m/a.gguf', model: '/m/a.gguf' }],
        object: 'list',
        data: [
          {
            id: '/m/a.gguf',
            object: 'model',
            owned_by: 'llamacpp',
            meta: { n_ctx_train: 131072, n_ctx: 4096 },
          },
        ],
      },
      [{ id: '/m/a.gguf', contextWindow: 4096 }],
    ],
    [
      'messages-style',
      {
        data: [
          {
            id: 'claude-opus-5-5',
            type: 'model',
            display_name: 'Claude Opus 5.5',
            created_at: '2026-10-01T00:00:00Z',
          },
        ],
        first_id: 'a',
        last_id: 'a',
        has_more: false,
      },
      [{ id: 'claude-opus-5-5', displayName: 'Claude Opus 5.5' }],
    ],
    ['none', { object: 'list', data: [] }, []],
  ])('%s', (_name, body, expected) => {
    expect(isCatalogBody(JSON.stringify(body))).toBe(true)
    expect(models(body)).toEqual(expected)
  })
})

test('catalog: a repeated ID counts once, and entries without a usable ID are ignored', () => {
  const data = [
    { id: 'a', owned_by: 'x' },
    { id: 'a' },
    {},
    null,
    7,
    { id: '' },
    { id: 'b\u001b[31m' },
    { id: 'x'.repeat(301) },
    { id: '__proto__' },
  ]
  expect(models({ data })).toEqual([{ id: 'a' }, { id: '__proto__' }])
})

describe('catalog: unsafe names are skipped and counted', () => {
  const key = 'sk-live-abcdefghijklmnop'
  const read = (data: readonly unknown[], secret = key) =>
    readPage(JSON.stringify({ data }), [secret], 100)

  test.each([
    ['a direction mark', 'gpt-\u202e5.6'],
    ['a character of no width', 'gpt-\u200b5.6'],
    ['an escape', 'gpt-\u001b[31m'],
    ['a line break', 'gpt\n-5.6'],
    ['a line separator', 'gpt\u2028-5.6'],
    ['half of a surrogate pair', 'gpt-\ud800'],
    ['201 characters', 'x'.repeat(201)],
    ['the key', key],
    ['the key inside', `gpt-${key}-5.6`],
    ['the key in capitals', key.toUpperCase()],
    ['the key as base64', btoa(`x${key}`)],
  ])('an id with %s', (_name, id) => {
    expect(read([{ id: 'a' }, { id }, id])).toMatchObject({ models: [{ id: 'a' }], skipped: 2 })
  })

  test('an unsafe field is left out, but not its model', () => {
    const display_name = `Model ${key}`
    const supported_endpoint_types = ['openai', key]
    const page = read([{ id: 'a', display_name, supported_endpoint_types }])
    expect(page.models).toEqual([{ id: 'a', endpointTypes: ['openai'] }])
    expect(page.skipped).toBe(0)
  })

  test('names of 200 characters, in other alphabets and with short words that serve as a key are kept', () => {
    const data = [{ id: '模'.repeat(200) }, { id: 'ollama/llama3' }]
    expect(read(data, 'ollama')).toMatchObject({ models: data, skipped: 0 })
  })

  test('a list with only such names is still a catalog', () => {
    expect(isCatalogBody(JSON.stringify({ data: [{ id: '\u202e' }] }))).toBe(true)
  })
})

test('catalog: invalid numbers are ignored', () => {
  for (const context_length of [0, -1, 1.5, '128k', null, true, 1e300, [], {}]) {
    expect(models({ data: [{ id: 'a', context_length }] })).toEqual([{ id: 'a' }])
  }
  expect(models({ data: [{ id: 'a', context_length: '131072' }] })).toEqual([
    { id: 'a', contextWindow: 131072 },
  ])
})

test.each([
  ['', false],
  ['null', false],
  ['[]', true],
  ['{}', false],
  ['"data"', false],
  ['{"data":{}}', false],
  ['{"data":[1,2]}', false],
  ['{"error":{"message":"x"},"data":[]}', false],
  ['{"error":null,"data":[]}', true],
  ['<html></html>', false],
  ['{"data":[', false],
])('catalog: %s is a catalog: %s', (body, expected) => {
  expect(isCatalogBody(body)).toBe(expected)
})

test('catalog: reads at most the given number of models, and reports that there are more', () => {
  const read = (ids: string[], limit: number) =>
    readPage(JSON.stringify({ data: ids.map((id) => ({ id })) }), [], limit)
  expect(read(['a', 'b', 'a', 'c'], 2)).toMatchObject({
    models: [{ id: 'a' }, { id: 'b' }],
    isCut: true,
  })
  expect(read(['a', 'b', 'a'], 2)).toMatchObject({
    models: [{ id: 'a' }, { id: 'b' }],
    isCut: false,
  })
})
