/**
 * Sends requests to a gateway. `request` follows redirects, `transmit` tries again if the connection failed
 * (`retryStyle`), and `transmitOn` sends one request on one connection and watches the deadlines. connection.ts opens
 * connections; response.ts collects what arrives.
 */
import { setFlagsFromString } from 'node:v8'
import type { Dispatcher } from 'undici'
import { isUnknownAuthority } from '../judge/tls-failure.ts'
import type { HttpResponse, NetworkFailure } from '../judge/types.ts'
import type { GatewayAccess } from '../types.ts'
import { isPrivatelyTrusted } from './authorities.ts'
import type { Connection, ConnectStyle } from './connection.ts'
import { ResponseBuffer, type ResponseLimits, toNetworkFailure } from './response.ts'

export interface RequestSpec extends ResponseLimits {
  readonly method: 'GET' | 'POST'
  /** An address of the gateway. The key is sent there. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /**
   * How long to wait for the end after enough text, in ms. If it does not come, the response has `isOpen`.
   * Absent: `streamEndMs`, and no `isOpen`.
   */
  readonly endWithinMs?: number
  /** The time limit for the response after the request is sent, in ms. Absent: `access.timeoutMs`. */
  readonly answerWithinMs?: number
}

const maxRedirects = 3

/** How long to wait for the end of a stream after its last event, in ms, to keep the connection. */
const streamEndMs = 500

/** 250 ms is Node's default for each address. A distant address, or a lost packet, needs longer. */
const defaultStyle: ConnectStyle = {
  addressTimeoutMs: 250,
  offersHttp2: false,
  trust: 'without-system',
}

/**
 * Sends one request with the key, within `access.timeoutMs`. Follows redirects in the same origin. A
 * redirect to another origin is returned as the response, because the key must not be sent there.
 *
 * @throws UserError for an invalid proxy variable or CA file
 */
export async function request(
  access: GatewayAccess,
  spec: RequestSpec,
): Promise<HttpResponse | NetworkFailure> {
  const started = performance.now()
  const deadline = started + access.timeoutMs
  if (spec.method === 'GET' && access.hostState !== undefined)
    access.hostState.firstGetAt ??= started

  let url = new URL(spec.url)
  for (let redirects = 0; ; redirects++) {
    const result = await transmit({ access, spec, url, deadline })
    if (!('status' in result) || redirects === maxRedirects) return result

    const next = redirectTarget(spec.method, result, url)
    if (next === undefined) return result
    url = next
  }
}

/** The target of a redirect that stays in the origin and keeps the method. */
function redirectTarget(
  method: RequestSpec['method'],
  response: HttpResponse,
  from: URL,
): URL | undefined {
  const allowedStatuses = method === 'GET' ? [301, 302, 303, 307, 308] : [307, 308]
  const location = response.headers['location']
  if (!allowedStatuses.includes(response.status) || location === undefined) return undefined
  if (!URL.canParse(location, from.href)) return undefined
  const to = new URL(location, from)
  return to.origin === from.origin && to.username === '' ? to : undefined
}

interface Transmission {
  readonly access: GatewayAccess
  readonly spec: RequestSpec
  readonly url: URL
  /** By `performance.now()`. Redirects do not extend it. */
  readonly deadline: number
}

/** Loads undici, which is large and not needed before the first request. */
function loadConnections(): Promise<typeof import('./connection.ts')> {
  // Node 20 optimizes undici's parser after a few kilobytes, and cannot end before it has: up to 290 ms
  // (20.20, 2026-11-27; Node 22 to 26 do so later). Without it, requests take no longer.
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--liftoff-only')
  return import('./connection.ts')
}

/** If an earlier connection to the gateway needed the client's authorities, the next ones trust them at once. */
function styleFor(access: GatewayAccess): ConnectStyle {
  return isPrivatelyTrusted(access) ? { ...defaultStyle, trust: 'with-system' } : defaultStyle
}

/** Sends a request. If the connection failed, and not the gateway, it retries in a different style. */
async function transmit(transmission: Transmission): Promise<HttpResponse | NetworkFailure> {
  const { newConnection, takeIdle } = await loadConnections()
  const { access } = transmission

  let connection = takeIdle(access) ?? newConnection(access, styleFor(access))
  for (;;) {
    const result = await transmitOn(connection, transmission)
    if ('status' in result) {
      if (!wasClosedWhileIdle(connection, result)) return result
      connection = newConnection(access, connection.style)
    } else {
      const nextStyle = retryStyle(connection, result)
      if (nextStyle === undefined) return result.failure
      connection = newConnection(access, nextStyle)
    }
  }
}

