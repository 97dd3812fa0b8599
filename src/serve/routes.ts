import type { IncomingMessage } from 'node:http'
import type { Protocol } from '../protocols.ts'

/** The route of a request. */
export type Route =
  | { readonly kind: 'inference'; readonly protocol: Protocol }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly id: string }
  /** A stored answer, or its input. */
  | { readonly kind: 'stored'; readonly id: string; readonly isInput: boolean }
  /** `leftOut`: the imitated gateway implements it, and this gateway does not. */
  | { readonly kind: 'not-implemented'; readonly leftOut: boolean }
  | { readonly kind: 'unknown' }
  /** Our own routes for the page, the log and the faults. */
  | { readonly kind: 'control' }
  | { readonly kind: 'web' }

const inferenceRoutes: ReadonlyMap<string, Route> = new Map([
  ['/v1/chat/completions', { kind: 'inference', protocol: 'chat' }],
  ['/v1/responses', { kind: 'inference', protocol: 'responses' }],
  ['/v1/messages', { kind: 'inference', protocol: 'messages' }],
])

/** Routes that the imitated gateway has and this gateway does not. */
const unsupportedRoutes: readonly RegExp[] = [
  /^POST \/v1\/(completions|edits|embeddings|rerank|moderations|responses\/compact)$/,
  /^POST \/v1\/images\/(generations|edits)$/,
  /^POST \/v1\/audio\/(transcriptions|translations|speech)$/,
  /^POST \/v1\/engines\/[^/]+\/embeddings$/,
  /^POST \/v1\/models\/./,
  /^GET \/v1\/realtime$/,
]

/** Routes that the imitated gateway knows but does not implement. */
const notImplementedRoutes: readonly RegExp[] = [
  /^POST \/v1\/images\/variations$/,
  /^DELETE \/v1\/models\/[^/]+$/,
  /^(GET|POST) \/v1\/files$/,
  /^(GET|DELETE) \/v1\/files\/[^/]+$/,
  /^GET \/v1\/files\/[^/]+\/content$/,
  /^(GET|POST) \/v1\/fine-tunes$/,
  /^GET \/v1\/fine-tunes\/[^/]+(\/events)?$/,
  /^POST \/v1\/fine-tunes\/[^/]+\/cancel$/,
]

export const controlPrefix = '/_repoint/'

/** The path of a request target, without the query. The target may be a full URL. */
export function requestPath({ url = '/' }: IncomingMessage): string {
  const path = url.split('?', 1)[0]!
  if (path.startsWith('/')) return path
  return /^https?:\/\/[^/]*(\/.*)?$/i.exec(path)?.[1] ?? '/'
}

export function findRoute(method: string, path: string): Route {
  if (method === 'POST') {
    const route = inferenceRoutes.get(path)
    if (route !== undefined) return route
  }
  if (path.startsWith(controlPrefix)) return { kind: 'control' }
  // The imitated gateway checks only the prefix, so /v1beta and /apifox are not pages either.
  if (!/^\/(v1|api|assets)/.test(path)) return { kind: 'web' }

  if (method === 'GET' && path === '/v1/models') return { kind: 'models' }
  const model = method === 'GET' ? /^\/v1\/models\/([^/]+)$/.exec(path)?.[1] : undefined
  if (model !== undefined) return { kind: 'model', id: decodeId(model) }

  const stored = /^\/v1\/responses\/(resp_[^/]+)(\/input_items)?$/.exec(path)
  if (stored !== null && (method === 'GET' || (method === 'DELETE' && !stored[2])))
    return { kind: 'stored', id: stored[1]!, isInput: stored[2] !== undefined }

  const key = `${method} ${path}`
  const leftOut = unsupportedRoutes.some((pattern) => pattern.test(key))
  const isKnown = leftOut || notImplementedRoutes.some((pattern) => pattern.test(key))
  return isKnown ? { kind: 'not-implemented', leftOut } : { kind: 'unknown' }
}

/** Whether the route accepts `x-api-key`. */
export function readsApiKey(path: string): boolean {
  return path.includes('/v1/messages') || path.includes('/v1/models')
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
