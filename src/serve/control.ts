import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { readKey } from './auth.ts'
import { readBody } from './http/body.ts'
import { watchLog } from './log/live.ts'
import type { RequestLog } from './log/request-log.ts'
import type { Page } from './page/page.ts'
import { controlPrefix, pathOf } from './routes.ts'
import type { Scope } from './scopes.ts'
import { acceptFaults } from './settings/fault-spec.ts'
import { Misfit } from './settings/schema.ts'

interface ControlParts {
  readonly host: string
  readonly log: RequestLog
  readonly own: Scope
  readonly page: Page
  counters(): object
}

export type Control = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** A list of faults is short. */
const maxControlBodyBytes = 256 * 1024

/** Requests in one answer; `?before=NUMBER` has those before. */
const listedAtOnce = 200

/**
 * Our own routes under `/_repoint/`:
 *
 * - `GET requests`: the log, newest first, without bodies; `GET requests/ID`: one with everything;
 *   `GET requests?ids=ID,ID`: several with everything
 * - `DELETE requests`: empties it
 * - `GET scenario?ids=ID,ID`: the answers of these as a scenario file
 * - `GET events`: the same as server-sent events, as it happens
 * - `GET counters`: what was counted since the start
 * - `GET faults`, `PUT faults`, `DELETE faults`: what goes wrong on request
 *
 * Only this machine may ask, and a web page of somebody else's may not. What changes something needs
 * the key; the log may also be emptied from the page of the gateway itself.
 */
export function createControl({ host, log, own, page, counters }: ControlParts): Control {
  const { faults } = own
  const live = watchLog(log)

  return answer

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${pathOf(request).slice(controlPrefix.length)}`
    const sendText = (status: number, type: string, body: string) => {
      const length = Buffer.byteLength(body)
      const headers = { ...ownHeaders, 'Content-Type': type, 'Content-Length': length }
      response.writeHead(status, headers).end(body)
    }
    const send = (status: number, value: unknown) =>
      sendText(status, 'application/json; charset=utf-8', JSON.stringify(value))

    if (!isOwnHost(request.headers.host, host) || isForeignPage(request))
      return send(403, { error: 'Only this machine may ask.' })
    if (request.method !== 'GET' && !mayChange(request, line))
      return send(401, { error: 'This needs the key of the gateway.' })

    const requestId = /^GET requests\/([A-Za-z0-9]+)$/.exec(line)?.[1]
    if (requestId !== undefined) {
      const found = log.find(requestId)
      return send(found === undefined ? 404 : 200, found ?? { error: 'It is not in the log.' })
    }

    switch (line) {
      case 'GET requests':
        return send(200, listOf(queryOf(request)))
      case 'DELETE requests':
        log.clear()
        return send(200, [])
      case 'GET scenario': {
        const text = await scenarioOf(queryOf(request))
        return text === undefined
          ? send(404, { error: 'There is no answer of a model in it.' })
          : sendText(200, 'application/yaml; charset=utf-8', text)
      }
      case 'GET events':
        return live.add(response)
      case 'GET counters':
        return send(200, counters())
      case 'GET faults':
        return send(200, faults.list())
      case 'DELETE faults':
        faults.setGiven([])
        return send(200, faults.list())
      case 'PUT faults':
        return setFaults(request, send)
      default:
        return send(404, { error: 'There is no such route.' })
    }
  }

  function listOf({ ids, before = 'Infinity' }: Record<string, string>) {
    if (ids !== undefined) return log.findAll(ids.split(',').slice(0, listedAtOnce))
    return log.newest(listedAtOnce, Number(before))
  }

  async function scenarioOf({ ids = '' }: Record<string, string>): Promise<string | undefined> {
    // Loaded only when somebody wants one.
    const { scenarioText } = await import('./settings/scenario-text.ts')
    return scenarioText(log.findAll(ids.split(',')))
  }

  function mayChange(request: IncomingMessage, line: string): boolean {
    const isOwnPage = request.headers['x-repoint-page'] === page.token
    return own.isKeyedBy(readKey(request, true).key) || (isOwnPage && line === 'DELETE requests')
  }

  async function setFaults(
    request: IncomingMessage,
    send: (status: number, value: unknown) => void,
  ): Promise<void> {
    const body = await readBody(request, maxControlBodyBytes).catch(() => undefined)
    if (body === undefined) {
      // The rest of it may come, or the client has gone.
      request.resume()
      send(413, { error: 'The body is too large.' })
      return
    }
    try {
      faults.setGiven(acceptFaults(JSON.parse(body.toString())))
      send(200, faults.list())
    } catch (error) {
      if (!(error instanceof Misfit || error instanceof SyntaxError)) throw error
      send(400, { error: error.message })
    }
  }
}

const ownHeaders = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
}

function queryOf({ url = '' }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(url.split('?')[1]))
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
