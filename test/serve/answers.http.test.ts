import { expect, test } from 'vitest'
import { aGateway, ask, jsonOf, sseEvents } from './support/gateway.ts'

const say = [{ role: 'user', content: 'ping' }]

test('responses over HTTP: ping is answered with pong', async () => {
  const gateway = await aGateway()
  const answer = await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'ping' })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'gpt-5.6-sol',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'pong' }] }],
  })
})

test('chat and messages over HTTP: ping is answered with pong', async () => {
  const gateway = await aGateway()
  const chat = await ask(gateway, '/v1/chat/completions', { model: 'gpt-5.4', messages: say })
  expect(await chat.json()).toMatchObject({ choices: [{ message: { content: 'pong' } }] })
  const body = { model: 'claude-opus-5-5', max_tokens: 9, messages: say }
  const messages = await ask(gateway, '/v1/messages?beta=true', body)
  expect(await messages.json()).toMatchObject({ content: [{ type: 'text', text: 'pong' }] })
})

test.each([
  ['/v1/responses', { model: 'gpt-5.6-sol', input: 'ping' }, 'response.completed'],
  ['/v1/messages', { model: 'claude-opus-5-5', max_tokens: 9, messages: say }, 'message_stop'],
  ['/v1/chat/completions', { model: 'gpt-5.6-sol', messages: say }, undefined],
])('a stream over HTTP: %s ends with its last event', async (path, body, last) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, path, { ...body, stream: true })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const events = sseEvents(await answer.text())
  expect(events.at(-1)!.event).toBe(last)
  if (last === undefined) expect(events.at(-1)!.data).toBe('[DONE]')
  expect(events.map(({ data }) => data).join('')).toContain('pong')
})

test('answers: every answer has an id of its own', async () => {
  const gateway = await aGateway()
  const ids = new Set<string | null>()
  for (const path of ['/', '/v1/models', '/v1/nothing', '/v1/files'])
    ids.add((await ask(gateway, path)).headers.get('x-oneapi-request-id'))
  const body = { model: 'gpt-5.6', input: 'ping' }
  ids.add((await ask(gateway, '/v1/responses', body)).headers.get('x-oneapi-request-id'))
  expect(ids.size).toBe(5)
  for (const id of ids) expect(id).toMatch(/^\d{14}\d{9}[A-Za-z0-9]{8}$/)
})

test('a tool loop over HTTP: call, result, report, with the ids matching', async () => {
  const gateway = await aGateway()
  const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }]
  const asked = [{ role: 'user', content: '#call weather {"city":"Paris"}' }]
  const first = await ask(gateway, '/v1/chat/completions', {
    model: 'gpt-5.6',
    tools,
    messages: asked,
  })
  const { message, finish_reason } = (await jsonOf(first)).choices[0]
  expect(finish_reason).toBe('tool_calls')
  expect(JSON.parse(message.tool_calls[0].function.arguments)).toEqual({ city: 'Paris' })
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' }
  const second = await ask(gateway, '/v1/chat/completions', {
    model: 'gpt-5.6',
    tools,
    messages: [...asked, message, result],
  })
  expect((await jsonOf(second)).choices[0].message.content).toBe('weather returned: rain')
})
