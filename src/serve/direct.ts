import type { ServerResponse } from 'node:http'
import type { BodyRequest } from './body.ts'
import { keepAliveSeconds } from './connections.ts'

/** What tells a client how long it may come back on the same connection. */
export const keepAlive = new Map([
  ['Connection', 'keep-alive'],
  ['Keep-Alive', `timeout=${keepAliveSeconds}`],
])

/** Whether the connection stays open after an answer, and the client may be told so. */
export function staysOpen(request: BodyRequest, response: ServerResponse): boolean {
  return response.shouldKeepAlive && request.httpVersion === '1.1'
}

/**
 * Whether an answer with status 200 may be written to its connection directly: its turn has come, and
 * the connection stays open after it.
 *
 * Answers that are whole at once take this way past Node's own, which takes a fifth of the time of a
 * stream of fifty events (Node 20.20, 2026-11-21). What goes over the wire is the same.
 */
export function isDirect(request: BodyRequest, response: ServerResponse): boolean {
  return (
    response.socket?.writable === true && staysOpen(request, response) && request.method !== 'HEAD'
  )
}

/**
 * The lines of a head, as Node writes them, without the empty line at its end.
 *
 * @param headers names and values in turn
 */
export function headOf(headers: readonly string[]): string {
  let head = opening
  for (let next = 0; next < headers.length; next += 2)
    head += `${headers[next]}: ${headers[next + 1]}\r\n`
  return head + dateLine()
}

const opening = `HTTP/1.1 200 OK\r\n${[...keepAlive].map(([name, value]) => `${name}: ${value}\r\n`).join('')}`

let second = 0
let line = ''

function dateLine(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    line = `Date: ${new Date(now * 1000).toUTCString()}\r\n`
  }
  return line
}

/** Writes a whole answer, head included. Node goes on with the connection as soon as it is out. */
export function writeDirectly(
  response: ServerResponse,
  answer: string | Buffer,
  encoding: 'latin1' | 'utf8' = 'utf8',
): void {
  response.socket!.write(answer, encoding, (error) => {
    if (!error) response.emit('finish')
  })
}
