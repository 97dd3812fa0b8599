import { asObject, jsonIn } from '../foreign-text.ts'
import type { Protocol } from '../types.ts'

/**
 * What the body of a 200 proves about an inference.
 *
 * `served`: the model answered in the protocol's format. `unstreamed`: it did, but in one piece although
 * the request asked for a stream. `failed`: an error inside a stream. `unfinished`: a stream of this
 * protocol that stops before its end. `foreign`: something else.
 */
export type BodyProof =
  | { readonly kind: 'served' | 'unstreamed' | 'unfinished' | 'foreign' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Judges a body by the shape of its protocol. The status proves nothing. */
export function proofIn(protocol: Protocol, body: string): BodyProof {
  const whole = asObject(jsonIn(body))
  if (whole !== undefined) {
    if (protocol === 'responses' && isFiltered(whole))
      return { kind: 'failed', error: contentFilter }
    return { kind: isWhole[protocol](whole) ? 'unstreamed' : 'foreign' }
  }
  return proofInEvents[protocol](dataOf(body))
}

/**
 * Whether a messages answer contains the result of `safeguards`, where Claude Code 2.1.331 reads it
 * (2026-11-24): in a stream's `message_delta`, or in the message itself. A reply without tool calls has
 * an empty result. Status `unsupported` counts as no result.
 */
export function answersSafeguards(body: string): boolean {
  const whole = asObject(jsonIn(body))
  const holders = whole === undefined ? dataOf(body).map(({ delta }) => asObject(delta)) : [whole]
  const results = holders.flatMap((holder) => {
    const list = holder?.['safeguard_results']
    return Array.isArray(list) ? list.map(asObject) : []
  })
  const statuses = results
    .filter((result) => result?.['type'] === 'dangerous_tool_use')
    .map((result) => asObject(result?.['status'])?.['type'])
  return statuses.length === 1 && statuses[0] === 'available'
}

/** Whether a stream is complete, so that repoint need not wait until the gateway closes it. */
export function isComplete(protocol: Protocol, body: string): boolean {
  const lines = body.slice(-maxLastEvent).split(/\r?\n/)
  return lines.some(
    (line, index) =>
      line.startsWith('data:') &&
      lastWord[protocol].test(line) &&
      // An event ends with an empty line, and that line with a line break.
      (protocol === 'chat' || (lines[index + 1] === '' && index + 2 < lines.length)),
  )
}

/** The longest last event, in characters: the responses protocol repeats the whole answer in it. */
const maxLastEvent = 200_000

const lastWord: Readonly<Record<Protocol, RegExp>> = {
  chat: /^data:\s*\[DONE\]\s*$/,
  responses: /"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/,
  messages: /"type"\s*:\s*"message_stop"/,
}

type Event = Readonly<Record<string, unknown>>

const isWhole: Readonly<Record<Protocol, (body: Event) => boolean>> = {
  chat: (body) => Array.isArray(body['choices']) && body['choices'].length > 0,
  responses: (body) =>
    body['object'] === 'response' && Array.isArray(body['output']) && body['status'] !== 'failed',
  messages: (body) => body['type'] === 'message' && Array.isArray(body['content']),
}

const proofInEvents: Readonly<Record<Protocol, (events: readonly Event[]) => BodyProof>> = {
  chat(events) {
    const failure = events.find((event) => (event['error'] ?? '') !== '')
    if (failure !== undefined) return { kind: 'failed', error: failure }
    const chunks = events.filter((event) => Array.isArray(event['choices']))
    if (chunks.length === 0) return { kind: 'foreign' }
    const isFinished = chunks.some((chunk) =>
      (chunk['choices'] as unknown[]).some((choice) => asObject(choice)?.['finish_reason'] != null),
    )
    return { kind: isFinished ? 'served' : 'unfinished' }
  },

  responses(events) {
    const failure = events.find(({ type }) => type === 'response.failed' || type === 'error')
    if (failure !== undefined) {
      return { kind: 'failed', error: asObject(failure['response']) ?? failure }
    }
    const filtered = events.find(
      ({ type, response }) =>
        type === 'response.incomplete' && isFiltered(asObject(response) ?? {}),
    )
    if (filtered !== undefined) return { kind: 'failed', error: contentFilter }
    // Our small token limit may end the answer early. That proves as much.
    const isServed = events.some(
      ({ type }) => type === 'response.completed' || type === 'response.incomplete',
    )
    if (isServed) return { kind: 'served' }
    return { kind: hasType(events, 'response.') ? 'unfinished' : 'foreign' }
  },

  messages(events) {
    const failure = events.find(({ type }) => type === 'error')
    if (failure !== undefined) return { kind: 'failed', error: failure }
    const has = (wanted: string) => events.some(({ type }) => type === wanted)
    if (has('message_start') && has('message_stop')) return { kind: 'served' }
    return { kind: hasType(events, 'message') ? 'unfinished' : 'foreign' }
  },
}

/** Whether the gateway stopped the answer because of its content. Then it served nothing. */
function isFiltered(response: Event): boolean {
  return asObject(response['incomplete_details'])?.['reason'] === 'content_filter'
}

const contentFilter = {
  code: 'content_filter',
  message: 'the content filter ended the answer',
}

/** The JSON objects on the `data:` lines of a stream. */
function dataOf(body: string): readonly Event[] {
  return body.split(/\r?\n/).flatMap((line) => {
    const event = line.startsWith('data:') ? asObject(jsonIn(line.slice(5))) : undefined
    return event === undefined ? [] : [event]
  })
}

function hasType(events: readonly Event[], start: string): boolean {
  return events.some(({ type }) => typeof type === 'string' && type.startsWith(start))
}
