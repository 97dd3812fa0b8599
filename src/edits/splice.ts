import {
  Conflict,
  type Content,
  type Dialect,
  type Holder,
  type Layout,
  type Member,
  membersOf,
  type ParsedText,
  type Place,
  type Setting,
} from './dialect.ts'
import type { KeyPath } from './plan.ts'
import {
  applySplices,
  eolAt,
  indentAt,
  lineEnd,
  lineRemoval,
  lineStart,
  type Splice,
} from './text.ts'
import { isTable, samePath, showPath, startsWith, valueAt } from './values.ts'

/** @throws Conflict where a key on the way stands twice */
export function memberAt(parsed: ParsedText, path: KeyPath): Member | undefined {
  const place = placeOf(parsed, path)
  let member: Member | undefined
  for (let length = 1; length <= place.length; length++) {
    const same = membersWhere(parsed, (one) => samePath(one.path, place.slice(0, length)))
    const second = same[1]
    if (second) throw new Conflict(`${showPath(second.path)} is set twice`, second.start)
    member = same[0]
  }
  return member
}

/** How the value at `path` is spelled, or undefined where it is no single piece of text. */
export function sourceAt(parsed: ParsedText, path: KeyPath): string | undefined {
  const member = memberAt(parsed, path)
  return member && parsed.text.slice(member.valueStart, member.end)
}

/** Where the key at `path` begins; of a table, its header or its first key. */
export function startOf(parsed: ParsedText, path: KeyPath): number | undefined {
  const member = memberAt(parsed, path)
  if (member) return member.start
  const place = placeOf(parsed, path)
  const below = [...linesOf(parsed), ...membersWhere(parsed, () => true)]
    .filter((one) => startsWith(one.path, place))
    .map((one) => one.start)
  return below.length === 0 ? undefined : Math.min(...below)
}

/** An element has an index in the text; one that its list does not hold has none that is there. */
function placeOf({ root }: ParsedText, path: KeyPath): Place {
  return path.map((key, index) => {
    if (typeof key !== 'object') return key
    const list = valueAt(root, path.slice(0, index))
    return Array.isArray(list) ? list.indexOf(key.element) : -1
  })
}

function membersWhere({ holders }: ParsedText, isMeant: (member: Member) => boolean): Member[] {
  return holders.flatMap((holder) => holder.members.filter(isMeant))
}

function linesOf({ holders }: ParsedText): Holder[] {
  return holders.filter(({ kind }) => kind === 'lines')
}

/** What stands at a place where a key has to go, and how it is called there. */
interface Site {
  readonly holder: Holder
  /** The new members stand behind it; undefined: the holder has none. */
  readonly after: Member | undefined
  /** Of these settings, from the holder on. */
  readonly settings: { readonly path: readonly string[]; readonly content: Content }[]
  /** A key with several parts is written with dots; else as braces within braces. */
  readonly isDotted: boolean
  /** Beside keys that begin as the new ones do, which stand anywhere in the holder. */
  readonly isBeside?: boolean
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
  removed: readonly KeyPath[] = [],
): string {
  const splices: Splice[] = []
  const sites: Site[] = []
  const homeless: Setting[] = []
  for (const setting of settings) {
    const member = memberAt(parsed, setting.path)
    if (member) {
      const text = dialect.spell(setting.content, layoutOf(parsed, member))
      splices.push({ start: member.valueStart, end: member.end, text })
      continue
    }
    refuseBlocked(dialect, parsed, setting.path)
    refuseNoMember(parsed, setting.path)
    const site = siteOf(parsed, setting, removed)
    const known = site && sites.find((one) => isSameSite(one, site))
    if (known) known.settings.push(...site.settings)
    else if (site) sites.push(site)
    else homeless.push(setting)
  }

  // What stands beside its like comes before what stands at the end.
  const inOrder = sites.toSorted(
    (a, b) => Number(b.isBeside ?? false) - Number(a.isBeside ?? false),
  )
  splices.push(...inOrder.flatMap((site) => insertions(dialect, parsed, site)))
  const text = applySplices(parsed.text, splices)
  return homeless.length === 0 ? text : text + dialect.spellAtEnd(text, homeless)
}

