import { IncomingMessage } from 'node:http'
import { headerOf } from './headers.ts'

/** How reading a body ended. */
export type BodyEnd = 'complete' | 'too-large' | 'cut'

type OnBody = (end: BodyEnd, bytes: Buffer) => void

const nothing = Buffer.alloc(0)

/**
 * A request that gathers its body itself, as the parser hands it over. On the way through Node's own
 * stream and its events a small body costs 4 µs more, a fifth of a bare answer (Node 20.20, 2026-11-21).
 */
export class BodyRequest extends IncomingMessage {
  #onBody: OnBody | undefined
  #maxBytes = 0
  /** The first piece as it came; of several, with room for more behind `#size`. */
  #bytes: Buffer = nothing
  #size = 0
  #isDropped = false

  /**
   * Gathers the body up to a limit and calls back once. What comes beyond the limit is dropped, and so
   * is a body that nobody asks for. To be called before the parser goes on: in the request's own event.
   */
  readBody(maxBytes: number, onBody: OnBody): void {
    this.#onBody = onBody
    this.#maxBytes = maxBytes
    if (Number(headerOf(this, 'content-length') ?? 0) > maxBytes) this.#end('too-large')
  }

  /** Lets the body come in without keeping it, and calls back once, at its end. */
  dropBody(onEnd: () => void): void {
    this.#isDropped = true
    this.#onBody = onEnd
  }

  /** Node calls this with each piece, and with null once the whole body was there. */
  override push(piece: Buffer | null): boolean {
    if (this.#onBody === undefined) return true
    if (piece === null) {
      this.#end('complete')
      return true
    }
    if (this.#isDropped) return true
    if (this.#size + piece.length > this.#maxBytes) this.#end('too-large')
    else if (this.#size === 0) {
      this.#bytes = piece
      this.#size = piece.length
    } else this.#append(piece)
    return true
  }

  /** Node calls this when the client goes away before its request was answered. */
  override destroy(error?: Error): this {
    this.#end('cut')
    return super.destroy(error)
  }

  /** Copies: a list of pieces would cost 350 bytes for each byte that comes alone. */
  #append(piece: Buffer): void {
    const size = this.#size + piece.length
    if (size > this.#bytes.length) {
      const roomier = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length))
      this.#bytes.copy(roomier, 0, 0, this.#size)
      this.#bytes = roomier
    }
    piece.copy(this.#bytes, this.#size)
    this.#size = size
  }

  #end(how: BodyEnd): void {
    const onBody = this.#onBody
    if (onBody === undefined) return
    this.#onBody = undefined
    const bytes = this.#bytes
    this.#bytes = nothing
    onBody(how, bytes.length === this.#size ? bytes : bytes.subarray(0, this.#size))
  }
}
