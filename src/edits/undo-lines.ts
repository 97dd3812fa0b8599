import { UserError } from '../errors.ts'
import type { Dialect, ParsedText } from './dialect.ts'
import { diffLines, type Hunk, type Line, splitLines } from './lines.ts'

/** Beyond this many changed lines a file counts as written anew. */
const maxChangedLines = 1_000

/**
 * Takes back our changes line by line, where our lines stand together as we wrote them.
 * A change is taken back only if the result is `isAllowed`.
 */
export function revertLines(
  dialect: Dialect,
  versions: { before: ParsedText; written: ParsedText; current: ParsedText },
  isAllowed: (parsed: ParsedText) => boolean,
  place: string,
): ParsedText {
  const before = splitLines(versions.before.text)
  const written = splitLines(versions.written.text)
  const hunks = diffLines(contents(before), contents(written), maxChangedLines)
  const keepsEols = hasSameEols(written, splitLines(versions.current.text))
  let parsed = versions.current
  for (const hunk of hunks ?? []) {
    const text = revertHunk(hunk, before, written, splitLines(parsed.text), keepsEols)
    const reverted = text === undefined ? undefined : tryParse(dialect, text, place)
    if (reverted && isAllowed(reverted)) parsed = reverted
  }
  return parsed
}

function revertHunk(
  hunk: Hunk,
  before: readonly Line[],
  written: readonly Line[],
  current: readonly Line[],
  keepsEols: boolean,
): string | undefined {
  const places = matchLines(contents(written), contents(current))
  const span = places && spanOf(hunk, places)
  if (span === undefined) return undefined
  const old = before.slice(hunk.oldStart, hunk.oldEnd)
  const eol = current[Math.max(0, span.start - 1)]?.eol || current[0]?.eol || '\n'
  const lines = [
    ...current.slice(0, span.start),
    ...old.map((line) => ({ content: line.content, eol: (keepsEols && line.eol) || eol })),
    ...current.slice(span.end),
  ]
  // The line above ours may have lost its line break to our edit, or got another one.
  const above = lines[span.start - 1]
  const aboveBefore = before[hunk.oldStart - 1]
  if (above && aboveBefore && keepsEols && places?.[hunk.newStart - 1] === span.start - 1)
    lines[span.start - 1] = { content: above.content, eol: aboveBefore.eol || above.eol }
  const text = lines
    .map((line, index) => line.content + (index < lines.length - 1 ? line.eol || eol : line.eol))
    .join('')
  // The final line break: as it is now, or, where it is still as we left it, as it was before.
  const isOurEnd = endsOpen(current) === endsOpen(written) && span.end === current.length
  return endsOpen(isOurEnd ? before : current) ? text.replace(/\r?\n$/, '') : text
}

/**
 * Whether the lines that are still there end as we left them: if not, the line breaks are new. Where
 * none tells, it is enough that the file still has line breaks of our kind.
 */
function hasSameEols(written: readonly Line[], current: readonly Line[]): boolean {
  const places = matchLines(contents(written), contents(current)) ?? []
  const pairs = written
    .map((line, index) => [line.eol, current[places[index] ?? -1]?.eol])
    .filter(([then, now]) => then && now)
  if (pairs.length > 0) return pairs.every(([then, now]) => then === now)
  const ours = written.map((line) => line.eol).filter((eol) => eol !== '')
  return ours.length === 0 || current.some((line) => ours.includes(line.eol))
}

/** The stretch of the current file that holds our lines. */
function spanOf(
  hunk: Hunk,
  places: readonly (number | undefined)[],
): { start: number; end: number } | undefined {
  if (hunk.newStart === hunk.newEnd) {
    const previous = places[hunk.newStart - 1]
    const start = previous === undefined ? places[hunk.newStart] : previous + 1
    if (start !== undefined) return { start, end: start }
    return places.length === 0 ? { start: 0, end: 0 } : undefined
  }
  const start = places[hunk.newStart]
  if (start === undefined) return undefined
  for (let line = hunk.newStart; line < hunk.newEnd; line++) {
    if (places[line] !== start + line - hunk.newStart) return undefined
  }
  return { start, end: start + hunk.newEnd - hunk.newStart }
}

/** For each old line, which new line it is. */
function matchLines(
  old: readonly string[],
  fresh: readonly string[],
): readonly (number | undefined)[] | undefined {
  const hunks = diffLines(old, fresh, maxChangedLines)
  if (hunks === undefined) return undefined
  const places: (number | undefined)[] = []
  let shift = 0
  let line = 0
  for (const hunk of hunks) {
    for (; line < hunk.oldStart; line++) places[line] = line + shift
    for (; line < hunk.oldEnd; line++) places[line] = undefined
    shift = hunk.newEnd - hunk.oldEnd
  }
  for (; line < old.length; line++) places[line] = line + shift
  return places
}

function tryParse(dialect: Dialect, text: string, place: string): ParsedText | undefined {
  try {
    return dialect.parse(text, place)
  } catch (cause) {
    if (cause instanceof UserError) return undefined
    throw cause
  }
}

function contents(lines: readonly Line[]): string[] {
  return lines.map((line) => line.content)
}

function endsOpen(lines: readonly Line[]): boolean {
  return lines.at(-1)?.eol === ''
}
