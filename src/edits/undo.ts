/**
 * Gives settings that we wrote their earlier values, in a file of any format that others may have changed
 * since. The caller decides which settings: here `model`, but not `window`.
 *
 *     before         written              now                          result
 *     model = "a"    model = "gw"         model = "gw"  # by others    model = "a"  # by others
 *                    window = 100         window = 200                 window = 200 (kept)
 *
 * 1. A setting to restore that has another value now gets the value that we wrote, so that step 2 finds our
 *    text.
 * 2. `undo-text.ts` undoes our changes in the text, with blanks and comments, as far as the text is still
 *    there.
 * 3. Settings that still have our values after that get their earlier ones, as in a file that a program
 *    rewrote.
 * 4. Tables that we created are removed if they are empty.
 *
 * The second parser of the dialect verifies each step.
 */
import { UserError, valueOrError } from '../errors.ts'
import { Conflict, type Content, type Dialect, type ParsedText } from './dialects/dialect.ts'
import { editConflictError, editWith, setAndRemove, shortenToNewList } from './edit.ts'
import { sourceAt } from './find.ts'
import { decodeText, encodeText, endsWithBlankLine } from './text.ts'
import { type Bytes, type SettingPath, sameBytes } from './types.ts'
import { undoText, type Versions } from './undo-text.ts'
import { samePath, startsWith, uniquePaths } from './values/paths.ts'
import { getValue, matchesAfterChanges, setValue, setValues } from './values/value-at-path.ts'
import {
  isEmptyContainer,
  sameValue,
  toConfigValue,
  type Value,
  type ValueTable,
} from './values/values.ts'

/** A file to undo. It exists now. */
export interface UndoVersions extends Versions<Bytes | null> {
  readonly now: Bytes
}

/** What an undo does with the settings that a run changed. */
export interface UndoDecision {
  readonly restore: readonly SettingPath[]
  readonly keep: readonly SettingPath[]
}

/** A setting to restore. */
interface UndoableSetting {
  readonly path: SettingPath
  readonly earlier: Value | undefined
}

/** See `Format.undo`. @throws UserError `config-invalid`, `config-conflict` */
export function undoWith(
  dialect: Dialect,
  versions: UndoVersions,
  { restore, keep }: UndoDecision,
  fileName: string,
): Bytes | null {
  const bytesNow = withOurValues(dialect, versions, restore, fileName)
  if (keep.length === 0 && sameBytes(bytesNow, versions.written)) return versions.before

  const decode = (bytes: Bytes | null) => decodeText(bytes ?? new Uint8Array(), fileName)
  const decodedNow = decode(bytesNow)
  const withLineBreaksOfNow = lineBreakConverter(decode(versions.written).text, decodedNow.text)
  const parseEarlier = (bytes: Bytes | null) =>
    dialect.parse(withLineBreaksOfNow(decode(bytes).text), fileName)
  const before = parseEarlier(versions.before)
  const written = parseEarlier(versions.written)
  const now = dialect.parse(decodedNow.text, fileName)

  const settings = restore
    .map((path) => ({ path, earlier: getValue(before.root, path) }))
    .map((setting) => widenToElement(before.root, setting, keep))

  try {
    const texts = { before, written, now }
    const { text } = undoInSteps({ dialect, texts, settings, fileName })
    const isOurEmptyFile = versions.before === null && dialect.isBlank(text)
    return isOurEmptyFile ? null : encodeText({ ...decodedNow, text })
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw editConflictError(cause, { dialect, text: now.text, changes: [], fileName })
  }
}

/** The file now, with the values that we wrote at these paths. */
function withOurValues(
  dialect: Dialect,
  { written, now }: UndoVersions,
  paths: readonly SettingPath[],
  fileName: string,
): Bytes {
  if (sameBytes(now, written)) return now
  const rootOf = (bytes: Bytes | null) =>
    dialect.parse(decodeText(bytes ?? new Uint8Array(), fileName).text, fileName).root
  const [ourRoot, rootNow] = [rootOf(written), rootOf(now)]

  const changes = paths
    .map((path) => ({ path, value: getValue(ourRoot, path) }))
    .filter(({ path, value }) => !sameValue(getValue(rootNow, path), value))
    .map(({ path, value }) => ({
      path,
      value: value === undefined ? undefined : toConfigValue(value),
    }))
  return changes.length === 0 ? now : editWith(dialect, now, changes, fileName)
}

/** Makes a function that gives a text the line breaks of now, if an editor saved an LF file as CRLF. */
function lineBreakConverter(written: string, now: string): (text: string) => string {
  const lineBreaksIn = (text: string) => [...new Set(text.match(/\r?\n/g))]
  const [eol, secondKind] = lineBreaksIn(now)
  const isUniform = eol !== undefined && secondKind === undefined
  const isConverted = isUniform && lineBreaksIn(written).some((lineBreak) => lineBreak !== eol)
  return (text) => (isConverted ? text.replace(/\r?\n/g, eol) : text)
}

