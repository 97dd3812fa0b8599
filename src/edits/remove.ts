import { Conflict, type Dialect, type Holder, type Member, type ParsedText } from './dialect.ts'
import {
  commaIn,
  lineHolders,
  memberAt,
  membersWhere,
  refuseBlocked,
  startOf,
  tailOf,
  toPlace,
} from './find.ts'
import type { KeyPath } from './plan.ts'
import { applySplices, lineRemoval, lineStart, type Splice } from './text.ts'
import { showPath, startsWith, valueAt } from './values.ts'

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
    const place = toPlace(parsed, path)
    const isBelow = (one: Holder | Member) => startsWith(one.path, place)
    const isMeant = (one: Member) =>
      isBelow(one) && (one.holder.kind === 'lines' || !isBelow(one.holder))
    for (const one of membersWhere(parsed, isMeant)) removed.add(one)
    for (const one of lineHolders(parsed).filter(isBelow)) headers.add(one)
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

/**
 * A member goes with one comma. In one holder it is the same for all: the one behind it (of the last
 * the one behind what stays), or, where lines begin with commas, the one before it (of the first the
 * one behind it). So there is never one too many, whichever members go. What is cut beside them holds
 * but blanks.
 */
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
  const isCommaFirst = staying >= 0 && members.some((one) => startsWithComma(text, one))
  const commaBehind = commaIn(dialect, text, end, next?.start ?? holder.end)
  const tail = tailOf(dialect, text, end)
  // What is said behind a key goes with it; behind an element it may be about the whole list.
  const isWholeLine = tail.endsLine && (holder.kind === 'object' || !tail.hasComment)

  const before = beforeOnLine(text, member)
  const own = { start, end, text: '' }
  if (isCommaFirst || !commaBehind) {
    const last = isCommaFirst ? position - 1 : staying
    const comma = commaBetween(dialect, text, members[last], members[last + 1])
    const line = lineRemoval(text, start, tail.end)
    const isAlone = isWholeLine && tail.comma === undefined
    if (isAlone && isCommaFirst && startsWithComma(text, member)) return [line]
    if (isAlone && isBlank(before)) return [line, ...comma]
    // What stands before the closing brace stays, so that what stays is spelled as before.
    const isLast = staying >= 0 && isBlank(text.slice(end, holder.end - 1))
    return [
      isLast ? own : withBlanks(text, own),
      ...comma.map((one) => withGap(text, one, members, last)),
    ]
  }

  const isInTail = tail.comma !== undefined
  if (isWholeLine && isInTail && isBlank(before)) return [lineRemoval(text, start, tail.end)]
  const isLastOnLine = isInTail && tail.endsLine && !tail.hasComment
  if (isLastOnLine && staying === position - 1) {
    return [{ start: start - blanksBehind(before), end: commaBehind.end, text: '' }]
  }
  const isPlain = next && isBlank(text.slice(end, next.start).replace(',', ''))
  if (isPlain) return [{ start, end: next.start, text: '' }]
  return [withBlanks(text, own), withBlanks(text, commaBehind)]
}

function commaBetween(dialect: Dialect, text: string, one?: Member, other?: Member): Splice[] {
  const comma = one && other && commaIn(dialect, text, one.end, other.start)
  return comma ? [comma] : []
}

/** With all that stands between two members, where that is but a comma and blanks. */
function withGap(text: string, comma: Splice, members: readonly Member[], at: number): Splice {
  const [start, end] = [members[at]?.end ?? comma.start, members[at + 1]?.start ?? comma.end]
  return isBlank(text.slice(start, end).replace(',', '')) ? { start, end, text: '' } : comma
}

function startsWithComma(text: string, member: Member): boolean {
  return /^[ \t]*,[ \t]*$/.test(beforeOnLine(text, member))
}

function beforeOnLine(text: string, { start }: Member): string {
  return text.slice(lineStart(text, start), start)
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function blanksBehind(text: string): number {
  return text.length - text.trimEnd().length
}

function withBlanks(text: string, splice: Splice): Splice {
  const blanks = /^[ \t]*/.exec(text.slice(splice.end))?.[0] ?? ''
  return { ...splice, end: splice.end + blanks.length }
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
