import type { Dispatcher } from 'undici'
import { compact } from '../../compact.ts'
import type { HttpAnswer, NetworkFailure } from '../judge/answer.ts'
import type { GatewayAccess } from '../types.ts'
import { isVouchedPrivately } from './authorities.ts'
import type { Connection, ConnectStyle } from './connection.ts'
import { decodeBody } from './decode.ts'

export interface RequestSpec {
  readonly method: 'GET' | 'POST'
  /** In the origin of `access.baseUrl`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Most of a body that is read, packed or unpacked. */
  readonly maxBytes: number
  /** Whether the text so far is all we need; the rest is not waited for. */
  readonly isEnough?: (text: string) => boolean
  /** Longest wait for the whole answer once the request is on its way, in ms. Absent: that of the gateway. */
  readonly answerWithinMs?: number | undefined
}

const maxRedirects = 3

/** How long a stream may take to end after its last event, in ms; its connection is kept then. */
const closingMs = 500

/** Node's own for each of a name's addresses; far ones, or a lost packet, take longer. */
const firstWay: ConnectStyle = { addressTimeoutMs: 250, offersHttp2: false, believes: 'public' }

/**
 * One request with the key, within `access.timeoutMs`. A redirect inside the same origin is
 * followed; one that leads elsewhere comes back as the answer, since the key must not go there.
 *
 * @throws UserError for a useless proxy variable or CA file
 */
export async function request(
  access: GatewayAccess,
  spec: RequestSpec,
): Promise<HttpAnswer | NetworkFailure> {
  const deadline = performance.now() + access.timeoutMs
  let url = new URL(spec.url)
  for (let redirects = 0; ; redirects++) {
    const result = await send({ access, spec, url, deadline })
    if (!('status' in result) || redirects === maxRedirects) return result
    const next = followable(spec.method, result, url)
    if (next === undefined) return result
    url = next
  }
}

/**
 * Opens `count` connections side by side, for requests that will be sent so: each carries one at a
 * time, and opening it takes two round trips or three. Never throws: who then asks is told.
 */
export async function openAhead(access: GatewayAccess, count: number): Promise<void> {
  const { newConnection } = await import('./connection.ts')
  try {
    for (let opened = 0; opened < count; opened++) newConnection(access, firstWay).openNow()
  } catch {
    // A useless proxy variable or CA file.
  }
}

/** Ends the connections that wait for another request. */
export async function hangUp(access: GatewayAccess): Promise<void> {
  const { takeIdle } = await import('./connection.ts')
  for (let one = takeIdle(access); one !== undefined; one = takeIdle(access)) one.close()
}

interface Sending {
  readonly access: GatewayAccess
  readonly spec: RequestSpec
  readonly url: URL
  /** In the time of `performance.now()`, as `timeoutMs` has it from the first address on. */
  readonly deadline: number
}

/** Once more, in another way, where the connection was at fault and not the gateway. */
async function send(sending: Sending): Promise<HttpAnswer | NetworkFailure> {
  // undici is large: only who asks a gateway waits for it.
  const { newConnection, takeIdle } = await import('./connection.ts')
  const usual: ConnectStyle = isVouchedPrivately(sending.access)
    ? { ...firstWay, believes: 'client' }
    : firstWay
  let connection = takeIdle(sending.access) ?? newConnection(sending.access, usual)
  for (;;) {
    const result = await sendOn(connection, sending)
    if ('status' in result) {
      if (!gaveUpWaiting(connection, result)) return result
      connection = newConnection(sending.access, connection.way)
      continue
    }
    const way = otherWay(connection, result)
    if (way === undefined) return result.failure
    connection = newConnection(sending.access, way)
  }
}

/**
 * The server has closed an open connection because no request came in time. It sends its 408 before
 * it sees the request, which may be sent again on a new connection (RFC 9110, 15.5.9).
 */
