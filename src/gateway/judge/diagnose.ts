import type { ErrorCode } from '../../errors.ts'
import type { Catalog, ProtocolName } from '../types.ts'
import type { Answer, NetworkFailure } from './answer.ts'
import { diagnoseAnswer } from './http-answer.ts'
import { diagnoseFailure } from './network-failure.ts'

/** What was asked, as far as an answer must be judged by it. */
export interface Question {
  readonly asked: ProtocolName | 'catalog'
  /** The root. */
  readonly baseUrl: string
  /** The model that was asked for. */
  readonly model?: string
  /** To name the nearest models. */
  readonly catalog?: Catalog
  /** The catalog came from this root with this key, so neither address nor key can be at fault. */
  readonly isBaseProven?: boolean
  /** Never repeated from an answer. */
  readonly secrets: readonly string[]
}

/** One of the closed set of failures. */
export interface Outcome {
  readonly code: ErrorCode
  /** What and where, without a final full stop. */
  readonly message: string
  /** The next thing to do. */
  readonly hint: string
  /** The gateway's own id of the request, for its operator. */
  readonly requestId?: string
}

/**
 * What is wrong, from what came back: exactly one outcome, or undefined where the answer is what
 * was asked for. Status and codes decide; words only where a status leaves two causes open, and
 * then by parts that no language changes (the model's id, a route).
 */
export function diagnose(result: Answer | NetworkFailure, question: Question): Outcome | undefined {
  return 'status' in result ? diagnoseAnswer(result, question) : diagnoseFailure(result, question)
}
