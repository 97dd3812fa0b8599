import { afterEach } from 'vitest'
import type { Gateway, GatewayOptions } from '../../../src/serve/index.ts'
import { startGateway } from '../../../src/serve/index.ts'

const open: Gateway[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()))
})

/** A gateway that ends with the test. */
export async function aGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await startGateway(options)
  open.push(gateway)
  return gateway
}

/** A request with the right key; `body` goes as JSON. */
export function ask(
  gateway: Gateway,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** What a person says, as the smallest good body of the protocol at this path. */
export function saying(path: string, text: string, model = 'gpt-5.6'): object {
  if (path.endsWith('responses')) return { model, input: text }
  const messages = [{ role: 'user', content: text }]
  return path.endsWith('messages') ? { model, messages, max_tokens: 999 } : { model, messages }
}

/** The JSON of an answer. What is in it is the test's business. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function jsonOf(answer: Response | Promise<Response>): Promise<any> {
  return (await answer).json()
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
