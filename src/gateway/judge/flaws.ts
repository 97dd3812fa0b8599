/**
 * What is unusual about a streamed answer. A flaw is one way in which a response differs from a vendor's. Each
 * client accepts some flaws and rejects others: scripts/try-responses.js finds out which, with the cases of the
 * same names. Some flaws are about the transport, some about the end, and some about the shape of the events.
 */
import { asList, asObject } from '../foreign-text.ts'
import type { Protocol } from '../types.ts'
import { chatChoices, type Event, isEvent, isFilled, isSaid, type StreamData } from './stream.ts'
import type { HttpResponse } from './types.ts'

/** The flaws, with what the gateway does: the words after "The gateway at HOST". */
export const flawWords = {
  // No stream, or a stream in an unusual transport.
  whole: 'does not stream its answer',
  gzip: 'compresses its answer with gzip although nobody asked for that',
  br: 'compresses its answer with brotli although nobody asked for that',
  deflate: 'compresses its answer with deflate although nobody asked for that',
  zstd: 'compresses its answer with zstd although nobody asked for that',
  'headers-30kb': 'sends more than 16 kB of headers',
  'headers-100kb': 'sends more than 64 kB of headers',
  'type-json': 'calls its stream application/json',
  'type-none': 'does not call its stream text/event-stream',
  'type-text': 'does not call its stream text/event-stream',

  // Events that a reader of streams may not accept.
  bom: 'starts its answer with a byte order mark',
  'bad-json': 'sends an event that is not JSON',
  'no-names': 'sends events without their names',

  // The end of the stream: it is missing, or comes without the connection closing.
  // The connection breaks before a reason for the end and the last event.
  cut: 'stopped in the middle of its answer',
  // The connection breaks after the reason (responses: after an item ended), before the last event.
  'cut-at-end': 'closed the connection before the last event of its answer',
  open: 'sends the last event of its answer, but does not end the answer',
  // The connection closes as usual. See `endFlaws` for the last event of each protocol.
  'no-end': 'ends its answer without the last event',

  // The reason for the end.
  // The last event comes, but no event has a reason: it is null or missing.
  'finish-null': 'does not say why its answer ended',
  // No event has a reason, and the last event is missing. The connection closes as usual.
  'no-finish-no-end': 'stopped in the middle of its answer',
  // The reason is 'error'.
  'finish-error': 'ended its answer because of an error',
  'finish-filter': 'ended its answer because of its content filter',
  // The reason is ''.
  'finish-empty': 'does not say why its answer ended',
  'finish-tools': 'ended its answer for a tool call without one',
  'finish-pause': 'pauses its turn in place of an answer',
  'finish-unknown': 'ended its answer for a reason that the protocol does not have',
  // The same in the responses protocol: `response.incomplete`.
  'incomplete-filter': 'ended its answer because of its content filter',
  'incomplete-other': 'ended its answer early',

  // The text of the answer.
  // No event has text, or, in the chat protocol, only ''.
  'no-text': 'answers without a word',
  // In the other protocols: events have text, but each has ''.
  'empty-text': 'answers without a word',
  'thinking-only': 'answers with thoughts only',
  'content-list': 'sends text as a list of parts',

  // Errors in events, and events of the chat protocol.
  // The event has no member `choices`.
  'choices-missing': 'sends an event without choices',
  'choices-null': 'sends an event without choices',
  // An error event, after the text.
  'error-late': 'ended its answer because of an error',
  // A choice has a member `error`.
  'choice-error': 'sends an error in place of an answer',
  // A choice has `message` instead of `delta`.
  'whole-choice': 'sends the whole answer in one event',
  'error-null': 'sends an empty error with each event',

  // Events of every protocol.
  'unknown-event': 'sends an event that the protocol does not have',
  // `usage` is missing, null, or an object without a count.
  'no-usage': 'does not count the tokens',
  'usage-null': 'does not count the tokens',
  'usage-empty': 'does not count the tokens',
  'usage-text': 'counts the tokens with something other than numbers',

  // Members that clients need.
  'no-ids': 'sends an answer without an ID',
  'no-index': 'sends events without an index',
  'no-role': 'sends an answer without a role',

  // Events of the responses protocol.
  // Items begin (`response.output_item.added`), but none ends (`response.output_item.done`). Unlike in the
  // names above, "finish" does not mean the reason.
  'no-finish': 'does not finish the items of its answer',
  // Text comes, but items neither begin nor end.
  'deltas-only': 'streams an answer without its items',
  // A message ends with its text, but no event has a part of the text.
  'item-only': 'sends the text of its answer in one piece',
  // The text came, but the last event has an empty `output`.
  'output-empty': 'does not repeat its answer in its last event',
  // Only the last event has the text, in `output`.
  'completed-only': 'sends the text of its answer only at its end',

  // Events of the messages protocol.
  'no-start': 'starts its answer without message_start',
  'no-block-start': 'streams text without content_block_start',
  'no-block-stop': 'streams text without content_block_stop',
} as const

