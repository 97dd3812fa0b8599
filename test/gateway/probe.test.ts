import { describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { startForgedGateway } from '../../scripts/responses/server.js'
import { readCatalog, requestCatalog } from '../../src/gateway/catalog.ts'
import { closeIdleConnections, preopenConnections } from '../../src/gateway/http/request.ts'
import { probe } from '../../src/gateway/probe/probe.ts'
import type { AcceptedResponses, FirstRequest, Protocol } from '../../src/gateway/types.ts'
import { withGateway } from '../support/gateway.ts'
import {
  accessTo,
  aServer,
  aSocketServer,
  catalogBody,
  failure,
  goodGateway,
  key,
  sendJson,
} from './forged.ts'

const model = 'gpt-5.6-sol'
const protocols: readonly Protocol[] = ['chat', 'responses', 'messages']

describe('probe: proves a protocol', () => {
  test('with the key only as Bearer, streamed, with a small limit and a tool', async () => {
    const server = await aServer(goodGateway)
    const access = accessTo(server)
    for (const protocol of protocols) {
      const baseUrl = protocol === 'messages' ? access.baseUrls.messages : access.baseUrls.chat
      expect(await probe(access, { protocol, model })).toEqual({
        baseUrl,
        findings: [],
        safeguards: 'not-requested',
      })
    }
    const asked = server.seen.map(({ method, url, headers, body }) => ({
      route: `${method} ${url}`,
      authorization: headers.authorization,
      hasOtherKey: headers['x-api-key'] !== undefined,
      version: headers['anthropic-version'],
      ...JSON.parse(body),
    }))
    const common = { authorization: `Bearer ${key}`, hasOtherKey: false, model, stream: true }
    const prompt = 'In one word: which type does this JavaScript have? const total = 1 + 1'
    const messages = [{ role: 'user', content: prompt }]
    const named = { name: 'noop', description: 'Does nothing.' }
    const parameters = { type: 'object', properties: {} }
    expect(asked).toEqual([
      {
        ...common,
        route: 'POST /v1/chat/completions',
        messages,
        max_tokens: 16,
        tools: [{ type: 'function', function: { ...named, parameters } }],
      },
      {
        ...common,
        route: 'POST /v1/responses',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }],
        store: false,
        max_output_tokens: 16,
        tools: [{ type: 'function', ...named, parameters, strict: false }],
      },
      {
        ...common,
        route: 'POST /v1/messages?beta=true',
        version: '2023-06-01',
        messages,
        max_tokens: 16,
        tools: [{ ...named, input_schema: parameters }],
      },
    ])
  })

  test('over the connection that read the catalog', async () => {
    const server = await aServer(goodGateway)
    const access = accessTo(server)
    await readCatalog(access)
    await probe(access, { protocol: 'messages', model })
    await probe(access, { protocol: 'chat', model })
    expect(server.seen).toHaveLength(3)
    expect(server.connections()).toBe(1)
  })

  test('in parallel over connections that were opened in advance, and then closes them', async () => {
    const server = await aServer(goodGateway)
    const access = accessTo(server)
    await preopenConnections(access, 3)
    await expect.poll(() => server.connections()).toBe(3)
    await readCatalog(access)
    await Promise.all(protocols.map((protocol) => probe(access, { protocol, model })))
    await closeIdleConnections(access)
    expect(server.connections()).toBe(3)
    await readCatalog(access)
    expect(server.connections()).toBe(4)
  })

  test('also if a connection that was opened in advance is closed meanwhile', async () => {
    let count = 0
    const body = JSON.stringify(catalogBody)
    const server = await aSocketServer((socket) => {
      if (count++ === 0) socket.destroy()
      socket.on('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      )
    })
    const access = accessTo(server)
    await preopenConnections(access, 1)
    await expect.poll(() => count).toBe(1)
    expect((await readCatalog(access)).models).toHaveLength(2)
  })

  test('without waiting for a stream that stays open after its last event', async () => {
    const server = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.completed","response":{}}\n\n')
    })
    // The probe fails if it waits until its time limit.
    await probe(accessTo(server, { timeoutMs: 30_000 }), { protocol: 'responses', model })
  })

  test('without the limit if the gateway rejects it', async () => {
    for (const [protocol, parameter] of [
      ['chat', 'max_tokens'],
      ['responses', 'max_output_tokens'],
    ] as const) {
      const server = await aServer((request, response) => {
        if (!request.body.includes(parameter)) return goodGateway(request, response)
        sendJson(response, 400, { detail: `Unsupported parameter: ${parameter}` })
      })
      await probe(accessTo(server), { protocol, model })
      expect(server.seen).toHaveLength(2)
    }
  })

  test('names the rejected part of a request, also at the second address', async () => {
    const sender = { label: 'A client', body: { store: false }, headers: {} }
    const rejects = { error: { message: 'Unsupported parameter: store' } }
    const server = await aServer((request, response) => {
      if (!request.url.startsWith('/right/')) return sendJson(response, 404, {})
      sendJson(response, 400, rejects)
    })
    const { address, ...access } = accessTo(server)
    const candidates = [`${address}/wrong`, `${address}/right`]
    const asked = probe({ address, ...access }, { protocol: 'chat', model, sender }, candidates)
    expect((await failure(asked)).code).toBe('parameter-unsupported')
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(2)
  })

  test('and reports that the messages client would have to send two requests', async () => {
    const server = await aServer((_request, response) =>
      sendJson(response, 200, { type: 'message', content: [], model }),
    )
    const { findings } = await probe(accessTo(server), { protocol: 'messages', model })
    expect(findings.map(({ code }) => code)).toEqual(['not-streamed'])
  })
})

