import { type StructuredPatchHunk, structuredPatch } from 'diff'
import { dots, maskSecret, maskTellTale, printable } from '../text.ts'
import type { Bytes } from './plan.ts'
import { linesOf } from './revert.ts'

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
  const [old, fresh] = [before, after].map((bytes) =>
    bytes === null ? '' : new TextDecoder('utf-8').decode(bytes),
  ) as [string, string]
  const options = { context: 3, maxEditLength: 2_000 }
  const patch = structuredPatch(label, label, old, fresh, '', '', options)
  const body = (patch?.hunks ?? [replaced(old, fresh)]).flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines.map((line) => shown(line, secrets)),
  ])
  if (body.length === 0 || label === '') return body
  return [`--- ${before ? label : '/dev/null'}`, `+++ ${after ? label : '/dev/null'}`, ...body]
}

/** Of files that have little in common the whole is shown. */
function replaced(old: string, fresh: string): StructuredPatchHunk {
  const [oldLines, newLines] = [linesOf(old), linesOf(fresh)]
  return {
    oldStart: 1,
    oldLines: oldLines.length,
    newStart: 1,
    newLines: newLines.length,
    lines: [...oldLines.map((line) => `-${line}`), ...newLines.map((line) => `+${line}`)].flatMap(
      (line) =>
        line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file'],
    ),
  }
}

/** A line of a patch, whose first character is its sign. */
function shown(line: string, secrets: readonly string[]): string {
  const text = line.slice(1).replace(/\r$/, '').replaceAll('\t', '    ')
  return line.charAt(0) + printable(maskLine(text, secrets))
}

function range(start: number, length: number): string {
  return length === 1 ? `${start}` : `${length === 0 ? start - 1 : start},${length}`
}

/**
 * Masks `secrets` wherever they stand in `line`, and whatever looks like another secret: values of
 * keys that are called so, and tokens of well-known forms. A diff shows lines that are not ours.
 */
function maskLine(line: string, secrets: readonly string[]): string {
  let masked = line
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret !== '') masked = masked.replaceAll(secret, maskSecret(secret))
  }
  return maskTellTale(masked.replace(secretMember, `$<name>$<quote>${dots}$<quote>`))
}

const secretMember =
  /(?<name>\b[\w-]*(?:key|token|secret|password|authorization|credential)s?["']?\s*[:=]\s*)(?<quote>["'])(?!\.{4})(?:\\.|(?!\k<quote>).)+\k<quote>/gi
