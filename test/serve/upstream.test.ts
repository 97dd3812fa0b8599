import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aGateway, aPair, aServer, ask, askJson, jsonOf, saying } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

const input = { model: 'gpt-5.6', input: 'one two three' }

test('upstream: requests are forwarded with the upstream’s key, and no other', async () => {
  const { upstream, gateway } = await aPair()
  const answer = await ask(gateway, '/v1/responses?a=b', input, { 'openai-beta': 'yes' })
  expect((await jsonOf(answer)).output[0].content[0].text).toContain('one two three')
  const [seen] = upstream.requests()
  expect(seen).toMatchObject({ path: '/v1/responses?a=b', auth: 'bearer', keyMatches: true })
  expect(seen!.headers['openai-beta']).toBe('yes')
  expect(JSON.stringify(seen)).not.toContain(gateway.key)
  const logged = { status: 200, modelAsked: 'gpt-5.6', state: 'done', keyMatches: true }
  expect(gateway.requests()).toMatchObject([logged])
  expect(gateway.requests()[0]!.responseBody).toContain('one two three')
})

test('upstream: the key is sent in the header that the client used', async () => {
  const { upstream, gateway } = await aPair()
  const body = JSON.stringify(saying('/v1/messages', 'ping', 'claude-opus-5-5'))
  const headers = { 'x-api-key': gateway.key, 'content-type': 'application/json' }
  const answer = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  expect(upstream.requests()[0]).toMatchObject({ auth: 'x-api-key', keyMatches: true })
})

test('upstream: a wrong key is rejected here; errors and the catalog come from the upstream', async () => {
  const upstream = await aGateway({ models: [{ id: 'only', ownedBy: 'x', endpointTypes: [] }] })
  const gateway = await aGateway({ upstream: { url: `${upstream.url}/`, key: upstream.key } })
  const rejected = await ask(gateway, '/v1/models', undefined, { authorization: 'Bearer no' })
  expect(rejected.status).toBe(401)
  expect(upstream.requests()).toEqual([])
  expect((await askJson(gateway, '/v1/models')).data[0].id).toBe('only')
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(503)
})

test('upstream: a stream is forwarded piece by piece', async () => {
  const { gateway } = await aPair({ faults: [{ betweenMs: 25 }] })
  const answer = await ask(gateway, '/v1/responses', { ...input, stream: true })
  const times: number[] = []
  let text = ''
  for await (const piece of answer.body!) {
    times.push(performance.now())
    text += new TextDecoder().decode(piece)
  }
  expect(text).toContain('response.completed')
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(100)
  expect(gateway.requests()[0]).toMatchObject({ stream: true, state: 'done', status: 200 })
})

test('upstream: the log has whole characters, even if a piece ended within one', async () => {
  const text = Buffer.from('{"x":"Zwölf → 😀"}')
  const url = await aServer((_, response) => {
    const send = (at: number) => {
      if (at === text.length) response.end()
      else response.write(text.subarray(at, at + 1), () => setTimeout(send, 2, at + 1))
    }
    send(0)
  })
  const gateway = await aGateway({ upstream: { url, key: 'sk-x' } })
  expect(await (await ask(gateway, '/v1/responses', {})).text()).toBe(text.toString())
  await expect.poll(() => gateway.requests()[0]!.state).toBe('done')
  expect(gateway.requests()[0]!.responseBody).toBe(text.toString())
})

test('upstream: the upstream request ends if the client disconnects', async () => {
  const { upstream, gateway } = await aPair({ faults: [{ betweenMs: 30 }] })
  const controller = new AbortController()
  const { signal } = controller
  const answer = await ask(gateway, '/v1/responses', { ...input, stream: true }, {}, { signal })
  await answer.body!.getReader().read()
  controller.abort()
  await expect.poll(() => upstream.openStreams()).toBe(0)
  expect(upstream.requests()[0]!.state).toBe('cut')
  await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
})

test('upstream: a truncated response stays truncated', async () => {
  const { gateway } = await aPair({ faults: [{ cutAfter: 2 }] })
  const answer = await ask(gateway, '/v1/responses', { ...input, stream: true })
  await expect(answer.text()).rejects.toThrow('terminated')
  await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
})

test('upstream: the upstream request ends if the client disconnects before the response', async () => {
  const { upstream, gateway } = await aPair({ faults: [{ delayMs: 60_000 }] })
  const controller = new AbortController()
  const asked = ask(gateway, '/v1/models', undefined, {}, { signal: controller.signal })
  await expect.poll(() => upstream.requests().length).toBe(1)
  controller.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => upstream.requests()[0]!.state).toBe('cut')
  await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
})

