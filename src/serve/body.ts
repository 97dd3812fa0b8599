import type { IncomingMessage } from 'node:http'

/** So many pieces are joined at a time: a piece may be one byte, and takes 350 to be remembered. */
const piecesAtOnce = 1024

/**
 * Reads a whole body.
 *
 * @returns undefined: it is larger than allowed, and the rest of it is still to come
 * @throws if the client goes away before its end
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined

  const blocks: Buffer[] = []
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
    if (pieces.length < piecesAtOnce) continue
    blocks.push(Buffer.concat(pieces))
    pieces = []
  }
  return Buffer.concat([...blocks, ...pieces], bytes)
}
