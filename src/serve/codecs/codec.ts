/**
 * A codec translates between one protocol and the shared types. It reads the body of a request as a
 * `ModelRequest`, and it turns a `WholeAnswer` into one JSON document, or into the frames of a stream. A
 * codec writes nothing.
 *
 * The comments of chat.ts, messages.ts and responses.ts show the stream of the same answer. It has three
 * blocks and the reason `tool-calls`:
 *
 *     thinking   I look.
 *     text       One moment.
 *     call       read {"path":"a"}
 */
import type { Protocol } from '../../protocols.ts'
import type { JsonObject } from '../requests/json.ts'
import type { ModelRequest, RequestContext } from '../requests/model-request.ts'
import type { WholeAnswer } from './answer.ts'
import type { Failure } from './failure.ts'

/**
 * The methods for an answer receive the raw `body` of the request too: an answer repeats some of its
 * members (`instructions`), and some change its form (`stream_options`, `functions`).
 */
export interface Codec {
  readonly protocol: Protocol
  /** @throws InvalidRequest, RequestRejection */
  readRequest(body: JsonObject, context?: RequestContext): ModelRequest
  /** The document of a whole answer, for a request without streaming. */
  document(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object
  /** The frames of the stream of a whole answer. The texts in it grow by one token at a time. */
  streamFrames(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): readonly string[]
  /** The frame for a failure that ends a stream. `sentFrames` counts the frames before it. */
  failureFrame(failure: StreamFailure, sentFrames: number): string
}

/** The facts of an answer in addition to the model's output. */
export interface AnswerFacts {
  /** Unique within the process. Each protocol adds its own prefix. */
  readonly id: string
  /** The full name of the model that answers. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** For messages: the request has `?beta=true`, and the answer has the members of betas. */
  readonly isBeta?: boolean
}

type StreamFailure = Pick<Failure, 'message' | 'type' | 'code' | 'param'>
