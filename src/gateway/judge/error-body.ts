import type { Answer } from './answer.ts'

/** What the body of an answer says about a failure, whoever wrote it. */
export interface ErrorBody {
  readonly kind: 'json' | 'page' | 'text' | 'empty'
  /** Whether the body is an error of an API, in one of the known shapes. */
  readonly isApiError: boolean
  /** The error's codes, types and reasons, in lower case; empty strings left out. */
  readonly codes: readonly string[]
  /** The parameter it blames. */
  readonly param: string
  /** Its own words, as they came: for a web page its title. */
  readonly words: string
  /** A status inside the body (OpenRouter, vLLM, Gemini). */
  readonly status?: number
}

/** Reads the error in an answer: JSON of all shapes seen, a web page, or plain text. */
export function readErrorBody(answer: Pick<Answer, 'headers' | 'body'>): ErrorBody {
  const body = answer.body.replace(/^\ufeff/, '').trim()
  if (body === '') return { ...nothing, kind: 'empty' }
  if (isPage(answer.headers, body)) return { ...nothing, kind: 'page', words: titleOf(body) }
  const value = parseJson(body)
  if (value === undefined) return { ...nothing, kind: 'text', words: body }
  return errorFrom(value)
}

/** The same for an error that came as JSON inside a stream. */
export function errorFrom(value: unknown): ErrorBody {
  const layers = layersOf(value)
  const root = layers.at(-1)
  if (root === undefined) return { ...nothing, kind: 'json' }

  const words = layers.flatMap((layer) => wordFields.map((name) => layer[name])).find(isText) ?? ''
  const codes = layers
    .flatMap((layer) => [layer['code'], layer['type'], layer['status'], ...reasons(layer)])
    .filter(isCode)
  const status = codes
    .concat(layers.flatMap((layer) => [layer['status_code'], layer['statusCode']]).filter(isCode))
    .map(Number)
    .find((number) => Number.isInteger(number) && number >= 400 && number <= 599)
  return {
    kind: 'json',
    isApiError:
      ['error', 'errors', 'detail'].some((name) => (root[name] ?? null) !== null) ||
      root['success'] === false ||
      root['object'] === 'error' ||
      (words !== '' && !('data' in root)),
    codes: codes.map((code) => String(code).toLowerCase()),
    // LiteLLM writes Python's None as a word.
    param:
      layers
        .map((layer) => layer['param'])
        .filter(isText)
        .find((param) => param !== 'None') ?? '',
    words,
    ...(status === undefined ? {} : { status }),
  }
}

type Layer = Readonly<Record<string, unknown>>

const wordFields = ['message', 'msg', 'error_description', 'detail', 'error', 'reason']

/** The objects of an error from the innermost to the root: gateways wrap what they pass on. */
function layersOf(value: unknown): readonly Layer[] {
  const layers: Layer[] = []
  let next: unknown = value
  while (layers.length < 5) {
    // Some pass the error on as text, or as a list of one.
    const unpacked = typeof next === 'string' ? parseJson(next) : next
    const layer = asObject(Array.isArray(unpacked) ? unpacked[0] : unpacked)
    if (layer === undefined) break
    layers.unshift(layer)
    next = ['error', 'errors', 'detail', 'message'].map((name) => layer[name]).find(holdsLayer)
  }
  return layers
}

function holdsLayer(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || (isText(value) && value.startsWith('{'))
}

const nothing: ErrorBody = { kind: 'text', isApiError: false, codes: [], param: '', words: '' }

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}

function isPage(headers: Answer['headers'], body: string): boolean {
  if (/^\s*[[{]/.test(body) && parseJson(body) !== undefined) return false
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
