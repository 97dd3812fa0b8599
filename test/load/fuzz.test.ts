import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { aGatewayProcess, expectNoLeak, key, requestText } from './child.ts'

/** Part of the test titles, so that a failed run can be repeated with FUZZ_SEED. */
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2_147_483_647)

/** Random numbers that depend only on the seed (mulberry32). */
function numbers(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Random = () => number

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!
}

const paths = {
  '/v1/chat/completions': 'messages',
  '/v1/responses': 'input',
  '/v1/messages': 'messages',
} as const

const responsesModel = { id: 'responses-only', ownedBy: 'test', endpointTypes: ['openai-response'] }
const models = ['gpt-5.6', responsesModel]

const oddTexts = ['', 'ping', '#call f {"a":1}', '\u0000\ud800', '__proto__', '🦊'.repeat(9)]
const members = `role content type text name tools function id call_id __proto__ output parameters
  input input_schema tool_calls`.split(/\s+/)
const settings = `stream tools tool_choice max_tokens stop system stream_options instructions
  reasoning text metadata`.split(/\s+/)

/** Any JSON value. Some have a valid type in the wrong place. */
function value(random: Random, depth = 0): unknown {
  const kind = Math.floor(random() * (depth > 3 ? 7 : 10))
  switch (kind) {
    case 0:
      return null
    case 1:
      return random() < 0.5
    case 2:
      return pick(random, [0, -1, 1.5, 1e308, 2 ** 53])
    case 3:
      return pick(random, oddTexts)
    case 4:
      return pick(random, ['user', 'assistant', 'tool', 'system', 'function_call', 'text'])
    case 5:
      return 'x'.repeat(Math.floor(random() * 2000))
    case 6:
      return {}
    case 7:
    case 8:
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 5) }, () => [
          pick(random, members),
          value(random, depth + 1),
        ]),
      )
    default:
      return Array.from({ length: Math.floor(random() * 5) }, () => value(random, depth + 1))
  }
}

interface Case {
  readonly text: string
  /** The expected status. */
  readonly status: number
  /** Whether the request has random members, so that a rejection is right too. */
  readonly isOdd: boolean
}

/** A valid HTTP request with random contents, and the expected status. */
function wellFormed(random: Random): Case {
  const path = pick(random, Object.keys(paths) as (keyof typeof paths)[])
  const conversation = paths[path]
  const method = random() < 0.05 ? pick(random, ['GET', 'PUT', 'PATCH', 'DELETE']) : 'POST'
  const isGoodKey = random() > 0.1
  const isJson = random() > 0.05
  const headers = {
    Authorization: `Bearer ${isGoodKey ? key : pick(random, ['', 'sk-x', `${key}x`])}`,
    'Content-Type': isJson ? 'application/json' : 'text/plain',
  }
  const isOdd = random() < 0.7
  const body: Record<string, unknown> = {}
  for (const name of settings) if (isOdd && random() < 0.3) body[name] = value(random)
  const model =
    random() < 0.8
      ? 'gpt-5.6'
      : pick(random, ['nope', '', null, 5, responsesModel.id, undefined, '__proto__'])
  body['model'] = model
  const hasConversation = random() < 0.85
  const content = isOdd ? value(random) : 'hi'
  const turns = isOdd && random() < 0.5 ? [content] : [{ role: 'user', content: content }]
  if (hasConversation) body[conversation] = turns
  let text = JSON.stringify(body)
  const isBroken = random() < 0.05
  if (isBroken) text = text.slice(0, -1)
  return { text: requestText(`${method} ${path}`, headers, text), status: expectedStatus(), isOdd }

  function expectedStatus(): number {
    if (method !== 'POST') return 404
    if (!isGoodKey) return 401
    if (!isJson) return 400
    if (isBroken) return 400
    if (typeof model !== 'string' || model === '') return 400
    if (model === 'nope' || model === '__proto__') return 503
    if (!hasConversation) return 500
    return model === responsesModel.id && path !== '/v1/responses' ? 500 : 200
  }
}

