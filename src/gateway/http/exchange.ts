import type { Dispatcher } from 'undici'
import { type Answer, NetworkError, type NetworkFailure } from '../judge/answer.ts'
import type { GatewayAccess } from '../types.ts'
import { type Connection, dropConnection, keepConnection } from './connection.ts'
import { decodeBody } from './decode.ts'
import { proxyAuthorization } from './tunnel.ts'

export interface RequestSpec {
  readonly method: 'GET' | 'POST'
  /** Behind the root: `/v1/models`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Most of a body that is read, packed or unpacked. */
  readonly maxBytes: number
  /** Whether the text so far is all we need; the rest is not waited for. */
  readonly isEnough?: (text: string) => boolean
}

/** How long a stream may take to close after its last event, in ms; its connection is kept then. */
const closingMs = 50

/** Longest wait for a connection, TLS included, in ms; the request's own deadline may be shorter. */
const connectTimeoutMs = 10_000

/**
 * One request on one connection.
 *
 * @param deadline in the time of `performance.now()`
 * @throws NetworkError where no answer came
 */
export function exchange(
  access: GatewayAccess,
  spec: RequestSpec,
  url: URL,
  connection: Connection,
  deadline: number,
): Promise<Answer> {
  const { client, progress } = connection
  const started = performance.now()
  if (connection.isUsed) progress.stage = 'first-byte'

  return new Promise((resolve, reject) => {
    const received = new Received(spec)
    let isSettled = false
    let closing: NodeJS.Timeout | undefined

    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      clearTimeout(total)
      clearTimeout(connecting)
      clearTimeout(closing)
      access.signal?.removeEventListener('abort', onCancel)
      return true
    }
    const fail = (reason: NetworkFailure['reason'], error: Error): void => {
      if (!settle()) return
      dropConnection(connection)
      const waitedMs = Math.round(performance.now() - started)
      reject(new NetworkError(failureOf(spec, url, connection, reason, error, waitedMs), error))
    }
    const finish = (end: 'whole' | 'enough' | 'limit' | 'connection'): void => {
      if (!settle()) return
      if (end === 'whole' && !client.destroyed) keepConnection(access, connection)
      else dropConnection(connection)
      const cut = end === 'limit' || end === 'connection' ? end : undefined
      received.answer(url, connection, cut).then(resolve, reject)
    }
    const onDeadline = (): void => fail('deadline', new Error('The deadline has passed'))
    const onCancel = (): void => fail('cancelled', new Error('Cancelled'))

    const remainingMs = Math.max(1, deadline - performance.now())
    const total = setTimeout(onDeadline, remainingMs)
    const connecting = setTimeout(
      () => {
        if (isConnecting(connection)) onDeadline()
      },
      Math.min(connectTimeoutMs, remainingMs),
    )
    if (access.signal?.aborted === true) {
      onCancel()
      return
    }
    access.signal?.addEventListener('abort', onCancel, { once: true })

    client.dispatch(dispatchOptions(spec, url, connection), {
      onRequestStart() {
        progress.stage = 'first-byte'
      },
      onResponseStart(_controller, status, headers) {
        // Interim answers (1xx) come before the real one.
        if (status < 200) return
        progress.stage = 'body'
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

  async answer(
    url: URL,
    connection: Connection,
    endedBy: 'limit' | 'connection' | undefined,
  ): Promise<Answer> {
    const { spec, status, headers } = this
    const decoded = await decodeBody(Buffer.concat(this.chunks), headers, spec.maxBytes)
    const cut = decoded.cut ?? endedBy
    return {
      method: spec.method,
      url: url.href,
      status,
      headers,
      body: decoded.text,
      ...(cut === undefined ? {} : { cut }),
      ...proxyOf(connection),
    }
  }
}

function dispatchOptions(
  spec: RequestSpec,
  url: URL,
  connection: Connection,
): Dispatcher.DispatchOptions {
  const headers: Record<string, string> = { host: url.host, ...spec.headers }
  const authorization = connection.asksProxy ? proxyAuthorization(connection.proxy!) : undefined
  if (authorization !== undefined) headers['proxy-authorization'] = authorization
  return {
    method: spec.method,
    path: connection.asksProxy ? url.href : url.pathname + url.search,
    headers,
    body: spec.body ?? null,
  }
}

function failureOf(
  spec: RequestSpec,
  url: URL,
  connection: Connection,
  reason: NetworkFailure['reason'],
  error: Error,
  waitedMs: number,
): NetworkFailure {
  const { stage, proxyStatus } = connection.progress
  const details = error as NodeJS.ErrnoException & {
    // undici: the bytes that were no HTTP.
    data?: string
    // Node, where a name has several addresses and none answers.
    errors?: readonly NodeJS.ErrnoException[]
    // Node, for a certificate of another host.
    cert?: { subjectaltname?: string }
  }
  return {
    method: spec.method,
    url: url.href,
    stage,
    errorCode: details.code ?? details.errors?.[0]?.code ?? '',
    detail: details.cert === undefined ? error.message : (details.cert.subjectaltname ?? ''),
    reason,
    waitedMs,
    ...(typeof details.data === 'string' ? { firstBytes: details.data.slice(0, 200) } : {}),
    ...(proxyStatus === undefined ? {} : { proxyStatus }),
    ...proxyOf(connection),
  }
}

function isConnecting({ progress: { stage } }: Connection): boolean {
  return stage === 'proxy' || stage === 'connect' || stage === 'tls'
}

function proxyOf({ proxy }: Connection): { proxy?: string } {
  if (proxy === undefined) return {}
  return { proxy: `${proxy.hostname}:${proxy.port} (from ${proxy.variable})` }
}
