import {
  Conflict,
  type Container,
  type Content,
  type Dialect,
  type IndexedPath,
  type Member,
  type MemberLayout,
  membersOf,
  type ParsedText,
  type Setting,
} from './dialects/dialect.ts'
import { findTail, memberAt, refuseNonTable, startOffset, toIndexedPath } from './find.ts'
import type { SettingPath } from './plan.ts'
import {
  applySplices,
  eolAt,
  indentAt,
  lineAbove,
  lineEnd,
  lineStart,
  type Splice,
} from './text.ts'
import { isValueTable, pathText, plainKey, showPath, valueAt } from './values.ts'

/** Where keys go that are not there yet. */
interface Site {
  readonly container: Container
  /** They stand behind it; undefined: the container has no member. */
  readonly after: Member | undefined
  /** They stand before all members of a list. */
  readonly isFirst?: boolean
  /**
   * Beside keys that begin as they do, which stand anywhere in the container, and with dots as they; else
   * at its end, with braces within braces where a key has several parts.
   */
  readonly isBeside: boolean
  /** Paths from the container on. */
  readonly settings: { readonly path: readonly string[]; readonly content: Content }[]
}

/**
 * The text with all `settings` made.
 *
 * @param removed what will go after that: what is new keeps away from it where it can
 * @throws Conflict where a setting leads through something that is no table
 */
export function setAll(
  dialect: Dialect,
  parsed: ParsedText,
  settings: readonly Setting[],
  removed: readonly SettingPath[],
): string {
  const splices: Splice[] = []
  const sites: Site[] = []
  const homeless: Setting[] = []
  const places = new Places(parsed, removed)
  for (const setting of settings) {
    const member = memberAt(parsed, setting.path)
    if (member) {
      const text = dialect.spell(setting.content, layoutOf(parsed, member))
      splices.push({ start: member.valueStart, end: member.end, text })
      continue
    }

    refuseNonTable(dialect, parsed, setting.path)
    refuseParts(parsed, setting.path)
    const site = siteOf(parsed, setting, places)
    const known = sites.find((one) => site && isSameSite(one, site))
    if (site === undefined) homeless.push(setting)
    else if (known) known.settings.push(...site.settings)
    else sites.push(site)
  }

  // What stands beside its like comes before what stands at the end.
  const inOrder = sites.toSorted((a, b) => Number(b.isBeside) - Number(a.isBeside))
  splices.push(...inOrder.flatMap((site) => insertions(dialect, parsed, site)))
  const text = applySplices(parsed.text, splices)
  return homeless.length === 0 ? text : text + dialect.spellAtEnd(text, homeless)
}

function isSameSite(a: Site, b: Site): boolean {
  return (
    a.container === b.container &&
    a.after === b.after &&
    a.isBeside === b.isBeside &&
    a.isFirst === b.isFirst
  )
}

/** A table or a list that is written in several places cannot be replaced by one value. */
function refuseParts(parsed: ParsedText, path: SettingPath): void {
  const whole = typeof path.at(-1) === 'object' ? path.slice(0, -1) : path
  const value = valueAt(parsed.root, whole)
  if (value === undefined || memberAt(parsed, whole)) return
  const reason = `${showPath(whole)} is ${isValueTable(value) ? 'a table' : 'a list'}, not a single value`
  throw new Conflict(reason, startOffset(parsed, whole) ?? 0)
}

function siteOf(parsed: ParsedText, { path, content }: Setting, places: Places): Site | undefined {
  const atEndOf = (container: Container, rest: readonly string[]): Site => ({
    container,
    after: places.lastStaying(container),
    isBeside: false,
    settings: [{ path: rest, content }],
  })
  const last = path.at(-1)
  if (typeof last === 'object') {
    const list = memberAt(parsed, path.slice(0, -1))!.inside!
    return { ...atEndOf(list, []), isFirst: last.isFirst === true }
  }

  const keys = toIndexedPath(parsed, path)
  for (let length = keys.length - 1; length >= 0; length--) {
    const table = keys.slice(0, length)
    const rest = path.slice(length).map(plainKey)
    const container = places.containerAt(table)
    if (container && container.kind !== 'lines') return atEndOf(container, rest)

    const after = places.lastDottedInto(table)
    if (after) {
      const settings = [{ path: path.slice(after.container.path.length).map(plainKey), content }]
      return { container: after.container, after, isBeside: true, settings }
    }
    if (container && rest.length === 1) return atEndOf(container, rest)
  }

  return undefined
}

/** Where things are in a text, found once for all settings: a picker may have thousands. */
class Places {
  readonly #containers = new Map<string, Container>()
  /** For each table that keys of a table around it lead into with dots, the last such key. */
  readonly #dottedInto = new Map<string, Member>()
  readonly #lastStaying = new Map<Container, Member | undefined>()
  readonly #gone: ReadonlySet<string>

