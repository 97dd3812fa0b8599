import { expect, test } from 'vitest'
import { aGateway, ask, askJson, paths, saying } from './support/gateway.ts'

test.each([
  [paths.messages, '/v1/messages/count_tokens', 'claude-opus-5-5', {}],
  [paths.responses, '/v1/responses/input_tokens', 'gpt-5.6', { object: 'response.input_tokens' }],
])('%s: the count is the usage of the answer', async (path, countPath, model, more) => {
  const gateway = await aGateway({ strict: true, scenario: { answers: [{ reply: 'Yes.' }] } })
  const body = saying(path, 'How many tokens are these?', model)
  const count = await askJson(gateway, countPath, body)
  expect(gateway.unused()).toHaveLength(1)
  const { usage } = await askJson(gateway, path, body)
  expect(count).toEqual({ input_tokens: usage.input_tokens, ...more })
})

test('a count is rejected like the request', async () => {
  const gateway = await aGateway()
  const body = { ...saying(paths.messages, 'hi', 'claude-opus-5-5'), temperature: 0.5 }
  const answer = await ask(gateway, '/v1/messages/count_tokens', body)
  expect(answer.status).toBe(400)
  expect(gateway.requests()[0]!.reason).toContain('--families rewritten')
  expect((await ask(gateway, '/v1/messages/count_tokens', { model: 'no' })).status).toBe(503)
})

test.each(
  Object.values(paths).flatMap((path) => [false, true].map((stream) => ({ path, stream }))),
)(
  '$path: the request ID and rate limits of the vendor, streamed: $stream',
  async ({ path, stream }) => {
    const gateway = await aGateway()
    const model = path === paths.messages ? 'claude-opus-5-5' : 'gpt-5.6'
    const { headers } = await ask(gateway, path, { ...saying(path, 'ping', model), stream })
    if (path === paths.messages) {
      expect(headers.get('request-id')).toMatch(/^req_/)
      expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('10000')
    } else {
      expect(headers.get('x-request-id')).toBe(`req_${headers.get('x-oneapi-request-id')}`)
      expect(headers.get('x-ratelimit-limit-requests')).toBe('10000')
      expect(headers.get('x-ratelimit-remaining-requests')).toBe('9999')
    }
  },
)