function gaveUpWaiting({ hasWaited }: Connection, { status, headers }: HttpAnswer): boolean {
  return hasWaited && status === 408 && headers['connection']?.toLowerCase() === 'close'
}

/** A request that got no answer, and the error itself. */
interface Failed {
  readonly failure: NetworkFailure
  readonly error: Error
}

function otherWay(
  { hasWaited, way }: Connection,
  { failure, error }: Failed,
): ConnectStyle | undefined {
  if (failure.reason !== 'error') return undefined
  // The server has closed it meanwhile.
  if (hasWaited && failure.stage === 'first-byte') return way
  if (!way.offersHttp2 && wantsHttp2(failure)) return { ...way, offersHttp2: true }
  // The client may believe more than the public authorities.
  if (way.believes === 'public' && isFromStranger(failure)) return { ...way, believes: 'client' }
  // Every address was given up for the next, the last because this machine has no way there.
  const isTooShort =
    error instanceof AggregateError && error.errors.some(({ code }) => code === 'ETIMEDOUT')
  return isTooShort ? { ...way, addressTimeoutMs: way.addressTimeoutMs * 4 } : undefined
}

/** The certificate is signed by somebody who is not known. */
function isFromStranger({ errorCode }: NetworkFailure): boolean {
  return /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED)/.test(
    errorCode,
  )
}

/** The server ends the handshake over HTTP/1.1, or answers it with an HTTP/2 frame. */
function wantsHttp2({ url, errorCode, detail, firstBytes = '' }: NetworkFailure): boolean {
  return (
    url.startsWith('https:') &&
    (/NO_APPLICATION_PROTOCOL/.test(errorCode) ||
      /no application protocol/.test(detail) ||
      // A frame of type 4 on stream 0: what an HTTP/2 server sends first (RFC 9113, 3.4).
      (firstBytes.startsWith('\0\0') && firstBytes[3] === '\x04'))
  )
}

function sendOn(connection: Connection, sending: Sending): Promise<HttpAnswer | Failed> {
  const { access, spec, url } = sending
  const started = sending.deadline - access.timeoutMs

  return new Promise((resolve, reject) => {
    const received = new Received(spec)
    let isSettled = false
    let closing: NodeJS.Timeout | undefined
    let patience: NodeJS.Timeout | undefined

    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      clearTimeout(total)
      clearTimeout(patience)
      clearTimeout(closing)
      access.signal?.removeEventListener('abort', onCancel)
      return true
    }
    const fail = (reason: NetworkFailure['reason'], error: Error): void => {
      if (!settle()) return
      connection.close()
      const waitedMs = Math.round(performance.now() - started)
      resolve({ failure: failureOf({ connection, url, reason, error, waitedMs }), error })
    }
    const finish = (end: 'whole' | 'enough' | 'limit' | 'connection'): void => {
      if (!settle()) return
      if (end === 'whole') connection.keep()
      else connection.close()
      const cut = end === 'limit' || end === 'connection' ? end : undefined
      received.answer({ url, connection, cut }).then(resolve, reject)
    }
    const onDeadline = (): void => fail('deadline', new Error('The deadline has passed'))
    const onCancel = (): void => fail('cancelled', new Error('Cancelled'))

    connection.onBroken = (error) => fail('error', error)
    const total = setTimeout(onDeadline, Math.max(1, sending.deadline - performance.now()))
    if (access.signal?.aborted === true) return onCancel()
    access.signal?.addEventListener('abort', onCancel, { once: true })

    // Not undici's `request`: only a handler is told when a request begins to be sent.
    connection.dispatcher.dispatch(dispatchOptions(spec, url), {
      onRequestStart() {
        connection.stage = 'first-byte'
        const { answerWithinMs } = spec
        if (answerWithinMs !== undefined) patience = setTimeout(onDeadline, answerWithinMs)
      },
      onResponseStart(_controller, status, headers) {
        // Interim answers (1xx) come before the real one.
        if (status < 200) return
        connection.stage = 'body'
        received.start(status, headers)
      },
      onResponseData(_controller, chunk) {
        if (isSettled) return
        const state = received.add(chunk)
        if (state === 'limit') finish('limit')
        if (state === 'enough') closing ??= setTimeout(() => finish('enough'), closingMs)
      },
      onResponseEnd() {
        finish('whole')
      },
      onResponseError(_controller, error) {
        if (closing !== undefined) finish('enough')
        else if (received.status !== 0) finish('connection')
        else fail('error', error)
      },
    })
  })
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

