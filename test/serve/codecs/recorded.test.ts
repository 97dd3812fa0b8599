import { expect, test } from 'vitest'
import { aGateway, ask, paths, sseEvents } from '../support/gateway.ts'

/**
 * The streams of this gateway next to streams that others recorded from the vendors, event by event. Each
 * row is an event with the paths of its members; `+` repeats the event before it at least once. Only
 * names are compared, not values or the way in which a text is split.
 */

// `access_programs` is newer than the recording (openai 7.59.0).
const response = `id object access_programs created_at status background completed_at error frequency_penalty
  incomplete_details instructions max_output_tokens max_tool_calls model moderation output
  parallel_tool_calls presence_penalty previous_response_id prompt_cache_key prompt_cache_retention
  reasoning safety_identifier service_tier store temperature text tool_choice tool_usage tools
  top_logprobs top_p truncation usage user metadata`
const usage = `response.usage.input_tokens response.usage.input_tokens_details.cache_write_tokens
  response.usage.input_tokens_details.cached_tokens response.usage.output_tokens
  response.usage.output_tokens_details.reasoning_tokens response.usage.total_tokens`
const functionCall = 'item.id item.type item.status item.arguments item.call_id item.name'
const chatChunk = `id object created model service_tier system_fingerprint usage choices.index
  choices.logprobs choices.finish_reason`
const messageUsage = `input_tokens cache_creation_input_tokens cache_read_input_tokens
  output_tokens`
const words = (text: string) => text.trim().split(/\s+/)
const within = (name: string, members: string) =>
  words(members).map((member) => `${name}.${member}`)

interface Recording {
  readonly source: string
  readonly path: string
  readonly body: object
  readonly reply: object | string
  readonly events: readonly (readonly [type: string, ...members: string[]] | '+')[]
  /** True: we send only the recorded members. Absent: we also send members that the vendor's newer SDKs require. */
  readonly isAll?: boolean
}

const question = [{ role: 'user', content: 'Hello' }]
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const fixtures = 'https://github.com/vercel/ai/blob/main/packages'

const recordings: readonly Recording[] = [
  {
    source: `${fixtures}/openai/src/responses/__fixtures__/issue-19493-gpt-5.1-tool-call.chunks.txt (2026-08)`,
    path: paths.responses,
    body: {
      model: 'gpt-5.6',
      input: 'Hello',
      reasoning: { effort: 'none' },
      tool_choice: 'required',
      tools: [
        {
          type: 'function',
          name: 'get_weather',
          strict: true,
          parameters: { ...schema, additionalProperties: false },
        },
      ],
    },
    reply: { call: 'get_weather', with: { city: 'Beijing' } },
    isAll: true,
    events: [
      ['response.created', 'sequence_number', ...within('response', response)],
      ['response.in_progress', 'sequence_number', ...within('response', response)],
      ['response.output_item.added', 'sequence_number', 'output_index', ...words(functionCall)],
      [
        'response.function_call_arguments.delta',
        ...words('sequence_number item_id output_index delta'),
      ],
      '+',
      [
        'response.function_call_arguments.done',
        ...words('sequence_number item_id output_index arguments'),
      ],
      ['response.output_item.done', 'sequence_number', 'output_index', ...words(functionCall)],
      [
        'response.completed',
        'sequence_number',
        ...within('response', response.replace(/\b(output|usage)\b(?!_)/g, '')),
        ...within('response.output', 'id type status arguments call_id name'),
        ...words(usage),
      ],
    ],
  },
  {
    source: `${fixtures}/openai/src/chat/__fixtures__/openai-text.chunks.txt (2026-02)`,
    path: paths.chat,
    body: {
      model: 'gpt-5.4',
      messages: question,
      stream_options: { include_usage: true },
    },
    reply: 'one two three',
    isAll: true,
    events: [
      [
        'chat.completion.chunk',
        ...words(chatChunk),
        ...within('choices.delta', 'role content refusal'),
      ],
      ['chat.completion.chunk', ...words(chatChunk), 'choices.delta.content'],
      '+',
      ['chat.completion.chunk', ...words(chatChunk), 'choices.delta'],
    ],
  },
  {
    source: `${fixtures}/anthropic/src/__fixtures__/anthropic-claude-sonnet-5-reasoning-summarized.chunks.txt (2026)`,
    path: paths.messages,
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 1000,
      thinking: { type: 'adaptive', display: 'summarized' },
      messages: question,
    },
    reply: { thinking: 'Hm, this is hard.', text: 'one two three' },
    events: [
      [
        'message_start',
        ...within('message', 'model id type role content stop_reason stop_sequence stop_details'),
        ...within('message.usage', `${messageUsage} service_tier inference_geo`),
        ...within(
          'message.usage.cache_creation',
          'ephemeral_5m_input_tokens ephemeral_1h_input_tokens',
        ),
      ],
      ['content_block_start', 'index', ...within('content_block', 'type thinking signature')],
      ['content_block_delta', 'index', 'delta.type', 'delta.thinking'],
      '+',
      ['content_block_delta', 'index', 'delta.type', 'delta.signature'],
      ['content_block_stop', 'index'],
      ['content_block_start', 'index', 'content_block.type', 'content_block.text'],
      ['content_block_delta', 'index', 'delta.type', 'delta.text'],
      '+',
      ['content_block_stop', 'index'],
      [
        'message_delta',
        ...within('delta', 'stop_reason stop_sequence stop_details'),
        ...within('usage', `${messageUsage} output_tokens_details.thinking_tokens`),
      ],
      ['message_stop'],
    ],
  },
  {
    source: `${fixtures}/anthropic/src/__fixtures__/anthropic-tool-no-args.chunks.txt (2025)`,
    path: paths.messages,
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 1000,
      messages: question,
      tools: [{ name: 'updateIssueList', input_schema: { type: 'object' } }],
    },
    reply: { text: 'I update it.', call: 'updateIssueList', with: {} },
    events: [
      ['message_start', ...within('message', 'model id type role content usage.input_tokens')],
      ['content_block_start', 'index', 'content_block.type', 'content_block.text'],
      ['content_block_delta', 'index', 'delta.type', 'delta.text'],
      '+',
      ['content_block_stop', 'index'],
      ['content_block_start', 'index', ...within('content_block', 'type id name input')],
      ['content_block_delta', 'index', 'delta.type', 'delta.partial_json'],
      '+',
      ['content_block_stop', 'index'],
      ['message_delta', ...within('delta', 'stop_reason'), ...within('usage', messageUsage)],
      ['message_stop'],
    ],
  },
]