function isSameSite(a: Site, b: Site): boolean {
  return a.holder === b.holder && a.after === b.after && a.isBeside === b.isBeside
}

/** @throws Conflict where `path` leads through something that is no table, or is one itself */
export function refuseBlocked(dialect: Dialect, parsed: ParsedText, path: KeyPath): void {
  for (let length = 1; length < path.length; length++) {
    const table = path.slice(0, length)
    const value = valueAt(parsed.root, table)
    const isList = typeof path[length] === 'object'
    if (value === undefined) return
    if (isList ? Array.isArray(value) : isTable(value)) continue
    const member = memberAt(parsed, table)
    const isOnItsLine = member === undefined || member.holder.kind === 'lines'
    throw new Conflict(
      `${showPath(table)} is ${dialect.nameOf(value)}, not ${isList ? 'a list' : dialect.table}`,
      (isOnItsLine ? startOf(parsed, table) : member.valueStart) ?? 0,
    )
  }
}

/** A table or a list that is written in several places cannot be replaced by one value. */
function refuseNoMember(parsed: ParsedText, path: KeyPath): void {
  const last = path.at(-1)
  const whole = typeof last === 'object' ? path.slice(0, -1) : path
  const value = valueAt(parsed.root, whole)
  if (value === undefined || memberAt(parsed, whole)) return
  const what = isTable(value) ? 'a table' : 'a list'
  throw new Conflict(
    `${showPath(whole)} is ${what}, not a single value`,
    startOf(parsed, whole) ?? 0,
  )
}

function siteOf(
  parsed: ParsedText,
  { path, content }: Setting,
  removed: readonly KeyPath[],
): Site | undefined {
  const lastStaying = ({ members }: Holder) =>
    members.findLast(
      (one) => !removed.some((gone) => startsWith(one.path, placeOf(parsed, gone))),
    ) ?? members.at(-1)
  if (typeof path.at(-1) === 'object') {
    const holder = memberAt(parsed, path.slice(0, -1))?.inside
    return (
      holder && {
        holder,
        after: lastStaying(holder),
        settings: [{ path: [], content }],
        isDotted: false,
      }
    )
  }

  const keys = path as readonly string[]
  for (let length = keys.length - 1; length >= 0; length--) {
    const table = keys.slice(0, length)
    const holder = parsed.holders.find((one) => samePath(one.path, table))
    if (holder && holder.kind !== 'lines') {
      const settings = [{ path: keys.slice(length), content }]
      return { holder, after: lastStaying(holder), settings, isDotted: false }
    }

    const isDottedInto = (one: Member) =>
      one.holder.path.length < length && one.path.length > length && startsWith(one.path, table)
    const dotted = membersWhere(parsed, isDottedInto).at(-1)
    const home = dotted?.holder ?? (keys.length === length + 1 ? holder : undefined)
    if (home === undefined) continue
    const settings = [{ path: keys.slice(home.path.length), content }]
    return {
      holder: home,
      after: dotted ?? lastStaying(home),
      settings,
      isDotted: true,
      isBeside: dotted !== undefined,
    }
  }
  return undefined
}

function insertions(dialect: Dialect, parsed: ParsedText, site: Site): Splice[] {
  const { holder, after } = site
  if (holder.kind === 'lines') return [newLines(dialect, parsed, site)]
  if (after === undefined) return [firstMembers(dialect, parsed, site)]
  if (holder.kind === 'inline') {
    const text = spelled(dialect, site, layoutOf(parsed, after))
      .map((one) => `, ${one}`)
      .join('')
    return [{ start: after.end, end: after.end, text }]
  }
  return furtherMembers(dialect, parsed, site, after)
}

