/** Judges what came of a request, and makes an error of an outcome. */
import { UserError } from '../../errors.ts'
import { asSentence } from '../../text.ts'
import type { GatewayAccess } from '../types.ts'
import { diagnose } from './diagnose.ts'
import { diagnoseFailure } from './network-failure.ts'
import type { HttpResponse, NetworkFailure, Outcome, SentRequest } from './types.ts'

/** What came of a request. */
export type Judged =
  /** The response is what was requested. */
  | { readonly kind: 'served'; readonly response: HttpResponse }
  | UnusableResponse
  | { readonly kind: 'no-response'; readonly failure: NetworkFailure; readonly outcome: Outcome }

/** Any other response: the API rejects the request, or the response is broken or comes from something else. */
export interface UnusableResponse {
  readonly kind: 'unusable'
  readonly response: HttpResponse
  readonly outcome: Outcome
}

/** What a judgement depends on, in addition to the gateway. */
export type JudgedRequest = Pick<
  SentRequest,
  'route' | 'model' | 'sender' | 'catalog' | 'apiAnswered'
>

export function judge(
  access: GatewayAccess,
  result: HttpResponse | NetworkFailure,
  sent: JudgedRequest,
): Judged {
  const sentRequest: SentRequest = {
    ...sent,
    address: access.address,
    secrets: secretsOf(access),
    authorities: access.authorities,
    hasNodeExtraCa: Boolean(access.env['NODE_EXTRA_CA_CERTS']),
    isCheckRefused: access.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
  }
  if (!('status' in result))
    return { kind: 'no-response', failure: result, outcome: diagnoseFailure(result, sentRequest) }

  const outcome = diagnose(result, sentRequest)
  return outcome === undefined
    ? { kind: 'served', response: result }
    : { kind: 'unusable', response: result, outcome }
}

/** The values that must not appear in a message. */
export function secretsOf({ key, headers = [] }: GatewayAccess): readonly string[] {
  return [key, ...headers.flatMap(({ value, isSecret }) => (isSecret ? [value] : []))]
}

/** The same error with an addition to its hint. */
export function withHint(error: UserError, more: string): UserError {
  if (more === '') return error
  const before = error.hint === undefined ? '' : `${asSentence(error.hint)} `
  return error.with({ hint: before + more })
}

/** The gateway rejected the key in this header. In another header it may accept it. */
export class KeyHeaderError extends UserError {
  /** The header that the gateway asks for. */
  header?: string
}

/** The gateway rejects a part of the client's request. */
export class CurableError extends UserError {
  /** The flag of a setup that leaves it out. */
  flag = ''
}

export function errorFor(outcome: Outcome): UserError {
  const { code, message, hint, requestId, tryOtherKeyHeader, cure } = outcome
  const id = requestId === undefined ? '' : ` (request id: ${requestId})`
  const options = { code, message: message + id, hint }
  if (cure !== undefined) return Object.assign(new CurableError(options), { flag: cure })
  if (!tryOtherKeyHeader) return new UserError(options)
  return Object.assign(new KeyHeaderError(options), { header: outcome.wantedHeader })
}
