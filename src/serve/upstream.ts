import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { failures } from './codecs/failure.ts'
import type { Reply } from './http/reply.ts'
import type { LogEntry } from './log/request-log.ts'
import { maskKeys } from './log/secrets.ts'
import type { Upstream } from './options.ts'
import { asString, parseJsonObject } from './requests/read.ts'
import { requestPath } from './routes.ts'
import type { Recorder } from './settings/recorder.ts'

/**
 * Headers of a client that go upstream: what says how to answer, and who asks. Any other may hold a
 * secret that was meant for this gateway or for nobody. Names as the SDKs of the vendors send them
 * (openai 7.57.0, @anthropic-ai/sdk 1.12.0) and Codex 0.169.0, Claude Code 2.1.330, opencode 1.18.33.
 */
const forwardedHeaders = new Set(
  `accept accept-language anthropic-beta anthropic-dangerous-direct-browser-access anthropic-version
  content-type conversation_id http-referer idempotency-key openai-beta openai-intent
  openai-organization openai-project originator session-id session_id thread-id traceparent tracestate
  user-agent version x-app x-claude-code-agent-id x-claude-code-parent-agent-id
  x-claude-code-session-id x-client-request-id x-codex-beta-features x-codex-installation-id
  x-codex-parent-thread-id x-codex-turn-metadata x-codex-turn-state x-codex-window-id
  x-initiator x-interaction-type x-openai-memgen-request x-openai-subagent x-opencode-client
  x-opencode-project x-opencode-request x-opencode-session x-request-id x-session-affinity x-session-id
  x-stainless-arch x-stainless-async x-stainless-custom-poll-interval x-stainless-helper
  x-stainless-helper-method x-stainless-lang x-stainless-os x-stainless-package-version
  x-stainless-poll-helper x-stainless-read-timeout x-stainless-retry-count x-stainless-runtime
  x-stainless-runtime-version x-stainless-stream-helper x-stainless-timeout x-title`.split(/\s+/),
)

/** Headers of an answer that belong to one connection. */
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
  readonly recorder: Recorder | undefined
}

/**
 * Passes a request on to a real gateway and its answer back as it comes. The key of the client stays
 * here; the upstream's own goes in the headers that the client used. A redirect is handed back, not
 * followed.
 */
export function forwardRequest({ reply, upstream, body, recorder }: ForwardedRequest): void {
  const { request, entry } = reply
  recordModel(entry)
  const root = new URL(upstream.url)
  const path = upstreamPath(root, request, entry.key)
  if (path === undefined) {
    const reason = `${requestPath(request)} may lead out of what --upstream names, so it is not passed on.`
    reply.fail(failures.wrongRoute(entry.method, requestPath(request)), reason)
    return
  }

  const send = root.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = send(root, {
    path,
    method: entry.method,
    headers: {
      ...requestHeaders(request, entry.key),
      ...keyHeaders(entry, upstream.key),
      ...(body.length > 0 ? { 'content-length': body.length } : {}),
    },
  })

  let problem = 'no answer'
  let isGone = false
  reply.onEnd(() => {
    isGone = true
    outgoing.destroy()
  })
  outgoing.once('error', (error) => {
    problem = error.message
  })
  outgoing.once('close', () => {
    if (isGone) reply.abandon()
    else if (entry.status === undefined)
      reply.fail(failures.upstreamUnreachable(`do request failed: ${problem}`))
  })
  outgoing.once('response', (answer) => {
    if ((answer.statusCode ?? 0) < 200) {
      problem = `malformed status ${answer.statusCode}`
      outgoing.destroy()
      return
    }

    const recordPiece = recorder?.startRecording(entry, answer.headers)
    const headers = Object.entries(answer.headers).filter(([name]) => !connectionHeaders.has(name))
    reply.relay(answer, Object.fromEntries(headers), (piece) => recordPiece?.(piece))
  })
  outgoing.end(body)
}

/**
 * What is asked of the upstream, as the client wrote it. Undefined: some reader on the way could take
 * it for something outside of the upstream's own `/v1/`, or it holds the client's own key. A URL parser
 * must change nothing in the path, and it must hold no step up, however often it is unpacked (`..`,
 * `%2e%2e`, `%252e`, `..%2f`, `..\\`, `..;`, `..%00`).
 */
function upstreamPath(root: URL, request: IncomingMessage, key: string): string | undefined {
  const path = root.pathname.replace(/\/+$/, '') + requestPath(request)
  const [, query] = /^[^?]*(\?.*)?$/s.exec(request.url ?? '') ?? []
  const parsed = URL.canParse(path, root.href) ? new URL(path, root) : undefined
  if (parsed?.origin !== root.origin || parsed.pathname !== path) return undefined

  const steps = decodePath(path)?.split(/[/\\]/)
  // A reader may end a text at a zero, or take blanks off.
  const isInside = steps?.every((step) => !/^\.{1,2}(?:[;\s\0]|$)/.test(step))
  const target = path + (query ?? '')
  const isPassable = isInside && !query?.includes('#') && maskKeys(target, [key]) === target
  return isPassable ? target : undefined
}

/** Undefined: it is packed more often than any reader unpacks it; each time costs its whole length. */
function decodePath(path: string, timesLeft = 8): string | undefined {
  const unpacked = path.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  if (unpacked === path) return path
  return timesLeft === 0 ? undefined : decodePath(unpacked, timesLeft - 1)
}

/** @param key of the client, which stays here wherever it stands */
function requestHeaders({ headers }: IncomingMessage, key: string): OutgoingHttpHeaders {
  const chosen = Object.entries(headers).filter(
    ([name, value]) =>
      forwardedHeaders.has(name) && maskKeys(String(value), [key]) === String(value),
  )
  // Nothing is unpacked for the log.
  return { ...Object.fromEntries(chosen), 'accept-encoding': 'identity' }
}

function keyHeaders({ auth }: LogEntry, key: string): OutgoingHttpHeaders {
  return {
    ...(auth === 'x-api-key' ? {} : { authorization: `Bearer ${key}` }),
    ...(auth === 'x-api-key' || auth === 'both' ? { 'x-api-key': key } : {}),
  }
}

/** For the log: which model the client asks for, as far as the body says. */
function recordModel(entry: LogEntry): void {
  const body = parseJsonObject(entry.requestBody)
  if (body === undefined) return
  entry.modelAsked = asString(body['model'])
  entry.stream = body['stream'] === true
}
