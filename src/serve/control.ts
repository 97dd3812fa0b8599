import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { InvalidData } from '../schema.ts'
import { readRequestKey } from './auth.ts'
import { namedFrame, sseHeaders } from './codecs/sse.ts'
import { readFaults } from './faults/fault-members.ts'
import { readBody } from './http/body.ts'
import type { LogEntry } from './log/entry.ts'
import type { RequestLog } from './log/request-log.ts'
import { controlPrefix, requestPath } from './routes.ts'
import type { Scope } from './scopes.ts'

interface ControlOptions {
  readonly host: string
  readonly log: RequestLog
  readonly mainScope: Scope
  counters(): object
}

export type Control = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** The largest body, in bytes. A list of faults is short. */
const maxControlBodyBytes = 256 * 1024

/**
 * Our own routes under `/_repoint/`:
 *
 * - `GET requests`: the log, newest first, without headers and bodies
 * - `GET requests/ID`: one request with its headers and bodies
 * - `DELETE requests`: empties the log
 * - `GET events`: the requests as server-sent events, as they arrive and end
 * - `GET counters`: the counters since the start
 * - `GET faults`, `PUT faults`, `DELETE faults`: the active faults
 *
 * Rejects requests with a foreign `Host` and requests from pages of other origins. Every change needs
 * the key.
 */
export function createControl({ host, log, mainScope, counters }: ControlOptions): Control {
  const { faults } = mainScope
  const logStream = createLogStream(log)

  return answer

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${requestPath(request).slice(controlPrefix.length)}`
    const send = (status: number, value: unknown) => {
      const body = JSON.stringify(value)
      const length = { 'Content-Length': Buffer.byteLength(body) }
      response.writeHead(status, { ...controlHeaders, ...length }).end(body)
    }

    if (!isAllowedHost(request.headers.host, host) || isCrossSite(request))
      return send(403, { error: 'Only this machine may ask.' })
    if (request.method !== 'GET' && !mainScope.hasKey(readRequestKey(request).key))
      return send(401, { error: 'This needs the key of the gateway.' })

    const requestId = /^GET requests\/([A-Za-z0-9]+)$/.exec(line)?.[1]
    if (requestId !== undefined) {
      const loggedRequest = log.find(requestId)
      if (loggedRequest === undefined) return send(404, { error: 'It is not in the log.' })
      return send(200, loggedRequest)
    }

    switch (line) {
      case 'GET requests':
        return send(200, log.summaries())
      case 'DELETE requests':
        log.clear()
        return send(200, [])
      case 'GET events':
        return logStream.add(response)
      case 'GET counters':
        return send(200, counters())
      case 'GET faults':
        return send(200, faults.list())
      case 'DELETE faults':
        faults.set([])
        return send(200, faults.list())
      case 'PUT faults':
        return setFaults(request, send)
      default:
        return send(404, { error: 'There is no such route.' })
    }
  }

  async function setFaults(
    request: IncomingMessage,
    send: (status: number, value: unknown) => void,
  ): Promise<void> {
    const body = await readBody(request, maxControlBodyBytes)
    if (typeof body === 'string') {
      // The rest of it may follow, or the client has disconnected.
      request.resume()
      send(413, { error: 'The body is too large.' })
      return
    }

    try {
      faults.set(readFaults(JSON.parse(body.toString())))
      send(200, faults.list())
    } catch (error) {
      if (!(error instanceof InvalidData || error instanceof SyntaxError)) throw error
      send(400, { error: error.message })
    }
  }
}

const controlHeaders = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * Whether a Host header is an IP address, `localhost` or the value of `--host`. Any other name may belong
 * to a web page whose owner made it resolve to this machine to read the log (DNS rebinding).
 */
export function isAllowedHost(header: string | undefined, host: string): boolean {
  if (header === undefined) return false
  const name = header.replace(/:\d*$/, '').toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === host.toLowerCase())
    return true
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether a page of another site sent the request. Only browsers send these headers. */
function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return headers.origin !== undefined && headers.origin !== `http://${headers.host}`
}

/** How many pages can be open at the same time. */
const maxOpenPages = 32
/** How long changes are collected, in ms. A page cannot draw ten thousand requests a second. */
const batchMs = 100
/** A larger batch keeps only its newest requests. */
const maxRequestsPerBatch = 200
/** A page with more unread bytes is disconnected. */
const maxUnreadBytes = 4 * 1024 * 1024
/** The interval of comment lines that keep proxies and browsers connected, in ms. */
const heartbeatMs = 15_000

/** Streams the log to open pages. Does nothing while no page is open. */
function createLogStream(log: RequestLog) {
  const pages = new Set<ServerResponse>()
  const changed = new Map<string, LogEntry>()
  let timer: NodeJS.Timeout | undefined
  let stopListening: (() => void) | undefined

  return { add }

  /** Streams the log to a page until it disconnects. */
  function add(response: ServerResponse): void {
    if (pages.size >= maxOpenPages) {
      response.writeHead(503).end()
      return
    }

    response.writeHead(200, { ...sseHeaders, 'Cross-Origin-Resource-Policy': 'same-origin' })
    response.write(': the requests of this gateway\n\n')
    pages.add(response)
    stopListening ??= log.listen(addEntry)

    const heartbeat = setInterval(() => response.write(': still here\n\n'), heartbeatMs)
    response.once('close', () => {
      clearInterval(heartbeat)
      pages.delete(response)
      if (pages.size === 0) stop()
    })
  }

  function stop(): void {
    stopListening?.()
    stopListening = undefined
    clearTimeout(timer)
    timer = undefined
    changed.clear()
  }

  function addEntry(entry: LogEntry): void {
    // Move the entry to the end, so that the newest entries stay in a full batch.
    changed.delete(entry.id)
    changed.set(entry.id, entry)
    if (changed.size > maxRequestsPerBatch) changed.delete(changed.keys().next().value!)
    timer ??= setTimeout(flush, batchMs)
  }

  function flush(): void {
    timer = undefined
    const requests = [...changed.values()].map((entry) => log.summarize(entry))
    changed.clear()
    const frame = namedFrame('requests', requests)
    for (const page of pages)
      if (page.writableLength > maxUnreadBytes) page.destroy()
      else page.write(frame)
  }
}
