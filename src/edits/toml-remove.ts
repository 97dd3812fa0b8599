import type { KeyPath } from './plan.ts'
import { applySplices, lineEnd, lineRemoval, lineStart, type Splice } from './text.ts'
import { entryAt, headerAt, refuseBlockedPath } from './toml-find.ts'
import type { TomlEntry, TomlText } from './toml-parse.ts'
import { isTable, startsWith, valueAt } from './values.ts'

export function removeKey(parsed: TomlText, path: KeyPath): string {
  const { text } = parsed
  const entry = entryAt(parsed, path)
  if (entry?.inline !== undefined)
    return applySplices(text, inlineRemoval(text, entry, entry.inline))
  if (entry !== undefined) {
    return applySplices(text, [lineRemoval(text, entry.start, entry.valueEnd)])
  }
  const below = parsed.entries.filter((candidate) => startsWith(candidate.path, path))
  const inline = below.find((candidate) => candidate.inline !== undefined)
  if (inline?.inline && !startsWith(inline.inline.path, path)) {
    return applySplices(text, inlineRemoval(text, inline, inline.inline))
  }
  refuseBlockedPath(parsed, isTable(valueAt(parsed.root, path)) ? path.slice(0, -1) : path)
  const whole = below.filter((candidate) => candidate.inline === undefined)
  const headers = parsed.headers.filter((header) => startsWith(header.path, path))
  return applySplices(
    text,
    joinRemovals([
      ...whole.map((candidate) => lineRemoval(text, candidate.start, candidate.valueEnd)),
      ...headers.map((header) => lineRemoval(text, header.start, header.end)),
    ]),
  )
}

export function removeEmptyTable(parsed: TomlText, path: KeyPath, withBlankLine: boolean): string {
  if (entryAt(parsed, path) !== undefined) return removeKey(parsed, path)
  const { text } = parsed
  const header = headerAt(parsed, path)
  if (header === undefined) return text
  const own = lineRemoval(text, header.start, header.end)
  const above = lineStart(text, header.start)
  const start = above === 0 ? 0 : lineStart(text, above - 1)
  const isBlankAbove = above > 0 && text.slice(start, above).trim() === ''
  return applySplices(
    text,
    withBlankLine && isBlankAbove
      ? [{ ...own, start: Math.min(own.start, lineRemoval(text, start, start).start) }]
      : [own],
  )
}

function inlineRemoval(text: string, entry: TomlEntry, table: TomlEntry): Splice[] {
  const siblings = table.children ?? []
  const position = siblings.indexOf(entry)
  const next = siblings[position + 1]
  const previous = siblings[position - 1]
  if (next && isPlainComma(text.slice(entry.valueEnd, next.start))) {
    return [{ start: entry.start, end: next.start, text: '' }]
  }
  if (previous && isPlainComma(text.slice(previous.valueEnd, entry.start))) {
    return [{ start: previous.valueEnd, end: entry.valueEnd, text: '' }]
  }
  const own = { start: entry.start, end: entry.valueEnd, text: '' }
  const commaAfter = commaIn(text, entry.valueEnd, next?.start ?? table.valueEnd)
  if (commaAfter !== undefined) return [own, commaAfter]
  const commaBefore = previous && commaIn(text, previous.valueEnd, entry.start)
  if (commaBefore) return [own, commaBefore]
  return [{ ...own, end: entry.valueEnd + /^[ \t]*/.exec(text.slice(entry.valueEnd))![0].length }]
}

function isPlainComma(gap: string): boolean {
  return /^[ \t]*,[ \t]*$/.test(gap)
}

/** The comma between two offsets, outside of comments. */
function commaIn(text: string, from: number, to: number): Splice | undefined {
  for (let offset = from; offset < to; offset++) {
    if (text[offset] === '#') offset = lineEnd(text, offset).content
    else if (text[offset] === ',') return { start: offset, end: offset + 1, text: '' }
  }
  return undefined
}

/** Removals of neighbouring lines may overlap at the end of a file without a final line break. */
function joinRemovals(removals: readonly Splice[]): Splice[] {
  const joined: Splice[] = []
  for (const removal of removals.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last && removal.start <= last.end) {
      joined[joined.length - 1] = { ...last, end: Math.max(last.end, removal.end) }
    } else {
      joined.push(removal)
    }
  }
  return joined
}
