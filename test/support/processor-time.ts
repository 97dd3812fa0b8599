/** Seconds of processor time, since other programs may use the machine. */
export function timed<Result>(work: () => Result): { result: Result; seconds: number } {
  const started = process.cpuUsage()
  const result = work()
  return { result, seconds: process.cpuUsage(started).user / 1e6 }
}

/** The least seconds in which `work` is done so many times. */
export function secondsFor(times: number, work: () => void): number {
  const repeat = () => {
    for (let done = 0; done < times; done++) work()
  }
  return Math.min(...[1, 2, 3].map(() => timed(repeat).seconds))
}
