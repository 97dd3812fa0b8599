/** What the rules read of a response, and the part of every outcome that is the same. */
import { cleanForeignText } from '../foreign-text.ts'
import type { Catalog } from '../types.ts'
import { idPattern } from './causes/find-causes.ts'
import { noStatus } from './causes/row.ts'
import type { ErrorBody } from './error-body.ts'
import type { HttpResponse, Outcome, SentRequest } from './types.ts'

/** A response with everything that the rules use. */
export interface Evidence {
  readonly response: HttpResponse
  readonly request: SentRequest
  readonly error: ErrorBody
  /** The status of the response. For an error in the body of a 200: its own status, or `noStatus`. */
  readonly status: number
}

/** The status and the gateway's own words, in parentheses. */
export function quoteOf({ response, request, error }: Evidence): string {
  const words = cleanForeignText(error.words.replace(requestIdInWords, ''), request.secrets)
  return ` (HTTP ${response.status}${words === '' ? '' : `: "${words}"`})`
}

export function outcome(evidence: Evidence, parts: Omit<Outcome, 'requestId' | 'quote'>): Outcome {
  return { ...parts, quote: quoteOf(evidence), requestId: requestIdOf(evidence) }
}

const requestIdHeaders = [
  'x-oneapi-request-id',
  'x-request-id',
  'request-id',
  'x-litellm-call-id',
  'x-amzn-requestid',
  'cf-ray',
]

/** The message shows the ID separately at its end. Gateways that wrap other errors have several IDs. */
const requestIdInWords =
  /[\s,;.，。]{0,3}(?:[([（]\s*)?\brequest[ _-]?id\b\s*[:：=]?\s*["']?([\w.:-]*\d(?:[\w.:-]*\w)?)["']?(?:\s*[)\]）])?/gi

function requestIdOf({ response, request, error }: Evidence): string | undefined {
  const fromBody = [...error.words.matchAll(requestIdInWords)][0]?.[1]
  return requestIdHeaders
    .map((name) => response.headers[name])
    .concat(fromBody)
    .find(
      (id) =>
        id !== undefined &&
        /^[\w.:-]{4,100}$/.test(id) &&
        // A gateway may echo anything there.
        cleanForeignText(id, request.secrets) === id,
    )
}

export function responseHost(response: HttpResponse): string {
  return new URL(response.url).host
}

/** The requested model, as shown. */
export function quotedModel({ request }: Evidence): string {
  return cleanForeignText(request.model ?? '')
}

/** An address without its query, because a redirect may put anything there. */
export function withoutQuery(url: URL, { secrets }: SentRequest): string {
  return cleanForeignText(url.origin + url.pathname, secrets)
}

/** Whether the base URL is right, because an API has answered another request there. */
export function isBaseUrlGood({ request }: Evidence): boolean {
  return request.apiAnswered !== undefined
}

export function requestsModel({ request }: Evidence): boolean {
  return request.route !== 'catalog'
}

/** The gateway rejects what the client sent, by status or in the body of a 200. Some send only 500. */
export function isRejection({ status }: Evidence): boolean {
  return hundredsOf(status) === 4 || status === noStatus || status === 500
}

/** Whether there is a catalog, and it does not list the requested model. */
export function isUnlisted({
  model,
  catalog,
}: Pick<SentRequest, 'model'> & { readonly catalog?: Catalog }): boolean {
  return catalog?.models.every(({ id }) => id !== model) === true
}

/** Whether the gateway's words name the requested model, in any language. A catalog request has no model. */
export function mentionsModel({ request, error }: Evidence): boolean {
  const { model = '' } = request
  return model.length > 1 && idPattern(model).test(error.words)
}

/** A web server in front of the API asks for Basic and similar logins. A gateway's API never does. */
export function asksForLogin(response: HttpResponse): boolean {
  const challenge = response.headers['www-authenticate'] ?? ''
  return (
    response.status === 401 &&
    /\b(?:basic|digest|ntlm|negotiate)\b/i.test(challenge) &&
    !/\bbearer\b/i.test(challenge)
  )
}

export function hundredsOf(status: number): number {
  return Math.floor(status / 100)
}

/** The statuses with which servers answer an unknown route. */
export function isRouteStatus(status: number): boolean {
  return status === 404 || status === 405 || status === 410 || status === 501
}
