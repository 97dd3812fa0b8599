import net from 'node:net'
import type { ForwardProxy } from './proxy.ts'
import type { Progress } from './socket.ts'

/** Longest answer of a proxy to CONNECT that is read, in bytes. */
const maxHeadBytes = 32_768

interface Destination {
  readonly host: string
  readonly port: number
}

/** Asks the proxy at the other end of `socket` to hand bytes through to `to`. */
export function tunnel(
  socket: net.Socket,
  proxy: ForwardProxy,
  to: Destination,
  progress: Progress,
): Promise<net.Socket> {
  return proxy.kind === 'socks5'
    ? socksTunnel(socket, proxy, to)
    : httpTunnel(socket, proxy, to, progress)
}

/** The value of `Proxy-Authorization`, where the proxy's address holds a name. */
export function proxyAuthorization(proxy: ForwardProxy): string | undefined {
  if (proxy.username === '' && proxy.password === '') return undefined
  return `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`
}

function httpTunnel(
  socket: net.Socket,
  proxy: ForwardProxy,
  to: Destination,
  progress: Progress,
): Promise<net.Socket> {
  const place = `${net.isIPv6(to.host) ? `[${to.host}]` : to.host}:${to.port}`
  const authorization = proxyAuthorization(proxy)
  const lines = [`CONNECT ${place} HTTP/1.1`, `Host: ${place}`]
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)

  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0)
    const release = (): void => {
      socket.off('data', onData).off('error', fail).off('end', onEnd)
    }
    const fail = (error: Error): void => {
      release()
      socket.destroy()
      reject(error)
    }
    const onEnd = (): void => fail(new Error('it closed the connection'))
    const onData = (chunk: Buffer): void => {
      seen = Buffer.concat([seen, chunk])
      const end = seen.indexOf('\r\n\r\n')
      if (end === -1 && seen.length <= maxHeadBytes) return
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(seen.toString('latin1', 0, end))?.[1]
      if (end === -1 || status === undefined) {
        fail(new Error('it does not speak HTTP'))
        return
      }
      if (!status.startsWith('2')) {
        progress.proxyStatus = Number(status)
        fail(new Error(`it answered ${status}`))
        return
      }
      release()
      socket.pause()
      if (seen.length > end + 4) socket.unshift(seen.subarray(end + 4))
      resolve(socket)
    }
    socket.on('data', onData).on('error', fail).on('end', onEnd)
  })
}

async function socksTunnel(
  socket: net.Socket,
  proxy: ForwardProxy,
  to: Destination,
): Promise<net.Socket> {
  const { Socks5Client } = await import('undici/lib/core/socks5-client.js')
  const { username, password } = proxy
  const socks = new Socks5Client(socket, username === '' ? {} : { username, password })
  return new Promise((resolve, reject) => {
    socks.on('error', reject)
    socks.on('close', () => reject(new Error('it closed the connection')))
    socks.once('authenticated', () => socks.connect(to.host, to.port))
    socks.once('connected', () => resolve(socket))
    socks.handshake()
  })
}
