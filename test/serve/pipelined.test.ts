import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

/** Several requests for a stream in one write, without waiting for the responses. */
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

function get(gateway: Gateway, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`
}

function states(gateway: Gateway): readonly string[] {
  return gateway.requests().map(({ state }) => state)
}

test('pipelined: responses keep the order of the requests, also behind a slow stream', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 30, route: 'responses', times: 1 }] })
  const text = `${pipelined(gateway, 2)}${get(gateway, '/v1/models')}${get(gateway, '/v1/none')}`
  const answer = await sendRaw(gateway.port, [text], { answers: 4 })
  expect(answer.statuses).toEqual([200, 200, 200, 404])
  const marks = /response\.created(?=",)|response\.completed(?=",)|"object":"list"|Invalid URL/g
  expect(answer.text.match(marks)).toEqual([
    ...['response.created', 'response.completed'],
    ...['response.created', 'response.completed'],
    ...['"object":"list"', 'Invalid URL'],
  ])
  expect(states(gateway)).toEqual(Array(4).fill('done'))
})

test('pipelined: when the client disconnects, all its streams end', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 50 }] })
  const socket = open(gateway, pipelined(gateway, 3))
  await expect.poll(() => gateway.openStreams()).toBe(3)
  socket.destroy()
  await expect.poll(() => gateway.openStreams()).toBe(0)
  expect(states(gateway)).toEqual(['cut', 'cut', 'cut'])
})

test('pipelined: when the client disconnects, all its requests to the upstream end', async () => {
  const upstream = await aGateway({ faults: [{ betweenMs: 50 }] })
  const gateway = await aGateway({ upstream: { url: upstream.url, key: upstream.key } })
  const socket = open(gateway, pipelined(gateway, 3))
  await expect.poll(() => upstream.openStreams()).toBe(3)
  socket.destroy()
  await expect.poll(() => upstream.openStreams()).toBe(0)
  await expect.poll(() => states(gateway)).toEqual(['cut', 'cut', 'cut'])
})

test('pipelined: invalid HTTP behind a stream ends the connection and adds nothing to the stream', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 50 }] })
  const pieces = [pipelined(gateway, 1), 'nonsense\r\n\r\n']
  const { text, closed } = await sendRaw(gateway.port, pieces, { gapMs: 100, untilClosed: true })
  expect(text).toContain('response.created')
  expect(text).not.toContain('400 Bad Request')
  expect(closed).toBe(true)
  await expect.poll(() => states(gateway)).toEqual(['cut'])
})

test('pipelined: a connection with too many unanswered requests is closed', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 60_000 }] })
  const { statuses, closed } = await sendRaw(gateway.port, [pipelined(gateway, 9)], {
    untilClosed: true,
  })
  expect(statuses).toEqual([])
  expect(closed).toBe(true)
  await expect.poll(() => states(gateway)).toEqual(Array(8).fill('cut'))
})

test('pipelined: a page that disconnects while it waits behind a response frees its place', async () => {
  const gateway = await aGateway({ faults: [{ betweenMs: 60_000 }] })
  const page = get(gateway, '/_repoint/events')
  const sockets = Array.from({ length: 40 }, () => open(gateway, pipelined(gateway, 1) + page))
  await expect.poll(() => gateway.openStreams()).toBe(40)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => gateway.openStreams()).toBe(0)
  const events = await fetch(`${gateway.url}/_repoint/events`)
  await events.body!.cancel()
  expect(events.status).toBe(200)
})
