/**
 * Removes keys from a text, with their commas, and leaves every other byte as it is:
 *
 *     text                     without `b`
 *     { "a": 1, "b": 2 }       { "a": 1 }       the comma before the last member goes too
 *     { "b": 1, "a": 2 }       { "a": 2 }       otherwise the comma after it
 *     b = 1  # mine                             in TOML the whole line
 *     [b]                                       a table goes with its header and its keys
 *     x = 1
 */
import {
  Conflict,
  type Container,
  type Dialect,
  type Member,
  type ParsedText,
} from './dialects/dialect.ts'
import {
  filterMembers,
  findComma,
  findTail,
  memberAt,
  skipSpaces,
  startOffset,
  toIndexedPath,
} from './find.ts'
import { applySplices, lineAbove, lineRemoval, lineStart, type Splice } from './text.ts'
import type { SettingPath } from './types.ts'
import { isElement } from './values/elements.ts'
import { showPath, startsWith } from './values/paths.ts'
import { getValue } from './values/value-at-path.ts'
import type { Value } from './values/values.ts'

/**
 * Removes the values at `paths` from the text.
 *
 * @param options `withBlankLine` removes the blank line above a header too
 */
export function removeAll(
  dialect: Dialect,
  parsed: ParsedText,
  paths: readonly SettingPath[],
  { withBlankLine = false }: { readonly withBlankLine?: boolean } = {},
): string {
  const { text } = parsed
  const removed = new Set<Member>()
  const headers = new Set<Container>()

  for (const path of paths) {
    const member = memberAt(parsed, path)
    if (member) {
      for (const element of equalElements(parsed, path, member)) removed.add(element)
      continue
    }

    const value = getValue(parsed.root, path)
    if (Array.isArray(value)) {
      const reason = `${showPath(path)} is ${dialect.describeValue(value)}, not ${dialect.table}`
      throw new Conflict(reason, startOffset(parsed, path) ?? 0)
    }

    const indexedPath = toIndexedPath(parsed, path)
    const isBelow = (part: Container | Member) => startsWith(part.path, indexedPath)
    const isHeader = (container: Container) => container.kind === 'lines' && isBelow(container)
    for (const below of filterMembers(parsed, isBelow)) removed.add(below)
    for (const header of parsed.containers().filter(isHeader)) headers.add(header)
  }

  return applySplices(
    text,
    mergeOverlapping([
      ...[...headers].flatMap((header) => [
        lineRemoval(text, header.start, header.end),
        ...(withBlankLine ? blankLineAbove(text, header) : []),
      ]),
      ...[...removed].flatMap((member) => memberRemoval(dialect, text, member, removed)),
    ]),
  )
}

/** If the path is an element: all members of its list that are equal to it. Otherwise `member`. */
function equalElements({ root }: ParsedText, path: SettingPath, member: Member): readonly Member[] {
  const key = path.at(-1)
  if (typeof key !== 'object') return [member]
  const list = getValue(root, path.slice(0, -1)) as readonly Value[]
  return member.container.members.filter((_, index) => isElement(list[index]!, key))
}

/** The removal of the line above a header, if it is blank. */
function blankLineAbove(text: string, { start }: Container): readonly Splice[] {
  const line = lineStart(text, start)
  const above = lineAbove(text, line)
  return isBlank(text.slice(above, line)) ? [lineRemoval(text, above, above)] : []
}

/**
 * Removes a member with the comma after it. The last member is removed with the comma after the last
 * member that stays. So the commas are right, whichever members are removed. Otherwise only blanks are
 * removed.
 */
function memberRemoval(
  dialect: Dialect,
  text: string,
  member: Member,
  removed: ReadonlySet<Member>,
): Splice[] {
  const { container, start, end } = member
  if (container.kind === 'lines') return [lineRemoval(text, start, end)]

  const tail = findTail(dialect, text, end)
  const comma = findComma(dialect, text, end)
  // A comment after a key belongs to the key. After an element, it may be about the whole list.
  const isWholeLine =
    tail.endsLine &&
    isBlank(beforeOnLine(text, member)) &&
    (container.kind === 'object' || !tail.hasComment)
  const removal: MemberRemoval = { member, tail, isWholeLine }

  return comma === undefined
    ? removeLast(dialect, text, removal, removed)
    : removeWithComma(text, removal, comma)
}

interface MemberRemoval {
  readonly member: Member
  readonly tail: ReturnType<typeof findTail>
  /** The line has nothing else, except a comma and a comment about the member. */
  readonly isWholeLine: boolean
}

/** Removes a member that a comma follows. */
function removeWithComma(
  text: string,
  { member, tail, isWholeLine }: MemberRemoval,
  comma: Splice,
): Splice[] {
  const { container, start, end } = member
  if (isWholeLine && tail.comma !== undefined) return [lineRemoval(text, start, tail.end)]

  if (tail.endsLine && tail.comma !== undefined && !tail.hasComment) {
    const before = beforeOnLine(text, member)
    return [{ start: start - before.length + before.trimEnd().length, end: comma.end, text: '' }]
  }

  const next = container.members[container.members.indexOf(member) + 1]
  const untilNext = { start: end, end: next?.start ?? end, text: '' }
  if (isPlainComma(text, untilNext)) return [{ ...untilNext, start }]

  return [includeSpaces(text, { start, end, text: '' }), includeSpaces(text, comma)]
}

/** Removes the last member, and the comma after the last member that stays. */
function removeLast(
  dialect: Dialect,
  text: string,
  { member, tail, isWholeLine }: MemberRemoval,
  removed: ReadonlySet<Member>,
): Splice[] {
  const { container, start, end } = member
  const memberOnly = isWholeLine
    ? lineRemoval(text, start, tail.end)
    : includeSpaces(text, { start, end, text: '' })

  const { members } = container
  const lastIndex = members.findLastIndex((candidate) => !removed.has(candidate))
  const last = members[lastIndex]
  const following = members[lastIndex + 1]
  const commaBefore = last && following && findComma(dialect, text, last.end)
  if (!commaBefore) return [memberOnly]

  const gap = { start: last.end, end: following.start, text: '' }
  if (isWholeLine || !isPlainComma(text, gap)) return [memberOnly, commaBefore]

  // The blank before the closing brace stays, so that the other members are formatted as before.
  const isAtBrace = isBlank(text.slice(end, container.end - 1))
  return [isAtBrace ? { start, end, text: '' } : memberOnly, gap]
}

function isPlainComma(text: string, { start, end }: Splice): boolean {
  return /^\s*,\s*$/.test(text.slice(start, end))
}

function beforeOnLine(text: string, { start }: Member): string {
  return text.slice(lineStart(text, start), start)
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function includeSpaces(text: string, splice: Splice): Splice {
  return { ...splice, end: skipSpaces(text, splice.end) }
}

/** Removals may overlap: two keys on one line, or the last lines of a file without a final break. */
function mergeOverlapping(removals: readonly Splice[]): Splice[] {
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