function spelled(dialect: Dialect, { holder, settings, isDotted }: Site, layout: Layout): string[] {
  if (holder.kind === 'list') return settings.map(({ content }) => dialect.spell(content, layout))
  if (isDotted)
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
  const { holder, after } = site
  if (after === undefined && holder.path.length === 0) return firstRootLines(dialect, parsed, site)
  const anchor = after ?? holder
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
  const header = linesOf(parsed)[1]
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
  while (start > 0) {
    const above = lineStart(text, start - 1)
    if (!text.slice(above, start).trimStart().startsWith('#')) break
    start = above
  }
  const eol = eolAt(text, start)
  return { start, end: start, text: lines.map((line) => line + eol).join('') + eol }
}

/** Into braces or brackets that hold no member, only blanks or comments. */
function firstMembers(dialect: Dialect, parsed: ParsedText, site: Site): Splice {
  const { text } = parsed
  const { holder } = site
  const { owner } = holder
  const open = holder.start + 1
  const close = holder.end - 1
  const inner = text.slice(open, close)
  const isBlank = inner.trim() === ''
  const outer =
    owner && holder.kind !== 'inline'
      ? layoutOf(parsed, owner)
      : { ...oneLine, isMultiLine: holder.kind === 'object', eol: eolAt(text, close) }
  const isMultiLine = /[\r\n]/.test(inner) || (outer.isMultiLine && holder.kind === 'object')
  const closing = owner ? outer.indent : indentAt(text, holder.start)
  const blanks = /(\r\n|\r|\n)[ \t]*$/.exec(inner)
  const layout = {
    ...outer,
    isMultiLine,
    eol: blanks?.[1] ?? outer.eol,
    indent: closing + outer.unit,
  }
  const members = spelled(dialect, site, layout)
  if (!isMultiLine) {
    const isTight = holder.kind === 'list' || (inner === '' && !outer.colon.endsWith(' '))
    const blank = isTight ? '' : ' '
    const joined = members.join(`,${outer.colon.endsWith(' ') ? ' ' : ''}`)
    if (isBlank) return { start: open, end: close, text: blank + joined + blank }
    const at = open + inner.trimEnd().length
    return { start: at, end: at, text: ` ${joined}` }
  }

  const gap = layout.eol + layout.indent
  const lines = gap + members.join(`,${gap}`)
  if (isBlank) return { start: open, end: close, text: lines + layout.eol + closing }
  const at = blanks ? open + blanks.index : open + inner.trimEnd().length
  return { start: at, end: at, text: blanks ? lines : lines + layout.eol + closing }
}

/** Behind `after`, in the way in which this holder separates its members. */
function furtherMembers(dialect: Dialect, parsed: ParsedText, site: Site, after: Member): Splice[] {
  const { text } = parsed
  const tail = tailOf(dialect, text, after.end)
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
  if (!isApart) return [{ ...behind, text: `,${joined}` }]
  return [
    { start: after.end, end: after.end, text: ',' },
    { ...behind, text: joined },
  ]
}

const oneLine: Layout = { isMultiLine: false, eol: '\n', unit: '  ', indent: '', colon: ': ' }

/** The layout of a member's holder, as its lines show it. */
function layoutOf({ text, holders }: ParsedText, member: Member): Layout {
  const { holder, start, valueStart } = member
  const previous = holder.members[holder.members.indexOf(member) - 1]
  const gap = text.slice(previous?.end ?? holder.start + 1, start)
  const key = text.slice(start, valueStart)
  return {
    isMultiLine: /[\r\n]/.test(gap),
    eol: eolAt(text, start),
    unit: indentUnit(text, holders[0]?.members ?? []),
    indent: indentAt(text, start),
    colon: /[ \t]*:[ \t]*$/.exec(key)?.[0] ?? ': ',
  }
}

