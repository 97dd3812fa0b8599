import { lookup } from 'node:dns'
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici'
import { UserError } from '../../errors.ts'
import { isLoopback } from '../input/local-host.ts'
import type { RequestStage } from '../judge/types.ts'
import type { GatewayAccess } from '../types.ts'
import { trustedContext } from './authorities.ts'
import { type ForwardProxy, proxyFor } from './proxy.ts'

/** A connection to a gateway. It stays open between requests and carries one at a time. */
export interface Connection {
  readonly dispatcher: Dispatcher
  /** The proxy in use, for messages, without its password. */
  readonly shownProxy: string | undefined
  readonly style: ConnectStyle
  /** The current stage of opening, for reports of failures. */
  stage: RequestStage
  /** The connection was idle before its request, so the server may have closed it. */
  wasIdle: boolean
  /** Receives errors after which undici would retry forever. The code that sends a request sets it. */
  onBroken: ((error: Error) => void) | undefined
  /** Opens the connection before its first request. With a proxy, it stays unopened until then. */
  readonly openNow: () => void
  /** Keeps the connection for the next request. An idle connection does not keep the process alive. */
  readonly keep: () => void
  /** Closes the connection, even while it is being opened. */
  readonly close: () => void
}

/** How a connection is opened. If the default fails, a different style may work. */
export interface ConnectStyle {
  /** How long to wait for one of a name's several addresses before trying the next, in ms. */
  readonly addressTimeoutMs: number
  readonly offersHttp2: boolean
  /** Which authorities it trusts (authorities.ts). */
  readonly trust: 'without-system' | 'with-system'
}

type ConnectOptions = buildConnector.BuildOptions

const idle = new WeakMap<GatewayAccess, Connection[]>()

export function takeIdle(access: GatewayAccess): Connection | undefined {
  return idle.get(access)?.pop()
}

/**
 * Creates a connection that opens with its first request.
 *
 * @throws UserError for a useless proxy variable or CA file
 */
export function newConnection(access: GatewayAccess, style: ConnectStyle): Connection {
  const target = new URL(access.address)
  const proxy = proxyFor(target, access.env)
  if (proxy !== undefined && target.protocol === 'http:') throw proxySeesKeyError(proxy, target)

  const opening = new AbortController()

  const tcp: ConnectOptions = {
    // undici cannot close a socket that never opens, and such a socket would keep the process alive.
    signal: opening.signal,
    autoSelectFamilyAttemptTimeout: style.addressTimeoutMs,
    // undici would set it before there is a connection, which Wine 8 rejects (seen 2026-11-22).
    keepAlive: false,
    timeout: 0,
  }
  const secure: ConnectOptions = {
    secureContext: trustedContext(access, style.trust),
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED=0.
    rejectUnauthorized: true,
    allowH2: style.offersHttp2,
    keepAlive: false,
    timeout: 0,
  }

  const keepIdle = (): void => {
    connection.wasIdle = true
    idle.set(access, [...(idle.get(access) ?? []), connection])
  }
  const setStage = (stage: RequestStage): void => {
    connection.stage = stage
  }
  const giveUp = (error: Error): void => connection.onBroken?.(error)
  const direct = withPreopening(connectDirectly({ tcp, secure, setStage }), target)

  const connection: Connection = {
    dispatcher: createDispatcher(proxy, { tcp, secure, setStage, giveUp, connect: direct.connect }),
    shownProxy: proxy && formatProxy(proxy),
    style,
    stage: proxy === undefined ? 'connect' : 'proxy',
    wasIdle: false,
    onBroken: undefined,
    openNow() {
      if (proxy === undefined) direct.open()
      keepIdle()
    },
    keep() {
      connection.stage = 'first-byte'
      keepIdle()
    },
    close() {
      void connection.dispatcher.destroy()
      opening.abort()
    },
  }

  return connection
}

/** A user who allows plain http trusts the network, but not the operator of a proxy in it. */
function proxySeesKeyError(proxy: ForwardProxy, target: URL): UserError {
  return new UserError({
    code: 'proxy',
    message: `The proxy ${formatProxy(proxy)} would see the key, because ${target.origin} uses plain http`,
    hint: `Bypass the proxy: NO_PROXY=${target.hostname}. Or use https.`,
  })
}

function formatProxy({ hostname, port, variable }: ForwardProxy): string {
  return `${hostname}:${port} (${variable})`
}

interface ConnectSetup {
  readonly tcp: ConnectOptions
  readonly secure: ConnectOptions
  readonly setStage: (stage: RequestStage) => void
}

interface DispatcherSetup extends ConnectSetup {
  /** Connects to the gateway itself. */
  readonly connect: buildConnector.connector
  readonly giveUp: (error: Error) => void
}

function createDispatcher(proxy: ForwardProxy | undefined, setup: DispatcherSetup): Dispatcher {
  const { tcp, secure, setStage, giveUp, connect } = setup
  // Our own deadlines apply. Those of undici count each part of a request separately.
  const limits = {
    connections: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    // Some clients accept more than Node's 16 kB. The judge says which.
    maxHeaderSize: 128 * 1024,
    allowH2: secure.allowH2 === true,
  }

  if (proxy === undefined) return new Agent({ ...limits, connect })

  const { kind, username, password } = proxy
  const host = proxy.hostname.includes(':') ? `[${proxy.hostname}]` : proxy.hostname
  const uri = `${kind}://${host}:${proxy.port}`

  if (kind === 'socks5') {
    const options = {
      ...limits,
      username,
      password,
      connect: connectToSocks(setup),
      requestTls: secure,
    }
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
          // The proxy closed the connection at CONNECT. After an opened tunnel, undici reports "upgrade".
          if (error.code !== 'UND_ERR_INFO') giveUp(error)
        }),
  })
}

interface PreopenedConnector {
  /** Starts to connect. The first call of `connect` gets the result. */
  readonly open: () => void
  readonly connect: buildConnector.connector
}

function withPreopening(connect: buildConnector.connector, target: URL): PreopenedConnector {
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

/** Connects TCP and TLS in separate steps, so that a failure can name the step. */
function connectDirectly({ tcp, secure, setStage }: ConnectSetup): buildConnector.connector {
  const connectTcp = buildConnector({
    ...tcp,
    lookup(hostname, options, callback) {
      setStage('lookup')
      lookup(hostname, options, (...result) => {
        setStage('connect')
        callback(...result)
      })
    },
  })
  const connectTls = buildConnector(secure)

  return (options, callback) => {
    const isSecure = options.protocol === 'https:'
    const port = options.port || (isSecure ? '443' : '80')
    connectTcp({ ...options, protocol: 'http:', port }, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      if (isSecure) {
        setStage('tls')
        return connectTls({ ...options, httpSocket: socket }, callback)
      }

      const address = socket.remoteAddress ?? ''
      if (!isLoopback(options.hostname) || isLoopback(address)) return callback(null, socket)
      // A name of this machine resolved to another machine, which would receive the key in clear text.
      socket.destroy()

      return callback(Object.assign(new Error(address), { code: 'ERR_NOT_LOOPBACK' }), null)
    })
  }
}

function connectToSocks({ tcp, setStage }: ConnectSetup): buildConnector.connector {
  const connectTcp = buildConnector(tcp)
  return (options, callback) =>
    connectTcp(options, (...result) => {
      if (result[0] === null) setStage('tunnel')
      callback(...result)
    })
}
