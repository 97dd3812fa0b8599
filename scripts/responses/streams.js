/**
 * Streams that answer "pong" in the three protocols, as lists of events. `changes` modifies them.
 *
 * @typedef {object} Changes
 * @property {unknown} [finish] the finish reason. Absent: the usual one. Undefined: the member is missing
 * @property {boolean} [hasFinish] false: the stream has no finish reason
 * @property {boolean} [hasEnd] false: the stream has no last event
 * @property {unknown} [text] null: the answer has no text
 * @property {unknown} [usage] undefined: the stream has no usage
 * @property {string[]} [drop] members that are left out of every event
 */

export const protocols = ['chat', 'responses', 'messages']

const words = 'pong'

/** @returns {{event?: string, data: unknown}[]} `data` is a string or an object */
export function streamOf(protocol, changes = {}) {
  const all = { hasFinish: true, hasEnd: true, text: words, ...changes }
  const events = makers[protocol](all)
  return events.map(({ event, data }) => ({ event, data: without(data, changes.drop ?? []) }))
}

function without(data, names) {
  if (typeof data !== 'object' || data === null) return data
  if (Array.isArray(data)) return data.map((item) => without(item, names))
  return Object.fromEntries(
    Object.entries(data)
      .filter(([name]) => !names.includes(name))
      .map(([name, value]) => [name, without(value, names)]),
  )
}

/** The same answer without a stream. */
export function wholeOf(protocol, changes = {}) {
  const { text = words } = changes
  const finish = (usual) => ('finish' in changes ? changes.finish : usual)
  if (protocol === 'chat')
    return {
      id: 'c1',
      object: 'chat.completion',
      created: 1790000000,
      model: 'm',
      choices: [
        { index: 0, message: { role: 'assistant', content: text }, finish_reason: finish('stop') },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
    }
  if (protocol === 'responses') return responseWith({ text, status: finish('completed') })
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: text === null ? [] : [{ type: 'text', text }],
    stop_reason: finish('end_turn'),
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  }
}

function responseWith({ text, status, ...more }) {
  const item = messageItem(text)
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1790000000,
    model: 'm',
    status,
    output: text === null || status === 'in_progress' ? [] : [item],
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tools: [],
    usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
    ...more,
  }
}

function messageItem(text) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
}

const makers = {
  chat(changes) {
    const { text, hasFinish, hasEnd, choice = {}, chunk = {}, delta = {} } = changes
    const usage =
      'usage' in changes
        ? changes.usage
        : { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
    const finish = 'finish' in changes ? changes.finish : 'stop'
    const wrap = (choices, more = {}) => ({
      data: {
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1790000000,
        model: 'm',
        choices,
        ...chunk,
        ...more,
      },
    })
    return [
      wrap([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
      ...(text === null
        ? []
        : [
            wrap([
              { index: 0, delta: { content: text, ...delta }, finish_reason: null, ...choice },
            ]),
          ]),
      ...(hasFinish
        ? [
            wrap([
              { index: 0, delta: {}, ...(finish === undefined ? {} : { finish_reason: finish }) },
            ]),
          ]
        : []),
      ...(usage === undefined ? [] : [wrap([], { usage })]),
      ...(hasEnd ? [{ data: '[DONE]' }] : []),
    ]
  },

  responses(changes) {
    const { text, hasFinish, hasEnd } = changes
    const usage = 'usage' in changes ? { usage: changes.usage } : {}
    const finish = 'finish' in changes ? changes.finish : 'completed'
    let number = 0
    const event = (type, more) => ({
      event: type,
      data: { type, sequence_number: number++, ...more },
    })
    const item = messageItem(text)
    const at = { item_id: 'msg_1', output_index: 0 }
    const part = { type: 'output_text', text, annotations: [] }
    const last = changes.lastType ?? 'response.completed'
    return [
      event('response.created', {
        response: responseWith({ text, status: 'in_progress', usage: null }),
      }),
      ...(text === null
        ? []
        : [
            event('response.output_item.added', {
              output_index: 0,
              item: { ...item, status: 'in_progress', content: [] },
            }),
            event('response.content_part.added', {
              ...at,
              content_index: 0,
              part: { ...part, text: '' },
            }),
            event('response.output_text.delta', {
              ...at,
              content_index: 0,
              delta: text,
              logprobs: [],
            }),
            event('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] }),
            event('response.content_part.done', { ...at, content_index: 0, part }),
            ...(hasFinish ? [event('response.output_item.done', { output_index: 0, item })] : []),
          ]),
      ...(hasEnd
        ? [
            event(last, {
              response: responseWith({ text, status: finish, ...usage, ...changes.last }),
            }),
          ]
        : []),
    ]
  },

  messages(changes) {
    const { text, hasFinish, hasEnd, firstUsage = { input_tokens: 5, output_tokens: 1 } } = changes
    const usage = 'usage' in changes ? changes.usage : { output_tokens: 1 }
    const finish = 'finish' in changes ? changes.finish : 'end_turn'
    const event = (type, more) => ({ event: type, data: { type, ...more } })
    return [
      event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          ...(firstUsage === undefined ? {} : { usage: firstUsage }),
        },
      }),
      ...(text === null
        ? []
        : [
            event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
            event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
            event('content_block_stop', { index: 0 }),
          ]),
      ...(hasFinish
        ? [
            event('message_delta', {
              delta: {
                ...(finish === undefined ? {} : { stop_reason: finish }),
                stop_sequence: null,
              },
              ...(usage === undefined ? {} : { usage }),
            }),
          ]
        : []),
      ...(hasEnd ? [event('message_stop', {})] : []),
    ]
  },
}

/** The body of a stream with these events. */
export function framesOf(events, { end = '\n', colon = ': ', names = true, lines = false } = {}) {
  return events.map(({ event, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data, null, lines ? 1 : undefined)
    const named = names && event !== undefined ? `event${colon}${event}${end}` : ''
    return (
      named +
      text
        .split('\n')
        .map((line) => `data${colon}${line}${end}`)
        .join('') +
      end
    )
  })
}
