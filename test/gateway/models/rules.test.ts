import { describe, expect, test } from 'vitest'
import {
  aliasTarget,
  closestModels,
  defaultModels,
  gptTiers,
  isChatModel,
  messagesTiers,
  resolveModel,
  smallModel,
  supportsProtocol,
} from '../../../src/gateway/models/rules.ts'
import type { Catalog, CatalogModel, Protocol } from '../../../src/gateway/types.ts'
import { fc } from '../../support/fast-check.ts'

const of = (...ids: string[]): CatalogModel[] => ids.map((id) => ({ id }))
const catalog = (...ids: string[]): Catalog => ({ models: of(...ids) })

/** The models of the service on 2026-11-21. */
const today = catalog(
  'claude-opus-4-8',
  'gpt-5.4',
  'gpt-5.4-mini',
  'gpt-5.5',
  'gpt-5.6',
  'gpt-5.6-luna',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-image-2',
  'gpt-realtime',
)

describe('model rules: the default is the newest sol', () => {
  test.each([
    ['today', today, 'gpt-5.6-sol'],
    ['a family of two digits', catalog('gpt-9.9-sol', 'gpt-10-sol'), 'gpt-10-sol'],
    ['a vendor in front', catalog('openai/gpt-5.6-sol', 'openai/gpt-5.4'), 'openai/gpt-5.6-sol'],
    ['a newer family without a sol', catalog('gpt-5.6-sol', 'gpt-6-mini', 'gpt-6'), 'gpt-5.6-sol'],
    ['upper and lower case as in the catalog', catalog('GPT-5.6-Sol'), 'GPT-5.6-Sol'],
    [
      'a variant of the variant is another model',
      catalog('gpt-5.6-sol-high', 'gpt-5.6-sol-openai-compact', 'gpt-5.4-sol'),
      'gpt-5.4-sol',
    ],
    [
      'the only chat model of a local server',
      catalog('llama3.2:3b', 'nomic-embed-text'),
      'llama3.2:3b',
    ],
    ['nothing fits', catalog('llama3.2', 'qwen3'), undefined],
    ['no model', catalog(), undefined],
    ['only models that do not chat', catalog('gpt-image-2', 'whisper-1'), undefined],
    ['a short name, if only that is listed', catalog('gpt-5.4', 'gpt-5.6'), 'gpt-5.6'],
    ['a short name of a newer family', catalog('gpt-5.6-sol', 'openai/gpt-6'), 'openai/gpt-6'],
    ['a sol before its short name', catalog('gpt-6', 'openai/gpt-6-sol'), 'openai/gpt-6-sol'],
    ['the base tier without a sol', catalog('gpt-5.4', 'gpt-5.4-mini'), 'gpt-5.4'],
    [
      'the newest dated model without a sol',
      catalog('gpt-5.4-2026-03-05', 'gpt-5.2-2025-12-11'),
      'gpt-5.4-2026-03-05',
    ],
    [
      'the newest sonnet of a gateway with only Claude models',
      catalog('claude-opus-5', 'claude-sonnet-4-8', 'claude-sonnet-5-5', 'claude-haiku-5'),
      'claude-sonnet-5-5',
    ],
  ])('%s', (_name, models, expected) => {
    for (const protocol of ['responses', 'chat'] as const) {
      const byRule = defaultModels(models, protocol).filter(({ isGuess }) => !isGuess)
      expect(byRule[0]?.id).toBe(expected)
    }
  })

  test.each<[string, CatalogModel[], string[]]>([
    ['if no rule knows one, the first three', of('a', 'b', 'c', 'd'), ['a', 'b', 'c']],
    [
      'after those of the rules',
      of('zeta', 'gpt-5.4', 'claude-sonnet-5'),
      ['gpt-5.4', 'claude-sonnet-5', 'zeta'],
    ],
    [
      'not those without tools, and not those that end',
      [{ id: 'a', tools: false }, { id: 'b', isRetired: true }, ...of('c', 'd')],
      ['c', 'd'],
    ],
    [
      'the newest GPT, although it is a small one',
      of('gpt-4o-mini', 'gpt-5.4-mini'),
      ['gpt-5.4-mini', 'gpt-4o-mini'],
    ],
    [
      'a known family before a large number',
      of('org/model-998', 'org/model-999', 'claude-sonnet-4-8'),
      ['claude-sonnet-4-8', 'org/model-999', 'org/model-998'],
    ],
  ])('%s', (_name, models, expected) => {
    expect(defaultModels({ models }, 'chat', 'responses', 'messages').map(({ id }) => id)).toEqual(
      expected,
    )
  })

  test('a client with one protocol gets a model that is native to it first', () => {
    const models = of('gpt-5.6-sol', 'claude-sonnet-5-5', 'glm-5', 'glm-4.7')
    const first = (protocol: Protocol) => defaultModels({ models }, protocol)[0]?.id
    expect(first('chat')).toBe('glm-5')
    expect(defaultModels({ models: of('gpt-5.6-sol', 'kimi-k3') }, 'chat')[0]?.id).toBe('kimi-k3')
    expect(first('responses')).toBe('gpt-5.6-sol')
    expect(first('messages')).toBe('claude-sonnet-5-5')
  })

  test('only one model that is native to the protocol comes before those of the rules', () => {
    const models = of('qwen4', 'gpt-5.6-sol', 'kimi-k3')
    expect(defaultModels({ models }, 'chat').map(({ id }) => id)).toEqual([
      'qwen4',
      'gpt-5.6-sol',
      'kimi-k3',
    ])
  })

  test('has a reason', () => {
    expect(defaultModels(today, 'responses')[0]?.reason).toBe(
      'sol variant of the newest family, gpt-5.6',
    )
    expect(defaultModels(catalog('llama3'), 'chat')[0]?.reason).toBe(
      'the only chat model of this gateway',
    )
  })

  test('names the reason for a short name', () => {
    expect(defaultModels(catalog('gpt-5.6'), 'chat')[0]?.reason).toBe(
      'short name of the sol variant of the newest family, gpt-5.6',
    )
  })

  test('skips a sol that the gateway lists only for other protocols', () => {
    const models = {
      models: [
        { id: 'gpt-6-sol', endpointTypes: ['openai-response'] },
        { id: 'gpt-5.6-sol', endpointTypes: ['openai'] },
      ],
    }
    expect(defaultModels(models, 'chat')[0]?.id).toBe('gpt-5.6-sol')
    expect(defaultModels(models, 'responses')[0]?.id).toBe('gpt-6-sol')
  })

  test('does not depend on the order of the catalog', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...today.models], { minLength: 10 }), (models) => {
        expect(defaultModels({ models }, 'responses')[0]?.id).toBe('gpt-5.6-sol')
        expect(gptTiers({ models })).toEqual(gptTiers(today))
      }),
    )
  })
})

