import type { IncomingMessage } from 'node:http'
import { maxLoggedBody } from '../log/request-log.ts'
import { decompress } from './body.ts'

/** How long an upload may go on after its answer, in ms. */
const lingerMs = 1000

/**
 * What comes of a request that is answered without its body, as far as the log keeps it. Lets the
 * client finish sending for a moment, so that it reads the answer instead of a reset, then drops the
 * connection. To be called before the answer is written: Node throws away what nobody reads by then.
 *
 * @returns the bytes as they were sent, and the text, unpacked; undefined: nothing comes any more
 */
export function readRemainingUpload(request: IncomingMessage) {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (request.complete || request.destroyed) return undefined
  if (announced === undefined && encoding === undefined) return undefined

  const pieces: Buffer[] = []
  let bytes = 0
  const keep = (piece: Buffer) => {
    if (bytes < maxLoggedBody) pieces.push(piece)
    bytes += piece.length
  }
  // Of a body that was too large, the beginning has gone.
  if (request.readableDidRead) request.resume()
  else request.on('data', keep)

  const timer = setTimeout(() => request.socket.destroy(), lingerMs)
  const ended = new Promise<void>((resolve) => request.once('end', resolve).once('close', resolve))
  return ended.then(async () => {
    clearTimeout(timer)
    const sent = Buffer.concat(pieces)
    const encoding = request.headers['content-encoding']
    const body = await decompress(sent, encoding, maxDecompressedBytes).catch(() => sent)
    return { bytes, text: body?.toString() ?? '' }
  })
}

/** Larger bodies are not unpacked for somebody who may not even ask, in bytes. */
const maxDecompressedBytes = 4 * maxLoggedBody
