import type { Protocol } from '../../protocols.ts'
import type { RequestRejection } from '../requests/rejection.ts'

/**
 * A failure as the imitated gateway returns it. The shapes come from the source of New API (2026-11-21):
 *
 * - `route`: no such route, or an unknown model at GET /v1/models/{id}
 * - `gate`: failures before a model is chosen; the same shape on every route
 * - `relay`: failures after that; on the messages route in the shape of that protocol
 * - `vendor`: an error of the vendor, without text of the imitated gateway
 */
export interface Failure {
  readonly kind: 'failure'
  readonly status: number
  readonly shape: 'route' | 'gate' | 'relay' | 'vendor'
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly param?: string
  /** The value of the header Retry-After, in whole seconds. */
  readonly retryAfter?: number
  /** What the log adds to the message. */
  readonly hint?: string
}

const failureWithShape =
  (shape: Failure['shape'], type = 'new_api_error') =>
  (status: number, code: string | null, message: string, param?: string | null): Failure => {
    return { kind: 'failure', status, shape, message, type, code, ...(param ? { param } : {}) }
  }

const gateFailure = failureWithShape('gate')
const relayFailure = failureWithShape('relay')
const routeFailure = failureWithShape('route')
/** An error of the client. */
const invalidRoute = failureWithShape('route', 'invalid_request_error')
/** An error of the vendor that the imitated gateway forwards. */
const forwardedFailure = failureWithShape('relay', 'invalid_request_error')

export const failures = {
  wrongRoute: (method: string, path: string) =>
    invalidRoute(404, '', `Invalid URL (${method} ${path})`),
  notImplemented: () => routeFailure(501, 'api_not_implemented', 'API not implemented'),
  /** This gateway does not support the route, but the imitated gateway does. */
  unsupportedRoute: (method: string, path: string) =>
    routeFailure(
      501,
      'unsupported_by_local_gateway',
      `The local gateway does not do this: ${method} ${path}. The service may: try it there.`,
    ),
  /** New API sends this error with status 200 (RetrieveModel in controller/model.go). */
  noSuchModel: (id: string) =>
    invalidRoute(200, 'model_not_found', `The model '${id}' does not exist`, 'model'),
  invalidToken: () => gateFailure(401, '', 'Invalid token'),
  rateLimited: () =>
    gateFailure(429, '', 'You have reached the request limit: maximum 60 requests in 1 minutes'),
  notJson: () => gateFailure(400, '', 'Invalid request: invalid JSON request body'),
  modelNotAString: () => gateFailure(400, '', 'Invalid request: field model must be a string'),
  noModelNamed: () => gateFailure(400, '', 'Model name not specified, model name cannot be empty'),
  modelForbidden: (model: string) =>
    gateFailure(403, '', `This token has no access to model ${model}`),
  unknownModel: (model: string) =>
    gateFailure(
      503,
      'model_not_found',
      `No available channel for model ${model} under group default (distributor)`,
    ),
  bodyTooLarge: () => relayFailure(413, 'read_request_body_failed', 'request body too large'),
  invalidRequest: (message: string) => relayFailure(500, 'invalid_request', message),
  rejected: ({ message, param, code, status, hint }: RequestRejection): Failure => ({
    ...forwardedFailure(status, code, message, param),
    ...(hint === undefined ? {} : { hint }),
  }),
  noSuchResponse: (id: string) =>
    forwardedFailure(404, null, `Response with id '${id}' not found.`),
  noPrice: (model: string) =>
    relayFailure(
      500,
      'model_price_error',
      `Model ${model} ratio or price not set, please contact administrator`,
    ),
  outOfQuota: () => relayFailure(403, 'insufficient_user_quota', 'Insufficient quota'),
  protocolUnsupported: () => relayFailure(500, 'convert_request_failed', 'not implemented'),
  badVendorStatus: (status: number, message = `bad response status code ${status}`) =>
    relayFailure(status, 'bad_response_status_code', message),
  upstreamUnreachable: (message: string) => relayFailure(500, 'do_request_failed', message),
  /** No answer is written for this request. The status is 400, because SDKs would retry a 500. */
  unanswered: (question: string, problem: string) =>
    forwardedFailure(400, 'no_answer', `No answer is written for ${question}.${problem}`),
  /** A function of the test threw an error. The log has its stack. */
  answerThrew: ({ message, stack = '' }: Error): Failure => ({
    ...relayFailure(500, 'answer_failed', `The answer function threw an error: ${message}`),
    hint: stack.slice(stack.indexOf('\n')),
  }),
  /** The answer function returned an invalid answer. The status is 400 too. */
  answerFailed: (problem: string) =>
    forwardedFailure(400, 'answer_failed', `The answer is invalid: ${problem}`),
  /** A bug in repoint. */
  internal: (message: string) =>
    relayFailure(500, 'internal', `This is a fault in repoint: ${message}`),
  /** The vendor's error for an image or a realtime model. */
  notAChatModel: () =>
    forwardedFailure(
      404,
      null,
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
      'model',
    ),
} as const

export function failureText(
  failure: Failure,
  requestId: string,
  protocol: Protocol | undefined,
): string {
  const { type, code, shape } = failure
  if (shape === 'vendor' && protocol === 'messages') {
    const error = { type, message: failure.message }
    return goJson({ type: 'error', error, request_id: `req_${requestId}` })
  }
  if (shape === 'vendor')
    return goJson({ error: { message: failure.message, type, param: failure.param ?? null, code } })

  const message =
    shape === 'route' ? failure.message : `${failure.message} (request id: ${requestId})`
  if (shape === 'gate') return goJson({ error: { code, message, type } })

  // The vendor's SDK uses this code to recover from a lost thread.
  const details = code?.startsWith('thread_') ? { details: { error_code: code } } : {}
  if (protocol === 'messages')
    return goJson({ error: { ...details, type, message }, type: 'error' })

  return goJson({ error: { message, type, param: failure.param ?? '', code } })
}

/** Encodes JSON like Go's encoder, which escapes the special characters of HTML. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
