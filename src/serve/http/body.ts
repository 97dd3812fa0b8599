/** Reads the bodies of requests: whole before the response, or the rest after an early one. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Decompress } from 'fzstd'
import { maxLoggedBody } from '../log/request-log.ts'

/** Why there is no body. `wrong-encoding`: it is not encoded as its header says. */
type BodyProblem = 'too-large' | 'disconnected' | 'wrong-encoding'

/** How many pieces are joined at a time. A piece of one byte takes 350 bytes of memory. */
const piecesPerBlock = 1024

/**
 * Reads a whole body. Events take half of the time of an asynchronous iterator. The rest of a body that is
 * `too-large` is not read yet.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | BodyProblem> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve('too-large')

    const blocks: Buffer[] = []
    let pieces: Buffer[] = []
    let bytes = 0
    const read = (piece: Buffer) => {
      bytes += piece.length
      if (bytes > maxBytes) {
        request.off('data', read).pause()
        resolve('too-large')
      }
      pieces.push(piece)
      if (pieces.length < piecesPerBlock) return
      blocks.push(Buffer.concat(pieces))
      pieces = []
    }

    request
      .on('data', read)
      .once('end', () => {
        if (blocks.length === 0 && pieces.length === 1) resolve(pieces[0]!)
        else resolve(Buffer.concat([...blocks, ...pieces], bytes))
      })
      .once('error', () => resolve('disconnected'))
      .once('close', () => {
        if (!request.complete) resolve('disconnected')
      })
  })
}

const decompressors: Readonly<Record<string, (body: Buffer, maxBytes: number) => Promise<Buffer>>> =
  {
    gzip: (body, maxOutputLength) => promisify(gunzip)(body, { maxOutputLength }),
    deflate: (body, maxOutputLength) => promisify(inflate)(body, { maxOutputLength }),
    br: (body, maxOutputLength) => promisify(brotliDecompress)(body, { maxOutputLength }),
    // Node supports zstd since 22.15.
    zstd: async (body, maxBytes) => {
      const pieces: Uint8Array[] = []
      let bytes = 0
      const stream = new Decompress((piece) => {
        bytes += piece.length
        if (bytes > maxBytes) throw new RangeError('too large')
        pieces.push(piece)
      })
      stream.push(body, true)
      return Buffer.concat(pieces)
    },
  }

/**
 * Decompresses a body: Codex sends zstd, others gzip and br. A body with another encoding is returned
 * unchanged.
 */
export async function decompress(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | BodyProblem> {
  const name = encoding?.trim().toLowerCase() ?? ''
  const decompressor = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined
  if (decompressor === undefined) return body

  try {
    return await decompressor(body, maxBytes)
  } catch (error) {
    // ERR_BUFFER_TOO_LARGE is a RangeError too.
    return error instanceof RangeError ? 'too-large' : 'wrong-encoding'
  }
}

export interface RemainingUpload {
  /** The number of bytes that the client sent. */
  readonly bytes: number
  /** Decompressed. */
  readonly text: string
}

/** How long an upload may continue after the response, in ms. */
const lingerMs = 1000

/**
 * Reads the rest of a request that gets its response before its body was read, up to the limit of the
 * log. The client can finish sending for a moment, so that it reads the response instead of a reset.
 * Then the connection is dropped. Call this before writing the response, because Node discards unread
 * data then.
 *
 * @returns undefined if the request is complete
 */
export function readRemainingUpload(
  request: IncomingMessage,
): Promise<RemainingUpload> | undefined {
  const { 'content-length': contentLength, 'transfer-encoding': transferEncoding } = request.headers
  if (request.complete || request.destroyed) return undefined
  if (contentLength === undefined && transferEncoding === undefined) return undefined

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
    const body = await decompress(sent, encoding, maxDecompressedBytes)
    if (body === 'too-large') return { bytes, text: '' }
    return { bytes, text: (typeof body === 'string' ? sent : body).toString() }
  })
}

/** The limit for decompressing a rejected request, in bytes. The client may have no valid key. */
const maxDecompressedBytes = 4 * maxLoggedBody
