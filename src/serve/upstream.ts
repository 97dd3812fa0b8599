import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { failures } from './codecs/failure.ts'
import forwarded from './forwarded-headers.json' with { type: 'json' }
import type { Reply } from './http/reply.ts'
import type { LogEntry } from './log/entry.ts'
import { maskKeys } from './log/secrets.ts'
import type { Upstream } from './options.ts'
import { asString, parseJsonObject } from './requests/json.ts'
import { requestPath } from './routes.ts'
import type { Recording } from './scenarios/recording.ts'

/**
 * The client's headers that are sent upstream: they describe the response to send and the client. Other
 * headers may contain a secret.
 */
const forwardedHeaders = new Set(forwarded.names)

/** Headers of a response that belong to one connection and are not forwarded. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface ForwardedRequest {
  readonly reply: Reply
  readonly upstream: Upstream
  readonly body: Buffer
  readonly recording: Recording | undefined
}

/**
 * Forwards a request to a real gateway, and its response to the client as it arrives. The client's key
 * is replaced by the upstream's key, in the same headers. A redirect is forwarded, not followed.
 */
export function forwardRequest({ reply, upstream, body, recording }: ForwardedRequest): void {
  const { request, entry } = reply
  logModel(entry)
  const address = new URL(upstream.url)
  const path = upstreamPath(address, request, entry.key)

  if (path === undefined) {
    const reason = `${requestPath(request)} may lead outside of the address of --upstream, so it is not forwarded.`
    reply.fail(failures.wrongRoute(entry.method, requestPath(request)), reason)
    return
  }

  const send = address.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = send(address, {
    path,
    method: entry.method,
    headers: {
      ...requestHeaders(request, entry.key),
      ...keyHeaders(entry, upstream.key),
      ...(body.length > 0 ? { 'content-length': body.length } : {}),
    },
  })

  let problem = 'no answer'
  reply.onEnd(() => outgoing.destroy())
  outgoing.once('error', (error) => {
    problem = error.message
  })
  outgoing.once('close', () => {
    if (reply.isPending) reply.fail(failures.upstreamUnreachable(`do request failed: ${problem}`))
  })
  outgoing.once('response', (answer) => {
    if ((answer.statusCode ?? 0) < 200) {
      problem = `malformed status ${answer.statusCode}`
      outgoing.destroy()
      return
    }

    const recordPiece = recording?.startRecording(entry, answer.headers)
    if (recordPiece !== undefined) reply.onFinish(() => recording?.finish(entry))
    const headers = Object.entries(answer.headers).filter(([name]) => !connectionHeaders.has(name))
    reply.relay(answer, Object.fromEntries(headers), (piece) => recordPiece?.(piece))
  })
  outgoing.end(body)
}

/**
 * The path and the query for the upstream, unchanged. Undefined if some server could resolve the path to
 * a place outside of the upstream's `/v1/`, or if it contains the client's key. A URL parser must leave
 * the path unchanged, and the path must have no step to a parent, however often it is decoded (`..`,
 * `%2e%2e`, `%252e`, `..%2f`, `..\\`, `..;`, `..%00`).
 */
function upstreamPath(address: URL, request: IncomingMessage, key: string): string | undefined {
  const path = address.pathname.replace(/\/+$/, '') + requestPath(request)
  const [, query] = /^[^?]*(\?.*)?$/s.exec(request.url ?? '') ?? []
  const parsed = URL.canParse(path, address.href) ? new URL(path, address) : undefined
  if (parsed?.origin !== address.origin || parsed.pathname !== path) return undefined

  const steps = decodePath(path)?.split(/[/\\]/)
  // Some servers end a step at a zero byte, or remove spaces.
  const isInside = steps?.every((step) => !/^\.{1,2}(?:[;\s\0]|$)/.test(step))
  const target = path + (query ?? '')
  const isPassable = isInside && !query?.includes('#') && maskKeys(target, [key]) === target
  return isPassable ? target : undefined
}

/**
 * Decodes a path until it no longer changes. Undefined: it is encoded more often than any reader decodes
 * it. There is a limit, because each time costs the whole length.
 */
function decodePath(path: string, timesLeft = 8): string | undefined {
  const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  if (decoded === path) return path
  return timesLeft === 0 ? undefined : decodePath(decoded, timesLeft - 1)
}

/** @param key the client's key; headers that contain it are not sent */
function requestHeaders({ headers }: IncomingMessage, key: string): OutgoingHttpHeaders {
  const forwardable = Object.entries(headers).filter(
    ([name, value]) =>
      forwardedHeaders.has(name) && maskKeys(String(value), [key]) === String(value),
  )
  // Not compressed, because the log does not decompress responses.
  return { ...Object.fromEntries(forwardable), 'accept-encoding': 'identity' }
}

function keyHeaders({ auth }: LogEntry, key: string): OutgoingHttpHeaders {
  return {
    ...(auth === 'x-api-key' ? {} : { authorization: `Bearer ${key}` }),
    ...(auth === 'x-api-key' || auth === 'both' ? { 'x-api-key': key } : {}),
  }
}

function logModel(entry: LogEntry): void {
  const body = parseJsonObject(entry.requestBody)
  if (body === undefined) return
  entry.modelAsked = asString(body['model'])
  entry.stream = body['stream'] === true
}
