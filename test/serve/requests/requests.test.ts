import { describe, expect, test } from 'vitest'
import { chat } from '../../../src/serve/codecs/chat.ts'
import type { Codec } from '../../../src/serve/codecs/codec.ts'
import { messages } from '../../../src/serve/codecs/messages.ts'
import { responses } from '../../../src/serve/codecs/responses.ts'
import type { JsonObject } from '../../../src/serve/requests/read.ts'
import { InvalidRequest } from '../../../src/serve/requests/request.ts'

/** The same conversation in three protocols: a prompt, a picture, a tool call, its result. */
const schema = { type: 'object', properties: { city: { type: 'string' } } }

const bodies: readonly [Codec, JsonObject][] = [
  [
    chat,
    {
      model: 'm',
      stream: true,
      max_completion_tokens: 7,
      stop: 'END',
      tool_choice: { type: 'function', function: { name: 'weather' } },
      tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
      messages: [
        { role: 'developer', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
      ],
    },
  ],
  [
    responses,
    {
      model: 'm',
      stream: true,
      max_output_tokens: 16,
      instructions: 'Be short.',
      tool_choice: { type: 'function', name: 'weather' },
      tools: [{ type: 'function', name: 'weather', parameters: schema }, { type: 'web_search' }],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA' },
          ],
        },
        { type: 'reasoning', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'rain' },
      ],
    },
  ],
  [
    messages,
    {
      model: 'm',
      stream: true,
      max_tokens: 7,
      stop_sequences: ['END'],
      system: [{ type: 'text', text: 'Be short.' }],
      tool_choice: { type: 'tool', name: 'weather' },
      tools: [{ name: 'weather', input_schema: schema }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: {} }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
          ],
        },
      ],
    },
  ],
]

describe.each(bodies.map(([codec, body]) => [codec.protocol, codec, body] as const))(
  '%s',
  (protocol, codec, body) => {
    test('requests: the three protocols mean the same by the same conversation', () => {
      expect(codec.readRequest(body)).toMatchObject({
        model: 'm',
        maxOutputTokens: protocol === 'responses' ? 16 : 7,
        stopSequences: protocol === 'responses' ? [] : ['END'],
        toolChoice: { name: 'weather' },
        tools: [{ name: 'weather', kind: 'function', parameters: schema }],
        messages: [
          { role: 'system', parts: [{ type: 'text', text: 'Be short.' }] },
          { role: 'user', parts: [{ type: 'text', text: 'Look' }, { type: 'other' }] },
          ...(protocol === 'responses'
            ? [{ role: 'assistant', parts: [{ type: 'thinking' }] }]
            : []),
          { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'weather' }] },
          {
            role: 'tool',
            parts: [{ type: 'tool-result', id: 'c1', text: 'rain' }],
          },
        ],
      })
    })

    test('requests: a body without a conversation is refused in the service’s words', () => {
      const words = protocol === 'responses' ? 'input is required' : 'field messages is required'
      expect(() => codec.readRequest({ model: 'm' })).toThrow(new InvalidRequest(words))
    })
  },
)

test('responses: finds the tools that Codex puts into an input item, in their namespace', () => {
  const description =
    'Runs scripts\n\n```ts\ndeclare const tools: { exec_command(args: {}): void; };\n```'
  const { tools } = responses.readRequest({
    model: 'm',
    input: [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [
          {
            type: 'namespace',
            name: 'functions',
            description: 'Of the client.',
            tools: [
              { type: 'custom', name: 'exec', description },
              { type: 'function', name: 'wait', parameters: {} },
            ],
          },
        ],
      },
    ],
  })
  expect(tools).toMatchObject([
    { name: 'exec', kind: 'custom', namespace: 'functions', nested: ['exec_command'] },
    { name: 'wait', kind: 'function', namespace: 'functions' },
  ])
})

test('messages: a prompt of the role system among the messages is no user text', () => {
  const { messages: list } = messages.readRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'ping' },
      { role: 'system', content: 'Remember.' },
    ],
  })
  expect(list.map(({ role }) => role)).toEqual(['user', 'system'])
})
