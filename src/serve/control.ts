import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { keyChecker, readKey } from './auth.ts'
import type { BodyRequest } from './body.ts'
import { watchLog } from './log/live.ts'
import { type RequestLog, summaryOf } from './log/request-log.ts'
import { controlPrefix } from './routes.ts'
import { Misfit } from './settings/check.ts'
import { readFault } from './settings/fault-spec.ts'
import type { Faults } from './settings/faults.ts'

export interface ControlParts {
  readonly host: string
  readonly key: string
  readonly log: RequestLog
  readonly faults: Faults
}

type Control = (request: BodyRequest, response: ServerResponse, path: string) => void

/** A list of faults is short. */
const maxControlBodyBytes = 256 * 1024

/**
 * Our own routes under `/_repoint/`:
 *
 * - `GET requests`: the log, newest first, without bodies; `GET requests/ID`: one with everything
 * - `DELETE requests`: empties it
 * - `GET events`: the same as server-sent events, as it happens
 * - `GET faults`, `PUT faults`, `DELETE faults`: what goes wrong on request
 *
 * Only this machine may ask, and a web page of somebody else's may not. What changes something needs
 * the key, or the page of the gateway itself.
 */
export function createControl({ host, key, log, faults }: ControlParts): Control {
  const checkKey = keyChecker(key)
  const live = watchLog(log)

  return (request, response, path) => {
    const method = request.method ?? 'GET'
    const route = path.slice(controlPrefix.length)
    if (!isOwnHost(request.headers.host, host) || isForeignPage(request)) {
      send(response, 403, { error: 'Only this machine may ask.' })
      return
    }
    if (method !== 'GET' && !isOwnPage(request) && !checkKey(readKey(request, true).key)) {
      send(response, 401, { error: 'This needs the key of the gateway.' })
      return
    }
    const requestId = /^requests\/([A-Za-z0-9]+)$/.exec(route)?.[1]
    if (method === 'GET' && route === 'requests')
      send(response, 200, log.list().toReversed().map(summaryOf))
    else if (method === 'DELETE' && route === 'requests') {
      log.clear()
      send(response, 200, [])
    } else if (method === 'GET' && requestId !== undefined) {
      const found = log.find(requestId)
      send(response, found === undefined ? 404 : 200, found ?? { error: 'It is not in the log.' })
    } else if (method === 'GET' && route === 'events') live.add(response)
    else if (method === 'GET' && route === 'faults') send(response, 200, faults.list())
    else if (method === 'DELETE' && route === 'faults') {
      faults.setGiven([])
      send(response, 200, faults.list())
    } else if (method === 'PUT' && route === 'faults') setFaults(request, response)
    else send(response, 404, { error: 'There is no such route.' })
  }

  function setFaults(request: BodyRequest, response: ServerResponse): void {
    request.readBody(maxControlBodyBytes, (end, bytes) => {
      if (end !== 'complete') {
        if (end === 'too-large') send(response, 413, { error: 'The body is too large.' })
        return
      }
      try {
        const data: unknown = JSON.parse(bytes.toString())
        const list = Array.isArray(data) ? data : [data]
        faults.setGiven(list.map((value, index) => readFault(value, ['faults', index])))
        send(response, 200, faults.list())
      } catch (error) {
        if (!(error instanceof Misfit || error instanceof SyntaxError)) throw error
        send(response, 400, { error: error.message })
      }
    })
  }
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(text)
}

/**
 * Whether a Host header names this machine by an address, by `localhost` or as `--host` says. Any
 * other name may be a web page's, pointed here by its owner to read the log.
 */
export function isOwnHost(header: string | undefined, host: string): boolean {
  if (header === undefined) return false
  const name = header.replace(/:\d*$/, '').toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost') || name === host.toLowerCase())
    return true
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** Browsers say where a request comes from; programs say nothing. */
function isForeignPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return headers.origin !== undefined && headers.origin !== `http://${headers.host}`
}

function isOwnPage({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'same-origin'
}
