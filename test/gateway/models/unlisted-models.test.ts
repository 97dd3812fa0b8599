import { describe, expect, test } from 'vitest'
import { snapshotFacts } from '../../../src/gateway/models/facts.ts'
import { plainModelName } from '../../../src/gateway/models/ids.ts'
import { defaultModels, gptTiers } from '../../../src/gateway/models/rules.ts'

const catalog = (...ids: string[]) => ({ models: ids.map((id) => ({ id })) })

describe('the default for catalogs of any maker', () => {
  test.each<[string, string[], string | undefined]>([
    ['Bedrock', ['openai.gpt-6-sol', 'anthropic.claude-opus-5-5'], 'openai.gpt-6-sol'],
    ['a region', ['eu.openai.gpt-5.6-sol-v1:0', 'meta.llama4'], 'eu.openai.gpt-5.6-sol-v1:0'],
    ['Databricks', ['databricks-gpt-5-6-sol', 'databricks-claude-x'], 'databricks-gpt-5-6-sol'],
    ['Snowflake', ['openai-gpt-5.6-sol', 'mistral-large2'], 'openai-gpt-5.6-sol'],
    ['a coding alias', ['doubao-seed-2.1', 'ark-code-latest', 'glm-5'], 'ark-code-latest'],
    [
      'Ark, with hyphens and dates',
      ['doubao-seed-2-1-pro-260628', 'doubao-seed-2-1-turbo-260628', 'doubao-seed-1-8-251228'],
      'doubao-seed-2-1-pro-260628',
    ],
    ['a plan of GLM', ['glm-4.7', 'glm-5.3-flash', 'glm-5.3', 'glm-5-turbo'], 'glm-5.3'],
    ['Grok', ['grok-4.7', 'grok-4.3', 'grok-4.20-0309-reasoning', 'grok-4.6'], 'grok-4.7'],
    ['DeepSeek', ['deepseek-v4-flash', 'deepseek-v4-pro', 'deepseek-v3.2'], 'deepseek-v4-pro'],
    ['MiniMax', ['MiniMax-M2.7', 'MiniMax-M3', 'MiniMax-M2.7-highspeed'], 'MiniMax-M3'],
    [
      'Fireworks',
      ['accounts/x/models/glm-5p3', 'accounts/x/models/glm-5p2'],
      'accounts/x/models/glm-5p3',
    ],
    ['Qwen, dated', ['qwen3.7-plus', 'qwen3-max-2026-01-23', 'qwen3.6-plus'], 'qwen3.7-plus'],
    ['MiMo', ['mimo-v2.5', 'mimo-v2.6-pro', 'mimo-v2.6-flash'], 'mimo-v2.6-pro'],
    [
      'Mistral',
      ['mistral-large-latest', 'mistral-large-2411', 'mistral-nemo', 'pixtral-12b'],
      'mistral-large-latest',
    ],
    [
      'weaker models in front',
      ['mistral-large-2512', 'mistral-medium-3.5', 'mistral-small-4'],
      'mistral-large-2512',
    ],
    [
      'Cohere, the month first',
      ['command-a-03-2026', 'command-r-08-2024', 'command-a-plus'],
      'command-a-plus',
    ],
    [
      'Nova',
      ['amazon.nova-pro-v2:0', 'amazon.nova-lite-v2:0', 'amazon.nova-micro-v2:0'],
      'amazon.nova-pro-v2:0',
    ],
    ['quantised', ['GLM-5.3-FP8', 'GLM-5.2-FP8', 'GLM-5.3-Air-FP8'], 'GLM-5.3-FP8'],
    ['a preview', ['qwen4-max-preview', 'qwen3.8-max', 'qwen3.8-plus'], 'qwen3.8-max'],
    ['no maker has more models than the others', ['alpha-2', 'beta-3'], undefined],
    ['two makers have the same number', ['glm-5', 'glm-4', 'kimi-k3', 'kimi-k2'], undefined],
  ])('%s', (_name, ids, expected) => {
    const [byRule] = defaultModels(catalog(...ids), 'chat', 'responses').filter(
      ({ isGuess }) => !isGuess,
    )
    expect(byRule?.id).toBe(expected)
  })
})

test.each<[string[], (string | undefined)[]]>([
  [
    ['gpt-6-sol', 'gpt-6-luna', 'gpt-5.6-terra', 'gpt-5.4', 'gpt-5.4-mini'],
    ['gpt-6-sol', 'gpt-5.6-terra', 'gpt-6-luna'],
  ],
  [
    ['gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-luna', 'gpt-5.4', 'gpt-5.4-mini'],
    ['gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-luna'],
  ],
  [
    [
      'openai/gpt-6.1-sol',
      'openai/gpt-6.1-terra',
      'openai/gpt-6.1-luna',
      'openai/gpt-5.4',
      'openai/gpt-5.4-mini',
    ],
    ['openai/gpt-6.1-sol', 'openai/gpt-6.1-terra', 'openai/gpt-6.1-luna'],
  ],
  [
    [
      'databricks-gpt-6-sol',
      'databricks-gpt-6-terra',
      'databricks-gpt-5-4',
      'databricks-gpt-5-4-mini',
    ],
    ['databricks-gpt-6-sol', 'databricks-gpt-6-terra', undefined],
  ],
])('tiers of %j are %j', (ids, expected) => {
  const { best, balanced, small } = gptTiers(catalog(...ids))
  expect([best?.id, balanced?.id, small?.id]).toEqual(expected)
})

test.each([
  ['us.anthropic.claude-opus-4-5', 'claude-opus-4-5'],
  ['openai/gpt-5.6-sol', 'gpt-5.6-sol'],
  ['databricks-gpt-5-6-sol', 'gpt-5.6-sol'],
  ['gpt-oss:120b', 'gpt-oss-120b'],
  ['accounts/fireworks/models/glm-5p3', 'glm-5.3'],
  ['zai-org/GLM-5.3-FP8', 'glm-5.3'],
  ['deepseek-v4-pro:free', 'deepseek-v4-pro'],
  ['z-ai/glm-5.3:nitro', 'glm-5.3'],
  ['claude-haiku-4-5@20251001', 'claude-haiku-4-5-20251001'],
  ['Qwen/Qwen3.8-27B-GPTQ-Int4', 'qwen3.8-27b'],
  ['mlx-community/Qwen3.8-27B-4bit', 'qwen3.8-27b'],
  ['Pro/deepseek-ai/DeepSeek-V4', 'deepseek-v4'],
  ['apac.anthropic.claude-sonnet-5-5-v1:0', 'claude-sonnet-5-5'],
  ['amazon.nova-pro-v2:0', 'nova-pro'],
])('%s is the model %s', (id, name) => {
  expect(plainModelName(id)).toBe(name)
})

test.each([
  ['gpt-oss:120b', { contextWindow: 131_072, images: false }],
  ['zai-org/GLM-5.2-BF16', { contextWindow: 1_000_000, tools: true }],
  ['glm-5-2-260617', { contextWindow: 1_000_000 }],
  ['openai.gpt-5.6-sol', { images: true, reasoning: true }],
  ['claude-haiku-4-5@20251001', { contextWindow: 200_000 }],
])('finds the facts of %s by its plain name', (id, facts) => {
  expect(snapshotFacts(id)).toMatchObject(facts)
})

test('uses the cautious value if most providers disagree with the maker', () => {
  expect(snapshotFacts('deepseek-v4-flash')).toMatchObject({ images: false })
  expect(snapshotFacts('gpt-oss-120b').outputLimit).toBeLessThanOrEqual(65_536)
})
