import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AuthHeaders } from './log/entry.ts'
import { minKeyLength } from './log/secrets.ts'
import { readsApiKey, requestPath } from './routes.ts'

export interface RequestKey {
  readonly auth: AuthHeaders
  /** The effective key, without `Bearer `; empty if there is none. */
  readonly key: string
}

/** Reads the key. On the routes that accept `x-api-key`, it takes precedence; others ignore it. */
export function readRequestKey(request: IncomingMessage): RequestKey {
  const { authorization = '', 'x-api-key': apiKeyHeader = '' } = request.headers
  const apiKey = String(apiKeyHeader)
  const usesApiKey = apiKey !== '' && readsApiKey(requestPath(request))
  const key = usesApiKey ? apiKey.trim() : removeBearer(authorization)

  if (apiKey === '') return { auth: authorization === '' ? 'none' : 'bearer', key }
  return { auth: authorization === '' ? 'x-api-key' : 'both', key }
}

// The imitated gateway removes "Bearer " or "bearer ", and also accepts a key without it.
function removeBearer(authorization: string): string {
  const isMarked = authorization.startsWith('Bearer ') || authorization.startsWith('bearer ')
  return (isMarked ? authorization.slice(7) : authorization).trim()
}

/** Whether a key protects the gateway. `sk-` alone is not a key, and the log does not mask a short key. */
export function isUsableKey(key: string): boolean {
  return removePrefix(key).length >= minKeyLength && /^[\x21-\x7e]+$/.test(key)
}

/** Creates a function that compares keys in constant time. */
export function keyChecker(key: string): (candidate: string) => boolean {
  const expected = Buffer.from(removePrefix(key))
  return (candidate) => {
    const bytes = Buffer.from(removePrefix(candidate))
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }
}

// The imitated gateway removes "sk-" before it looks up a key.
function removePrefix(key: string): string {
  return key.startsWith('sk-') ? key.slice(3) : key
}
