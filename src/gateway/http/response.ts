/** The response to a request: collects what arrives, decompresses it, and makes plain data of it. */
import { ifPossible } from '../../errors.ts'
import type { HttpResponse, NetworkFailure } from '../judge/types.ts'
import type { Connection } from './connection.ts'

/** How much of a response to read. */
export interface ResponseLimits {
  /** The limit for the body, compressed or not. */
  readonly maxBytes: number
  /** Whether a text that ends like this is enough, so that the rest need not be read. */
  readonly isEnough?: (lastText: string) => boolean
}

/** How much of the text `isEnough` sees, in characters. The responses protocol repeats the answer in its last event. */
const lastTextLength = 200_000

/** The response received so far. */
export class ResponseBuffer {
  status = 0
  private headers: Record<string, string> = {}
  private readonly chunks: Uint8Array[] = []
  private sizeBytes = 0
  private lastText = ''
  private readonly decoder = new TextDecoder()
  private readonly limits: ResponseLimits

  constructor(limits: ResponseLimits) {
    this.limits = limits
  }

  start(
    status: number,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): void {
    this.status = status
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) {
        this.headers[name] = typeof value === 'string' ? value : value.join(', ')
      }
    }
  }

  add(chunk: Uint8Array): 'more' | 'enough' | 'limit' {
    const roomBytes = this.limits.maxBytes - this.sizeBytes
    this.chunks.push(chunk.subarray(0, roomBytes))
    this.sizeBytes += chunk.length
    if (chunk.length > roomBytes) return 'limit'

    // A compressed body can only be checked as a whole.
    if (this.limits.isEnough === undefined || this.headers['content-encoding'] !== undefined) {
      return 'more'
    }
    const text = this.lastText + this.decoder.decode(chunk, { stream: true })
    this.lastText = text.slice(-lastTextLength)

    return this.limits.isEnough(this.lastText) ? 'enough' : 'more'
  }

  async toResponse(end: {
    url: URL
    connection: Connection
    cut: 'limit' | 'connection' | undefined
    isOpen: boolean
  }): Promise<HttpResponse> {
    const { limits, status, headers } = this
    const decoded = await decodeBody(Buffer.concat(this.chunks), headers, limits.maxBytes)
    return {
      url: end.url.href,
      status,
      headers,
      body: decoded.text,
      cut: decoded.cut ?? end.cut,
      isOpen: end.isOpen || undefined,
      proxy: end.connection.shownProxy,
    }
  }
}

/** Decompresses and decodes a body, up to `maxBytes`. Keeps a byte order mark. Never throws. */
async function decodeBody(
  bytes: Uint8Array,
  headers: HttpResponse['headers'],
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

function decodeCharset(bytes: Uint8Array, headers: HttpResponse['headers']): string {
  const charset = /charset=["']?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  const options = { ignoreBOM: true }
  const decoder =
    ifPossible(() => new TextDecoder(charset, options)) ?? new TextDecoder('utf-8', options)
  return decoder.decode(bytes)
}

/** A request without a response, as plain data. */
export function toNetworkFailure(options: {
  connection: Connection
  url: URL
  reason: NetworkFailure['reason']
  error: Error
  waitedMs: number
}): NetworkFailure {
  const { connection, url, reason, waitedMs } = options
  const error = options.error as NodeJS.ErrnoException & {
    // From undici: bytes that are not HTTP.
    data?: string
    // From Node, if a name has several addresses and none responds.
    errors?: readonly NodeJS.ErrnoException[]
    // From Node, for a certificate of another host.
    cert?: { subjectaltname?: string }
  }

  // undici reports a proxy's rejection only in the message (7.30, lib/dispatcher/proxy-agent.js).
  const rejection = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1]

  return {
    url: url.href,
    stage: rejection === undefined ? connection.stage : 'proxy',
    errorCode: error.code ?? error.errors?.[0]?.code ?? '',
    detail: error.cert === undefined ? error.message : (error.cert.subjectaltname ?? ''),
    reason,
    waitedMs,
    firstBytes: typeof error.data === 'string' ? error.data.slice(0, 200) : undefined,
    proxyStatus: rejection === undefined ? undefined : Number(rejection),
    proxy: connection.shownProxy,
  }
}