describe('model rules: GPT models by strength', () => {
  const mapped = (models: Catalog) => {
    const { best, balanced, small } = gptTiers(models)
    return [best?.id, balanced?.id, small?.id]
  }
  const [sol, base, mini] = ['gpt-5.6-sol', 'gpt-5.4', 'gpt-5.4-mini']

  test.each([
    ['today', today, [sol, base, mini]],
    [
      'vendors',
      catalog('openai/gpt-5.6-sol', 'openai/gpt-5.4', 'openai/gpt-5.4-mini'),
      ['openai/gpt-5.6-sol', 'openai/gpt-5.4', 'openai/gpt-5.4-mini'],
    ],
    [
      'the previous family is the newest with base and mini',
      catalog(sol, 'gpt-5.2', 'gpt-5.2-mini', base, mini, 'gpt-5.5'),
      [sol, base, mini],
    ],
    [
      'a short ID next to a sol is its alias, not a base tier',
      catalog('gpt-6', 'gpt-6-sol', 'gpt-5.6', sol, base, mini),
      ['gpt-6-sol', base, mini],
    ],
    [
      'also where the older family has no mini',
      catalog('gpt-6-sol', 'gpt-5.6', 'gpt-5.6-sol', 'gpt-5.4'),
      ['gpt-6-sol', 'gpt-5.4', undefined],
    ],
    [
      'no previous family: terra and luna replace it',
      catalog(sol, 'gpt-5.6-terra', 'gpt-5.6-luna'),
      [sol, 'gpt-5.6-terra', 'gpt-5.6-luna'],
    ],
    [
      'base and mini in different families',
      catalog(sol, 'gpt-5.5', 'gpt-5.2-mini'),
      [sol, 'gpt-5.5', 'gpt-5.2-mini'],
    ],
    [
      'a newer family without a sol is not the previous one',
      catalog(sol, 'gpt-6', 'gpt-6-mini', base, mini),
      [sol, base, mini],
    ],
    ['no sol at all', catalog(base, mini), [undefined, base, mini]],
    ['the sol only under its short name', catalog('gpt-5.6', base, mini), ['gpt-5.6', base, mini]],
    ['no GPT at all', catalog('claude-opus-4-8'), [undefined, undefined, undefined]],
  ])('%s', (_name, models, expected) => {
    expect(mapped(models)).toEqual(expected)
  })

  test('does not require the messages type, which New API gives no GPT model', () => {
    const models = { models: [{ id: sol, endpointTypes: ['openai'] }] }
    expect(gptTiers(models).best?.id).toBe(sol)
  })

  test('has a reason', () => {
    const { best, balanced, small } = gptTiers(today)
    expect([best?.reason, balanced?.reason, small?.reason]).toEqual([
      'sol variant of the newest family, gpt-5.6',
      'base tier of the previous family, gpt-5.4',
      'mini tier of the previous family, gpt-5.4',
    ])
  })

  test('the small model is the mini, else luna, else none', () => {
    expect(smallModel(today)?.id).toBe(mini)
    expect(smallModel(catalog(sol, 'gpt-5.6-luna'))?.id).toBe('gpt-5.6-luna')
    expect(smallModel(catalog('llama3'))).toBeUndefined()
  })
})

