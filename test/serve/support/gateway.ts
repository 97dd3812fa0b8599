import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Gateway, GatewayOptions } from '../../../src/serve/index.ts'
import { openGateway } from '../../support/gateway.ts'

/** A gateway that rejects what vendors reject. It is closed after the test. */
export function aGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return openGateway(options, onTestFinished)
}

/** A gateway that forwards to another one, which replaces a real one. */
export async function aPair(real: GatewayOptions = {}, more: GatewayOptions = {}) {
  const upstream = await aGateway(real)
  const { url, key } = upstream
  return { upstream, gateway: await aGateway({ upstream: { url, key }, ...more }) }
}

/** The address of a server with this listener. It is closed after the test. */
export async function aServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The path of a file in a new folder. Without `text`, the file does not exist yet. */
export async function aFile(text?: string, name = 'scenario.yaml'): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'repoint-serve-')), name)
  if (text !== undefined) await writeFile(path, text)
  return path
}

/** Sends a request with the gateway's key, and `body` as JSON. */
export function ask(
  { url, key }: Pick<Gateway, 'url' | 'key'>,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  more: RequestInit = {},
): Promise<Response> {
  const type = body === undefined ? undefined : { 'content-type': 'application/json' }
  return fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...type, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...more,
  })
}

export const paths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const

/** The smallest valid body for a user's text, in the protocol of this path. */
export function saying(path: string, text: string, model = 'gpt-5.6'): object {
  if (path.endsWith('responses')) return { model, input: text }
  const messages = [{ role: 'user', content: text }]
  return path.endsWith('messages') ? { model, messages, max_tokens: 999 } : { model, messages }
}

/** The JSON of an answer, untyped: each test checks the members that it needs. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function jsonOf(answer: Response | Promise<Response>): Promise<any> {
  return (await answer).json()
}

/** The JSON answer to a request with the gateway's key. */
export function askJson(...question: Parameters<typeof ask>): ReturnType<typeof jsonOf> {
  return jsonOf(ask(...question))
}

/** One server-sent event. */
export interface SseEvent {
  readonly event: string | undefined
  readonly data: string
}

export function sseEvents(text: string): SseEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n')
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7)
      return { event, data: lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '' }
    })
}

/** The data of a stream, parsed; `[DONE]` stays text. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function eventsOf(answer: Response | Promise<Response>): Promise<any[]> {
  const events = sseEvents(await (await answer).text())
  return events.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
}
