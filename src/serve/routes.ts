import type { IncomingMessage } from 'node:http'
import type { Protocol } from '../protocols.ts'

/** The route of a request. */
export type Route =
  | { readonly kind: 'inference'; readonly protocol: Protocol }
  /** Counts the tokens of a request, and answers nothing. */
  | { readonly kind: 'count-tokens'; readonly protocol: Protocol }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly id: string }
  | {
      readonly kind: 'stored'
      readonly action: 'read' | 'read-input' | 'delete'
      readonly id: string
    }
  /** The imitated gateway implements it, and this gateway does not. */
  | { readonly kind: 'unsupported' }
  /** The imitated gateway knows it, but does not implement it either. */
  | { readonly kind: 'not-implemented' }
  | { readonly kind: 'unknown' }
  /** Our own routes for the page, the log and the faults. */
  | { readonly kind: 'control' }
  | { readonly kind: 'web' }

/** The routes of the API. `part` is the first group of the pattern. */
const apiRoutes: readonly (readonly [pattern: RegExp, routeOf: (part: string) => Route])[] = [
  [/^POST \/v1\/chat\/completions$/, () => ({ kind: 'inference', protocol: 'chat' })],
  [/^POST \/v1\/responses$/, () => ({ kind: 'inference', protocol: 'responses' })],
  [/^POST \/v1\/messages$/, () => ({ kind: 'inference', protocol: 'messages' })],
  [/^POST \/v1\/messages\/count_tokens$/, () => ({ kind: 'count-tokens', protocol: 'messages' })],
  [/^POST \/v1\/responses\/input_tokens$/, () => ({ kind: 'count-tokens', protocol: 'responses' })],
  [/^GET \/v1\/models$/, () => ({ kind: 'models' })],
  [/^GET \/v1\/models\/([^/]+)$/, (id) => ({ kind: 'model', id: decodeId(id) })],
  [/^GET \/v1\/responses\/(resp_[^/]+)$/, (id) => stored('read', id)],
  [/^GET \/v1\/responses\/(resp_[^/]+)\/input_items$/, (id) => stored('read-input', id)],
  [/^DELETE \/v1\/responses\/(resp_[^/]+)$/, (id) => stored('delete', id)],

  [/^POST \/v1\/(completions|edits|embeddings|rerank|moderations)$/, unsupported],
  [/^POST \/v1\/responses\/compact$/, unsupported],
  [/^POST \/v1\/images\/(generations|edits)$/, unsupported],
  [/^POST \/v1\/audio\/(transcriptions|translations|speech)$/, unsupported],
  [/^POST \/v1\/engines\/[^/]+\/embeddings$/, unsupported],
  [/^POST \/v1\/models\/./, unsupported],
  [/^GET \/v1\/realtime$/, unsupported],

  [/^POST \/v1\/images\/variations$/, notImplemented],
  [/^DELETE \/v1\/models\/[^/]+$/, notImplemented],
  [/^(GET|POST) \/v1\/files$/, notImplemented],
  [/^(GET|DELETE) \/v1\/files\/[^/]+$/, notImplemented],
  [/^GET \/v1\/files\/[^/]+\/content$/, notImplemented],
  [/^(GET|POST) \/v1\/fine-tunes$/, notImplemented],
  [/^GET \/v1\/fine-tunes\/[^/]+(\/events)?$/, notImplemented],
  [/^POST \/v1\/fine-tunes\/[^/]+\/cancel$/, notImplemented],
]

/** A stored answer. */
export type StoredRoute = Extract<Route, { kind: 'stored' }>

function stored(action: StoredRoute['action'], id: string): StoredRoute {
  return { kind: 'stored', action, id }
}

function unsupported(): Route {
  return { kind: 'unsupported' }
}

function notImplemented(): Route {
  return { kind: 'not-implemented' }
}

export const controlPrefix = '/_repoint/'

/** The path of a request target, without the query. The target may be a full URL. */
export function requestPath({ url = '/' }: IncomingMessage): string {
  const path = url.split('?', 1)[0]!
  if (path.startsWith('/')) return path
  return /^https?:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? '/'
}

export function findRoute(method: string, path: string): Route {
  if (path.startsWith(controlPrefix)) return { kind: 'control' }
  // The imitated gateway checks only the prefix, so /v1beta and /apifox are not pages either.
  if (!/^\/(v1|api|assets)/.test(path)) return { kind: 'web' }

  const line = `${method} ${path}`
  for (const [pattern, routeOf] of apiRoutes) {
    const match = pattern.exec(line)
    if (match !== null) return routeOf(match[1] ?? '')
  }
  return { kind: 'unknown' }
}

/** Whether the route accepts `x-api-key`. Our own routes do. */
export function readsApiKey(path: string): boolean {
  return (
    ['/v1/messages', '/v1/models'].some((part) => path.includes(part)) ||
    path.startsWith(controlPrefix)
  )
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