function indentUnit(text: string, members: readonly Member[]): string {
  const indents = members.map(({ start }) => text.slice(lineStart(text, start), start))
  return indents.find((indent) => /^[ \t]+$/.test(indent)) ?? '  '
}

/** What stands before a member: `, ` on one line, or comma and blanks at the start of a line. */
function separatorBefore(text: string, member: Member): { isCommaFirst: boolean; text: string } {
  const { members, start } = member.holder
  const position = Math.max(1, members.indexOf(member))
  const [previous, next] = [members[position - 1], members[position]]
  if (previous && next) {
    const gap = text.slice(previous.end, next.start)
    const own = text.slice(lineStart(text, next.start), next.start)
    if (/^[ \t]*,[ \t]*$/.test(own) && /[\r\n]/.test(gap)) return { isCommaFirst: true, text: own }
    if (/^,[ \t]*$/.test(gap)) return { isCommaFirst: false, text: gap.slice(1) }
  }
  const isTight = text.slice(start + 1, member.start) === '' && !text.includes('": ')
  return { isCommaFirst: false, text: isTight ? '' : ' ' }
}

/**
 * The text without what stands at `paths`.
 *
 * @param withBlankLine the blank line above a header goes with it
 */
export function removeAll(
  dialect: Dialect,
  parsed: ParsedText,
  paths: readonly KeyPath[],
  withBlankLine = false,
): string {
  const { text } = parsed
  const removed = new Set<Member>()
  const headers = new Set<Holder>()
  for (const path of paths) {
    const member = memberAt(parsed, path)
    if (member) {
      for (const one of twinsOf(parsed, path, member)) removed.add(one)
      continue
    }
    refuseBlocked(dialect, parsed, path)
    const value = valueAt(parsed.root, path)
    if (Array.isArray(value)) {
      const reason = `${showPath(path)} is ${dialect.nameOf(value)}, not ${dialect.table}`
      throw new Conflict(reason, startOf(parsed, path) ?? 0)
    }
    const place = placeOf(parsed, path)
    const isBelow = (one: Holder | Member) => startsWith(one.path, place)
    const isMeant = (one: Member) =>
      isBelow(one) && (one.holder.kind === 'lines' || !isBelow(one.holder))
    for (const one of membersWhere(parsed, isMeant)) removed.add(one)
    for (const one of linesOf(parsed).filter(isBelow)) headers.add(one)
  }

  return applySplices(
    text,
    joined([
      ...[...headers].map((header) => headerRemoval(text, header, withBlankLine)),
      ...[...removed].flatMap((member) => memberRemoval(dialect, text, member, removed)),
    ]),
  )
}

/** An element goes as often as it stands in its list. */
function twinsOf({ root }: ParsedText, path: KeyPath, member: Member): readonly Member[] {
  const key = path.at(-1)
  const list = valueAt(root, path.slice(0, -1))
  if (typeof key !== 'object' || !Array.isArray(list)) return [member]
  return member.holder.members.filter((_, index) => list[index] === key.element)
}

function headerRemoval(text: string, { start, end }: Holder, withBlankLine: boolean): Splice {
  const own = lineRemoval(text, start, end)
  const line = lineStart(text, start)
  const above = lineStart(text, line - 1)
  const isBlankAbove = line > 0 && text.slice(above, line).trim() === ''
  if (!withBlankLine || !isBlankAbove) return own
  return { ...own, start: Math.min(own.start, lineRemoval(text, above, above).start) }
}

