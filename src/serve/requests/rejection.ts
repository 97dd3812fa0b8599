import { formatPath } from '../../schema.ts'
import { counted } from '../../text.ts'
import { isObject } from './json.ts'

/**
 * The vendor's rejection of a request: an `invalid_request_error`, by default with status 400. The client
 * gets the message unchanged. `InvalidRequest` is a rejection by the imitated gateway.
 */
export class RequestRejection extends Error {
  /** The member that is wrong. */
  readonly param: string | null
  readonly code: string | null
  readonly status: number
  /** What makes this gateway accept the request. Only the log shows it, because the vendor does not send it. */
  readonly hint: string | undefined

  constructor(message: string, { param, code, status = 400, hint }: RejectionDetails = {}) {
    super(message)
    this.param = param ?? null
    this.code = code ?? null
    this.status = status
    this.hint = hint
  }
}

/** For what a gateway that rewrites requests accepts. */
export const rewrittenHint =
  'With `--families rewritten` this gateway accepts it, like a gateway that rewrites requests for the model.'

interface RejectionDetails {
  readonly param?: string
  readonly code?: string
  readonly status?: number
  readonly hint?: string
}

type Path = readonly (string | number)[]

/** The expected kind of a value. `content` is a string or a list of blocks. */
export type ExpectedKind =
  | 'number'
  | 'integer'
  | 'boolean'
  | 'string'
  | 'object'
  | 'array'
  | 'content'

/** The first problem of a value in a body. */
export type Problem = { readonly path: Path; readonly value?: unknown } & (
  | { readonly type: 'missing' | 'unknown' }
  | { readonly type: 'wrong-kind'; readonly kind: ExpectedKind }
  | {
      readonly type: 'too-small' | 'too-large'
      readonly kind: ExpectedKind
      readonly limit: number
    }
  | { readonly type: 'too-short' | 'too-long'; readonly limit: number }
  | { readonly type: 'not-matching'; readonly pattern: string }
  | { readonly type: 'not-a-choice'; readonly choices: readonly string[] }
  /** The member `name` selects the kind of an object, and has an unknown value. */
  | { readonly type: 'unknown-tag'; readonly name: string; readonly choices: readonly string[] }
  | { readonly type: 'unsupported'; readonly feature: string }
)

/** The problem of an inner value, with the path from the outer value. */
export function problemAt(step: string | number, problem: Problem): Problem {
  return { ...problem, path: [step, ...problem.path] }
}

/**
 * The error of chat and responses for a problem, as that vendor's API sends it: "Invalid value: 'text'.
 * Supported values are: …", `input[0].content[0].type`, `invalid_value`
 * (https://github.com/MervinPraison/PraisonAI/issues/3934, read 2026-11-22).
 */
export function openaiRejection(problem: Problem): RequestRejection {
  const { path, value } = problem
  const place = formatPath(path)
  const rejection = (code: string, message: string) =>
    new RequestRejection(message, { param: place, code })
  const wrongType = (expected: string) =>
    rejection(
      'invalid_type',
      `Invalid type for '${place}': expected ${expected}, but got ${withArticle(valueKind(value))} instead.`,
    )

  switch (problem.type) {
    case 'missing':
      return rejection('missing_required_parameter', `Missing required parameter: '${place}'.`)
    case 'unknown':
      return rejection('unknown_parameter', `Unknown parameter: '${place}'.`)
    case 'wrong-kind':
      return wrongType(expectedKind(problem.kind))
    case 'too-small':
    case 'too-large': {
      const number = problem.kind === 'integer' ? 'integer' : 'decimal'
      const [side, end, sign] =
        problem.type === 'too-small' ? ['below', 'min', '>='] : ['above', 'max', '<=']
      return rejection(
        `${number}_${side}_${end}_value`,
        `Invalid '${place}': ${number} ${side} ${end}imum value. Expected a value ${sign} ${problem.limit}, but got ${value} instead.`,
      )
    }
    case 'too-short':
    case 'too-long':
      return wrongLength(problem, rejection)
    case 'not-matching':
      return rejection(
        'invalid_value',
        `Invalid '${place}': string does not match pattern. Expected a string that matches the pattern '${problem.pattern}'.`,
      )
    case 'not-a-choice': {
      const { choices } = problem
      if (typeof value !== 'string') return wrongType(`one of ${joinChoices(choices, 'or')}`)
      const supported = joinChoices(choices, 'and')
      return rejection(
        'invalid_value',
        `Invalid value: '${value}'. Supported values are: ${supported}.`,
      )
    }
    case 'unknown-tag':
      return openaiRejection({ ...problem, type: 'not-a-choice', path: [...path, problem.name] })
    case 'unsupported':
      return unsupportedFeature(problem.feature, place)
  }
}

