import type { IncomingMessage } from 'node:http'

/**
 * The first value of a header. Reads the raw list: Node builds its object of all headers at the first
 * look at it, which costs as much as all our own work on a small request.
 *
 * @param name in lower case
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at]!
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      return rawHeaders[at + 1]
  }
  return undefined
}
