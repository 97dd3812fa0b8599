import type { IncomingMessage } from 'node:http'
import { headerOf } from './headers.ts'

/** How reading a body ended. */
export type BodyEnd = 'complete' | 'too-large' | 'cut'

/**
 * Reads a body up to a limit and calls back once. Beyond the limit it stops listening at once: the
 * rest is the server's to throw away.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (end: BodyEnd, bytes: Buffer) => void,
): void {
  if (Number(headerOf(request, 'content-length') ?? 0) > maxBytes) {
    done('too-large', Buffer.alloc(0))
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  let isDone = false
  const end = (how: BodyEnd) => {
    if (isDone) return
    isDone = true
    request.off('data', take)
    done(how, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  }
  const take = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) end('too-large')
    else chunks.push(chunk)
  }
  request.on('data', take)
  request.once('end', () => end('complete'))
  // Comes after the end too, when it no longer counts.
  request.once('close', () => end('cut'))
}
