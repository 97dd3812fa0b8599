import { randomInt } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Letters and digits from the system's random source. */
function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** A key as the service hands them out. */
export function generateKey(): string {
  return `sk-${randomText(48)}`
}

/**
 * Ids of requests: the UTC time, nanoseconds and eight letters, as the service writes them. Random
 * letters are drawn once; the counter keeps ids of one process apart.
 */
export function requestIds(): (now: Date) => string {
  const letters = randomText(8)
  let count = 0
  return (now) => {
    const second = now.toISOString().slice(0, 19).replace(/[-:T]/g, '')
    count = (count + 1) % 1_000_000_000
    return second + String(count).padStart(9, '0') + letters
  }
}

/** Ids of answers and tool calls: 16 random letters, drawn once, and 8 digits that count. */
export function answerIds(): () => string {
  const letters = randomText(16)
  let count = 0
  return () => letters + String(count++).padStart(8, '0')
}
