import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { StringDecoder } from 'node:string_decoder'
import { sseHeaders } from '../codecs/codec.ts'
import type { GatewayFailure } from '../codecs/failure.ts'
import { failures, failureText } from '../codecs/failure.ts'
import { type LogEntry, maxLoggedBody } from '../log/request-log.ts'
import type { Limits } from '../options.ts'
import { page } from '../page/page.ts'
import { describeFault, type Fault } from '../settings/faults.ts'
import { readRemainingUpload } from './upload.ts'
import { vendorHeaders } from './vendor-headers.ts'

/** `cut`: the connection is torn down instead of ended. */
export type StreamEnding = 'end' | 'cut'

const jsonType = 'application/json; charset=utf-8'

interface TextResponse {
  /** 200 if absent. */
  readonly status?: number
  /** Content-Type. */
  readonly type: string
  readonly text: string
  /** Further headers. */
  readonly headers?: OutgoingHttpHeaders
}

interface StreamResponse {
  /** 200 if absent. */
  readonly status?: number
  /** Content-Type; that of events if absent. */
  readonly type?: string
  /** What is written at a time. */
  readonly pieces: readonly (string | Buffer)[]
  /** How long to wait before the piece with this index, in ms; a turn of the event loop if absent. */
  readonly betweenMs?: ((next: number) => number) | undefined
  readonly ending: StreamEnding
}

interface ReplyOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly entry: LogEntry
  readonly limits: Limits
  /** Called once, when nothing more will be noted in the entry. */
  readonly onEnd: (entry: LogEntry) => void
}

/**
 * The answer to one request: the only place that writes to its response. Notes down in the log entry
 * what was sent when, and stops writing as soon as the client has gone.
 */
export class Reply {
  readonly request: IncomingMessage
  readonly entry: LogEntry
  readonly #response: ServerResponse
  readonly #options: ReplyOptions
  #stopWaiting = () => {}
  #hasEnded = false
  /** Of a stream: the system took its last piece. */
  #isDelivered = false
  /** What was sent, as far as the log keeps it. */
  #sentText = ''
  /** A piece may end in the middle of a character. */
  readonly #decoder = new StringDecoder()
  /** What comes of the request after its answer. */
  #remainingUpload: ReturnType<typeof readRemainingUpload>

  constructor(options: ReplyOptions) {
    this.request = options.request
    this.entry = options.entry
    this.#response = options.response
    this.#options = options
    this.onEnd(() => {
      this.#end(this.#isDelivered ? 'done' : 'cut')
      this.#stopWaiting()
    })
  }

  /** Answers with a whole text at once. */
  send({ status = 200, type, text, headers = {} }: TextResponse): void {
    this.#remainingUpload = readRemainingUpload(this.request)
    this.#writeHead(status, type, { 'Content-Length': Buffer.byteLength(text), ...headers })
    this.#endWith(text)
  }

  json(text: string, headers: OutgoingHttpHeaders = {}): void {
    this.send({ type: jsonType, text, headers })
  }

