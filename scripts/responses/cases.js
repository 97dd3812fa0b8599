/**
 * Unusual responses of gateways, by name. A case makes the response to one request of one protocol.
 *
 * @typedef {object} Response
 * @property {number} [status]
 * @property {Record<string, string>} [headers]
 * @property {(string | Buffer)[]} [pieces] of the body, written one after the other
 * @property {'close' | 'cut' | 'open'} [end] cut: the connection breaks; open: it stays open
 */
import * as zlib from 'node:zlib'
import { framesOf, streamOf, wholeOf } from './streams.js'

const sse = { 'content-type': 'text/event-stream; charset=utf-8' }
const json = { 'content-type': 'application/json' }

const stream = (changes, form) => (protocol) => ({
  headers: sse,
  pieces: framesOf(streamOf(protocol, changes), form),
})

const packed = (encoding, pack) => (protocol) => ({
  headers: { ...sse, 'content-encoding': encoding },
  pieces: [pack(Buffer.from(framesOf(streamOf(protocol)).join('')))],
})

/** A zstd frame with one block that is not compressed (RFC 8878, 3.1.1): Node 20 has no zstd. */
function inZstd(bytes) {
  const header = Buffer.alloc(12)
  header.writeUInt32LE(0xfd2fb528, 0)
  header[4] = 0xa0
  header.writeUInt32LE(bytes.length, 5)
  header.writeUIntLE(1 | (bytes.length << 3), 9, 3)
  return Buffer.concat([header, bytes])
}

const typed = (headers) => (protocol) => ({ ...stream()(protocol), headers })

/** A stream with changed, additional or missing events. */
const edited = (edit, form) => (protocol) => ({
  headers: sse,
  pieces: framesOf(edit(streamOf(protocol), protocol), form),
})

const error = { message: 'The model crashed.', type: 'server_error', code: 'server_error' }

function errorEvent(protocol) {
  if (protocol === 'chat') return { data: { error } }
  if (protocol === 'messages')
    return {
      event: 'error',
      data: { type: 'error', error: { type: 'api_error', message: error.message } },
    }
  return { event: 'error', data: { ...error, type: 'error', sequence_number: 9 } }
}

/** The events up to the one that completes the text, without those that end the response. */
function beforeEnd(events, protocol) {
  const last = {
    chat: '"finish_reason":"stop"',
    responses: 'response.completed',
    messages: '"message_delta"',
  }
  const at = events.findIndex(({ data }) => JSON.stringify(data).includes(last[protocol]))
  return events.slice(0, at)
}

const refusal =
  (status, headers = {}) =>
  () => ({
    status,
    headers: { ...json, ...headers },
    pieces: [JSON.stringify({ type: 'error', error: { type: 'busy', message: 'Busy.' } })],
  })

/** Only the first requests get the unusual response. */
const once =
  (response) =>
  (protocol, { count }) =>
    count === 1 ? response(protocol) : stream()(protocol)

const redirect =
  (status, host) =>
  (protocol, { path, url, otherUrl, isRedirected }) =>
    isRedirected
      ? stream()(protocol)
      : {
          status,
          headers: { location: `${host === 'other' ? otherUrl : url}/redirected${path}` },
          pieces: [],
        }

const bigHeaders = (bytes) => (protocol) => ({
  ...stream()(protocol),
  headers: {
    ...sse,
    ...Object.fromEntries(
      Array.from({ length: Math.ceil(bytes / 1000) }, (_, n) => [`x-filler-${n}`, 'a'.repeat(985)]),
    ),
  },
})

