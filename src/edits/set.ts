import {
  Conflict,
  type Container,
  type Content,
  type Dialect,
  groupMembers,
  type IndexedPath,
  type Member,
  type MemberLayout,
  type ParsedText,
  type Setting,
} from './dialects/dialect.ts'
import { findTail, memberAt, refuseNonTable, startOffset, toIndexedPath } from './find.ts'
import { isElementPath, type SettingPath } from './plan.ts'
import {
  applySplices,
  eolAt,
  indentAt,
  lineAbove,
  lineEnd,
  lineStart,
  type Splice,
} from './text.ts'
import { getValue, isValueTable, pathKey, plainKey, showPath } from './values.ts'

/** The place at which new keys are inserted. */
interface InsertionPoint {
  readonly container: Container
  /** The member before the new keys. Undefined if the container is empty. */
  readonly after: Member | undefined
  /** Inserts before all members of a list. */
  readonly isFirst?: boolean
  /**
   * Inserts next to dotted keys with the same prefix, and spells the new keys with dots too. Otherwise
   * keys are appended to the container, and a key with several parts becomes nested braces.
   */
  readonly isNextToSiblings: boolean
  /** The new settings. Their paths are relative to the container. */
  readonly settings: { readonly path: readonly string[]; readonly content: Content }[]
}

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
  const splices: Splice[] = []
  const points: InsertionPoint[] = []
  const withoutTable: Setting[] = []
  const index = new TextIndex(parsed, removed)

  for (const setting of settings) {
    const member = memberAt(parsed, setting.path)
    if (member) {
      const text = dialect.spell(setting.content, layoutOf(parsed, member))
      splices.push({ start: member.valueStart, end: member.end, text })
      continue
    }

    refuseNonTable(dialect, parsed, setting.path)
    refuseSplitValue(parsed, setting.path)
    const point = findInsertionPoint(parsed, setting, index)
    const samePoint = points.find((one) => point && isSamePoint(one, point))
    if (point === undefined) withoutTable.push(setting)
    else if (samePoint) samePoint.settings.push(...point.settings)
    else points.push(point)
  }

  // Insert next to sibling keys before appending.
  const sortedPoints = points.toSorted(
    (a, b) => Number(b.isNextToSiblings) - Number(a.isNextToSiblings),
  )
  splices.push(...sortedPoints.flatMap((site) => insertSettings(dialect, parsed, site)))
  const text = applySplices(parsed.text, splices)
  return withoutTable.length === 0 ? text : text + dialect.spellNewTables(text, withoutTable)
}

function isSamePoint(a: InsertionPoint, b: InsertionPoint): boolean {
  return (
    a.container === b.container &&
    a.after === b.after &&
    a.isNextToSiblings === b.isNextToSiblings &&
    a.isFirst === b.isFirst
  )
}

/** Refuses to replace a table or a list that is written in several places by one value. */
function refuseSplitValue(parsed: ParsedText, path: SettingPath): void {
  const whole = isElementPath(path) ? path.slice(0, -1) : path
  const value = getValue(parsed.root, whole)
  if (value === undefined || memberAt(parsed, whole)) return
  const reason = `${showPath(whole)} is ${isValueTable(value) ? 'a table' : 'a list'}, not a single value`
  throw new Conflict(reason, startOffset(parsed, whole) ?? 0)
}

function findInsertionPoint(
  parsed: ParsedText,
  { path, content }: Setting,
  index: TextIndex,
): InsertionPoint | undefined {
  const endOf = (container: Container, rest: readonly string[]): InsertionPoint => ({
    container,
    after: index.lastKept(container),
    isNextToSiblings: false,
    settings: [{ path: rest, content }],
  })
  const last = path.at(-1)
  if (typeof last === 'object') {
    const list = memberAt(parsed, path.slice(0, -1))!.inside!
    return { ...endOf(list, []), isFirst: last.isFirst === true }
  }

  const keys = toIndexedPath(parsed, path)

  // From the innermost table outwards: next to the members of an inline table or object, after dotted
  // siblings, or under a header for a single key.
  for (let length = keys.length - 1; length >= 0; length--) {
    const table = keys.slice(0, length)
    const rest = path.slice(length).map(plainKey)
    const container = index.containerAt(table)
    if (container && container.kind !== 'lines') return endOf(container, rest)

    const after = index.lastDottedMember(table)
    if (after) {
      const settings = [{ path: path.slice(after.container.path.length).map(plainKey), content }]
      return { container: after.container, after, isNextToSiblings: true, settings }
    }
    if (container && rest.length === 1) return endOf(container, rest)
  }

  return undefined
}

/** An index of a text, built once for all settings, because a picker may have thousands. */
class TextIndex {
  readonly #containers = new Map<string, Container>()
  /** For each table with keys that are dotted keys of an outer table: the last such key. */
  readonly #lastDottedMembers = new Map<string, Member>()
  readonly #lastKept = new Map<Container, Member | undefined>()
  readonly #removed: ReadonlySet<string>

