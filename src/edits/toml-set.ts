import { Conflict, type Content, type OldPlace, type ValueChange } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import {
  applySplices,
  endsWithBlankLine,
  eolAt,
  indentAt,
  lineEnd,
  lineStart,
  type Splice,
} from './text.ts'
import { entryAt, headerAt, offsetOf, refuseBlockedPath } from './toml-find.ts'
import type { TomlEntry, TomlText } from './toml-parse.ts'
import { nest, renderKey, renderToml } from './toml-render.ts'
import {
  isTable,
  leafPaths,
  samePath,
  showPath,
  startsWith,
  type Value,
  valueAt,
} from './values.ts'

/** A table that is no inline table is set and removed key by key. */
export function expandChange(
  parsed: TomlText,
  path: KeyPath,
  value: Value | undefined,
): readonly ValueChange[] {
  const there = valueAt(parsed.root, path)
  if (!isTable(value) || entryAt(parsed, path) !== undefined) return [{ path, value }]
  const wanted = leafPaths(value, path)
  const gone = isTable(there)
    ? leafPaths(there, path).filter((old) => !wanted.some((leaf) => samePath(leaf, old)))
    : []
  return [
    ...gone
      .filter((old) => old.length > path.length)
      .map((old) => ({ path: old, value: undefined })),
    ...wanted.map((leaf) => ({ path: leaf, value: valueAt(value, leaf.slice(path.length)) })),
  ]
}

export function setKey(parsed: TomlText, path: KeyPath, content: Content, old?: OldPlace): string {
  const source = 'source' in content ? content.source : renderToml(content.value)
  const entry = entryAt(parsed, path)
  if (entry !== undefined) {
    const splice = { start: entry.valueStart, end: entry.valueEnd, text: source }
    return applySplices(parsed.text, [splice])
  }
  refuseBlockedPath(parsed, path.slice(0, -1))
  if (valueAt(parsed.root, path) !== undefined) {
    const what = isTable(valueAt(parsed.root, path)) ? 'a table' : 'a list'
    throw new Conflict(`${showPath(path)} is ${what}, not a single value`, offsetOf(parsed, path))
  }
  const neighbour = old?.after && entryAt(parsed, old.after)
  return applySplices(parsed.text, [
    insertion(parsed, path, { source, trail: old?.trail ?? '' }, neighbour),
  ])
}

/** A value as it is to be written, and what follows it if it gets a line of its own. */
interface Spelled {
  readonly source: string
  readonly trail: string
}

function insertion(
  parsed: TomlText,
  path: KeyPath,
  spelled: Spelled,
  neighbour: TomlEntry | undefined,
): Splice {
  if (neighbour && startsWith(path, neighbour.base) && path.length > neighbour.base.length) {
    const isOwnTable = !isTableInside(parsed, neighbour.base, path)
    if (isOwnTable) return besideEntry(parsed.text, neighbour, path, spelled)
  }
  for (let length = path.length - 1; length >= 0; length--) {
    const place = insertionIn(parsed, path, length, spelled)
    if (place !== undefined) return place
  }
  return newTable(parsed.text, path, spelled)
}

/** Whether a table between `base` and the key has a place of its own. */
function isTableInside(parsed: TomlText, base: KeyPath, path: KeyPath): boolean {
  const parents = path.slice(0, -1).map((_, index) => path.slice(0, index + 1))
  return parents.some(
    (parent) =>
      parent.length > base.length &&
      (entryAt(parsed, parent) !== undefined || headerAt(parsed, parent) !== undefined),
  )
}

/** Where `path` goes if the table that its first `length` keys name has a place in the text. */
function insertionIn(
  parsed: TomlText,
  path: KeyPath,
  length: number,
  spelled: Spelled,
): Splice | undefined {
  const { text } = parsed
  const table = path.slice(0, length)
  const rest = path.slice(length)
  const entry = length > 0 ? entryAt(parsed, table) : undefined
  if (entry?.children) return insideInline(text, entry, entry.children, rest, spelled)

  const dotted = parsed.entries.findLast(
    (candidate) =>
      !candidate.header?.isInList &&
      candidate.base.length < length &&
      candidate.path.length > length &&
      startsWith(candidate.path, table),
  )
  if (dotted) return besideEntry(text, dotted, path, spelled)

  if (rest.length > 1) return undefined
  const line = `${renderKey(rest)} = ${spelled.source}${spelled.trail}`
  if (length === 0) return rootInsertion(parsed, line)
  const header = headerAt(parsed, table)
  if (header === undefined) return undefined
  const last = header.entries.at(-1)
  return last
    ? lineAfter(text, last.valueEnd, indentAt(text, last.start) + line)
    : lineAfter(text, header.end, indentAt(text, header.start) + line)
}

/** Directly after `entry`, in the same table. */
function besideEntry(text: string, entry: TomlEntry, path: KeyPath, spelled: Spelled): Splice {
  const line = `${renderKey(path.slice(entry.base.length))} = ${spelled.source}`
  return entry.inline
    ? { start: entry.valueEnd, end: entry.valueEnd, text: `, ${line}` }
    : lineAfter(text, entry.valueEnd, indentAt(text, entry.start) + line + spelled.trail)
}

function insideInline(
  text: string,
  entry: TomlEntry,
  children: readonly TomlEntry[],
  rest: KeyPath,
  spelled: Spelled,
): Splice {
  const member = `${renderKey(rest.slice(0, 1))} = ${nest(rest.slice(1), spelled.source)}`
  const last = children.at(-1)
  if (last) return { start: last.valueEnd, end: last.valueEnd, text: `, ${member}` }
  const start = entry.valueStart + 1
  const end = entry.valueEnd - 1
  return text.slice(start, end).trim() === ''
    ? { start, end, text: ` ${member} ` }
    : { start: end, end, text: ` ${member} ` }
}

function rootInsertion(parsed: TomlText, line: string): Splice {
  const { text } = parsed
  const last = parsed.rootEntries.at(-1)
  if (last) return lineAfter(text, last.valueEnd, indentAt(text, last.start) + line)
  const first = parsed.headers[0]
  if (first === undefined) {
    if (text === '') return { start: 0, end: 0, text: `${line}\n` }
    const gap = text.endsWith('\n') ? '' : eolAt(text, text.length)
    return {
      start: text.length,
      end: text.length,
      text: gap + line + (gap === '' ? eolAt(text, text.length) : ''),
    }
  }
  // A comment directly above a header belongs to it.
  let start = lineStart(text, first.start)
  while (start > 0) {
    const above = lineStart(text, start - 1)
    if (!text.slice(above, start).trimStart().startsWith('#')) break
    start = above
  }
  const eol = eolAt(text, start)
  return { start, end: start, text: line + eol + eol }
}

/** A new `[table]` at the end of the file, with its first key. */
function newTable(text: string, path: KeyPath, spelled: Spelled): Splice {
  const eol = eolAt(text, text.length)
  const block = `[${renderKey(path.slice(0, -1))}]${eol}${renderKey(path.slice(-1))} = ${spelled.source}${spelled.trail}`
  const end = text.length
  if (text === '') return { start: end, end, text: `${block}\n` }
  if (!text.endsWith('\n')) return { start: end, end, text: eol + eol + block }
  return { start: end, end, text: (endsWithBlankLine(text) ? '' : eol) + block + eol }
}

function lineAfter(text: string, offset: number, line: string): Splice {
  const { content, next } = lineEnd(text, offset)
  const eol = eolAt(text, offset)
  return next > content
    ? { start: next, end: next, text: line + eol }
    : { start: next, end: next, text: eol + line }
}
