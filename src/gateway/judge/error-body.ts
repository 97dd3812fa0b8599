/** Reads what the body of a response says about a failure, in any known shape. */
import { asList, asObject, comparableName, isFilledText, jsonIn } from '../foreign-text.ts'
import type { HttpResponse } from './types.ts'

/** What the body of a response says about a failure, in any known shape. */
export interface ErrorBody {
  readonly kind: 'json' | 'page' | 'text' | 'empty'
  /** Whether the body is an API error in one of the known shapes. */
  readonly isApiError: boolean
  /** The error's codes, types and reasons. */
  readonly codes: readonly GatewayCode[]
  /** The parameter that the error blames. */
  readonly param: string
  /** The error's own words, unchanged, up to a maximum length. For a web page, its title. */
  readonly words: string
  /** A status inside the body (OpenRouter, vLLM, Gemini). */
  readonly status?: number
  /** The service behind the gateway wrote the error, as the body says. */
  readonly isPassedOn?: true
}

/** `InvalidSubscription` has the name `invalidsubscription` and the words `invalid subscription`. */
interface GatewayCode {
  /** In lower case. */
  readonly name: string
  readonly words: string
}

/** How much of a text is searched, in characters. Patterns on longer texts could take too long. */
const maxWords = 2_000
const maxPageStart = 20_000

/** Reads the error in a response: JSON and XML of any shape, a web page, or plain text. */
export function readErrorBody(response: Pick<HttpResponse, 'headers' | 'body'>): ErrorBody {
  const body = response.body.replace(/^\ufeff/, '').trim()
  const challengeCodes = challengeIn(response.headers)
  if (body === '') return { ...nothing, kind: 'empty', codes: challengeCodes }

  const xml = xmlIn(body)
  if (xml !== undefined) return errorBodyFrom(xml)
  if (isPage(response.headers, body))
    return { ...nothing, kind: 'page', words: titleOf(body.slice(0, maxPageStart)) }

  const value = jsonIn(body)
  const error: ErrorBody =
    value === undefined
      ? { ...nothing, kind: 'text', words: body.slice(0, maxWords) }
      : errorBodyFrom(value)
  return { ...error, codes: [...error.codes, ...challengeCodes] }
}

/** As `readErrorBody`, for an error that came as JSON inside a stream. */
export function errorBodyFrom(value: unknown): ErrorBody {
  const layers = errorLayers(value)
  const root = layers.at(-1)
  if (root === undefined) return { ...nothing, kind: 'json' }

  const words =
    layers.flatMap((layer) => wordMembers.map((name) => layer[name])).find(isFilledText) ?? ''
  const codes = layers
    .flatMap((layer) => [...codeMembers.map((name) => layer[name]), ...reasons(layer)])
    .filter((code) => isCode(code) && code !== words)
  const status = statusIn(words, codes)

  return {
    kind: 'json',
    isApiError:
      isFailure(root) || (words !== '' && (status !== undefined || isEmptyValue(root['data']))),
    codes: codes.filter((code) => !isNumber(code) || layers.length > 1).map(toGatewayCode),
    param: paramIn(layers),
    words: words.slice(0, maxWords),
    status,
    isPassedOn: layers.some(comesFromProvider) ? true : undefined,
  }
}

/**
 * An object of the body, whose members have their `comparableName`. Gateways wrap the errors that they pass on.
 * The layers of `{"error": {"code": 502, "metadata": {"raw": "{\"message\": \"No credits\"}"}}}` are:
 *
 *     0  { message: 'No credits' }       the innermost, whose words and codes come first
 *     1  { raw: … }
 *     2  { code: 502, metadata: … }
 *     3  { error: … }                    the root, which says whether the body is a failure
 */
type Layer = Readonly<Record<string, unknown>>

/** Gateways wrap an error two or three times at most. */
const maxLayers = 5

/** The layers of an error, from the innermost to the root. */
function errorLayers(value: unknown): readonly Layer[] {
  const layers: Layer[] = []
  let next: unknown = value
  while (layers.length < maxLayers) {
    // Some gateways pass the error on as text, or as a list with one item.
    const unpacked = typeof next === 'string' ? jsonIn(next) : next
    const object = asObject(Array.isArray(unpacked) ? unpacked[0] : unpacked)
    if (object === undefined) break
    const layer = namesLowered(object)
    layers.unshift(layer)
    next = wrappers.map((name) => layer[name]).find(holdsLayer)
  }

  return layers
}

function namesLowered(object: Readonly<Record<string, unknown>>): Layer {
  const layer: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(object)) layer[comparableName(name)] ??= value
  return layer
}

function holdsLayer(value: unknown): boolean {
  return (
    (typeof value === 'object' && value !== null) || (isFilledText(value) && value.startsWith('{'))
  )
}

/** Members that contain the next layer, the best first. */
const wrappers = [
  'error',
  'errors',
  'err',
  'fault',
  'detail',
  'message',
  'baseresp',
  'response',
  'responsemetadata',
  'header',
  'extensions',
  'metadata',
  'raw',
]

