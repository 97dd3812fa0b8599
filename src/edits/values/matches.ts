import { isElementPath, type ListElement, type SettingPath } from '../types.ts'
import { createElementCheck } from './elements.ts'
import { pathKey, uniquePaths } from './paths.ts'
import { getValue, setValue, setValues } from './value-at-path.ts'
import { isEmptyContainer, sameValue, type ValueTable } from './values.ts'

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
