import { UserError } from '../errors.ts'
import {
  Conflict,
  type Content,
  type Dialect,
  type ParsedText,
  type Setting,
} from './dialects/dialect.ts'
import { memberAt, startOffset } from './find.ts'
import type { Bytes, ConfigValue, SettingChange, SettingPath } from './plan.ts'
import { removeAll } from './remove.ts'
import { setAll } from './set.ts'
import { decodeText, describePosition, encodeText, lineAt } from './text.ts'
import {
  emptyTable,
  isValueTable,
  leafPaths,
  matches,
  pathText,
  sameValue,
  showPath,
  toConfigValue,
  uniquePaths,
  type Value,
  type ValueTable,
  valueAt,
  withValue,
  withValues,
} from './values.ts'

/** A parsed configuration file, for reading only. */
export interface ConfigDocument {
  /** The decoded root value. Objects have no prototype, so `__proto__` is just a key. */
  readonly root: { readonly [key: string]: ConfigValue }
  /** The decoded value at `path`, or undefined where nothing stands. */
  get(path: SettingPath): ConfigValue | undefined
  /** The line of the key at `path`, from 1; undefined where it does not stand or stands twice. */
  lineOf(path: SettingPath): number | undefined
}

export function readWith(dialect: Dialect, bytes: Bytes, place: string): ConfigDocument {
  const parsed = dialect.parse(decodeText(bytes, place).text, place)

  return {
    root: toConfigValue(parsed.root) as ConfigDocument['root'],
    get(path) {
      const value = valueAt(parsed.root, path)
      return value === undefined ? undefined : toConfigValue(value)
    },
    lineOf(path) {
      try {
        const start = startOffset(parsed, path)
        return start === undefined ? undefined : lineAt(parsed.text, start)
      } catch (cause) {
        if (cause instanceof Conflict || cause instanceof UserError) return undefined
        throw cause
      }
    },
  }
}

export function editWith(
  dialect: Dialect,
  bytes: Bytes | null,
  changes: readonly SettingChange[],
  place: string,
): Bytes {
  const decoded = bytes === null ? { text: '', hasBom: false } : decodeText(bytes, place)
  const parsed = dialect.parse(decoded.text, place)
  const { text } = editText(dialect, parsed, changes, place)
  return bytes !== null && text === decoded.text ? bytes : encodeText({ ...decoded, text })
}

/** A key that is to have another value, or none. */
interface WantedKey {
  readonly path: SettingPath
  readonly value: Value | undefined
}

function editText(
  dialect: Dialect,
  parsed: ParsedText,
  changes: readonly SettingChange[],
  place: string,
): ParsedText {
  const wanted = withValues(
    parsed.root,
    changes.map(({ path, value }) => ({
      path,
      value: value === undefined ? undefined : dialect.toValue(value),
    })),
  )

  try {
    const steps = stepsTo(parsed, wanted, changes)
    const paths = [...changes, ...steps].map(({ path }) => path)
    const isRight = (root: ValueTable) => matches(root, wanted, paths)
    return workOn({ dialect, start: parsed, place, steps, isRight })
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw refusal(dialect, cause, parsed.text, changes, place)
  }
}

/** What of the changes is still to be done, each at one place of the text. */
function stepsTo(
  parsed: ParsedText,
  wanted: ValueTable,
  changes: readonly SettingChange[],
): readonly EditStep[] {
  const paths = changes.map(({ path }) => upToNewList(parsed.root, path))

  const texts = new Set(paths.map(pathText))
  const isBelowAnother = (path: SettingPath) =>
    path.some((_, length) => texts.has(pathText(path.slice(0, length))))
  const outermost = uniquePaths(paths).filter((path) => !isBelowAnother(path))
  return outermost
    .flatMap((path) => expanded(parsed, path, valueAt(wanted, path)))
    .filter(({ path, value }) => !sameValue(valueAt(parsed.root, path), value))
    .map(({ path, value }) => ({ path, content: value === undefined ? undefined : { value } }))
}

/** A list that is not there yet is written as a whole, and so is a table in a list. */
function upToNewList(root: ValueTable, path: SettingPath): SettingPath {
  for (const [index, key] of path.entries()) {
    if (typeof key !== 'object') continue
    if (valueAt(root, path.slice(0, index)) === undefined) return path.slice(0, index)
    if (valueAt(root, path.slice(0, index + 1)) === undefined) return path.slice(0, index + 1)
  }
  return path
}

