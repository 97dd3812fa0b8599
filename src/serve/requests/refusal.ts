import { isObject, type JsonObject } from './read.ts'

/**
 * What the vendor behind the service refuses as `invalid_request_error`, with 400 unless said otherwise.
 * The message goes to the client as it stands.
 */
export class Refusal extends Error {
  /** The member that is wrong. */
  readonly param: string | null
  readonly code: string | null
  readonly status: number

  constructor(
    message: string,
    param: string | null = null,
    code: string | null = null,
    status = 400,
  ) {
    super(message)
    this.status = status
    this.param = param
    this.code = code
  }
}

/** What a member may be. A member that is null counts as absent. */
export type Rule =
  | { readonly kind: 'number' | 'integer'; readonly least?: number; readonly most?: number }
  /** `content`: a text, or a list of blocks. */
  | { readonly kind: 'boolean' | 'string' | 'object' | 'array' | 'content' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }

export type Rules = Readonly<Record<string, Rule>>

/** How one of the vendors says what is wrong. Paths are keys and indexes. */
export interface Words {
  missing(path: Path): Refusal
  wrongKind(path: Path, rule: Rule, value: unknown): Refusal
  tooSmall(path: Path, rule: Rule, least: number, value: number): Refusal
  tooLarge(path: Path, rule: Rule, most: number, value: number): Refusal
  notAChoice(path: Path, choices: readonly string[], value: unknown): Refusal
}

export type Path = readonly (string | number)[]

/** @throws Refusal */
export function checkMembers(body: JsonObject, rules: Rules, words: Words, path: Path = []): void {
  for (const name of Object.keys(body)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    const value = body[name]
    if (rule !== undefined && value !== undefined && value !== null)
      checkMember([...path, name], value, rule, words)
  }
}

function checkMember(path: Path, value: unknown, rule: Rule, words: Words): void {
  switch (rule.kind) {
    case 'choice':
      if (!rule.choices.includes(value as string)) throw words.notAChoice(path, rule.choices, value)
      return
    case 'number':
    case 'integer': {
      const fits = rule.kind === 'integer' ? Number.isInteger(value) : typeof value === 'number'
      if (!fits) throw words.wrongKind(path, rule, value)
      const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = rule
      const number = value as number
      if (number < least) throw words.tooSmall(path, rule, least, number)
      if (number > most) throw words.tooLarge(path, rule, most, number)
      return
    }
    case 'content':
      if (typeof value !== 'string' && !Array.isArray(value))
        throw words.wrongKind(path, rule, value)
      return
    default:
      if (kindOf(value) !== rule.kind) throw words.wrongKind(path, rule, value)
  }
}

type Kind = 'null' | 'boolean' | 'integer' | 'decimal' | 'string' | 'array' | 'object'

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal'
  return typeof value as Kind
}

/** @throws Refusal where `value` is no object */
export function objectAt(value: unknown, path: Path, words: Words): JsonObject {
  if (isObject(value)) return value
  throw words.wrongKind(path, { kind: 'object' }, value)
}

/** The list at `path`; absent or null: an empty one. */
export function listAt(value: unknown, path: Path, words: Words): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw words.wrongKind(path, { kind: 'array' }, value)
}

export function stringAt(value: unknown, path: Path, words: Words): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) throw words.missing(path)
  throw words.wrongKind(path, { kind: 'string' }, value)
}

/**
 * The words of chat and responses, as that vendor's API answers: "Invalid value: 'text'. Supported
 * values are: …", `input[0].content[0].type`, `invalid_value`
 * (https://github.com/MervinPraison/PraisonAI/issues/3934, read 2026-11-22).
 */
export const openaiWords: Words = {
  missing: (path) =>
    new Refusal(
      `Missing required parameter: '${withBrackets(path)}'.`,
      withBrackets(path),
      'missing_required_parameter',
    ),
  wrongKind: (path, rule, value) =>
    new Refusal(
      `Invalid type for '${withBrackets(path)}': expected ${expected(rule)}, but got ${withArticle(kindOf(value))} instead.`,
      withBrackets(path),
      'invalid_type',
    ),
  tooSmall: (path, rule, least, value) =>
    outOfRange({ path, rule, limit: least, value, side: 'below minimum' }),
  tooLarge: (path, rule, most, value) =>
    outOfRange({ path, rule, limit: most, value, side: 'above maximum' }),
  notAChoice: (path, choices, value) =>
    typeof value === 'string'
      ? new Refusal(
          `Invalid value: '${value}'. Supported values are: ${listed(choices, 'and')}.`,
          withBrackets(path),
          'invalid_value',
        )
      : openaiWords.wrongKind(path, { kind: 'choice', choices }, value),
}

/** A list that must not be empty where it stands at all. */
export function emptyList(path: Path): Refusal {
  return new Refusal(
    `Invalid '${withBrackets(path)}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    withBrackets(path),
    'empty_array',
  )
}

interface OutOfRange {
  readonly path: Path
  readonly rule: Rule
  readonly limit: number
  readonly value: number
  readonly side: 'below minimum' | 'above maximum'
}

function outOfRange({ path, rule, limit, value, side }: OutOfRange): Refusal {
  const kind = rule.kind === 'integer' ? 'integer' : 'decimal'
  const sign = side === 'below minimum' ? '>=' : '<='
  return new Refusal(
    `Invalid '${withBrackets(path)}': ${kind} ${side} value. Expected a value ${sign} ${limit}, but got ${value} instead.`,
    withBrackets(path),
    `${kind}_${side === 'below minimum' ? 'below_min' : 'above_max'}_value`,
  )
}

export function withBrackets(path: Path): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('')
}

function expected(rule: Rule): string {
  if (rule.kind === 'content') return 'one of a string or array of objects'
  if (rule.kind === 'choice') return `one of ${listed(rule.choices, 'or')}`
  return withArticle(rule.kind === 'number' ? 'decimal' : rule.kind)
}

function withArticle(kind: string): string {
  if (kind === 'null') return 'null'
  return /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

function listed(choices: readonly string[], word: 'and' | 'or'): string {
  const quoted = choices.map((choice) => `'${choice}'`)
  if (quoted.length < 2) return quoted.join('')
  const comma = quoted.length > 2 && word === 'and' ? ',' : ''
  return `${quoted.slice(0, -1).join(', ')}${comma} ${word} ${quoted.at(-1)}`
}

const pydanticKinds: Readonly<Record<string, string>> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  string: 'string',
  array: 'list',
  object: 'dictionary',
  content: 'list',
}

/**
 * The words of messages: that vendor's API passes on what its validator (pydantic) says, such as
 * "max_tokens: Input should be greater than or equal to 1".
 */
export const anthropicWords: Words = {
  missing: (path) => new Refusal(`${path.join('.')}: Field required`),
  wrongKind: (path, { kind }) =>
    new Refusal(`${path.join('.')}: Input should be a valid ${pydanticKinds[kind] ?? kind}`),
  tooSmall: (path, _, least) =>
    new Refusal(`${path.join('.')}: Input should be greater than or equal to ${least}`),
  tooLarge: (path, _, most) =>
    new Refusal(`${path.join('.')}: Input should be less than or equal to ${most}`),
  notAChoice: (path, choices) =>
    new Refusal(`${path.join('.')}: Input should be ${listed(choices, 'or')}`),
}

/** What this gateway cannot do and will not pretend to. */
export function notDone(what: string, param: string): Refusal {
  return new Refusal(
    `The local gateway does not do this: ${what}. The service may: try it there.`,
    param,
    'unsupported_by_local_gateway',
  )
}
