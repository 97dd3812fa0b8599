import { EventEmitter } from 'node:events'
import { request as ask, createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KeyHeader } from '../../src/gateway/types.ts'
import type { Gateway } from '../../src/serve/index.ts'

/** The requirements of a front. It rejects a request that does not meet them. */
export interface Demands {
  readonly key: string
  /** The only header that may contain the key. Absent: `authorization`, as Bearer. */
  readonly keyHeader?: KeyHeader
  /** The path prefix for which `keyHeader` applies. Other paths need the key as Bearer. */
  readonly onlyAt?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Required parameters in the query of every request. */
  readonly query?: Readonly<Record<string, string>>
  /** Whether the front has a list of models. If false, it answers 404 without checking the key. */
  readonly hasList?: boolean
  /** Routes that the front does not have, as `/messages`: it answers 404 without checking the key. */
  readonly missing?: readonly string[]
  /** Whether its responses have a header of New API, which accepts a key in every usual header. */
  readonly readsAll?: boolean
  /** The front is New API, and reports this balance of the key. `silent`: it never answers. */
  readonly balance?: { readonly left: number | 'silent'; readonly isUnlimited?: boolean }
}

export interface Front {
  readonly url: string
  /** The headers of every request, including rejected ones. */
  readonly seen: IncomingHttpHeaders[]
  /** The path and query of every request. */
  readonly urls: string[]
  close(): Promise<void>
}

/** Starts a server that checks requests and forwards them to a local gateway. */
export async function startFront(gateway: Gateway, demands: Demands): Promise<Front> {
  const seen: IncomingHttpHeaders[] = []
  const urls: string[] = []
  const answered = new EventEmitter().setMaxListeners(0)
  let isBalanceDue = false
  const server = createServer((request, response) => {
    seen.push(request.headers)
    urls.push(request.url!)
    const { pathname, searchParams } = new URL(request.url!, 'http://front')
    const isList = pathname.endsWith('/models')
    const lacks = Object.entries(demands.query ?? {}).some(
      ([name, value]) => searchParams.get(name) !== value,
    )
    const isMissing = demands.missing?.some((route) => pathname.endsWith(route)) === true
    const refusal =
      lacks || isMissing || (isList && demands.hasList === false)
        ? { status: 404, body: { error: { message: 'Not Found' } } }
        : refusalOf(request.headers, demandsAt(request.url ?? '', demands))
    if (refusal !== undefined) {
      request.resume()
      const id = demands.readsAll ? { 'x-oneapi-request-id': '20261122' } : {}
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...id })
      response.end(JSON.stringify(refusal.body))
      return
    }

    const { balance } = demands
    // A model answers later than the balance, which repoint requests after the list.
    if (isList) isBalanceDue = balance !== undefined && balance.left !== 'silent'
    if (balance !== undefined) response.setHeader('x-new-api-version', 'v1.0.0')
    if (request.url === '/api/usage/token/' && balance !== undefined) {
      const { left, isUnlimited = false } = balance
      if (left === 'silent') return
      const data = { object: 'token_usage', total_available: left, unlimited_quota: isUnlimited }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: true, data }), () => {
        isBalanceDue = false
        answered.emit('balance')
      })
      return
    }

    const { host: _, 'x-api-key': __, ...headers } = request.headers
    const onward = ask(`${gateway.url}${request.url}`, {
      method: request.method,
      headers: { ...headers, authorization: `Bearer ${gateway.key}` },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    if (request.method === 'POST' && isBalanceDue)
      answered.once('balance', () => request.pipe(onward))
    else request.pipe(onward)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    urls,
    close: () => {
      server.closeAllConnections()
      return new Promise((closed) => server.close(() => closed()))
    },
  }
}

function demandsAt(url: string, { onlyAt = '', keyHeader, ...demands }: Demands): Demands {
  return keyHeader !== undefined && url.startsWith(onlyAt) ? { ...demands, keyHeader } : demands
}

/** The error for a missing header is Portkey's, the one for a wrong key is Azure's (2026-11-22). */
function refusalOf(
  headers: IncomingHttpHeaders,
  { key, keyHeader, headers: required = {} }: Demands,
) {
  const missing = Object.keys(required).find((name) => headers[name] !== required[name])
  if (missing !== undefined)
    return { status: 400, body: { status: 'failure', message: `${missing} header is required` } }
  const sentKey = keyHeader === undefined ? headers.authorization?.slice(7) : headers[keyHeader]
  if (sentKey === key && (keyHeader === undefined || headers.authorization === undefined)) return
  const message = 'Access denied due to invalid subscription key or wrong API endpoint.'
  return { status: 401, body: { error: { code: '401', message } } }
}
