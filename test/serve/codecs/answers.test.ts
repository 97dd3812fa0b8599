import { describe, expect, test } from 'vitest'
import type { Block, FinishReason, WholeAnswer } from '../../../src/serve/codecs/answer.ts'
import { chat } from '../../../src/serve/codecs/chat.ts'
import type { Codec } from '../../../src/serve/codecs/codec.ts'
import { messages } from '../../../src/serve/codecs/messages.ts'
import { responses } from '../../../src/serve/codecs/responses.ts'
import type { JsonObject } from '../../../src/serve/requests/json.ts'
import type { Tool } from '../../../src/serve/requests/model-request.ts'
import { sseEvents } from '../support/gateway.ts'

const facts = { id: 'x', model: 'gpt-5.6-sol', createdAt: 1_790_000_000 }
const usage = { inputTokens: 12, cachedTokens: 0, outputTokens: 5, reasoningTokens: 0 }
const weather: Tool = { name: 'weather', kind: 'function', parameters: {} }
const patch: Tool = { name: 'apply', kind: 'custom', parameters: undefined, namespace: 'functions' }

function text(content: string): Block {
  return { type: 'text', text: content, isCut: false, id: '' }
}

function call(id: string, tool: Tool, input: string): Block {
  return { type: 'call', tool, text: input, isCut: false, id }
}

function answer(blocks: readonly Block[], reason: FinishReason = { type: 'stop' }): WholeAnswer {
  return { blocks, reason, usage }
}

/** The data of a stream, parsed; `[DONE]` stays text. */
function stream(codec: Codec, wholeAnswer: WholeAnswer, body: JsonObject = {}) {
  const frames = codec.streamFrames(body, facts, wholeAnswer)
  return sseEvents(frames.join('')).map(({ event, data }) => ({
    event,
    data: data === '[DONE]' ? data : JSON.parse(data),
  }))
}

function documentOf(codec: Codec, wholeAnswer: WholeAnswer, body: JsonObject = {}) {
  return JSON.parse(JSON.stringify(codec.document(body, facts, wholeAnswer)))
}

const arguments_ = '{"city":"Paris, the capital"}'