/** The cases of every protocol. */
const common = {
  ok: stream(),
  // How the body is encoded and split.
  crlf: stream({}, { end: '\r\n' }),
  'no-space': stream({}, { colon: ':' }),
  comments: (protocol) => ({
    headers: sse,
    pieces: framesOf(streamOf(protocol)).flatMap((frame) => [': keep-alive\n\n', frame]),
  }),
  'no-names': stream({}, { names: false }),
  lines: stream({}, { lines: true }),
  bom: (protocol) => ({ headers: sse, pieces: ['\ufeff', ...framesOf(streamOf(protocol))] }),
  bytes: (protocol) => ({
    headers: sse,
    pieces: [...Buffer.from(framesOf(streamOf(protocol)).join(''))].map((byte) =>
      Buffer.from([byte]),
    ),
  }),
  'huge-2mb': edited(([first, ...rest]) => [
    { ...first, data: { ...first.data, padding: 'x'.repeat(2_000_000) } },
    ...rest,
  ]),
  'bad-json': edited(([first, ...rest]) => [first, { data: '{"id": "c1", "cho' }, ...rest]),
  'unknown-event': edited(([first, ...rest]) => [
    first,
    { event: 'x_progress', data: { type: 'x_progress', object: 'x.progress', percent: 5 } },
    ...rest,
  ]),
  // Headers.
  'type-json': typed(json),
  'type-text': typed({ 'content-type': 'text/plain' }),
  'type-none': typed({}),
  gzip: packed('gzip', zlib.gzipSync),
  br: packed('br', zlib.brotliCompressSync),
  deflate: packed('deflate', zlib.deflateSync),
  zstd: packed('zstd', inZstd),
  'headers-15kb': bigHeaders(15_000),
  'headers-30kb': bigHeaders(30_000),
  'headers-60kb': bigHeaders(60_000),
  'headers-100kb': bigHeaders(100_000),
  // Responses without a stream.
  whole: (protocol) => ({ headers: json, pieces: [JSON.stringify(wholeOf(protocol))] }),
  empty: () => ({ headers: sse, pieces: [] }),
  // How the stream ends.
  'no-end': stream({ hasEnd: false }),
  'no-finish': stream({ hasFinish: false }),
  'no-finish-no-end': stream({ hasFinish: false, hasEnd: false }),
  cut: (protocol) => ({
    headers: sse,
    pieces: framesOf(beforeEnd(streamOf(protocol), protocol)),
    end: 'cut',
  }),
  'cut-at-end': (protocol) => ({
    headers: sse,
    pieces: framesOf(streamOf(protocol, { hasEnd: false })),
    end: 'cut',
  }),
  open: (protocol) => ({ ...stream()(protocol), end: 'open' }),
  'open-no-end': (protocol) => ({ ...stream({ hasEnd: false })(protocol), end: 'open' }),
  // The finish reason.
  'finish-null': stream({ finish: null }),
  'finish-missing': stream({ finish: undefined }),
  'finish-empty': stream({ finish: '' }),
  'finish-unknown': stream({ finish: 'eos_token' }),
  'finish-error': stream({ finish: 'error' }),
  // Content.
  'no-text': stream({ text: null }),
  'empty-text': stream({ text: '' }),
  // Usage.
  'no-usage': stream({ usage: undefined, firstUsage: undefined }),
  'usage-null': stream({ usage: null, firstUsage: null }),
  'usage-empty': stream({ usage: {}, firstUsage: {} }),
  'usage-text': stream({
    usage: {
      prompt_tokens: '5',
      completion_tokens: '1',
      input_tokens: '5',
      output_tokens: '1',
      total_tokens: '6',
    },
  }),
  // Missing or additional members.
  'no-ids': stream({ drop: ['id', 'item_id'] }),
  'no-object': stream({ drop: ['object', 'created', 'created_at', 'model'] }),
  'no-index': stream({ drop: ['index', 'output_index', 'content_index'] }),
  'no-role': stream({ drop: ['role'] }),
  'no-number': stream({ drop: ['sequence_number', 'logprobs', 'annotations', 'stop_sequence'] }),
  // Errors with status 200.
  'error-first': edited((_, protocol) => [errorEvent(protocol)]),
  'error-late': edited((events, protocol) => [
    ...beforeEnd(events, protocol),
    errorEvent(protocol),
  ]),
  'error-json': () => ({ headers: json, pieces: [JSON.stringify({ error })] }),
  // Redirects.
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].flatMap((status) => [
      [`redirect-${status}`, redirect(status, 'same')],
    ]),
  ),
  'redirect-307-other': redirect(307, 'other'),
  // Temporary failures.
  ...Object.fromEntries(
    [429, 500, 502, 503, 529].map((status) => [`once-${status}`, once(refusal(status))]),
  ),
  ...Object.fromEntries(
    [429, 503, 529].map((status) => [`always-${status}`, refusal(status, { 'retry-after': '1' })]),
  ),
  'once-429-after-30': once(refusal(429, { 'retry-after': '30' })),
}

