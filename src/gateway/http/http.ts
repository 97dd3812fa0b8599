import { type Answer, NetworkError, type NetworkFailure } from '../judge/answer.ts'
import type { GatewayAccess } from '../types.ts'
import { dropConnection, takeConnection } from './connection.ts'
import { exchange, type RequestSpec } from './exchange.ts'

export type { RequestSpec }

const maxRedirects = 3

/**
 * One request with the key, within `access.timeoutMs`. A redirect inside the same origin is
 * followed; one that leads elsewhere comes back as the answer, since the key must not go there.
 *
 * @throws NetworkError where no answer came; UserError for a useless proxy variable or CA file
 */
export async function request(access: GatewayAccess, spec: RequestSpec): Promise<Answer> {
  const deadline = performance.now() + access.timeoutMs
  let url = new URL(access.baseUrl + spec.path)
  for (let redirects = 0; ; redirects++) {
    const answer = await send(access, spec, url, deadline)
    const next = redirects < maxRedirects ? followable(answer, url) : undefined
    if (next === undefined) return answer
    url = next
  }
}

/** One exchange, once more where the connection was at fault: closed meanwhile, or HTTP/2 only. */
async function send(
  access: GatewayAccess,
  spec: RequestSpec,
  url: URL,
  deadline: number,
): Promise<Answer> {
  let offersHttp2 = false
  for (;;) {
    const connection = await takeConnection(access, offersHttp2)
    const { isUsed } = connection
    try {
      return await exchange(access, spec, url, connection, deadline)
    } catch (error) {
      dropConnection(connection)
      if (!(error instanceof NetworkError)) throw error
      const { failure } = error
      if (isUsed && failure.reason === 'error' && failure.stage === 'first-byte') continue
      if (connection.offersHttp2 || !wantsHttp2(failure)) throw error
      offersHttp2 = true
    }
  }
}

/** The server ends the handshake over HTTP/1.1, or answers it with an HTTP/2 frame. */
function wantsHttp2(failure: NetworkFailure): boolean {
  return (
    failure.url.startsWith('https:') &&
    (/NO_APPLICATION_PROTOCOL/.test(failure.errorCode) ||
      /no application protocol/.test(failure.detail) ||
      isHttp2Settings(failure.firstBytes ?? ''))
  )
}

/** A frame of type 4 on stream 0: what an HTTP/2 server sends first (RFC 9113, 3.4). */
function isHttp2Settings(bytes: string): boolean {
  return bytes.startsWith('\0\0') && bytes[3] === '\x04'
}

/** Where a redirect leads, if it stays in the origin and keeps the method. */
function followable(answer: Answer, from: URL): URL | undefined {
  const kept = answer.method === 'GET' ? [301, 302, 303, 307, 308] : [307, 308]
  const location = answer.headers['location']
  if (!kept.includes(answer.status) || location === undefined) return undefined
  if (!URL.canParse(location, from.href)) return undefined
  const to = new URL(location, from)
  return to.origin === from.origin && to.username === '' ? to : undefined
}
