/**
 * The local gateway. The comments have one name for each program that takes part:
 *
 * - *This gateway* is the local gateway.
 * - *The imitated gateway* is New API, whose responses this gateway gives.
 * - *The vendor* is OpenAI or Anthropic, to which the imitated gateway forwards a request.
 * - *The upstream* is a real gateway, to which this gateway forwards requests with `--upstream`.
 *
 * A request passes through these files, in this order:
 *
 * 1. `server.ts` listens. `handler.ts` finds the route (`routes.ts`), logs the request (`log/`), and checks
 *    the key, which selects a scope (`scopes.ts`): the answers and faults of that key.
 * 2. `answers/decide.ts` runs the checks of the imitated gateway. `requests/` reads the body as a
 *    `ModelRequest`, or rejects it as the vendor does.
 * 3. The answer comes from the scenario or function of the scope (`scenarios/`), else from the built-in
 *    model (`model/`). `faults/` may replace or cut it.
 * 4. `answers/inference-handler.ts` lets the codec of the protocol (`codecs/`) turn the answer into a document, or
 *    into the frames of a stream.
 * 5. `http/reply.ts` writes the bytes. Nothing else writes to a response, except `control.ts`,
 *    which answers our own routes for the page, the log and the faults.
 *
 * With an upstream, `upstream.ts` forwards every request for which step 3 finds no recorded or written answer.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Fault } from './faults/faults.ts'
import { Handler } from './handler.ts'
import type { LoggedRequest } from './log/entry.ts'
import { RequestLog } from './log/request-log.ts'
import { builtInCatalog, type CatalogEntry, createCatalog, recordedModel } from './model/catalog.ts'
import {
  checkGatewayOptions,
  defaultLimits,
  type GatewayOptions,
  type ScopeOptions,
  withUsageErrors,
} from './options.ts'
import { Scope, Scopes } from './scopes.ts'
import { readCatalogFile } from './settings/catalog-file.ts'

/** The part of a running gateway that belongs to one key. `ScopeOptions` says what it can have. */
export interface GatewayScope {
  /** The address, without `/v1`: `http://127.0.0.1:49152`. */
  readonly url: string
  /** The base URL for OpenAI's SDKs and compatible ones: the address with `/v1`. */
  readonly openaiUrl: string
  /** The base URL for Anthropic's SDKs: the address. */
  readonly anthropicUrl: string
  readonly key: string
  /** The logged requests with this key, oldest first. The log is bounded. */
  requests(): readonly LoggedRequest[]
  /** The paths of the scenario's answers that no request used: `answers[0].reply[1]`. */
  unused(): readonly string[]
  /** Replaces all faults and resets their counters. */
  setFaults(faults: readonly Fault[]): void
  /** Invalidates the key. */
  close(): Promise<void>
}

/** A running gateway. As a scope, it is that of its own key. */
export interface RunningGateway extends GatewayScope {
  readonly port: number
  /** The logged requests with any key, oldest first. The log is bounded. */
  requests(): readonly LoggedRequest[]
  clearRequests(): void
  /** The number of requests since the start with a missing or wrong key. */
  refusedKeys(): number
  /** The number of open streams. */
  openStreams(): number
  /** Creates a key with separate answers and faults, so that tests can run in parallel. */
  scope(options?: ScopeOptions): Promise<GatewayScope>
  /** Stops the gateway and ends every connection. */
  close(): Promise<void>
}

/** How long an idle connection stays open, in ms, so that a client can use it for its next turn. */
const keepAliveMs = 65_000

/** How many requests a connection may send without a response. With more, it is closed. */
const maxPipelined = 8

