import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { Failure } from '../codecs/failure.ts'
import { failures, failureText } from '../codecs/failure.ts'
import { sseHeaders } from '../codecs/sse.ts'
import { describeFault } from '../faults/fault-members.ts'
import type { FaultEffects } from '../faults/faults.ts'
import type { LogEntry } from '../log/entry.ts'
import { maxLoggedBody } from '../log/request-log.ts'
import type { Limits } from '../options.ts'
import { page } from '../page/page.ts'
import { type RemainingUpload, readRemainingUpload } from './body.ts'
import { vendorHeaders } from './vendor-headers.ts'

export const jsonType = 'application/json; charset=utf-8'

export interface TextResponse {
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
  /** The Content-Type. Absent: that of server-sent events. */
  readonly type?: string
  /** The parts that are written one after the other. */
  readonly pieces: readonly (string | Buffer)[]
  /** The delay before the piece with this index, in ms. Absent: a turn of the event loop. */
  readonly delayMsBefore?: (index: number) => number
  /** `cut`: the connection is destroyed instead of ended. */
  readonly ending: 'end' | 'cut'
  /** Further headers. */
  readonly headers?: OutgoingHttpHeaders
}

interface ReplyOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly entry: LogEntry
  readonly limits: Limits
  /** Called once, when the entry is complete. */
  readonly onEnd: (entry: LogEntry) => void
}

/**
 * The response to one request. Only this class writes to it. It records in the log entry what was sent
 * when, and stops writing when the client disconnects.
 */
export class Reply {
  readonly request: IncomingMessage
  readonly entry: LogEntry
  readonly #response: ServerResponse
  readonly #options: ReplyOptions
  #stopWaiting = () => {}
  #onFinish = () => {}
  #hasEnded = false
  /** The system accepted the whole response while the client was connected. */
  #isDelivered = false
  /** The text that was sent, up to the limit of the log. */
  #sentText = ''
  /** A piece of bytes may end in the middle of a character. */
  #decoder: StringDecoder | undefined
  /** The part of the request that arrives after the response. */
  #remainingUpload: Promise<RemainingUpload> | undefined

  constructor(options: ReplyOptions) {
    this.request = options.request
    this.entry = options.entry
    this.#response = options.response
    this.#options = options
    options.response.once('close', () => {
      this.#end(this.#isDelivered ? 'done' : 'cut')
      this.#stopWaiting()
    })
  }

  /** Nothing was sent so far, and the client is connected. */
  get isPending(): boolean {
    return this.entry.status === undefined && !this.#hasEnded
  }

  /** Sends a whole text. */
  send({ status = 200, type, text, headers = {} }: TextResponse): void {
    this.#remainingUpload = readRemainingUpload(this.request)
    this.#writeHead(status, type, { 'Content-Length': Buffer.byteLength(text), ...headers })
    this.#logPiece(text)
    this.#response.end(text)
    this.#end('done')
  }

  json(text: string, headers: OutgoingHttpHeaders = {}): void {
    this.send({ type: jsonType, text, headers })
  }

