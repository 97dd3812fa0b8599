import type { Protocol } from '../../protocols.ts'
import type { JsonObject } from '../requests/read.ts'
import type { ModelRequest, RequestContext } from '../requests/request.ts'
import type { WholeAnswer } from './answer.ts'
import type { GatewayFailure } from './failure.ts'

/** The facts of an answer in addition to the model's output. */
export interface AnswerFacts {
  /** Unique within the process. Each protocol adds its own prefix. */
  readonly id: string
  /** The full name of the model that answers. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
}

/** Converts between one protocol and the shared types. A codec is pure: it writes nothing. */
export interface Codec {
  readonly protocol: Protocol
  /** @throws InvalidRequest, Refusal */
  readRequest(body: JsonObject, context?: RequestContext): ModelRequest
  encodeStream(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): AnswerStream
  /** The document of a whole answer, for a request without streaming. */
  document(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object
}

export interface AnswerStream {
  /** Each frame is a server-sent event. */
  readonly frames: Iterable<string>
  /** The frame for a failure after the frames that were read so far. It ends the stream. */
  fail(failure: Pick<GatewayFailure, 'message' | 'type' | 'code' | 'param'>): string
}

/** Formats a server-sent event. Without `event`, it has no name, as in the chat protocol. */
export function sseFrame(data: object, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  // JSON contains no line break.
  return `${name}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Creates frames that differ only in some values: the rest of them is serialized once. Serializing each
 * of 50 frames takes longer than everything else that a streamed answer needs.
 *
 * @param frame a frame with a different text in place of each value, in the order of the values
 */
export function frameTemplate(
  frame: string,
  placeholders: readonly string[],
): (...values: readonly unknown[]) => string {
  const parts: string[] = []
  let rest = frame
  for (const placeholder of placeholders) {
    const marker = JSON.stringify(placeholder)
    const at = rest.indexOf(marker)
    parts.push(rest.slice(0, at))
    rest = rest.slice(at + marker.length)
  }
  return (...values) => {
    let text = ''
    for (let index = 0; index < parts.length; index++)
      text += parts[index] + JSON.stringify(values[index])
    return text + rest
  }
}

export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const
