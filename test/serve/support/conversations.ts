import type { Protocol } from '../../../src/protocols.ts'
import type { JsonObject } from '../../../src/serve/requests/json.ts'
import type { Turn } from '../../../src/serve/requests/turns/turns.ts'

export const schema = { type: 'object', properties: { city: { type: 'string' } } }
const weather = { name: 'weather', parameters: schema }
const call = { name: 'weather', arguments: '{"city":"Paris"}' }
const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const url = 'data:image/png;base64,iVBORw0KGgo='

const ofChat = [
  { type: 'text', text: 'Look' },
  { type: 'image_url', image_url: { url } },
]
const ofResponses = [
  { type: 'input_text', text: 'Look' },
  { type: 'input_image', image_url: url },
]
const ofMessages = [
  { type: 'text', text: 'Look' },
  { type: 'image', source },
]
const calls = [{ id: 'c1', type: 'function', function: call }]
const answer = [
  { type: 'thinking', thinking: 'Hm.', signature: 'x' },
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Paris' } },
]
const result = { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] }

/** One conversation in three protocols: a system prompt, a prompt with a picture, a thought, an answer with a call, its result. */
export const conversations: Readonly<Record<Protocol, JsonObject>> = {
  chat: {
    model: 'm',
    max_completion_tokens: 17,
    stop: 'END',
    tool_choice: { type: 'function', function: { name: 'weather' } },
    tools: [{ type: 'function', function: weather }],
    messages: [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: ofChat },
      { role: 'assistant', content: 'I look.', reasoning_content: 'Hm.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
    ],
  },
  responses: {
    model: 'm',
    max_output_tokens: 17,
    instructions: 'Be short.',
    tool_choice: { type: 'function', name: 'weather' },
    tools: [{ type: 'function', ...weather }],
    input: [
      { type: 'message', role: 'user', content: ofResponses },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'c1', ...call },
      { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    ],
  },
  messages: {
    model: 'm',
    max_tokens: 17,
    stop_sequences: ['END'],
    system: [{ type: 'text', text: 'Be short.' }],
    tool_choice: { type: 'tool', name: 'weather' },
    tools: [{ name: 'weather', input_schema: schema }],
    messages: [
      { role: 'user', content: ofMessages },
      { role: 'assistant', content: answer },
      { role: 'user', content: [result] },
    ],
  },
}

/** The role and the contents of each turn. In responses, each item is a separate turn. */
export function contentsOf(turns: readonly Turn[]) {
  const roles = turns.map(({ role }) => role).filter((role, at, all) => role !== all[at - 1])
  return { roles, parts: turns.flatMap(({ parts }) => parts) }
}

/** The turns of each conversation, without the system prompt. */
export const expectedContents = {
  roles: ['user', 'assistant', 'tool'],
  parts: [
    { type: 'text', text: 'Look' },
    { type: 'other' },
    { type: 'thinking', text: 'Hm.' },
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', id: 'c1', name: 'weather', text: '{"city":"Paris"}' },
    { type: 'tool-result', id: 'c1', text: 'rain', isError: false },
  ],
}
