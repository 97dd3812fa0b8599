import { expect, test } from 'vitest'
import { firstRequest } from '../../src/clients/copilot/copilot.ts'
import recordings from '../../src/clients/copilot/first-requests.json' with { type: 'json' }

/** Recorded from Copilot 1.0.102, 2026-11-23. test/clients/copilot.test.ts compares with the program. */
test.each([
  ['responses', 'gpt-5.6-sol', { reasoning: { effort: 'medium' }, max_output_tokens: 128_000 }],
  ['responses', 'kimi-k2.6', { reasoning: { summary: 'auto' }, max_output_tokens: undefined }],
  ['chat', 'gpt-5', { reasoning_effort: 'medium', temperature: 1, max_tokens: undefined }],
  ['chat', 'claude-haiku-4.5', { temperature: 0, top_p: 0.95, max_tokens: 64_000 }],
  ['chat', 'claude-haiku-4-5', { temperature: 1, max_tokens: undefined }],
  ['chat', 'gemini-3-flash', { tool_choice: 'validated' }],
] as const)('copilot over %s with %s: the first request has %j', (protocol, model, body) => {
  expect(firstRequest(recordings, [], { protocol, model, env: {} }).body).toMatchObject(body)
})

test('copilot: the first request has the token limit that the user set', () => {
  const env = { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '777' }
  const { body } = firstRequest(recordings, [], { protocol: 'chat', model: 'gpt-4.1', env })
  expect(body['max_tokens']).toBe(777)
})

test.each(['chat', 'responses'] as const)(
  'copilot: over %s, only new GPT models get a custom tool',
  (protocol) => {
    const toolsOf = (model: string) =>
      JSON.stringify(firstRequest(recordings, [], { protocol, model, env: {} }).body['tools'])
    for (const model of ['gpt-5.4', 'gpt-5.6-sol', 'gpt-6-sol', 'gpt-oss-120b'])
      expect(toolsOf(model)).toContain('"type":"custom"')
    for (const model of ['gpt-4.1', 'gpt-5', 'gpt-5-mini', 'o3', 'claude-sonnet-5'])
      expect(toolsOf(model)).not.toContain('"type":"custom"')
  },
)

test.each([
  ['gpt-5.6', false],
  ['gpt-6-sol', false],
  ['gpt-5.5', true],
  ['gpt-5.7', true],
])('copilot: over responses, the request for %s has instructions: %s', (model, hasInstructions) => {
  const { body } = firstRequest(recordings, [], { protocol: 'responses', model, env: {} })
  expect('instructions' in body).toBe(hasInstructions)
})