/** The paths of all members. The entries of a list are at its place. */
function memberPaths(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((one) => memberPaths(one, at))
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [at]
  return Object.entries(value).flatMap(([name, inner]) =>
    memberPaths(inner, at === '' ? name : `${at}.${name}`),
  )
}

test.each(recordings)(
  'a recorded stream: $source',
  async ({ path, body, reply, events, isAll }) => {
    const gateway = await aGateway({ scenario: { answers: [{ reply }] } })
    const answer = await ask(gateway, path, { ...body, stream: true })
    expect(answer.status).toBe(200)
    const sent = sseEvents(await answer.text())
      .filter(({ data }) => data !== '[DONE]')
      .map(({ data }) => JSON.parse(data))
      .filter(({ type, choices }) => type !== 'ping' && choices?.length !== 0)

    let next = 0
    let before: readonly string[] = []
    for (const [index, recorded] of events.entries()) {
      if (recorded === '+') {
        while (matches(sent[next], before)) next++
        continue
      }
      expect(sent[next], `event ${index}`).toBeDefined()
      const [type, ...members] = recorded
      const kind = sent[next].type === undefined ? 'object' : 'type'
      expect(sent[next].type ?? sent[next].object).toBe(type)
      const paths = memberPaths(sent[next])
      const missing = members.filter(
        (one) => !paths.some((path) => path === one || path.startsWith(`${one}.`)),
      )
      const isRecorded = (path: string) =>
        members.some((one) => path === one || path.startsWith(`${one}.`))
      const extra = isAll ? paths.filter((path) => path !== kind && !isRecorded(path)) : []
      expect({ type, missing, extra }).toEqual({ type, missing: [], extra: [] })
      before = recorded
      next++
    }
    expect(sent.slice(next)).toEqual([])
  },
)

function matches(
  // biome-ignore lint/suspicious/noExplicitAny: the data of an event
  event: any,
  [type, ...members]: readonly string[],
): boolean {
  if (event === undefined || (event.type ?? event.object) !== type) return false
  const paths = memberPaths(event)
  return members.every((one) => paths.some((path) => path === one || path.startsWith(`${one}.`)))
}
