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
 * `insertion-point.ts` finds the place of a new key.
 */
import {
  Conflict,
  type Container,
  type Dialect,
  groupMembers,
  type Member,
  type MemberLayout,
  type ParsedText,
  type Setting,
} from './dialects/dialect.ts'
import { findTail, memberAt, refuseNonTable, startOffset } from './find.ts'
import {
  type InsertionPoint,
  isSamePoint,
  type PlacedSetting,
  placeSetting,
  TextIndex,
} from './insertion-point.ts'
import { layoutOf, oneLine, separatorBefore } from './layout.ts'
import {
  applySplices,
  eolAt,
  indentAt,
  lineAbove,
  lineEnd,
  lineStart,
  type Splice,
} from './text.ts'
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

/** New settings with the same insertion point. */
interface Insertion {
  readonly point: InsertionPoint
  /** Their paths are relative to the container. */
  readonly settings: Pick<PlacedSetting, 'path' | 'content'>[]
}

/** Groups settings with the same place. Those next to sibling keys come before those at an end. */
function groupByPoint(placed: readonly PlacedSetting[]): readonly Insertion[] {
  const groups: Insertion[] = []
  const byContainer = new Map<Container, Insertion[]>()
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

/**
 * The splices that write new settings at one place, in the layout of their neighbours. For example, `y` is new:
 *
 *     [table]              a line below the last key       y = 2
 *     x = 1
 *
 *     "t": {}              fills the braces                "t": { "y": 2 }
 *     { "x": 1 }           after the last member           { "x": 1, "y": 2 }
 *     ["x"]                or first, if order counts       ["y", "x"]
 */
function insertSettings(
  dialect: Dialect,
  parsed: ParsedText,
  insertion: Insertion,
): readonly Splice[] {
  const { container, after, isFirst } = insertion.point
  if (container.kind === 'lines') return [insertLines(dialect, parsed, insertion)]
  if (after === undefined) return [insertIntoEmpty(dialect, parsed, insertion)]
  if (isFirst) return [insertAtStart(dialect, parsed, insertion)]
  if (container.kind === 'inline') return [insertInline(dialect, parsed, insertion, after)]
  return insertAfter(dialect, parsed, insertion, after)
}

/** Inserts new lines after a key of the same table, or after its header. */
function insertLines(dialect: Dialect, parsed: ParsedText, insertion: Insertion): Splice {
  const { text } = parsed
  const { container, after } = insertion.point
  const isRootWithoutKeys = after === undefined && container.path.length === 0
  if (isRootWithoutKeys) return insertRootLines(dialect, parsed, insertion)

  const anchor = after ?? container
  const { content, next } = lineEnd(text, anchor.end)
  const hasLineBreak = next > content
  const eol = eolAt(text, anchor.end)
  const indent = indentAt(text, anchor.start)

  const lines = spellSettings(dialect, insertion, oneLine).map((line) => indent + line)
  const added = lines.map((line) => (hasLineBreak ? line + eol : eol + line)).join('')
  return { start: next, end: next, text: added }
}

/** Inserts keys into a root that has none: above the first header, or at the end of the text. */
function insertRootLines(dialect: Dialect, parsed: ParsedText, insertion: Insertion): Splice {
  const { text } = parsed
  const lines = spellSettings(dialect, insertion, oneLine)
  const header = parsed.containers()[1]

  if (header === undefined) {
    const end = text.length
    const eol = eolAt(text, end)
    const lacksLineBreak = text !== '' && !text.endsWith('\n')
    const added = lines.map((line) => (lacksLineBreak ? eol + line : line + eol)).join('')
    return { start: end, end, text: added }
  }

  // A comment directly above a header belongs to it.
  let start = lineStart(text, header.start)
  while (text.slice(lineAbove(text, start), start).trimStart().startsWith('#'))
    start = lineAbove(text, start)
  const eol = eolAt(text, start)

  return { start, end: start, text: lines.map((line) => line + eol).join('') + eol }
}

/** Inserts into braces or brackets that contain only blanks or comments. */
function insertIntoEmpty(dialect: Dialect, parsed: ParsedText, insertion: Insertion): Splice {
  const { text } = parsed
  const { container } = insertion.point
  const { owner } = container
  const open = container.start + 1
  const close = container.end - 1
  const inner = text.slice(open, close)

  const outer = owner
    ? layoutOf(parsed, owner)
    : { ...oneLine, isMultiLine: true, eol: eolAt(text, close) }
  const closing = owner ? outer.indent : indentAt(text, container.start)
  const empty: EmptyContainer = { open, close, inner, outer, closing }

  const isMultiLine = /[\r\n]/.test(inner) || (outer.isMultiLine && container.kind === 'object')
  return isMultiLine
    ? fillOnLines(dialect, insertion, empty)
    : fillOnOneLine(dialect, insertion, empty)
}

/** Braces or brackets without a member. */
interface EmptyContainer {
  /** The offset after the opening brace. */
  readonly open: number
  /** The offset of the closing brace. */
  readonly close: number
  /** The text between them. */
  readonly inner: string
  /** The layout of the member that has this container as its value. */
  readonly outer: MemberLayout
  /** The indentation of the closing brace on its own line. */
  readonly closing: string
}

/** `{}` becomes `{ "y": 2 }`. */
function fillOnOneLine(
  dialect: Dialect,
  insertion: Insertion,
  { open, close, inner, outer }: EmptyContainer,
): Splice {
  const isSpaced = outer.colon.endsWith(' ')
  const members = spellSettings(dialect, insertion, { ...outer, isMultiLine: false })
  const joined = members.join(isSpaced ? ', ' : ',')

  if (inner.trim() === '') {
    const isTight = insertion.point.container.kind === 'list' || (inner === '' && !isSpaced)
    return { start: open, end: close, text: isTight ? joined : ` ${joined} ` }
  }

  const afterComment = open + inner.trimEnd().length
  return { start: afterComment, end: afterComment, text: ` ${joined}` }
}

/** Writes each member on its own line, and the closing brace below them. */
function fillOnLines(
  dialect: Dialect,
  insertion: Insertion,
  { open, close, inner, outer, closing }: EmptyContainer,
): Splice {
  const lastBreak = /(\r\n|\r|\n)[ \t]*$/.exec(inner)
  const eol = lastBreak?.[1] ?? outer.eol
  const layout = { ...outer, isMultiLine: true, eol, indent: closing + outer.unit }
  const gap = eol + layout.indent
  const lines = gap + spellSettings(dialect, insertion, layout).join(`,${gap}`)
  const closingLine = eol + closing

  if (inner.trim() === '') return { start: open, end: close, text: lines + closingLine }
  if (lastBreak !== null) {
    const beforeBreak = open + lastBreak.index
    return { start: beforeBreak, end: beforeBreak, text: lines }
  }

  const afterComment = open + inner.trimEnd().length
  return { start: afterComment, end: afterComment, text: lines + closingLine }
}

/** Inserts directly after the bracket, so that a comment above the first element stays with it. */
function insertAtStart(dialect: Dialect, parsed: ParsedText, insertion: Insertion): Splice {
  const { container } = insertion.point
  const first = container.members[0]!
  const layout = layoutOf(parsed, first)
  const members = spellSettings(dialect, insertion, layout).map((member) => `${member},`)
  const start = container.start + 1

  if (layout.isMultiLine) {
    const newLine = layout.eol + layout.indent
    return { start, end: start, text: members.map((member) => newLine + member).join('') }
  }

  const blank = separatorBefore(parsed.text, first).text
  return { start, end: start, text: members.map((member) => member + blank).join('') }
}

/** Inserts into a TOML table in braces, which has no comma at its end. */
function insertInline(
  dialect: Dialect,
  parsed: ParsedText,
  insertion: Insertion,
  after: Member,
): Splice {
  const members = spellSettings(dialect, insertion, layoutOf(parsed, after))
  const text = members.map((member) => `, ${member}`).join('')
  return { start: after.end, end: after.end, text }
}

/**
 * Inserts after a member, with the separators of its container. A comma or a comment behind that member
 * stays behind it.
 */
function insertAfter(
  dialect: Dialect,
  parsed: ParsedText,
  insertion: Insertion,
  after: Member,
): Splice[] {
  const { text } = parsed
  const tail = findTail(dialect, text, after.end)
  const layout = { ...layoutOf(parsed, after), eol: eolAt(text, tail.end) }
  const members = spellSettings(dialect, insertion, layout)

  const separator = separatorBefore(text, after)
  const afterTail = { start: tail.end, end: tail.end }

  if (separator.isCommaFirst && tail.comma === undefined) {
    const lines = members.map((member) => layout.eol + separator.text + member)
    return [{ ...afterTail, text: lines.join('') }]
  }

  const separatorEnd = tail.comma === undefined ? after.end : tail.comma + 1
  const hasComment = tail.end > separatorEnd
  // After a line comment, the new member needs a new line.
  const isOnNewLine = layout.isMultiLine || (hasComment && tail.endsLine)
  const indent = layout.isMultiLine ? layout.indent : layout.indent + layout.unit
  const gap = isOnNewLine ? layout.eol + indent : separator.text
  const joined = gap + members.join(`,${gap}`)
  if (tail.comma !== undefined) return [{ ...afterTail, text: `${joined},` }]

  return [
    { start: after.end, end: after.end, text: ',' },
    { ...afterTail, text: joined },
  ]
}

/** Spells the new members, without the text between them. */
function spellSettings(
  dialect: Dialect,
  { point, settings }: Insertion,
  layout: MemberLayout,
): string[] {
  if (point.container.kind === 'list')
    return settings.map(({ content }) => dialect.spell(content, layout))
  if (point.isNextToSiblings)
    return settings.map(({ path, content }) =>
      dialect.spellMember(path, dialect.spell(content, layout), layout),
    )

  return [...groupMembers(settings)].map(([key, content]) =>
    dialect.spellMember([key], dialect.spell(content, layout), layout),
  )
}
