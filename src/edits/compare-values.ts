/**
 * Compares a setting in three versions of a file. A table is compared value by value, so that additions of
 * others to it count as theirs.
 *
 *     before            written            now                 the value now
 *     model = "gpt"     model = "gw/a"     model = "gw/a"      is ours
 *     model = "gpt"     model = "gw/a"     model = "gpt"       is the earlier one
 *     model = "gpt"     model = "gw/a"     model = "other"     someone changed it
 */
import type { ConfigDocument } from './edit.ts'
import { type ConfigValue, isElementPath, type SettingPath } from './types.ts'
import type { Versions } from './undo-text.ts'
import { leafPaths, startsWith, uniquePaths } from './values/paths.ts'
import { isEmptyContainer, isValueTable, sameValue, type Value } from './values/values.ts'

/** A value that a run wrote, removed or confirmed. */
export interface ComparedValue {
  readonly path: SettingPath
  readonly isChangedByRun: boolean
  /** It still has the value of the run. */
  readonly isOurs: boolean
  /** It has the value from before the run. */
  readonly isEarlier: boolean
  readonly now: ConfigValue | undefined
}

/** @param versions the parsed file; undefined: there is no file, or it cannot be parsed */
export function compareValues(
  { before, written, now: current }: Versions<ConfigDocument | undefined>,
  path: SettingPath,
): readonly ComparedValue[] {
  return valuePaths(before, written, path).map((valuePath) => {
    const earlier = before?.get(valuePath)
    const ours = written?.get(valuePath)
    const now = current?.get(valuePath)
    const isAddedTo = isElementPath(valuePath) && earlier === undefined && containsAll(now, ours)

    return {
      path: valuePath,
      isChangedByRun: !sameValue(earlier, ours),
      isOurs: sameValue(now, ours) || isAddedTo,
      isEarlier: sameValue(now, earlier),
      now,
    }
  })
}

/** Whether `table` has all values of the table `ours`. It may have more. */
function containsAll(table: Value | undefined, ours: Value | undefined): boolean {
  if (!isValueTable(table) || !isValueTable(ours)) return false
  return Object.entries(ours).every(([key, value]) => sameValue(table[key], value))
}

/** `path` itself or, if there are tables at it, the paths of their values. */
function valuePaths(
  before: ConfigDocument | undefined,
  written: ConfigDocument | undefined,
  path: SettingPath,
): readonly SettingPath[] {
  if (isElementPath(path)) return [path]
  const values = [before?.get(path), written?.get(path)]
  const areTables = values.every((value) => value === undefined || isValueTable(value))
  if (!areTables) return [path]

  const leaves = values.flatMap((value) => (isEmptyContainer(value) ? [] : leafPaths(value, path)))
  const uniqueLeaves = uniquePaths(leaves)
  // A value of one version can be a table in the other. Then the values of the table are listed.
  const isTableElsewhere = (leaf: SettingPath) =>
    uniqueLeaves.some((inner) => inner !== leaf && startsWith(inner, leaf))
  return uniqueLeaves.filter((leaf) => !isTableElsewhere(leaf))
}
