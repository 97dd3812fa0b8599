import { Conflict, type Dialect, type ParsedText } from './dialect.ts'
import { conflict, reparse } from './edit.ts'
import { type Bytes, type KeyPath, sameBytes } from './plan.ts'
import { decodeText, encodeText, endsWithBlankLine } from './text.ts'
import { revertLines } from './undo-lines.ts'
import {
  isTable,
  leafPaths,
  matches,
  sameValue,
  startsWith,
  type Value,
  type ValueTable,
  valueAt,
  withValue,
} from './values.ts'

export interface UndoVersions {
  readonly before: Bytes | null
  readonly written: Bytes | null
  readonly current: Bytes | null
}

export interface Undone {
  readonly bytes: Bytes | null
  readonly kept: readonly KeyPath[]
}

/** One of our keys that still has the value that we wrote, and what stood there before. */
interface Target {
  readonly path: KeyPath
  readonly old: Value | undefined
}

/**
 * The undo of both formats.
 *
 * First whole lines: where the lines that we changed are still as we wrote them, the old lines come
 * back as they were, with their blanks and comments. Then key by key, for files that were written
 * anew. Each step is judged by what the independent parser sees.
 */
export function undoWith(
  dialect: Dialect,
  versions: UndoVersions,
  paths: readonly KeyPath[],
  place: string,
): Undone {
  if (sameBytes(versions.current, versions.written)) return { bytes: versions.before, kept: [] }
  const before = parseVersion(dialect, versions.before, place)
  const written = parseVersion(dialect, versions.written, place)
  if (versions.current === null) {
    const changed = paths.filter(
      (path) => !sameValue(valueAt(before.root, path), valueAt(written.root, path)),
    )
    return { bytes: null, kept: changed }
  }
  const decoded = decodeText(versions.current, place)
  const current = dialect.parse(decoded.text, place)
  const { targets, kept } = judge(before.root, written.root, current.root, paths)
  try {
    const text = restore(dialect, { before, written, current }, targets, place)
    const isGone = versions.before === null && dialect.isBlank(dialect.parse(text, place))
    if (isGone) return { bytes: null, kept }
    const bytes = text === decoded.text ? versions.current : encodeText({ ...decoded, text })
    return { bytes, kept }
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw conflict(dialect, cause, current.text, [], place)
  }
}

function parseVersion(dialect: Dialect, bytes: Bytes | null, place: string): ParsedText {
  return dialect.parse(bytes === null ? '' : decodeText(bytes, place).text, place)
}

/** Which keys are still ours. Tables are looked at value by value, so that additions to them stay. */
function judge(
  before: ValueTable,
  written: ValueTable,
  current: ValueTable,
  paths: readonly KeyPath[],
): { targets: Target[]; kept: KeyPath[] } {
  const targets: Target[] = []
  const kept: KeyPath[] = []
  for (const path of paths.flatMap((path) => singlePaths(before, written, path))) {
    const old = valueAt(before, path)
    const now = valueAt(current, path)
    if (sameValue(now, old)) continue
    if (sameValue(now, valueAt(written, path))) targets.push({ path, old })
    else kept.push(path)
  }
  return { targets, kept }
}

function singlePaths(before: ValueTable, written: ValueTable, path: KeyPath): KeyPath[] {
  const leaves = [before, written].flatMap((root) => {
    const value = valueAt(root, path)
    return isTable(value) && Object.keys(value).length > 0 ? leafPaths(value, path) : []
  })
  if (leaves.length === 0) return [path]
  const isOneTable = [before, written].every((root) => {
    const value = valueAt(root, path)
    return value === undefined || isTable(value)
  })
  if (!isOneTable) return [path]
  const unique = new Map(leaves.map((leaf) => [JSON.stringify(leaf), leaf]))
  return [...unique.values()].filter(
    (leaf) => ![...unique.values()].some((other) => other !== leaf && startsWith(other, leaf)),
  )
}

function restore(
  dialect: Dialect,
  versions: { before: ParsedText; written: ParsedText; current: ParsedText },
  targets: readonly Target[],
  place: string,
): string {
  const { before, current } = versions
  const isAllowed = (parsed: ParsedText) => isPartlyUndone(parsed.root, current.root, targets)
  let parsed = revertLines(dialect, versions, isAllowed, place)
  for (const { path, old } of targets) {
    if (sameValue(valueAt(parsed.root, path), old)) continue
    const text =
      old === undefined ? dialect.remove(parsed, path) : putBack(dialect, before, parsed, path, old)
    parsed = reparse(dialect, text, parsed, path, place)
  }
  parsed = removeEmptied(dialect, before, parsed, targets, place)
  const isDone = targets.every(({ path, old }) => sameValue(valueAt(parsed.root, path), old))
  if (!isDone || !isAllowed(parsed)) throw new Conflict('the old values cannot be put back', 0)
  return parsed.text
}

function putBack(
  dialect: Dialect,
  before: ParsedText,
  parsed: ParsedText,
  path: KeyPath,
  old: Value,
): string {
  const source = dialect.sourceAt(before, path)
  const content = source === undefined ? { value: old } : { source }
  return dialect.set(parsed, path, content, dialect.placeOf(before, path))
}

/** Whether `root` is `current` with some of the targets back at their old values, and nothing else. */
function isPartlyUndone(
  root: ValueTable,
  current: ValueTable,
  targets: readonly Target[],
): boolean {
  let expected = current
  const removed: KeyPath[] = []
  for (const { path, old } of targets) {
    if (!sameValue(valueAt(root, path), old)) continue
    expected = withValue(expected, path, old)
    if (old === undefined) removed.push(path)
  }
  return matches(root, expected, removed)
}

/** A table that was there and empty before gets its old spelling back: `{}`. */
function emptyAgain(
  dialect: Dialect,
  before: ParsedText,
  parsed: ParsedText,
  path: KeyPath,
): string {
  const old = dialect.sourceAt(before, path)
  const now = dialect.sourceAt(parsed, path)
  const isBraces = (source?: string) => source !== undefined && /^\{\s*\}$/.test(source)
  return old !== undefined && isBraces(old) && isBraces(now)
    ? dialect.set(parsed, path, { source: old })
    : parsed.text
}

/** Takes out the tables that we opened and that hold nothing any more. */
function removeEmptied(
  dialect: Dialect,
  before: ParsedText,
  start: ParsedText,
  targets: readonly Target[],
  place: string,
): ParsedText {
  let parsed = start
  const withBlankLine = !endsWithBlankLine(before.text)
  for (const { path, old } of targets) {
    if (old !== undefined) continue
    for (let length = path.length - 1; length > 0; length--) {
      const table = path.slice(0, length)
      const value = valueAt(parsed.root, table)
      if (!isTable(value)) continue
      if (Object.keys(value).length > 0) break
      const text =
        valueAt(before.root, table) === undefined
          ? dialect.removeEmptyTable(parsed, table, withBlankLine)
          : emptyAgain(dialect, before, parsed, table)
      if (text !== parsed.text) parsed = dialect.parse(text, place)
    }
  }
  return parsed
}
