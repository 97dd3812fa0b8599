import { describe, expect, test } from 'vitest'
import { parseFault } from '../../../src/serve/faults/fault-members.ts'
import { faultNames } from '../../../src/serve/index.ts'
import { aGateway, ask, jsonOf, saying, sseEvents } from '../support/gateway.ts'

const input = { model: 'gpt-5.6', input: 'one two three four five six' }
const streamed = { ...input, stream: true }

describe('--fault', () => {
  test.each([
    ['rate-limited', { error: 'rate-limited' }],
    ['quota, every=3', { error: 'quota', every: 3 }],
    ['status=502,message=No. No,times=1', { status: 502, message: 'No. No', times: 1 }],
    ['status=503,retry-after=2', { status: 503, retryAfter: 2 }],
    ['delay=500,route=messages,model=x', { delayMs: 500, route: 'messages', model: 'x' }],
    ['between=20,cut=3', { betweenMs: 20, cutAfter: 3 }],
    ['status=400,holds=include', { status: 400, holds: 'include' }],
    ['error-event=0', { errorAfter: 0 }],
    ['reset', { reset: true }],
    ['web-page', { webPage: true }],
  ])('--fault: %s', (text, fault) => {
    expect(parseFault(text)).toEqual(fault)
  })

  test.each([
    ['', 'the fault must be one of invalid-token,'],
    ['nope', 'nope must be one of invalid-token, rate-limited,'],
    ['every=2', 'the fault says when but not what'],
    ['status=200', 'status must be a whole number from 400 to 599'],
    ['status=', 'status must be a whole number'],
    ['delay=soon', 'delay must be a whole number from 0'],
    ['route=all,reset', 'route must be one of models, chat'],
    ['constructor=1', 'constructor is unknown. Use one of: route,'],
  ])('--fault: %j is rejected with the reason', (text, problem) => {
    expect(() => parseFault(text)).toThrow(problem)
  })
})

// docs.test.ts checks status and code against the table in docs/gateway.md.
test.each(faultNames)(
  'faults: %s is the same for a stream, and the log names it',
  async (error) => {
    const gateway = await aGateway({ faults: [{ error }] })
    const answers = [await ask(gateway, '/v1/responses', input)]
    answers.push(await ask(gateway, '/v1/responses', streamed))
    const [whole, stream] = await Promise.all(
      answers.map(async (answer) => [answer.status, (await jsonOf(answer)).error.code]),
    )
    expect(stream).toEqual(whole)
    expect(gateway.requests().map(({ fault }) => fault)).toEqual([error, error])
  },
)

test('faults: may have any status, with a message and Retry-After', async () => {
  const gateway = await aGateway({ faults: [{ status: 418, message: 'Tea', retryAfter: 3 }] })
  const answer = await ask(gateway, '/v1/responses', input)
  expect(answer.status).toBe(418)
  expect(answer.headers.get('retry-after')).toBe('3')
  expect((await jsonOf(answer)).error.message).toMatch(/^Tea \(request id: /)
})

test('faults: may apply every third time, at most twice, on one route and model', async () => {
  const gateway = await aGateway({
    faults: [{ status: 500, every: 3, times: 2, route: 'responses', model: 'gpt-5.4' }],
  })
  const statuses: number[] = []
  for (let count = 0; count < 10; count++) {
    await ask(gateway, '/v1/responses', input)
    await ask(gateway, '/v1/models')
    statuses.push((await ask(gateway, '/v1/responses', { ...input, model: 'gpt-5.4' })).status)
  }
  expect(statuses).toEqual([200, 200, 500, 200, 200, 500, 200, 200, 200, 200])
  expect(
    gateway
      .requests()
      .every(({ status, modelAsked }) => status === 200 || modelAsked === 'gpt-5.4'),
  ).toBe(true)
})

test('faults: a single parameter is rejected', async () => {
  const gateway = await aGateway({ faults: [{ status: 400, holds: '"include"' }] })
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(200)
  expect((await ask(gateway, '/v1/responses', { ...input, include: [] })).status).toBe(400)
})

test('faults: the catalog can fail too', async () => {
  const gateway = await aGateway({ faults: [{ route: 'models', status: 502 }] })
  expect((await ask(gateway, '/v1/models')).status).toBe(502)
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(200)
})

test('faults: may answer with a web page instead of JSON', async () => {
  const gateway = await aGateway({ faults: [{ webPage: true }] })
  const answer = await ask(gateway, '/v1/responses', input)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
})

test('faults: a reset connection has no answer', async () => {
  const gateway = await aGateway({ faults: [{ reset: true }] })
  await expect(ask(gateway, '/v1/responses', input)).rejects.toMatchObject({
    cause: { code: 'ECONNRESET' },
  })
  expect(gateway.requests()).toMatchObject([{ state: 'cut', status: undefined, fault: 'reset' }])
})

test('faults: the first byte and the events are delayed', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 80, betweenMs: 15 }] })
  const start = performance.now()
  const answer = await ask(gateway, '/v1/responses', streamed)
  expect(performance.now() - start).toBeGreaterThan(75)
  const times: number[] = []
  const reader = answer.body!.getReader()
  for (;;) {
    const { done } = await reader.read()
    if (done) break
    times.push(performance.now())
  }
  expect(times.length).toBeGreaterThan(5)
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(15 * 5)
  const [request] = gateway.requests()
  expect(request!.firstByteMs).toBeGreaterThan(75)
  expect(request!.totalMs! - request!.firstByteMs!).toBeGreaterThan(15 * 5)
  expect(request!.state).toBe('done')
})

test('faults: a cut response without streaming ends before its announced length', async () => {
  const gateway = await aGateway({ faults: [{ cutAfter: 0 }] })
  const answer = await ask(gateway, '/v1/responses', input)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
})

test.each([
  ['/v1/responses', 'gpt-5.6', 'error'],
  ['/v1/messages', 'claude-opus-5-5', 'error'],
  ['/v1/chat/completions', 'gpt-5.6', undefined],
])('faults: an error event ends the stream of %s', async (path, model, event) => {
  const body = { ...saying(path, 'a b c d e f', model), stream: true }
  const gateway = await aGateway({ faults: [{ errorAfter: 2 }] })
  const events = sseEvents(await (await ask(gateway, path, body)).text())
  expect(events.at(-1)!.event).toBe(event)
  const last = JSON.parse(events.at(-1)!.data)
  expect(JSON.stringify(last)).toContain('upstream error')
  expect(events).toHaveLength(3)
  // Only in responses: the next sequence number.
  expect(last.sequence_number ?? 2).toBe(2)
  const plain = await ask(gateway, path, { ...body, stream: false })
  expect(plain.status).toBe(500)
})

test('faults: several apply together', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 40 }, { error: 'quota', every: 2 }] })
  await ask(gateway, '/v1/responses', input)
  await ask(gateway, '/v1/responses', input)
  const faults = gateway.requests().map(({ status, fault }) => `${status} ${fault}`)
  expect(faults).toEqual(['200 delay 40 ms', '403 quota, delay 40 ms'])
})

test('faults: a client that disconnects while it waits leaves nothing behind', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 60_000 }] })
  const controller = new AbortController()
  const asked = ask(gateway, '/v1/models', undefined, {}, { signal: controller.signal })
  await expect.poll(() => gateway.requests().length).toBe(1)
  controller.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
})
