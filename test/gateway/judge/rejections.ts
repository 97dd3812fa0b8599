import { readFileSync } from 'node:fs'
import type { HttpResponse, SentRequest } from '../../../src/gateway/judge/types.ts'
import type { Protocol } from '../../../src/gateway/types.ts'

/**
 * A line of rejections.jsonl. About half are quoted from the error references of Huawei MaaS, CloudBase, Zhipu,
 * ZenMux, LiteLLM, Portkey, Kong, Tyk, Apigee, AWS, Azure, New API, claude-code-hub and others (read 2026-11-26).
 * The rest are invented after the habits of real gateways, and were first judged by rules that had not seen them.
 * Values such as the IDs of requests are made up.
 */
export interface Rejection {
  /** The code of the outcome, or after a colon more (`nameOf`). Several acceptable ones are separated by `|`. */
  readonly outcome: string
  readonly status: number
  /** JSON, or plain text (a web page if it begins with `<`). */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: chat. */
  readonly asked?: Protocol
  readonly model?: string
  /** False: the catalog does not list the model. */
  readonly listed?: boolean
}

export const rejections: readonly Rejection[] = readFileSync(
  new URL('rejections.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

export function responseOf({ status, body, headers = {} }: Rejection): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const isPage = text.startsWith('<')
  const type = isPage ? 'text/html' : /^[[{]/.test(text) ? 'application/json' : 'text/plain'
  return {
    url: 'https://gw.example/v1/chat/completions',
    status,
    headers: { 'content-type': type, ...headers },
    body: text,
  }
}

export function requestOf(rejection: Rejection): SentRequest {
  const { asked = 'chat', model = 'gpt-5.6-sol', listed = true } = rejection
  return {
    route: asked,
    address: 'https://gw.example',
    model,
    secrets: ['sk-canary-0123456789'],
    apiAnswered: 'catalog',
    catalog: { models: [{ id: listed ? model : 'glm-5' }, { id: 'other-1' }] },
  }
}
