import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway, ask, jsonOf } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

let gateway: Gateway
let head: string

beforeEach(async () => {
  gateway = await aGateway({ limits: { maxBodyBytes: 1024 * 1024 } })
  head = `POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`
})

/** The gateway must still answer the next request, whatever happened before. */
afterEach(async () => {
  const answer = await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'ping' })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('pong')
})

const ping = '{"model":"gpt-5.6","input":"ping"}'

test('hostile: a body that is too large is 413, with and without Content-Length', async () => {
  const announced = await sendRaw(gateway.port, [`${head}Content-Length: 99999999\r\n\r\n{`])
  expect(announced.statuses).toEqual([413])
  const chunk = 'x'.repeat(64 * 1024)
  const chunks = Array.from({ length: 17 }, () => `10000\r\n${chunk}\r\n`)
  const pieces = [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...chunks]
  const streamed = await sendRaw(gateway.port, pieces)
  expect(streamed.statuses).toEqual([413])
  const error = { message: expect.stringContaining('request body too large') }
  expect(JSON.parse(streamed.text.split('\r\n\r\n')[1]!)).toMatchObject({ error })
})

test('hostile: a rejected upload is not read forever', async () => {
  const patient = await aGateway({ key: gateway.key, limits: { requestTimeoutMs: 60_000 } })
  const socket = connect(patient.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  socket.write(`${head}Content-Length: 999999999\r\n\r\n`)
  const pump = setInterval(() => socket.write('x'.repeat(65536)), 5)
  await closed
  clearInterval(pump)
})

test('hostile: a deeply nested body counts as invalid JSON', async () => {
  const depth = 100_000
  for (const nested of [
    '['.repeat(depth) + ']'.repeat(depth),
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  ]) {
    const body = `{"model":"gpt-5.6","tools":${nested},"input":"ping"}`
    const answer = await ask(gateway, '/v1/responses', '', {}, { body })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('invalid JSON request body')
  }
})

/** Replaces the gateway with one that waits for a request as briefly as a busy machine allows. */
async function becomeImpatient() {
  const limits = { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000 }
  gateway = await aGateway({ key: gateway.key, limits })
}

test('hostile: a slow body ends with 408', async () => {
  await becomeImpatient()
  const pieces = [`${head}Content-Length: ${ping.length}\r\n\r\n`, ...ping]
  const answer = await sendRaw(gateway.port, pieces, { gapMs: 100, untilClosed: true })
  expect(answer.statuses).toEqual([408])
  expect(answer.closed).toBe(true)
})

test('hostile: slow and endless headers are cut off', async () => {
  const long = Array.from({ length: 2000 }, (_, index) => `X-${index}: ${'y'.repeat(100)}\r\n`)
  const endless = await sendRaw(gateway.port, ['GET /v1/models HTTP/1.1\r\n', ...long])
  expect(endless.statuses).toEqual([431])

  await becomeImpatient()
  const pieces = ['GET / HTTP/1.1\r\n', ...'Host: x']
  const slow = await sendRaw(gateway.port, pieces, { gapMs: 300 })
  expect(slow.statuses).toEqual([408])
})

test('hostile: a truncated body leaves one line in the log and no response', async () => {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(`${head}Content-Length: 100\r\n\r\n${ping}`)
  await expect.poll(() => gateway.requests().length).toBe(1)
  socket.destroy()
  await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
  expect(gateway.requests()[0]!.status).toBe(undefined)
})

const smuggled =
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'

test.each([
  ['random bytes', Uint8Array.from({ length: 4096 }, (_, index) => (index * 7919 + 13) % 256)],
  ['a TLS hello', Uint8Array.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])],
  ['an unknown method', 'BREW /v1/models HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n'],
  ['two lengths', `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`],
  ['smuggling', smuggled],
  ['an unknown version', 'GET / HTTP/9.9\r\n\r\n'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n'],
])('hostile: %s is 400 and a closed connection', async (_, bytes) => {
  const answer = await sendRaw(gateway.port, [bytes], { untilClosed: true })
  expect(answer.statuses).toEqual([400])
  expect(answer.closed).toBe(true)
})

