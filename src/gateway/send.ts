import { type RequestSpec, request } from './http/request.ts'
import { withQuery } from './input/query.ts'
import type { HttpResponse, NetworkFailure } from './judge/types.ts'
import type { GatewayAccess } from './types.ts'

/**
 * Sends one request with the key, and does not judge the answer.
 *
 * @param keyHeader the header with the key; absent: that of `access`
 */
export function sendWithKey(
  access: GatewayAccess,
  spec: RequestSpec,
  keyHeader = access.keyHeader,
): Promise<HttpResponse | NetworkFailure> {
  const headers = {
    ...Object.fromEntries((access.headers ?? []).map(({ name, value }) => [name, value])),
    ...keyIn({ ...access, keyHeader }),
    // Many gateways choose the language of their error texts by this header. repoint's texts are English.
    'accept-language': 'en',
    'user-agent': 'repoint',
    ...spec.headers,
  }

  return request(access, { ...spec, url: withQuery(spec.url, access.query), headers })
}

function keyIn({ key, keyHeader }: GatewayAccess): Readonly<Record<string, string>> {
  return keyHeader === 'authorization' ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
}
