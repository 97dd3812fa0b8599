import type { ConfigValue, KeyPath } from './plan.ts'

/** A scalar that JavaScript cannot hold exactly, as it is written: a number of JSON, a date of TOML. */
export class Literal {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

/** A value as the independent parsers see it, for comparing. TOML integers are bigint. */
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

/** Deepest nesting that is edited. Beyond it a file is refused, long before the stack ends. */
export const maxDepth = 2_000

export function isTable(value: Value | undefined): value is ValueTable {
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

export function valueAt(root: ValueTable, path: KeyPath): Value | undefined {
  let value: Value | undefined = root
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
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
  if (!isTable(a) || !isTable(b)) return false
  let more = 0
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !sameValue(a[key], b[key])) return false
    more++
  }
  for (const _ in b) more--
  return more === 0
}

/** A copy of `root` with `value` at `path`, or without it. Other parts are shared. */
export function withValue(root: ValueTable, path: KeyPath, value: Value | undefined): ValueTable {
  const [key, ...rest] = path
  if (key === undefined) return root
  const copy = Object.assign(emptyTable(), root)
  if (rest.length > 0) {
    const child = Object.hasOwn(root, key) ? root[key] : undefined
    if (value === undefined && !isTable(child)) return root
    copy[key] = withValue(isTable(child) ? child : emptyTable(), rest, value)
  } else if (value === undefined) {
    delete copy[key]
  } else {
    copy[key] = value
  }
  return copy
}

/**
 * Whether `actual` is `expected`. A table on one of the `removed` paths that has become empty may
 * be gone: tables that exist only through dotted keys go with their last key.
 */
export function matches(
  actual: ValueTable,
  expected: ValueTable,
  removed: readonly KeyPath[],
): boolean {
  let pruned = expected
  for (const path of removed) {
    for (let length = path.length - 1; length > 0; length--) {
      const parent = path.slice(0, length)
      const value = valueAt(pruned, parent)
      if (!isTable(value) || Object.keys(value).length > 0) break
      if (valueAt(actual, parent) !== undefined) break
      pruned = withValue(pruned, parent, undefined)
    }
  }
  return sameValue(actual, pruned)
}

/** The paths of all values below `path` that are not tables, and of all empty tables. */
export function leafPaths(value: Value, path: KeyPath): KeyPath[] {
  if (!isTable(value)) return [path]
  const keys = Object.keys(value)
  if (keys.length === 0) return [path]
  return keys.flatMap((key) => leafPaths(value[key] as Value, [...path, key]))
}

export function startsWith(path: KeyPath, prefix: KeyPath): boolean {
  return path.length >= prefix.length && prefix.every((key, index) => path[index] === key)
}

export function samePath(a: KeyPath, b: KeyPath): boolean {
  return a.length === b.length && startsWith(a, b)
}

/**
 * A value for readers: integers as number where exact, else as bigint; dates as they are written.
 */
export function toConfigValue(value: Value): ConfigValue {
  if (value instanceof Literal) return literalValue(value.source)
  if (typeof value === 'bigint') return exactInteger(value)
  if (Array.isArray(value)) return value.map(toConfigValue)
  if (!isTable(value)) return value as ConfigValue
  const result = Object.create(null) as Record<string, ConfigValue>
  for (const [key, child] of Object.entries(value)) result[key] = toConfigValue(child)
  return result
}

function literalValue(source: string): ConfigValue {
  if (/^-?\d+$/.test(source)) return source === '-0' ? -0 : exactInteger(BigInt(source))
  return /^-?\d[\d.eE+-]*$/.test(source) && Number.isFinite(Number(source))
    ? Number(source)
    : source
}

function exactInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** `model_providers.gateway.name`, for people. Keys that are not plain words are quoted. */
export function showPath(path: KeyPath): string {
  return path.map((key) => (/^[\w$-]+$/.test(key) ? key : JSON.stringify(key))).join('.')
}
