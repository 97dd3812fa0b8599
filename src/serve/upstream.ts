import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { failures } from './codecs/failure.ts'
import type { LogEntry } from './log/request-log.ts'
import type { Upstream } from './options.ts'
import type { Exchange } from './reply.ts'

/** Headers that belong to one connection, or that are set anew for the next one. */
const notPassedOn = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
])

/**
 * Passes a request on to a real gateway and its answer back as it comes. The key of the client stays
 * here; the upstream's own goes in the headers that the client used. A redirect is handed back, not
 * followed.
 */
export function passOn(exchange: Exchange, upstream: Upstream, body: Buffer): void {
  const { request, entry } = exchange
  const headers: Record<string, string | string[]> = { 'accept-encoding': 'identity' }
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !notPassedOn.has(name) && name !== 'accept-encoding')
      headers[name] = value
  if (entry.auth !== 'x-api-key') headers['authorization'] = `Bearer ${upstream.key}`
  if (entry.auth === 'x-api-key' || entry.auth === 'both') headers['x-api-key'] = upstream.key
  if (body.length > 0) headers['content-length'] = String(body.length)
  noteModel(entry, body)

  const target = new URL(upstream.url.replace(/\/+$/, '') + withoutOrigin(entry.path))
  const send = target.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = send(target, { method: entry.method, headers })
  let reason = 'no answer'
  outgoing.once('error', (error) => {
    reason = error.message
  })
  outgoing.once('close', () => {
    if (isGone) exchange.abandon()
    else if (entry.status === undefined)
      exchange.fail(failures.upstreamUnreachable(`do request failed: ${reason}`))
  })
  let isGone = false
  exchange.onClose(() => {
    isGone = true
    outgoing.destroy()
  })
  outgoing.once('response', (answer) => {
    const answerHeaders: Record<string, string | string[]> = {}
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !notPassedOn.has(name)) answerHeaders[name] = value
    const { statusCode = 0 } = answer
    if (statusCode < 200) {
      reason = `malformed status ${statusCode}`
      outgoing.destroy()
      return
    }
    const writer = exchange.relay(statusCode, answerHeaders)
    writer.onDrain(() => answer.resume())
    answer.on('data', (piece: Buffer) => {
      if (!writer.write(piece)) answer.pause()
    })
    answer.once('end', () => writer.end())
    answer.once('error', () => writer.destroy())
  })
  outgoing.end(body)
}

/** A request target may be a whole address: its host is this gateway, not the upstream. */
function withoutOrigin(path: string): string {
  return path.replace(/^https?:\/\/[^/]*/i, '')
}

/** For the log: which model the client asks for, as far as the body says. */
function noteModel(entry: LogEntry, requestBody: Buffer): void {
  try {
    const body = JSON.parse(requestBody.toString())
    if (typeof body?.model === 'string') entry.modelAsked = body.model
    entry.stream = body?.stream === true
  } catch {
    // The upstream will say what is wrong with it.
  }
}
