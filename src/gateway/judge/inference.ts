import { asList, asObject, jsonIn } from '../foreign-text.ts'
import type { AcceptedResponses, Protocol, Sender } from '../types.ts'
import { type Flaw, flawsOf } from './flaws.ts'
import { chatChoices, type Event, isEvent, isFilled, readStream } from './stream.ts'
import type { HttpResponse } from './types.ts'

/**
 * What the body of a 200 says about an inference.
 *
 * `answered`: an answer in the protocol's format, with these flaws. One of them may be an error after some
 * text. `failed`: an error inside a stream. `foreign`: something else.
 */
type Inference =
  | { readonly kind: 'answered'; readonly flaws: readonly Flaw[]; readonly error?: unknown }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** What a client does with responses. For a client that nobody has tried, it is what most clients do. */
export function acceptedBy(
  sender: Pick<Sender, 'accepts'> | undefined,
  protocol: Protocol,
): AcceptedResponses {
  return sender?.accepts ?? usuallyAccepted[protocol]
}

const usuallyAccepted: Readonly<Record<Protocol, AcceptedResponses>> = {
  chat: {
    rejects: [
      'whole',
      'cut',
      'no-finish-no-end',
      'finish-null',
      'finish-error',
      'choice-error',
      'error-late',
    ],
    retries: [],
  },
  responses: {
    rejects: [
      'whole',
      'cut',
      'cut-at-end',
      'no-end',
      'no-finish-no-end',
      'incomplete-filter',
      'error-late',
    ],
    retries: [],
  },
  messages: {
    rejects: ['cut', 'no-end', 'no-start', 'no-finish-no-end', 'error-late'],
    retries: [],
    repeats: ['whole'],
  },
}

/** Reads a body by the shape of its protocol. The status says nothing. */
export function readInference(protocol: Protocol, response: HttpResponse): Inference {
  const whole = asObject(jsonIn(response.body))
  if (whole !== undefined)
    return isWhole[protocol](whole) ? { kind: 'answered', flaws: ['whole'] } : { kind: 'foreign' }

  const stream = readStream(response.body)
  const error = errorIn[protocol](stream.events)
  // Some clients ignore an error event after text. No client ignores a failed response.
  const isFailed =
    !hasText[protocol](stream.events) || stream.events.some(isEvent('response.failed'))
  if (error !== undefined && isFailed) return { kind: 'failed', error }
  if (!stream.events.some(isOfProtocol[protocol])) return { kind: 'foreign' }

  const flaws = flawsOf(protocol, response, stream)
  return error === undefined
    ? { kind: 'answered', flaws }
    : { kind: 'answered', flaws: ['error-late', ...flaws], error }
}

/**
 * Whether a messages answer contains the result of `safeguards`, where Claude Code 2.1.331 reads it
 * (2026-11-24): in a stream's `message_delta`, or in the message itself. A reply without tool calls has
 * an empty result. Status `unsupported` counts as no result.
 */
export function answersSafeguards(body: string): boolean {
  const whole = asObject(jsonIn(body))
  const holders =
    whole === undefined ? readStream(body).events.map(({ delta }) => asObject(delta)) : [whole]
  const results = holders.flatMap((holder) => asList(holder?.['safeguard_results']).map(asObject))
  const statuses = results
    .filter((result) => result?.['type'] === 'dangerous_tool_use')
    .map((result) => asObject(result?.['status'])?.['type'])
  return statuses.length === 1 && statuses[0] === 'available'
}

/** Whether a stream that ends with this text is complete, so that repoint need not wait until the gateway closes it. */
export function isComplete(protocol: Protocol, lastText: string): boolean {
  const lines = lastText.split(/\r?\n/)
  return lines.some(
    (line, index) =>
      line.startsWith('data:') &&
      lastData[protocol].test(line) &&
      // An event ends with an empty line, and that line with a line break.
      (protocol === 'chat' || (lines[index + 1] === '' && index + 2 < lines.length)),
  )
}

const lastData: Readonly<Record<Protocol, RegExp>> = {
  chat: /^data:\s*\[DONE\]\s*$/,
  responses: /"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/,
  messages: /"type"\s*:\s*"message_stop"/,
}

const isWhole: Readonly<Record<Protocol, (body: Event) => boolean>> = {
  chat: (body) => Array.isArray(body['choices']) && body['choices'].length > 0,
  responses: (body) =>
    body['object'] === 'response' && Array.isArray(body['output']) && body['status'] !== 'failed',
  messages: (body) => body['type'] === 'message' && Array.isArray(body['content']),
}

/** Whether an event belongs to an answer of the protocol. */
const isOfProtocol: Readonly<Record<Protocol, (event: Event) => boolean>> = {
  chat: ({ choices }) => Array.isArray(choices),
  responses: ({ type }) => typeof type === 'string' && type.startsWith('response.'),
  messages: ({ type }) => typeof type === 'string' && type.startsWith('message'),
}

const hasText: Readonly<Record<Protocol, (events: readonly Event[]) => boolean>> = {
  chat: (events) => chatChoices(events).some(({ delta }) => isFilled(asObject(delta)?.['content'])),
  responses: (events) => events.some(isEvent('response.output_text.delta')),
  messages: (events) => events.some(isEvent('content_block_delta')),
}

/** The error inside a stream. */
const errorIn: Readonly<Record<Protocol, (events: readonly Event[]) => unknown>> = {
  chat: (events) => events.find((event) => (event['error'] ?? '') !== ''),
  responses(events) {
    const failure = events.find(({ type }) => type === 'response.failed' || type === 'error')
    return asObject(failure?.['response']) ?? failure
  },
  messages: (events) => events.find(({ type }) => type === 'error'),
}