test.each([
  ['GET http://other.example/v1/models HTTP/1.1', 401],
  ['GET http://other.example HTTP/1.1', 200],
  ['GET /v1/models?%00=%zz HTTP/1.1', 401],
  ['GET /v1/models/%zz HTTP/1.1', 401],
  ['GET //v1/models HTTP/1.1', 200],
  ['GET /v1/../v1/models HTTP/1.1', 404],
  ['GET /__proto__ HTTP/1.1', 200],
  ['POST /v1/__proto__ HTTP/1.1', 404],
  ['OPTIONS * HTTP/1.1', 200],
  ['TRACE /v1/models HTTP/1.1', 404],
  ['HEAD /v1/models HTTP/1.1', 404],
])('hostile: %s is %i', async (line, status) => {
  const text = `${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`
  const answer = await sendRaw(gateway.port, [text], { untilClosed: true })
  expect(answer.statuses).toEqual([status])
})

test('hostile: names of Object’s members are not models, tools or routes', async () => {
  for (const model of ['__proto__', 'constructor', 'toString'])
    expect((await ask(gateway, '/v1/responses', { model, input: 'x' })).status).toBe(503)
  const odd = JSON.parse('{"__proto__":1,"constructor":2,"toString":3}')
  const messages = [{ role: 'user', content: '#call constructor {}' }]
  const oddBodies = [
    { ...odd, model: 'gpt-5.6', messages },
    { model: 'gpt-5.6', messages: [{ ...messages[0], ...odd }] },
  ]
  for (const body of oddBodies)
    expect((await ask(gateway, '/v1/chat/completions', body)).status).toBe(400)
  const tools = [{ type: 'function', function: { name: '__proto__' } }]
  const body = { model: 'gpt-5.4', messages, tools }
  const answer = await ask(gateway, '/v1/chat/completions', body)
  const text = (await jsonOf(answer)).choices[0].message.content
  expect(text).toBe('This request offers no tool "constructor". It offers: __proto__.')
  const strange = { ...body, messages: [{ role: '__proto__', content: 'x' }] }
  expect((await ask(gateway, '/v1/chat/completions', strange)).status).toBe(400)
})

test('hostile: a thousand requests, cut off at every position', async () => {
  const whole = `${head}Content-Length: ${ping.length}\r\n\r\n${ping}`
  for (let round = 0; round < 10; round++)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const length = Math.floor((whole.length * index) / 100)
        return new Promise<void>((resolve) => {
          const socket = connect(gateway.port, '127.0.0.1', () => {
            socket.write(whole.slice(0, length), () => socket.destroy())
          })
          socket.on('error', () => {})
          socket.on('close', () => resolve())
        })
      }),
    )
  await expect.poll(() => gateway.requests().filter(({ state }) => state === 'open').length).toBe(0)
})

test('hostile: a WebSocket upgrade is rejected as the wrong route', async () => {
  const wanted = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
  const text = `GET /v1/responses HTTP/1.1\r\nHost: x\r\n${wanted}Sec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`
  expect((await sendRaw(gateway.port, [text])).statuses).toEqual([404])
})

test.each(['sk-', '', 'sk-1234567', '1234567', 'sk-with a blank'])(
  'hostile: refuses the key %j, which would protect nothing',
  async (key) => {
    await expect(aGateway({ key })).rejects.toMatchObject({ code: 'usage' })
  },
)

test('hostile: clients that send requests without reading are disconnected, and use little memory', async () => {
  const line = 'GET /_repoint/requests HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  for (let count = 0; count < 300; count++) await fetch(`${gateway.url}/v1/${'x'.repeat(3000)}`)
  const before = process.memoryUsage().rss
  let closed = 0
  const sockets = Array.from({ length: 25 }, () => {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {})
    socket.once('close', () => closed++).pause()
    socket.write(line.repeat(5000))
    return socket
  })
  await sleep(1000)
  expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(400)
  for (const socket of sockets) socket.resume()
  await expect.poll(() => closed).toBeGreaterThan(20)
  for (const socket of sockets) socket.destroy()
})
