import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { UserError } from '../../src/errors.ts'
import { usualBaseUrls } from '../../src/gateway/base-urls.ts'
import type { GatewayAccess } from '../../src/gateway/types.ts'

export const key = 'sk-live-abcdefghijklmnop'

const tlsFolder = new URL('../fixtures/tls/', import.meta.url)
export const tlsFile = (name: string): string => fileURLToPath(new URL(name, tlsFolder))
const pem = (name: string): string => readFileSync(tlsFile(name), 'utf8')

/** A request that a forged server received. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
  /** The name that the TLS handshake asked for; false: none. */
  readonly serverName?: string | false
}

export interface Forged {
  readonly port: number
  readonly seen: Seen[]
  /** Connections so far. */
  readonly connections: () => number
}

type Handler = (request: Seen, response: http.ServerResponse) => void

interface Options {
  /** A certificate of the fixtures; absent: plain http. */
  readonly certificate?: string
  readonly chain?: string
  readonly host?: string
  readonly isHttp2Only?: boolean
  /** How long the server keeps an idle connection open, in ms. Absent: Node's five seconds. */
  readonly keepAliveTimeoutMs?: number
  /** Of a concurrent test: Vitest's own may belong to a test that runs at the same time. */
  readonly onTestFinished?: typeof onTestFinished
}

/** A server of our own on a free port, closed with the test. */
export async function aServer(handler: Handler, options: Options = {}): Promise<Forged> {
  const seen: Seen[] = []
  const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const { servername } = request.socket as { servername?: string | false }
      const record = {
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString(),
        ...(servername === undefined ? {} : { serverName: servername }),
      }
      seen.push(record)
      handler(record, response)
    })
  }
  const secrets = options.certificate && {
    key: pem('server.key'),
    cert: pem(options.certificate) + (options.chain === undefined ? '' : pem(options.chain)),
  }
  const server = options.isHttp2Only
    ? http2.createSecureServer({ ...(secrets || {}), allowHTTP1: false }, listener as never)
    : secrets
      ? https.createServer(secrets, listener)
      : http.createServer({ keepAliveTimeout: options.keepAliveTimeoutMs }, listener)
  return { seen, ...(await listening(server, options)) }
}

/** A server of bare TCP, or of TLS with a certificate, whose answers `onSocket` writes. */
export async function aSocketServer(
  onSocket: (socket: net.Socket) => void,
  certificate?: string,
): Promise<Omit<Forged, 'seen'>> {
  return listening(
    certificate === undefined
      ? net.createServer(onSocket)
      : tls.createServer({ key: pem('server.key'), cert: pem(certificate) }, (socket) => {
          socket.on('error', () => {})
          onSocket(socket)
        }),
  )
}

async function listening(
  server: net.Server,
  { host = '127.0.0.1', onTestFinished: whenFinished = onTestFinished }: Options = {},
): Promise<{ port: number; connections: () => number }> {
  const sockets = new Set<net.Socket>()
  let count = 0
  server.on('connection', (socket: net.Socket) => {
    count++
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, host, resolve)
  })
  whenFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as net.AddressInfo).port, connections: () => count }
}

export function accessTo(
  server: { port: number },
  more: Partial<GatewayAccess> & { scheme?: string; host?: string; prefix?: string } = {},
): GatewayAccess {
  const { scheme = 'http', host = '127.0.0.1', prefix = '', ...members } = more
  const baseUrl = `${scheme}://${host}:${server.port}${prefix}`
  return {
    address: baseUrl,
    baseUrls: usualBaseUrls(baseUrl),
    key,
    keyHeader: 'authorization',
    timeoutMs: 5_000,
    env: {},
    ...members,
  }
}

export function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

export const catalogBody = {
  object: 'list',
  data: [{ id: 'gpt-5.6-sol' }, { id: 'gpt-5.4-mini' }],
}

const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'pong', annotations: [] }],
}

const usage = { input_tokens: 1, output_tokens: 1 }
const completed = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_800_000_000,
  status: 'completed',
  model: 'gpt-5.6-sol',
  output: [item],
  usage: { ...usage, total_tokens: 2 },
}

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_800_000_000 }

const streams: Readonly<Record<string, readonly (string | Readonly<Record<string, unknown>>)[]>> = {
  '/v1/chat/completions': [
    {
      ...chunk,
      model: 'gpt-5.6-sol',
      choices: [{ index: 0, delta: { content: 'pong' }, finish_reason: null }],
    },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    '[DONE]',
  ],
  '/v1/responses': [
    { type: 'response.created', response: { ...completed, status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta: 'pong',
    },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ],
  '/v1/messages': [
    {
      type: 'message_start',
      message: { id: 'msg_1', role: 'assistant', model: 'gpt-5.6-sol', usage },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'pong' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ],
}

/** A gateway that does everything right. */
export const goodGateway: Handler = (request, response) => {
  if (request.headers.authorization !== `Bearer ${key}`) {
    return sendJson(response, 401, {
      error: { code: '', message: 'Invalid token', type: 'new_api_error' },
    })
  }
  if (request.url === '/v1/models') return sendJson(response, 200, catalogBody)
  const events = streams[request.url.split('?')[0]!]
  if (events === undefined || request.method !== 'POST') {
    const message = `Invalid URL (${request.method} ${request.url})`
    return sendJson(response, 404, {
      error: { message, type: 'invalid_request_error', param: '', code: '' },
    })
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const isNamed = typeof event !== 'string' && event['type'] !== undefined
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    response.write(`${isNamed ? `event: ${event['type']}\n` : ''}data: ${data}\n\n`)
  }
  response.end()
}

/** The error of a promise that must fail. */
export async function failure(promise: Promise<unknown>): Promise<UserError> {
  try {
    await promise
  } catch (error) {
    return error as UserError
  }
  throw new Error('It did not fail')
}