describe('model rules: the model that the user typed', () => {
  test.each([
    ['the same ID', today, 'gpt-5.4', 'gpt-5.4'],
    ['the full id for a short name', today, 'gpt-5.6', 'gpt-5.6-sol'],
    ['the short name, where only that is listed', catalog('gpt-5.6'), 'gpt-5.6', 'gpt-5.6'],
    ['a base tier, which is no short name', today, 'gpt-5.4', 'gpt-5.4'],
    [
      'a dated id as it is',
      catalog('gpt-6-2026-01-01', 'gpt-6-sol'),
      'gpt-6-2026-01-01',
      'gpt-6-2026-01-01',
    ],
    ['an ID that does not chat, typed in full', today, 'gpt-image-2', 'gpt-image-2'],
    ['without the vendor', catalog('openai/gpt-5.6-sol'), 'gpt-5.6-sol', 'openai/gpt-5.6-sol'],
    ['with an unlisted vendor', today, 'openai/gpt-5.6-sol', 'gpt-5.6-sol'],
    ['other letters', today, 'GPT-5.6-Sol', 'gpt-5.6-sol'],
    ['a short family id', catalog('gpt-5.6-sol', 'gpt-5.6-luna'), 'gpt-5.6', 'gpt-5.6-sol'],
    ['a short family id with vendors', catalog('openai/gpt-6-sol'), 'gpt-6', 'openai/gpt-6-sol'],
    ['a family without a sol', catalog('gpt-5.4-mini'), 'gpt-5.4', undefined],
    ['another family', catalog('gpt-5.6-sol'), 'gpt-5', undefined],
    ['unknown', today, 'gpt-9-sol', undefined],
    ['a prefix is not enough', today, 'gpt-5.6-s', undefined],
    ['empty', today, '', undefined],
  ])('%s', (_name, models, asked, expected) => {
    expect(resolveModel(models, asked)?.id).toBe(expected)
  })

  test.each([
    ['gpt-5.6', 'gpt-5.6-sol'],
    ['openai/GPT-5.6', 'gpt-5.6-sol'],
    ['gpt-5.6-sol', undefined],
    ['gpt-5.6-luna', undefined],
    ['gpt-5.4', undefined],
    ['claude-opus-4-8', undefined],
  ])('%s is an alias of %s', (id, full) => {
    expect(aliasTarget(today, id)).toBe(full)
  })

  test('never returns an ID that is not in the catalog', () => {
    const ids = fc.constantFrom(
      'gpt-5.6',
      'gpt-5.6-sol',
      'openai/gpt-6-sol',
      'gpt-6',
      'x',
      'gpt-5.4-mini',
    )
    fc.assert(
      fc.property(fc.uniqueArray(ids), fc.oneof(ids, fc.string()), (list, asked) => {
        const found = resolveModel(catalog(...list), asked)
        if (found !== undefined) expect(list).toContain(found.id)
        const chosen = [
          defaultModels(catalog(...list), 'chat')[0],
          ...Object.values(gptTiers(catalog(...list))),
        ]
        for (const model of chosen) if (model !== undefined) expect(list).toContain(model.id)
      }),
    )
  })
})

describe('model rules: chat models', () => {
  test.each([
    'gpt-image-2',
    'gpt-5.6-image',
    'dall-e-3',
    'gpt-realtime',
    'gpt-5-audio-preview',
    'gpt-4o-mini-tts',
    'whisper-1',
    'gpt-4o-transcribe',
    'text-embedding-3-large',
    'nomic-embed-text',
    'bge-m3',
    'jina/jina-reranker-v3',
    'qwen3-rerank',
    'omni-moderation-latest',
    'sora-2-pro',
    'black-forest/flux-pro',
    'Doubao-Seedream-5.0-pro',
  ])('%s is not offered', (id) => {
    expect(isChatModel({ id })).toBe(false)
    expect(supportsProtocol({ id, endpointTypes: ['openai'] }, 'chat')).toBe(false)
  })

  test.each([
    'gpt-5.6-sol',
    'claude-opus-4-8',
    'imagine-chat',
    'voyager-70b',
    'llama3.2',
    'embedder-chat-1',
    'o4-mini',
  ])('%s is offered', (id) => {
    expect(isChatModel({ id })).toBe(true)
  })

  test.each([
    [['image-generation', 'openai'], false],
    [['embeddings'], false],
    [['jina-rerank'], false],
    [['openai-video'], false],
    [['openai'], true],
    [['anthropic', 'openai'], true],
    [['openai-response'], true],
    [[], true],
  ])('endpoint types %j: %s', (endpointTypes, expected) => {
    expect(isChatModel({ id: 'x-1', endpointTypes })).toBe(expected)
  })
})

