import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { headerOf } from './headers.ts'

/** Which headers carried a key. */
export type AuthHeaders = 'bearer' | 'x-api-key' | 'both' | 'none'

export interface SeenKey {
  readonly auth: AuthHeaders
  /** The key that counts, without `Bearer `. Empty: there is none. */
  readonly key: string
}

/**
 * The key that counts. `x-api-key` is looked at on the messages and models routes only, and wins
 * there.
 */
export function readKey(request: IncomingMessage, readsApiKey: boolean): SeenKey {
  const authorization = headerOf(request, 'authorization') ?? ''
  const apiKey = headerOf(request, 'x-api-key') ?? ''
  const hasApiKey = apiKey !== ''
  const auth =
    authorization === '' ? (hasApiKey ? 'x-api-key' : 'none') : hasApiKey ? 'both' : 'bearer'
  return { auth, key: hasApiKey && readsApiKey ? apiKey.trim() : withoutBearer(authorization) }
}

// The service takes "Bearer " and "bearer " away and accepts a naked key too.
function withoutBearer(authorization: string): string {
  const isMarked = authorization.startsWith('Bearer ') || authorization.startsWith('bearer ')
  return (isMarked ? authorization.slice(7) : authorization).trim()
}

/** Compares keys without telling by its time how much of a guess was right. */
export function keyChecker(key: string): (seen: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(withoutPrefix(text)).digest()
  const expected = digest(key)
  let lastGood: string | undefined
  return (seen) => {
    if (seen === lastGood) return true
    if (!timingSafeEqual(digest(seen), expected)) return false
    lastGood = seen
    return true
  }
}

// The service drops "sk-" before it looks a key up.
function withoutPrefix(key: string): string {
  return key.startsWith('sk-') ? key.slice(3) : key
}

/** Enough of a key to tell two apart, not enough to use one. */
export function maskKey(key: string): string {
  if (key === '') return ''
  if (key.length < 16) return '***'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}
