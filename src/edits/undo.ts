import { UserError } from '../errors.ts'
import { Conflict, type Dialect, type ParsedText } from './dialect.ts'
import { carryOut, conflict } from './edit.ts'
import { sourceAt } from './find.ts'
import { type Bytes, type KeyPath, sameBytes } from './plan.ts'
import { revertText, type Versions } from './revert.ts'
import { decodeText, encodeText, endsWithBlankLine } from './text.ts'
import {
  isEmpty,
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

export type UndoVersions = Versions<Bytes | null>

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
 * First what we changed comes back as it was, blanks and comments too, where it still stands as we
 * wrote it: whole lines, then words. What is left, in a file that was written anew, comes back key by
 * key. Each step is judged by what the independent parser sees.
 */
export function undoWith(
  dialect: Dialect,
  versions: UndoVersions,
  paths: readonly KeyPath[],
  place: string,
): Undone {
  if (sameBytes(versions.current, versions.written)) return { bytes: versions.before, kept: [] }
  const decoded = decodeText(versions.current ?? new Uint8Array(), place)
  const parse = (text: string) => dialect.parse(text, place)
  const [oldText, writtenText] = inLineBreaksOf(
    decoded.text,
    ...[versions.before, versions.written].map((bytes) =>
      bytes ? decodeText(bytes, place).text : '',
    ),
  )
  const [before, written] = [parse(oldText), parse(writtenText)]
  if (versions.current === null) {
    const isChanged = (path: KeyPath) =>
      !sameValue(valueAt(before.root, path), valueAt(written.root, path))
    return { bytes: null, kept: paths.filter(isChanged) }
  }

  const current = parse(decoded.text)
  const { targets, kept } = judge(before.root, written.root, current.root, paths)
  try {
    const { text } = restore(dialect, { before, written, current }, targets, place)
    if (versions.before === null && dialect.isBlank(text)) return { bytes: null, kept }
    const bytes = text === decoded.text ? versions.current : encodeText({ ...decoded, text })
    return { bytes, kept }
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw conflict(dialect, cause, current.text, [], place)
  }
}

/** Two versions in the line breaks of a third, where somebody has changed all of them since. */
function inLineBreaksOf(current: string, before = '', written = ''): [string, string] {
  const [now, then] = [current, written].map((text) => new Set(text.match(/\r?\n/g)))
  const [eol, other] = [...(now ?? [])]
  const isAnew =
    eol !== undefined && other === undefined && [...(then ?? [])].some((one) => one !== eol)
  return isAnew
    ? [before.replace(/\r?\n/g, eol), written.replace(/\r?\n/g, eol)]
    : [before, written]
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

/** `path`, or, where tables stand there, the paths of their values. */
function singlePaths(before: ValueTable, written: ValueTable, path: KeyPath): KeyPath[] {
  const values = [before, written].map((root) => valueAt(root, path))
  if (!values.every((value) => value === undefined || isTable(value))) return [path]
  const leaves = values.flatMap((value) => (isEmpty(value) ? [] : leafPaths(value, path)))
  const unique = new Map(leaves.map((leaf) => [JSON.stringify(leaf), leaf]))
  const all = [...unique.values()]
  return all.filter((leaf) => !all.some((other) => other !== leaf && startsWith(other, leaf)))
}

function restore(
  dialect: Dialect,
  texts: Versions<ParsedText>,
  targets: readonly Target[],
  place: string,
): ParsedText {
  const { before, current } = texts
  const isAllowed = (root: ValueTable) => isPartlyUndone(root, current.root, targets)
  const isDone = (root: ValueTable) =>
    targets.every(({ path, old }) => sameValue(valueAt(root, path), old)) && isAllowed(root)
  const tryText = (text: string) => tryParse(dialect, text, place, isAllowed)

  let parsed = revertText(texts, tryText) ?? current
  const left = targets.filter(({ path, old }) => !sameValue(valueAt(parsed.root, path), old))
  if (left.length > 0) {
    const settings = left.flatMap(({ path, old: value }) => {
      if (value === undefined) return []
      const source = sourceAt(before, path)
      return [{ path, content: source === undefined ? { value } : { source } }]
    })
    const removed = left.filter(({ old }) => old === undefined).map(({ path }) => path)
    parsed = carryOut(dialect, parsed, { settings, removed }, place, isDone)
  }
  return withoutEmptied(dialect, before, parsed, targets, place)
}

/** Whether `root` is `current` with some of the targets back at their old values, and nothing else. */
function isPartlyUndone(
  root: ValueTable,
  current: ValueTable,
  targets: readonly Target[],
): boolean {
  const undone = targets.filter(({ path, old }) => sameValue(valueAt(root, path), old))
  const expected = undone.reduce((so, { path, old }) => withValue(so, path, old), current)
  return matches(
    root,
    expected,
    undone.map(({ path }) => path),
  )
}

function tryParse(
  dialect: Dialect,
  text: string,
  place: string,
  isAllowed: (root: ValueTable) => boolean,
): ParsedText | undefined {
  try {
    const parsed = dialect.parse(text, place)
    return isAllowed(parsed.root) ? parsed : undefined
  } catch (cause) {
    if (cause instanceof UserError) return undefined
    throw cause
  }
}

/** Takes out the tables and lists that we opened and that hold nothing any more, comments neither. */
function withoutEmptied(
  dialect: Dialect,
  before: ParsedText,
  start: ParsedText,
  targets: readonly Target[],
  place: string,
): ParsedText {
  const withBlankLine = !endsWithBlankLine(before.text)
  let parsed = start
  for (const { path, old } of targets) {
    if (old !== undefined) continue
    for (let length = path.length - 1; length > 0; length--) {
      const table = path.slice(0, length)
      const value = valueAt(parsed.root, table)
      if (value === undefined) continue
      const source = sourceAt(parsed, table)
      const isBare = source === undefined || /^.\s*.$/.test(source)
      if (!isEmpty(value) || !isBare || valueAt(before.root, table) !== undefined) break
      const expected = withValue(parsed.root, table, undefined)
      const work = { settings: [], removed: [table], withBlankLine }
      parsed = carryOut(dialect, parsed, work, place, (root) => matches(root, expected, [table]))
    }
  }
  return parsed
}
