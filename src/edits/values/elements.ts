/**
 * Finds elements in lists by their contents, because others may have moved them.
 *
 * For example, the element `{ id: 'gateway' }` is the table in a list whose `id` is `gateway`: its
 * identifying key is `id`, and its identity is the text of that value. A picker may have thousands of
 * elements, so the positions of a list's elements are indexed once.
 */
import type { ListElement } from '../types.ts'
import { isValueTable, type Value } from './values.ts'

/** Whether an item of a list is the given element. */
export function isElement(item: Value, { element }: ListElement): boolean {
  if (typeof element === 'string') return item === element
  if (!isValueTable(item)) return false
  for (const key in element) if (item[key] !== element[key]) return false
  return true
}

/** The index of an element in a list, or -1 if the list does not contain it. */
export function elementIndex(list: readonly Value[], element: ListElement): number {
  return placeOf(list, element)?.position ?? -1
}

/** Whether a list contains an element more than once. */
export function isRepeated(list: readonly Value[], element: ListElement): boolean {
  return placeOf(list, element)?.isRepeated ?? false
}

function placeOf(list: readonly Value[], { element }: ListElement): ElementPlace | undefined {
  const { keys, places } = indexOfList(list, identifyingKeys(element))
  return places.get(identityOf(element, keys)!)
}

interface ElementPlace {
  /** The first, if the list contains the element more than once. */
  readonly position: number
  readonly isRepeated: boolean
}

/** The elements of a list that the same keys identify. */
interface ListIndex {
  readonly keys: readonly string[]
  /** By the identity of the element. */
  readonly places: Map<string, ElementPlace>
}

/** The indexes of each list, by `indexName`. */
const listIndexes = new WeakMap<readonly Value[], Map<string, ListIndex>>()

function indexName(keys: readonly string[]): string {
  return JSON.stringify(keys)
}

function indexOfList(list: readonly Value[], keys: readonly string[]): ListIndex {
  const indexes = listIndexes.get(list) ?? new Map<string, ListIndex>()
  listIndexes.set(list, indexes)
  const known = indexes.get(indexName(keys))
  if (known !== undefined) return known

  const index: ListIndex = { keys, places: new Map() }
  indexes.set(indexName(keys), index)
  for (const [position, item] of list.entries()) addToIndex(index, item, position)
  return index
}

function addToIndex({ keys, places }: ListIndex, item: Value, position: number): void {
  const identity = identityOf(item, keys)
  if (identity === undefined) return

  const first = places.get(identity)
  places.set(identity, { position: first?.position ?? position, isRepeated: first !== undefined })
}

/** Updates the indexes of a list to which `item` will be appended. */
export function indexAppendedItem(list: readonly Value[], item: Value): void {
  const indexes = listIndexes.get(list)?.values() ?? []
  for (const index of indexes) addToIndex(index, item, list.length)
}

/** Drops the indexes of a list in which an element has another identity now. */
export function dropIndex(list: readonly Value[]): void {
  listIndexes.delete(list)
}

export function createElementCheck(elements: readonly ListElement[]): (item: Value) => boolean {
  const indexes = new Map<string, ListIndex>()
  for (const { element } of elements) {
    const keys = identifyingKeys(element)
    const index = indexes.get(indexName(keys)) ?? { keys, places: new Map() }
    indexes.set(indexName(keys), index)
    addToIndex(index, element, 0)
  }

  return (item) =>
    [...indexes.values()].some(({ keys, places }) => {
      const identity = identityOf(item, keys)
      return identity !== undefined && places.has(identity)
    })
}

/** The keys that identify an element. A string has none. */
function identifyingKeys(element: ListElement['element']): readonly string[] {
  return typeof element === 'string' ? [] : Object.keys(element)
}

/** The values of the identifying keys, as one string. @returns undefined for another kind of value */
function identityOf(item: Value, keys: readonly string[]): string | undefined {
  if (keys.length === 0) return typeof item === 'string' ? item : undefined
  if (!isValueTable(item)) return undefined
  const values = keys.map((key) => item[key])
  if (values.some((value) => Array.isArray(value) || isValueTable(value))) return undefined
  return values.map((value) => `${typeof value} ${String(value)}`).join('\0')
}
