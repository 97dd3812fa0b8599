import { describe, expect, test } from 'vitest'
import { rows } from '../support/rows.ts'
import { aGateway, ask, jsonOf, saying } from './support/gateway.ts'

const input = { model: 'gpt-5.6', input: 'ping' }

/** The table of errors, to the byte; `ID` is the ID of the request. */
async function bytesOf(answer: Response): Promise<string> {
  const id = answer.headers.get('x-oneapi-request-id')!
  return (await answer.text()).replaceAll(id, 'ID')
}

function gate(code: string, message: string): string {
  return `{"error":{"code":"${code}","message":"${message} (request id: ID)","type":"new_api_error"}}`
}

function relay(code: string, message: string): string {
  return `{"error":{"message":"${message} (request id: ID)","type":"new_api_error","param":"","code":"${code}"}}`
}

function route(method: string, path: string): string {
  return `{"error":{"message":"Invalid URL (${method} ${path})","type":"invalid_request_error","param":"","code":""}}`
}

describe('failures: routes', () => {
  test.each([
    ['POST', '/v1/x'],
    ['GET', '/v1/responses'],
    ['POST', '/v1/models'],
    ['PUT', '/v1/chat/completions'],
    ['POST', '/v1/v1/responses'],
    ['POST', '/v1/messages/batches'],
    ['GET', '/v1'],
    ['POST', '/v1/chat/completions/'],
    ['GET', '/api/x'],
  ])('failures: %s %s is 404 before the key is checked', async (method, path) => {
    const gateway = await aGateway()
    const answer = await fetch(`${gateway.url}${path}?q=1`, { method })
    expect(answer.status).toBe(404)
    expect(await bytesOf(answer)).toBe(route(method, path))
  })

  test.each([
    ['GET', '/chat/completions'],
    ['POST', '/chat/completions'],
    ['GET', '/'],
    ['DELETE', '/anything/v1/models'],
  ])('failures: %s %s is a web page', async (method, path) => {
    const gateway = await aGateway()
    const answer = await fetch(gateway.url + path, { method })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await answer.text()).toContain('<!doctype html>')
  })

  test('failures: HEAD / has a response, as Claude Code requests it', async () => {
    const gateway = await aGateway()
    expect((await fetch(gateway.url, { method: 'HEAD' })).status).toBe(200)
    expect(gateway.requests()).toMatchObject([{ method: 'HEAD', path: '/', auth: 'none' }])
  })

  test('failures: a route that the imitated gateway does not implement is 501, after the key', async () => {
    const gateway = await aGateway()
    const answer = await ask(gateway, '/v1/files')
    expect(answer.status).toBe(501)
    expect(await bytesOf(answer)).toBe(
      '{"error":{"message":"API not implemented","type":"new_api_error","param":"","code":"api_not_implemented"}}',
    )
    expect((await fetch(`${gateway.url}/v1/files`)).status).toBe(401)
  })
})

test.each([
  ...['/v1/responses/compact', '/v1/embeddings'],
  ...['/v1/images/generations', '/v1/audio/speech'],
])('failures: %s is rejected with a message that names the local gateway', async (path) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, path, {})
  const message = `The local gateway does not do this: POST ${path}. The service may: try it there.`
  const [type, code] = ['new_api_error', 'unsupported_by_local_gateway']
  expect(answer.status).toBe(501)
  expect((await jsonOf(answer)).error).toEqual({ message, type, param: '', code })
})

test.each(['/v1/messages/batches', '/v1/conversations'])(
  'failures: %s is 404 as at the imitated gateway, and the log says why',
  async (path) => {
    const gateway = await aGateway()
    expect((await ask(gateway, path, {})).status).toBe(404)
    expect(gateway.requests()[0]!.reason).toBe(
      `The vendor has a route ${path}; the imitated gateway does not, and so this one does not either.`,
    )
  },
)

