import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AuthHeaders } from './log/request-log.ts'
import { minKeyLength } from './log/secrets.ts'

/**
 * The key that counts. `x-api-key` is looked at on the messages and models routes only, and wins
 * there. Without `Bearer `; empty: there is none.
 */
export function readRequestKey({ headers }: IncomingMessage, readsApiKey: boolean) {
  const authorization = headers.authorization ?? ''
  const apiKey = String(headers['x-api-key'] ?? '')
  const hasApiKey = apiKey !== ''
  const auth: AuthHeaders =
    authorization === '' ? (hasApiKey ? 'x-api-key' : 'none') : hasApiKey ? 'both' : 'bearer'
  return { auth, key: hasApiKey && readsApiKey ? apiKey.trim() : removeBearer(authorization) }
}

// The service takes "Bearer " and "bearer " away and accepts a naked key too.
function removeBearer(authorization: string): string {
  const isMarked = authorization.startsWith('Bearer ') || authorization.startsWith('bearer ')
  return (isMarked ? authorization.slice(7) : authorization).trim()
}

/**
 * Whether a key can keep anybody out: `sk-` alone counts as no key at all, and the log hides no short
 * one.
 */
export function isUsableKey(key: string): boolean {
  return removePrefix(key).length >= minKeyLength && /^[\x21-\x7e]+$/.test(key)
}

/** Compares keys without telling by its time how much of a guess was right. */
export function keyChecker(key: string): (candidate: string) => boolean {
  const expected = Buffer.from(removePrefix(key))
  return (candidate) => {
    const bytes = Buffer.from(removePrefix(candidate))
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }
}

// The service drops "sk-" before it looks a key up.
function removePrefix(key: string): string {
  return key.startsWith('sk-') ? key.slice(3) : key
}