  constructor(parsed: ParsedText, removed: readonly SettingPath[]) {
    this.#removed = new Set(removed.map((path) => pathKey(toIndexedPath(parsed, path))))
    for (const container of parsed.containers) {
      const text = pathKey(container.path)
      if (!this.#containers.has(text)) this.#containers.set(text, container)
      for (const member of container.members)
        for (let length = container.path.length + 1; length <= member.path.length; length++)
          this.#lastDottedMembers.set(pathKey(member.path.slice(0, length)), member)
    }
  }

  containerAt(path: IndexedPath): Container | undefined {
    return this.#containers.get(pathKey(path))
  }

  lastDottedMember(table: IndexedPath): Member | undefined {
    return this.#lastDottedMembers.get(pathKey(table))
  }

  /** The last member of a container that is not removed. If all are removed: the last member. */
  lastKept(container: Container): Member | undefined {
    if (!this.#lastKept.has(container)) {
      const isRemoved = ({ path }: Member) =>
        path.some((_, index) => this.#removed.has(pathKey(path.slice(0, index + 1))))
      const { members } = container
      this.#lastKept.set(container, members.findLast((one) => !isRemoved(one)) ?? members.at(-1))
    }
    return this.#lastKept.get(container)
  }
}

function insertSettings(dialect: Dialect, parsed: ParsedText, point: InsertionPoint): Splice[] {
  const { container, after } = point
  if (container.kind === 'lines') return [insertLines(dialect, parsed, point)]
  if (after === undefined) return [insertIntoEmpty(dialect, parsed, point)]
  if (point.isFirst) return [insertAtStart(dialect, parsed, point)]
  if (container.kind === 'inline') {
    const text = spellSettings(dialect, point, layoutOf(parsed, after))
      .map((one) => `, ${one}`)
      .join('')
    return [{ start: after.end, end: after.end, text }]
  }

  return insertAfter(dialect, parsed, point, after)
}

function spellSettings(
  dialect: Dialect,
  { container, settings, isNextToSiblings }: InsertionPoint,
  layout: MemberLayout,
): string[] {
  if (container.kind === 'list')
    return settings.map(({ content }) => dialect.spell(content, layout))
  if (isNextToSiblings)
    return settings.map(({ path, content }) =>
      dialect.spellMember(path, dialect.spell(content, layout), layout),
    )

  return [...groupMembers(settings)].map(([key, content]) =>
    dialect.spellMember([key], dialect.spell(content, layout), layout),
  )
}

/** Inserts new lines after a key of the same table, or after its header. */
function insertLines(dialect: Dialect, parsed: ParsedText, point: InsertionPoint): Splice {
  const { text } = parsed
  const { container, after } = point
  if (after === undefined && container.path.length === 0)
    return insertRootLines(dialect, parsed, point)

  const anchor = after ?? container
  const { content, next } = lineEnd(text, anchor.end)
  const eol = eolAt(text, anchor.end)
  const indent = indentAt(text, anchor.start)
  const lines = spellSettings(dialect, point, oneLine).map((line) => indent + line)
  const added = lines.map((line) => (next > content ? line + eol : eol + line)).join('')
  return { start: next, end: next, text: added }
}

function insertRootLines(dialect: Dialect, parsed: ParsedText, point: InsertionPoint): Splice {
  const { text } = parsed
  const lines = spellSettings(dialect, point, oneLine)
  const header = parsed.containers[1]

  if (header === undefined) {
    const end = text.length
    const eol = eolAt(text, end)
    const isOpen = text !== '' && !text.endsWith('\n')
    return {
      start: end,
      end,
      text: lines.map((line) => (isOpen ? eol + line : line + eol)).join(''),
    }
  }

  // A comment directly above a header belongs to it.
  let start = lineStart(text, header.start)
  while (text.slice(lineAbove(text, start), start).trimStart().startsWith('#'))
    start = lineAbove(text, start)
  const eol = eolAt(text, start)

  return { start, end: start, text: lines.map((line) => line + eol).join('') + eol }
}

/** Inserts into braces or brackets that contain only blanks or comments. */
function insertIntoEmpty(dialect: Dialect, parsed: ParsedText, point: InsertionPoint): Splice {
  const { text } = parsed
  const { container } = point
  const { owner } = container
  const [open, close] = [container.start + 1, container.end - 1]
  const inner = text.slice(open, close)

  const outer = owner
    ? layoutOf(parsed, owner)
    : { ...oneLine, isMultiLine: true, eol: eolAt(text, close) }
  const closing = owner ? outer.indent : indentAt(text, container.start)
  const inside = { open, close, inner, outer, closing }

  const isMultiLine = /[\r\n]/.test(inner) || (outer.isMultiLine && container.kind === 'object')
  return isMultiLine ? fillOnLines(dialect, point, inside) : fillOnOneLine(dialect, point, inside)
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

function fillOnOneLine(
  dialect: Dialect,
  point: InsertionPoint,
  { open, close, inner, outer }: EmptyContainer,
): Splice {
  const isSpaced = outer.colon.endsWith(' ')
  const members = spellSettings(dialect, point, { ...outer, isMultiLine: false })
  const joined = members.join(isSpaced ? ', ' : ',')

  if (inner.trim() === '') {
    const isTight = point.container.kind === 'list' || (inner === '' && !isSpaced)
    return { start: open, end: close, text: isTight ? joined : ` ${joined} ` }
  }

  const afterComment = open + inner.trimEnd().length
  return { start: afterComment, end: afterComment, text: ` ${joined}` }
}

function fillOnLines(
  dialect: Dialect,
  point: InsertionPoint,
  { open, close, inner, outer, closing }: EmptyContainer,
): Splice {
  const lastBreak = /(\r\n|\r|\n)[ \t]*$/.exec(inner)
  const eol = lastBreak?.[1] ?? outer.eol
  const layout = { ...outer, isMultiLine: true, eol, indent: closing + outer.unit }
  const gap = eol + layout.indent
  const lines = gap + spellSettings(dialect, point, layout).join(`,${gap}`)
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
function insertAtStart(dialect: Dialect, parsed: ParsedText, point: InsertionPoint): Splice {
  const { container } = point
  const first = container.members[0]!
  const layout = layoutOf(parsed, first)
  const gap = layout.isMultiLine
    ? layout.eol + layout.indent
    : separatorBefore(parsed.text, first).text
  const members = spellSettings(dialect, point, layout).map((one) => `${one},`)
  const start = container.start + 1
  const text = layout.isMultiLine
    ? members.map((one) => gap + one).join('')
    : members.map((one) => one + gap).join('')

  return { start, end: start, text }
}

/** Inserts after a member, with the separators of its container. */
function insertAfter(
  dialect: Dialect,
  parsed: ParsedText,
  point: InsertionPoint,
  after: Member,
): Splice[] {
  const { text } = parsed
  const tail = findTail(dialect, text, after.end)
  const layout = { ...layoutOf(parsed, after), eol: eolAt(text, tail.end) }
  const members = spellSettings(dialect, point, layout)

  const separator = separatorBefore(text, after)
  const afterTail = { start: tail.end, end: tail.end }

  if (separator.isCommaFirst && tail.comma === undefined) {
    return [
      { ...afterTail, text: members.map((one) => layout.eol + separator.text + one).join('') },
    ]
  }

  const hasTail = tail.end > (tail.comma === undefined ? after.end : tail.comma + 1)
  const indent = layout.isMultiLine ? layout.indent : layout.indent + layout.unit
  // After a line comment, the new member needs a new line.
  const isOnNewLine = layout.isMultiLine || (hasTail && tail.endsLine)
  const gap = isOnNewLine ? layout.eol + indent : separator.text
  const joined = gap + members.join(`,${gap}`)
  if (tail.comma !== undefined) return [{ ...afterTail, text: `${joined},` }]

  return [
    { start: after.end, end: after.end, text: ',' },
    { ...afterTail, text: joined },
  ]
}

const oneLine: MemberLayout = {
  isMultiLine: false,
  eol: '\n',
  unit: '  ',
  indent: '',
  colon: ': ',
  isUnquoted: false,
}

/** The layout of a member's container, derived from its text. */
function layoutOf({ text, containers }: ParsedText, member: Member): MemberLayout {
  const { container, start } = member
  const previous = container.members[container.members.indexOf(member) - 1]
  const gap = text.slice(previous?.end ?? container.start + 1, start)
  // An element has no colon, but its members may have one.
  const sample = container.kind === 'list' ? (member.inside?.members[0] ?? member) : member
  const key = text.slice(sample.start, sample.valueStart)

  return {
    isMultiLine: /[\r\n]/.test(gap),
    eol: eolAt(text, start),
    unit: indentUnit(text, containers[0]!.members),
    indent: indentAt(text, start),
    colon: /[ \t]*:[ \t]*$/.exec(key)?.[0] ?? ': ',
    isUnquoted: /^[^"']/.test(key),
  }
}

function indentUnit(text: string, members: readonly Member[]): string {
  const indents = members.map(({ start }) => text.slice(lineStart(text, start), start))
  return indents.find((indent) => /^[ \t]+$/.test(indent)) ?? '  '
}

/** The separator before a member: `, ` on one line, or comma and blanks at the start of a line. */
function separatorBefore(text: string, member: Member): { isCommaFirst: boolean; text: string } {
  const { members, start } = member.container
  const position = Math.max(1, members.indexOf(member))
  const [previous, next] = [members[position - 1], members[position]]

  if (previous && next) {
    const gap = text.slice(previous.end, next.start)
    const lineStartText = text.slice(lineStart(text, next.start), next.start)
    if (/^[ \t]*,[ \t]*$/.test(lineStartText) && /[\r\n]/.test(gap))
      return { isCommaFirst: true, text: lineStartText }
    if (/^,[ \t]*$/.test(gap)) return { isCommaFirst: false, text: gap.slice(1) }
  }

  const isTight = text.slice(start + 1, member.start) === '' && !/["'\w]: /.test(text)
  return { isCommaFirst: false, text: isTight ? '' : ' ' }
}
