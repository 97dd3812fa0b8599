import { lookup } from 'node:dns'
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { isLoopback } from '../input/base-url.ts'
import type { RequestStage } from '../judge/answer.ts'
import type { GatewayAccess } from '../types.ts'
import { trustOf } from './authorities.ts'
import { type ForwardProxy, proxyFor } from './proxy.ts'

/** One connection to a gateway, kept open between requests; it carries one at a time. */
export interface Connection {
  readonly dispatcher: Dispatcher
  /** The proxy in use, for people, without its password. */
  readonly shownProxy: string | undefined
  readonly way: ConnectStyle
  /** How far opening has come; read by whoever reports a failure. */
  stage: RequestStage
  /** It was open before its request came, so the other side may have closed it meanwhile. */
  hasWaited: boolean
  /** Told of what undici would try again without end; set by whoever waits. */
  onBroken: ((error: Error) => void) | undefined
  /** Opens it before its first request, for which it waits. Behind a proxy it waits unopened. */
  readonly openNow: () => void
  /** For the next request. An idle connection does not keep the process alive. */
  readonly keep: () => void
  /** Ends it, also while it is being opened. */
  readonly close: () => void
}

/** How a connection is opened: another way may be needed where the usual one fails. */
export interface ConnectStyle {
  /** How long one of a name's several addresses is waited for before the next is tried, in ms. */
  readonly addressTimeoutMs: number
  readonly offersHttp2: boolean
  /** Whether the public authorities are to vouch for the gateway, or whoever the client believes. */
  readonly believes: 'public' | 'client'
}

type ConnectOptions = buildConnector.BuildOptions

const idle = new WeakMap<GatewayAccess, Connection[]>()

/** A connection that waits for another request. */
export function takeIdle(access: GatewayAccess): Connection | undefined {
  return idle.get(access)?.pop()
}

/**
 * A connection that opens itself with its first request.
 *
 * @throws UserError for a useless proxy variable or CA file
 */
export function newConnection(access: GatewayAccess, way: ConnectStyle): Connection {
  const target = new URL(access.baseUrl)
  const proxy = proxyFor(target, access.env)
  if (proxy !== undefined && target.protocol === 'http:') throw wouldSeeKey(proxy, target)

  const opening = new AbortController()

  const tcp: ConnectOptions = {
    // undici knows a socket only once it is open; one that never opens would hold the process.
    signal: opening.signal,
    autoSelectFamilyAttemptTimeout: way.addressTimeoutMs,
    // undici would set it before there is a connection, which Wine 8 refuses (seen 2026-11-22).
    keepAlive: false,
    timeout: 0,
  }
  const secure: ConnectOptions = {
    ...compact({ secureContext: trustOf(access, way.believes) }),
    // NODE_TLS_REJECT_UNAUTHORIZED=0 counts only where nothing is said.
    rejectUnauthorized: true,
    allowH2: way.offersHttp2,
    keepAlive: false,
    timeout: 0,
  }

  const wait = (): void => {
    connection.hasWaited = true
    idle.set(access, [...(idle.get(access) ?? []), connection])
  }
  const setStage = (stage: RequestStage): void => {
    connection.stage = stage
  }
  const giveUp = (error: Error): void => connection.onBroken?.(error)
  const direct = early(directly({ tcp, secure, setStage }), target)

  const connection: Connection = {
    dispatcher: dispatcherFor(proxy, { tcp, secure, setStage, giveUp, connect: direct.connect }),
    shownProxy: proxy && shownProxy(proxy),
    way,
    stage: proxy === undefined ? 'connect' : 'proxy',
    hasWaited: false,
    onBroken: undefined,
    openNow() {
      if (proxy === undefined) direct.open()
      wait()
    },
    keep() {
      connection.stage = 'first-byte'
      wait()
    },
    close() {
      void connection.dispatcher.destroy()
      opening.abort()
    },
  }
  return connection
}

/** Who allows plain http trusts a network, and not whoever runs a proxy in it. */
function wouldSeeKey(proxy: ForwardProxy, target: URL): UserError {
  return new UserError({
    code: 'proxy',
    message: `The proxy ${shownProxy(proxy)} would see the key, since ${target.origin} is asked in plain http`,
    hint: `Use https, or go around the proxy: NO_PROXY=${target.hostname}.`,
  })
}

