import { formatPath, isObject } from './read.ts'

/**
 * A rejection by the vendor behind the service: an `invalid_request_error`, by default with status 400.
 * The client gets the message unchanged.
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

/** The expected kind of a value. `content` is a string or a list of blocks. */
export interface Rule {
  readonly kind: 'number' | 'integer' | 'boolean' | 'string' | 'object' | 'array' | 'content'
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/** The error messages of a vendor. */
export interface VendorErrors {
  /** Whether paths include the `type` of an object. */
  readonly namesTags: boolean
  missing(path: Path): Refusal
  unknown(path: Path): Refusal
  wrongKind(path: Path, rule: Rule, value: unknown): Refusal
  tooSmall(path: Path, rule: Rule, value: number): Refusal
  tooLarge(path: Path, rule: Rule, value: number): Refusal
  /** More characters, entries or members than `most`. */
  tooLong(path: Path, most: number, value: unknown): Refusal
  /** Fewer characters or entries than `least`. */
  tooShort(path: Path, least: number, value: unknown): Refusal
  notMatching(path: Path, pattern: string): Refusal
  notAChoice(path: Path, choices: readonly string[], value: unknown): Refusal
  /** A union of objects: the member that selects the kind has an unknown value. */
  unknownTag(path: Path, name: string, choices: readonly string[], value: unknown): Refusal
  notDone(what: string, path: Path): Refusal
}

export type Path = readonly (string | number)[]

type Kind = 'null' | 'boolean' | 'integer' | 'decimal' | 'string' | 'array' | 'object'

function valueKind(value: unknown): Kind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal'
  return typeof value as Kind
}

/**
 * The errors of chat and responses, as that vendor's API sends them: "Invalid value: 'text'. Supported
 * values are: …", `input[0].content[0].type`, `invalid_value`
 * (https://github.com/MervinPraison/PraisonAI/issues/3934, read 2026-11-22).
 */
export const openaiErrors: VendorErrors = {
  namesTags: false,
  missing: (path) =>
    openaiError(path, 'missing_required_parameter', 'Missing required parameter: {place}.'),
  unknown: (path) => openaiError(path, 'unknown_parameter', 'Unknown parameter: {place}.'),
  wrongKind: (path, { kind }, value) => invalidType(path, expectedKind(kind), value),
  tooSmall: (path, rule, value) =>
    outOfRange(path, rule, value, ['below', 'min', '>=', rule.least]),
  tooLarge: (path, rule, value) => outOfRange(path, rule, value, ['above', 'max', '<=', rule.most]),
  tooLong(path, most, value) {
    if (isObject(value))
      return openaiError(
        path,
        'object_above_max_properties',
        `Invalid {place}: too many properties. Expected an object with at most ${most} properties, but got an object with ${Object.keys(value).length} properties instead.`,
      )

    const kind = typeof value === 'string' ? 'string' : 'array'
    const one = withArticle(kind)
    const { length } = value as string

    return openaiError(
      path,
      `${kind}_above_max_length`,
      `Invalid {place}: ${kind} too long. Expected ${one} with maximum length ${most}, but got ${one} with length ${length} instead.`,
    )
  },
  tooShort(path, least, value) {
    const kind = typeof value === 'string' ? 'string' : 'array'
    const { length } = value as string
    const [fault, got] =
      length === 0
        ? [`empty ${kind}`, `an empty ${kind}`]
        : [`${kind} too short`, `${withArticle(kind)} with length ${length}`]

    return openaiError(
      path,
      length === 0 ? `empty_${kind}` : `${kind}_below_min_length`,
      `Invalid {place}: ${fault}. Expected ${withArticle(kind)} with minimum length ${least}, but got ${got} instead.`,
    )
  },
  notMatching: (path, pattern) =>
    openaiError(
      path,
      'invalid_value',
      `Invalid {place}: string does not match pattern. Expected a string that matches the pattern '${pattern}'.`,
    ),
  notAChoice: (path, choices, value) =>
    typeof value === 'string'
      ? new Refusal(
          `Invalid value: '${value}'. Supported values are: ${joinChoices(choices, 'and')}.`,
          formatPath(path),
          'invalid_value',
        )
      : invalidType(path, `one of ${joinChoices(choices, 'or')}`, value),
  unknownTag: (path, name, choices, value) =>
    openaiErrors.notAChoice([...path, name], choices, value),
  notDone: (what, path) => unsupportedFeature(what, formatPath(path)),
}

