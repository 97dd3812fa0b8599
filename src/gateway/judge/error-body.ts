import { compact } from '../../compact.ts'
import { asObject, jsonIn } from '../foreign-text.ts'
import type { HttpAnswer } from './answer.ts'

/** What the body of an answer says about a failure, whoever wrote it. */
export interface ErrorBody {
  readonly kind: 'json' | 'page' | 'text' | 'empty'
  /** Whether the body is an error of an API, in one of the known shapes. */
  readonly isApiError: boolean
  /** The error's codes, types and reasons, in lower case; empty strings left out. */
  readonly codes: readonly string[]
  /** The parameter it blames. */
  readonly param: string
  /** Its own words, as they came, up to a length: for a web page its title. */
  readonly words: string
  /** A status inside the body (OpenRouter, vLLM, Gemini). */
  readonly status?: number
}

/** What of a text is read for words, in characters: patterns over more could take for ever. */
const maxWords = 2_000
const maxPageStart = 20_000

/** Reads the error in an answer: JSON of all shapes seen, a web page, or plain text. */
export function readErrorBody(answer: Pick<HttpAnswer, 'headers' | 'body'>): ErrorBody {
  const body = answer.body.replace(/^\ufeff/, '').trim()
  if (body === '') return { ...nothing, kind: 'empty' }
  if (isPage(answer.headers, body))
    return { ...nothing, kind: 'page', words: titleOf(body.slice(0, maxPageStart)) }

  const value = jsonIn(body)
  if (value === undefined) return { ...nothing, kind: 'text', words: body.slice(0, maxWords) }
  return errorFrom(value)
}

/** The same for an error that came as JSON inside a stream. */
export function errorFrom(value: unknown): ErrorBody {
  const layers = errorLayers(value)
  const root = layers.at(-1)
  if (root === undefined) return { ...nothing, kind: 'json' }

  const words = layers.flatMap((layer) => wordFields.map((name) => layer[name])).find(isText) ?? ''
  const codes = layers
    .flatMap((layer) => [
      layer['code'],
      layer['type'],
      layer['status'],
      // Databricks; Novita.
      layer['error_code'],
      layer['reason'],
      // MiniMax's own, in `base_resp`.
      layer['status_code'],
      ...reasons(layer),
    ])
    .filter(isCode)
  const statuses = layers.flatMap((layer) => [layer['status_code'], layer['statusCode']])
  // Spring's name of a status (Z.ai), which the code beside it does not repeat.
  const named = /^[45]\d\d(?= [A-Z_]+$)/.exec(words)?.[0] ?? ''
  const status = [named, ...codes, ...statuses.filter(isCode)]
    .map(Number)
    .find((number) => Number.isInteger(number) && number >= 400 && number <= 599)

  return compact({
    kind: 'json' as const,
    isApiError:
      ['error', 'errors', 'detail'].some((name) => (root[name] ?? null) !== null) ||
      root['success'] === false ||
      (asObject(root['base_resp'])?.['status_code'] ?? 0) !== 0 ||
      root['object'] === 'error' ||
      // SiliconFlow has `data: null` beside it.
      (words !== '' && (root['data'] ?? null) === null),
    codes: codes.map((code) => String(code).toLowerCase()),
    // LiteLLM writes Python's None as a word.
    param:
      layers
        .map((layer) => layer['param'])
        .filter(isText)
        .find((param) => param !== 'None') ?? '',
    words: words.slice(0, maxWords),
    status,
  })
}

type Layer = Readonly<Record<string, unknown>>

const wordFields = [
  'message',
  'msg',
  'error_description',
  'detail',
  'error',
  'reason',
  'status_msg',
]

/** The objects of an error from the innermost to the root: gateways wrap what they pass on. */
function errorLayers(value: unknown): readonly Layer[] {
  const layers: Layer[] = []
  let next: unknown = value
  while (layers.length < 5) {
    // Some pass the error on as text, or as a list of one.
    const unpacked = typeof next === 'string' ? jsonIn(next) : next
    const layer = asObject(Array.isArray(unpacked) ? unpacked[0] : unpacked)
    if (layer === undefined) break
    layers.unshift(layer)
    next = ['error', 'errors', 'detail', 'message', 'base_resp']
      .map((name) => layer[name])
      .find(holdsLayer)
  }

  return layers
}

function holdsLayer(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || (isText(value) && value.startsWith('{'))
}

const nothing: ErrorBody = { kind: 'text', isApiError: false, codes: [], param: '', words: '' }

function isPage(headers: HttpAnswer['headers'], body: string): boolean {
  if (/^\s*[[{]/.test(body) && jsonIn(body) !== undefined) return false
  return (
    /\b(?:text\/html|application\/xhtml)/i.test(headers['content-type'] ?? '') ||
    /^(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype|html|head|body|center|h1|title|script|meta)\b/is.test(
      body.slice(0, 2_000),
    )
  )
}

function titleOf(body: string): string {
  const text =
    /<title[^>]*>(.*?)<\/title>/is.exec(body)?.[1] ?? /<h1[^>]*>(.*?)<\/h1>/is.exec(body)?.[1] ?? ''
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/&amp;/g, '&')
    .replace(/&#?\w+;/g, ' ')
}

/** Google's errors hold their cause in `details[].reason`. */
function reasons(layer: Layer): readonly unknown[] {
  const details = layer['details']
  return Array.isArray(details) ? details.map((detail) => asObject(detail)?.['reason']) : []
}

function isCode(value: unknown): value is string | number {
  return isText(value) || typeof value === 'number'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** What gateways and services put into `error.code` and `error.type`, in lower case. */
export const codesOf = {
  quota: [
    'insufficient_user_quota',
    'insufficient_quota',
    'pre_consume_token_quota_failed',
    'insufficient_balance',
    'insufficient_credits',
    'billing_hard_limit_reached',
    'billing_not_active',
    'billing_error',
    'exceeded_current_quota_error',
    'budget_exceeded',
    'payment_required',
    'arrearage',
    // opencode Zen, with status 401 (opencode issue 37161, 2026-07).
    'creditserror',
    // Zhipu: balance used up, sent as 429.
    '1113',
    // MiniMax, in a 200.
    '1008',
  ],
  modelUnknown: [
    'model_not_found',
    'unknown_model',
    'invalid_model',
    'model_not_supported',
    'modelnotfound',
    'modelnotopen',
    'invalidendpointormodel.notfound',
    'deploymentnotfound',
    // Databricks.
    'endpoint_not_found',
    'resource_does_not_exist',
    // opencode Zen, with status 401 (cursor-byok issue 94, 2026-07).
    'modelerror',
    // Zhipu.
    '1211',
  ],
  modelUnpriced: ['model_price_error'],
  modelNotAllowed: [
    'model_not_allowed',
    'key_model_access_denied',
    'team_model_access_denied',
    'user_model_access_denied',
    'org_model_access_denied',
    'project_model_access_denied',
    'accessdenied.model',
  ],
  key: [
    'invalid_api_key',
    'invalid_token',
    'invalid_authentication_error',
    'authentication_error',
    'auth_error',
    'token_not_found_in_db',
    'expired_key',
    'api_key_invalid',
    'api_key_expired',
    'unauthenticated',
    'unauthorized',
    'account_deactivated',
    // MiniMax, in a 200.
    '1004',
    '2049',
  ],
  // New API, for a model whose channel does not speak the protocol (read in its source, 2026-11-21).
  protocol: ['convert_request_failed'],
  route: [
    'api_not_implemented',
    'not_implemented',
    'unsupported_api_for_model',
    'unsupported_endpoint',
  ],
} as const
