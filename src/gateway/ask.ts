import { UserError } from '../errors.ts'
import { type RequestSpec, request } from './http/request.ts'
import {
  type Answer,
  NetworkError,
  type NetworkFailure,
  type Outcome,
  type Question,
} from './judge/answer.ts'
import { diagnose } from './judge/http-answer.ts'
import type { GatewayAccess } from './types.ts'

/** What was asked; the rest of a question is about the gateway. */
type OwnQuestion = Pick<Question, 'asked' | 'model' | 'catalog' | 'isBaseProven'>

/** An answer, judged. @throws UserError from the closed set, where it is not what was asked for */
export function judged(
  access: GatewayAccess,
  result: Answer | NetworkFailure,
  question: OwnQuestion,
): Answer {
  const outcome = diagnose(result, questionFor(access, question))
  if (outcome !== undefined) throw errorFor(outcome)
  return result as Answer
}

/** One request with the key, without a judgement. */
export async function tryAsk(
  access: GatewayAccess,
  spec: RequestSpec,
): Promise<Answer | NetworkFailure> {
  const headers = {
    ...Object.fromEntries((access.headers ?? []).map(({ name, value }) => [name, value])),
    ...keyIn(access),
    // Error texts follow it in many gateways; ours are English too.
    'accept-language': 'en',
    'user-agent': 'repoint',
    ...spec.headers,
  }

  try {
    return await request(access, { ...spec, headers })
  } catch (error) {
    if (error instanceof NetworkError) return error.failure
    throw error
  }
}

function keyIn({ key, keyHeader }: GatewayAccess): Readonly<Record<string, string>> {
  return keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
}

export function questionFor(access: GatewayAccess, question: OwnQuestion): Question {
  return {
    ...question,
    baseUrl: access.baseUrl,
    secrets: secretsOf(access),
    isCheckRefused: access.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
  }
}

/** What must not come back in a message. */
export function secretsOf({ key, headers = [] }: GatewayAccess): readonly string[] {
  return [key, ...headers.flatMap(({ value, isSecret }) => (isSecret ? [value] : []))]
}

/** The key is refused as it was sent; in another header it may be taken. */
export class KeyUnread extends UserError {}

export function errorFor(outcome: Outcome): UserError {
  const { code, message, hint, requestId, isKeyUnread } = outcome
  const id = requestId === undefined ? '' : ` (request id: ${requestId})`
  return new (isKeyUnread ? KeyUnread : UserError)({ code, message: message + id, hint })
}
