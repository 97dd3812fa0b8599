import { describe, expect, test } from 'vitest'
import { readPage } from '../../../src/gateway/models/catalog-page.ts'
import { snapshotSource, withKnownFacts } from '../../../src/gateway/models/facts.ts'

const read = (entry: object) =>
  readPage(JSON.stringify({ data: [{ id: 'm', ...entry }] }), [], 9).models[0]

describe('the facts of a catalog', () => {
  test.each([
    [
      'OpenRouter',
      {
        context_length: 1_000_000,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        top_provider: { max_completion_tokens: 64_000 },
        supported_parameters: ['max_tokens', 'reasoning', 'tools'],
      },
      {
        contextWindow: 1_000_000,
        outputLimit: 64_000,
        images: true,
        reasoning: true,
        tools: true,
      },
    ],
    [
      'OpenRouter, of a model that can less',
      { architecture: { input_modalities: ['text'] }, supported_parameters: ['max_tokens'] },
      { images: false, reasoning: false, tools: false },
    ],
    [
      'LiteLLM',
      {
        max_input_tokens: 200_000,
        max_output_tokens: 8000,
        supports_vision: true,
        supports_function_calling: false,
        supports_reasoning: false,
      },
      {
        contextWindow: 200_000,
        outputLimit: 8000,
        images: true,
        reasoning: false,
        tools: false,
      },
    ],
    [
      'LiteLLM, /model/info',
      {
        model_info: { max_input_tokens: '9000', supports_vision: false, supports_reasoning: true },
      },
      { contextWindow: 9000, images: false, reasoning: true },
    ],
    ['vLLM', { max_model_len: 32_768 }, { contextWindow: 32_768 }],
    [
      'Groq',
      { context_window: 131_072, max_completion_tokens: 32_768 },
      { contextWindow: 131_072, outputLimit: 32_768 },
    ],
    [
      'Mistral',
      {
        max_context_length: 131_072,
        capabilities: { vision: false, function_calling: true, reasoning: true },
      },
      { contextWindow: 131_072, images: false, reasoning: true, tools: true },
    ],
    [
      'Moonshot',
      { context_length: 262_144, supports_image_in: true, supports_reasoning: true },
      { contextWindow: 262_144, images: true, reasoning: true },
    ],
    [
      'Anthropic',
      {
        max_input_tokens: 1_000_000,
        capabilities: { image_input: { supported: true }, thinking: { supported: true } },
      },
      { contextWindow: 1_000_000, images: true, reasoning: true },
    ],
    [
      'Ollama',
      { capabilities: ['completion', 'tools', 'thinking', 'vision'] },
      { images: true, reasoning: true, tools: true },
    ],
    [
      'llama.cpp',
      { capabilities: ['completion', 'multimodal'], meta: { n_ctx: 8192 } },
      { contextWindow: 8192, images: true },
    ],
    ['a gateway that reports nothing', { owned_by: 'me' }, {}],
    [
      'a gateway that says nonsense',
      { capabilities: 7, architecture: null, context_length: -1, supports_vision: 'yes' },
      {},
    ],
  ])('%s', (_, entry, facts) => {
    expect(read(entry)).toEqual({ id: 'm', ...facts })
  })
})

describe('the snapshot of models.dev', () => {
  const flagship = {
    contextWindow: 1_050_000,
    outputLimit: 128_000,
    images: true,
    reasoning: true,
    tools: true,
  }

  test.each(['gpt-5.6-sol', 'openai/gpt-5.6-sol', 'gpt-5.6-sol-2026-07-09', 'GPT-5.6-Sol'])(
    'knows %s',
    (id) => {
      expect(withKnownFacts({ id })).toEqual({ id, ...flagship })
    },
  )

  test('has a date', () => {
    expect(snapshotSource).toMatch(/^models\.dev, 2026-\d\d-\d\d$/)
  })

  test.each(['gpt-5.6-sol-fast', 'my-deployment', 'llama3.2:3b', '__proto__', 'constructor'])(
    'does not know %s',
    (id) => {
      expect(withKnownFacts({ id })).toEqual({ id })
    },
  )

  test('has the facts of the maker, and that some models cannot see or reason', () => {
    expect(withKnownFacts({ id: 'glm-5' })).toMatchObject({ images: false, reasoning: true })
    expect(withKnownFacts({ id: 'gpt-4o' })).toMatchObject({ images: true, reasoning: false })
  })

  test('has no window for a model whose window it does not know', () => {
    expect(withKnownFacts({ id: 'voxtral-mini-latest' })).toEqual({
      id: 'voxtral-mini-latest',
      images: false,
      reasoning: false,
      tools: false,
    })
  })

  test('the facts of the gateway override the snapshot, also with a smaller context window', () => {
    const reported = { id: 'gpt-5.6-sol', contextWindow: 20_000, images: false }
    expect(withKnownFacts(reported)).toEqual({ ...flagship, ...reported, outputLimit: 20_000 })
  })
})