/** What has come so far. */
class Received {
  status = 0
  private headers: Record<string, string> = {}
  private readonly chunks: Uint8Array[] = []
  private sizeBytes = 0
  private text = ''
  private readonly decoder = new TextDecoder()
  private readonly spec: RequestSpec

  constructor(spec: RequestSpec) {
    this.spec = spec
  }

  start(
    status: number,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): void {
    this.status = status
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) {
        this.headers[name] = typeof value === 'string' ? value : value.join(', ')
      }
    }
  }

  add(chunk: Uint8Array): 'more' | 'enough' | 'limit' {
    const rest = this.spec.maxBytes - this.sizeBytes
    this.chunks.push(chunk.length > rest ? chunk.subarray(0, rest) : chunk)
    this.sizeBytes += chunk.length
    if (chunk.length > rest) return 'limit'

    // What is packed can only be judged as a whole.
    if (this.spec.isEnough === undefined || this.headers['content-encoding'] !== undefined) {
      return 'more'
    }
    this.text += this.decoder.decode(chunk, { stream: true })
    return this.spec.isEnough(this.text) ? 'enough' : 'more'
  }

  async answer(end: {
    url: URL
    connection: Connection
    cut: 'limit' | 'connection' | undefined
  }): Promise<HttpAnswer> {
    const { spec, status, headers } = this
    const decoded = await decodeBody(Buffer.concat(this.chunks), headers, spec.maxBytes)
    return compact({
      url: end.url.href,
      status,
      headers,
      body: decoded.text,
      cut: decoded.cut ?? end.cut,
      proxy: end.connection.shownProxy,
    })
  }
}

function failureOf(failed: {
  connection: Connection
  url: URL
  reason: NetworkFailure['reason']
  error: Error
  waitedMs: number
}): NetworkFailure {
  const { connection, url, reason, waitedMs } = failed
  const error = failed.error as NodeJS.ErrnoException & {
    // undici: the bytes that were no HTTP.
    data?: string
    // Node, where a name has several addresses and none answers.
    errors?: readonly NodeJS.ErrnoException[]
    // Node, for a certificate of another host.
    cert?: { subjectaltname?: string }
  }

  // undici says a proxy's refusal in words only (7.30, lib/dispatcher/proxy-agent.js).
  const refusal = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1]

  return compact({
    url: url.href,
    stage: refusal === undefined ? connection.stage : 'proxy',
    errorCode: error.code ?? error.errors?.[0]?.code ?? '',
    detail: error.cert === undefined ? error.message : (error.cert.subjectaltname ?? ''),
    reason,
    waitedMs,
    firstBytes: typeof error.data === 'string' ? error.data.slice(0, 200) : undefined,
    proxyStatus: refusal === undefined ? undefined : Number(refusal),
    proxy: connection.shownProxy,
  })
}

/** Where a redirect leads, if it stays in the origin and keeps the method. */
function followable(method: RequestSpec['method'], answer: HttpAnswer, from: URL): URL | undefined {
  const kept = method === 'GET' ? [301, 302, 303, 307, 308] : [307, 308]
  const location = answer.headers['location']
  if (!kept.includes(answer.status) || location === undefined) return undefined
  if (!URL.canParse(location, from.href)) return undefined
  const to = new URL(location, from)
  return to.origin === from.origin && to.username === '' ? to : undefined
}
