import { describe, expect, test } from 'vitest'
import { chat } from '../../../src/serve/codecs/chat.ts'
import { messages } from '../../../src/serve/codecs/messages.ts'
import { responses } from '../../../src/serve/codecs/responses.ts'
import { InvalidRequest } from '../../../src/serve/requests/model-request.ts'
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