/** Sends a request on a connection. Exactly one event ends it: a response, or a failure. */
function transmitOn(
  connection: Connection,
  transmission: Transmission,
): Promise<HttpResponse | FailedRequest> {
  const { access, spec, url, deadline } = transmission
  const started = deadline - access.timeoutMs

  return new Promise((resolve, reject) => {
    const received = new ResponseBuffer(spec)
    let isSettled = false
    /** Whether the text so far is enough, and only its end is awaited. */
    let isEnough = false

    const timers: NodeJS.Timeout[] = []
    const after = (ms: number, action: () => void): void => {
      timers.push(setTimeout(action, Math.max(1, ms)))
    }

    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      for (const timer of timers) clearTimeout(timer)
      access.signal?.removeEventListener('abort', onCancel)
      return true
    }
    const fail = (reason: NetworkFailure['reason'], error: Error): void => {
      if (!settle()) return
      connection.close()
      const waitedMs = Math.round(performance.now() - started)
      resolve({ failure: toNetworkFailure({ connection, url, reason, error, waitedMs }), error })
    }
    const finish = (end: 'whole' | 'enough' | 'open' | 'limit' | 'connection'): void => {
      if (!settle()) return
      if (end === 'whole') connection.keep()
      else connection.close()
      const cut = end === 'limit' || end === 'connection' ? end : undefined
      received.toResponse({ url, connection, cut, isOpen: end === 'open' }).then(resolve, reject)
    }
    const onDeadline = (): void => fail('deadline', new Error('The time limit is over'))
    const onCancel = (): void => fail('cancelled', new Error('Cancelled'))

    connection.onBroken = (error) => fail('error', error)
    after(deadline - performance.now(), onDeadline)
    const silent = silentAt(access, started)
    if (silent !== undefined) {
      after(silent - performance.now(), () => {
        if (access.hostState?.hasAnswered !== true) onDeadline()
      })
    }

    if (access.signal?.aborted === true) return onCancel()
    access.signal?.addEventListener('abort', onCancel, { once: true })

    // Not undici's `request`, because only a handler learns when the request starts.
    connection.dispatcher.dispatch(dispatchOptions(spec, url), {
      onRequestStart() {
        connection.stage = 'first-byte'
        if (spec.answerWithinMs !== undefined) after(spec.answerWithinMs, onDeadline)
      },
      onResponseStart(_controller, status, headers) {
        // Interim responses (1xx) precede the real one.
        if (status < 200) return
        connection.stage = 'body'
        if (access.hostState !== undefined) access.hostState.hasAnswered = true
        received.start(status, headers)
      },
      onResponseData(_controller, chunk) {
        if (isSettled) return
        const state = received.add(chunk)
        if (state === 'limit') finish('limit')
        if (state !== 'enough' || isEnough) return

        isEnough = true
        if (spec.endWithinMs === undefined) after(streamEndMs, () => finish('enough'))
        else after(spec.endWithinMs, () => finish('open'))
      },
      onResponseEnd() {
        finish('whole')
      },
      onResponseError(_controller, error) {
        if (isEnough) finish('enough')
        else if (received.status !== 0) finish('connection')
        else fail('error', error)
      },
    })
  })
}

/** The share of the time limit after which a host that has answered nothing counts as silent. */
const silentShare = 0.4

/** The least share of the time limit for a request to a model, which may take longer than a catalog. */
const minShare = 1 / 3

/**
 * When a request to a host that has answered nothing fails. Undefined: the host has answered, or no
 * GET request was sent, so a model that loads may keep it busy.
 */
function silentAt({ hostState, timeoutMs }: GatewayAccess, started: number): number | undefined {
  if (hostState?.firstGetAt === undefined || hostState.hasAnswered) return undefined
  return Math.max(hostState.firstGetAt + silentShare * timeoutMs, started + minShare * timeoutMs)
}

function dispatchOptions(spec: RequestSpec, url: URL): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    method: spec.method,
    path: url.pathname + url.search,
    headers: spec.headers,
    body: spec.body ?? null,
  }
}

/**
 * Opens `count` connections for requests that will be sent in parallel. A connection carries one
 * request at a time, and opening it takes two or three round trips. Never throws: the first request
 * reports the problem.
 */
export async function preopenConnections(access: GatewayAccess, count: number): Promise<void> {
  const { newConnection } = await loadConnections()
  try {
    for (let opened = 0; opened < count; opened++) newConnection(access, styleFor(access)).openNow()
  } catch {
    // An invalid proxy variable or CA file.
  }
}

export async function closeIdleConnections(access: GatewayAccess): Promise<void> {
  const { takeIdle } = await loadConnections()
  for (let connection = takeIdle(access); connection !== undefined; connection = takeIdle(access))
    connection.close()
}

/** A request without a response, and the error. */
interface FailedRequest {
  readonly failure: NetworkFailure
  readonly error: Error
}

/**
 * Whether the server closed an idle connection because it received no request in time. It sent the 408
 * before it saw the request, which may be sent again on a new connection (RFC 9110, 15.5.9).
 */
function wasClosedWhileIdle({ wasIdle }: Connection, { status, headers }: HttpResponse): boolean {
  return wasIdle && status === 408 && headers['connection']?.toLowerCase() === 'close'
}

/** How to open the next connection after a failure. Undefined: the failure counts. */
function retryStyle(
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
