import { expect, test } from 'vitest'
import { type LogEntry, maxLoggedBodyBytes, RequestLog } from '../../src/serve/request-log.ts'

const secret = 'sk-secret-secret-secret'

function anEntry(more: Partial<LogEntry> = {}): LogEntry {
  return {
    id: 'a',
    number: 0,
    at: 0,
    method: 'POST',
    path: '/v1/responses',
    protocol: 'responses',
    rawHeaders: [],
    auth: 'bearer',
    key: secret,
    keyMatches: true,
    modelAsked: undefined,
    modelServed: undefined,
    stream: false,
    state: 'open',
    status: undefined,
    startedMs: 0,
    firstByteMs: undefined,
    totalMs: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    fault: undefined,
    requestBody: undefined,
    requestBytes: 0,
    responseBody: undefined,
    responseBytes: 0,
    ...more,
  }
}

const bytes = (text: string) => Buffer.from(text)

const roomy = { entries: 100, bodyBytes: 10_000_000 }

test('the log: keeps the newest', () => {
  const log = new RequestLog(secret, { ...roomy, entries: 3 })
  for (let count = 1; count <= 10; count++) log.add(anEntry({ id: String(count) }))
  expect(log.list().map(({ id, number }) => [id, number])).toEqual([
    ['8', 8],
    ['9', 9],
    ['10', 10],
  ])
  expect(log.find('7')).toBe(undefined)
  expect(log.find('8')!.number).toBe(8)
})

test('the log: keeps within its bytes, whatever the bodies are', () => {
  const log = new RequestLog(secret, { entries: 1000, bodyBytes: 1000 })
  for (let count = 0; count < 50; count++) {
    const entry = anEntry({ id: String(count) })
    log.add(entry)
    log.finish(entry, bytes('x'.repeat(150)), 'y'.repeat(150))
  }
  expect(log.list().map(({ id }) => id)).toEqual(['47', '48', '49'])
})

test('the log: an entry that ends after it has left does not count', () => {
  const log = new RequestLog(secret, { entries: 2, bodyBytes: 1000 })
  const slow = anEntry({ id: 'slow' })
  log.add(slow)
  for (let count = 0; count < 5; count++) log.add(anEntry({ id: String(count) }))
  log.finish(slow, bytes('x'.repeat(900)), 'x'.repeat(900))
  expect(log.list().map(({ id }) => id)).toEqual(['3', '4'])
})

test('the log: after it was cleared it counts on, and an older one may still end', () => {
  const log = new RequestLog(secret, roomy)
  const early = anEntry({ id: 'early' })
  log.add(early)
  log.clear()
  log.finish(early, bytes('x'), 'y')
  log.add(anEntry({ id: 'late' }))
  expect(log.list().map(({ id, number }) => [id, number])).toEqual([['late', 2]])
})

test('the log: a long body is cut', () => {
  const log = new RequestLog(secret, roomy)
  const entry = anEntry()
  log.add(entry)
  log.finish(entry, bytes('x'.repeat(maxLoggedBodyBytes + 1)), '')
  expect(log.list()[0]!.requestBody).toHaveLength(maxLoggedBodyBytes)
})

test('the log: no key is in what it shows, its own or a stranger’s', () => {
  const log = new RequestLog(secret, roomy)
  const stranger = 'sk-somebody-elses-key-1234'
  const entry = anEntry({
    key: stranger,
    path: `/v1/models?key=${stranger}`,
    rawHeaders: [
      'Authorization',
      `Bearer ${secret}`,
      'X-Api-Key',
      stranger,
      'Cookie',
      'session=abcdefghijklmnopqrstuvwxyz',
      'x-goog-api-key',
      'short',
      'User-Agent',
      `tool/1 ${secret}`,
    ],
  })
  log.add(entry)
  log.finish(entry, bytes(`my key: ${stranger}`), `${secret}!`)
  const shown = JSON.stringify(log.list())
  for (const hidden of [secret, stranger, 'abcdefghijklmnop', 'short'])
    expect(shown).not.toContain(hidden)
  expect(log.list()[0]).toMatchObject({ key: 'sk-…1234', requestBody: 'my key: sk-…1234' })
})

test('the log: listeners hear of the arrival and of the end, until they stop', () => {
  const log = new RequestLog(secret, roomy)
  const heard: string[] = []
  const stop = log.listen(({ id, state }) => heard.push(`${id} ${state}`))
  const entry = anEntry()
  log.add(entry)
  log.finish(Object.assign(entry, { state: 'done' }), bytes(''), '')
  stop()
  log.add(anEntry())
  expect(heard).toEqual(['a open', 'a done'])
})