describe('failures: the key', () => {
  test.each(['/v1/models', '/v1/responses', '/v1/messages', '/v1/chat/completions'])(
    'failures: without a key %s is 401 in one shape',
    async (path) => {
      const gateway = await aGateway()
      const method = path === '/v1/models' ? 'GET' : 'POST'
      const answer = await fetch(gateway.url + path, { method })
      expect(answer.status).toBe(401)
      expect(await bytesOf(answer)).toBe(gate('', 'Invalid token'))
    },
  )

  test('failures: x-api-key wins on messages and models, and is ignored elsewhere', async () => {
    const gateway = await aGateway()
    const status = async (path: string, headers: Record<string, string>, body?: unknown) =>
      (await ask(gateway, path, body, headers)).status
    const say = { model: 'claude-opus-5-5', messages: [{ role: 'user', content: 'ping' }] }
    const stale = { 'x-api-key': 'sk-stale' }
    const good = { 'x-api-key': gateway.key, authorization: 'Bearer sk-stale' }
    expect(await status('/v1/messages', stale, say)).toBe(401)
    expect(await status('/v1/messages', good, say)).toBe(200)
    expect(await status('/v1/models', stale)).toBe(401)
    expect(await status('/v1/models', good)).toBe(200)
    expect(await status('/v1/responses', stale, input)).toBe(200)
    expect(await status('/v1/responses', good, input)).toBe(401)
    const requests = gateway.requests()
    expect(requests.map(({ auth }) => auth)).toEqual(Array(6).fill('both'))
    const matches = [false, true, false, true, true, false]
    expect(requests.map(({ keyMatches }) => keyMatches)).toEqual(matches)
  })

  test.each(['Bearer KEY', 'bearer KEY', 'KEY', 'Bearer   KEY  '])(
    'failures: %j is a key too',
    async (header) => {
      const gateway = await aGateway({ key: 'sk-abcdefghijklmnop' })
      const authorization = header.replace('KEY', gateway.key)
      expect((await ask(gateway, '/v1/models', undefined, { authorization })).status).toBe(200)
    },
  )

  test.each(['sk-abcdefghijklmno', 'sk-abcdefghijklmnopq', 'SK-abcdefghijklmnop', '', 'Bearer'])(
    'failures: %j is not the key',
    async (key) => {
      const gateway = await aGateway({ key: 'sk-abcdefghijklmnop' })
      const headers = { authorization: `Bearer ${key}` }
      expect((await ask(gateway, '/v1/models', undefined, headers)).status).toBe(401)
    },
  )
})

