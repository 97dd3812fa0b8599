import { describe, expect, test } from 'vitest'
import { key, newApiRows } from '../../fixtures/gateway/answers.ts'
import { apiError, diagnoseAnswer, diagnoseRow, failing, head } from './diagnosed.ts'

test('diagnose: shows the request id once, and removes it from the message', () => {
  const row = newApiRows.find(([name]) => name === 'new-api: bad key')!
  expect(diagnoseRow(row)).toMatchObject({
    message: expect.stringMatching(/ \(HTTP 401: "Invalid token"\)$/),
    requestId: '20261121091500123456789abcdefgh',
  })
})

test('diagnose: finds the request id in the message if no header has it', () => {
  const row = newApiRows.find(([name]) => name === 'new-api: bad key, Chinese')!
  expect(diagnoseAnswer({ asked: row[1], status: row[2], body: row[3] })?.requestId).toBe(
    '2026112109',
  )
})

describe('diagnose: request ids', () => {
  test.each([
    ['Boom (request id: 2026a) (request id: 2026b)', 'Boom', '2026a'],
    ['Boom, request id: 2026a.', 'Boom.', '2026a'],
    ['Boom. Request-ID "2026a"', 'Boom', '2026a'],
    ['Boom （request_id：2026a）!', 'Boom!', '2026a'],
    ['Boom ( request id: req-abc1 )', 'Boom', 'req-abc1'],
    ['Boom requestid=req-abc1', 'Boom', 'req-abc1'],
    ['Boom Request_ID: "req-abc1"', 'Boom', 'req-abc1'],
    ['No request id given', 'No request id given', undefined],
  ])('%s', (words, shown, requestId) => {
    const outcome = failing(500, apiError(words))
    expect(outcome.message).toContain(`(HTTP 500: "${shown}")`)
    expect(outcome.requestId).toBe(requestId)
  })

  test('that contain the key are not shown', () => {
    const more = { headers: { 'x-request-id': key.toUpperCase() } }
    expect(failing(500, {}, more).requestId).toBeUndefined()
  })

  test('are found quickly in a long message', () => {
    const started = process.cpuUsage()
    failing(500, { error: { message: `${' '.repeat(200_000)}request id ${':'.repeat(200_000)}` } })
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000)
  })
})

describe('diagnose: the id of a request', () => {
  test.each([
    ['x-request-id', 'req-1234', 'req-1234'],
    ['request-id', 'req.1:2', 'req.1:2'],
    ['x-request-id', 'two 1234', undefined],
    ['x-request-id', '1234 two', undefined],
    ['x-request-id', '123', undefined],
  ])('reads the id from the header %s: %s as %s', (name, value, requestId) => {
    expect(failing(500, {}, head(name, value)).requestId).toBe(requestId)
  })
})
