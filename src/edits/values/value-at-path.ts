/**
 * Reads, replaces and compares the values at paths. A value never changes: `setValue` returns a changed copy.
 */
import { isElementPath, type ListElement, type SettingPath } from '../types.ts'
import {
  createElementCheck,
  dropIndex,
  elementIndex,
  indexAppendedItem,
  isElement,
  isRepeated,
} from './elements.ts'
import { pathKey, uniquePaths } from './paths.ts'
import {
  emptyTable,
  isEmptyContainer,
  isValueTable,
  sameValue,
  type Value,
  type ValueTable,
} from './values.ts'

/** A value to set. Undefined removes it. */
export interface ValueChange {
  readonly path: SettingPath
  readonly value: Value | undefined
}

/** The value at `path`. For an element that the list contains, it is the element. */
export function getValue(root: Value | undefined, path: SettingPath): Value | undefined {
  let value = root
  for (const key of path) value = childAt(value, key)
  return value
}

function childAt(value: Value | undefined, key: SettingPath[number]): Value | undefined {
  if (typeof key === 'object')
    return Array.isArray(value) ? value[elementIndex(value, key)] : undefined
  return isValueTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** A copy of `root` with `value` at `path`; undefined removes it. Unchanged parts are shared. */
export function setValue(
  root: ValueTable,
  path: SettingPath,
  value: Value | undefined,
): ValueTable {
  return setValues(root, [{ path, value }])
}

/** Like `setValue` for many changes in order. Copies each table once, however many of its keys change. */
export function setValues(root: ValueTable, changes: readonly ValueChange[]): ValueTable {
  const copies = new Set<Value>()
  return changes.reduce<ValueTable>(
    (all, change) => (setAt(all, change, copies) ?? emptyTable()) as ValueTable,
    root,
  )
}

/** @param copies tables and lists that are copies already; they are changed in place */
function setAt(
  current: Value | undefined,
  { path, value }: ValueChange,
  copies: Set<Value>,
): Value | undefined {
  const [key, ...innerPath] = path
  if (key === undefined) return value
  if (value === undefined && getValue(current, path) === undefined) return current
  if (typeof key === 'object') {
    const list = Array.isArray(current) ? current : []
    return setInList(list, key, { path: innerPath, value }, copies)
  }

  const copy = copyOfTable(isValueTable(current) ? current : emptyTable(), copies)
  const child = setAt(getValue(copy, [key]), { path: innerPath, value }, copies)
  if (child === undefined) delete copy[key]
  else copy[key] = child

  return copy
}

/** @param change the path is relative to the element */
function setInList(
  list: readonly Value[],
  element: ListElement,
  change: ValueChange,
  copies: Set<Value>,
): readonly Value[] {
  if (change.path.length === 0) return setElement(list, element, change.value, copies)

  const index = elementIndex(list, element)
  const item = list[index] ?? Object.assign(emptyTable(), element.element)
  const newItem = setAt(item, change, copies)!
  if (index === -1) return addElement(list, element, newItem, copies)

  const copy = replaceItem(list, index, newItem, copies)
  // A change of the members that identify the element, which no client makes.
  if (!isElement(newItem, element)) dropIndex(copy)
  return copy
}

/** Replaces, adds or removes a whole element. An element that is in the list twice is then in it once. */
function setElement(
  list: readonly Value[],
  element: ListElement,
  value: Value | undefined,
  copies: Set<Value>,
): readonly Value[] {
  const index = elementIndex(list, element)
  const staysInPlace =
    value !== undefined && index !== -1 && !element.isFirst && isElement(value, element)
  if (staysInPlace && !isRepeated(list, element)) return replaceItem(list, index, value, copies)

  const otherItems = index === -1 ? list : list.filter((item) => !isElement(item, element))
  return value === undefined ? otherItems : addElement(otherItems, element, value, copies)
}

function replaceItem(
  list: readonly Value[],
  index: number,
  item: Value,
  copies: Set<Value>,
): readonly Value[] {
  const copy = copyOfList(list, copies)
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

  const copy = copyOfList(list, copies)
  indexAppendedItem(copy, item)
  copy.push(item)
  return copy
}

/** The table itself if it is a copy already, and otherwise a copy that can be changed in place. */
function copyOfTable(table: ValueTable, copies: Set<Value>): Record<string, Value> {
  if (copies.has(table)) return table as Record<string, Value>
  const copy = Object.assign(emptyTable(), table)
  copies.add(copy)
  return copy
}

function copyOfList(list: readonly Value[], copies: Set<Value>): Value[] {
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

  // Many keys have the same table, and a large table is slow to check. So each is checked once.
  const tables = uniquePaths(paths.map((path) => path.slice(0, -1)))
  for (const table of tables) expectedRoot = withoutMissingTables(expectedRoot, actualRoot, table)

  return sameValue(actualRoot, expectedRoot)
}

/** Removes the table at `path` from `root` if it is empty and `actual` lacks it. Then its parents. */
function withoutMissingTables(root: ValueTable, actual: ValueTable, path: SettingPath): ValueTable {
  const isMissing = isEmptyContainer(getValue(root, path)) && getValue(actual, path) === undefined
  // The recursion ends at the root, which always exists.
  if (!isMissing) return root
  return withoutMissingTables(setValue(root, path, undefined), actual, path.slice(0, -1))
}

/** Gives the elements at `paths` their values in `source`, at the end of their lists. */
function withElementsLast(
  root: ValueTable,
  paths: readonly SettingPath[],
  source: ValueTable,
): ValueTable {
  const pathsByList = new Map<string, SettingPath[]>()
  for (const path of uniquePaths(paths)) {
    const listKey = pathKey(path.slice(0, -1))
    const pathsInList = pathsByList.get(listKey)
    if (pathsInList === undefined) pathsByList.set(listKey, [path])
    else pathsInList.push(path)
  }

  const changes = [...pathsByList.values()].map((elementPaths) => {
    const path = elementPaths[0]!.slice(0, -1)
    const list = getValue(root, path)
    const isMoved = createElementCheck(elementPaths.map((element) => element.at(-1) as ListElement))
    const otherItems = Array.isArray(list) ? list.filter((item) => !isMoved(item)) : []
    const elements = elementPaths.map((element) => getValue(source, element)!)
    return { path, value: [...otherItems, ...elements] }
  })
  return setValues(root, changes)
}
