import { UserError } from '../errors.ts'
import { asSentence } from '../text.ts'
import { type RequestSpec, request } from './http/request.ts'
import { withQuery } from './input/query.ts'
import { diagnose } from './judge/diagnose.ts'
import { diagnoseFailure } from './judge/network-failure.ts'
import type { HttpResponse, NetworkFailure, Outcome, SentRequest } from './judge/types.ts'
import type { GatewayAccess } from './types.ts'

/**
 * Sends one request with the key, and does not judge the answer.
 *
 * @param keyHeader the header with the key; absent: that of `access`
 */
export function sendWithKey(
  access: GatewayAccess,
  spec: RequestSpec,
  keyHeader = access.keyHeader,
): Promise<HttpResponse | NetworkFailure> {
  const headers = {
    ...Object.fromEntries((access.headers ?? []).map(({ name, value }) => [name, value])),
    ...keyIn({ ...access, keyHeader }),
    // Many gateways choose the language of their error texts by this header. repoint's texts are English.
    'accept-language': 'en',
    'user-agent': 'repoint',
    ...spec.headers,
  }

  return request(access, { ...spec, url: withQuery(spec.url, access.query), headers })
}

function keyIn({ key, keyHeader }: GatewayAccess): Readonly<Record<string, string>> {
  return keyHeader === 'authorization' ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
}

/** What came of a request. */
export type Judged =
  /** The response is what was requested. */
  | { readonly kind: 'served'; readonly response: HttpResponse }
  | Rejection
  /** There is no response. */
  | { readonly kind: 'failed'; readonly failure: NetworkFailure; readonly outcome: Outcome }

/** A response that is not what was requested. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly response: HttpResponse
  readonly outcome: Outcome
}

/** Judges the result of a request. */
export function judge(
  access: GatewayAccess,
  result: HttpResponse | NetworkFailure,
  sent: Pick<SentRequest, 'route' | 'model' | 'sender' | 'catalog' | 'apiAnswered'>,
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
    return { kind: 'failed', failure: result, outcome: diagnoseFailure(result, sentRequest) }

  const outcome = diagnose(result, sentRequest)
  return outcome === undefined
    ? { kind: 'served', response: result }
    : { kind: 'rejected', response: result, outcome }
}

/** The values that must not appear in a message. */
export function secretsOf({ key, headers = [] }: GatewayAccess): readonly string[] {
  return [key, ...headers.flatMap(({ value, isSecret }) => (isSecret ? [value] : []))]
}

/** The same error with an addition to its hint. */
export function withHint(
  error: UserError,
  more: string,
  { advisesAddress = error.advisesAddress } = {},
): UserError {
  if (more === '') return error
  const before = error.hint === undefined ? '' : `${asSentence(error.hint)} `
  return error.with({ hint: before + more, advisesAddress })
}

/** The gateway rejected the key in this header. In another header it may accept it. */
export class KeyHeaderError extends UserError {}

export function errorFor(outcome: Outcome): UserError {
  const { code, message, hint, advisesAddress, requestId, tryOtherKeyHeader } = outcome
  const id = requestId === undefined ? '' : ` (request id: ${requestId})`
  const options = { code, message: message + id, hint, advisesAddress }
  return tryOtherKeyHeader ? new KeyHeaderError(options) : new UserError(options)
}
