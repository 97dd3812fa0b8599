import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AuthHeaders } from './log/entry.ts'
import { minKeyLength } from './log/secrets.ts'

export interface RequestKey {
  readonly auth: AuthHeaders
  /** The effective key, without `Bearer `; empty if there is none. */
  readonly key: string
}

/** @param readsApiKey on the messages and models routes, `x-api-key` takes precedence; others ignore it */
export function readRequestKey({ headers }: IncomingMessage, readsApiKey: boolean): RequestKey {
  const authorization = headers.authorization ?? ''
  const apiKey = String(headers['x-api-key'] ?? '')
  const usesApiKey = apiKey !== '' && readsApiKey
  return {
    auth: authHeaders(authorization !== '', apiKey !== ''),
    key: usesApiKey ? apiKey.trim() : removeBearer(authorization),
  }
}

function authHeaders(hasAuthorization: boolean, hasApiKey: boolean): AuthHeaders {
  if (hasAuthorization) return hasApiKey ? 'both' : 'bearer'
  return hasApiKey ? 'x-api-key' : 'none'
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
