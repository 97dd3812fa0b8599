import { type ConfigValue, isElementPath, type ListElement, type SettingPath } from './plan.ts'

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
      value = Array.isArray(value) ? value[elementIndex(value, key)] : undefined
    } else {
      value = isValueTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
    }
  }
  return value
}

/** Whether an item of a list is the given element. */
export function isElement(item: Value, { element }: ListElement): boolean {
  if (typeof element === 'string') return item === element
  if (!isValueTable(item)) return false
  for (const key in element) if (item[key] !== element[key]) return false
  return true
}

/** The positions of a list's elements. Cached, because a picker may have thousands. */
interface ElementIndexes {
  /** By the names of the keys that identify an element, then by their values. */
  readonly byNames: Map<string, Map<string, number>>
  /** Elements that the list contains more than once, with the same two keys. */
  readonly repeated: Set<string>
}

const elementIndexes = new WeakMap<readonly Value[], ElementIndexes>()

/** The index of an element in a list; -1 if the list does not contain it. */
export function elementIndex(list: readonly Value[], { element }: ListElement): number {
  const names = namesOf(element)
  const { byNames } = indexesOf(list, names)
  return byNames.get(JSON.stringify(names))!.get(elementText(element, names)!) ?? -1
}

function isRepeated(list: readonly Value[], { element }: ListElement): boolean {
  const names = namesOf(element)
  const text = JSON.stringify(names) + elementText(element, names)
  return indexesOf(list, names).repeated.has(text)
}

/** The names of the keys that identify an element. None: it is a string. */
function namesOf(element: ListElement['element']): readonly string[] {
  return typeof element === 'string' ? [] : Object.keys(element)
}

/** The indexes of a list, among them the one by these names. */
function indexesOf(list: readonly Value[], names: readonly string[]): ElementIndexes {
  const indexes = elementIndexes.get(list) ?? { byNames: new Map(), repeated: new Set() }
  elementIndexes.set(list, indexes)

  const key = JSON.stringify(names)
  if (indexes.byNames.has(key)) return indexes
  indexes.byNames.set(key, new Map())
  for (const [position, item] of list.entries()) addToIndex(indexes, key, names, item, position)
  return indexes
}

function addToIndex(
  { byNames, repeated }: ElementIndexes,
  key: string,
  names: readonly string[],
  item: Value,
  position: number,
): void {
  const text = elementText(item, names)
  const positions = byNames.get(key)!
  if (text === undefined) return
  if (positions.has(text)) repeated.add(key + text)
  else positions.set(text, position)
}

/** The values that identify an element, as one string. Undefined: the item is another kind of value. */
function elementText(item: Value, names: readonly string[]): string | undefined {
  if (names.length === 0) return typeof item === 'string' ? item : undefined
  if (!isValueTable(item)) return undefined
  return names.map((name) => `${typeof item[name]} ${String(item[name])}`).join('\0')
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
    return setInList(Array.isArray(current) ? current : [], key, rest, value, copies)

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
  copies: Set<Value>,
): readonly Value[] {
  const index = elementIndex(list, key)
  if (rest.length === 0) {
    const isKept = value !== undefined && !key.isFirst && index !== -1 && isElement(value, key)
    // An element in the list twice is rare.
    if (isKept && !isRepeated(list, key)) return replaceItem(list, index, value, copies)
    const others = index === -1 ? list : list.filter((item) => !isElement(item, key))
    return value === undefined ? others : addElement(others, key, value, copies)
  }
  const item = list[index] ?? Object.assign(emptyTable(), key.element)
  const fresh = setAt(item, rest, value, copies)!
  if (index === -1) return addElement(list, key, fresh, copies)

  const copy = replaceItem(list, index, fresh, copies)
  // A change of the members that identify the element, which no client makes.
  if (!isElement(fresh, key)) elementIndexes.delete(copy)
  return copy
}

function replaceItem(
  list: readonly Value[],
  index: number,
  item: Value,
  copies: Set<Value>,
): readonly Value[] {
  const copy = copyOf(list, copies)
  copy[index] = item
  return copy
}

function addElement(
  list: readonly Value[],
  { isFirst }: ListElement,
  item: Value,
  copies: Set<Value>,
): readonly Value[] {
  if (isFirst) return [item, ...list]
  const copy = copyOf(list, copies)
  const indexes = elementIndexes.get(copy)
  for (const names of indexes?.byNames.keys() ?? [])
    addToIndex(indexes!, names, JSON.parse(names), item, copy.length)
  copy.push(item)
  return copy
}

/** The list itself if it is a copy already, and otherwise a copy that can be changed in place. */
function copyOf(list: readonly Value[], copies: Set<Value>): Value[] {
  if (copies.has(list)) return list as Value[]
  const copy = [...list]
  copies.add(copy)
  return copy
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
  const elements = paths.filter(
    (path) => isElementPath(path) && getValue(expected, path) !== undefined,
  )
  if (elements.some((path) => getValue(actual, path) === undefined)) return false

  const actualRoot = withElementsLast(actual, elements, expected)
  let expectedRoot = withElementsLast(expected, elements, expected)
  const checked = new Set<string>()

  for (const path of paths) {
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

/** Gives the elements at `paths` their values in `source`, at the end of their lists. */
function withElementsLast(
  root: ValueTable,
  paths: readonly SettingPath[],
  source: ValueTable,
): ValueTable {
  const byList = new Map<string, SettingPath[]>()
  for (const path of uniquePaths(paths)) {
    const text = pathKey(path.slice(0, -1))
    const same = byList.get(text)
    if (same === undefined) byList.set(text, [path])
    else same.push(path)
  }

  return setValues(
    root,
    [...byList.values()].map((ofList) => {
      const path = ofList[0]!.slice(0, -1)
      const list = getValue(root, path)
      const isMoved = createElementCheck(ofList.map((one) => one.at(-1) as ListElement))
      const others = Array.isArray(list) ? list.filter((item) => !isMoved(item)) : []
      return { path, value: [...others, ...ofList.map((one) => getValue(source, one)!)] }
    }),
  )
}

/** Creates a check whether an item is one of the elements. */
function createElementCheck(keys: readonly ListElement[]): (item: Value) => boolean {
  const textsByNames = new Map<string, Set<string>>()
  for (const { element } of keys) {
    const names = namesOf(element)
    const texts = textsByNames.get(JSON.stringify(names)) ?? new Set()
    texts.add(elementText(element, names)!)
    textsByNames.set(JSON.stringify(names), texts)
  }
  return (item) =>
    [...textsByNames].some(([names, texts]) => {
      const text = elementText(item, JSON.parse(names))
      return text !== undefined && texts.has(text)
    })
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
  if (path.every((step) => typeof step === 'string')) return JSON.stringify(path)
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