export type Flaw = keyof typeof flawWords

/** The flaws of a streamed response of this protocol, most serious first. */
export function flawsOf(
  protocol: Protocol,
  response: HttpResponse,
  stream: StreamData,
): readonly Flaw[] {
  const ends = endFlaws(protocol, stream)
  const isBroken = response.cut === 'connection' && ends.includes('no-end')
  const isEnded = !ends.some((flaw) => flaw === 'finish-null' || flaw === 'no-finish-no-end')
  const flaws: (Flaw | false | undefined)[] = [
    isBroken && (isEnded ? 'cut-at-end' : 'cut'),
    response.isOpen && 'open',
    ...transportFlaws(response),
    stream.broken > 0 && 'bad-json',
    ...(isBroken ? [] : ends),
    ...shapeFlaws[protocol](stream.events, response.body),
  ]
  return flaws.filter((flaw) => flaw !== undefined && flaw !== false)
}

/** `low`: the limit of Node's own client. `high`: that of Codex (0.169.0, 2026-11-26). */
const headerLimits = { low: 16_384, high: 65_536 }

function transportFlaws({ headers, body }: HttpResponse): readonly (Flaw | false)[] {
  const type = headers['content-type'] ?? ''
  const encodings = (headers['content-encoding'] ?? '').toLowerCase().split(/\s*,\s*/)
  const bytes = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  )
  return [
    ...(['gzip', 'br', 'deflate', 'zstd'] as const).map((name) => encodings.includes(name) && name),
    bytes > headerLimits.low && 'headers-30kb',
    bytes > headerLimits.high && 'headers-100kb',
    type === '' && 'type-none',
    type !== '' &&
      !type.includes('event-stream') &&
      (type.includes('json') ? 'type-json' : 'type-text'),
    body.startsWith('\ufeff') && 'bom',
  ]
}

/** How a stream ends. */
function endFlaws(protocol: Protocol, { events, isDone }: StreamData): readonly Flaw[] {
  const reason = reasons[protocol](events)
  const hasEnd =
    protocol === 'chat'
      ? isDone
      : events.some(isEvent('message_stop', 'response.completed', 'response.incomplete'))

  if (reason === undefined) {
    if (hasEnd) return ['finish-null']
    const hasItems = events.some(isEvent('response.output_item.done'))
    return hasItems ? ['no-end'] : ['no-finish-no-end', 'no-end']
  }

  const reasonFlaw = flawOfReason(protocol, reason)
  return [...(reasonFlaw === undefined ? [] : [reasonFlaw]), ...(hasEnd ? [] : ['no-end' as const])]
}

