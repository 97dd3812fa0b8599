import { ifPossible } from '../../errors.ts'
import type { HttpAnswer } from '../judge/answer.ts'

/** Decompresses and decodes a body, up to `maxBytes`. Keeps a byte order mark. Never throws. */
export async function decodeBody(
  bytes: Uint8Array,
  headers: HttpAnswer['headers'],
  maxBytes: number,
): Promise<{ text: string; cut?: 'limit' | 'encoding' }> {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  if (encoding === '' || encoding === 'identity' || bytes.length === 0) {
    return { text: decodeCharset(bytes, headers) }
  }

  const zlib = await import('node:zlib')
  // Decompresses as far as possible, so that a truncated response still shows its beginning.
  const options = { maxOutputLength: maxBytes, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  const brotli = {
    maxOutputLength: maxBytes,
    finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
  }

  const unpack: Record<string, (packed: Uint8Array) => Uint8Array> = {
    gzip: (packed) => zlib.gunzipSync(packed, options),
    'x-gzip': (packed) => zlib.gunzipSync(packed, options),
    br: (packed) => zlib.brotliDecompressSync(packed, brotli),
    deflate: (packed) =>
      // Some servers send the raw form: its first byte is not a zlib header.
      (packed[0]! & 0x0f) === 8
        ? zlib.inflateSync(packed, options)
        : zlib.inflateRawSync(packed, options),
  }

  // Node has it from 22.15 on.
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof zlib.inflateSync }
  if (zstdDecompressSync)
    unpack['zstd'] = (packed) => zstdDecompressSync(packed, { maxOutputLength: maxBytes })

  try {
    let unpacked = bytes
    for (const name of encoding.split(/\s*,\s*/).reverse()) unpacked = unpack[name]!(unpacked)
    return { text: decodeCharset(unpacked, headers) }
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    return { text: '', cut: isTooLarge ? 'limit' : 'encoding' }
  }
}

function decodeCharset(bytes: Uint8Array, headers: HttpAnswer['headers']): string {
  const charset = /charset=["']?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  const options = { ignoreBOM: true }
  const decoder =
    ifPossible(() => new TextDecoder(charset, options)) ?? new TextDecoder('utf-8', options)
  return decoder.decode(bytes)
}