/** Sends `count` requests one after another over one connection. Returns those with an unexpected status. */
async function runWellFormed(port: number, random: Random, count: number): Promise<string[]> {
  const failures: string[] = []
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const answers = readAnswers(socket)
  for (let done = 0; done < count; done++) {
    const { text, status, isOdd } = wellFormed(random)
    socket.write(text)
    const answer = await answers.next()
    const seen = Number(answer.slice(9, 12))
    // A request without a conversation may be rejected for its odd members first.
    const isRefused =
      isOdd &&
      (status === 200 || status === 500) &&
      (seen === 400 || seen === 404) &&
      answer.includes('"invalid_request_error"')
    if ((seen !== status && !isRefused) || answer.includes('fault in repoint'))
      failures.push(`${seen} instead of ${status}: ${text.slice(0, 2000)}\n${answer.slice(0, 500)}`)
  }
  socket.destroy()
  return failures
}

/** Splits the bytes of a connection into responses. */
function readAnswers(socket: Socket): { next(): Promise<string> } {
  let text = ''
  let waiting: { resolve(answer: string): void; reject(error: Error): void } | undefined
  const look = () => {
    const end = text.indexOf('\r\n\r\n')
    if (waiting === undefined || end === -1) return
    const length = /^content-length: (\d+)/im.exec(text.slice(0, end))
    const size =
      length === null ? text.indexOf('\r\n0\r\n\r\n', end) + 7 : end + 4 + Number(length[1])
    if (size < end + 4 || text.length < size) return
    const answer = text.slice(0, size)
    text = text.slice(size)
    waiting.resolve(answer)
    waiting = undefined
  }
  socket.on('data', (piece) => {
    text += piece.toString('latin1')
    look()
  })
  const fail = (error?: Error) => waiting?.reject(error ?? new Error('the connection was closed'))
  socket.once('error', fail)
  socket.once('close', () => fail())
  return {
    next: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        look()
      }),
  }
}

/** The statuses that any bytes may get. 500 may only imitate a gateway's error; 403 is for a mangled `Host`. */
const anyStatus = new Set([200, 400, 401, 403, 404, 408, 413, 417, 431, 500, 501, 503])

/** A request with random changes, or random bytes. */
function mangled(random: Random): Buffer {
  if (random() < 0.2) {
    const bytes = Buffer.alloc(Math.floor(random() * 600))
    for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256
    return bytes
  }
  const bytes = Buffer.from(wellFormed(random).text)
  const changes = 1 + Math.floor(random() * 4)
  for (let change = 0; change < changes; change++)
    bytes[Math.floor(random() * bytes.length)] = random() * 256
  return random() < 0.4 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
}

/** Sends mangled bytes, half-closes the connection, and waits until the server closes it. */
function runMangled(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    let hangTimer: NodeJS.Timeout | undefined
    const end = (how: string) => {
      clearTimeout(hangTimer)
      socket.resetAndDestroy()
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) =>
        Number(status),
      )
      const odd = statuses.find((status) => !anyStatus.has(status))
      if (odd !== undefined || text.includes('fault in repoint'))
        resolve(`${how}: ${text.slice(0, 500)}`)
      else resolve(how === 'hangs' ? 'hangs' : '')
    }
    hangTimer = setTimeout(() => end('hangs'), 30_000)
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
    })
    socket.once('end', () => end('ended'))
    socket.once('error', () => end('reset'))
    socket.once('connect', () => socket.end(bytes))
  })
}

test(`fuzz (seed ${seed}): each of 80,000 random requests gets the right status`, async () => {
  const gateway = await aGatewayProcess({ models })
  const results = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      runWellFormed(gateway.port, numbers(seed + index), 5000),
    ),
  )
  expect(results.flat().slice(0, 3)).toEqual([])
  expect(gateway.isAlive()).toBe(true)
})

test(`fuzz (seed ${seed}): 20,000 mangled requests crash nothing, hang nothing, leak nothing`, async () => {
  const gateway = await aGatewayProcess({ models, execArgv: ['--expose-gc'] })
  const random = numbers(seed)
  const problems: string[] = []
  const batch = async (count: number) => {
    for (let done = 0; done < count; done += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => runMangled(gateway.port, mangled(random))),
      )
      problems.push(...answers.filter((problem) => problem !== ''))
    }
  }
  await batch(4000)
  await expectNoLeak(gateway, () => batch(16_000), 40)
  expect(problems.slice(0, 3)).toEqual([])
  expect(gateway.isAlive()).toBe(true)
})