  /** @param reason in a person's words; the failure's own if absent */
  fail(failure: GatewayFailure, reason = failure.message): void {
    const { protocol, id } = this.entry
    const { status, retryAfter, shape } = failure
    this.entry.reason = reason
    const left = status === 429 ? 0 : undefined
    const more = {
      ...(shape === 'vendor' ? vendorHeaders(protocol, this.entry, left) : {}),
      ...(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
    }
    this.send({ status, type: jsonType, text: failureText(failure, id, protocol), headers: more })
  }

  page(): void {
    const more = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': page.policy }
    this.send({ type: 'text/html; charset=utf-8', text: page.html, headers: more })
  }

  /** Carries out the parts of a fault that come before any answer. Returns whether one is to be given. */
  async applyFault(fault: Fault | undefined): Promise<boolean> {
    // The client may have gone while somebody thought about the answer.
    if (this.#hasEnded) return false
    if (fault === undefined) return true
    this.entry.fault = describeFault(fault)
    if (fault.delayMs !== undefined && !(await this.wait(fault.delayMs))) return false

    if (fault.reset) this.reset()
    else if (fault.webPage) this.page()
    return !fault.reset && !fault.webPage
  }

  /** Our own fault: a 500, or the end of an answer that has begun. */
  crash(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (this.entry.status === undefined) this.fail(failures.internal(message))
    else this.#response.destroy()
  }

  /** Announces a whole answer, sends half of it and tears the connection down. */
  sendHalf(text: string): void {
    this.#writeHead(200, 'application/json', { 'Content-Length': Buffer.byteLength(text) })
    this.#cutAfter(text.slice(0, text.length / 2))
  }

  /** Resets the connection without an answer. */
  reset(): void {
    this.request.socket.resetAndDestroy()
    this.abandon()
  }

  /** The client went away before its answer was complete. */
  abandon(): void {
    this.#end('cut')
  }

  /**
   * Calls back once, when the answer has ended or the client has gone; whoever asked last is called
   * first.
   */
  onEnd(callBack: () => void): void {
    this.#response.prependOnceListener('close', callBack)
  }

  /** Waits, unless the client goes away first. Returns whether it is still there. */
  wait(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs, true)
      this.#stopWaiting = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })
  }

  /** Writes a stream piece by piece. */
  async stream(stream: StreamResponse): Promise<void> {
    const { status = 200, type = sseHeaders['Content-Type'], pieces, betweenMs, ending } = stream
    const response = this.#response
    // Node calls back, and emits `finish`, for a client that has gone too (20.20, 2026-11-25).
    const noteDelivery = () => {
      this.#isDelivered = !this.request.socket.destroyed
    }
    this.#writeHead(status, type, { ...sseHeaders, 'Content-Type': type })

    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await (betweenMs === undefined ? nextTurn() : this.wait(betweenMs(index)))
      if (this.#hasEnded) return
      this.#note(piece)
      const isLast = index === pieces.length - 1
      const isTaken = response.write(piece, isLast ? noteDelivery : undefined)
      if (!isTaken && !isLast) await this.#waitForDrain()
    }
    if (ending === 'end') response.end()
    else {
      this.#tearDown()
      this.#end('cut')
    }
  }

  /** Passes an answer on as it comes; `note` is told each piece. */
  relay(
    answer: IncomingMessage,
    headers: OutgoingHttpHeaders,
    onPiece: (piece: Buffer) => void,
  ): void {
    const response = this.#response
    const status = answer.statusCode ?? 0
    this.onEnd(() => this.#end(response.writableFinished ? 'done' : 'cut'))
    this.#startResponse(status, { ...headers, 'X-Oneapi-Request-Id': this.entry.id })

    answer.on('data', (piece: Buffer) => {
      onPiece(piece)
      this.#note(piece)
    })
    answer.once('error', () => response.destroy())
    answer.pipe(response)
  }

  #endWith(text: string): void {
    this.#note(text)
    this.#response.end(text)
    this.#end('done')
  }

  #cutAfter(text: string): void {
    this.#note(text)
    if (text !== '') this.#response.write(text)
    this.#tearDown()
    this.#end('cut')
  }

  /** Notes down that the answer begins, and writes its headers. */
  #startResponse(status: number, headers: OutgoingHttpHeaders): void {
    const { entry } = this
    entry.status = status
    entry.firstByteMs = performance.now() - entry.startedMs
    entry.responseHeaders = headers
    this.#response.writeHead(status, headers)
  }

  #writeHead(status: number, contentType: string, more: OutgoingHttpHeaders): void {
    const { entry, request } = this
    // The service lets any web page call it.
    const isForAnyPage = request.headers.origin !== undefined && entry.path.startsWith('/v1')
    this.#startResponse(status, {
      'Content-Type': contentType,
      'X-Oneapi-Request-Id': entry.id,
      ...more,
      ...(isForAnyPage ? { 'Access-Control-Allow-Origin': '*' } : {}),
    })
  }

  #note(piece: Buffer | string): void {
    this.entry.responseBytes += Buffer.byteLength(piece)
    if (this.#sentText.length > maxLoggedBody) return
    this.#sentText += typeof piece === 'string' ? piece : this.#decoder.write(piece)
  }

  /** Waits until the client has read; one that does not read for long is cut off. */
  async #waitForDrain(): Promise<void> {
    this.#response.once('drain', () => this.#stopWaiting())
    if (await this.wait(this.#options.limits.stalledWriteMs)) this.#response.destroy()
  }

  /** Flushes what was written, then drops the connection without ending the answer. */
  #tearDown(): void {
    this.#response.flushHeaders()
    // Node keeps what was written until the end of this turn (26.10.0, 2026-11-23).
    setImmediate(() => this.request.socket.destroySoon())
  }

  #end(state: 'done' | 'cut'): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { entry } = this
    entry.state = state
    entry.totalMs = performance.now() - entry.startedMs
    entry.responseBody = this.#sentText + this.#decoder.end()

    if (this.#remainingUpload === undefined) this.#options.onEnd(entry)
    else
      this.#remainingUpload.then((rest) => {
        entry.requestBytes ||= rest.bytes
        entry.requestBody ||= rest.text
        this.#options.onEnd(entry)
      })
  }
}

/** Waits for a whole turn of the event loop, in which a client in the same process reads too. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
}