describe('probe: judges as the client does', () => {
  const accepts = { rejects: ['open'], retries: [503], retriesIfTold: [429] }
  const asks = async (
    name: string,
    more: Partial<AcceptedResponses> = {},
    headers: FirstRequest['headers'] = {},
  ) => {
    const gateway = await startForgedGateway([model], name)
    onTestFinished(() => gateway.close())
    const access = accessTo({ port: Number(new URL(gateway.url).port) }, { timeoutMs: 30_000 })
    const tools = [{ type: 'function', function: { name: 'noop', parameters: { type: 'object' } } }]
    const body = { messages: [{ role: 'user', content: 'Hi' }], tools, stream: true }
    const sender = { label: 'It', body, headers, accepts: { ...accepts, ...more } }
    const code = await probe(access, { protocol: 'chat', model, sender }).then(
      () => undefined,
      (error) => error.code,
    )
    return [code, gateway.log(name).length]
  }

  test('once more after a transient failure, whatever the client does, if the wait is short', async () => {
    expect(await asks('once-503')).toEqual([undefined, 2])
    expect(await asks('once-500')).toEqual([undefined, 2])
    expect(await asks('always-503')).toEqual(['gateway-fault', 2])
    expect(await asks('always-429')).toEqual(['rate-limited', 2])
    expect(await asks('once-429')).toEqual([undefined, 2])
    expect(await asks('once-429-after-30', { retries: [429] })).toEqual(['rate-limited', 1])
  })

  test('an answer without an end, depending on whether the client waits for the end', {
    timeout: 60_000,
  }, async () => {
    expect(await asks('open', { rejects: [] })).toEqual([undefined, 1])
    expect(await asks('open')).toEqual(['gateway-fault', 1])
  })

  test.each(['bom', 'error-late', 'whole', 'no-usage', 'unknown-event', 'no-index'])(
    '%s, which only some clients accept',
    async (name) => {
      expect(await asks(name, { rejects: [] })).toEqual([undefined, 1])
      expect((await asks(name, { rejects: [name] }))[0]).toBe('gateway-fault')
    },
  )

  test('an answer in an encoding, depending on whether the client asks for it', async () => {
    const rejects = { rejects: ['gzip'] }
    expect(await asks('gzip', rejects)).toEqual(['gateway-fault', 1])
    expect(await asks('gzip', rejects, { 'accept-encoding': 'zstd,gzip' })).toEqual([undefined, 1])
    expect(await asks('gzip', rejects, { 'accept-encoding': 'br' })).toEqual(['gateway-fault', 1])
  })

  test('an event of 2 MB, which every client reads', async () => {
    expect(await asks('huge-2mb')).toEqual([undefined, 1])
  })

  test('more headers than Node reads', async () => {
    expect(await asks('headers-60kb')).toEqual([undefined, 1])
    expect(await asks('headers-60kb', { rejects: ['headers-30kb'] })).toEqual(['gateway-fault', 1])
  })
})

