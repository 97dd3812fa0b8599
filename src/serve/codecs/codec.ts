import type { ModelEvent, ModelRequest } from '../events.ts'

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
  /** What stands before and after the text, as JSON, in the frame of a text delta. */
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

/** A whole stream in one text: the same as all `frames`, for less work. */
export function encodeAll(encoder: StreamEncoder, events: readonly ModelEvent[]): string {
  let text = encoder.open()
  let at = 0
  while (at < events.length) {
    const around = events[at]!.type === 'text-delta' ? encoder.aroundText?.() : undefined
    if (around === undefined) {
      text += encoder.frames(events[at++]!)
      continue
    }
    const run: string[] = []
    for (; at < events.length; at++) {
      const event = events[at]!
      if (event.type !== 'text-delta') break
      run.push(event.text)
    }
    let rest = ''
    while (at < events.length && events[at]!.type !== 'text-delta')
      rest += encoder.frames(events[at++]!)
    text = repeatFrame(text, around, run, rest)
  }
  return text
}

/** `start`, a frame for each text, `end`: written by one `join`, so that nothing is copied twice. Uses up `texts`. */
function repeatFrame(
  start: string,
  [before, after]: readonly [string, string],
  texts: string[],
  end: string,
): string {
  // Plain text is its own JSON but for the quotes. One look at all is cheaper than one at each.
  const all = texts.join('')
  const isPlain = JSON.stringify(all).length === all.length + 2
  const parts = isPlain ? texts : texts.map((text) => JSON.stringify(text).slice(1, -1))
  parts[0] = `${start}${before}"${parts[0]}`
  parts[parts.length - 1] += `"${after}${end}`
  // Joined too: V8 keeps a template as a tree, and would walk through it again for each text.
  return parts.join(['"', after, before, '"'].join(''))
}
