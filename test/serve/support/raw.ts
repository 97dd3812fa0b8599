import { connect } from 'node:net'

/** The reaction of a server to raw bytes. */
export interface RawAnswer {
  readonly text: string
  /** The statuses of the answers, in order. */
  readonly statuses: readonly number[]
  readonly closed: boolean
}

/** How long to wait for more after the last expected answer, in ms. */
const afterAnswersMs = 30

/** How long a server may be silent before the test gives up, in ms. Generous: a server needs far less. */
const silenceMs = 10_000

/**
 * Writes pieces to a socket, `gapMs` apart, and collects the response.
 *
 * It ends when the server closes the connection, or a moment after `answers` whole answers. With
 * `untilClosed` it ends only when the server closes.
 */
export function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  options: {
    readonly gapMs?: number
    readonly answers?: number
    readonly untilClosed?: boolean
  } = {},
): Promise<RawAnswer> {
  const { gapMs = 0, answers = 1, untilClosed = false } = options
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let text = ''
    let timer: NodeJS.Timeout | undefined
    let isSent = false
    let isDone = false
    const settle = (closed: boolean) => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      socket.destroy()
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) =>
        Number(status),
      )
      resolve({ text, statuses, closed })
    }
    const wait = () => {
      if (!isSent || isDone) return
      clearTimeout(timer)
      const isAnswered = !untilClosed && wholeAnswersIn(text) >= answers
      timer = setTimeout(() => settle(false), isAnswered ? afterAnswersMs : silenceMs)
    }
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
      wait()
    })
    socket.on('error', () => settle(true))
    socket.on('close', () => settle(true))
    socket.once('connect', async () => {
      for (const piece of pieces) {
        if (isDone) return
        socket.write(piece)
        if (gapMs > 0) await new Promise((next) => setTimeout(next, gapMs))
      }
      isSent = true
      wait()
    })
  })
}

function wholeAnswersIn(text: string): number {
  let at = 0
  for (let count = 0; ; count++) {
    const body = text.indexOf('\r\n\r\n', at) + 4
    if (body < 4) return count
    const length = /^content-length: (\d+)/im.exec(text.slice(at, body))?.[1]
    const last = text.indexOf('0\r\n\r\n', body)
    at = length === undefined ? last + 5 : body + Number(length)
    if (at > text.length || (length === undefined && last === -1)) return count
  }
}
