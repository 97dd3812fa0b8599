import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that wait for those before them; clients of ours have none. */
const mostWaiting = 256

/** A request that has come, and what answers it. */
interface Waiting {
  readonly request: IncomingMessage
  readonly answer: () => void
}

/**
 * The requests of a connection, answered one after the other: what waits has been neither read nor
 * answered, so a client that asks on and on without reading costs little, and is cut off.
 */
export class Turns {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []
  /** The request that is being answered. */
  #current: IncomingMessage | undefined
  #afterAnswers: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Calls `answer` as soon as the answers before it are out, unless the client has gone by then. */
  take(response: ServerResponse, answer: () => void): void {
    if (this.#waiting.length >= mostWaiting) this.#socket.destroy()
    if (this.#socket.destroyed) return
    response.once('close', () => this.#next())
    this.#waiting.push({ request: response.req, answer })
    if (this.#current === undefined) this.#next()
  }

  /** Calls back when no request that came whole is left to be answered; at once if none is. */
  afterAnswers(proceed: () => void): void {
    this.#afterAnswers = proceed
    if (!this.#current?.complete) this.#next()
  }

  #next(): void {
    const next = this.#socket.destroyed ? undefined : this.#waiting.shift()
    this.#current = next?.request
    if (this.#afterAnswers !== undefined && !next?.request.complete) this.#afterAnswers()
    else next?.answer()
  }
}