/**
 * Replaces a setting in a table that we added to a list by the whole table, including the additions of others:
 * without our settings it would be a useless entry. If one of our settings in it is kept, it stays.
 */
function widenToElement(
  before: ValueTable,
  setting: UndoableSetting,
  keptPaths: readonly SettingPath[],
): UndoableSetting {
  const newElement = setting.path.findIndex(
    (step, index) =>
      typeof step === 'object' && getValue(before, setting.path.slice(0, index + 1)) === undefined,
  )
  if (newElement === -1) return setting

  const path = setting.path.slice(0, newElement + 1)
  const isPartKept = keptPaths.some((keptPath) => startsWith(keptPath, path))
  return isPartKept ? setting : { path, earlier: undefined }
}

interface UndoContext {
  readonly dialect: Dialect
  readonly texts: Versions<ParsedText>
  readonly settings: readonly UndoableSetting[]
  readonly fileName: string
}

function undoInSteps(undo: UndoContext): ParsedText {
  const { texts, settings } = undo
  const isAllowed = (root: ValueTable) => isPartlyUndone(root, texts.now.root, settings)

  const withTextUndone = undoText(texts, (text) => tryParse(undo, text, isAllowed)) ?? texts.now
  const withSettingsUndone = undoRemaining(undo, withTextUndone, isAllowed)
  return removeEmptiedTables(undo, withSettingsUndone)
}

/** Gives the settings their earlier values that the undone text has not given them yet. */
function undoRemaining(
  { dialect, texts, settings, fileName }: UndoContext,
  start: ParsedText,
  isAllowed: (root: ValueTable) => boolean,
): ParsedText {
  const isUndone = (root: ValueTable, { path, earlier }: UndoableSetting) =>
    sameValue(getValue(root, path), earlier)
  const remaining = settings.filter((setting) => !isUndone(start.root, setting))
  if (remaining.length === 0) return start

  const expectedRoot = setValues(
    start.root,
    remaining.map(({ path, earlier }) => ({ path, value: earlier })),
  )
  const contentOf = (path: SettingPath, value: Value): Content => {
    // Someone deleted the list of a removed element: it gets a new list, without the elements of others.
    const isNewList = remaining.every((setting) => !samePath(setting.path, path))
    const source = isNewList ? undefined : sourceAt(texts.before, path)
    return source === undefined ? { kind: 'value', value } : { kind: 'source', source }
  }

  const paths = uniquePaths(remaining.map(({ path }) => shortenToNewList(start.root, path)))
  return setAndRemove({
    dialect,
    start,
    fileName,
    settings: paths.flatMap((path) => {
      const value = getValue(expectedRoot, path)
      return value === undefined ? [] : [{ path, content: contentOf(path, value) }]
    }),
    removed: paths.filter((path) => getValue(expectedRoot, path) === undefined),
    isExpected: (root) => settings.every((setting) => isUndone(root, setting)) && isAllowed(root),
  })
}

/** Whether `root` is `now` with the earlier values of some of our settings, and no other change. */
function isPartlyUndone(
  root: ValueTable,
  now: ValueTable,
  settings: readonly UndoableSetting[],
): boolean {
  const undone = settings.filter(({ path, earlier }) => sameValue(getValue(root, path), earlier))
  const expected = undone.reduce((table, { path, earlier }) => setValue(table, path, earlier), now)
  const paths = undone.map(({ path }) => path)
  return matchesAfterChanges(root, expected, paths)
}

function tryParse(
  { dialect, fileName }: UndoContext,
  text: string,
  isAllowed: (root: ValueTable) => boolean,
): ParsedText | undefined {
  const parsed = valueOrError(() => dialect.parse(text, fileName))
  return parsed instanceof UserError || !isAllowed(parsed.root) ? undefined : parsed
}

/** Removes the tables and lists that we created if they are empty now and contain no comment. */
function removeEmptiedTables(
  { dialect, texts, settings, fileName }: UndoContext,
  start: ParsedText,
): ParsedText {
  const { before } = texts
  const createdTables = settings
    .flatMap(({ path }) => path.map((_, index) => path.slice(0, -1 - index)))
    .filter((table) => getValue(before.root, table) === undefined)

  let parsed = start
  for (const table of createdTables) {
    const source = sourceAt(parsed, table)
    const hasNoComment = source === undefined || /^.\s*.$/.test(source)
    if (!hasNoComment || !isEmptyContainer(getValue(parsed.root, table))) continue

    const expected = setValue(parsed.root, table, undefined)
    parsed = setAndRemove({
      dialect,
      start: parsed,
      fileName,
      settings: [],
      removed: [table],
      withBlankLine: !endsWithBlankLine(before.text),
      isExpected: (root) => matchesAfterChanges(root, expected, [table]),
    })
  }

  return parsed
}
