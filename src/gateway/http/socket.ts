import net from 'node:net'
import tls from 'node:tls'
import type { RequestStage } from '../judge/answer.ts'
import type { ForwardProxy } from './proxy.ts'
import { tunnel } from './tunnel.ts'

/** How far opening has come; read by whoever reports a failure. */
export interface Progress {
  stage: RequestStage
  /** Status of the proxy's answer to CONNECT, where it refused. */
  proxyStatus?: number
  /** The TCP socket below everything, from its first moment. */
  socket?: net.Socket
}

export interface SocketPlan {
  readonly target: URL
  readonly proxy: ForwardProxy | undefined
  readonly authorities: readonly string[] | undefined
  /** Protocols offered in the TLS handshake. */
  readonly offer: readonly string[]
}

/**
 * A connected socket to the target, through the proxy where there is one. A plain http target is
 * asked of an http proxy itself, so the socket ends there.
 */
export async function openSocket(plan: SocketPlan, progress: Progress): Promise<net.Socket> {
  const { target, proxy } = plan
  if (proxy === undefined) {
    progress.stage = 'connect'
    progress.socket = net.connect(address(target))
    const raw = await connected(progress.socket)
    return secureIfNeeded(raw, plan, progress)
  }

  progress.stage = 'proxy'
  progress.socket = net.connect({ host: proxy.hostname, port: proxy.port })
  const plain = await connected(progress.socket)
  const toProxy =
    proxy.kind === 'https' ? await secured(plain, proxy.hostname, plan, ['http/1.1']) : plain
  if (!needsTunnel(plan)) return toProxy
  const raw = await tunnel(toProxy, proxy, address(target), progress)
  return secureIfNeeded(raw, plan, progress)
}

/** Whether the proxy must hand the bytes through, rather than fetch a plain http address itself. */
export function needsTunnel(plan: Pick<SocketPlan, 'target' | 'proxy'>): boolean {
  return plan.target.protocol === 'https:' || plan.proxy?.kind === 'socks5'
}

async function secureIfNeeded(
  raw: net.Socket,
  plan: SocketPlan,
  progress: Progress,
): Promise<net.Socket> {
  if (plan.target.protocol !== 'https:') return raw
  progress.stage = 'tls'
  return secured(raw, address(plan.target).host, plan, plan.offer)
}

function secured(
  socket: net.Socket,
  host: string,
  plan: SocketPlan,
  offer: readonly string[],
): Promise<net.Socket> {
  const options: tls.ConnectionOptions = {
    socket,
    host,
    // A name sent to the server must not be an address (RFC 6066, 3).
    servername: net.isIP(host) === 0 ? host : '',
    ALPNProtocols: [...offer],
  }
  if (plan.authorities !== undefined) options.ca = [...plan.authorities]
  return connected(tls.connect(options), 'secureConnect')
}

function connected<S extends net.Socket>(
  socket: S,
  event: 'connect' | 'secureConnect' = 'connect',
): Promise<S> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once(event, () => {
      socket.off('error', reject)
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}

function address(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
}
