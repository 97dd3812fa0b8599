import { UserError } from '../errors.ts'
import { Conflict, type Dialect, type ParsedText } from './dialect.ts'
import type { Bytes, ConfigValue, KeyChange, KeyPath } from './plan.ts'
import { decodeText, encodeText, lineAt, position } from './text.ts'
import { matches, sameValue, showPath, toConfigValue, valueAt, withValue } from './values.ts'

/** A parsed configuration file, for reading only. */
export interface ConfigDocument {
  /** The decoded root value. Objects have no prototype, so `__proto__` is just a key. */
  readonly root: { readonly [key: string]: ConfigValue }
  /** The decoded value at `path`, or undefined where nothing stands. */
  get(path: KeyPath): ConfigValue | undefined
  /** The line of the key at `path`, from 1; undefined where it does not stand or stands twice. */
  lineOf(path: KeyPath): number | undefined
}

export function readWith(dialect: Dialect, bytes: Bytes, place: string): ConfigDocument {
  const parsed = dialect.read(decodeText(bytes, place).text, place)
  const { root } = parsed
  let decoded: ConfigDocument['root'] | undefined
  return {
    get root() {
      decoded ??= toConfigValue(root) as ConfigDocument['root']
      return decoded
    },
    get(path) {
      const value = valueAt(root, path)
      return value === undefined ? undefined : toConfigValue(value)
    },
    lineOf(path) {
      const start = startOf(dialect, parsed, path)
      return start === undefined ? undefined : lineAt(parsed.text, start)
    },
  }
}

function startOf(dialect: Dialect, parsed: ParsedText, path: KeyPath): number | undefined {
  try {
    return dialect.startOf(parsed, path)
  } catch (cause) {
    if (cause instanceof Conflict || cause instanceof UserError) return undefined
    throw cause
  }
}

export function editWith(
  dialect: Dialect,
  bytes: Bytes | null,
  changes: readonly KeyChange[],
  place: string,
): Bytes {
  const decoded = bytes === null ? { text: '', hasBom: false } : decodeText(bytes, place)
  const text =
    editFocused(dialect, decoded.text, changes, place) ??
    editWhole(dialect, dialect.parse(decoded.text, place), changes, place)
  if (bytes !== null && text === decoded.text) return bytes
  return encodeText({ ...decoded, text })
}

/**
 * Makes the changes in what they concern of a large text. The independent parser judges the whole of
 * it before and after. Where it does not agree, or a change cannot be made, the whole text is edited
 * instead.
 *
 * @throws UserError `config-invalid` if the independent parser refuses the text
 */
function editFocused(
  dialect: Dialect,
  original: string,
  changes: readonly KeyChange[],
  place: string,
): string | undefined {
  const focus = dialect.focus?.(
    original,
    changes.map(({ path }) => path),
  )
  if (focus === undefined) return undefined
  const { root } = dialect.read(original, place)
  try {
    let parsed = dialect.parse(focus.text, place)
    let expected = root
    for (const change of changes) {
      parsed = makeChange(dialect, parsed, change, place)
      const value = change.value === undefined ? undefined : dialect.toValue(change.value)
      expected = withValue(expected, change.path, value)
    }
    const text = focus.restore(parsed.text)
    if (text === undefined) return undefined
    const removed = changes.filter(({ value }) => value === undefined).map(({ path }) => path)
    return matches(dialect.read(text, place).root, expected, removed) ? text : undefined
  } catch (cause) {
    if (cause instanceof Conflict || cause instanceof UserError) return undefined
    throw cause
  }
}

function editWhole(
  dialect: Dialect,
  original: ParsedText,
  changes: readonly KeyChange[],
  place: string,
): string {
  let parsed = original
  for (const change of changes) {
    try {
      parsed = makeChange(dialect, parsed, change, place)
    } catch (cause) {
      if (!(cause instanceof Conflict)) throw cause
      const first = conflictIn(dialect, original, change, place) ?? cause
      throw conflict(dialect, first, original.text, changes, place)
    }
  }
  return parsed.text
}

/** The same conflict with its place in the user's own text, which earlier changes have shifted. */
function conflictIn(
  dialect: Dialect,
  original: ParsedText,
  change: KeyChange,
  place: string,
): Conflict | undefined {
  try {
    makeChange(dialect, original, change, place)
    return undefined
  } catch (cause) {
    if (cause instanceof Conflict) return cause
    throw cause
  }
}

function makeChange(
  dialect: Dialect,
  start: ParsedText,
  change: KeyChange,
  place: string,
): ParsedText {
  const { path } = change
  const value = change.value === undefined ? undefined : dialect.toValue(change.value)
  if (sameValue(valueAt(start.root, path), value)) return start
  let parsed = start
  for (const step of dialect.expand(parsed, path, value)) {
    if (sameValue(valueAt(parsed.root, step.path), step.value)) continue
    const text =
      step.value === undefined
        ? dialect.remove(parsed, step.path)
        : dialect.set(parsed, step.path, { value: step.value })
    parsed = reparse(dialect, text, parsed, step.path, place)
  }
  const expected = withValue(start.root, path, value)
  if (!matches(parsed.root, expected, value === undefined ? [path] : [])) {
    throw new Conflict(`${showPath(path)} cannot be changed without changing something else`, 0)
  }
  return parsed
}

/** Parses what we made. A text that no longer parses is our failure, not the user's. */
export function reparse(
  dialect: Dialect,
  text: string,
  before: ParsedText,
  path: KeyPath,
  place: string,
): ParsedText {
  if (text === before.text) {
    throw new Conflict(`${showPath(path)} cannot be changed in place`, 0)
  }
  try {
    return dialect.parse(text, place)
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw new Conflict(`${showPath(path)} cannot be changed in place`, 0)
  }
}

/** The refusal, with the lines to add by hand. Secrets in them are left for the user to fill in. */
export function conflict(
  dialect: Dialect,
  cause: Conflict,
  text: string,
  changes: readonly KeyChange[],
  place: string,
): UserError {
  const added = changes
    .filter((change) => change.value !== undefined)
    .map((change) => (change.isSecret ? { ...change, value: secretPlaceholder } : change))
  const removed = changes.filter((change) => change.value === undefined)
  const steps = [
    ...(removed.length > 0
      ? [`Remove by hand: ${removed.map((change) => showPath(change.path)).join(', ')}`]
      : []),
    ...linesByHand(dialect, added),
  ]
  return new UserError({
    code: 'config-conflict',
    message: `Cannot edit ${place}: ${cause.message} (${position(text, cause.offset)})`,
    hint: steps.join('\n') || 'Change the file by hand.',
    cause,
  })
}

/** None where a value cannot be written in this format at all. */
function linesByHand(dialect: Dialect, added: readonly KeyChange[]): string[] {
  try {
    return added.length > 0 ? [`Add by hand:\n${dialect.byHand(added)}`] : []
  } catch (cause) {
    if (cause instanceof Conflict) return []
    throw cause
  }
}

const secretPlaceholder: ConfigValue = '<your key>'
