import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are not answered yet; clients of ours have one. */
const maxOpenAnswers = 256
/** Whole answers that wait for those before them on their connection, in bytes. */
const maxWaitingBytes = 16 * 1024 * 1024
/** The same of all connections together. */
const maxWaitingBytesInAll = 64 * 1024 * 1024

export interface WholeResponse {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

interface OpenAnswer {
  waitingBytes: number
  readonly onEnd: (() => void)[]
}

/** All connections of a gateway. */
export class Pipelines {
  readonly #bySocket = new WeakMap<Socket, Pipeline>()
  readonly #inAll = { waitingBytes: 0 }

  of(socket: Socket): Pipeline {
    let pipeline = this.#bySocket.get(socket)
    if (pipeline === undefined) {
      pipeline = new Pipeline(socket, this.#inAll)
      this.#bySocket.set(socket, pipeline)
    }
    return pipeline
  }
}

/**
 * One connection and the answers under way on it, which Node sends in the order of their requests. A
 * client that asks on and on and does not read is cut off.
 */
export class Pipeline {
  readonly #socket: Socket
  readonly #inAll: { waitingBytes: number }
  readonly #open = new Map<ServerResponse, OpenAnswer>()
  #waitingBytes = 0
  #afterAnswers: (() => void) | undefined

  constructor(socket: Socket, inAll: { waitingBytes: number }) {
    this.#socket = socket
    this.#inAll = inAll
    // Of an answer that waits for the one before it, Node tells nobody that the client has gone.
    socket.once('close', () => {
      for (const response of this.#open.keys()) this.#end(response)
    })
  }

  /**
   * To be called for each request.
   *
   * @returns false: there are too many, and none is to be answered any more
   */
  begin(response: ServerResponse): boolean {
    if (this.#open.size >= maxOpenAnswers) this.#socket.destroy()
    if (this.#socket.destroyed) return false
    this.#open.set(response, { waitingBytes: 0, onEnd: [] })
    response.once('close', () => this.#end(response))
    return true
  }

  /**
   * Calls back once, when an answer that was begun has ended or its client has gone; whoever asked last
   * is called first.
   */
  onEnd(response: ServerResponse, callBack: () => void): void {
    this.#open.get(response)?.onEnd.push(callBack)
  }

  /**
   * Writes a whole answer.
   *
   * @returns false: too much waits already, and the connection was cut
   */
  send(response: ServerResponse, { status, headers, body }: WholeResponse): boolean {
    const isWaiting = response.socket === null
    if (isWaiting && !this.#mayWait(response, Buffer.byteLength(body))) {
      this.#socket.destroy()
      return false
    }
    response.writeHead(status, headers)
    response.end(body)
    return true
  }

  /** Calls back when no request that came whole is left to be answered; at once if none is. */
  afterAnswers(proceed: () => void): void {
    this.#afterAnswers = proceed
    this.#proceed()
  }

  #mayWait(response: ServerResponse, bytes: number): boolean {
    const open = this.#open.get(response)
    if (open === undefined) return false
    open.waitingBytes += bytes
    this.#waitingBytes += bytes
    this.#inAll.waitingBytes += bytes
    return this.#waitingBytes <= maxWaitingBytes && this.#inAll.waitingBytes <= maxWaitingBytesInAll
  }

  #end(response: ServerResponse): void {
    const open = this.#open.get(response)
    if (open === undefined) return
    this.#open.delete(response)
    this.#waitingBytes -= open.waitingBytes
    this.#inAll.waitingBytes -= open.waitingBytes
    for (const callBack of open.onEnd.toReversed()) callBack()
    this.#proceed()
  }

  #proceed(): void {
    const isBusy = [...this.#open.keys()].some(({ req }) => req.complete)
    if (!isBusy) this.#afterAnswers?.()
  }
}
