import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { BodyRequest } from './body.ts'
import type { GatewayFailure } from './codecs/failure.ts'
import { failures, failureText } from './codecs/failure.ts'
import { bytesOf, framed, layDown, leave, pack, type StreamPart } from './codecs/stream-parts.ts'
import { beginAnswer } from './connections.ts'
import { headOf, isDirect, keepAlive, staysOpen, writeDirectly } from './direct.ts'
import { headerOf } from './headers.ts'
import type { LogEntry } from './log/request-log.ts'
import { maxLoggedBodyBytes } from './log/request-log.ts'
import type { Limits } from './options.ts'
import { pageHtml, pagePolicy } from './page/page.ts'

/** How long an upload that nobody wants may go on after its answer, in ms. */
const lingerMs = 1000

const nothing = new Uint8Array(0)

/** Takes what was sent; `isPacked`: as `pack` left it. */
type OnEnd = (exchange: Exchange, sent: string | Buffer, isPacked: boolean) => void

type ExtraHeaders = Readonly<Record<string, string | number>>

/** `cut`: the connection is torn down instead of ended. */
export type StreamEnding = 'end' | 'cut'

const streamHeaders = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' }

/**
 * One request and its answer: the only place that writes to the socket. Notes down in the log entry
 * what was sent when, and stops writing as soon as the client has gone.
 */
export class Exchange {
  readonly request: BodyRequest
  readonly entry: LogEntry
  /** The body as far as it was read. */
  requestBody: Uint8Array = nothing
  readonly #response: ServerResponse
  readonly #limits: Limits
  readonly #onEnd: OnEnd
  #hasEnded = false

  constructor(
    request: BodyRequest,
    response: ServerResponse,
    entry: LogEntry,
    limits: Limits,
    onEnd: OnEnd,
  ) {
    this.request = request
    this.entry = entry
    this.#response = response
    this.#limits = limits
    this.#onEnd = onEnd
  }

