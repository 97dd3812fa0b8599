import type { ModelEvent, ModelRequest } from './events.ts'
import type { StreamPart } from './stream-parts.ts'
import { tokensOf } from './tokens.ts'

export type ProtocolName = 'chat' | 'responses' | 'messages'

/** A parsed JSON object whose members nobody has looked at yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** What an answer carries beside the model's events. */
export interface AnswerFacts {
  /** Unique within the process; each protocol puts its own prefix before it. */
  readonly id: string
  /** The model that serves, in full. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly inputTokens: number
}

/**
 * One protocol, as values: a body becomes a request, events become frames or one JSON document.
 * A codec holds no socket and writes nothing.
 */
export interface Codec {
  readonly protocol: ProtocolName
  /** @throws InvalidRequest with the service's own words */
  readRequest(body: JsonObject): ModelRequest
  /** Frames for a stream. One encoder serves one answer. */
  encodeStream(body: JsonObject, facts: AnswerFacts): StreamEncoder
  /** The JSON text of a whole answer. */
  fold(body: JsonObject, facts: AnswerFacts, events: readonly ModelEvent[]): string
}

export interface StreamEncoder {
  /** What stands before the model's first event. */
  open(): string
  frames(event: ModelEvent): string
  /** What stands before and after the text, within its quotes, in the frame of a text delta. */
  aroundText?(): readonly [before: string, after: string]
  /** What a failure in the middle of a stream looks like. The stream ends after it. */
  fail(failure: StreamFailure): string
}

export interface StreamFailure {
  readonly message: string
  readonly code: string
}

/** A body that is JSON but not a request. The message goes to the client as it stands. */
export class InvalidRequest extends Error {}

/** A whole stream: the same as all `frames` of the events, for less work. */
export function encodeAll(
  encoder: StreamEncoder,
  events: readonly ModelEvent[],
): readonly StreamPart[] {
  const parts: StreamPart[] = []
  let text = encoder.open()
  for (const event of events) {
    const around = event.type === 'text-delta' ? encoder.aroundText?.() : undefined
    if (event.type !== 'text-delta') text += encoder.frames(event)
    else if (around === undefined)
      for (const delta of deltasOf(event.text)) text += encoder.frames(delta)
    else {
      const [before, after] = around
      parts.push(text, { before, text: event.text, after })
      text = ''
    }
  }
  if (text !== '') parts.push(text)
  return parts
}

/** The events of a stream that is written frame by frame. */
export function inTokens(events: readonly ModelEvent[]): readonly ModelEvent[] {
  return events.flatMap((event) => (event.type === 'text-delta' ? deltasOf(event.text) : event))
}

function deltasOf(text: string): readonly ModelEvent[] {
  return tokensOf(text).map((token) => ({ type: 'text-delta', text: token }))
}