describe('chat', () => {
  test('chat: a stream has one ID, a role, the text, a reason and the end', () => {
    const frames = stream(chat, answer([text('Hello "you"')]))
    expect(frames.at(-1)!.data).toBe('[DONE]')
    const chunks = frames.slice(0, -1).map(({ data }) => data)
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['chatcmpl-x']))
    expect(chunks.map(({ choices }) => choices[0].delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hello' },
      { content: ' "you"' },
      {},
    ])
    const reasons = chunks.map(({ choices }) => choices[0].finish_reason)
    expect(reasons).toEqual([null, null, null, 'stop'])
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true)
  })

  test('chat: include_usage adds one chunk without choices before the end', () => {
    const body = { stream_options: { include_usage: true } }
    const frames = stream(chat, answer([text('a')]), body)
    const last = frames.at(-2)!.data
    expect(last.choices).toEqual([])
    expect(last.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 })
    expect(frames[0]!.data.usage).toBe(null)
  })

  test('chat: each parallel tool call has an index', () => {
    const calls = [call('c1', weather, arguments_), call('c2', weather, '{}')]
    const frames = stream(chat, answer(calls, { type: 'tool-calls' })).slice(1, -2)
    expect(frames.map(({ data }) => data.choices[0].delta.tool_calls[0])).toEqual([
      { index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } },
      ...['{"city', '":"Paris', ', the', ' capital', '"}'].map((piece) => {
        return { index: 0, function: { arguments: piece } }
      }),
      { index: 1, id: 'c2', type: 'function', function: { name: 'weather', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ])
  })

  test('chat: the document has the same contents', () => {
    const blocks = [text('Hey'), call('c1', weather, '{"a":1}')]
    const tool_calls = [{ id: 'c1', function: { name: 'weather', arguments: '{"a":1}' } }]
    const message = { role: 'assistant', content: 'Hey', tool_calls }
    expect(documentOf(chat, answer(blocks, { type: 'tool-calls' }))).toMatchObject({
      object: 'chat.completion',
      choices: [{ message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    })
    const cut = documentOf(chat, answer([text('x')], { type: 'length' }))
    expect(cut.choices[0].finish_reason).toBe('length')
  })
})

describe('responses', () => {
  test('responses: every part opens, fills and closes before the next', () => {
    const blocks = [text('Hi'), call('c1', weather, '{}'), call('c2', patch, '*** x')]
    const frames = stream(responses, answer(blocks, { type: 'tool-calls' }))
    const events = frames.map(({ event }) => event!.slice('response.'.length))
    expect(events.join('\n')).toBe(
      `created in_progress
      output_item.added content_part.added output_text.delta
      output_text.done content_part.done output_item.done
      output_item.added function_call_arguments.delta function_call_arguments.done output_item.done
      output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done
      completed`.replace(/\s+/g, '\n'),
    )
    expect(frames.map(({ data }) => data.sequence_number)).toEqual([...frames.keys()])
    const done = frames.filter(({ event }) => event === 'response.output_item.done')
    const custom = { type: 'custom_tool_call', call_id: 'c2', name: 'apply', input: '*** x' }
    expect(done.map(({ data }) => data.item)).toMatchObject([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
      { ...custom, namespace: 'functions' },
    ])
    expect(done.map(({ data }) => data.output_index)).toEqual([0, 1, 2])
    const ids = frames.flatMap(({ data }) => data.item_id ?? data.item?.id ?? [])
    expect(new Set(ids).size).toBe(3)
    expect(frames.at(-1)!.data.response).toMatchObject({
      id: 'resp_x',
      status: 'completed',
      output: done.map(({ data }) => data.item),
      usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
    })
  })

  test('responses: an answer that is cut by the limit is incomplete and says why', () => {
    const frames = stream(responses, answer([text('Hi')], { type: 'length' }))
    const { event, data } = frames.at(-1)!
    expect(event).toBe('response.incomplete')
    const incomplete_details = { reason: 'max_output_tokens' }
    expect(data.response).toMatchObject({ status: 'incomplete', incomplete_details })
  })

  test('responses: has every member that Open Responses requires and recorded responses have', () => {
    const tools = [{ type: 'function', name: 'weather' }]
    const sent = documentOf(responses, answer([call('c1', weather, '{}')]), { tools })
    expect(sent).toMatchObject({
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      max_tool_calls: null,
      safety_identifier: null,
      prompt_cache_key: null,
      prompt_cache_retention: null,
      moderation: null,
      user: null,
      tool_usage: { image_gen: { total_tokens: 0 }, web_search: { num_requests: 0 } },
      tools: [{ description: null, parameters: null, strict: true }],
    })
    const frames = stream(responses, answer([call('c1', weather, '{}')]))
    const done = frames.find(({ event }) => event === 'response.function_call_arguments.done')
    expect(Object.keys(done!.data).sort()).toEqual([
      'arguments',
      'item_id',
      'output_index',
      'sequence_number',
      'type',
    ])
  })

  test('responses: repeats the members of the request', () => {
    const tools = [{ type: 'function', name: 'weather', parameters: {} }]
    const body = { instructions: 'Be short.', tools, temperature: 0.5, metadata: { a: 'b' } }
    expect(documentOf(responses, answer([text('Hi')]), body)).toMatchObject({
      ...body,
      object: 'response',
      created_at: facts.createdAt,
      status: 'completed',
      output: [{ id: 'msg_x0', content: [{ text: 'Hi' }] }],
    })
  })
})

describe('messages', () => {
  test('messages: closes the text block before a tool call opens', () => {
    const blocks = [text('Hi'), call('t1', weather, arguments_)]
    const frames = stream(messages, answer(blocks, { type: 'tool-calls' }))
    const events = frames.map(({ event, data: { index = '' } }) => `${event} ${index}`.trim())
    expect(events.join(', ')).toBe(
      'message_start, ping, content_block_start 0, content_block_delta 0, content_block_stop 0, ' +
        `content_block_start 1, ${'content_block_delta 1, '.repeat(6)}` +
        'content_block_stop 1, message_delta, message_stop',
    )
    expect(frames.every(({ event, data }) => data.type === event)).toBe(true)
    const use = { type: 'tool_use', id: 't1', name: 'weather', input: {} }
    expect(frames[5]!.data.content_block).toEqual({ ...use, caller: { type: 'direct' } })
    expect(frames[6]!.data.delta).toEqual({ type: 'input_json_delta', partial_json: '' })
    expect(frames.at(-2)!.data).toMatchObject({
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 5 },
    })
  })

  test.each([
    [{ type: 'stop' }, 'end_turn', null],
    [{ type: 'length' }, 'max_tokens', null],
    [{ type: 'tool-calls' }, 'tool_use', null],
    [{ type: 'stop-sequence', sequence: 'END' }, 'stop_sequence', 'END'],
  ] as const)('messages: ends with the reason of %j', (reason, stop_reason, stop_sequence) => {
    const ended = documentOf(messages, answer([text('x')], reason))
    expect(ended).toMatchObject({ stop_reason, stop_sequence })
  })

  test('messages: a text has no citations, not even null, which @ai-sdk/anthropic 3 rejects', () => {
    expect(documentOf(messages, answer([text('Hi')])).content).toEqual([
      { type: 'text', text: 'Hi' },
    ])
  })

  test('messages: the document has the arguments as an object', () => {
    const blocks = [text('Hi'), call('t1', weather, '{"a":1}')]
    expect(documentOf(messages, answer(blocks, { type: 'tool-calls' }))).toMatchObject({
      id: 'msg_x',
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't1', name: 'weather', input: { a: 1 } },
      ],
      usage: { input_tokens: 12, output_tokens: 5 },
    })
  })
})

test('every protocol: the model’s output cannot break out of its frame', () => {
  const nasty = '\n\ndata: [DONE]\n\n"}\u2028\u0000\ud800'
  for (const codec of [chat, responses, messages]) {
    const frames = stream(codec, answer([text(nasty)]))
    const pieces = frames.map(({ data }) => {
      const { choices, delta = '' } = data
      return choices?.[0].delta.content ?? delta.text ?? (typeof delta === 'string' ? delta : '')
    })
    expect(pieces.join('')).toBe(nasty)
    expect(frames.filter(({ data }) => data === '[DONE]')).toHaveLength(codec === chat ? 1 : 0)
  }
})

test('every protocol: a failure inside a stream has the protocol’s format', () => {
  const failure = { message: 'no', type: 'new_api_error', code: 'bad_response' }
  const frame = (codec: Codec) => sseEvents(codec.failureFrame(failure, 0))[0]!
  expect(JSON.parse(frame(chat).data)).toEqual({ error: { ...failure, param: '' } })
  expect(frame(messages)).toEqual({
    event: 'error',
    data: '{"type":"error","error":{"type":"new_api_error","message":"no"}}',
  })
  expect(JSON.parse(frame(responses).data)).toMatchObject({ type: 'error', message: 'no' })
})
