/**
 * Edits a configuration file and leaves every other byte as it is. For example, `gw` must become
 * `{ url = "b", name = "n" }`:
 *
 *     text             1. steps                 2. spliced text
 *     [gw]             set gw.url to "b"        [gw]
 *     url = "a" # x    set gw.name to "n"       url = "b" # x
 *     old = 1          remove gw.old            name = "n"
 *
 * The splices are at the offsets of one parser. 3. A second parser, which shares no code with the first,
 * reads the result: it must have the changed values, and no other change.
 */
import { UserError } from '../errors.ts'
import { Conflict, type Dialect, type ParsedText, type Setting } from './dialects/dialect.ts'
import { memberAt, startOffset } from './find.ts'
import { removeAll } from './remove.ts'
import { setAll } from './set.ts'
import { decodeText, describePosition, encodeText, lineAt, maxConfigBytes } from './text.ts'
import {
  type Bytes,
  type ConfigValue,
  isElementPath,
  type SettingChange,
  type SettingPath,
} from './types.ts'
import { leafPaths, pathKey, showPath, uniquePaths } from './values/paths.ts'
import {
  getValue,
  matchesAfterChanges,
  setValue,
  setValues,
  type ValueChange,
} from './values/value-at-path.ts'
import {
  emptyTable,
  isValueTable,
  sameValue,
  toConfigValue,
  type Value,
  type ValueTable,
} from './values/values.ts'

/** A parsed configuration file, for reading only. */
export interface ConfigDocument {
  /** The decoded root value. Objects have no prototype, so `__proto__` is just a key. */
  readonly root: { readonly [key: string]: ConfigValue }
  /** The decoded value at `path`, or undefined if there is none. */
  get(path: SettingPath): ConfigValue | undefined
  /** The line of the key at `path`, from 1; undefined if it is missing or set twice. */
  lineOf(path: SettingPath): number | undefined
}

