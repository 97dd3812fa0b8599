import { expect, test } from 'vitest'
import {
  answersSafeguards,
  isComplete,
  readInference,
} from '../../../src/gateway/judge/inference.ts'
import type { HttpResponse } from '../../../src/gateway/judge/types.ts'
import type { Protocol } from '../../../src/gateway/types.ts'

const events = (...all: readonly unknown[]) =>
  all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const chunk = (finish_reason?: string | null) => ({ choices: [{ finish_reason }] })
const type = (name: string) => ({ type: name })
const safeguard = (status: string) => ({ type: 'dangerous_tool_use', status: { type: status } })
function answerWith(body: string | object, more: Partial<HttpResponse> = {}): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { url: 'https://gw.example/v1', status: 200, headers: {}, body: text, ...more }
}

test.each<readonly [Protocol, string | object, string]>([
  ['chat', { choices: [{}] }, 'answered'],
  ['chat', { choices: [] }, 'foreign'],
  ['chat', { choices: { length: 1 } }, 'foreign'],
  ['chat', events(chunk(null), chunk('stop')), 'answered'],
  ['chat', events({ choices: [null] }), 'answered'],
  ['chat', events({ choices: 'x' }), 'foreign'],
  ['chat', events(chunk('stop'), { error: {} }), 'failed'],
  ['chat', events({ ...chunk('stop'), error: null }), 'answered'],
  ['chat', events({ ...chunk('stop'), error: '' }), 'answered'],
  ['chat', 'data: [1]\n\ndata: {broken\n\n', 'foreign'],
  ['chat', events(chunk('stop')).replaceAll('data:', ' data:'), 'foreign'],
  ['chat', `event: x\r\ndata:${JSON.stringify(chunk('stop'))}\r\n\r\n`, 'answered'],

  ['responses', { object: 'response', output: [] }, 'answered'],
  ['responses', { object: 'response', output: [], status: 'failed' }, 'foreign'],
  ['responses', { object: 'response', output: {} }, 'foreign'],
  ['responses', { object: 'other', output: [] }, 'foreign'],
  ['responses', events(type('response.completed')), 'answered'],
  ['responses', events(type('a response.created')), 'foreign'],
  ['responses', events({ type: 7 }), 'foreign'],
  ['responses', events(type('response.completed'), type('error')), 'failed'],
  ['responses', events(type('response.failed')), 'failed'],

  ['messages', { type: 'message', content: [] }, 'answered'],
  ['messages', { type: 'message', content: 'x' }, 'foreign'],
  ['messages', { type: 'error', content: [] }, 'foreign'],
  ['messages', events(type('message_start'), type('message_stop')), 'answered'],
  ['messages', events(type('ping')), 'foreign'],
  ['messages', events(type('message_start'), type('error'), type('message_stop')), 'failed'],
])('inference: %s %j is %s', (protocol, body, kind) => {
  expect(readInference(protocol, answerWith(body)).kind).toBe(kind)
})

test.each<[string, boolean]>([
  [events({ delta: { safeguard_results: [safeguard('available')] } }), true],
  [JSON.stringify({ safeguard_results: [safeguard('available')] }), true],
  [JSON.stringify({ safeguard_results: [{ type: 'other' }, safeguard('available')] }), true],
  [JSON.stringify({ safeguard_results: [safeguard('unsupported')] }), false],
  [JSON.stringify({ safeguard_results: [{ ...safeguard('available'), type: 'other' }] }), false],
  [JSON.stringify({ type: 'message' }), false],
])('%s has the result of safeguards: %s', (body, expected) => {
  expect(answersSafeguards(body)).toBe(expected)
})

test('inference: a failed stream has its error, or its response if that contains the error', () => {
  const error = { message: 'no' }
  const response = { error }
  expect(readInference('chat', answerWith(events({ error })))).toEqual({
    kind: 'failed',
    error: { error },
  })
  expect(
    readInference('responses', answerWith(events({ type: 'response.failed', response }))),
  ).toEqual({
    kind: 'failed',
    error: response,
  })
  expect(readInference('responses', answerWith(events({ type: 'error', error })))).toEqual({
    kind: 'failed',
    error: { type: 'error', error },
  })
})

test.each<readonly [Protocol, string, boolean]>([
  ['chat', 'data: [DONE]', true],
  ['chat', 'data: {}\n\ndata:[DONE] \r\n', true],
  ['chat', 'data: [DONE] and more', false],
  ['chat', 'x data: [DONE]', false],
  ['chat', '{"text":"[DONE]"}', false],
  ['responses', 'data: {"type": "response.completed"}\n\n', true],
  ['responses', 'data: {"type" :"response.incomplete"}\r\n\r\n', true],
  ['responses', 'data: {"type":"response.failed"}\n\nevent: x\n', true],
  ['responses', 'data: {"type":"response.completed"}', false],
  ['responses', 'data: {"type":"response.completed"}\n', false],
  ['responses', 'data: {"type":"response.completed"}\n{\n', false],
  ['responses', 'data: {"type":"response.created"}\n\n', false],
  ['responses', 'event: {"type":"response.completed"}\n\n', false],
  ['messages', 'data: {"type": "message_stop"}\n\n', true],
  ['messages', 'data: {"type" :"message_stop"}\n\n', true],
  ['messages', 'data: {"type":"message_stop"}\n', false],
  ['messages', 'data: {"type":"message_start"}\n\n', false],
])('inference: %s is complete with %j: %s', (protocol, body, expected) => {
  expect(isComplete(protocol, body)).toBe(expected)
})
