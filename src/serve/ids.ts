import { randomInt } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Letters and digits from the system's random source. */
function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** A key in the format of the imitated gateway. */
export function generateKey(): string {
  return `sk-${randomText(48)}`
}

/**
 * Creates request IDs in the format of the imitated gateway: UTC time, nanoseconds and eight letters. The letters
 * are random for each process. A counter instead of nanoseconds makes the IDs unique.
 */
export function requestIds(): (now: Date) => string {
  const letters = randomText(8)
  let count = 0
  let lastSecond = -1
  let time = ''
  return (now) => {
    const second = Math.trunc(now.getTime() / 1000)
    if (second !== lastSecond) time = now.toISOString().slice(0, 19).replace(/[-:T]/g, '')
    lastSecond = second
    count = (count + 1) % 1_000_000_000
    return time + String(count).padStart(9, '0') + letters
  }
}

/** Creates IDs of answers and tool calls: 16 letters, random for each process, and 8 digits of a counter. */
export function answerIds(): () => string {
  const letters = randomText(16)
  let count = 0
  return () => letters + String(count++).padStart(8, '0')
}