test('upstream: an unreachable upstream is an error in the imitated gateway’s shape', async () => {
  const gateway = await aGateway({ upstream: { url: 'http://127.0.0.1:1', key: 'k' } })
  const answer = await ask(gateway, '/v1/responses', input)
  expect(answer.status).toBe(500)
  expect((await jsonOf(answer)).error).toMatchObject({ code: 'do_request_failed' })
})

test('upstream: a redirect is forwarded, not followed with the key', async () => {
  const location = 'http://127.0.0.1:1/elsewhere'
  const url = await aServer((_, response) => void response.writeHead(302, { location }).end())
  const gateway = await aGateway({ upstream: { url, key: 'k' } })
  const answer = await ask(gateway, '/v1/models', undefined, {}, { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, location])
})

test.each([
  ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n', 'malformed status 99'],
  ['another protocol', 'HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'no answer'],
  ['nothing', '', 'socket hang up'],
])('upstream: a response with %s is reported as an error', async (_, text, reason) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(text))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const gateway = await aGateway({ upstream: { url: `http://127.0.0.1:${port}`, key: 'sk-x' } })
  for (let count = 0; count < 2; count++) {
    const answer = await ask(gateway, '/v1/responses', input)
    expect(answer.status).toBe(500)
    expect((await jsonOf(answer)).error.message).toContain(reason)
  }
  expect(gateway.requests()).toMatchObject([{ state: 'done' }, { state: 'done' }])
})

test('upstream: a request for a whole address goes to the upstream, not to that address', async () => {
  const { upstream, gateway } = await aPair()
  const head = `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`
  const line = 'GET http://elsewhere.example/v1/models?a=b HTTP/1.1'
  const answer = await sendRaw(gateway.port, [`${line}\r\n${head}`], { answers: 1 })
  expect(answer.statuses).toEqual([200])
  expect(upstream.requests()).toMatchObject([{ path: '/v1/models?a=b', keyMatches: true }])
})

