import type http from 'node:http'
import type { Gateway } from '../../src/serve/index.ts'
import { aServer, type Forged } from '../gateway/forged.ts'

/** What a gateway does with the field `safeguards`. */
export type AboutSafeguards = 'answers' | 'drops' | 'rejects'

/** Passes every request on, without the field `safeguards` or with a 400 for it. */
export function aSafeguardsFront(
  gateway: Pick<Gateway, 'url'>,
  does: AboutSafeguards,
): Promise<Forged> {
  return aServer(async ({ method, url, headers, body }, response) => {
    const { safeguards, ...others } = body === '' ? {} : JSON.parse(body)
    if (does === 'rejects' && safeguards !== undefined) {
      const message = 'safeguards: Extra inputs are not permitted'
      send(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } })
      return
    }

    const passed = does === 'answers' ? body : JSON.stringify(others)
    const { authorization = '', 'anthropic-beta': beta, 'content-type': type } = headers
    const answer = await fetch(gateway.url + url, {
      method,
      headers: {
        authorization,
        ...(type && { 'content-type': type }),
        ...(beta && { 'anthropic-beta': String(beta) }),
      },
      ...(method === 'POST' && { body: passed }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
}

function send(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