/**
 * Members that contain a sentence, the best first. AWS writes `Message`, Baidu `error_msg`, Apigee
 * `faultstring`.
 */
const wordMembers = [
  'message',
  'msg',
  'errormessage',
  'errormsg',
  'errmsg',
  'errordescription',
  'detail',
  'faultstring',
  'statusmsg',
  'statusmessage',
  'description',
  'error',
  'reason',
  'title',
]

/**
 * Members that contain a code, type or name of the failure. AWS writes `__type`, and programs like
 * FastAPI write `error`.
 */
const codeMembers = [
  'code',
  'type',
  'status',
  'errorcode',
  'errorcodes',
  'errcode',
  'errno',
  'errortype',
  'reason',
  'statuscode',
  'subcode',
  'error',
  'title',
]

/** The status in a body: a code such as 404, or the first word in Spring's format (Z.ai): `500 INTERNAL_ERROR`. */
function statusIn(words: string, codes: readonly unknown[]): number | undefined {
  const inWords = /^[45]\d\d(?= [A-Z_]+$)/.exec(words)?.[0] ?? ''
  return [inWords, ...codes]
    .map(Number)
    .find((number) => Number.isInteger(number) && number >= 400 && number <= 599)
}

/** Whether an object has a member that only failures have, or says itself that it is one. */
function isFailure(root: Layer): boolean {
  const minimaxStatus = namesLowered(asObject(root['baseresp']) ?? {})['statuscode']
  return (
    failureMembers.some((name) => (root[name] ?? null) !== null) ||
    root['success'] === false ||
    root['object'] === 'error' ||
    Number(minimaxStatus ?? 0) !== 0
  )
}

/** Members that only a failure has. */
const failureMembers = ['error', 'errors', 'err', 'fault', 'detail', 'errorcode', 'errorcodes']

/** The parameter that an error blames. LiteLLM writes Python's None as a word. */
function paramIn(layers: readonly Layer[]): string {
  const params = layers.map((layer) => layer['param'])
  const places = layers.map((layer) => bodyPlace(layer['loc']))
  return [...params, ...places].filter(isFilledText).find((param) => param !== 'None') ?? ''
}

/** FastAPI names the place in the body: `["body", "tools", 0, "type"]`, here `tools.0.type`. */
function bodyPlace(loc: unknown): unknown {
  return Array.isArray(loc) && loc[0] === 'body' ? loc.slice(1).join('.') : undefined
}

/** Google's errors contain their cause in `details[].reason`. */
function reasons(layer: Layer): readonly unknown[] {
  return asList(layer['details']).map((detail) => asObject(detail)?.['reason'])
}

function isCode(value: unknown): value is string | number {
  return isFilledText(value) || typeof value === 'number'
}

/** Z.ai's numbers are in `error`, and MiniMax's in `base_resp`. At the root anyone may use the same numbers. */
function isNumber(code: unknown): boolean {
  return /^\d+$/.test(String(code))
}

/** OpenRouter names the provider of an error that it passes on. Merge names its source (2026-11-26). */
function comesFromProvider({ providername, source }: Layer): boolean {
  return isFilledText(providername) || source === 'provider' || source === 'upstream'
}

/** Errors of S3 and similar services: `<Error><Code>…</Code><Message>…</Message></Error>`. */
function xmlIn(body: string): Layer | undefined {
  const start = body.slice(0, maxPageStart)
  if (!/^(?:<\?xml[^>]{0,200}\?>\s*)?<(?:\w+:)?(?:\w*error\w*|fault|response)\b/i.test(start))
    return undefined
  const members = [...start.matchAll(/<(\w{1,40})>([^<]{1,2000})<\//g)]
  return members.length === 0
    ? undefined
    : Object.fromEntries(members.map(([, name, text]) => [name!, text!.trim()]))
}

/** The reason in a server's challenge: `Bearer error="invalid_token"` (RFC 6750, 3). */
function challengeIn(headers: HttpResponse['headers']): readonly GatewayCode[] {
  const code = /\berror="?(\w{1,60})/i.exec(headers['www-authenticate'] ?? '')?.[1]
  return code === undefined ? [] : [toGatewayCode(code)]
}

function toGatewayCode(code: unknown): GatewayCode {
  const text = String(code).slice(0, maxWords)
  const words = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_.:-]+/g, ' ')
  return { name: text.toLowerCase(), words: words.toLowerCase() }
}

const nothing: ErrorBody = {
  kind: 'text',
  isApiError: false,
  codes: [],
  param: '',
  words: '',
}

function isPage(headers: HttpResponse['headers'], body: string): boolean {
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
    .slice(0, maxWords)
}

/** Next to an error, SiliconFlow sends `data: null`, others an empty object. */
function isEmptyValue(value: unknown): boolean {
  return typeof value === 'object' ? Object.keys(value ?? {}).length === 0 : (value ?? '') === ''
}
