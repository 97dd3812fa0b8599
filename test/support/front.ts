import { request as ask, createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KeyHeader } from '../../src/gateway/types.ts'
import type { Gateway } from '../../src/serve/index.ts'

/** What a front wants before it lets a request through. */
export interface Demands {
  readonly key: string
  /** The key counts here alone, and is refused where it goes as Bearer too. Absent: as Bearer. */
  readonly keyHeader?: KeyHeader
  /** Of `keyHeader`: elsewhere the key counts as Bearer. */
  readonly onlyAt?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In the query of every request. */
  readonly query?: Readonly<Record<string, string>>
  /** It has no list of models, and says so before it looks at the key. */
  readonly hasList?: boolean
  /** Its answers are of the family that reads a key in every usual header. */
  readonly readsAll?: boolean
  /** It is New API, and says so much of a key; how much never comes, where it is `silent`. */
  readonly balance?: { readonly left: number | 'silent'; readonly isUnlimited?: boolean }
}

export interface Front {
  readonly url: string
  /** What each request brought, the refused ones too. */
  readonly seen: IncomingHttpHeaders[]
  /** The path and query of each. */
  readonly urls: string[]
  close(): Promise<void>
}

/** A gateway that is particular about headers, before a local one that answers. */
export async function startFront(gateway: Gateway, demands: Demands): Promise<Front> {
  const seen: IncomingHttpHeaders[] = []
  const urls: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    urls.push(request.url!)
    const { pathname, searchParams } = new URL(request.url!, 'http://front')
    const isList = pathname.endsWith('/models')
    const lacks = Object.entries(demands.query ?? {}).some(
      ([name, value]) => searchParams.get(name) !== value,
    )
    const refusal =
      lacks || (isList && demands.hasList === false)
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
    if (balance !== undefined) response.setHeader('x-new-api-version', 'v1.0.0')
    if (request.url === '/api/usage/token/' && balance !== undefined) {
      const { left, isUnlimited = false } = balance
      if (left === 'silent') return
      const data = { object: 'token_usage', total_available: left, unlimited_quota: isUnlimited }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: true, data }))
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
    // A model takes longer than a table of keys.
    setTimeout(() => request.pipe(onward), request.method === 'POST' && balance ? 150 : 0)
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

/** Portkey's words for a header, Azure's for a key (2026-11-22). */
function refusalOf(
  headers: IncomingHttpHeaders,
  { key, keyHeader, headers: wanted = {} }: Demands,
) {
  const missing = Object.keys(wanted).find((name) => headers[name] !== wanted[name])
  if (missing !== undefined)
    return { status: 400, body: { status: 'failure', message: `${missing} header is required` } }
  const given = keyHeader === undefined ? headers.authorization?.slice(7) : headers[keyHeader]
  if (given === key && (keyHeader === undefined || headers.authorization === undefined)) return
  const message = 'Access denied due to invalid subscription key or wrong API endpoint.'
  return { status: 401, body: { error: { code: '401', message } } }
}