describe('probe: distinguishes', () => {
  test('a protocol that the gateway lacks from a wrong address, by asking for the catalog', async () => {
    const oneApi = await aServer((request, response) =>
      request.url.startsWith('/v1/messages')
        ? sendJson(response, 404, {
            error: {
              message: `Invalid URL (POST ${request.url})`,
              type: 'invalid_request_error',
              param: '',
              code: '',
            },
          })
        : goodGateway(request, response),
    )
    expect((await failure(probe(accessTo(oneApi), { protocol: 'messages', model }))).code).toBe(
      'protocol-unsupported',
    )

    const error = await failure(
      probe(accessTo(oneApi, { prefix: '/v1' }), { protocol: 'messages', model }),
    )
    expect(error.code).toBe('wrong-route')
  })

  test.each([
    ['before the probe', true],
    ['by the probe', false],
  ])(
    'a protocol that the gateway lacks, although the key may not read the catalog: requested %s',
    async (_name, isRequestedBefore) => {
      const server = await aServer((request, response) =>
        request.url === '/v1/models'
          ? sendJson(response, 403, { error: { message: 'Missing scopes: api.model.read' } })
          : sendJson(response, 404, {}),
      )
      const access = accessTo(server)
      const catalog = isRequestedBefore ? await requestCatalog(access) : undefined
      const error = await failure(probe(access, { protocol: 'messages', model, catalog }))
      expect(error.code).toBe('protocol-unsupported')
      expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1)
    },
  )

  test.each(['responses', 'messages'] as const)(
    'a model that does not speak %s, as the local gateway answers for it',
    async (protocol) => {
      const gateway = await withGateway({ key }, onTestFinished)
      const access = accessTo({ port: Number(new URL(gateway.url).port) }, { timeoutMs: 30_000 })
      await probe(access, { protocol: 'chat', model: 'gpt-audio' })
      const error = await failure(probe(access, { protocol, model: 'gpt-audio' }))
      expect(error.code).toBe('protocol-unsupported')
      expect(error.message).toContain(`gpt-audio over the ${protocol} protocol`)
      expect(error.message).toMatch(/\(HTTP 500: "not implemented"\) \(request id: \w+\)$/)
    },
  )

  test('a web application that answers everything, from one that serves the API too', async () => {
    const page = '<!doctype html><title>New API</title>'
    const web = await aServer((_request, response) => response.end(page))
    expect((await failure(probe(accessTo(web), { protocol: 'responses', model }))).code).toBe(
      'not-an-api',
    )

    const both = await aServer((request, response) =>
      request.url === '/v1/models' ? sendJson(response, 200, catalogBody) : response.end(page),
    )
    expect((await failure(probe(accessTo(both), { protocol: 'responses', model }))).code).toBe(
      'protocol-unsupported',
    )
  })
})

describe('catalog', () => {
  test('continues if a messages-style catalog has more pages', async () => {
    const server = await aServer((request, response) =>
      request.url === '/v1/models'
        ? sendJson(response, 200, {
            data: [{ id: 'a', type: 'model' }],
            has_more: true,
            last_id: 'a',
          })
        : sendJson(response, 200, {
            data: [{ id: 'b', type: 'model' }],
            has_more: false,
            last_id: 'b',
          }),
    )
    const { models } = await readCatalog(accessTo(server))
    expect(models.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(server.seen[1]?.url).toBe('/v1/models?limit=1000&after_id=a')
  })

  test('ends if the pages are circular, with a note that does not claim more models', async () => {
    const server = await aServer((_request, response) =>
      sendJson(response, 200, { data: [{ id: 'a' }], has_more: true, last_id: 'a' }),
    )
    const { models, findings } = await readCatalog(accessTo(server))
    expect(models).toHaveLength(1)
    expect(findings).toMatchObject([{ code: 'catalog-cut', severity: 'note' }])
    expect(server.seen).toHaveLength(2)
  })

  test.each([{ object: 'list', data: null }, { object: 'list', data: [] }, []])(
    'is reported if it is empty: %j',
    async (body) => {
      const server = await aServer((_request, response) => sendJson(response, 200, body))
      const error = await failure(readCatalog(accessTo(server)))
      expect(error).toMatchObject({
        code: 'model-unknown',
        message: `The list of models at 127.0.0.1:${server.port} is empty`,
        hint: expect.stringContaining('which models this key may use'),
      })
    },
  )

  test('leaves out IDs with the key or with hidden characters, and says how many', async () => {
    const data = [{ id: 'a' }, { id: `b-${key}` }, { id: 'c\u202e' }]
    const server = await aServer((_request, response) => sendJson(response, 200, { data }))
    const { models, findings } = await readCatalog(accessTo(server))
    expect(models).toEqual([{ id: 'a' }])
    expect(findings).toEqual([
      {
        code: 'models-left-out',
        severity: 'note',
        message: expect.stringMatching(/ 2 models of the gateway: /),
      },
    ])
  })

  test('without any usable ID is an error of the gateway', async () => {
    const server = await aServer((_request, response) =>
      sendJson(response, 200, { data: [{ id: key }] }),
    )
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.hint).toContain('1 model of the gateway')
    expect(error.message + error.hint).not.toContain(key)
  })

  test.each<[string, Record<string, string>, string | undefined]>([
    ['from the Date header', { date: 'Sat, 21 Nov 2026 09:00:00 GMT' }, '2026-11-21T09:00:00.000Z'],
    [
      'from the Date and Age headers of a cache',
      { date: 'Sat, 21 Nov 2026 09:00:00 GMT', age: '90' },
      '2026-11-21T09:01:30.000Z',
    ],
    ['not from an invalid header', { date: 'soon' }, undefined],
    ['not without a header', {}, undefined],
  ])("has the gateway's time: %s", async (_name, headers, expected) => {
    const server = await aServer((_request, response) => {
      response.sendDate = false
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      sendJson(response, 200, catalogBody)
    })
    const { serverTime } = await readCatalog(accessTo(server))
    expect(serverTime?.toISOString()).toBe(expected)
  })
})