/** Why an answer ended. */
const reasons: Readonly<Record<Protocol, (events: readonly Event[]) => unknown>> = {
  chat: (events) =>
    chatChoices(events)
      .map((choice) => choice['finish_reason'])
      .findLast(isSaid),
  messages: (events) =>
    events.map(({ delta }) => asObject(delta)?.['stop_reason']).findLast(isSaid),
  responses(events) {
    const last = events.findLast(isEvent('response.completed', 'response.incomplete'))
    const { status, incomplete_details: details } = asObject(last?.['response']) ?? {}
    if (last?.['type'] === 'response.incomplete') {
      const reason = String(asObject(details)?.['reason'])
      return ['max_output_tokens', 'content_filter'].includes(reason) ? reason : 'other'
    }
    return last && (status || 'completed')
  },
}

/** Reasons of the protocols. An answer may be cut at repoint's own token limit. */
const usualReasons: Readonly<Record<Protocol, readonly unknown[]>> = {
  chat: ['stop', 'length', 'tool_calls', 'function_call'],
  messages: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use'],
  responses: ['completed', 'max_output_tokens'],
}

function flawOfReason(protocol: Protocol, reason: unknown): Flaw | undefined {
  if (usualReasons[protocol].includes(reason)) return undefined
  if (reason === 'pause_turn') return 'finish-pause'
  if (reason === 'error') return 'finish-error'
  if (reason === '') return 'finish-empty'
  const isFilter = reason === 'content_filter' || reason === 'refusal'
  if (protocol === 'responses' && isFilter) return 'incomplete-filter'
  if (reason === 'other') return 'incomplete-other'
  return isFilter ? 'finish-filter' : 'finish-unknown'
}

/** Events of an item of the responses protocol. */
const isItemEvent = isEvent(
  'response.output_item.added',
  'response.output_text.delta',
  'response.output_item.done',
)

/** Events of a block of the messages protocol. */
const blockEvents = ['content_block_start', 'content_block_delta', 'content_block_stop']
const isBlockEvent = isEvent(...blockEvents)

const isKnown = isEvent(
  ...blockEvents,
  'message_start',
  'message_delta',
  'message_stop',
  'ping',
  'error',
)

const shapeFlaws: Readonly<
  Record<Protocol, (events: readonly Event[], body: string) => readonly (Flaw | false)[]>
