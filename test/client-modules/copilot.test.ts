import { describe, expect, test } from 'vitest'
import { firstRequest } from '../../src/clients/copilot/copilot.ts'
import { environmentRows, loadClients } from '../../src/clients/list.ts'
import type { CatalogModel } from '../../src/gateway/types.ts'
import { launchOn, type Setup } from './support.ts'

/** Recorded from Copilot 1.0.102, 2026-11-23. test/clients/copilot.test.ts compares with the program. */
test.each([
  ['responses', 'gpt-5.6-sol', { reasoning: { effort: 'medium' }, max_output_tokens: 128_000 }],
  ['responses', 'kimi-k2.6', { reasoning: { summary: 'auto' }, max_output_tokens: undefined }],
  ['chat', 'gpt-5', { reasoning_effort: 'medium', temperature: 1, max_tokens: undefined }],
  ['chat', 'claude-haiku-4.5', { temperature: 0, top_p: 0.95, max_tokens: 64_000 }],
  ['chat', 'claude-haiku-4-5', { temperature: 1, max_tokens: undefined }],
  ['chat', 'gemini-3-flash', { tool_choice: 'validated' }],
] as const)('copilot over %s with %s: the first request has %j', async (protocol, model, body) => {
  const request = await firstRequest([], { protocol, model, env: {} })
  expect(request.body).toMatchObject(body)
})

test.each([
  ['the user set', { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '777' }, 555, 777],
  ["is in the gateway's list", {}, 555, 555],
  ['Copilot knows', {}, undefined, 16_384],
])('copilot: the first request has the token limit that %s', async (_, env, outputLimit, limit) => {
  const input = { protocol: 'chat', model: 'gpt-4.1', env, outputLimit } as const
  expect((await firstRequest([], input)).body['max_tokens']).toBe(limit)
})

const [copilot] = await loadClients(environmentRows)

describe('copilot: a launch', () => {
  const launched = (setup: Setup = {}, env: Record<string, string> = {}) =>
    launchOn(copilot!, {}, { options: { model: 'house-1' }, ...setup }, { env }).env
  const withModel = (facts: Partial<CatalogModel>): Setup => {
    return { catalog: { models: [{ id: 'house-1', ...facts }] } }
  }

  test.each([
    ['a window and a limit', { contextWindow: 90_000, outputLimit: 7_000 }, '83000', '7000'],
    ['a window only', { contextWindow: 90_000 }, '90000', undefined],
    ['the same for both', { contextWindow: 9_000, outputLimit: 9_000 }, '9000', '9000'],
    ['neither', {}, undefined, undefined],
  ])('passes on what the list says: %s', (_, facts, prompt, output) => {
    const env = launched(withModel(facts))
    expect(env['COPILOT_PROVIDER_MAX_PROMPT_TOKENS']).toBe(prompt)
    expect(env['COPILOT_PROVIDER_MAX_OUTPUT_TOKENS']).toBe(output)
  })

  test('keeps the limits that the user set', () => {
    const limits = {
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '5',
      COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '6',
    }
    const facts = { contextWindow: 90_000, outputLimit: 7_000 }
    expect(launched(withModel(facts), limits)).toMatchObject(limits)
  })

  test.each([
    ['chat', 'completions'],
    ['responses', 'responses'],
  ] as const)('over %s names the API %s', (protocol, api) => {
    const env = launched({ options: { model: 'house-1', protocol } })
    expect(env['COPILOT_PROVIDER_WIRE_API']).toBe(api)
  })

  test('has the headers in one text, in which a backslash and an n separate them', () => {
    const headers = [
      { name: 'x-team', value: 'blue' },
      { name: 'x-b', value: 'c' },
    ]
    const env = launched({ target: { headers } })
    expect(env['COPILOT_PROVIDER_HEADERS']).toBe(String.raw`x-team: blue\nx-b: c`)
  })

  test.each([
    'COPILOT_PROVIDER_HEADERS',
    'COPILOT_PROVIDER_BEARER_TOKEN',
    'COPILOT_PROVIDER_API_KEY_COMMAND',
    'COPILOT_PROVIDER_TRANSPORT',
    'COPILOT_PROVIDER_MODEL_ID',
    'COPILOT_PROVIDER_WIRE_MODEL',
  ])('unsets %s, which is for another gateway', (name) => {
    expect(launched({}, { [name]: 'x' })).toMatchObject({ [name]: undefined })
  })

  test('sets and unsets what `off` names, and the limits', () => {
    const { addresses = [], others = [] } = copilot!.config.gatewayVariables ?? {}
    const changed = Object.keys(launched()).filter((name) => name.startsWith('COPILOT_'))
    expect(changed.filter((name) => !name.includes('_MAX_')).sort()).toEqual(
      [...addresses, ...others].sort(),
    )
  })
})

test.each(['chat', 'responses'] as const)(
  'copilot: over %s, only new GPT models get a custom tool',
  async (protocol) => {
    const toolsOf = async (model: string) =>
      JSON.stringify((await firstRequest([], { protocol, model, env: {} })).body['tools'])
    for (const model of ['gpt-5.4', 'gpt-5.6-sol', 'gpt-6-sol', 'gpt-oss-120b'])
      expect(await toolsOf(model)).toContain('"type":"custom"')
    for (const model of ['gpt-4.1', 'gpt-5', 'gpt-5-mini', 'o3', 'claude-sonnet-5'])
      expect(await toolsOf(model)).not.toContain('"type":"custom"')
  },
)

test.each([
  ['gpt-5.6', false],
  ['gpt-6-sol', false],
  ['gpt-5.5', true],
  ['gpt-5.7', true],
])(
  'copilot: over responses, the request for %s has instructions: %s',
  async (model, hasInstructions) => {
    const { body } = await firstRequest([], { protocol: 'responses', model, env: {} })
    expect('instructions' in body).toBe(hasInstructions)
  },
)