/** The cases of one protocol. */
const special = {
  chat: {
    'finish-upper': stream({ finish: 'STOP' }),
    'finish-length': stream({ finish: 'length' }),
    'finish-filter': stream({ finish: 'content_filter' }),
    'finish-tools': stream({ finish: 'tool_calls' }),
    'finish-end-turn': stream({ finish: 'end_turn' }),
    'content-list': stream({ text: [{ type: 'text', text: 'pong' }] }),
    'content-null': stream({ delta: { content: null, reasoning_content: 'pong' } }),
    'choices-null': edited(([first, ...rest]) => [
      first,
      { data: { ...first.data, choices: null } },
      ...rest,
    ]),
    'choices-missing': edited(([first, ...rest]) => [
      first,
      { data: { id: 'c1', object: 'chat.completion.chunk' } },
      ...rest,
    ]),
    'choices-empty': edited(([first, ...rest]) => [
      { data: { ...first.data, choices: [] } },
      first,
      ...rest,
    ]),
    'choice-error': edited((events) => [
      ...beforeEnd(events, 'chat'),
      {
        data: {
          ...events[0].data,
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', error }],
        },
      },
      { data: '[DONE]' },
    ]),
    'error-null': stream({ chunk: { error: null } }),
    'usage-every': stream({
      chunk: { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } },
    }),
    'usage-null-every': stream({ chunk: { usage: null } }),
    'delta-null': edited((events) =>
      events.map(({ data }) => ({
        data: data.choices?.[0]?.finish_reason
          ? { ...data, choices: [{ ...data.choices[0], delta: null }] }
          : data,
      })),
    ),
    'whole-choice': edited(() => [{ data: wholeOf('chat') }, { data: '[DONE]' }]),
    'event-names': (protocol) => ({
      headers: sse,
      pieces: framesOf(streamOf(protocol).map(({ data }) => ({ event: 'message', data }))),
    }),
    'empty-finish-late': edited((events) => [
      ...events.slice(0, -1),
      { data: { ...events[0].data, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] } },
      ...events.slice(-1),
    ]),
  },
  responses: {
    'status-missing': stream({ last: { status: undefined } }),
    'output-missing': stream({ last: { output: undefined } }),
    'output-empty': stream({ last: { output: [] } }),
    'incomplete-tokens': stream({
      lastType: 'response.incomplete',
      finish: 'incomplete',
      last: { incomplete_details: { reason: 'max_output_tokens' } },
    }),
    'incomplete-filter': stream({
      lastType: 'response.incomplete',
      finish: 'incomplete',
      last: { incomplete_details: { reason: 'content_filter' } },
    }),
    'incomplete-other': stream({
      lastType: 'response.incomplete',
      finish: 'incomplete',
      last: { incomplete_details: { reason: 'other' } },
    }),
    failed: stream({ lastType: 'response.failed', finish: 'failed', last: { error } }),
    'failed-first': edited((events) => [
      events[0],
      {
        event: 'response.failed',
        data: {
          type: 'response.failed',
          response: { ...events[0].data.response, status: 'failed', error },
        },
      },
    ]),
    done: stream({ lastType: 'response.done' }),
    'done-sent': edited((events) => [...events, { data: '[DONE]' }]),
    'no-created': edited((events) => events.slice(1)),
    'deltas-only': edited((events) =>
      events.filter(({ event }) => /created|delta|completed/.test(event)),
    ),
    'item-only': edited((events) =>
      events.filter(({ event }) => /created|item\.done|completed/.test(event)),
    ),
    'completed-only': edited((events) => events.slice(-1)),
    'chat-chunks': () => stream()('chat'),
  },
  messages: {
    'finish-refusal': stream({ finish: 'refusal' }),
    'finish-tokens': stream({ finish: 'max_tokens' }),
    'finish-stop': stream({ finish: 'stop' }),
    'finish-pause': stream({ finish: 'pause_turn' }),
    'finish-tool': stream({ finish: 'tool_use' }),
    'no-first-usage': stream({ firstUsage: undefined }),
    'no-last-usage': stream({ usage: undefined }),
    ping: edited(([first, ...rest]) => [first, { event: 'ping', data: { type: 'ping' } }, ...rest]),
    'done-sent': edited((events) => [...events, { data: '[DONE]' }]),
    'no-start': edited((events) => events.slice(1)),
    'no-block-start': edited((events) =>
      events.filter(({ event }) => event !== 'content_block_start'),
    ),
    'no-block-stop': edited((events) =>
      events.filter(({ event }) => event !== 'content_block_stop'),
    ),
    'chat-chunks': () => stream()('chat'),
    'thinking-only': edited((events) =>
      events.map(({ event, data }) => ({
        event,
        data:
          event === 'content_block_start'
            ? { ...data, content_block: { type: 'thinking', thinking: '', signature: '' } }
            : event === 'content_block_delta'
              ? { ...data, delta: { type: 'thinking_delta', thinking: 'pong' } }
              : data,
      })),
    ),
  },
}

/** @returns {Record<string, (protocol: string, context: object) => Response>} */
export function casesOf(protocol) {
  return { ...common, ...special[protocol] }
}
