import type { ConfigValue, ListElement, SettingPath } from './plan.ts'

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

/** A change's value as a parser gives it back; `toScalar` says how it gives a number. */
export function toValue(value: ConfigValue, toScalar: (scalar: number | bigint) => Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return toScalar(value)
  if (Array.isArray(value)) return value.map((item) => toValue(item, toScalar))
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key] = toValue(child, toScalar)
  return table
}

/** What stands at `path`; of an element that its list holds, the element. */
export function valueAt(root: Value | undefined, path: SettingPath): Value | undefined {
  let value = root
  for (const key of path) {
    if (typeof key === 'object') {
      value = Array.isArray(value) ? value.find((item) => isElement(item, key)) : undefined
    } else {
      value = isValueTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
    }
  }
  return value
}

/** Whether what a list holds is the element that is meant. */
export function isElement(item: Value, { element }: ListElement): boolean {
  if (typeof element === 'string') return item === element
  return isValueTable(item) && Object.entries(element).every(([key, value]) => item[key] === value)
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

/** A copy of `root` with `value` at `path`, or without it. Other parts are shared. */
export function withValue(
  root: ValueTable,
  path: SettingPath,
  value: Value | undefined,
): ValueTable {
  return (changed(root, path, value) ?? emptyTable()) as ValueTable
}

/** The same for many changes, in their order: each table is copied once, however many keys change in it. */
export function withValues(
  root: ValueTable,
  changes: readonly { readonly path: SettingPath; readonly value: Value | undefined }[],
): ValueTable {
  const copies = new Set<Value>()
  return changes.reduce<ValueTable>(
    (all, { path, value }) => (changed(all, path, value, copies) ?? emptyTable()) as ValueTable,
    root,
  )
}

/** @param copies tables that are ours already, and are changed in place */
function changed(
  there: Value | undefined,
  path: SettingPath,
  value: Value | undefined,
  copies = new Set<Value>(),
): Value | undefined {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (value === undefined && valueAt(there, path) === undefined) return there
  if (typeof key === 'object')
    return changedList(Array.isArray(there) ? there : [], key, rest, value)

  const isOurs = isValueTable(there) && copies.has(there)
  const copy: Record<string, Value> = isOurs
    ? there
    : Object.assign(emptyTable(), isValueTable(there) ? there : undefined)
  copies.add(copy)
  const child = changed(valueAt(copy, [key]), rest, value, copies)
  if (child === undefined) delete copy[key]
  else copy[key] = child

  return copy
}

function changedList(
  list: readonly Value[],
  key: ListElement,
  rest: SettingPath,
  value: Value | undefined,
): readonly Value[] {
  if (rest.length === 0) {
    const others = list.filter((item) => !isElement(item, key))
    return value === undefined ? others : withElement(others, key, value)
  }
  const index = list.findIndex((item) => isElement(item, key))
  const item = list[index] ?? Object.assign(emptyTable(), key.element)
  const fresh = changed(item, rest, value)!

  return index === -1 ? withElement(list, key, fresh) : list.with(index, fresh)
}

function withElement(list: readonly Value[], { isFirst }: ListElement, item: Value): Value[] {
  return isFirst ? [item, ...list] : [...list, item]
}

/**
 * Whether `actual` is `expected` after changes at `paths`. A table that has become empty with a key
 * that was removed may be gone: tables that exist only through dotted keys go with their last key.
 * Where in its list an element stands does not matter.
 */
export function matches(
  actual: ValueTable,
  expected: ValueTable,
  paths: readonly SettingPath[],
): boolean {
  let [found, wanted] = [actual, expected]
  const checked = new Set<string>()

  for (const path of paths) {
    const value = valueAt(expected, path)
    if (typeof path.at(-1) === 'object' && value !== undefined) {
      if (valueAt(found, path) === undefined) return false
      found = withValue(found, path, value)
      wanted = withValue(wanted, path, value)
    }

    // Ends at the root, which is always found.
    let parent = path.slice(0, -1)
    // Many keys have the same table, and to ask a large one whether it is empty takes long.
    const text = pathText(parent)
    if (checked.has(text)) continue
    checked.add(text)
    while (holdsNothing(valueAt(wanted, parent)) && valueAt(found, parent) === undefined) {
      wanted = withValue(wanted, parent, undefined)
      parent = parent.slice(0, -1)
    }
  }
  return sameValue(found, wanted)
}

/** Whether it is a table or a list that holds nothing. */
export function holdsNothing(value: Value | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isValueTable(value) && Object.keys(value).length === 0
}

/** The paths of all values below `path` that are not tables, and of all empty tables. */
export function leafPaths(value: Value | undefined, path: SettingPath): SettingPath[] {
  if (!isValueTable(value) || holdsNothing(value)) return [path]
  return Object.keys(value).flatMap((key) => leafPaths(value[key], [...path, key]))
}

type AnyPath = readonly (SettingPath[number] | number)[]

export function startsWith(path: AnyPath, prefix: AnyPath): boolean {
  return prefix.every((key, index) => sameStep(path[index], key))
}

export function samePath(a: AnyPath, b: AnyPath): boolean {
  return a.length === b.length && startsWith(a, b)
}

export function includesPath(paths: readonly SettingPath[], path: SettingPath): boolean {
  return paths.some((one) => samePath(one, path))
}

/** Each path once. */
export function uniquePaths(paths: readonly SettingPath[]): SettingPath[] {
  const seen = new Set<string>()
  return paths.filter((path) => {
    const text = pathText(path)
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/** A text for each path: two paths have the same text exactly if `samePath` says so. */
export function pathText(path: AnyPath): string {
  return JSON.stringify(path, (_name, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    return isValueTable(value as Value) && !('element' in (value as object))
      ? Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))
      : typeof value === 'object' && value !== null && 'element' in value
        ? { element: value.element }
        : value
  })
}

function sameStep(a: AnyPath[number] | undefined, b: AnyPath[number]): boolean {
  if (typeof b !== 'object') return a === b
  return typeof a === 'object' && sameValue(a.element, b.element)
}

/**
 * A value for readers: integers as number where exact, else as bigint; dates as they are written.
 */
export function toConfigValue(value: Value): ConfigValue {
  if (value instanceof Literal) return literalValue(value.source)
  if (typeof value === 'bigint') return exactInteger(value)
  if (Array.isArray(value)) return value.map(toConfigValue)
  if (!isValueTable(value)) return value as ConfigValue
  const result = Object.create(null) as Record<string, ConfigValue>
  for (const [key, child] of Object.entries(value)) result[key] = toConfigValue(child)
  return result
}

function literalValue(source: string): ConfigValue {
  if (/^-?\d+$/.test(source)) return exactInteger(BigInt(source))
  const number = Number(source)
  return Number.isFinite(number) ? number : source
}

function exactInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/**
 * `model_providers.gateway.name`, for people; of a text in a list `enabled_providers: "gateway"`, of a
 * table in one `models.gateway.name`. Keys that are not plain words are quoted.
 */
export function showPath(path: AnyPath): string {
  const last = path.at(-1)
  if (typeof last === 'object' && typeof last.element === 'string')
    return `${showPath(path.slice(0, -1))}: ${JSON.stringify(last.element)}`
  return path
    .map(plainKey)
    .map((key) => (/^[\w$-]+$/.test(key) ? key : JSON.stringify(key)))
    .join('.')
}

/** The same for programs: nothing is quoted. */
export function plainPath(path: SettingPath): string {
  return path.map(plainKey).join('.')
}

export function plainKey(key: AnyPath[number]): string {
  if (typeof key !== 'object') return String(key)
  return typeof key.element === 'string' ? key.element : Object.values(key.element).join(' ')
}
