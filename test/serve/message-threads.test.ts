import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway, ask as askPlainly, jsonOf, sseEvents } from './support/gateway.ts'

/** As the tool runner of @anthropic-ai/sdk sends it. */
const headers = { 'anthropic-beta': 'message-threads-2026-08-12' }
const ask = (gateway: Gateway, path: string, body: object) =>
  askPlainly(gateway, path, body, headers)
const askJson = (gateway: Gateway, path: string, body: object) => jsonOf(ask(gateway, path, body))

const base = { model: 'claude-opus-5-5', max_tokens: 200 }
const tools = [{ name: 'weather', input_schema: { type: 'object' } }]
const created = {
  ...base,
  tools,
  system: 'Be brief.',
  messages: [{ role: 'user', content: '#call weather {"city":"Paris"}' }],
  thread: { type: 'create' },
}

function goOn(gateway: Gateway, previous: string, messages: unknown, more: object = {}) {
  const thread = { type: 'continue', previous_message_id: previous }
  return ask(gateway, '/v1/messages', { ...base, thread, messages, ...more })
}

const result = (id: string) => [
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'rain' }] },
]

test('message threads: a request with only new turns continues an answer', async () => {
  const gateway = await aGateway()
  const first = await askJson(gateway, '/v1/messages', created)
  expect(first.content[0]).toMatchObject({ type: 'tool_use', input: { city: 'Paris' } })
  const second = await jsonOf(goOn(gateway, first.id, result(first.content[0].id)))
  expect(second.content[0].text).toBe('weather returned: rain')
  const again = [{ role: 'user', content: '#call weather {"city":"Rome"}' }]
  const third = await jsonOf(goOn(gateway, second.id, again))
  expect(third.content[0]).toMatchObject({ name: 'weather', input: { city: 'Rome' } })
  expect(third.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens)
})

test('message threads: a streamed answer can be continued too, even twice', async () => {
  const gateway = await aGateway()
  const text = await (await ask(gateway, '/v1/messages', { ...created, stream: true })).text()
  const events = sseEvents(text).map(({ data }) => JSON.parse(data))
  const [{ message }] = events
  const call = events.find(({ content_block: block }) => block?.type === 'tool_use')
  for (let count = 0; count < 2; count++) {
    const answer = await jsonOf(goOn(gateway, message.id, result(call.content_block.id)))
    expect(answer.content[0].text).toBe('weather returned: rain')
  }
})

test('message threads: an unknown answer is reported in the SDK’s format', async () => {
  const gateway = await aGateway()
  const unthreaded = await askJson(gateway, '/v1/messages', { ...created, thread: undefined })
  for (const id of ['msg_gone', unthreaded.id]) {
    const answer = await goOn(gateway, id, [{ role: 'user', content: 'ping' }])
    expect(answer.status).toBe(404)
    expect((await jsonOf(answer)).error.details).toEqual({ error_code: 'thread_not_found' })
  }
})

test('message threads: the members of a thread cannot change, and its type is one of two', async () => {
  const gateway = await aGateway()
  const { id } = await askJson(gateway, '/v1/messages', {
    ...created,
    messages: [{ role: 'user', content: 'ping' }],
  })
  const messages = [{ role: 'user', content: 'ping' }]
  for (const more of [{ system: 'x' }, { tools }])
    expect((await goOn(gateway, id, messages, more)).status).toBe(400)
  const odd = await ask(gateway, '/v1/messages', { ...created, thread: { type: 'fork' } })
  expect((await jsonOf(odd)).error.message).toContain("Input should be 'create' or 'continue'")
})
