import { expect, test } from 'vitest'
import type { LogEntry } from '../../../src/serve/log/entry.ts'
import { createEntry } from '../../../src/serve/log/entry.ts'
import { maxLoggedBody, RequestLog } from '../../../src/serve/log/request-log.ts'

const secret = 'sk-secret-secret-secret'

function anEntry(more: Partial<LogEntry> = {}): LogEntry {
  const arrival = {
    id: 'a',
    at: new Date(0),
    method: 'POST',
    path: '/v1/responses',
    protocol: 'responses',
    auth: 'bearer',
    key: secret,
    keyMatches: true,
  } as const
  const entry = createEntry({ ...arrival, rawHeaders: [], startedMs: 0 })
  return Object.assign(entry, more)
}

const roomy = { loggedRequests: 100, loggedCharacters: 10_000_000 }

/** Adds the bodies to the entry and ends it. */
function finish(log: RequestLog, entry: LogEntry, requestBody: string, responseBody: string): void {
  log.finish(Object.assign(entry, { state: 'done', requestBody, responseBody }))
}

test('the log: keeps the newest requests', () => {
  const log = new RequestLog(() => [secret], { ...roomy, loggedRequests: 3 })
  for (let count = 1; count <= 10; count++) log.add(anEntry({ id: String(count) }))
  expect(log.list().map(({ id, number }) => `${id} ${number}`)).toEqual(['8 8', '9 9', '10 10'])
  expect(log.find('7')).toBe(undefined)
  expect(log.find('8')!.number).toBe(8)
})

test('the log: stays within its size limit, whatever the bodies are', () => {
  const log = new RequestLog(() => [secret], { loggedRequests: 1000, loggedCharacters: 1000 })
  for (let count = 0; count < 50; count++) {
    const entry = anEntry({ id: String(count) })
    log.add(entry)
    finish(log, entry, 'x'.repeat(150), 'y'.repeat(150))
  }
  expect(log.list().map(({ id }) => id)).toEqual(['47', '48', '49'])
})

test('the log: an entry that ends after it was dropped does not count', () => {
  const log = new RequestLog(() => [secret], { loggedRequests: 2, loggedCharacters: 1000 })
  const slow = anEntry({ id: 'slow' })
  log.add(slow)
  for (let count = 0; count < 5; count++) log.add(anEntry({ id: String(count) }))
  finish(log, slow, 'x'.repeat(900), 'x'.repeat(900))
  expect(log.list().map(({ id }) => id)).toEqual(['3', '4'])
})

test('the log: continues its IDs after it was cleared, and an older entry may still end', () => {
  const log = new RequestLog(() => [secret], roomy)
  const early = anEntry({ id: 'early' })
  log.add(early)
  log.clear()
  finish(log, early, 'x', 'y')
  log.add(anEntry({ id: 'late' }))
  expect(log.list().map(({ id, number }) => [id, number])).toEqual([['late', 2]])
})

test('the log: a long body is cut', () => {
  const log = new RequestLog(() => [secret], roomy)
  const entry = anEntry()
  log.add(entry)
  finish(log, entry, 'x'.repeat(maxLoggedBody + 1), '')
  expect(log.list()[0]!.requestBody).toHaveLength(maxLoggedBody)
})

test('the log: shows no key, of the gateway or of anyone else', () => {
  const log = new RequestLog(() => [secret], roomy)
  const stranger = 'sk-somebody-elses-key-1234'
  const entry = anEntry({
    key: stranger,
    path: `/v1/models?key=${stranger}`,
    modelAsked: `model-${secret}`,
    reason: `There is no model model-${secret}.`,
    rawHeaders: [
      ...['Authorization', `Bearer ${secret}`, 'X-Api-Key', stranger, 'x-goog-api-key', 'short'],
      ...['Cookie', 'session=abcdefghijklmnopqrstuvwxyz', 'User-Agent', `tool/1 ${secret}`],
    ],
  })
  log.add(entry)
  finish(log, entry, `my key: ${stranger}`, `${secret}!`)
  const listed = JSON.stringify(log.list())
  for (const hidden of [secret, stranger, 'abcdefghijklmnop', 'short'])
    expect(listed).not.toContain(hidden)
  expect(log.list()[0]).toMatchObject({ key: 'sk-…1234', requestBody: 'my key: sk-…1234' })
})