function wrongLength(
  { type, path, value, limit }: Problem & { readonly limit: number },
  rejection: (code: string, message: string) => RequestRejection,
): RequestRejection {
  const place = formatPath(path)
  if (isObject(value))
    return rejection(
      'object_above_max_properties',
      `Invalid '${place}': too many properties. Expected an object with at most ${limit} properties, but got an object with ${Object.keys(value).length} properties instead.`,
    )

  const kind = typeof value === 'string' ? 'string' : 'array'
  const aKind = withArticle(kind)
  const { length } = value as string
  if (length === 0)
    return rejection(
      `empty_${kind}`,
      `Invalid '${place}': empty ${kind}. Expected ${aKind} with minimum length ${limit}, but got an empty ${kind} instead.`,
    )
  const [side, end, word] =
    type === 'too-long' ? ['above', 'max', 'long'] : ['below', 'min', 'short']
  return rejection(
    `${kind}_${side}_${end}_length`,
    `Invalid '${place}': ${kind} too ${word}. Expected ${aKind} with ${end}imum length ${limit}, but got ${aKind} with length ${length} instead.`,
  )
}

function valueKind(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal'
  return typeof value
}

function expectedKind(kind: ExpectedKind): string {
  if (kind === 'content') return 'one of a string or array of objects'
  return withArticle(kind === 'number' ? 'decimal' : kind)
}

function withArticle(kind: string): string {
  if (kind === 'null') return 'null'
  return /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

/** Joins quoted choices. Before `and`, the vendor puts a comma if there are more than two. */
function joinChoices(choices: readonly string[], word: 'and' | 'or'): string {
  const quoted = choices.map((choice) => `'${choice}'`)
  const last = quoted.pop()
  if (last === undefined || quoted.length === 0) return last ?? ''
  const comma = quoted.length > 1 && word === 'and' ? ',' : ''
  return `${quoted.join(', ')}${comma} ${word} ${last}`
}

/**
 * The error of messages for a problem. That vendor's API returns the messages of its validator (pydantic),
 * such as "max_tokens: Input should be greater than or equal to 1".
 */
export function anthropicRejection(problem: Problem): RequestRejection {
  const { path, value } = problem
  if (problem.type === 'unknown-tag' && problem.name !== 'type')
    return anthropicRejection({ ...problem, type: 'not-a-choice', path: [...path, problem.name] })
  if (problem.type === 'unsupported') return unsupportedFeature(problem.feature, path.join('.'))
  return new RequestRejection(`${path.join('.')}: ${pydanticMessage(problem, value)}`)
}

function pydanticMessage(problem: Problem, value: unknown): string {
  switch (problem.type) {
    case 'missing':
      return 'Field required'
    case 'unknown':
      return 'Extra inputs are not permitted'
    case 'wrong-kind':
      return `Input should be a valid ${pydanticKinds[problem.kind] ?? problem.kind}`
    case 'too-small':
      return `Input should be greater than or equal to ${problem.limit}`
    case 'too-large':
      return `Input should be less than or equal to ${problem.limit}`
    case 'too-long':
      return typeof value === 'string'
        ? `String should have at most ${problem.limit} characters`
        : `List should have at most ${problem.limit} items after validation`
    case 'too-short': {
      const { limit } = problem
      return typeof value === 'string'
        ? `String should have at least ${counted(limit, 'character')}`
        : `List should have at least ${counted(limit, 'item')} after validation, not ${(value as []).length}`
    }
    case 'not-matching':
      return `String should match pattern '${problem.pattern}'`
    case 'not-a-choice':
      return `Input should be ${joinChoices(problem.choices, 'or')}`
    case 'unknown-tag': {
      const tags = problem.choices.map((choice) => `'${choice}'`).join(', ')
      return `Input tag '${String(value)}' found using 'type' does not match any of the expected tags: ${tags}`
    }
    case 'unsupported':
      return problem.feature
  }
}

/** The kinds that pydantic calls otherwise. */
const pydanticKinds: Readonly<Partial<Record<ExpectedKind, string>>> = {
  array: 'list',
  object: 'dictionary',
  content: 'list',
}

/** The error for a feature that this gateway does not support. */
export function unsupportedFeature(feature: string, param: string): RequestRejection {
  return new RequestRejection(
    `The local gateway does not do this: ${feature}. The service may: try it there.`,
    { param, code: 'unsupported_by_local_gateway', status: 501 },
  )
}
