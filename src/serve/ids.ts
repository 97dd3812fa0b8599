import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Letters and digits from the system's random source. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length)
    // 248 is the largest multiple of 62 in a byte: no letter is likelier than another.
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  return text
}

/** A key as the service hands them out. */
export function generateKey(): string {
  return `sk-${randomText(48)}`
}

/**
 * Ids of requests: the UTC time, nanoseconds and eight letters, as the service writes them. Random
 * letters are drawn once; the counter keeps ids of one process apart.
 *
 * @returns takes the time in ms since 1970
 */
export function requestIds(): (now: number) => string {
  const letters = randomText(8)
  let second = 0
  let prefix = ''
  let count = 0
  return (time) => {
    const currentSecond = Math.floor(time / 1000)
    if (currentSecond !== second) {
      second = currentSecond
      prefix = new Date(time).toISOString().slice(0, 19).replace(/[-:T]/g, '')
    }
    count = (count + 1) % 1_000_000_000
    return prefix + String(1_000_000_000 + count).slice(1) + letters
  }
}

/** Ids of answers and tool calls: 16 random letters and 8 digits that count. */
export function answerIds(): () => string {
  let letters = randomText(16)
  let count = 0
  return () => {
    if (count === 100_000_000) {
      letters = randomText(16)
      count = 0
    }
    return letters + String(100_000_000 + count++).slice(1)
  }
}
