import { expect, test } from 'vitest'
import { aGateway, ask, askJson, eventsOf, paths, saying } from './support/gateway.ts'

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

test.each(Object.values(paths))('%s: a stream has the request ID and rate limits', async (path) => {
  const gateway = await aGateway()
  const model = path === paths.messages ? 'claude-opus-5-5' : 'gpt-5.6'
  const answer = await ask(gateway, path, { ...saying(path, 'ping', model), stream: true })
  const [id, limit] =
    path === paths.messages
      ? ['request-id', 'anthropic-ratelimit-requests-limit']
      : ['x-request-id', 'x-ratelimit-limit-requests']
  expect(answer.headers.get(id)).toMatch(/^req_/)
  expect(answer.headers.get(limit)).toBe('10000')
  expect((await eventsOf(answer)).length).toBeGreaterThan(2)
})