  constructor(parsed: ParsedText, removed: readonly SettingPath[]) {
    this.#gone = new Set(removed.map((path) => pathText(toIndexedPath(parsed, path))))
    for (const container of parsed.containers) {
      const text = pathText(container.path)
      if (!this.#containers.has(text)) this.#containers.set(text, container)
      for (const member of container.members)
        for (let length = container.path.length + 1; length <= member.path.length; length++)
          this.#dottedInto.set(pathText(member.path.slice(0, length)), member)
    }
  }

  containerAt(path: IndexedPath): Container | undefined {
    return this.#containers.get(pathText(path))
  }

  lastDottedInto(table: IndexedPath): Member | undefined {
    return this.#dottedInto.get(pathText(table))
  }

  /** The last member of a container that is not removed; if all are, the last one. */
  lastStaying(container: Container): Member | undefined {
    if (!this.#lastStaying.has(container)) {
      const isGone = ({ path }: Member) =>
        path.some((_, index) => this.#gone.has(pathText(path.slice(0, index + 1))))
      const { members } = container
      this.#lastStaying.set(container, members.findLast((one) => !isGone(one)) ?? members.at(-1))
    }
    return this.#lastStaying.get(container)
  }
}

function insertions(dialect: Dialect, parsed: ParsedText, site: Site): Splice[] {
  const { container, after } = site
  if (container.kind === 'lines') return [newLines(dialect, parsed, site)]
  if (after === undefined) return [firstMembers(dialect, parsed, site)]
  if (site.isFirst) return [beforeMembers(dialect, parsed, site)]
  if (container.kind === 'inline') {
    const text = spelled(dialect, site, layoutOf(parsed, after))
      .map((one) => `, ${one}`)
      .join('')
    return [{ start: after.end, end: after.end, text }]
  }

  return furtherMembers(dialect, parsed, site, after)
}

function spelled(
  dialect: Dialect,
  { container, settings, isBeside }: Site,
  layout: MemberLayout,
): string[] {
  if (container.kind === 'list')
    return settings.map(({ content }) => dialect.spell(content, layout))
  if (isBeside)
    return settings.map(({ path, content }) =>
      dialect.spellMember(path, dialect.spell(content, layout), layout),
    )

  return [...membersOf(settings)].map(([key, content]) =>
    dialect.spellMember([key], dialect.spell(content, layout), layout),
  )
}

/** Lines of their own, behind a key of the same table or behind its header. */
function newLines(dialect: Dialect, parsed: ParsedText, site: Site): Splice {
  const { text } = parsed
  const { container, after } = site
  if (after === undefined && container.path.length === 0)
    return firstRootLines(dialect, parsed, site)

  const anchor = after ?? container
  const { content, next } = lineEnd(text, anchor.end)
  const eol = eolAt(text, anchor.end)
  const indent = indentAt(text, anchor.start)
  const lines = spelled(dialect, site, oneLine).map((line) => indent + line)
  const added = lines.map((line) => (next > content ? line + eol : eol + line)).join('')
  return { start: next, end: next, text: added }
}

function firstRootLines(dialect: Dialect, parsed: ParsedText, site: Site): Splice {
  const { text } = parsed
  const lines = spelled(dialect, site, oneLine)
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

/** Into braces or brackets that hold no member, only blanks or comments. */
function firstMembers(dialect: Dialect, parsed: ParsedText, site: Site): Splice {
  const { text } = parsed
  const { container } = site
  const { owner } = container
  const [open, close] = [container.start + 1, container.end - 1]
  const inner = text.slice(open, close)

  const outer = owner
    ? layoutOf(parsed, owner)
    : { ...oneLine, isMultiLine: true, eol: eolAt(text, close) }
  const closing = owner ? outer.indent : indentAt(text, container.start)
  const inside = { open, close, inner, outer, closing }

  const isMultiLine = /[\r\n]/.test(inner) || (outer.isMultiLine && container.kind === 'object')
  return isMultiLine ? firstLines(dialect, site, inside) : firstOnLine(dialect, site, inside)
}

/** What stands between braces or brackets that hold no member. */
interface EmptyInside {
  /** Offsets behind what opens them and of what closes them, and the text between. */
  readonly open: number
  readonly close: number
  readonly inner: string
  /** How the member is laid out whose value they are. */
  readonly outer: MemberLayout
  /** What stands before the closing brace on a line of its own. */
  readonly closing: string
}

function firstOnLine(
  dialect: Dialect,
  site: Site,
  { open, close, inner, outer }: EmptyInside,
): Splice {
  const isSpaced = outer.colon.endsWith(' ')
  const members = spelled(dialect, site, { ...outer, isMultiLine: false })
  const joined = members.join(isSpaced ? ', ' : ',')

  if (inner.trim() === '') {
    const isTight = site.container.kind === 'list' || (inner === '' && !isSpaced)
    return { start: open, end: close, text: isTight ? joined : ` ${joined} ` }
  }

  const behindComment = open + inner.trimEnd().length
  return { start: behindComment, end: behindComment, text: ` ${joined}` }
}

function firstLines(
  dialect: Dialect,
  site: Site,
  { open, close, inner, outer, closing }: EmptyInside,
): Splice {
  const lastBreak = /(\r\n|\r|\n)[ \t]*$/.exec(inner)
  const eol = lastBreak?.[1] ?? outer.eol
  const layout = { ...outer, isMultiLine: true, eol, indent: closing + outer.unit }
  const gap = eol + layout.indent
  const lines = gap + spelled(dialect, site, layout).join(`,${gap}`)
  const closingLine = eol + closing

  if (inner.trim() === '') return { start: open, end: close, text: lines + closingLine }
  if (lastBreak !== null) {
    const beforeBreak = open + lastBreak.index
    return { start: beforeBreak, end: beforeBreak, text: lines }
  }

  const behindComment = open + inner.trimEnd().length
  return { start: behindComment, end: behindComment, text: lines + closingLine }
}

/** Right behind the bracket: what is said above the first element stays with it. */
function beforeMembers(dialect: Dialect, parsed: ParsedText, site: Site): Splice {
  const { container } = site
  const first = container.members[0]!
  const layout = layoutOf(parsed, first)
  const gap = layout.isMultiLine
    ? layout.eol + layout.indent
    : separatorBefore(parsed.text, first).text
  const members = spelled(dialect, site, layout).map((one) => `${one},`)
  const start = container.start + 1
  const text = layout.isMultiLine
    ? members.map((one) => gap + one).join('')
    : members.map((one) => one + gap).join('')

  return { start, end: start, text }
}

/** Behind `after`, in the way in which this container separates its members. */
function furtherMembers(dialect: Dialect, parsed: ParsedText, site: Site, after: Member): Splice[] {
  const { text } = parsed
  const tail = findTail(dialect, text, after.end)
  const layout = { ...layoutOf(parsed, after), eol: eolAt(text, tail.end) }
  const members = spelled(dialect, site, layout)

  const separator = separatorBefore(text, after)
  const behind = { start: tail.end, end: tail.end }
  if (separator.isCommaFirst && tail.comma === undefined) {
    return [{ ...behind, text: members.map((one) => layout.eol + separator.text + one).join('') }]
  }

  const isApart = tail.end > (tail.comma === undefined ? after.end : tail.comma + 1)
  const indent = layout.isMultiLine ? layout.indent : layout.indent + layout.unit
  // Behind a line comment only a new line will do.
  const isOnNewLine = layout.isMultiLine || (isApart && tail.endsLine)
  const gap = isOnNewLine ? layout.eol + indent : separator.text
  const joined = gap + members.join(`,${gap}`)
  if (tail.comma !== undefined) return [{ ...behind, text: `${joined},` }]
  return [
    { start: after.end, end: after.end, text: ',' },
    { ...behind, text: joined },
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

/** The layout of a member's container, as its lines show it. */
function layoutOf({ text, containers }: ParsedText, member: Member): MemberLayout {
  const { container, start } = member
  const previous = container.members[container.members.indexOf(member) - 1]
  const gap = text.slice(previous?.end ?? container.start + 1, start)
  // An element has no colon of its own, but its members may.
  const named = container.kind === 'list' ? (member.inside?.members[0] ?? member) : member
  const key = text.slice(named.start, named.valueStart)

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

/** What stands before a member: `, ` on one line, or comma and blanks at the start of a line. */
function separatorBefore(text: string, member: Member): { isCommaFirst: boolean; text: string } {
  const { members, start } = member.container
  const position = Math.max(1, members.indexOf(member))
  const [previous, next] = [members[position - 1], members[position]]
  if (previous && next) {
    const gap = text.slice(previous.end, next.start)
    const own = text.slice(lineStart(text, next.start), next.start)
    if (/^[ \t]*,[ \t]*$/.test(own) && /[\r\n]/.test(gap)) return { isCommaFirst: true, text: own }
    if (/^,[ \t]*$/.test(gap)) return { isCommaFirst: false, text: gap.slice(1) }
  }

  const isTight = text.slice(start + 1, member.start) === '' && !/["'\w]: /.test(text)
  return { isCommaFirst: false, text: isTight ? '' : ' ' }
}
