import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

/** Requests for slow streams, each sent before the one before it was answered. */
function pipelined(gateway: Gateway, count: number): string {
  const body = '{"model":"gpt-5.6","input":"one two three","stream":true}'
  const head = `POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  return (head + body).repeat(count)
}

function open(gateway: Gateway, text: string): Socket {
  const socket = connect(gateway.port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  socket.write(text)
  return socket
}

const slowly = { betweenMs: 20 }

function states(gateway: Gateway): readonly string[] {
  return gateway.requests().map(({ state }) => state)
}

test('pipelined: when the client goes, its stream ends, and what waited behind it is not answered', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 50 }] })
  const socket = open(gateway, pipelined(gateway, 3))
  await expect.poll(() => gateway.openStreams()).toBe(1)
  socket.destroy()
  await expect.poll(() => gateway.openStreams()).toBe(0)
  expect(states(gateway)).toEqual(['cut'])
})

test('pipelined: when the client goes, the upstream ends its work and is asked no more', async () => {
  const upstream = await aGateway({ faults: [{ betweenMs: 50 }] })
  const gateway = await aGateway({ upstream: { url: upstream.url, key: upstream.key } })
  const socket = open(gateway, pipelined(gateway, 3))
  await expect.poll(() => upstream.openStreams()).toBe(1)
  socket.destroy()
  await expect.poll(() => upstream.openStreams()).toBe(0)
  await expect.poll(() => states(gateway)).toEqual(['cut'])
  expect(states(upstream)).toEqual(['cut'])
})

test('pipelined: a request that waits is answered by what is in force when its turn comes', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 20 }] })
  const asked = sendRaw(gateway.port, [pipelined(gateway, 2)], { quietMs: 2000 })
  await expect.poll(() => gateway.openStreams()).toBe(1)
  gateway.setFaults([{ error: 'quota' }])
  expect((await asked).statuses).toEqual([200, 403])
})

test('pipelined: a reset comes after the answers before it', async () => {
  const slow = { betweenMs: 20, times: 1 }
  const gateway = await aGateway({ faults: [slow, { reset: true, every: 2 }] })
  const answer = await sendRaw(gateway.port, [pipelined(gateway, 2)], { quietMs: 2000 })
  expect(answer.statuses).toEqual([200])
  expect(answer.text).toContain('response.completed')
  expect(answer.closed).toBe(true)
})

test.each([
  ['a stream', 1, [slowly]],
  ['an answer that is put off', 1, [{ delayMs: 50 }]],
  ['a stream and one that is put off', 2, [slowly, { delayMs: 50, every: 2 }]],
  ['one that waits for a stream', 2, [{ ...slowly, times: 1 }]],
  ['two that wait for one that is put off', 3, [{ delayMs: 50, times: 1 }]],
  ['answers at once', 3, []],
])(
  'pipelined: what is no request is refused after the answers before it: %s',
  async (_, count, faults) => {
    const gateway = await aGateway({ faults })
    const pieces = [`${pipelined(gateway, count)}nonsense\r\n\r\n`]
    const { text, statuses, closed } = await sendRaw(gateway.port, pieces, { quietMs: 2000 })
    expect(statuses).toEqual([...Array(count).fill(200), 400])
    expect(text.split('0\r\n\r\n')).toHaveLength(count + 1)
    expect(text.endsWith('400 Bad Request')).toBe(true)
    expect(closed).toBe(true)
    expect(states(gateway)).toEqual(Array(count).fill('done'))
  },
)

test('pipelined: what is no request is refused after lists and errors too', async () => {
  const gateway = await aGateway()
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`
  const text = `${get('/v1/models')}${get('/v1/none')}${get('/v1/models')}nonsense\r\n\r\n`
  const { statuses } = await sendRaw(gateway.port, [text], { quietMs: 2000 })
  expect(statuses).toEqual([200, 404, 200, 400])
})

test('pipelined: a page that wants to hear of requests may come behind a slow answer', async () => {
  const gateway = await aGateway({ faults: [slowly] })
  const page = 'GET /_repoint/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  const { text, statuses } = await sendRaw(gateway.port, [pipelined(gateway, 1) + page])
  expect(statuses).toEqual([200, 200])
  expect(text).toContain(': the requests of this gateway\n\n')
})

test('pipelined: pages that go while they wait behind an answer are forgotten', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 60_000 }] })
  const page = 'GET /_repoint/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  const sockets = Array.from({ length: 40 }, () => open(gateway, pipelined(gateway, 1) + page))
  await expect.poll(() => gateway.openStreams()).toBe(40)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => gateway.openStreams()).toBe(0)
  const { statuses } = await sendRaw(gateway.port, [page])
  expect(statuses).toEqual([200])
})
