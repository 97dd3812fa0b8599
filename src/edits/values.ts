import type { ConfigValue, ListElement, SettingPath } from './plan.ts'

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

/** Converts a change's value to the form that a parser returns. `toScalar` converts numbers. */
export function toValue(value: ConfigValue, toScalar: (scalar: number | bigint) => Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return toScalar(value)
  if (Array.isArray(value)) return value.map((item) => toValue(item, toScalar))
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key] = toValue(child, toScalar)
  return table
}

/** The value at `path`. For an element that the list contains, it is the element. */
export function getValue(root: Value | undefined, path: SettingPath): Value | undefined {
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

/** Whether an item of a list is the given element. */
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

/** A copy of `root` with `value` at `path`; undefined removes it. Unchanged parts are shared. */
export function setValue(
  root: ValueTable,
  path: SettingPath,
  value: Value | undefined,
): ValueTable {
  return (setAt(root, path, value) ?? emptyTable()) as ValueTable
}

/** Like `setValue` for many changes in order. Copies each table once, however many of its keys change. */
export function setValues(
  root: ValueTable,
  changes: readonly { readonly path: SettingPath; readonly value: Value | undefined }[],
): ValueTable {
  const copies = new Set<Value>()
  return changes.reduce<ValueTable>(
    (all, { path, value }) => (setAt(all, path, value, copies) ?? emptyTable()) as ValueTable,
    root,
  )
}

/** @param copies tables that are copies already; they are changed in place */
function setAt(
  current: Value | undefined,
  path: SettingPath,
  value: Value | undefined,
  copies = new Set<Value>(),
): Value | undefined {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (value === undefined && getValue(current, path) === undefined) return current
  if (typeof key === 'object')
    return setInList(Array.isArray(current) ? current : [], key, rest, value)

  const isCopy = isValueTable(current) && copies.has(current)
  const copy: Record<string, Value> = isCopy
    ? current
    : Object.assign(emptyTable(), isValueTable(current) ? current : undefined)
  copies.add(copy)
  const child = setAt(getValue(copy, [key]), rest, value, copies)
  if (child === undefined) delete copy[key]
  else copy[key] = child

  return copy
}

function setInList(
  list: readonly Value[],
  key: ListElement,
  rest: SettingPath,
  value: Value | undefined,
): readonly Value[] {
  if (rest.length === 0) {
    const others = list.filter((item) => !isElement(item, key))
    return value === undefined ? others : addElement(others, key, value)
  }
  const index = list.findIndex((item) => isElement(item, key))
  const item = list[index] ?? Object.assign(emptyTable(), key.element)
  const fresh = setAt(item, rest, value)!

  return index === -1 ? addElement(list, key, fresh) : list.with(index, fresh)
}

function addElement(list: readonly Value[], { isFirst }: ListElement, item: Value): Value[] {
  return isFirst ? [item, ...list] : [...list, item]
}

/**
 * Whether `actual` equals `expected` after changes at `paths`. A table that lost its last key may be
 * missing, because a table of dotted keys does not exist without a key. The position of an element in
 * its list does not matter.
 */
export function matchesAfterChanges(
  actual: ValueTable,
  expected: ValueTable,
  paths: readonly SettingPath[],
): boolean {
  let [actualRoot, expectedRoot] = [actual, expected]
  const checked = new Set<string>()

  for (const path of paths) {
    const value = getValue(expected, path)
    if (typeof path.at(-1) === 'object' && value !== undefined) {
      if (getValue(actualRoot, path) === undefined) return false
      actualRoot = setValue(actualRoot, path, value)
      expectedRoot = setValue(expectedRoot, path, value)
    }

    // The loop ends at the root, which always exists.
    let parent = path.slice(0, -1)
    // Check each table once: many keys have the same table, and checking a large one is slow.
    const text = pathKey(parent)
    if (checked.has(text)) continue
    checked.add(text)
    while (
      isEmptyContainer(getValue(expectedRoot, parent)) &&
      getValue(actualRoot, parent) === undefined
    ) {
      expectedRoot = setValue(expectedRoot, parent, undefined)
      parent = parent.slice(0, -1)
    }
  }

  return sameValue(actualRoot, expectedRoot)
}

/** Whether a value is an empty table or an empty list. */
export function isEmptyContainer(value: Value | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isValueTable(value) && Object.keys(value).length === 0
}

/** The paths of all values below `path` that are not tables, and of all empty tables. */
export function leafPaths(value: Value | undefined, path: SettingPath): SettingPath[] {
  if (!isValueTable(value) || isEmptyContainer(value)) return [path]
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
    const text = pathKey(path)
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/** A string for a path. Two paths have the same string exactly if they are equal for `samePath`. */
export function pathKey(path: AnyPath): string {
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
  if (/^-?\d+$/.test(source)) return exactInteger(BigInt(source))
  const number = Number(source)
  return Number.isFinite(number) ? number : source
}

function exactInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/**
 * Formats a path for people: `model_providers.gateway.name`. A string in a list is formatted as
 * `enabled_providers: "gateway"`, a table in a list as `models.gateway.name`. Keys that are not plain
 * words are quoted.
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

/** Formats a path for programs: nothing is quoted. */
export function plainPath(path: SettingPath): string {
  return path.map(plainKey).join('.')
}

export function plainKey(key: AnyPath[number]): string {
  if (typeof key !== 'object') return String(key)
  return typeof key.element === 'string' ? key.element : Object.values(key.element).join(' ')
}
