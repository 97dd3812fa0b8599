import type { Protocol } from '../../protocols.ts'
import type { JsonObject } from '../requests/read.ts'
import type { ModelRequest, RequestContext } from '../requests/request.ts'
import type { WholeAnswer } from './answer.ts'
import type { GatewayFailure } from './failure.ts'

/** What an answer carries beside what the model says. */
export interface AnswerFacts {
  /** Unique within the process; each protocol puts its own prefix before it. */
  readonly id: string
  /** The model that serves, in full. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
}

/**
 * One protocol, as values: a body becomes a request, an answer frames or a document. A codec holds no
 * socket and writes nothing.
 */
export interface Codec {
  readonly protocol: Protocol
  /** @throws InvalidRequest, Refusal */
  readRequest(body: JsonObject, context?: RequestContext): ModelRequest
  encodeStream(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): AnswerStream
  /** The document of a whole answer. */
  document(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object
}

export interface AnswerStream {
  /** One server-sent event each. */
  readonly frames: Iterable<string>
  /** What a failure after the frames that were taken looks like. The stream ends after it. */
  fail(failure: Pick<GatewayFailure, 'message' | 'type' | 'code' | 'param'>): string
}

/** Text of one server-sent event; without a name, as the chat protocol sends it, if `event` is absent. */
export function sseFrame(data: object, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  // JSON holds no line break.
  return `${name}data: ${JSON.stringify(data)}\n\n`
}

export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const