  /** Runs a piece of work; what it throws becomes a 500 instead of the end of the process. */
  guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (this.entry.status === undefined) this.fail(failures.internal(message))
      else this.#response.destroy()
    }
  }

  /** Answers with a whole text at once. */
  send(status: number, contentType: string, text: string, extra?: ExtraHeaders): void {
    const response = this.#response
    const bytes = Buffer.byteLength(text)
    const headers = this.#head(status, contentType, extra, bytes)
    if (status === 200 && isDirect(this.request, response)) {
      const encoding = bytes === text.length ? 'latin1' : 'utf8'
      writeDirectly(response, `${headOf(headers)}\r\n${text}`, encoding)
    } else {
      this.#awaitTurn()
      this.#writeHead(status, headers)
      response.end(text)
    }
    this.#dropUpload()
    this.#end('done', text, bytes)
  }

  json(status: number, text: string, extra?: ExtraHeaders): void {
    this.send(status, 'application/json; charset=utf-8', text, extra)
  }

  fail(failure: GatewayFailure): void {
    const { protocol, id } = this.entry
    this.json(
      failure.status,
      failureText(failure, id, protocol),
      failure.retryAfter === undefined ? undefined : { 'Retry-After': failure.retryAfter },
    )
  }

  webPage(): void {
    this.send(200, 'text/html; charset=utf-8', pageHtml, {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': pagePolicy(),
    })
  }

  /** Announces a whole answer, sends half of it and tears the connection down. */
  sendHalf(contentType: string, text: string): void {
    this.#writeHead(200, this.#head(200, contentType, undefined, Buffer.byteLength(text)))
    const half = text.slice(0, text.length / 2)
    this.#tearDownAfter(half)
    this.#end('cut', half, Buffer.byteLength(half))
  }

  /** Resets the connection without an answer, once the answers before it are out. */
  reset(): void {
    const { socket } = this.#response
    if (socket) socket.resetAndDestroy()
    else this.#response.once('socket', (free: Socket) => free.resetAndDestroy())
    this.#end('cut', '')
  }

  /**
   * Calls back once, when the answer has ended or the client has gone. Returns the way to forget it.
   * Of an answer that waits for the one before it on its connection, Node tells the latter to the
   * request alone (20.20, 26.10, 2026-11-21).
   */
  onClose(stop: () => void): () => void {
    const either = [this.request, this.#response]
    const end = beginAnswer(this.request.socket)
    const forget = () => {
      end()
      for (const one of either) one.off('close', stopOnce)
    }
    const stopOnce = () => {
      forget()
      stop()
    }
    for (const one of either) one.once('close', stopOnce)
    return forget
  }

  /** The client went away before its request was complete. */
  abandon(): void {
    this.#end('cut', '')
  }

  /** Calls back after `delayMs`, unless the client has gone by then. */
  after(delayMs: number, proceed: () => void): void {
    const timer = setTimeout(() => {
      this.guard(proceed)
      stay()
    }, delayMs)
    const stay = this.onClose(() => {
      clearTimeout(timer)
      this.#end('cut', '')
    })
  }

  /** Writes a whole stream in one go. */
  streamAtOnce(parts: readonly StreamPart[], ending: StreamEnding): void {
    const response = this.#response
    const headers = this.#head(200, 'text/event-stream', streamHeaders)
    const laid = layDown(parts)
    if (ending === 'end' && isDirect(this.request, response))
      writeDirectly(response, framed(laid, headOf(headers)))
    else {
      this.#awaitTurn()
      this.#writeHead(200, headers)
      if (ending === 'end') response.end(bytesOf(laid))
      else this.#tearDownAfter(bytesOf(laid))
    }
    // What the system did not take is still to be read from there.
    const isOut = response.writableLength === 0
    if (!isOut) leave(laid)
    const packed = isOut ? pack(laid) : undefined
    const state = ending === 'end' ? 'done' : 'cut'
    this.#end(state, packed ?? bytesOf(laid), laid.end - laid.start, packed !== undefined)
  }

  /** Writes a stream piece by piece. `onClose` runs once, when nothing more will be written. */
  streamSlowly(
    frames: readonly string[],
    betweenMs: number,
    ending: StreamEnding,
    onClose: () => void,
  ): void {
    const response = this.#response
    this.#writeHead(200, this.#head(200, 'text/event-stream', streamHeaders))
    let next = 0
    let sent = ''
    let timer: NodeJS.Timeout | undefined
    const write = () => {
      const frame = frames[next++]!
      if (sent.length < maxLoggedBodyBytes) sent += frame
      this.entry.responseBytes += Buffer.byteLength(frame)
      const isLast = next === frames.length
      if (isLast && ending === 'cut') this.#tearDownAfter(frame)
      else if (isLast) response.end(frame)
      else if (response.write(frame)) timer = setTimeout(write, betweenMs)
      else {
        timer = setTimeout(() => response.destroy(), this.#limits.stalledWriteMs)
        response.once('drain', goOn)
      }
    }
    const goOn = () => {
      clearTimeout(timer)
      timer = setTimeout(write, betweenMs)
    }
    this.onClose(() => {
      clearTimeout(timer)
      onClose()
      this.#end(response.writableFinished ? 'done' : 'cut', sent)
    })
    write()
  }

  /** Passes an answer on as it comes. Returns what to call with each piece and at the end. */
  relay(status: number, headers: Readonly<Record<string, string | string[]>>): RelayWriter {
    const response = this.#response
    this.entry.status = status
    this.entry.firstByteMs = performance.now() - this.entry.startedMs
    this.#writeHead(status, { ...headers, 'X-Oneapi-Request-Id': this.entry.id })
    // A piece may end in the middle of a character.
    const decoder = new StringDecoder()
    let sent = ''
    this.onClose(() => this.#end(response.writableFinished ? 'done' : 'cut', sent + decoder.end()))
    return {
      write: (piece) => {
        this.entry.responseBytes += piece.length
        if (sent.length < maxLoggedBodyBytes) sent += decoder.write(piece)
        return response.write(piece)
      },
      onDrain: (goOn) => response.on('drain', goOn),
      end: () => response.end(),
      destroy: () => response.destroy(),
    }
  }

  /** Notes down that the answer begins, and makes its headers: names and values in turn. */
  #head(
    status: number,
    contentType: string,
    extra: ExtraHeaders | undefined,
    contentLength?: number,
  ): string[] {
    const { entry } = this
    entry.status = status
    entry.firstByteMs = performance.now() - entry.startedMs
    const headers: string[] = ['Content-Type', contentType, 'X-Oneapi-Request-Id', entry.id]
    if (contentLength !== undefined) headers.push('Content-Length', String(contentLength))
    for (const name in extra) headers.push(name, String(extra[name]))
    // The service lets any web page call it.
    if (headerOf(this.request, 'origin') !== undefined && entry.path.startsWith('/v1'))
      headers.push('Access-Control-Allow-Origin', '*')
    return headers
  }

  #writeHead(status: number, headers: string[] | OutgoingHttpHeaders): void {
    const response = this.#response
    // Node says how long it waits only if it is Node that closes idle connections.
    if (staysOpen(this.request, response)) response.setHeaders(keepAlive)
    response.writeHead(status, headers)
  }

  /** An answer that waits for the one before it is under way until it is out. */
  #awaitTurn(): void {
    if (this.#response.socket === null) this.onClose(() => {})
  }

  /** Flushes a last piece, then drops the connection without ending the answer. */
  #tearDownAfter(piece: string | Uint8Array): void {
    this.#response.write(piece, () => this.#response.destroy())
  }

  /**
   * After an answer that did not wait for the body: lets the client finish sending for a moment, so
   * that it reads the answer instead of a reset, then drops the connection.
   */
  #dropUpload(): void {
    const { request } = this
    if (request.complete) return
    const announced = headerOf(request, 'content-length')
    const hasBody = announced !== undefined || headerOf(request, 'transfer-encoding') !== undefined
    if (!hasBody) return
    const timer = setTimeout(() => request.socket.destroy(), lingerMs)
    request.dropBody(() => clearTimeout(timer))
  }

  #end(state: 'done' | 'cut', sent: string | Buffer, bytes = 0, isPacked = false): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { entry } = this
    entry.state = state
    entry.totalMs = performance.now() - entry.startedMs
    if (entry.responseBytes === 0) entry.responseBytes = bytes
    this.#onEnd(this, sent, isPacked)
  }
}

/** The far end of an answer that is passed on. */
export interface RelayWriter {
  /** False: wait for `onDrain` before the next piece. */
  write(piece: Buffer): boolean
  onDrain(goOn: () => void): void
  end(): void
  destroy(): void
}
