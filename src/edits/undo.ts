import { resultOf, UserError } from '../errors.ts'
import { Conflict, type Dialect, type ParsedText } from './dialects/dialect.ts'
import { type ConfigDocument, type EditStep, refusal, workOn } from './edit.ts'
import { sourceAt } from './find.ts'
import { type Bytes, type SettingPath, sameBytes } from './plan.ts'
import { revertText, type Versions } from './revert.ts'
import { decodeText, encodeText, endsWithBlankLine } from './text.ts'
import {
  holdsNothing,
  isValueTable,
  leafPaths,
  matches,
  sameValue,
  startsWith,
  type Value,
  type ValueTable,
  valueAt,
  withValue,
} from './values.ts'

export interface Undone {
  readonly bytes: Bytes | null
  readonly kept: readonly SettingPath[]
}

/** One of our keys that still has the value that we wrote, and what stood there before. */
interface OurKey {
  readonly path: SettingPath
  readonly old: Value | undefined
}

/**
 * The undo of both formats.
 *
 * First what we changed comes back as it was, blanks and comments too, where it still stands as we
 * wrote it. What is left, in a file that was written anew, comes back key by key. Each step is judged
 * by what the independent parser sees.
 */
export function undoWith(
  dialect: Dialect,
  versions: Versions<Bytes | null>,
  paths: readonly SettingPath[],
  place: string,
): Undone {
  if (sameBytes(versions.current, versions.written)) return { bytes: versions.before, kept: [] }

  const decode = (bytes: Bytes | null) => decodeText(bytes ?? new Uint8Array(), place)
  const decoded = decode(versions.current)
  const current = dialect.parse(decoded.text, place)
  const [before, written] = inLineBreaksOf(
    decoded.text,
    decode(versions.before).text,
    decode(versions.written).text,
  ).map((text) => dialect.parse(text, place)) as [ParsedText, ParsedText]
  if (versions.current === null) {
    const isChanged = (path: SettingPath) =>
      !sameValue(valueAt(before.root, path), valueAt(written.root, path))
    return { bytes: null, kept: paths.filter(isChanged) }
  }

  const texts = { before, written, current }
  const { keys, kept } = sortOut(texts, paths)
  try {
    const { text } = restoreKeys({ dialect, texts, keys, place })
    if (versions.before === null && dialect.isBlank(text)) return { bytes: null, kept }
    return { bytes: encodeText({ ...decoded, text }), kept }
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw refusal(dialect, cause, current.text, [], place)
  }
}

/** Two versions in the line breaks of a third, where somebody has changed all of them since. */
function inLineBreaksOf(current: string, before: string, written: string): string[] {
  const breaksOf = (text: string) => [...new Set(text.match(/\r?\n/g))]
  const [eol, other] = breaksOf(current)
  const isAnew = other === undefined && breaksOf(written).some((one) => one !== eol)
  if (eol === undefined || !isAnew) return [before, written]
  return [before, written].map((text) => text.replace(/\r?\n/g, eol))
}

/** Which keys are still ours. Tables are looked at value by value, so that additions to them stay. */
function sortOut(
  { before, written, current }: Versions<ParsedText>,
  paths: readonly SettingPath[],
): { keys: OurKey[]; kept: SettingPath[] } {
  const keys: OurKey[] = []
  const kept: SettingPath[] = []
  for (const path of paths.flatMap((path) => singlePaths(before.root, written.root, path))) {
    const old = valueAt(before.root, path)
    const now = valueAt(current.root, path)
    if (sameValue(now, old)) continue
    const ours = valueAt(written.root, path)
    const isAddedTo = isWholeElement(path) && old === undefined && holdsAllOf(now, ours)
    if (sameValue(now, ours) || isAddedTo) keys.push({ path, old })
    else kept.push(path)
  }

  return { keys: keys.map((key) => wholeElement(before.root, key, kept)), kept }
}

/**
 * A table that we put into a list goes as a whole, with what others have written into it: without our
 * keys it would be an entry that says nothing. What they changed of ours keeps it.
 */
function wholeElement(before: ValueTable, key: OurKey, kept: readonly SettingPath[]): OurKey {
  const length = key.path.findIndex((step, index) => {
    return typeof step === 'object' && valueAt(before, key.path.slice(0, index + 1)) === undefined
  })
  const path = key.path.slice(0, length + 1)
  const isKept = kept.some((one) => startsWith(one, path))
  return length === -1 || isKept ? key : { path, old: undefined }
}

