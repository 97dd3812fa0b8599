import { describe, expect, test } from 'vitest'
import { chat } from '../../../src/serve/codecs/chat.ts'
import { messages } from '../../../src/serve/codecs/messages.ts'
import { responses } from '../../../src/serve/codecs/responses.ts'
import { InvalidRequest } from '../../../src/serve/requests/model-request.ts'
import { createSeal } from '../../../src/serve/requests/seal.ts'
import { contentsOf, conversations, expectedContents, schema } from '../support/conversations.ts'

describe.each([chat, responses, messages])('$protocol', ({ protocol, readRequest }) => {
  test('requests: the same conversation is equal in the three protocols', () => {
    const { turns, ...request } = readRequest(conversations[protocol])
    expect(turns[0]).toEqual({ role: 'system', parts: [{ type: 'text', text: 'Be short.' }] })
    expect(contentsOf(turns.slice(1))).toMatchObject(expectedContents)
    expect(request).toMatchObject({
      model: 'm',
      maxOutputTokens: 17,
      stopSequences: protocol === 'responses' ? [] : ['END'],
      toolChoice: { name: 'weather' },
      tools: [{ name: 'weather', kind: 'function', parameters: schema }],
    })
  })

  test('requests: a body without a conversation is rejected with the imitated gateway’s message', () => {
    const words = protocol === 'responses' ? 'input is required' : 'field messages is required'
    expect(() => readRequest({ model: 'm' })).toThrow(new InvalidRequest(words))
  })
})

test('responses: finds the tools in an input item of Codex, in their namespace', () => {
  const description =
    'Runs scripts\n\n```ts\ndeclare const tools: { exec_command(args: {}): void; };\n```'
  const exec = { type: 'custom', name: 'exec', description }
  const wait = { type: 'function', name: 'wait', parameters: {} }
  const group = { name: 'functions', description: 'Of the client.', tools: [exec, wait] }
  const offered = [{ type: 'namespace', ...group }]
  const { tools } = responses.readRequest({
    model: 'm',
    tools: [{ type: 'web_search' }, wait],
    input: [{ type: 'additional_tools', role: 'developer', tools: offered }],
  })
  expect(tools).toMatchObject([
    { name: 'wait', kind: 'function', namespace: undefined },
    { name: 'exec', kind: 'custom', namespace: 'functions', nested: ['exec_command'] },
    { name: 'wait', kind: 'function', namespace: 'functions' },
  ])
})

test('messages: a message with the role system is not user text', () => {
  const { turns } = messages.readRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'ping' },
      { role: 'system', content: 'Remember.' },
    ],
  })
  expect(turns.map(({ role }) => role)).toEqual(['user', 'system'])
})

test('messages: a call has a single result', () => {
  const body = conversations.messages
  const result = { type: 'tool_result', tool_use_id: 'c1', content: 'rain' }
  const firstMessages = (body['messages'] as object[]).slice(0, 2)
  const twice = {
    ...body,
    messages: [...firstMessages, { role: 'user', content: [result, result] }],
  }
  expect(() => messages.readRequest(twice)).toThrow(
    'messages.2.content.1: each tool_use must have a single result.',
  )
})

const hi = [{ role: 'user', content: 'hi' }]
const parameters = { type: 'object', properties: {} }
const [weather, time] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters },
}))

test.each([
  ['none', 'never'],
  ['minimal', 'never'],
  ['low', 'always'],
  [undefined, 'sometimes'],
])('chat: with the effort %s a model thinks %s', (reasoning_effort, thinking) => {
  const request = chat.readRequest({ model: 'm', messages: hi, reasoning_effort })
  expect(request.thinking).toBe(thinking)
})

test.each([
  ['auto', 'auto'],
  ['required', 'required'],
])('chat: of the allowed tools, with the mode %s, only those may be called', (mode, toolChoice) => {
  const allowed = { mode, tools: [{ type: 'function', function: { name: 'time' } }] }
  const tool_choice = { type: 'allowed_tools', allowed_tools: allowed }
  const request = chat.readRequest({
    model: 'm',
    messages: hi,
    tools: [weather, time],
    tool_choice,
  })
  expect(request).toMatchObject({ tools: [{ name: 'time' }], toolChoice })
})

test('chat: a request of before November 2023 gets one call at a time', () => {
  const legacy = chat.readRequest({ model: 'm', messages: hi, functions: [weather!.function] })
  expect(legacy.isParallel).toBe(false)
  expect(chat.readRequest({ model: 'm', messages: hi, tools: [weather] }).isParallel).toBe(true)
})

test('chat: the schema of a tool for a model of another vendor must be valid too', () => {
  const wrong = { type: 'function', function: { name: 'x', parameters: { required: 'x' } } }
  const request = { model: 'glm-5', messages: hi, tools: [wrong] }
  expect(() => chat.readRequest(request)).toThrow("'x' is not of type 'array'")
})

test.each([
  ['claude-haiku-4-5', true],
  ['claude-haiku-5-5', false],
  ['claude-sonnet-4-6', false],
])('messages: 200,001 tokens are too many for %s: %s', (model, isTooLong) => {
  const content = 'a'.repeat(800_000)
  const read = () =>
    messages.readRequest({ model, max_tokens: 9, messages: [{ role: 'user', content }] })
  if (isTooLong) expect(read).toThrow('prompt is too long')
  else expect(read).not.toThrow()
})

test('messages: the place of a missing thought does not count the system prompt', () => {
  const request = {
    model: 'claude-sonnet-4-5',
    max_tokens: 5000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    system: 'Be short.',
    messages: [...hi, { role: 'assistant', content: 'ho' }],
  }
  expect(() => messages.readRequest(request)).toThrow('messages.1.content.0.type: Expected')
})

test('responses: an encrypted thought may be the last item, another one not', () => {
  const read = (more: object) =>
    responses.readRequest({
      model: 'm',
      input: [...hi, { type: 'reasoning', id: 'rs_1', summary: [], ...more }],
    })
  expect(() => read({ encrypted_content: createSeal('x') })).not.toThrow()
  expect(() => read({})).toThrow('without its required following item')
})

test('responses: a message of the developer is part of the system prompt', () => {
  const input = [{ role: 'developer', content: 'Be kind.' }, ...hi]
  const { turns } = responses.readRequest({ model: 'm', instructions: 'Be short.', input })
  expect(turns).toMatchObject([
    { role: 'system', parts: [{ text: 'Be short.\n\nBe kind.' }] },
    { role: 'user' },
  ])
})
