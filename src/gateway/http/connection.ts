import { setFlagsFromString } from 'node:v8'
import type { Client } from 'undici'
import type { GatewayAccess } from '../types.ts'
import { trustedAuthorities } from './authorities.ts'
import { type ForwardProxy, proxyFor } from './proxy.ts'
import { needsTunnel, openSocket, type Progress } from './socket.ts'

/** One connection to a gateway, kept open between requests. */
export interface Connection {
  readonly client: Client
  readonly progress: Progress
  readonly proxy: ForwardProxy | undefined
  /** A plain http address is asked of the proxy by its full address. */
  readonly asksProxy: boolean
  readonly offersHttp2: boolean
  /** It has carried a request before, so the other side may have closed it meanwhile. */
  isUsed: boolean
}

const idle = new WeakMap<GatewayAccess, Connection[]>()

/** An idle connection, or a new one. HTTP/2 is offered only to servers that refuse HTTP/1.1. */
export async function takeConnection(
  access: GatewayAccess,
  offersHttp2: boolean,
): Promise<Connection> {
  const waiting = idle.get(access)?.pop()
  if (waiting !== undefined && (waiting.offersHttp2 || !offersHttp2)) return waiting
  if (waiting !== undefined) dropConnection(waiting)
  return newConnection(access, offersHttp2)
}

/** Keeps a connection for the next request. An idle one does not keep the process alive. */
export function keepConnection(access: GatewayAccess, connection: Connection): void {
  connection.isUsed = true
  const waiting = idle.get(access)
  if (waiting === undefined) idle.set(access, [connection])
  else waiting.push(connection)
}

export function dropConnection(connection: Connection): void {
  void connection.client.destroy()
  // undici knows a socket only once it is open; one that never opens would hold the process.
  connection.progress.socket?.destroy()
}

/** Closes what is still open to a gateway. */
export function closeGateway(access: GatewayAccess): void {
  for (const connection of idle.get(access) ?? []) dropConnection(connection)
  idle.delete(access)
}

async function newConnection(access: GatewayAccess, offersHttp2: boolean): Promise<Connection> {
  const target = new URL(access.baseUrl)
  const proxy = proxyFor(target, access.env)
  const plan = {
    target,
    proxy,
    authorities:
      target.protocol === 'https:' || proxy?.kind === 'https'
        ? trustedAuthorities(access)
        : undefined,
    offer: offersHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
  }
  const asksProxy = proxy !== undefined && !needsTunnel(plan)
  const progress: Progress = { stage: 'connect' }
  const UndiciClient = await loadClient()
  const client = new UndiciClient(target.origin, {
    // Deadlines are ours (see http.ts): undici's own count each part alone.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      openSocket(plan, progress).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      )
    },
  })
  return { client, progress, proxy, asksProxy, offersHttp2, isUsed: false }
}

async function loadClient(): Promise<typeof Client> {
  // Node 20 optimises undici's WebAssembly parser in the background and waits for that before it
  // exits: 80 ms of 170 for two requests. Node 22, 24 and 26 do not wait, and would lose their
  // compile cache over a changed flag: 12 ms (20.20, 22.23, 24.21, 26.10; measured 2026-11-21).
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--liftoff-only')
  return (await import('undici/lib/dispatcher/client.js')).default
}