function isWholeElement(path: SettingPath): boolean {
  return typeof path.at(-1) === 'object'
}

/** Whether a table is as it was, but for what was added to it. */
function holdsAllOf(now: Value | undefined, then: Value | undefined): boolean {
  if (!isValueTable(now) || !isValueTable(then)) return false
  return Object.entries(then).every(([key, value]) => sameValue(now[key], value))
}

/** The paths of the values at `path` in two versions of a file: those of a table, or `path` itself. */
export function valuePathsAt(
  before: ConfigDocument['root'] | undefined,
  written: ConfigDocument['root'] | undefined,
  path: SettingPath,
): readonly SettingPath[] {
  const [old, fresh] = [before ?? {}, written ?? {}] as [ValueTable, ValueTable]
  return singlePaths(old, fresh, path)
}

/** `path`, or, where tables stand there, the paths of their values. */
function singlePaths(before: ValueTable, written: ValueTable, path: SettingPath): SettingPath[] {
  if (isWholeElement(path)) return [path]
  const values = [before, written].map((root) => valueAt(root, path))
  if (!values.every((value) => value === undefined || isValueTable(value))) return [path]
  const leaves = values.flatMap((value) => (holdsNothing(value) ? [] : leafPaths(value, path)))
  const unique = new Map(leaves.map((leaf) => [JSON.stringify(leaf), leaf]))
  const all = [...unique.values()]
  return all.filter((leaf) => !all.some((other) => other !== leaf && startsWith(other, leaf)))
}

interface Undo {
  readonly dialect: Dialect
  readonly texts: Versions<ParsedText>
  readonly keys: readonly OurKey[]
  readonly place: string
}

function restoreKeys(undo: Undo): ParsedText {
  const { dialect, texts, keys, place } = undo
  const { before, current } = texts
  const isAllowed = (root: ValueTable) => isPartlyUndone(root, current.root, keys)
  const isBack = (root: ValueTable, { path, old }: OurKey) => sameValue(valueAt(root, path), old)

  const start = revertText(texts, (text) => tryParse(undo, text, isAllowed)) ?? current
  const left = keys.filter((key) => !isBack(start.root, key))
  if (left.length === 0) return withoutEmptied(undo, start)

  const restored = workOn({
    dialect,
    start,
    place,
    steps: left.map(({ path, old: value }): EditStep => {
      if (value === undefined) return { path, content: undefined }
      const source = sourceAt(before, path)
      return { path, content: source === undefined ? { value } : { source } }
    }),
    isRight: (root) => keys.every((key) => isBack(root, key)) && isAllowed(root),
  })
  return withoutEmptied(undo, restored)
}

/** Whether `root` is `current` with some of our keys back at their old values, and nothing else. */
function isPartlyUndone(root: ValueTable, current: ValueTable, keys: readonly OurKey[]): boolean {
  const undone = keys.filter(({ path, old }) => sameValue(valueAt(root, path), old))
  const expected = undone.reduce((so, { path, old }) => withValue(so, path, old), current)
  const paths = undone.map(({ path }) => path)
  return matches(root, expected, paths)
}

function tryParse(
  { dialect, place }: Undo,
  text: string,
  isAllowed: (root: ValueTable) => boolean,
): ParsedText | undefined {
  const parsed = resultOf(() => dialect.parse(text, place))
  return parsed instanceof UserError || !isAllowed(parsed.root) ? undefined : parsed
}

/** Takes out the tables and lists that we opened and that hold nothing any more, comments neither. */
function withoutEmptied({ dialect, texts, keys, place }: Undo, start: ParsedText): ParsedText {
  const { before } = texts
  const opened = keys
    .flatMap(({ path }) => path.map((_, index) => path.slice(0, -1 - index)))
    .filter((table) => valueAt(before.root, table) === undefined)

  let parsed = start
  for (const table of opened) {
    const source = sourceAt(parsed, table)
    const isBare = source === undefined || /^.\s*.$/.test(source)
    if (!isBare || !holdsNothing(valueAt(parsed.root, table))) continue
    const expected = withValue(parsed.root, table, undefined)
    parsed = workOn({
      dialect,
      start: parsed,
      place,
      steps: [{ path: table, content: undefined }],
      withBlankLine: !endsWithBlankLine(before.text),
      isRight: (root) => matches(root, expected, [table]),
    })
  }

  return parsed
}