/**
 * Starts a gateway and resolves when it listens.
 *
 * @throws UserError `usage` for invalid options, `config-invalid` for an invalid scenario file
 * @throws the system's own error (`EADDRINUSE`, `EACCES`, …) if it cannot listen
 */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  checkGatewayOptions(options, 'startGateway')
  const { host = '127.0.0.1', onRequest, scenarioFile } = options
  const limits = { ...defaultLimits, ...options.limits }
  const models = options.models && withUsageErrors('models', () => readCatalogFile(options.models))
  const scopes = new Scopes()
  const secrets = () => scopes.secrets
  const mainScope = await Scope.open(
    scenarioFile === undefined ? options : { ...options, scenario: scenarioFile },
    secrets,
  )
  scopes.add(mainScope)

  const log = new RequestLog(secrets, limits)
  if (onRequest !== undefined)
    log.listen((entry) => {
      if (entry.state !== 'open') onRequest(log.describe(entry))
    })

  const handler = new Handler({
    host,
    limits,
    catalog: createCatalog(models ?? addRecordedModels(mainScope.recordedModels)),
    mainScope,
    scopes,
    log,
  })

  const server = createHttpServer(handler, limits)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      void scopes.closeAll()
      reject(error)
    })
    server.listen(options.port ?? 0, host, resolve)
  })

  const { port } = server.address() as AddressInfo
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const urls = { url, openaiUrl: `${url}/v1`, anthropicUrl: url }
  let closing: Promise<void> | undefined

  return {
    ...urls,
    key: mainScope.key,
    port,
    requests: () => log.list(),
    clearRequests: () => log.clear(),
    unused: () => mainScope.unused(),
    setFaults: (faults) => mainScope.setFaults(faults),
    refusedKeys: () => handler.refusedKeys,
    openStreams: () => handler.openStreams,
    async scope(scopeOptions = {}) {
      const { fragment, families, upstream } = mainScope
      const inherited = { fragment, families, ...(upstream && { upstream }) }
      checkGatewayOptions({ ...inherited, ...scopeOptions }, 'scope')
      const scope = await Scope.open({ ...inherited, ...scopeOptions }, secrets)
      scopes.add(scope)

      return {
        ...urls,
        key: scope.key,
        requests: () => log.list(({ key }) => scope.hasKey(key)),
        unused: () => scope.unused(),
        setFaults: (faults) => scope.setFaults(faults),
        close: () => scopes.remove(scope),
      }
    },
    close() {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }).then(() => scopes.closeAll())
      return closing
    },
  }
}

function createHttpServer(handler: Handler, limits: typeof defaultLimits) {
  /** The pending responses of each connection. Node sends them in the order of the requests. */
  const pendingOn = new WeakMap<Socket, Set<ServerResponse>>()

  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, 2000),
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: 64 * 1024,
      noDelay: true,
    },
    (request, response) => {
      const { socket } = request
      const pending = pendingOn.get(socket)!
      if (pending.size >= maxPipelined) socket.destroy()
      if (socket.destroyed) return

      pending.add(response)
      response.once('close', () => pending.delete(response))
      handler.handle(request, response)
    },
  )

  server.on('connection', (socket) => {
    const pending = new Set<ServerResponse>()
    pendingOn.set(socket, pending)
    // Node 20 and 22 emit `close` only for the first pending response (24 and 26: for all; 2026-11-24).
    socket.once('close', () => {
      // A response gets its socket when its turn comes. Without one, nothing else ends it.
      for (const response of pending) if (response.socket === null) response.emit('close')
    })
  })

  server.on('clientError', (error, stream) => {
    const socket = stream as Socket
    const isAnswering = [...(pendingOn.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (isAnswering) socket.destroy()
    else answerBrokenRequest(error, socket)
  })

  return server
}

/** The built-in catalog with the models for which a scenario has recorded answers. */
function addRecordedModels(ids: readonly string[]): readonly CatalogEntry[] {
  const missing = ids.filter((id) => !builtInCatalog.some((entry) => entry.id === id))
  return [...builtInCatalog, ...missing.map(recordedModel)]
}

const statusOfParserError: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Responds to invalid or late requests like Go's server: in plain text. Then closes the connection. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = statusOfParserError[error.code ?? ''] ?? '400 Bad Request'
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`,
    () => socket.destroy(),
  )
}