  /** @param reason the explanation for the log; absent: the failure's message */
  fail(failure: Failure, reason = failure.message): void {
    const { protocol, id } = this.entry
    const { status, retryAfter, shape } = failure
    this.entry.reason = reason
    const remaining = status === 429 ? 0 : undefined
    const headers = {
      ...(shape === 'vendor' ? vendorHeaders(protocol, this.entry, remaining) : {}),
      ...(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
      // Both official SDKs repeat a request with a status from 500 on otherwise.
      ...(isFinal(failure) ? { 'x-should-retry': 'false' } : {}),
    }
    this.send({ status, type: jsonType, text: failureText(failure, id, protocol), headers })
  }

  page(): void {
    const headers = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': page.policy }
    this.send({ type: 'text/html; charset=utf-8', text: page.html, headers })
  }

  /**
   * Carries out what a fault does before or in place of a response: a delay, a reset or a web page. Returns
   * whether the response should follow. `inference-handler.ts` carries out the other effects.
   */
  async delayOrReplace(effects: FaultEffects): Promise<boolean> {
    // The client may have disconnected while an answer function was running.
    if (this.#hasEnded) return false
    this.entry.fault = describeFault(effects) || undefined
    if (effects.delayMs !== undefined && (await this.wait(effects.delayMs)) === 'stopped')
      return false

    if (effects.reset) this.reset()
    else if (effects.webPage) this.page()
    return !effects.reset && !effects.webPage
  }

  /** Reports a bug in repoint: with a 500, or by ending a response that has begun. */
  crash(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (this.isPending) this.fail(failures.internal(message))
    else this.#response.destroy()
  }

  /** Announces a whole response, sends half of it and destroys the connection. */
  sendHalf({ status = 200, type, text }: TextResponse): void {
    this.#writeHead(status, type, { 'Content-Length': Buffer.byteLength(text) })
    const half = text.slice(0, text.length / 2)
    this.#logPiece(half)
    this.#response.write(half)
    this.#cut()
  }

  /** Resets the connection without a response. */
  reset(): void {
    this.request.socket.resetAndDestroy()
    this.abandon()
  }

  /** The client disconnected before the response was complete. */
  abandon(): void {
    this.#end('cut')
  }

  /** Calls back once, when the response has ended or the client has disconnected. */
  onEnd(callBack: () => void): void {
    // Before the constructor's listener, so that `onRequest` sees the effect.
    this.#response.prependOnceListener('close', callBack)
  }

  /** Calls back once, when the entry has its final state. */
  onFinish(callBack: () => void): void {
    this.#onFinish = callBack
  }

  /** Waits. `stopped`: the client disconnected, or `#stopWaiting` was called, before the time was over. */
  wait(delayMs: number): Promise<'elapsed' | 'stopped'> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs, 'elapsed')
      this.#stopWaiting = () => {
        clearTimeout(timer)
        resolve('stopped')
      }
    })
  }

  /** Writes a stream piece by piece. */
  async stream(stream: StreamResponse): Promise<void> {
    const {
      status = 200,
      type = sseHeaders['Content-Type'],
      pieces,
      delayMsBefore,
      ending,
      headers,
    } = stream
    const response = this.#response
    this.#writeHead(status, type, { ...sseHeaders, 'Content-Type': type, ...headers })

    for (const [index, piece] of pieces.entries()) {
      if (index > 0)
        await (delayMsBefore === undefined ? nextTurn() : this.wait(delayMsBefore(index)))
      if (this.#hasEnded) return
      this.#logPiece(piece)
      if (index < pieces.length - 1 && !response.write(piece)) await this.#waitForDrain()
    }

    const lastPiece = pieces.at(-1) ?? ''
    if (ending === 'end') response.end(lastPiece, this.#confirmDelivery)
    else {
      response.write(lastPiece)
      this.#cut()
    }
  }

  /** Forwards a response as it arrives. `onPiece` receives each piece. */
  relay(
    answer: IncomingMessage,
    headers: OutgoingHttpHeaders,
    onPiece: (piece: Buffer) => void,
  ): void {
    const response = this.#response
    const status = answer.statusCode ?? 0
    this.#startResponse(status, { ...headers, 'X-Oneapi-Request-Id': this.entry.id })

    answer.on('data', (piece: Buffer) => {
      onPiece(piece)
      this.#logPiece(piece)
    })
    answer.once('error', () => response.destroy())
    answer.pipe(response).once('finish', this.#confirmDelivery)
  }

  /** Node calls back, and emits `finish`, even if the client has disconnected (20.20, 2026-11-25). */
  readonly #confirmDelivery = () => {
    this.#isDelivered = !this.request.socket.destroyed
  }

  #startResponse(status: number, headers: OutgoingHttpHeaders): void {
    const { entry } = this
    entry.status = status
    entry.firstByteMs = performance.now() - entry.startedMs
    entry.responseHeaders = headers
    this.#response.writeHead(status, headers)
  }

  #writeHead(status: number, contentType: string, moreHeaders: OutgoingHttpHeaders): void {
    const { entry, request } = this
    // The imitated gateway allows requests from any web page.
    const isForAnyPage = request.headers.origin !== undefined && entry.path.startsWith('/v1')
    const headers: OutgoingHttpHeaders = {
      'Content-Type': contentType,
      'X-Oneapi-Request-Id': entry.id,
      ...moreHeaders,
    }
    if (isForAnyPage) headers['Access-Control-Allow-Origin'] = '*'
    this.#startResponse(status, headers)
  }

  /** Counts a piece, and adds it to the text for the log. */
  #logPiece(piece: Buffer | string): void {
    this.entry.responseBytes += Buffer.byteLength(piece)
    if (this.#sentText.length > maxLoggedBody) return
    if (typeof piece !== 'string') this.#decoder ??= new StringDecoder()
    this.#sentText += typeof piece === 'string' ? piece : this.#decoder!.write(piece)
  }

  /** Waits until the client has read. Disconnects a client that does not read for too long. */
  async #waitForDrain(): Promise<void> {
    this.#response.once('drain', () => this.#stopWaiting())
    const end = await this.wait(this.#options.limits.stalledWriteMs)
    if (end === 'elapsed') this.#response.destroy()
  }

  /** Flushes the written data, then destroys the connection without ending the response. */
  #cut(): void {
    this.#response.flushHeaders()
    // Node keeps written data until the end of this turn (26.10.0, 2026-11-23).
    setImmediate(() => this.request.socket.destroySoon())
    this.#end('cut')
  }

  #end(state: 'done' | 'cut'): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { entry } = this
    entry.state = state
    entry.totalMs = performance.now() - entry.startedMs
    entry.responseBody = this.#sentText + (this.#decoder?.end() ?? '')
    this.#onFinish()

    if (this.#remainingUpload === undefined) {
      this.#options.onEnd(entry)
      return
    }
    this.#remainingUpload.then((upload) => {
      entry.requestBytes ||= upload.bytes
      entry.requestBody ||= upload.text
      this.#options.onEnd(entry)
    })
  }
}

/** Waits for a whole turn of the event loop, so that a client in the same process can read. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
}

/** Whether the same request fails again: our own errors, not those that a gateway or vendor has. */
function isFinal({ code }: Failure): boolean {
  return code === 'answer_failed' || code === 'unsupported_by_local_gateway'
}
