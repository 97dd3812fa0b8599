import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { UserError } from '../errors.ts'
import { isUsableKey } from './auth.ts'
import { createHandler } from './handler.ts'
import { generateKey } from './ids.ts'
import type { LoggedRequest } from './log/request-log.ts'
import { RequestLog } from './log/request-log.ts'
import { builtInCatalog, type CatalogEntry, everyProtocol, openCatalog } from './model/catalog.ts'
import type { GatewayOptions } from './options.ts'
import { defaultLimits } from './options.ts'
import type { Fault } from './settings/faults.ts'
import { Faults } from './settings/faults.ts'
import type { Recorder } from './settings/recorder.ts'
import type { Player, Scenario } from './settings/scenario.ts'

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

/** How long an idle connection stays, in ms. A client must find it open for its next turn. */
const keepAliveMs = 65_000

/**
 * Starts a gateway and resolves when it listens.
 *
 * @throws UserError `usage` for a key that keeps nobody out, `config-invalid` for a scenario that is wrong
 * @throws the system's own error (`EADDRINUSE`, `EACCES`, …) if it cannot listen
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { host = '127.0.0.1', key = generateKey(), upstream, onRequest } = options
  if (!isUsableKey(key))
    throw new UserError({
      code: 'usage',
      message: 'The key of the gateway is too short, or no key at all',
      hint: 'Give one of at least 8 visible ASCII characters after `sk-`, or none: then one is made.',
    })

  const limits = { ...defaultLimits, ...options.limits }
  const faults = new Faults()
  faults.setGiven(options.faults ?? [])
  const log = new RequestLog(upstream === undefined ? [key] : [key, upstream.key], {
    entries: limits.loggedRequests,
    characters: limits.loggedCharacters,
  })
  const atEnd = (tell: (request: LoggedRequest) => void) =>
    log.listen((entry) => {
      if (entry.state !== 'open') tell(log.viewOf(entry))
    })
  if (onRequest !== undefined) atEnd(onRequest)
  const scenario = await playScenario(options, faults)
  const recorder = await recorderFor(options, key)
  if (recorder !== undefined) atEnd((request) => recorder.finish(request))
  const handler = createHandler({
    host,
    key,
    limits,
    catalog: openCatalog(options.models ?? withModels(scenario.models)),
    recorder,
    faults,
    log,
    upstream,
    play: (request, protocol) => scenario.player()?.play(request, protocol),
  })

  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, 2000),
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: 64 * 1024,
      noDelay: true,
    },
    handler.handle,
  )
  server.on('clientError', (error, stream) => {
    const socket = stream as Socket
    handler.pipelines.of(socket).afterAnswers(() => answerBrokenRequest(error, socket))
  })
  const stop = () => {
    scenario.stop()
    recorder?.close()
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      stop()
      reject(error)
    })
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    key,
    port,
    requests: () => log.list(),
    clearRequests: () => log.clear(),
    setFaults: (list) => faults.setGiven(list),
    openStreams: handler.openStreams,
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }).then(stop)
      return closing
    },
  }
}

async function recorderFor(
  { recordFile, upstream }: GatewayOptions,
  key: string,
): Promise<Recorder | undefined> {
  if (recordFile === undefined) return undefined
  if (upstream === undefined)
    throw new UserError({
      code: 'usage',
      message: 'There is nothing to record without an upstream',
      hint: 'Add --upstream with the address of a real gateway.',
    })
  // Loaded only when there is something to record.
  const { Recorder } = await import('./settings/recorder.ts')
  return new Recorder(recordFile, () => [key, upstream.key])
}

/** The built-in catalog with the models of which a scenario has answers. */
function withModels(ids: readonly string[]): readonly CatalogEntry[] {
  const missing = ids.filter((id) => !builtInCatalog.some((entry) => entry.id === id))
  const added = missing.map((id) => ({ id, ownedBy: 'custom', endpointTypes: everyProtocol }))
  return [...builtInCatalog, ...added]
}

interface PlayedScenario {
  player(): Player | undefined
  /** Those of which it has recorded answers. */
  readonly models: readonly string[]
  stop(): void
}

/** Plays the scenario file, and plays it anew whenever it changes. */
async function playScenario(
  { scenarioFile, onScenario }: GatewayOptions,
  faults: Faults,
): Promise<PlayedScenario> {
  if (scenarioFile === undefined) return { player: () => undefined, models: [], stop() {} }
  // Loaded only when there is one.
  const { readScenarioFile, fingerprintOf, watchScenarioFile } = await import(
    './settings/scenario-file.ts'
  )
  const { Player, recordedModels } = await import('./settings/scenario.ts')
  let player: Player
  const play = (scenario: Scenario) => {
    player = new Player(scenario)
    faults.setOfScenario(scenario.faults)
  }

  const state = fingerprintOf(scenarioFile)
  const first = readScenarioFile(scenarioFile)
  play(first)
  const stop = watchScenarioFile(scenarioFile, state, (result) => {
    // A file that is wrong for a moment leaves the last good one in force.
    if (!(result instanceof Error)) play(result)
    onScenario?.(result instanceof Error ? result.message : undefined)
  })
  return { player: () => player, models: recordedModels(first), stop }
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
