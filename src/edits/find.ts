/** Finds members, and the comments and commas next to them, in a parsed text. */
import {
  Conflict,
  type Container,
  type Dialect,
  type IndexedPath,
  type Member,
  type ParsedText,
} from './dialects/dialect.ts'
import type { Splice } from './text.ts'
import type { SettingPath } from './types.ts'
import { elementIndex } from './values/elements.ts'
import { PathMap, showPath, startsWith } from './values/paths.ts'
import { getValue } from './values/value-at-path.ts'
import { isValueTable } from './values/values.ts'

/** @throws Conflict if a key of the path is set twice */
export function memberAt(parsed: ParsedText, path: SettingPath): Member | undefined {
  const indexedPath = toIndexedPath(parsed, path)
  let member: Member | undefined
  for (let length = 1; length <= indexedPath.length; length++) {
    const members = membersByPath(parsed).get(indexedPath.slice(0, length)) ?? []
    const second = members[1]
    if (second !== undefined)
      throw new Conflict(`${showPath(second.path)} is set twice`, second.start)
    member = members[0]
  }
  return member
}

const memberIndexes = new WeakMap<ParsedText, PathMap<Member[]>>()

/** All members of a text by their path. Cached, because a picker may have thousands. */
function membersByPath(parsed: ParsedText): PathMap<Member[]> {
  const cached = memberIndexes.get(parsed)
  if (cached !== undefined) return cached

  const byPath = new PathMap<Member[]>()
  for (const container of parsed.containers())
    for (const member of container.members) {
      const members = byPath.get(member.path)
      if (members === undefined) byPath.set(member.path, [member])
      else members.push(member)
    }

  memberIndexes.set(parsed, byPath)

  return byPath
}

/** The source text of the value at `path`, or undefined if it is not a single piece of text. */
export function sourceAt(parsed: ParsedText, path: SettingPath): string | undefined {
  const member = memberAt(parsed, path)
  return member && parsed.text.slice(member.valueStart, member.end)
}

/** The offset of the key at `path`; for a table, of its header or its first key. */
export function startOffset(parsed: ParsedText, path: SettingPath): number | undefined {
  const member = memberAt(parsed, path)
  if (member !== undefined) return member.start

  const indexedPath = toIndexedPath(parsed, path)
  const isBelow = (part: Container | Member) => startsWith(part.path, indexedPath)
  const partsBelow = [...parsed.containers().filter(isBelow), ...filterMembers(parsed, isBelow)]
  const [firstStart] = partsBelow.map(({ start }) => start).toSorted((a, b) => a - b)
  return firstStart
}

/** Replaces list elements by their index in the text; -1 if the list does not contain the element. */
export function toIndexedPath({ root }: ParsedText, path: SettingPath): IndexedPath {
  return path.map((key, index) => {
    if (typeof key !== 'object') return key
    const list = getValue(root, path.slice(0, index))
    return Array.isArray(list) ? elementIndex(list, key) : -1
  })
}

export function filterMembers(parsed: ParsedText, matches: (member: Member) => boolean): Member[] {
  return parsed.containers().flatMap((container) => container.members.filter(matches))
}

/** @throws Conflict if a step of `path` goes through a value that is not a table (or list) */
export function refuseNonTable(dialect: Dialect, parsed: ParsedText, path: SettingPath): void {
  for (let length = 1; length < path.length; length++) {
    const table = path.slice(0, length)
    const value = getValue(parsed.root, table)
    if (value === undefined) return

    const needsList = typeof path[length] === 'object'
    const isExpected = needsList ? Array.isArray(value) : isValueTable(value)
    if (isExpected) continue

    const member = memberAt(parsed, table)
    const isOnItsLine = member === undefined || member.container.kind === 'lines'
    const offset = isOnItsLine ? startOffset(parsed, table) : member.valueStart
    const expected = needsList ? 'a list' : dialect.table
    throw new Conflict(
      `${showPath(table)} is ${dialect.describeValue(value)}, not ${expected}`,
      offset ?? 0,
    )
  }
}

/** The comma and the comments after a member, up to the end of its line. */
interface Tail {
  readonly end: number
  readonly comma: number | undefined
  readonly hasComment: boolean
  readonly endsLine: boolean
}

export function findTail(dialect: Dialect, text: string, offset: number): Tail {
  let end = offset
  let comma: number | undefined
  let hasComment = false

  for (;;) {
    const at = skipSpaces(text, end)
    const comment = commentAt(dialect, text, at)

    if (text[at] === ',') {
      comma = at
      end = at + 1
    } else if (comment > at) {
      hasComment = true
      end = comment
    } else {
      const endsLine = /[\r\n\u2028\u2029]/.test(text.charAt(at))
      return { end: endsLine ? at : end, comma, hasComment, endsLine }
    }
  }
}

/** Skips spaces and tabs. Another character always follows: at the latest the end of the container. */
export function skipSpaces(text: string, offset: number): number {
  return offset + text.slice(offset).search(/[^ \t]/)
}

/** The end of the comment that begins at `offset`, or `offset` itself if there is none. */
function commentAt({ comment }: Dialect, text: string, offset: number): number {
  comment.lastIndex = offset
  return comment.test(text) ? comment.lastIndex : offset
}

/** The next comma after an offset, if only blanks and comments precede it. */
export function findComma(dialect: Dialect, text: string, from: number): Splice | undefined {
  let offset = from
  while (text[offset] !== ',') {
    const isBlank = /\s/.test(text.charAt(offset))
    const next = isBlank ? offset + 1 : commentAt(dialect, text, offset)
    if (next === offset) return undefined
    offset = next
  }
  return { start: offset, end: offset + 1, text: '' }
}