describe('failures: the model and the body', () => {
  const entry = { ownedBy: 'x', endpointTypes: ['openai', 'openai-response', 'anthropic'] }
  const models = [
    { ...entry, id: 'good' },
    { ...entry, id: 'forbidden', isForbidden: true },
    { ...entry, id: 'free', hasNoPrice: true },
    { ...entry, id: 'chat-only', endpointTypes: ['openai'] },
    { ...entry, id: 'picture', isNotForChat: true },
  ]
  test.each(rows`
    no model                     | {"input": "x"}     | 400 | gate  |                        | Model name not specified, model name cannot be empty
    an empty model               | {"model": ""}      | 400 | gate  |                        | Model name not specified, model name cannot be empty
    a list                       | [1]                | 400 | gate  |                        | Model name not specified, model name cannot be empty
    a model that is no text      | {"model": 5}       | 400 | gate  |                        | Invalid request: field model must be a string
    an unknown model             | {"model": "nope"}  | 503 | gate  | model_not_found        | No available channel for model nope under group default (distributor)
    a model in capitals          | {"model": "GOOD"}  | 503 | gate  | model_not_found        | No available channel for model GOOD under group default (distributor)
    an unknown model with markup | {"model": "<b>&"}  | 503 | gate  | model_not_found        | No available channel for model \u003cb\u003e\u0026 under group default (distributor)
    a forbidden model            | {"model": "forbidden"} | 403 | gate |                     | This token has no access to model forbidden
    no input                     | {"model": "good"}  | 500 | relay | invalid_request        | input is required
    a model without a price      | {"model": "free", "input": "x"}      | 500 | relay | model_price_error      | Model free ratio or price not set, please contact administrator
    another protocol             | {"model": "chat-only", "input": "x"} | 500 | relay | convert_request_failed | not implemented
  `)('failures: %s', async (_, body, status, shape, code, message) => {
    const gateway = await aGateway({ models })
    const answer = await ask(gateway, '/v1/responses', JSON.parse(body!))
    const bytes = (shape === 'gate' ? gate : relay)(code!, message!)
    expect([String(answer.status), await bytesOf(answer)]).toEqual([status, bytes])
  })

  test('failures: an image model is rejected', async () => {
    const gateway = await aGateway({ models })
    const answer = await ask(gateway, '/v1/responses', { model: 'picture', input: 'x' })
    expect(answer.status).toBe(404)
    const error = { type: 'invalid_request_error', param: 'model' }
    expect((await jsonOf(answer)).error).toMatchObject(error)
  })

  test.each([
    ['{"model":', 'application/json', 'Invalid request: invalid JSON request body'],
    ['', 'application/json', 'Invalid request: invalid JSON request body'],
    ['{"model":"good"}', 'text/plain', 'Model name not specified, model name cannot be empty'],
  ])('failures: the body %j as %s is 400', async (body, type, message) => {
    const gateway = await aGateway({ models })
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': type }
    const answer = await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body })
    expect([answer.status, await bytesOf(answer)]).toEqual([400, gate('', message)])
  })

  test('failures: on the messages route only failures after the model check have its shape', async () => {
    const gateway = await aGateway({ models })
    const before = await ask(gateway, '/v1/messages', { model: 'nope' })
    expect(Object.keys(await jsonOf(before))).toEqual(['error'])
    const after = await ask(gateway, '/v1/messages', { model: 'good' })
    expect(await bytesOf(after)).toBe(
      '{"error":{"type":"new_api_error","message":"field messages is required (request id: ID)"},"type":"error"}',
    )
  })

  test('failures: the vendor’s models reject what the catalog does not list', async () => {
    const gateway = await aGateway()
    const claude = await ask(gateway, '/v1/responses', { model: 'claude-opus-5-5', input: 'x' })
    expect(claude.status).toBe(500)
    expect((await jsonOf(claude)).error.code).toBe('convert_request_failed')
    const gpt = await ask(gateway, '/v1/messages', saying('/v1/messages', 'ping', 'gpt-5.6-sol'))
    expect(gpt.status).toBe(200)
  })
})

describe('failures: the order of the checks', () => {
  test('failures: each check comes before the next', async () => {
    const entry = { ownedBy: 'x', endpointTypes: ['openai-response'] }
    const priceless = { ...entry, id: 'free', hasNoPrice: true }
    const gateway = await aGateway({ models: [{ ...entry, id: 'a' }, priceless] })
    const status = async (body: unknown, headers = {}, path = '/v1/responses') =>
      (await ask(gateway, path, body, headers)).status
    const bad = { authorization: 'Bearer no' }
    // route before key, key before rate limit, rate limit before model, …
    expect(await status({}, bad, '/v1/nope')).toBe(404)
    gateway.setFaults([{ error: 'rate-limited' }])
    expect(await status({ model: 'nope' }, bad)).toBe(401)
    expect(await status({ model: 'nope' })).toBe(429)
    gateway.setFaults([{ error: 'quota' }])
    expect(await status({ model: 'nope' })).toBe(503)
    expect(await status({ model: 'a' })).toBe(500)
    expect(await status({ model: 'free', input: 'x' })).toBe(500)
    expect(await status({ model: 'a', input: 'x' })).toBe(403)
    gateway.setFaults([{ error: 'upstream' }])
    expect(await status({ model: 'a', input: 'x' })).toBe(502)
  })
})