describe('the requests to an upstream with a path', () => {
  /** Records the request lines as they arrive. */
  async function anUpstreamWithPath() {
    const seen: string[] = []
    const url = await aServer((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.end('{}')
    })
    const upstream = { url: `${url}/team-a`, key: 'sk-real-canary' }
    const gateway = await aGateway({ upstream })
    const askRaw = async (line: string) => {
      const head = `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
      const pieces = [`${line} HTTP/1.1\r\n${head}`]
      return (await sendRaw(gateway.port, pieces, { untilClosed: true })).statuses[0]
    }
    return { seen, gateway, askRaw }
  }

  test.each([
    'POST /v1/models/../../../api/token',
    'POST /v1/models/..',
    'DELETE /v1/models/..',
    'DELETE /v1/models/.',
    'GET /v1/files/%2e%2e/content',
    'GET /v1/files/%2E%2E/content',
    'GET /v1/files/.%2e/content',
    'GET /v1/files/%252e%252e/content',
    'GET /v1/files/%25252e%25252e/content',
    'GET /v1/models/..%2f..%2f..%2fapi%2ftoken',
    'GET /v1/models/..%5c..%5capi',
    'GET /v1/models/\\..\\..\\api',
    'GET /v1/models/..;/..;/api',
    'GET /v1/models/..%00/..%00/api',
    'GET /v1/models/..%20/api',
    `GET /v1/models/%${'25'.repeat(20_000)}2e`,
    'GET /v1\\..\\..\\api',
    'GET /v1/../api/token',
    'GET /v1/./models',
    'GET /v1/a\tb',
    'GET /v1/models#/../api',
    'GET /v1/models?x#y',
    'GET /v1/"models"',
    'GET http://elsewhere.example/v1/../../api',
  ])('upstream: %j reaches nothing outside of its path', async (line) => {
    const { seen, askRaw } = await anUpstreamWithPath()
    expect([400, 404]).toContain(await askRaw(line))
    expect(seen).toEqual([])
  })

  test.each(['GET /api/token', 'GET /v1beta/models', 'GET //v1/models', 'GET /team-b/v1/models'])(
    'upstream: %j is not below /v1 and is not forwarded',
    async (line) => {
      const { seen, askRaw } = await anUpstreamWithPath()
      await askRaw(line)
      expect(seen).toEqual([])
    },
  )

  test.each([
    'POST /v1/messages/count_tokens',
    'POST /v1/messages/batches',
    'GET /v1/conversations/conv_1/items?limit=2',
    'POST /v1/responses/input_tokens',
    'DELETE /v1/files/file-1',
    'GET /v1/models/vendor%2Fmodel',
    'GET /v1/models/a..b',
    'PATCH /v1/anything/at/all?x=%2e%2e',
  ])('upstream: %j is forwarded unchanged', async (line) => {
    const { seen, askRaw } = await anUpstreamWithPath()
    expect(await askRaw(line)).toBe(200)
    expect(seen).toEqual([line.replace(' /', ' /team-a/')])
  })

  test.each(['', 'models/'])(
    'upstream: a key in the path or the query of /v1/%s is not forwarded',
    async (at) => {
      const { seen, gateway, askRaw } = await anUpstreamWithPath()
      for (const line of [`GET /v1/models?key=${gateway.key}`, `GET /v1/${at}${gateway.key}`])
        expect(await askRaw(line)).toBe(404)
      expect(seen).toEqual([])
    },
  )

  test('upstream: unknown routes are forwarded only with the right key', async () => {
    const { seen, gateway } = await anUpstreamWithPath()
    const answer = await fetch(`${gateway.url}/v1/messages/batches`, { method: 'POST' })
    expect([answer.status, seen]).toEqual([401, []])
  })
})

describe('data that is not forwarded', () => {
  /** A server that answers with `body`, and the headers that it received. */
  async function anUpstream(type: string, body: (key: string) => string) {
    const seen: IncomingHttpHeaders[] = []
    const url = await aServer((request, response) => {
      seen.push(request.headers)
      response.writeHead(200, { 'content-type': type })
      response.end(body(realKey))
    })
    return { seen, gateway: await aGateway({ upstream: { url, key: realKey } }) }
  }

  const realKey = 'sk-real-canary-0123456789'

  test.each<[string, string, (key: string) => string]>([
    ['an answer', 'application/json', (key) => JSON.stringify({ error: `bad key ${key}` })],
    [
      'an answer that is cut within the key',
      'text/plain',
      (key) => 'x'.repeat(256 * 1024 - 12) + key,
    ],
  ])('upstream: its key never enters the log: %s', async (_, type, body) => {
    const { gateway } = await anUpstream(type, body)
    const events = await fetch(`${gateway.url}/_repoint/events`)
    await (await ask(gateway, `/v1/responses?echo=${realKey}`, { model: realKey })).text()
    await expect.poll(() => gateway.requests()[0]!.state).toBe('done')
    const [request] = gateway.requests()
    const list = `${gateway.url}/_repoint/requests`
    const noted = [
      JSON.stringify(request),
      await (await fetch(list)).text(),
      await (await fetch(`${list}/${request!.id}`)).text(),
      new TextDecoder().decode((await events.body!.getReader().read()).value),
    ]
    for (const text of noted) expect(text).not.toContain('sk-real-can')
  })

  test('upstream: only the headers that describe the request are forwarded', async () => {
    const { seen, gateway } = await anUpstream('application/json', () => '{}')
    const strays = `api-key x-goog-api-key cookie x-auth-token cf-access-client-secret
      x-amz-security-token proxy-authorization anthropic-api-key x-company x-openai-key openai-key
      anthropic-admin-key x-claude-token x-codex-access x-stainless-pass x-session-token
      openai-organization-key`.split(/\s+/)
    const secrets = {
      ...Object.fromEntries(strays.map((name, index) => [name, `stray-${index + 1}`])),
      'x-title': `mine, ${gateway.key}`,
      'http-referer': `https://x.example/?k=${encodeURIComponent(gateway.key)}`,
    }
    const kept = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a,b',
      'x-stainless-lang': 'js',
      originator: 'codex_exec',
      session_id: '0123',
      'user-agent': 'tool/1',
    }
    // Not with fetch, which sends no cookies.
    const lines = Object.entries({ ...secrets, ...kept }).map((pair) => `${pair.join(': ')}\r\n`)
    const head = `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\nX-Api-Key: ${gateway.key}\r\n`
    const text = `GET /v1/models HTTP/1.1\r\n${head}${lines.join('')}\r\n`
    const { statuses } = await sendRaw(gateway.port, [text])
    expect(statuses).toEqual([200])
    expect(seen).toHaveLength(1)
    expect(JSON.stringify(seen)).not.toMatch(/stray-\d/)
    expect(JSON.stringify(seen)).not.toContain(gateway.key)
    for (const name of Object.keys(secrets)) expect(seen[0]).not.toHaveProperty([name])
    const logged = JSON.stringify(gateway.requests())
    expect(logged).not.toMatch(/stray-(1[0-37]|[1-8])\b/)
    const upstreamKeys = { authorization: `Bearer ${realKey}`, 'x-api-key': realKey }
    expect(seen[0]).toMatchObject({ ...kept, ...upstreamKeys })
  })
})
