import { pathText } from './read.ts'

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
  | NumberRule
  /** `content`: a text, or a list of blocks. */
  | { readonly kind: 'boolean' | 'string' | 'object' | 'array' | 'content' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }

export interface NumberRule {
  readonly kind: 'number' | 'integer'
  readonly least?: number
  readonly most?: number
}

/** How one of the vendors says what is wrong, and where. */
export interface Words {
  /** A path in a body: keys and indexes. */
  where(path: Path): string
  missing(where: string): Refusal
  wrongKind(where: string, rule: Rule, value: unknown): Refusal
  tooSmall(where: string, rule: NumberRule, value: number): Refusal
  tooLarge(where: string, rule: NumberRule, value: number): Refusal
  notAChoice(where: string, choices: readonly string[], value: unknown): Refusal
}

export type Path = readonly (string | number)[]

type Kind = 'null' | 'boolean' | 'integer' | 'decimal' | 'string' | 'array' | 'object'

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal'
  return typeof value as Kind
}

/**
 * The words of chat and responses, as that vendor's API answers: "Invalid value: 'text'. Supported
 * values are: …", `input[0].content[0].type`, `invalid_value`
 * (https://github.com/MervinPraison/PraisonAI/issues/3934, read 2026-11-22).
 */
export const openaiWords: Words = {
  where: pathText,
  missing: (where) =>
    new Refusal(`Missing required parameter: '${where}'.`, where, 'missing_required_parameter'),
  wrongKind: (where, rule, value) =>
    new Refusal(
      `Invalid type for '${where}': expected ${expected(rule)}, but got ${withArticle(kindOf(value))} instead.`,
      where,
      'invalid_type',
    ),
  tooSmall(where, { kind, least }, value) {
    const number = kind === 'integer' ? 'integer' : 'decimal'
    return new Refusal(
      `Invalid '${where}': ${number} below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
      where,
      `${number}_below_min_value`,
    )
  },
  tooLarge(where, { kind, most }, value) {
    const number = kind === 'integer' ? 'integer' : 'decimal'
    return new Refusal(
      `Invalid '${where}': ${number} above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
      where,
      `${number}_above_max_value`,
    )
  },
  notAChoice: (where, choices, value) =>
    typeof value === 'string'
      ? new Refusal(
          `Invalid value: '${value}'. Supported values are: ${listed(choices, 'and')}.`,
          where,
          'invalid_value',
        )
      : openaiWords.wrongKind(where, { kind: 'choice', choices }, value),
}

/** A list with more entries than chat and responses take. */
export function tooLong(where: string, most: number, list: readonly unknown[]): Refusal {
  return new Refusal(
    `Invalid '${where}': array too long. Expected an array with maximum length ${most}, but got an array with length ${list.length} instead.`,
    where,
    'array_above_max_length',
  )
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
  where: (path) => path.join('.'),
  missing: (where) => new Refusal(`${where}: Field required`),
  wrongKind: (where, { kind }) =>
    new Refusal(`${where}: Input should be a valid ${pydanticKinds[kind] ?? kind}`),
  tooSmall: (where, { least }) =>
    new Refusal(`${where}: Input should be greater than or equal to ${least}`),
  tooLarge: (where, { most }) =>
    new Refusal(`${where}: Input should be less than or equal to ${most}`),
  notAChoice: (where, choices) => new Refusal(`${where}: Input should be ${listed(choices, 'or')}`),
}

/** What this gateway cannot do and will not pretend to. */
export function notDone(what: string, param: string): Refusal {
  return new Refusal(
    `The local gateway does not do this: ${what}. The service may: try it there.`,
    param,
    'unsupported_by_local_gateway',
  )
}
