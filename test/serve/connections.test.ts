import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { beginAnswer, closeIdle } from '../../src/serve/connections.ts'
import { aGateway } from './support/gateway.ts'

const idleMs = 260

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function aServer(handle: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 0 }, handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = closeIdle(server, idleMs)
  ends.push(() => {
    stop()
    server.close()
    server.closeAllConnections()
  })
  return server
}

/** A connection that notes when it was closed, in ms after `since`. */
function aConnection(server: Server): {
  socket: Socket
  closedAfterMs(since: number): Promise<number>
} {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
  const closed = once(socket, 'close').then(() => performance.now())
  return { socket, closedAfterMs: async (since) => (await closed) - since }
}

const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('a connection on which nothing happens is closed, and not before its time', async () => {
  const server = await aServer((_, response) => response.end('yes'))
  const { socket, closedAfterMs } = aConnection(server)
  for (let turn = 0; turn < 3; turn++) {
    socket.write(ask)
    await once(socket, 'data')
    if (turn < 2) await sleep(idleMs / 2)
  }
  expect(await closedAfterMs(performance.now())).toBeGreaterThan(idleMs * 0.9)
})

test('a connection that never asked is closed too', async () => {
  const server = await aServer(() => {})
  expect(await aConnection(server).closedAfterMs(performance.now())).toBeGreaterThan(idleMs * 0.9)
})

test('a connection stays while an answer is under way or was not read yet', async () => {
  const large = 'x'.repeat(20_000_000)
  let end = () => {}
  const server = await aServer((request, response) => {
    if (request.url === '/large') response.end(large)
    else end = beginAnswer(request.socket)
  })
  const waiting = aConnection(server)
  waiting.socket.write(ask)
  const unread = aConnection(server)
  unread.socket.pause()
  unread.socket.write(ask.replace('/', '/large'))
  await sleep(3 * idleMs)
  expect([waiting.socket.closed, unread.socket.closed]).toEqual([false, false])
  const endedAt = performance.now()
  end()
  unread.socket.resume()
  for (const { closedAfterMs } of [waiting, unread])
    expect(await closedAfterMs(endedAt)).toBeGreaterThan(idleMs * 0.9)
})

test('nothing is closed once it was stopped', async () => {
  const server = createServer({ keepAliveTimeout: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close().closeAllConnections())
  closeIdle(server, 20)()
  const { socket } = aConnection(server)
  await sleep(200)
  expect(socket.closed).toBe(false)
})

test('the gateway closes a connection that was idle for 65 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'performance'] })
  ends.push(() => vi.useRealTimers())
  const gateway = await aGateway()
  const socket = connect(gateway.port, '127.0.0.1')
  ends.push(() => socket.destroy())
  socket.write('GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await once(socket, 'data'))).toContain('Keep-Alive: timeout=65\r\n')
  vi.advanceTimersByTime(64_000)
  await sleep(50)
  expect(socket.closed).toBe(false)
  vi.advanceTimersByTime(12_000)
  await once(socket, 'close')
})
