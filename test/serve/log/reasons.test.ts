import { expect, test } from 'vitest'
import { aGateway, ask } from '../support/gateway.ts'
import { sendRaw } from '../support/raw.ts'

const key = 'sk-a-key-of-the-gateway-0123'
const other = 'sk-somebody-elses-0987'
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const ping = { model: 'gpt-5.6', input: 'ping' }

test.each([
  ['POST', '/v1/v1/responses', 'has /v1 twice'],
  ['GET', '/v1/responses', 'needs POST; this was GET'],
  ['POST', '/v1/models', 'needs GET; this was POST'],
  ['POST', '/v1/responses/', '/v1/responses, without the slash at the end'],
  ['POST', '/v1//responses', 'one slash too many'],
  ['POST', '/v1/response', 'the nearest is /v1/responses'],
  ['POST', '/responses', '/v1 is missing before /responses'],
  ['GET', '/models', '/v1 is missing before /models'],
  ['POST', '/openai/v1/chat/completions', 'Nothing is allowed before /v1'],
  ['POST', '/anything', 'Outside of /v1'],
])('the reason of %s %s: %s', async (method, path, reason) => {
  const gateway = await aGateway({ key })
  const body = method === 'POST' ? { body: JSON.stringify(ping) } : {}
  await fetch(gateway.url + path, { method, headers: bearer(key), ...body })
  const [request] = gateway.requests()
  expect(request!.reason).toContain(reason)
  if (method === 'POST') expect(JSON.parse(request!.requestBody)).toEqual(ping)
})

test.each([
  [{}, '/v1/responses', 'it must be in Authorization.'],
  [{ 'api-key': key }, '/v1/messages', 'in Authorization or x-api-key, not in api-key.'],
  [{ 'x-api-key': key }, '/v1/responses', 'only messages and models accept'],
  [bearer(''), '/v1/responses', 'is empty'],
  [bearer(`Bearer ${key}`), '/v1/responses', '`Bearer` is twice'],
  [bearer('$OPENAI_API_KEY'), '/v1/responses', 'a variable that was not replaced'],
  [bearer(`"${key}"`), '/v1/responses', 'quotation marks'],
  [bearer(other), '/v1/responses', 'sk-…0987 is not that of this gateway, sk-…0123'],
  [{ ...bearer(key), 'x-api-key': other }, '/v1/messages', 'x-api-key, which wins'],
])('the reason of a 401 with %j on %s: %s', async (headers, path, reason) => {
  const gateway = await aGateway({ key })
  const body = JSON.stringify(ping)
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body })
  expect(answer.status).toBe(401)
  const [request] = gateway.requests()
  expect(request!.reason).toContain(reason)
  expect(JSON.parse(request!.requestBody)).toEqual(ping)
  expect(JSON.stringify(request)).not.toContain(key)
})

test.each([
  ['gpt-5.6-sool', 'x', 'There is no model gpt-5.6-sool; nearest: gpt-5.6-sol'],
  ['openai/gpt-5.4', 'x', 'nearest: gpt-5.4'],
  [
    'claude-opus-5-5',
    'x',
    'does not support responses: the catalog lists it for anthropic, openai',
  ],
  ['gpt-5.6', undefined, 'input is required'],
])('the reason why %s with the input %s is refused: %s', async (model, input, reason) => {
  const gateway = await aGateway({ key })
  expect((await ask(gateway, '/v1/responses', { model, input })).status).toBeGreaterThanOrEqual(400)
  expect(gateway.requests()[0]!.reason).toContain(reason)
})

test.each([
  ['text/plain', '{"model":"gpt-5.6","input":"x"}', 'Content-Type is text/plain'],
  ['application/json', '{"model":\n  "gpt-5.6",}', 'not valid JSON from line 2, column 13 on'],
  ['application/json', '{"model":"gpt-5.6"', 'incomplete JSON'],
  ['application/json', '', 'The body is empty'],
])('the reason why a body of %s that is %j is refused: %s', async (type, body, reason) => {
  const gateway = await aGateway({ key })
  const headers = { ...bearer(key), 'content-type': type }
  await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body })
  expect(gateway.requests()[0]!.reason).toContain(reason)
})

test('the reason: an accepted request has no reason', async () => {
  const gateway = await aGateway({ key })
  await ask(gateway, '/v1/responses', ping)
  await ask(gateway, '/v1/models')
  await fetch(`${gateway.url}/about`)
  expect(gateway.requests().map(({ reason }) => reason)).toEqual([undefined, undefined, undefined])
})

test('the log: a rejected request gets its response before its body arrives', async () => {
  const gateway = await aGateway({ key })
  const head = 'POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n'
  const answer = await sendRaw(gateway.port, [head, '01234', '56789'], { gapMs: 60 })
  expect(answer.statuses).toEqual([401])
  await expect.poll(() => gateway.requests()[0]!.requestBody).toBe('0123456789')
})

test.each([
  ['/v1/chat/completions', 'gpt-5.6', { temperature: 0 }],
  ['/v1/chat/completions', 'gpt-5.6', { max_tokens: 9 }],
  ['/v1/chat/completions', 'gpt-6-sol', { tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['/v1/messages', 'claude-opus-5-5', { temperature: 0.5 }],
])('the reason why %s of %s refuses %j names the way out', async (path, model, more) => {
  const gateway = await aGateway()
  const body = {
    model,
    max_tokens: undefined,
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  }
  expect((await ask(gateway, path, body)).status).toBe(400)
  const { reason, responseBody } = gateway.requests()[0]!
  expect(reason).toContain('With `--families rewritten` this gateway accepts it')
  expect(responseBody).not.toContain('rewritten')
  const rewriting = await gateway.scope({ families: 'rewritten' })
  expect((await ask(rewriting, path, body)).status).toBe(200)
})

test('the reason of a missing beta names the header', async () => {
  const gateway = await aGateway()
  const messages = [{ role: 'user', content: 'hi' }]
  const body = { model: 'claude-opus-5-5', max_tokens: 9, messages, mcp_servers: [] }
  await ask(gateway, '/v1/messages', body)
  expect(gateway.requests()[0]!.reason).toContain('`anthropic-beta: mcp-client-2026-09-15`')
})

test('a reason has one full stop at its end', async () => {
  const tools = [{ type: 'function', function: { name: 'get_weather' } }]
  const scenario = { answers: [{ reply: { call: 'other' } }] }
  const gateway = await aGateway({ strict: true, scenario })
  const messages = [{ role: 'user', content: 'hi' }]
  await ask(gateway, '/v1/chat/completions', { model: 'gpt-5.4', tools, messages })
  expect(gateway.requests()[0]!.reason).not.toContain('..')
})
