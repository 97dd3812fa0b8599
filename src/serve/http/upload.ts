import type { IncomingMessage } from 'node:http'
import { maxLoggedBody } from '../log/request-log.ts'
import { decompress } from './body.ts'

/** How long an upload may continue after the response, in ms. */
const lingerMs = 1000

/**
 * Reads the rest of a request that gets its response before its body was read, up to the limit of the
 * log. The client can finish sending for a moment, so that it reads the response instead of a reset.
 * Then the connection is dropped. Call this before writing the response, because Node discards unread
 * data then.
 *
 * @returns the number of bytes sent, and the decompressed text; undefined if the request is complete
 */
export function readRemainingUpload(request: IncomingMessage) {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (request.complete || request.destroyed) return undefined
  if (announced === undefined && encoding === undefined) return undefined

  const pieces: Buffer[] = []
  let bytes = 0
  const collect = (piece: Buffer) => {
    if (bytes < maxLoggedBody) pieces.push(piece)
    bytes += piece.length
  }
  // The gateway has read the start of a body that was too large, and dropped it.
  if (request.readableDidRead) request.resume()
  else request.on('data', collect)

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

/** The limit for decompressing a rejected request, in bytes. The client may have no valid key. */
const maxDecompressedBytes = 4 * maxLoggedBody
