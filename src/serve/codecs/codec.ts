/**
 * A codec translates between one protocol and the shared types. It reads the body of a request as a
 * `ModelRequest`, and it turns a `WholeAnswer` into one JSON document, or into the frames of a stream.
 *
 * For a stream, `streamParts` splits the answer into the same few parts for every protocol, and the
 * codec's encoder returns the frames for each part, formatted by `sse.ts`. A codec writes nothing.
 */
import type { Protocol } from '../../protocols.ts'
import type { JsonObject } from '../requests/json.ts'
import type { ModelRequest, RequestContext } from '../requests/model-request.ts'
import type { WholeAnswer } from './answer.ts'
import type { Failure } from './failure.ts'
import { type StreamPart, streamParts } from './stream-parts.ts'

export interface Codec {
  readonly protocol: Protocol
  /** @throws InvalidRequest, Rejection */
  readRequest(body: JsonObject, context?: RequestContext): ModelRequest
  /** Creates the encoder for the stream of one answer. */
  createEncoder(body: JsonObject, facts: AnswerFacts): StreamEncoder
  /** The document of a whole answer, for a request without streaming. */
  document(body: JsonObject, facts: AnswerFacts, answer: WholeAnswer): object
}

/** The facts of an answer in addition to the model's output. */
export interface AnswerFacts {
  /** Unique within the process. Each protocol adds its own prefix. */
  readonly id: string
  /** The full name of the model that answers. */
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
}

/** Encodes the parts of one answer in their order. */
export interface StreamEncoder {
  /**
   * The frames for a part. The responses codec numbers a frame when the caller takes it, so the caller
   * must take each frame once, in order.
   */
  encode(part: StreamPart): Iterable<string>
  /** The frame for a failure after the frames so far. It ends the stream. */
  encodeFailure(failure: StreamFailure): string
}

export type StreamFailure = Pick<Failure, 'message' | 'type' | 'code' | 'param'>

/** The frames of a whole answer. Each is encoded when the caller takes it. */
export function* encodeFrames(encoder: StreamEncoder, answer: WholeAnswer): Generator<string> {
  for (const part of streamParts(answer)) yield* encoder.encode(part)
}
