import { expect, test } from 'vitest'
import { aGateway, ask, askJson, paths, saying, sseEvents } from './support/gateway.ts'

test.each([
  ['/v1/responses', 'gpt-5.6-sol', 'response.completed'],
  ['/v1/messages', 'claude-opus-5-5', 'message_stop'],
  ['/v1/chat/completions', 'gpt-5.6-sol', undefined],
])('a stream over HTTP: %s ends with its last event', async (path, model, last) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, path, { ...saying(path, 'ping', model), stream: true })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const events = sseEvents(await answer.text())
  expect(events.at(-1)!.event).toBe(last)
  if (last === undefined) expect(events.at(-1)!.data).toBe('[DONE]')
  expect(events.map(({ data }) => data).join('')).toContain('pong')
})

test('answers: every answer has a unique ID', async () => {
  const gateway = await aGateway()
  const ids = new Set<string | null>()
  for (const path of ['/', '/v1/models', '/v1/nothing', '/v1/files'])
    ids.add((await ask(gateway, path)).headers.get('x-oneapi-request-id'))
  const answer = await ask(gateway, paths.responses, saying(paths.responses, 'ping'))
  ids.add(answer.headers.get('x-oneapi-request-id'))
  expect(ids.size).toBe(5)
  for (const id of ids) expect(id).toMatch(/^\d{14}\d{9}[A-Za-z0-9]{8}$/)
})

test.each([false, true])(
  'a repeated question gets the same answer under a new ID (streamed: %s)',
  async (stream) => {
    const gateway = await aGateway()
    const answers = new Map<string, string>()
    for (let count = 0; count < 5; count++) {
      const body = { ...saying(paths.chat, 'one two'), stream }
      const answerText = await (await ask(gateway, paths.chat, body)).text()
      const ids = new Set(answerText.match(/chatcmpl-\w+/g))
      expect(ids.size).toBe(1)
      answers.set([...ids][0]!, answerText.replaceAll(/chatcmpl-\w+|"created":\d+/g, ''))
    }
    expect(answers.size).toBe(5)
    expect(new Set(answers.values()).size).toBe(1)
    const served = gateway.requests().map(({ modelServed }) => modelServed)
    expect(new Set(served)).toEqual(new Set(['gpt-5.6-sol']))
  },
)

test('a tool loop over HTTP has call, result and report, with matching and unique IDs', async () => {
  const gateway = await aGateway()
  const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }]
  const asked = [{ role: 'user', content: '#call weather {"city":"Paris"}' }]
  const chat = async (messages: readonly object[]) =>
    (await askJson(gateway, paths.chat, { model: 'gpt-5.4', tools, messages })).choices[0]
  const { message, finish_reason } = await chat(asked)
  expect(finish_reason).toBe('tool_calls')
  const [call] = message.tool_calls
  expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Paris' })
  const result = { role: 'tool', tool_call_id: call.id, content: 'rain' }
  expect((await chat([...asked, message, result])).message.content).toBe('weather returned: rain')
  expect((await chat(asked)).message.tool_calls[0].id).not.toBe(call.id)
})

test('messages: max_tokens 0 generates nothing', async () => {
  const gateway = await aGateway()
  const body = { ...saying(paths.messages, 'ping'), max_tokens: 0 }
  const { content, stop_reason, usage } = await askJson(gateway, paths.messages, body)
  expect([content, stop_reason, usage.output_tokens]).toEqual([[], 'max_tokens', 0])
})