> = {
  chat(events) {
    const choices = chatChoices(events)
    const deltas = choices.map(({ delta, message }) => asObject(delta ?? message) ?? {})
    const texts = deltas.flatMap(({ content, tool_calls: calls }) => [content, calls])
    const hasText = texts.some(isFilled)
    const isThought = deltas.some(
      ({ reasoning_content: long, reasoning: short }) => isFilled(long) || isFilled(short),
    )
    const isCut = reasons.chat(events) === 'length'
    const isForeign = ({ choices, object }: Event) =>
      choices === undefined && isFilled(object) && object !== 'chat.completion.chunk'
    return [
      events.every(({ id }) => !isSaid(id)) && 'no-ids',
      choices.some(({ error }) => isSaid(error)) && 'choice-error',
      events.some((event) => event['error'] === null) && 'error-null',
      reasons.chat(events) === 'tool_calls' && !texts.some(Array.isArray) && 'finish-tools',
      events.some((event) => event['choices'] === null) && 'choices-null',
      events.some(isForeign) && 'unknown-event',
      events.some((event) => event['choices'] === undefined && !isForeign(event)) &&
        'choices-missing',
      choices.some(({ message, delta }) => isSaid(message) && !isSaid(delta)) && 'whole-choice',
      texts.some(
        (text) => Array.isArray(text) && text.some((part) => asObject(part)?.['type'] === 'text'),
      ) && 'content-list',
      !hasText && !isCut && (isThought ? 'thinking-only' : 'no-text'),
      choices.some(({ index }) => !isSaid(index)) && 'no-index',
      events.every(({ usage }) => usage === undefined) && 'no-usage',
      ...usageFlaws(events.map(({ usage }) => usage)),
    ]
  },

  responses(events, body) {
    const last = asObject(
      events.findLast(isEvent('response.completed', 'response.incomplete'))?.['response'],
    )
    const items = events
      .filter(isEvent('response.output_item.done'))
      .map(({ item }) => asObject(item) ?? {})
    const messages = items.filter(({ type }) => type === 'message')
    const texts = events.filter(isEvent('response.output_text.delta'))
    const hasText = texts.length > 0
    const hasAdded = events.some(isEvent('response.output_item.added'))
    const output = asList(last?.['output'])
    return [
      last?.['status'] === null && 'finish-null',
      last?.['status'] === '' && 'finish-empty',
      last !== undefined && !isSaid(last['id']) && 'no-ids',
      !/^event:/m.test(body) && 'no-names',
      messages.some(({ role }) => !isSaid(role)) && 'no-role',
      items.length === 0 && hasText && (hasAdded ? 'no-finish' : 'deltas-only'),
      items.length === 0 && !hasText && output.length > 0 && 'completed-only',
      messages.length > 0 && !hasText && 'item-only',
      last !== undefined && hasText && output.length === 0 && 'output-empty',
      last !== undefined && items.length === 0 && !hasText && output.length === 0 && 'no-text',
      hasText && !texts.some(({ delta }) => isFilled(delta)) && 'empty-text',
      events.some(({ type }) => !/^(?:response\.|error$)/.test(String(type))) && 'unknown-event',
      events.some((event) => isItemEvent(event) && !isSaid(event['output_index'])) && 'no-index',
      last !== undefined && last['usage'] === undefined && 'no-usage',
      ...usageFlaws([last?.['usage']]),
    ]
  },

  messages(events, body) {
    const kinds = events
      .filter(isEvent('content_block_start'))
      .map((event) => asObject(event['content_block'])?.['type'])
    const deltas = events.filter(isEvent('content_block_delta'))
    const hasDelta = deltas.length > 0
    const isEmpty = deltas.every(({ delta }) => {
      const { text, thinking, partial_json: json } = asObject(delta) ?? {}
      return ![text, thinking, json].some(isFilled)
    })
    const isThought = kinds.length > 0 && kinds.every((kind) => String(kind).includes('thinking'))
    const isCut = reasons.messages(events) === 'max_tokens'
    const usages = events
      .filter(isEvent('message_start', 'message_delta'))
      .map(({ usage, message = { usage } }) => asObject(message)?.['usage'])
    const start = asObject(events.find(isEvent('message_start'))?.['message'])
    return [
      !events.some(isEvent('message_start')) && 'no-start',
      start !== undefined && !isSaid(start['id']) && 'no-ids',
      start !== undefined && !isSaid(start['role']) && 'no-role',
      reasons.messages(events) === 'tool_use' && !kinds.includes('tool_use') && 'finish-tools',
      hasDelta && kinds.length === 0 && 'no-block-start',
      hasDelta && !events.some(isEvent('content_block_stop')) && 'no-block-stop',
      !/^event:/m.test(body) && 'no-names',
      events.some((event) => !isKnown(event)) && 'unknown-event',
      events.some((event) => isBlockEvent(event) && !isSaid(event['index'])) && 'no-index',
      (!hasDelta || isThought) &&
        !kinds.includes('tool_use') &&
        !isCut &&
        (hasDelta ? 'thinking-only' : 'no-text'),
      hasDelta && isEmpty && !kinds.includes('tool_use') && 'empty-text',
      events.some((event) => isEvent('message_delta')(event) && event['usage'] === undefined) &&
        'no-usage',
      ...usageFlaws(usages),
    ]
  },
}

function usageFlaws(usages: readonly unknown[]): readonly (Flaw | false)[] {
  const counts = usages.filter(isSaid).map((usage) => {
    const {
      total_tokens: total,
      output_tokens: output,
      completion_tokens: completion,
    } = asObject(usage) ?? {}
    return output ?? completion ?? total
  })
  return [
    usages.some((usage) => usage === null) && 'usage-null',
    counts.some((count) => count === undefined) && 'usage-empty',
    counts.some((count) => count !== undefined && typeof count !== 'number') && 'usage-text',
  ]
}