test('the log: reports an answer that is too large to keep', () => {
  const log = new RequestLog(() => [secret], { loggedRequests: 10, loggedCharacters: 40 })
  const lines: string[] = []
  log.listen(({ id, state, responseBody }) => lines.push(`${id} ${state} ${responseBody}`))
  const large = anEntry({ id: 'large' })
  log.add(large)
  log.add(anEntry({ id: 'open' }))
  finish(log, large, 'xxx', 'one two three')
  expect(lines.at(-1)).toBe('large done one two three')
  expect(log.list().map(({ id }) => id)).toEqual(['open'])
})

test('the log: keeps only the shown part of a long path, header, model or body', () => {
  const log = new RequestLog(() => [secret], { ...roomy, loggedCharacters: 100_000 })
  const long = 'x'.repeat(60_000)
  for (let count = 0; count < 20; count++) {
    const entry = anEntry({ path: `/${long}`, rawHeaders: ['User-Agent', long] })
    log.add(entry)
    finish(log, Object.assign(entry, { modelAsked: long }), '', '')
  }
  expect(log.list()).toHaveLength(1)
  const [summary] = log.summaries()
  expect(summary!.path).toHaveLength(1000)
  expect(summary!.modelAsked).toHaveLength(1000)
  expect(summary!.client).toHaveLength(1000)
})

test('the log: an open request and an answered one have the same members', () => {
  const log = new RequestLog(() => [secret], roomy)
  const entry = anEntry({ status: 200, firstByteMs: 1, totalMs: 2 })
  log.add(entry)
  log.add(anEntry())
  finish(log, entry, 'x', 'y')
  const [answered, open] = log.list()
  expect(Object.keys(answered!).toSorted()).toEqual(Object.keys(open!).toSorted())
  expect(answered).toMatchObject({ firstByteMs: 1, totalMs: 2, requestBody: 'x' })
  expect(open).toMatchObject({ firstByteMs: undefined, totalMs: undefined, requestBody: '' })
  expect(Object.keys(open!)).not.toContain('rawHeaders')
})

test('the log: the facts of a request do not change when it is answered', () => {
  const log = new RequestLog(() => [secret], roomy)
  const times = { at: new Date(1), startedMs: 2, firstByteMs: 3, totalMs: 4 }
  const numbers = { status: 5, inputTokens: 6, outputTokens: 7, requestBytes: 8, responseBytes: 9 }
  const names = { id: 'b', method: 'PUT', path: '/x', fault: 'cut', rawHeaders: ['A', 'b'] }
  const models = { modelAsked: 'm', modelServed: 'n', protocol: 'chat', auth: 'both' } as const
  const state = { stream: true, state: 'cut', key: 'sk-other-0123456789' } as const
  const entry: LogEntry = anEntry({
    ...times,
    ...numbers,
    ...names,
    ...models,
    ...state,
    keyMatches: false,
  })
  log.add(entry)
  const [noted] = log.list()
  log.finish(entry)
  expect(log.list()).toEqual([noted])
})

test('the log: notifies listeners of the arrival and of the end, until they stop', () => {
  const log = new RequestLog(() => [secret], roomy)
  const lines: string[] = []
  const stop = log.listen(({ id, state }) => lines.push(`${id} ${state}`))
  const entry = anEntry()
  log.add(entry)
  finish(log, entry, '', '')
  stop()
  log.add(anEntry())
  expect(lines).toEqual(['a open', 'a done'])
})
