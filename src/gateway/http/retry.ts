/**
 * Whether a request is sent again on a new connection: if the connection failed, and not the gateway. The new
 * connection may be opened in another style.
 */
import { isUnknownAuthority } from '../judge/tls-failure.ts'
import type { HttpResponse, NetworkFailure } from '../judge/types.ts'
import type { Connection, ConnectStyle } from './connection.ts'

/** A request without a response, and the error. */
export interface FailedRequest {
  readonly failure: NetworkFailure
  readonly error: Error
}

/**
 * Whether the server closed an idle connection because it received no request in time. It sent the 408
 * before it saw the request, which may be sent again on a new connection (RFC 9110, 15.5.9).
 */
export function wasClosedWhileIdle(
  { wasIdle }: Connection,
  { status, headers }: HttpResponse,
): boolean {
  return wasIdle && status === 408 && headers['connection']?.toLowerCase() === 'close'
}

/** How to open the next connection after a failure. Undefined: the failure counts. */
export function retryStyle(
  { wasIdle, style }: Connection,
  { failure, error }: FailedRequest,
): ConnectStyle | undefined {
  if (failure.reason !== 'error') return undefined
  // The server closed the idle connection.
  if (wasIdle && failure.stage === 'first-byte') return style
  if (!style.offersHttp2 && wantsHttp2(failure)) return { ...style, offersHttp2: true }
  // The client may trust more than the public authorities.
  if (style.trust === 'without-system' && isUnknownAuthority(failure))
    return { ...style, trust: 'with-system' }
  // Every address timed out, except the last one, which this machine cannot reach.
  const isTooShort =
    error instanceof AggregateError && error.errors.some(({ code }) => code === 'ETIMEDOUT')
  return isTooShort ? { ...style, addressTimeoutMs: style.addressTimeoutMs * 4 } : undefined
}

/** Whether the server requires HTTP/2: it aborts the handshake, or answers with an HTTP/2 frame. */
function wantsHttp2({ url, errorCode, detail, firstBytes = '' }: NetworkFailure): boolean {
  return (
    url.startsWith('https:') &&
    (/NO_APPLICATION_PROTOCOL/.test(errorCode) ||
      /no application protocol/.test(detail) ||
      // An HTTP/2 server sends a frame of type 4 on stream 0 first (RFC 9113, 3.4).
      (firstBytes.startsWith('\0\0') && firstBytes[3] === '\x04'))
  )
}
