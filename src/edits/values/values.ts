/** The values of a configuration file, as an independent parser returns them. */
import type { ConfigValue } from '../types.ts'

/** The source text of a scalar that JavaScript cannot represent exactly: a JSON number, a TOML date. */
export class Literal {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** A value from an independent parser, for comparisons. TOML integers are bigint. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Literal
  | readonly Value[]
  | ValueTable

/** Has no prototype, so `__proto__` is just a key. */
export interface ValueTable {
  readonly [key: string]: Value
}

/** The deepest nesting that repoint edits. It rejects deeper files, long before the stack overflows. */
export const maxNesting = 2_000

export function isValueTable(value: Value | undefined): value is ValueTable {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Literal)
  )
}

export function emptyTable(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>
}

export function isEmptyContainer(value: Value | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isValueTable(value) && Object.keys(value).length === 0
}

/** Converts a change's value to the form that a parser returns. `toScalar` converts numbers. */
export function toValue(value: ConfigValue, toScalar: (scalar: number | bigint) => Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return toScalar(value)
  if (Array.isArray(value)) return value.map((item) => toValue(item, toScalar))
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key] = toValue(child, toScalar)
  return table
}

/** Converts a value for callers: integers are numbers if exact, else bigint; dates are source text. */
export function toConfigValue(value: Value): ConfigValue {
  if (value instanceof Literal) return parseLiteral(value.source)
  if (typeof value === 'bigint') return exactInteger(value)
  if (Array.isArray(value)) return value.map(toConfigValue)
  if (!isValueTable(value)) return value as ConfigValue
  const result = Object.create(null) as Record<string, ConfigValue>
  for (const [key, child] of Object.entries(value)) result[key] = toConfigValue(child)
  return result
}

function parseLiteral(source: string): ConfigValue {
  // As many digits as a number always holds exactly.
  if (/^[1-9]\d{0,14}$/.test(source)) return Number(source)
  if (/^-?\d+$/.test(source)) return exactInteger(BigInt(source))
  const number = Number(source)
  return Number.isFinite(number) ? number : source
}

function exactInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (Object.is(a, b)) return true
  if (a instanceof Literal) return b instanceof Literal && a.source === b.source
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => sameValue(item, b[index]))
    )
  }
  if (!isValueTable(a) || !isValueTable(b)) return false

  const keys = Object.keys(a)

  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
  )
}
