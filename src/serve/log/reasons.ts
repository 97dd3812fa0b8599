/**
 * The reasons of rejections that the log shows to the developer of a client. The response itself has the imitated
 * gateway's message, which often does not name the cause. Undefined if that message is enough.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { closestNames } from '../../text.ts'
import type { Failure } from '../codecs/failure.ts'
import type { ServedCatalog } from '../model/catalog.ts'
import { bareModelName } from '../requests/checks/combinations.ts'
import { findRoute, readsApiKey } from '../routes.ts'
import type { LogEntry } from './entry.ts'
import { isSecretHeader } from './request-log.ts'
import { maskKey } from './secrets.ts'

/** The reason of a web page or a 404. */
export function routeReason(method: string, path: string): string | undefined {
  const repeatedPrefixPattern = /^\/v1(?=\/v1(\/|$))/
  if (repeatedPrefixPattern.test(path))
    return `${path} has /v1 twice: the client adds it itself, so its base URL must end before it.`
  if (/\/{2,}/.test(path)) return `${path} has one slash too many.`

  const allowedMethod = ['POST', 'GET', 'DELETE'].find((candidate) => isRoute(candidate, path))
  if (allowedMethod !== undefined && allowedMethod !== method)
    return `${path} needs ${allowedMethod}; this was ${method}.`

  const trimmed = path.replace(/\/$/, '')
  if (isRoute(method, trimmed))
    return `${path} is not the same route as ${trimmed}, without the slash at the end.`
  if (isRoute(method, `/v1${path}`))
    return `/v1 is missing before ${path}: outside of it, the imitated gateway responds with its web page.`
  const inner = /^\/.+?(\/v1\/.*)$/.exec(path)?.[1]
  if (inner !== undefined && isRoute(method, inner))
    return `Nothing is allowed before /v1: the route is ${inner}, not ${path}.`

  if (vendorRoutePattern.test(path))
    return `The vendor has a route ${path}; the imitated gateway does not, and so this one does not either.`
  if (findRoute(method, path).kind !== 'web') {
    const [nearest] = closestNames(path, knownPaths)
    return `There is no route ${path}${nearest === undefined ? '' : `; the nearest is ${nearest}`}.`
  }

  return method === 'GET'
    ? undefined
    : 'Outside of /v1, the imitated gateway responds with its web page.'
}

/** Routes of the vendors that the imitated gateway does not have (New API, read 2026-11-23). */
const vendorRoutePattern =
  /^\/v1\/(messages\/batches|conversations|assistants|batches|containers|skills|threads|vector_stores)(\/|$)/

const knownPaths = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/models']

function isRoute(method: string, path: string): boolean {
  return !['unknown', 'web', 'control'].includes(findRoute(method, path).kind)
}

/** The reason of a 401. */
export function keyReason(
  { auth, key }: LogEntry,
  path: string,
  headers: IncomingHttpHeaders,
  gatewayKey: string,
): string {
  if (auth === 'none') {
    const wrongHeader = Object.keys(headers).find(
      (name) => isSecretHeader(name) && name !== 'cookie',
    )
    const place = readsApiKey(path) ? 'Authorization or x-api-key' : 'Authorization'
    const correction = wrongHeader === undefined ? '' : `, not in ${wrongHeader}`
    return `There is no key: it must be in ${place}${correction}.`
  }

  if (auth === 'x-api-key' && !readsApiKey(path))
    return 'The key is in x-api-key, which only messages and models accept. Other routes need `Authorization: Bearer KEY`.'
  if (key === '' || /^bearer$/i.test(key)) return 'The header for the key is empty.'
  if (/^bearer\b/i.test(key)) return '`Bearer` is twice before the key.'
  if (/^\$|^%.*%$|^\{.*\}$/.test(key))
    return 'The key is the name of a variable that was not replaced.'
  if (/^["'`]/.test(key)) return 'The key has quotation marks around it.'

  const place =
    auth === 'both' && readsApiKey(path) ? ' in x-api-key, which wins over Authorization here,' : ''
  return `The key ${maskKey(key)}${place} is not that of this gateway, ${maskKey(gatewayKey)}.`
}

/** The reason of a failure of an inference request with a valid key. */
export function failureReason(
  failure: Failure,
  { modelAsked = '', modelServed, protocol, requestBody }: LogEntry,
  contentType: string | undefined,
  catalog: ServedCatalog,
): string | undefined {
  if (failure.hint !== undefined)
    return `${failure.message}${failure.message.endsWith('.') ? '' : '.'}${failure.hint.startsWith('\n') ? '' : ' '}${failure.hint}`
  switch (failure.code) {
    case 'model_not_found': {
      const nearest = closestNames(modelAsked, catalog.ids, bareModelName).slice(0, 3)
      const suggestion = nearest.length === 0 ? '' : `; nearest: ${nearest.join(', ')}`
      return `There is no model ${modelAsked}${suggestion}.`
    }
    case 'convert_request_failed': {
      const types = catalog.find(modelServed ?? modelAsked)?.endpointTypes ?? []
      return `${modelAsked} does not support ${protocol}: the catalog lists it for ${types.join(', ')}.`
    }
  }

  if (failure.status !== 400) return undefined
  if (contentType === undefined || !contentType.startsWith('application/json'))
    return `Content-Type is ${contentType ?? 'missing'}: the imitated gateway only reads bodies of application/json, so it found no model.`
  return jsonReason(requestBody)
}

/** Names only the place, because the text there may be a key. */
function jsonReason(body: string): string | undefined {
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1]
    if (body.trim() === '') return 'The body is empty.'
    if (position === undefined || Number(position) >= body.length)
      return 'The body is incomplete JSON.'

    const lines = body.slice(0, Number(position)).split('\n')
    const column = lines.at(-1)!.length + 1
    return `The body is not valid JSON from line ${lines.length}, column ${column} on.`
  }
}
