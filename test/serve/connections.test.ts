import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway, saying } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

const userMessage = { role: 'user', content: 'Zwölf Boxkämpfer' }
const streamed = { ...saying('/v1/messages', 'one two three', 'claude-sonnet-5'), stream: true }

const requests = {
  catalog: ['GET /v1/models', ''],
  page: ['GET /', ''],
  text: [
    'POST /v1/chat/completions',
    JSON.stringify({ model: 'gpt-5.6', messages: [userMessage] }),
  ],
  stream: ['POST /v1/messages', JSON.stringify(streamed)],
} as const

type Name = keyof typeof requests

function request(gateway: Gateway, name: Name, headers = '', version = '1.1'): string {
  const [line, body] = requests[name]
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${line} HTTP/${version}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nOrigin: http://a.test\r\n${headers}${length}\r\n${body}`
}

/** The answer without the parts that differ from one answer to the next. */
function shapeOf(answer: string): string {
  const ofOne = /^(Date|X-Oneapi-Request-Id|x-request-id|request-id|anthropic-\w+-\w+-reset): .*$/gm
  return answer
    .replace(ofOne, '$1: …')
    .replace(/(chatcmpl-|msg_)\w+/g, '$1…')
    .replace(/"created":\d+/g, '"created":0')
}

const names = Object.keys(requests) as Name[]

// The page is sent at once, without faults or delays.
test.each(names.filter((name) => name !== 'page'))(
  'connections: %s has the same bytes for a request that waited',
  async (name) => {
    const gateway = await aGateway({ faults: [{ delayMs: 30, every: 2 }] })
    const requestText = request(gateway, name)
    const alone = await sendRaw(gateway.port, [requestText], { answers: 1 })
    const both = (await sendRaw(gateway.port, [requestText.repeat(2)], { answers: 2 })).text
    const second = both.lastIndexOf('HTTP/1.1 200 OK')
    expect(alone.closed).toBe(false)
    expect(second).toBeGreaterThan(0)
    expect(shapeOf(alone.text)).toBe(shapeOf(both.slice(second)))
    expect(shapeOf(both.slice(0, second))).toBe(shapeOf(alone.text))
    const date = /^Date: (.*)\r$/m.exec(alone.text)![1]!
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(5000)
  },
)

test.each(names)(
  'connections: closes the connection after %s if the client asks for it',
  async (name) => {
    const gateway = await aGateway()
    const last = await sendRaw(gateway.port, [request(gateway, name, 'Connection: close\r\n')], {
      untilClosed: true,
    })
    expect(last.closed).toBe(true)
    expect(last.text).toContain('Connection: close')
    const { text } = await sendRaw(gateway.port, [request(gateway, name)], { answers: 1 })
    const kept = 'Connection: keep-alive\r\nKeep-Alive: timeout=65\r\n'
    expect(text).toContain(kept)
    expect(shapeOf(text).replace(kept, '')).toBe(
      shapeOf(last.text).replace('Connection: close\r\n', ''),
    )
    const old = await sendRaw(gateway.port, [request(gateway, name, '', '1.0')], {
      untilClosed: true,
    })
    expect(old.closed).toBe(true)
    expect(old.text).toContain('200 OK')
    expect(old.text).not.toContain('chunked')
  },
)

test('connections: each response has its current date', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 1000 }] })
  const askedAt = Math.floor(Date.now() / 1000) * 1000
  const { text } = await sendRaw(gateway.port, [request(gateway, 'text')], { answers: 1 })
  const date = Date.parse(/^Date: (.*)\r$/m.exec(text)![1]!)
  expect(date).toBeGreaterThanOrEqual(askedAt + 1000)
})

test('connections: many requests on one connection are answered in turn', async () => {
  const gateway = await aGateway()
  const round = ['text', 'stream', 'catalog'] as const
  const all = round.map((name) => request(gateway, name)).join('')
  const answer = await sendRaw(gateway.port, [all.repeat(2)], { answers: 6 })
  expect(answer.statuses).toEqual(Array(6).fill(200))
  const kinds = answer.text.match(/chat\.completion(?=",)|message_stop(?="\})|list(?=",)/g)
  expect(kinds).toEqual(Array(2).fill(['chat.completion', 'message_stop', 'list']).flat())
  expect(gateway.requests().map(({ state }) => state)).toEqual(Array(6).fill('done'))
})

test('connections: unread data of a slow reader is not overwritten by later streams', async () => {
  const gateway = await aGateway()
  const body = (word: string) =>
    JSON.stringify({
      model: 'gpt-5.4',
      stream: true,
      messages: [{ role: 'user', content: `#call say ${JSON.stringify({ word })}` }],
      tools: [{ type: 'function', function: { name: 'say' } }],
    })
  const ask = (word: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body(word).length}\r\n\r\n${body(word)}`
  // About 100 kB each, which soon exceeds the buffers of the system.
  const words = 'abcdefgh'.split('').map((letter) => letter.repeat(10_000))
  const sockets = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = connect({ port: gateway.port, host: '127.0.0.1' }).pause()
      for (const word of words) socket.write(ask(word))
      return socket
    }),
  )
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const socket of sockets) {
    let text = ''
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
    })
    socket.resume()
    await expect.poll(() => text.split('[DONE]').length - 1).toBe(8)
    const pieces = [...text.matchAll(/"arguments":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece)
    const expected = words.map((word) => `{\\"word\\":\\"${word}\\"}`).join('')
    expect(pieces.join('').replaceAll('\\', '')).toBe(expected.replaceAll('\\', ''))
    socket.destroy()
  }
})
