import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the benchmark
import { load as loadServer, oneAnswer } from '../../scripts/bench/load.js'
import { aGatewayProcess, expectNoLeak, key, requestText, steadyLiveBytes } from './child.ts'

const json = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
const ping = JSON.stringify({ model: 'gpt-5.6', messages: [{ role: 'user', content: 'ping' }] })
const chat = requestText('POST /v1/chat/completions', json, ping)

async function send(port: number, answers: number): Promise<void> {
  const answerBytes = (await oneAnswer(port, chat)).length
  await loadServer(port, chat, { connections: 16, answers, answerBytes })
}

/**
 * Opens connections in batches. If the queue of the listening socket is full, the kernel retries a connection only
 * after 1, 3, 7 and 15 s.
 */
async function connectAll(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const batch = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'))
    await Promise.all(batch.map((socket) => once(socket, 'connect')))
    sockets.push(...batch)
  }
  return sockets
}

test('load: the process uses as much memory after 30,000 requests as after 10,000', async () => {
  const gateway = await aGatewayProcess({ execArgv: ['--expose-gc'] })
  await send(gateway.port, 10_000)
  await expectNoLeak(gateway, () => send(gateway.port, 20_000))
})

test('load: 2,000 slow streams can be open at once, and all of them end', async () => {
  const gateway = await aGatewayProcess({ faults: [{ betweenMs: 4000 }] })
  const body = JSON.stringify({ ...JSON.parse(ping), stream: true })
  const request = requestText('POST /v1/chat/completions', json, body)
  const streams: Socket[] = []
  const texts: string[] = []
  const ended: Promise<void>[] = []
  for (const socket of await connectAll(gateway.port, 2000)) {
    const index = streams.push(socket) - 1
    texts[index] = ''
    const end = new Promise<void>((resolve, reject) => {
      socket.on('data', (piece) => {
        texts[index] += piece.toString()
        if (texts[index]!.endsWith('0\r\n\r\n')) resolve()
      })
      socket.once('error', reject)
    })
    ended.push(end)
    socket.write(request)
  }
  await expect.poll(() => gateway.ask('streams'), { timeout: 20_000 }).toBe(2000)
  await Promise.all(ended)
  for (const socket of streams) socket.destroy()
  expect(texts.every((text) => text.includes('data: [DONE]'))).toBe(true)
  expect(await gateway.ask('streams')).toBe(0)
})

test('load: 2,000 clients that disconnect leave no stream open', async () => {
  const gateway = await aGatewayProcess({ faults: [{ betweenMs: 60_000 }] })
  const body = JSON.stringify({ ...JSON.parse(ping), stream: true })
  const request = requestText('POST /v1/chat/completions', json, body)
  const sockets = await connectAll(gateway.port, 2000)
  for (const socket of sockets) socket.write(request)
  await expect.poll(() => gateway.ask('streams'), { timeout: 20_000 }).toBe(2000)
  for (const socket of sockets) socket.resetAndDestroy()
  await expect.poll(() => gateway.ask('streams'), { timeout: 5000 }).toBe(0)
})

test('load: a body that arrives byte by byte needs no more memory than its bytes', async () => {
  const gateway = await aGatewayProcess({ execArgv: ['--expose-gc'] })
  const headers = Object.entries({ Host: 'x', ...json, 'Transfer-Encoding': 'chunked' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines}\r\n`)
  const early = await steadyLiveBytes(gateway)
  const pieces = '1\r\nx\r\n'.repeat(10_000)
  for (let count = 0; count < 100; count++) if (!socket.write(pieces)) await once(socket, 'drain')
  expect((await steadyLiveBytes(gateway)) - early).toBeGreaterThan(1_000_000)
  // V8 frees dead buffers in the background, which takes a while on a busy machine.
  const growth = async () => (await gateway.ask('live')) - early
  await expect.poll(growth, { timeout: 20_000 }).toBeLessThan(4_000_000)
  socket.destroy()
})
