import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { BodyRequest } from './body.ts'
import { afterAnswers, closeIdle } from './connections.ts'
import { createHandler } from './handler.ts'
import { generateKey } from './ids.ts'
import type { LoggedRequest } from './log/request-log.ts'
import { RequestLog } from './log/request-log.ts'
import { builtInCatalog, openCatalog } from './model/catalog.ts'
import type { GatewayOptions } from './options.ts'
import { defaultLimits } from './options.ts'
import type { Fault } from './settings/faults.ts'
import { Faults } from './settings/faults.ts'
import { Player, type Scenario } from './settings/scenario.ts'

/** A running gateway. */
export interface Gateway {
  /** The root, without `/v1`: `http://127.0.0.1:49152`. */
  readonly url: string
  readonly key: string
  readonly port: number
  /** What was asked so far, oldest first; bounded. */
  requests(): readonly LoggedRequest[]
  clearRequests(): void
  /** Replaces all faults; their counters start again. */
  setFaults(faults: readonly Fault[]): void
  /** Streams that are being written now. */
  openStreams(): number
  /** Ends every connection at once. */
  close(): Promise<void>
}

/**
 * Starts a gateway and resolves when it listens.
 *
 * @throws the system's own error (`EADDRINUSE`, `EACCES`, …) if it cannot listen
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const host = options.host ?? '127.0.0.1'
  const key = options.key ?? generateKey()
  const limits = { ...defaultLimits, ...options.limits }
  const faults = new Faults()
  faults.setGiven(options.faults ?? [])
  const log = new RequestLog(key, {
    entries: limits.loggedRequests,
    bodyBytes: limits.loggedBodyBytes,
  })
  const { onRequest } = options
  if (onRequest !== undefined)
    log.listen((request) => {
      if (request.state !== 'open') onRequest(request)
    })
  const handler = createHandler({
    host,
    key,
    limits,
    catalog: openCatalog(options.models ?? builtInCatalog),
    faults,
    log,
    upstream: options.upstream,
    play:
      options.scenarioFile === undefined
        ? undefined
        : (request, protocol) => player?.play(request, protocol),
  })
  let player: Player | undefined
  const load = (scenario: Scenario) => {
    player = new Player(scenario.rules)
    faults.setOfScenario(scenario.faults)
  }
  const { scenarioFile } = options
  let stopWatching = () => {}
  if (scenarioFile !== undefined) {
    const { readScenarioFile, stateOf, watchScenarioFile } = await import(
      './settings/scenario-file.ts'
    )
    const state = stateOf(scenarioFile)
    load(await readScenarioFile(scenarioFile))
    stopWatching = watchScenarioFile(scenarioFile, state, (result) => {
      // A file that is wrong for a moment leaves the last good one in force.
      if (!(result instanceof Error)) load(result)
      options.onScenario?.(result instanceof Error ? result.message : undefined)
    })
  }

  const server = createServer(
    {
      IncomingMessage: BodyRequest,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, 2000),
      // See closeIdle.
      keepAliveTimeout: 0,
      maxHeaderSize: 64 * 1024,
      noDelay: true,
    },
    handler.handle,
  )
  server.on('clientError', (error, socket) =>
    afterAnswers(socket as Socket, () => answerBrokenRequest(error, socket as Socket)),
  )

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      stopWatching()
      reject(error)
    })
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const stopClosing = closeIdle(server)

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    key,
    port,
    requests: () => log.list(),
    clearRequests: () => log.clear(),
    setFaults: (list) => faults.setGiven(list),
    openStreams: handler.openStreams,
    close: () =>
      new Promise((resolve) => {
        stopWatching()
        stopClosing()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const statusOfParserError: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Answers what is not HTTP, or not in time, as Go's server does: in plain text, and hangs up. */
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