/** See `Format.read`. @throws UserError `config-invalid` */
export function readWith(dialect: Dialect, bytes: Bytes, fileName: string): ConfigDocument {
  const parsed = dialect.parse(decodeText(bytes, fileName).text, fileName)

  const root = toConfigValue(parsed.root) as ConfigDocument['root']

  return {
    root,
    get: (path) => getValue(root as ValueTable, path) as ConfigValue | undefined,
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

/** See `Format.edit`. @throws UserError `config-invalid`, `config-conflict` */
export function editWith(
  dialect: Dialect,
  bytes: Bytes | null,
  changes: readonly SettingChange[],
  fileName: string,
): Bytes {
  const decoded = bytes === null ? { text: '', hasBom: false } : decodeText(bytes, fileName)
  const parsed = dialect.parse(decoded.text, fileName)
  const { text } = editText(dialect, parsed, changes, fileName)
  if (bytes !== null && text === decoded.text) return bytes

  const after = encodeText({ ...decoded, text })
  if (after.length > maxConfigBytes)
    throw new UserError({
      code: 'config-invalid',
      message: `Cannot edit ${fileName}: it would be too large (${after.length} bytes, more than ${maxConfigBytes})`,
      hint: 'Make the file smaller, or change it yourself.',
    })
  return after
}

function editText(
  dialect: Dialect,
  parsed: ParsedText,
  changes: readonly SettingChange[],
  fileName: string,
): ParsedText {
  const expectedRoot = setValues(
    parsed.root,
    changes.map(({ path, value }) => ({
      path,
      value: value === undefined ? undefined : dialect.toValue(value),
    })),
  )

  try {
    const steps = planSteps(dialect, parsed, expectedRoot, changes)
    const paths = [...changes, ...steps].map(({ path }) => path)
    return setAndRemove({
      dialect,
      start: parsed,
      fileName,
      settings: steps.flatMap(({ path, value }) =>
        value === undefined ? [] : [{ path, content: { kind: 'value', value } }],
      ),
      removed: steps.filter(({ value }) => value === undefined).map(({ path }) => path),
      isExpected: (root) => matchesAfterChanges(root, expectedRoot, paths),
    })
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw editConflictError(cause, { dialect, text: parsed.text, changes, fileName })
  }
}

/** The steps that the changes still need. Each step changes one place in the text. */
function planSteps(
  dialect: Dialect,
  parsed: ParsedText,
  expectedRoot: ValueTable,
  changes: readonly SettingChange[],
): readonly ValueChange[] {
  const paths = changes.map(({ path }) => shortenToNewList(parsed.root, path))

  const pathKeys = new Set(paths.map(pathKey))
  const lengths = [...new Set(paths.map(({ length }) => length))]
  const isBelowAnother = (path: SettingPath) =>
    lengths.some((length) => length < path.length && pathKeys.has(pathKey(path.slice(0, length))))
  const outermostPaths = uniquePaths(paths).filter((path) => !isBelowAnother(path))

  return outermostPaths
    .flatMap((path) => splitIntoKeys(dialect, parsed, path, getValue(expectedRoot, path)))
    .filter(({ path, value }) => !sameValue(getValue(parsed.root, path), value))
}

/** Shortens a path to the first list, or table in a list, that is new: it is written as a whole. */
export function shortenToNewList(root: ValueTable, path: SettingPath): SettingPath {
  for (const [index, key] of path.entries()) {
    if (typeof key !== 'object') continue
    if (getValue(root, path.slice(0, index)) === undefined) return path.slice(0, index)
    if (getValue(root, path.slice(0, index + 1)) === undefined) return path.slice(0, index + 1)
  }
  return path
}

/**
 * Splits the change of a table into changes of its keys, unless the text has the table as a single value:
 * `a = { x = 1 }` in TOML.
 */
function splitIntoKeys(
  dialect: Dialect,
  parsed: ParsedText,
  path: SettingPath,
  value: Value | undefined,
): readonly ValueChange[] {
  const isSingleValue = isElementPath(path) || memberAt(parsed, path) !== undefined
  if (isSingleValue || !isValueTable(value)) return [{ path, value }]
  const now = getValue(parsed.root, path)
  if (now === undefined && dialect.newTable === 'whole') return [{ path, value }]

  const newLeaves = leafPaths(value, path)
  const newKeys = new Set(newLeaves.map(pathKey))
  const removedLeaves = leafPaths(now, path).filter(
    (old) => old.length > path.length && !newKeys.has(pathKey(old)),
  )

  return [
    ...removedLeaves.map((old) => ({ path: old, value: undefined })),
    ...newLeaves.map((leaf) => ({ path: leaf, value: getValue(value, leaf.slice(path.length)) })),
  ]
}

interface KeysToEdit {
  readonly dialect: Dialect
  readonly start: ParsedText
  readonly fileName: string
  readonly settings: readonly Setting[]
  readonly removed: readonly SettingPath[]
  /** Removes the blank line above a table's header together with the header. */
  readonly withBlankLine?: boolean
  /** Verifies the root that the independent parser finds in the result. */
  readonly isExpected: (root: ValueTable) => boolean
}

/**
 * Sets keys, then removes keys, and verifies the result.
 *
 * @throws Conflict if that cannot be done, or would change something else
 */
export function setAndRemove(keys: KeysToEdit): ParsedText {
  const { dialect, start, settings, removed, fileName, withBlankLine, isExpected } = keys
  const names = [...settings.map(({ path }) => path), ...removed].map(showPath).join(', ')

  const reparse = (old: ParsedText, text: string) => {
    if (text === old.text) return old
    try {
      return parseWithBoth(dialect, text, fileName)
    } catch (cause) {
      if (!(cause instanceof UserError)) throw cause
      throw new Conflict(`repoint cannot change ${names} in place`, 0)
    }
  }

  const withSettings = reparse(start, setAll(dialect, start, settings, removed))
  const result = reparse(withSettings, removeAll(dialect, withSettings, removed, { withBlankLine }))

  if (isExpected(result.root)) return result
  throw new Conflict(`repoint cannot change ${names} without changing something else`, 0)
}

/** Parses a text. The parser with offsets must accept it too: it runs when the containers are asked for. */
function parseWithBoth(dialect: Dialect, text: string, fileName: string): ParsedText {
  const parsed = dialect.parse(text, fileName)
  parsed.containers()
  return parsed
}

/** The error for a conflict, with the lines to add by hand. They have a placeholder for each secret. */
export function editConflictError(
  cause: Conflict,
  edit: {
    readonly dialect: Dialect
    readonly text: string
    readonly changes: readonly SettingChange[]
    readonly fileName: string
  },
): UserError {
  const { dialect, text, changes, fileName } = edit
  const removed = changes.filter(({ value }) => value === undefined)
  const steps = [
    ...(removed.length > 0
      ? [`Remove these yourself: ${removed.map((change) => showPath(change.path)).join(', ')}`]
      : []),
    ...manualLines(dialect, changes),
  ]

  return new UserError({
    code: 'config-conflict',
    message: `Cannot edit ${fileName}: ${cause.message} (${describePosition(text, cause.offset)})`,
    hint: steps.join('\n') || 'Change the file yourself.',
    cause,
  })
}

/** The lines to add by hand. None if the format cannot express a value. */
function manualLines(dialect: Dialect, changes: readonly SettingChange[]): string[] {
  const setChanges = changes.filter(({ value }) => value !== undefined)
  const root = setChanges.reduce(
    (table, { path, value, isSecret }) =>
      setValue(table, path, isSecret ? secretPlaceholder : dialect.toValue(value!)),
    emptyTable() as ValueTable,
  )
  const paths = uniquePaths(setChanges.map(({ path }) => shortenToNewList(emptyTable(), path)))
  const settings = paths.map(
    (path): Setting => ({ path, content: { kind: 'value', value: getValue(root, path)! } }),
  )

  try {
    return settings.length > 0 ? [`Add these yourself:\n${dialect.spellByHand(settings)}`] : []
  } catch (cause) {
    if (cause instanceof Conflict) return []
    throw cause
  }
}

const secretPlaceholder = '<your key>'
