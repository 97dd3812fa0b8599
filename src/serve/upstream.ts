import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { failures } from './codecs/failure.ts'
import { isSecretHeader, type LogEntry } from './log/request-log.ts'
import type { Upstream } from './options.ts'
import type { Reply } from './reply.ts'
import { asString, objectIn } from './requests/read.ts'
import type { Recorder } from './settings/recorder.ts'

/**
 * Headers of a client that go upstream: what says how to answer, and who asks. Any other may hold a
 * secret that was meant for this gateway or for nobody.
 */
const passedOn = new Set([
  'accept',
  'accept-language',
  'content-type',
  'conversation_id',
  'http-referer',
  'idempotency-key',
  'originator',
  'session-id',
  'session_id',
  'thread-id',
  'traceparent',
  'tracestate',
  'user-agent',
  'version',
  'x-app',
  'x-client-request-id',
  'x-request-id',
  'x-title',
])

/** Families of headers of the vendors and of their clients. */
const passedOnFamily =
  /^(anthropic|openai|x-claude|x-codex|x-openai|x-opencode|x-session|x-stainless)-/

/** Headers of an answer that belong to one connection. */
const notHandedBack = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface PassedOn {
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
export function passOn({ reply, upstream, body, recorder }: PassedOn): void {
  const { request, entry } = reply
  noteModel(entry)
  const target = new URL(upstream.url.replace(/\/+$/, '') + withoutOrigin(request.url ?? '/'))
  const send = target.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = send(target, {
    method: entry.method,
    headers: {
      ...headersFor(request),
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
    if ((answer.statusCode ?? 0) >= 200) handBack(reply, answer, recorder)
    else {
      problem = `malformed status ${answer.statusCode}`
      outgoing.destroy()
    }
  })
  outgoing.end(body)
}

function headersFor({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const chosen = Object.entries(headers).filter(
    ([name]) => passedOn.has(name) || (passedOnFamily.test(name) && !isSecretHeader(name)),
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

function handBack(reply: Reply, answer: IncomingMessage, recorder: Recorder | undefined): void {
  const followed = recorder?.follow(reply.entry, answer.headers)
  reply.relay(answer, headersOf(answer.headers), (piece) => followed?.(piece))
}

function headersOf(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !notHandedBack.has(name)))
}

/** A request target may be a whole address: its host is this gateway, not the upstream. */
function withoutOrigin(target: string): string {
  return target.replace(/^https?:\/\/[^/]*/i, '')
}

/** For the log: which model the client asks for, as far as the body says. */
function noteModel(entry: LogEntry): void {
  const body = objectIn(entry.requestBody)
  if (body === undefined) return
  entry.modelAsked = asString(body['model'])
  entry.stream = body['stream'] === true
}
