import { connect } from 'node:net'

/** What a server did with raw bytes. */
export interface RawAnswer {
  readonly text: string
  /** Of each answer, in order. */
  readonly statuses: readonly number[]
  readonly closed: boolean
}

/** How long nothing may come behind the last answer that was awaited, in ms. */
const shortlyMs = 30

/**
 * Writes pieces to a socket, `gapMs` apart, and collects what comes back until the server closes or
 * nothing has come for `quietMs`; where `answers` are awaited, for a moment after the last of them.
 */
export function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  options: { readonly gapMs?: number; readonly answers?: number; readonly quietMs?: number } = {},
): Promise<RawAnswer> {
  const { gapMs = 0, answers = 0, quietMs = answers > 0 ? 5000 : 150 } = options
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let text = ''
    let timer: NodeJS.Timeout | undefined
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
      clearTimeout(timer)
      const isAnswered = answers > 0 && wholeAnswersIn(text) >= answers
      timer = setTimeout(() => settle(false), isAnswered ? shortlyMs : quietMs)
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