/** @param message contains `{place}` for the path */
function openaiError(path: Path, code: string, message: string): Refusal {
  const place = formatPath(path)
  return new Refusal(
    message.replace('{place}', () => `'${place}'`),
    place,
    code,
  )
}

function outOfRange(
  path: Path,
  { kind }: Rule,
  value: number,
  [side, end, sign, limit]: readonly [string, string, string, number | undefined],
): Refusal {
  const number = kind === 'integer' ? 'integer' : 'decimal'
  return openaiError(
    path,
    `${number}_${side}_${end}_value`,
    `Invalid {place}: ${number} ${side} ${end}imum value. Expected a value ${sign} ${limit}, but got ${value} instead.`,
  )
}

function invalidType(path: Path, wanted: string, value: unknown): Refusal {
  const got = withArticle(valueKind(value))
  return openaiError(
    path,
    'invalid_type',
    `Invalid type for {place}: expected ${wanted}, but got ${got} instead.`,
  )
}

function expectedKind(kind: Rule['kind']): string {
  if (kind === 'content') return 'one of a string or array of objects'
  return withArticle(kind === 'number' ? 'decimal' : kind)
}

function withArticle(kind: string): string {
  if (kind === 'null') return 'null'
  return /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

function joinChoices(choices: readonly string[], word: 'and' | 'or'): string {
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
 * The errors of messages. That vendor's API returns the messages of its validator (pydantic), such as
 * "max_tokens: Input should be greater than or equal to 1".
 */
export const anthropicErrors: VendorErrors = {
  namesTags: true,
  missing: (path) => pydanticError(path, 'Field required'),
  unknown: (path) => pydanticError(path, 'Extra inputs are not permitted'),
  wrongKind: (path, { kind }) =>
    pydanticError(path, `Input should be a valid ${pydanticKinds[kind]}`),
  tooSmall: (path, { least }) =>
    pydanticError(path, `Input should be greater than or equal to ${least}`),
  tooLarge: (path, { most }) =>
    pydanticError(path, `Input should be less than or equal to ${most}`),
  tooLong: (path, most, value) =>
    pydanticError(
      path,
      typeof value === 'string'
        ? `String should have at most ${most} characters`
        : `List should have at most ${most} items after validation`,
    ),
  tooShort: (path, least, value) =>
    pydanticError(
      path,
      typeof value === 'string'
        ? `String should have at least ${least} character${least === 1 ? '' : 's'}`
        : `List should have at least ${least} item${least === 1 ? '' : 's'} after validation, not ${(value as []).length}`,
    ),
  notMatching: (path, pattern) => pydanticError(path, `String should match pattern '${pattern}'`),
  notAChoice: (path, choices) =>
    pydanticError(path, `Input should be ${joinChoices(choices, 'or')}`),
  unknownTag(path, name, choices, value) {
    if (name !== 'type') return anthropicErrors.notAChoice([...path, name], choices, value)
    const tags = choices.map((one) => `'${one}'`).join(', ')
    return pydanticError(
      path,
      `Input tag '${String(value)}' found using 'type' does not match any of the expected tags: ${tags}`,
    )
  },
  notDone: (what, path) => unsupportedFeature(what, path.join('.')),
}

function pydanticError(path: Path, problem: string): Refusal {
  return new Refusal(`${path.join('.')}: ${problem}`)
}

/** The error for a feature that this gateway does not support. */
export function unsupportedFeature(what: string, param: string): Refusal {
  return new Refusal(
    `The local gateway does not do this: ${what}. The service may: try it there.`,
    param,
    'unsupported_by_local_gateway',
  )
}