function memberRemoval(
  dialect: Dialect,
  text: string,
  member: Member,
  removed: ReadonlySet<Member>,
): Splice[] {
  const { holder, start, end } = member
  if (holder.kind === 'lines') return [lineRemoval(text, start, end)]

  const { members } = holder
  const position = members.indexOf(member)
  const next = members[position + 1]
  const staying = members.findLastIndex((one, index) => index < position && !removed.has(one))
  const previous = members[staying]
  const behindPrevious = members[staying + 1] ?? member
  const tail = tailOf(dialect, text, end)
  const before = text.slice(lineStart(text, start), start)
  const commaBefore = previous && commaIn(dialect, text, previous.end, behindPrevious.start)

  // What is said behind a key goes with it; behind an element it may be about the whole list.
  const isWholeLine = tail.endsLine && (holder.kind === 'object' || !tail.hasComment)
  if (isWholeLine && before.trim() === '' && (tail.comma !== undefined || !next)) {
    const line = lineRemoval(text, start, tail.end)
    return tail.comma === undefined && commaBefore ? [line, commaBefore] : [line]
  }
  if (isWholeLine && commaBefore && /^[ \t]*,[ \t]*$/.test(before)) {
    return [lineRemoval(text, start, tail.end)]
  }

  const gap = previous && { start: previous.end, end: behindPrevious.start, text: '' }
  const isGapPlain = gap && isPlainComma(text.slice(gap.start, gap.end))
  const isNextBelow = tail.endsLine && next && !removed.has(next)
  if (next && isPlainComma(text.slice(end, next.start)) && !(isGapPlain && isNextBelow)) {
    return [{ start, end: next.start, text: '' }]
  }
  const own = { start, end, text: '' }
  const commaAfter = commaIn(dialect, text, end, next?.start ?? holder.end)
  if (isGapPlain && (isNextBelow || !commaAfter)) return [own, gap]
  const rest = withBlanks(text, own)
  if (commaAfter) return [rest, withBlanks(text, commaAfter)]
  return commaBefore ? [rest, commaBefore] : [rest]
}

function isPlainComma(gap: string): boolean {
  return /^\s*,\s*$/.test(gap)
}

function withBlanks(text: string, splice: Splice): Splice {
  const blanks = /^[ \t]*/.exec(text.slice(splice.end))?.[0] ?? ''
  return { ...splice, end: splice.end + blanks.length }
}

/** What belongs to a member behind its end, up to the end of its line: comma and comments. */
interface Tail {
  readonly end: number
  readonly comma: number | undefined
  readonly hasComment: boolean
  readonly endsLine: boolean
}

function tailOf(dialect: Dialect, text: string, offset: number): Tail {
  let end = offset
  let comma: number | undefined
  let hasComment = false
  for (;;) {
    const at = end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0)
    const comment = commentAt(dialect, text, at)
    if (text[at] === ',' && comma === undefined) {
      comma = at
      end = at + 1
    } else if (comment > at) {
      hasComment = true
      end = comment
    } else {
      const endsLine = /[\r\n]/.test(text.charAt(at))
      return { end: endsLine ? at : end, comma, hasComment, endsLine }
    }
  }
}

/** Behind the comment that begins at `offset`; `offset` itself where none does. */
function commentAt({ comment }: Dialect, text: string, offset: number): number {
  comment.lastIndex = offset
  return comment.test(text) ? comment.lastIndex : offset
}

/** The first comma from an offset on, if only blanks and comments stand before it. */
function commaIn(dialect: Dialect, text: string, from: number, to: number): Splice | undefined {
  let offset = from
  while (offset < to) {
    if (text[offset] === ',') return { start: offset, end: offset + 1, text: '' }
    const comment = commentAt(dialect, text, offset)
    if (comment === offset && !/\s/.test(text.charAt(offset))) return undefined
    offset = Math.max(comment, offset + 1)
  }
  return undefined
}

/** Removals may overlap: two keys on one line, or the last lines of a file without a final break. */
function joined(removals: readonly Splice[]): Splice[] {
  const result: Splice[] = []
  for (const removal of removals.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last && removal.start <= last.end) {
      result[result.length - 1] = { ...last, end: Math.max(last.end, removal.end) }
    } else {
      result.push(removal)
    }
  }
  return result
}