test.each([
  [undefined, ['unknown', 'unknown', 'unknown']],
  [['openai'], [true, 'unknown', 'unknown']],
  [
    ['openai', 'openai-response'],
    [true, true, 'unknown'],
  ],
  [['openai-response'], [false, true, 'unknown']],
  [
    ['anthropic', 'openai'],
    [true, 'unknown', true],
  ],
  [['anthropic'], [false, false, true]],
  [['gemini'], [false, false, false]],
  [
    ['image-generation', 'openai'],
    [false, false, false],
  ],
] as const)(
  'model rules: endpoint types %j speak chat, responses, messages: %j',
  (types, expected) => {
    const model = { id: 'm', ...(types === undefined ? {} : { endpointTypes: types }) }
    expect([
      supportsProtocol(model, 'chat'),
      supportsProtocol(model, 'responses'),
      supportsProtocol(model, 'messages'),
    ]).toEqual(expected)
  },
)

test('model rules: each slot finds the IDs that contain its word', () => {
  const ids = [
    'claude-sonnet-5-5',
    'claude-opus-5-5',
    'anthropic/claude-haiku-4.5',
    'claude-fable-5-2',
    'claude-3-opus-20240229',
    'sonnets-of-shakespeare',
    'gpt-5.6-sol',
  ]
  expect(messagesTiers(catalog(...ids), ['opus', 'sonnet', 'haiku', 'fable'])).toEqual({
    opus: ['claude-opus-5-5', 'claude-3-opus-20240229'],
    sonnet: ['claude-sonnet-5-5'],
    haiku: ['anthropic/claude-haiku-4.5'],
    fable: ['claude-fable-5-2'],
  })
})

test.each([
  ['numbers, not letters', ['gpt-5.6-sol', 'gpt-5.10-sol'], 'gpt-5.10-sol'],
  ['a family without a point', ['gpt-5.99-sol', 'gpt-6-sol'], 'gpt-6-sol'],
  ['6.1 after 6', ['gpt-6-sol', 'gpt-6.1-sol'], 'gpt-6.1-sol'],
  ['6.0 is 6', ['gpt-6.0-sol', 'gpt-6-sol'], 'gpt-6-sol'],
  ['no date before a date', ['gpt-6-sol-2026-03-01', 'gpt-6-sol'], 'gpt-6-sol'],
  ['the later date', ['gpt-6-sol-2026-03-01', 'gpt-6-sol-20260401'], 'gpt-6-sol-20260401'],
  ['no vendor before a vendor', ['azure/gpt-6-sol', 'gpt-6-sol'], 'gpt-6-sol'],
  [
    'an ID that only resembles one of OpenAI',
    ['gpt-oss:20b', 'chatgpt-7-sol', 'gpt-4o', 'gpt-1-sol'],
    'gpt-1-sol',
  ],
])('model id: %s', (_name, ids, expected) => {
  expect(defaultModels(catalog(...ids), 'chat')[0]?.id).toBe(expected)
  expect(defaultModels(catalog(...ids.toReversed()), 'chat')[0]?.id).toBe(expected)
})

describe('closest models', () => {
  test.each([
    ['a repeated letter', 'gpt-5.6-sool', ['gpt-5.6-sol']],
    ['two letters in the wrong order', 'gpt-5.6-slo', ['gpt-5.6-sol']],
    ['a family without its variant', 'gpt-5.6', ['gpt-5.6']],
    ['another vendor', 'azure/gpt-5.4-mini', ['gpt-5.4-mini']],
    ['letters', 'Claude-Opus-4-8', ['claude-opus-4-8']],
  ])('%s', (_name, asked, expected) => {
    expect(closestModels(asked, today, expected.length)).toEqual(expected)
  })

  test('names at most three, only chat models, and none for a very different name', () => {
    expect(closestModels('gpt-5', today)).toHaveLength(3)
    expect(closestModels('gpt-image-1', today)).not.toContain('gpt-image-2')
    expect(closestModels('gpt', catalog('a-very-long-vendor-name/qwen3-coder'))).toEqual([])
    expect(closestModels('zzzzzzzzzzzzzzzzzzzzzzzzzz', today)).toEqual([])
    expect(closestModels('x'.repeat(100_000), today)).toEqual([])
  })
})
