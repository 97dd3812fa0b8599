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

/** What a value may be; `content`: a text, or a list of blocks. */
export interface Rule {
  readonly kind: 'number' | 'integer' | 'boolean' | 'string' | 'object' | 'array' | 'content'
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/** How one of the vendors says what is wrong, and where. */
export interface Words {
  /** Whether the `type` of an object stands in the path of what is in it. */
  readonly namesTags: boolean
  /** A path in a body: keys and indexes. */
  where(path: Path): string
  missing(where: string): Refusal
  unknown(where: string): Refusal
  wrongKind(where: string, rule: Rule, value: unknown): Refusal
  tooSmall(where: string, rule: Rule, value: number): Refusal
  tooLarge(where: string, rule: Rule, value: number): Refusal
  tooLong(where: string, most: number, value: string | readonly unknown[]): Refusal
  notMatching(where: string, pattern: string): Refusal
  notAChoice(where: string, choices: readonly string[], value: unknown): Refusal
  /** Of an object that several kinds of objects may be, by a member that tells them apart. */
  unknownTag(path: Path, name: string, choices: readonly string[], value: unknown): Refusal
  notDone(what: string, where: string): Refusal
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
  namesTags: false,
  where: pathText,
  missing: (where) =>
    new Refusal(`Missing required parameter: '${where}'.`, where, 'missing_required_parameter'),
  unknown: (where) => new Refusal(`Unknown parameter: '${where}'.`, where, 'unknown_parameter'),
  wrongKind: (where, { kind }, value) => wrongType(where, expected(kind), value),
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
  tooLong(where, most, value) {
    const [a, kind] = typeof value === 'string' ? ['a', 'string'] : ['an', 'array']
    return new Refusal(
      `Invalid '${where}': ${kind} too long. Expected ${a} ${kind} with maximum length ${most}, but got ${a} ${kind} with length ${value.length} instead.`,
      where,
      `${kind}_above_max_length`,
    )
  },
  notMatching: (where, pattern) =>
    new Refusal(
      `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`,
      where,
      'invalid_value',
    ),
  notAChoice: (where, choices, value) =>
    typeof value === 'string'
      ? new Refusal(
          `Invalid value: '${value}'. Supported values are: ${listed(choices, 'and')}.`,
          where,
          'invalid_value',
        )
      : wrongType(where, `one of ${listed(choices, 'or')}`, value),
  unknownTag: (path, name, choices, value) =>
    openaiWords.notAChoice(pathText([...path, name]), choices, value),
  notDone,
}

function wrongType(where: string, wanted: string, value: unknown): Refusal {
  return new Refusal(
    `Invalid type for '${where}': expected ${wanted}, but got ${withArticle(kindOf(value))} instead.`,
    where,
    'invalid_type',
  )
}

function expected(kind: Rule['kind']): string {
  if (kind === 'content') return 'one of a string or array of objects'
  return withArticle(kind === 'number' ? 'decimal' : kind)
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

const pydanticKinds: Readonly<Record<Rule['kind'], string>> = {
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
  namesTags: true,
  where: (path) => path.join('.'),
  missing: (where) => new Refusal(`${where}: Field required`),
  unknown: (where) => new Refusal(`${where}: Extra inputs are not permitted`),
  wrongKind: (where, { kind }) =>
    new Refusal(`${where}: Input should be a valid ${pydanticKinds[kind]}`),
  tooSmall: (where, { least }) =>
    new Refusal(`${where}: Input should be greater than or equal to ${least}`),
  tooLarge: (where, { most }) =>
    new Refusal(`${where}: Input should be less than or equal to ${most}`),
  tooLong: (where, most, value) =>
    new Refusal(
      typeof value === 'string'
        ? `${where}: String should have at most ${most} characters`
        : `${where}: List should have at most ${most} items after validation, not ${value.length}`,
    ),
  notMatching: (where, pattern) =>
    new Refusal(`${where}: String should match pattern '${pattern}'`),
  notAChoice: (where, choices) => new Refusal(`${where}: Input should be ${listed(choices, 'or')}`),
  unknownTag(path, name, choices, value) {
    const where = path.join('.')
    if (name !== 'type') return anthropicWords.notAChoice(`${where}.${name}`, choices, value)
    const tags = choices.map((one) => `'${one}'`).join(', ')
    return new Refusal(
      `${where}: Input tag '${String(value)}' found using 'type' does not match any of the expected tags: ${tags}`,
    )
  },
  notDone,
}

/** What this gateway cannot do and will not pretend to. */
export function notDone(what: string, param: string): Refusal {
  return new Refusal(
    `The local gateway does not do this: ${what}. The service may: try it there.`,
    param,
    'unsupported_by_local_gateway',
  )
}
