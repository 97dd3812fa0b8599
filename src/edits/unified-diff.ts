import { printable } from '../text.ts'
import { diffLines, type Hunk, type Line, splitLines } from './lines.ts'
import { maskLine } from './mask.ts'
import type { Bytes } from './plan.ts'

const contextLines = 3

/** Beyond this many changed lines the whole file is shown as replaced. */
const maxChangedLines = 2_000

/**
 * A unified diff for a terminal: no escape characters, secrets masked. A line that differs only in a
 * secret, its line break or an invisible character is still shown as changed.
 *
 * @param label the file's name in the two head lines
 */
export function unifiedDiff(
  before: Bytes | null,
  after: Bytes | null,
  secrets: readonly string[],
  label = '',
): string[] {
  const old = linesOf(before)
  const fresh = linesOf(after)
  const hunks = diffLines(old.map(joined), fresh.map(joined), maxChangedLines) ?? [
    { oldStart: 0, oldEnd: old.length, newStart: 0, newEnd: fresh.length },
  ]
  if (hunks.length === 0) return []
  const show = (sign: string, line: Line) => [
    sign + printable(maskLine(line.content, secrets).replaceAll('\t', '    ')),
    ...(line.eol === '' ? ['\\ No newline at end of file'] : []),
  ]
  const body = groups(hunks).flatMap((group) => showGroup(group, old, fresh, show))
  const head =
    label === ''
      ? []
      : [`--- ${before ? label : '/dev/null'}`, `+++ ${after ? label : '/dev/null'}`]
  return [...head, ...body]
}

function linesOf(bytes: Bytes | null): Line[] {
  return bytes === null ? [] : splitLines(new TextDecoder('utf-8').decode(bytes))
}

function joined(line: Line): string {
  return line.content + line.eol
}

/** Hunks whose context would touch are shown together. */
function groups(hunks: readonly Hunk[]): Hunk[][] {
  const grouped: Hunk[][] = []
  for (const hunk of hunks) {
    const last = grouped.at(-1)
    if (last && hunk.oldStart - last.at(-1)!.oldEnd <= 2 * contextLines) last.push(hunk)
    else grouped.push([hunk])
  }
  return grouped
}

function showGroup(
  group: readonly Hunk[],
  old: readonly Line[],
  fresh: readonly Line[],
  show: (sign: string, line: Line) => string[],
): string[] {
  const first = group[0]!
  const last = group.at(-1)!
  const lead = Math.min(contextLines, first.oldStart)
  const oldStart = first.oldStart - lead
  const newStart = first.newStart - lead
  const oldEnd = Math.min(old.length, last.oldEnd + contextLines)
  const newEnd = last.newEnd + oldEnd - last.oldEnd
  const lines = [`@@ -${range(oldStart, oldEnd)} +${range(newStart, newEnd)} @@`]
  let line = oldStart
  for (const hunk of group) {
    for (const kept of old.slice(line, hunk.oldStart)) lines.push(...show(' ', kept))
    for (const gone of old.slice(hunk.oldStart, hunk.oldEnd)) lines.push(...show('-', gone))
    for (const added of fresh.slice(hunk.newStart, hunk.newEnd)) lines.push(...show('+', added))
    line = hunk.oldEnd
  }
  for (const kept of old.slice(line, oldEnd)) lines.push(...show(' ', kept))
  return lines
}

function range(start: number, end: number): string {
  const length = end - start
  return length === 1 ? `${start + 1}` : `${length === 0 ? start : start + 1},${length}`
}
