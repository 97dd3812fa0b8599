/** Sends requests to a server over open connections, one request at a time on each. */
import { connect } from 'node:net'

/** One whole answer as raw text, chunk frames included. */
export function oneAnswer(port, request) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request))
    let text = ''
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
      if (isWhole(text)) {
        socket.destroy()
        resolve(text)
      }
    })
    socket.once('error', reject)
  })
}

function isWhole(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))
  return length === null ? text.endsWith('0\r\n\r\n') : text.length - end - 4 >= Number(length[1])
}

/**
 * Asks until `answers` requests were sent, and reads their answers. All answers to one request have the same
 * length, so that counting bytes is enough, and costs the counting process next to nothing.
 */
export async function load(port, request, { connections, answers, answerBytes }) {
  let unsent = answers - connections
  const bytes = Buffer.from(request)
  const letSleep = keepAwake()
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
            socket.write(bytes)
          })
          let received = 0
          socket.on('data', (piece) => {
            received += piece.length
            if (received < answerBytes) return
            if (received > answerBytes) reject(new Error('the answers differ in length'))
            received = 0
            if (unsent-- > 0) socket.write(bytes)
            else socket.destroy()
          })
          socket.once('error', reject)
          socket.once('close', resolve)
        }),
    ),
  )
  letSleep()
}

/**
 * Keeps this process from ever sleeping. A write that wakes a sleeping reader costs the writer 5 to 7 µs
 * more (Linux 6.18 in a virtual machine, 2026-11-21). This process would sleep only while it waits for a slow
 * server, so only slow servers would pay for waking it, which distorts the comparison.
 */
function keepAwake() {
  let isAwake = true
  const turn = () => isAwake && setImmediate(turn)
  turn()
  return () => {
    isAwake = false
  }
}
