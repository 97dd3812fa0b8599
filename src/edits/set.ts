/**
 * Sets keys in a text and leaves every other byte as it is.
 *
 * A key that the text has gets its new value in place. A new key is inserted next to related keys. For
 * example, `model` and `tools.shell` are set in this TOML text:
 *
 *     model = "a"  # mine          model = "b"  # mine
 *
 *     [tools]              →       [tools]
 *     web = true                   web = true
 *                                  shell = true
 *
 * `insertion-point.ts` finds the place of a new key, and `insert.ts` writes it there.
 */
import {
  Conflict,
  type Container,
  type Dialect,
  type ParsedText,
  type Setting,
} from './dialects/dialect.ts'
import { memberAt, refuseNonTable, startOffset } from './find.ts'
import { type Insertion, insertSettings } from './insert.ts'
import { isSamePoint, type PlacedSetting, placeSetting, TextIndex } from './insertion-point.ts'
import { layoutOf } from './layout.ts'
import { applySplices, type Splice } from './text.ts'
import { isElementPath, type SettingPath } from './types.ts'
import { showPath } from './values/paths.ts'
import { getValue } from './values/value-at-path.ts'
import { isValueTable } from './values/values.ts'

/**
 * Sets all `settings` in the text.
 *
 * @param removed the paths that will be removed next; new keys are not inserted next to them if possible
 * @throws Conflict if the path of a setting goes through a value that is not a table
 */
export function setAll(
  dialect: Dialect,
  parsed: ParsedText,
  settings: readonly Setting[],
  removed: readonly SettingPath[],
): string {
  if (settings.length === 0) return parsed.text
  const replacements: Splice[] = []
  const placed: PlacedSetting[] = []
  const withoutTable: Setting[] = []
  const index = new TextIndex(parsed, removed)

  for (const setting of settings) {
    const member = memberAt(parsed, setting.path)
    if (member !== undefined) {
      const text = dialect.spell(setting.content, layoutOf(parsed, member))
      replacements.push({ start: member.valueStart, end: member.end, text })
      continue
    }

    refuseNonTable(dialect, parsed, setting.path)
    refuseSplitValue(parsed, setting.path)
    const placedSetting = placeSetting(parsed, setting, index)
    if (placedSetting === undefined) withoutTable.push(setting)
    else placed.push(placedSetting)
  }

  const insertions = groupByPoint(placed).flatMap((insertion) =>
    insertSettings(dialect, parsed, insertion),
  )
  const text = applySplices(parsed.text, [...replacements, ...insertions])
  return withoutTable.length === 0 ? text : text + dialect.spellNewTables(text, withoutTable)
}

interface PlacedGroup {
  readonly point: PlacedSetting['point']
  readonly settings: PlacedSetting[]
}

/** Groups settings with the same place. Those next to sibling keys come before those at an end. */
function groupByPoint(placed: readonly PlacedSetting[]): readonly Insertion[] {
  const groups: PlacedGroup[] = []
  const byContainer = new Map<Container, PlacedGroup[]>()
  for (const setting of placed) {
    const { container } = setting.point
    const inContainer = byContainer.get(container) ?? []
    byContainer.set(container, inContainer)
    const group = inContainer.find(({ point }) => isSamePoint(point, setting.point))
    if (group !== undefined) {
      group.settings.push(setting)
      continue
    }
    const added = { point: setting.point, settings: [setting] }
    inContainer.push(added)
    groups.push(added)
  }

  return groups.toSorted(
    (a, b) => Number(b.point.isNextToSiblings) - Number(a.point.isNextToSiblings),
  )
}

/** Refuses to replace a table or a list that is written in several places with one value. */
function refuseSplitValue(parsed: ParsedText, path: SettingPath): void {
  const whole = isElementPath(path) ? path.slice(0, -1) : path
  const value = getValue(parsed.root, whole)
  if (value === undefined || memberAt(parsed, whole)) return

  const kind = isValueTable(value) ? 'a table' : 'a list'
  const start = startOffset(parsed, whole) ?? 0
  throw new Conflict(`${showPath(whole)} is ${kind}, not a single value`, start)
}