/** A table is set and removed key by key, unless it stands in one piece. */
function expanded(
  parsed: ParsedText,
  path: SettingPath,
  value: Value | undefined,
): readonly WantedKey[] {
  const isInOnePiece = typeof path.at(-1) === 'object' || memberAt(parsed, path) !== undefined
  if (isInOnePiece || !isValueTable(value)) return [{ path, value }]

  const wanted = leafPaths(value, path)
  const kept = new Set(wanted.map(pathText))
  const gone = leafPaths(valueAt(parsed.root, path), path).filter(
    (old) => old.length > path.length && !kept.has(pathText(old)),
  )

  return [
    ...gone.map((old) => ({ path: old, value: undefined })),
    ...wanted.map((leaf) => ({ path: leaf, value: valueAt(value, leaf.slice(path.length)) })),
  ]
}

/** A key that is to have a value, or, without one, is to go. */
export interface EditStep {
  readonly path: SettingPath
  readonly content: Content | undefined
}

interface Work {
  readonly dialect: Dialect
  readonly start: ParsedText
  readonly place: string
  readonly steps: readonly EditStep[]
  /** The blank line above a table's header goes with it. */
  readonly withBlankLine?: boolean
  /** The verdict on what the independent parser sees in the result. */
  readonly isRight: (root: ValueTable) => boolean
}

/**
 * Writes what is to be written, then takes out what is to go.
 *
 * @throws Conflict
 */
export function workOn(work: Work): ParsedText {
  const { dialect, start, steps } = work
  const settings = steps.filter((step): step is Setting => step.content !== undefined)
  const removed = steps.filter(({ content }) => content === undefined).map(({ path }) => path)
  const names = [...settings.map(({ path }) => path), ...removed].map(showPath).join(', ')
  const reparse = (old: ParsedText, text: string) => {
    if (text === old.text) return old
    try {
      const parsed = dialect.parse(text, work.place)
      // The other parser must accept it as well.
      void parsed.containers
      return parsed
    } catch (cause) {
      if (!(cause instanceof UserError)) throw cause
      throw new Conflict(`${names} cannot be changed in place`, 0)
    }
  }

  const withSettings = reparse(start, setAll(dialect, start, settings, removed))
  const done = reparse(withSettings, removeAll(dialect, withSettings, removed, work.withBlankLine))

  if (work.isRight(done.root)) return done
  throw new Conflict(`${names} cannot be changed without changing something else`, 0)
}

/** The refusal, with the lines to add by hand. Secrets in them are left for the user to fill in. */
export function refusal(
  dialect: Dialect,
  cause: Conflict,
  text: string,
  changes: readonly SettingChange[],
  place: string,
): UserError {
  const removed = changes.filter(({ value }) => value === undefined)
  const steps = [
    ...(removed.length > 0
      ? [`Remove by hand: ${removed.map((change) => showPath(change.path)).join(', ')}`]
      : []),
    ...linesByHand(dialect, changes),
  ]

  return new UserError({
    code: 'config-conflict',
    message: `Cannot edit ${place}: ${cause.message} (${describePosition(text, cause.offset)})`,
    hint: steps.join('\n') || 'Change the file by hand.',
    cause,
  })
}

/** None where a value cannot be written in this format at all. */
function linesByHand(dialect: Dialect, changes: readonly SettingChange[]): string[] {
  const set = changes.filter(({ value }) => value !== undefined)
  const root = set.reduce(
    (all, { path, value, isSecret }) =>
      withValue(all, path, isSecret ? secretPlaceholder : dialect.toValue(value!)),
    emptyTable() as ValueTable,
  )
  const paths = uniquePaths(set.map(({ path }) => upToNewList(emptyTable(), path)))
  const settings = paths.map(
    (path): Setting => ({ path, content: { value: valueAt(root, path)! } }),
  )

  try {
    return settings.length > 0 ? [`Add by hand:\n${dialect.spellByHand(settings)}`] : []
  } catch (cause) {
    if (cause instanceof Conflict) return []
    throw cause
  }
}

const secretPlaceholder = '<your key>'