function shownProxy({ hostname, port, variable }: ForwardProxy): string {
  return `${hostname}:${port} (from ${variable})`
}

interface Opening {
  readonly tcp: ConnectOptions
  readonly secure: ConnectOptions
  readonly setStage: (stage: RequestStage) => void
}

interface Ways extends Opening {
  /** To the gateway itself. */
  readonly connect: buildConnector.connector
  readonly giveUp: (error: Error) => void
}

function dispatcherFor(proxy: ForwardProxy | undefined, ways: Ways): Dispatcher {
  const { tcp, secure, setStage, giveUp, connect } = ways
  // Deadlines are ours: undici's own count each part of a request alone.
  const limits = {
    connections: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: secure.allowH2 === true,
  }

  if (proxy === undefined) return new Agent({ ...limits, connect })

  const { kind, username, password } = proxy
  const host = proxy.hostname.includes(':') ? `[${proxy.hostname}]` : proxy.hostname
  const uri = `${kind}://${host}:${proxy.port}`
  if (kind === 'socks5') {
    const options = { ...limits, username, password, connect: toSocks(ways), requestTls: secure }
    return new Socks5ProxyAgent(uri, options)
  }

  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  return new ProxyAgent({
    ...limits,
    uri,
    ...((username || password) && { token: `Basic ${credentials}` }),
    proxyTls: { ...secure, ...tcp, allowH2: false },
    requestTls: secure,
    clientFactory: (origin, options) =>
      new Pool(origin, options)
        .on('connect', () => setStage('tunnel'))
        .on('disconnect', (_origin, _targets, error) => {
          // A proxy that hangs up at CONNECT; one that opens a tunnel leaves undici with "upgrade".
          if (error.code !== 'UND_ERR_INFO') giveUp(error)
        }),
  })
}

interface EarlyConnector {
  /** Begins: what comes of it is handed to the first who asks. */
  readonly open: () => void
  readonly connect: buildConnector.connector
}

function early(connect: buildConnector.connector, target: URL): EarlyConnector {
  const { host, protocol, port } = target
  const hostname = target.hostname.replace(/^\[|\]$/g, '')
  let opened: Promise<Parameters<buildConnector.Callback>> | undefined

  return {
    open() {
      opened = new Promise((resolve) => {
        connect({ host, hostname, protocol, port }, (...result) => {
          result[1]?.unref()
          resolve(result)
        })
      })
    },
    connect(options, callback) {
      if (opened === undefined) return connect(options, callback)
      void opened.then((result) => {
        if (result[1]?.destroyed) return connect(options, callback)
        result[1]?.ref()
        callback(...result)
      })
      opened = undefined
    },
  }
}

/** TCP and TLS one after the other, so that a failure can say which. */
function directly({ tcp, secure, setStage }: Opening): buildConnector.connector {
  const toAddress = buildConnector({
    ...tcp,
    lookup(hostname, options, callback) {
      setStage('lookup')
      lookup(hostname, options, (...result) => {
        setStage('connect')
        callback(...result)
      })
    },
  })
  const overTls = buildConnector(secure)

  return (options, callback) => {
    const isSecure = options.protocol === 'https:'
    const port = options.port || (isSecure ? '443' : '80')
    toAddress({ ...options, protocol: 'http:', port }, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      if (isSecure) {
        setStage('tls')
        return overTls({ ...options, httpSocket: socket }, callback)
      }

      const address = socket.remoteAddress ?? ''
      if (!isLoopback(options.hostname) || isLoopback(address)) return callback(null, socket)
      // A name of this machine that leads elsewhere: the key would go there in clear.
      socket.destroy()
      return callback(Object.assign(new Error(address), { code: 'ERR_NOT_LOOPBACK' }), null)
    })
  }
}

function toSocks({ tcp, setStage }: Opening): buildConnector.connector {
  const toAddress = buildConnector(tcp)
  return (options, callback) =>
    toAddress(options, (...result) => {
      if (result[0] === null) setStage('tunnel')
      callback(...result)
    })
}
