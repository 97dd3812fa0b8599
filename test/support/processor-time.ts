/** Seconds of processor time, since other programs may use the machine. */
export function timed<Result>(work: () => Result): { result: Result; seconds: number } {
  const started = process.cpuUsage()
  const result = work()
  return { result, seconds: process.cpuUsage(started).user / 1e6 }
}

/**
 * How many times as long the first work takes as doing the second one so many times, in the best of five rounds: a
 * machine that is slow for a while slows both halves of a round.
 */
export function timesAsLong(work: () => void, times: number, reference: () => void): number {
  const rounds = [1, 2, 3, 4, 5].map(() => {
    const { seconds } = timed(work)
    return seconds / timed(() => Array.from({ length: times }, reference)).seconds
  })
  return Math.min(...rounds)
}
