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
export function elementIndex(list: readonly Value[], { element }: ListElement): number {
  const keys = identifyingKeys(element)
  const { positions } = indexOfList(list, keys)
  return positions.get(JSON.stringify(keys))!.get(identityOf(element, keys)!) ?? -1
}

/** Whether a list contains an element more than once. */
export function isRepeated(list: readonly Value[], { element }: ListElement): boolean {
  const keys = identifyingKeys(element)
  const { repeated } = indexOfList(list, keys)
  return repeated.has(JSON.stringify(keys) + identityOf(element, keys))
}

/** The positions of a list's elements. */
interface ListIndex {
  /** By the identifying keys of an element (as JSON), then by its identity. */
  readonly positions: Map<string, Map<string, number>>
  /** Elements that the list contains more than once: their keys, then their identity. */
  readonly repeated: Set<string>
}

const listIndexes = new WeakMap<readonly Value[], ListIndex>()

/** The index of a list, with the positions of the elements that have these identifying keys. */
function indexOfList(list: readonly Value[], keys: readonly string[]): ListIndex {
  const index = listIndexes.get(list) ?? { positions: new Map(), repeated: new Set() }
  listIndexes.set(list, index)
  if (index.positions.has(JSON.stringify(keys))) return index

  index.positions.set(JSON.stringify(keys), new Map())
  for (const [position, item] of list.entries()) addToIndex(index, keys, item, position)
  return index
}

function addToIndex(
  { positions, repeated }: ListIndex,
  keys: readonly string[],
  item: Value,
  position: number,
): void {
  const identity = identityOf(item, keys)
  if (identity === undefined) return

  const keysText = JSON.stringify(keys)
  const positionsByIdentity = positions.get(keysText)!
  if (positionsByIdentity.has(identity)) repeated.add(keysText + identity)
  else positionsByIdentity.set(identity, position)
}

/** Updates the index of a list to which `item` will be appended. */
export function indexAppendedItem(list: readonly Value[], item: Value): void {
  const index = listIndexes.get(list)
  if (index === undefined) return
  for (const keys of index.positions.keys()) addToIndex(index, JSON.parse(keys), item, list.length)
}

/** Drops the index of a list in which an element has another identity now. */
export function dropIndex(list: readonly Value[]): void {
  listIndexes.delete(list)
}

/** Creates a check whether an item is one of the elements. */
export function createElementCheck(elements: readonly ListElement[]): (item: Value) => boolean {
  const identitiesByKeys = new Map<string, Set<string>>()
  for (const { element } of elements) {
    const keys = identifyingKeys(element)
    const identities = identitiesByKeys.get(JSON.stringify(keys)) ?? new Set()
    identities.add(identityOf(element, keys)!)
    identitiesByKeys.set(JSON.stringify(keys), identities)
  }

  return (item) =>
    [...identitiesByKeys].some(([keys, identities]) => {
      const identity = identityOf(item, JSON.parse(keys))
      return identity !== undefined && identities.has(identity)
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
  return keys.map((key) => `${typeof item[key]} ${String(item[key])}`).join('\0')
}
