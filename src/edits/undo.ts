/**
 * Undoes our changes in a file of any format, after others may have changed it too:
 *
 *     before         written              now                          undone
 *     model = "a"    model = "gw"         model = "gw"  # by others    model = "a"  # by others
 *                    window = 100         window = 200                 window = 200 (kept)
 *
 * 1. `undo-text.ts` undoes our changes in the text, with blanks and comments, as far as the text is still
 *    there.
 * 2. Settings that still have our values after that get their earlier ones, as in a file that a program
 *    rewrote.
 * 3. Tables that we created are removed if they are empty.
 *
 * The second parser of the dialect verifies each step.
 */
import { UserError, valueOrError } from '../errors.ts'
import { Conflict, type Dialect, type ParsedText } from './dialects/dialect.ts'
import { applySteps, type ConfigDocument, type EditStep, editConflictError } from './edit.ts'
import { sourceAt } from './find.ts'
import { decodeText, encodeText, endsWithBlankLine } from './text.ts'
import { type Bytes, isElementPath, type SettingPath, sameBytes } from './types.ts'
import { undoText, type Versions } from './undo-text.ts'
import { leafPaths, startsWith } from './values/paths.ts'
import { getValue, matchesAfterChanges, setValue } from './values/value-at-path.ts'
import {
  isEmptyContainer,
  isValueTable,
  sameValue,
  type Value,
  type ValueTable,
} from './values/values.ts'

export interface UndoResult {
  readonly bytes: Bytes | null
  readonly kept: readonly SettingPath[]
}

/** A setting that still has the value that we wrote, with its earlier value. */
interface UndoableSetting {
  readonly path: SettingPath
  readonly earlier: Value | undefined
}

/** See `Format.undo`. @throws UserError `config-invalid`, `config-conflict` */
export function undoWith(
  dialect: Dialect,
  versions: Versions<Bytes | null>,
  paths: readonly SettingPath[],
  fileName: string,
): UndoResult {
  if (sameBytes(versions.now, versions.written)) return { bytes: versions.before, kept: [] }

  const decode = (bytes: Bytes | null) => decodeText(bytes ?? new Uint8Array(), fileName)
  const decodedNow = decode(versions.now)
  const now = dialect.parse(decodedNow.text, fileName)
  const [before, written] = withLineBreaksOf(
    decodedNow.text,
    decode(versions.before).text,
    decode(versions.written).text,
  ).map((text) => dialect.parse(text, fileName)) as [ParsedText, ParsedText]

  // The file was deleted: everything that we changed in it stays as it is.
  if (versions.now === null) {
    const isChangedByUs = (path: SettingPath) =>
      !sameValue(getValue(before.root, path), getValue(written.root, path))
    return { bytes: null, kept: paths.filter(isChangedByUs) }
  }

  const texts = { before, written, now }
  const { settings, kept } = classifySettings(texts, paths)

  try {
    const { text } = undoInSteps({ dialect, texts, settings, fileName })
    const isOurEmptyFile = versions.before === null && dialect.isBlank(text)
    return { bytes: isOurEmptyFile ? null : encodeText({ ...decodedNow, text }), kept }
  } catch (cause) {
    if (!(cause instanceof Conflict)) throw cause
    throw editConflictError(dialect, cause, now.text, [], fileName)
  }
}

/** Converts two versions to the line breaks of the file now, if an editor saved an LF file as CRLF. */
function withLineBreaksOf(now: string, before: string, written: string): string[] {
  const lineBreaksIn = (text: string) => [...new Set(text.match(/\r?\n/g))]
  const [eol, secondKind] = lineBreaksIn(now)
  const isUniform = eol !== undefined && secondKind === undefined
  const isConverted = isUniform && lineBreaksIn(written).some((lineBreak) => lineBreak !== eol)
  if (!isConverted) return [before, written]
  return [before, written].map((text) => text.replace(/\r?\n/g, eol))
}

/**
 * Finds the settings that still have our values, and those that someone changed. Tables are compared value
 * by value, so that additions to them stay.
 */
function classifySettings(
  { before, written, now }: Versions<ParsedText>,
  paths: readonly SettingPath[],
): { readonly settings: readonly UndoableSetting[]; readonly kept: readonly SettingPath[] } {
  const settings: UndoableSetting[] = []
  const kept: SettingPath[] = []

  for (const path of paths.flatMap((table) => splitTables(before.root, written.root, table))) {
    const earlier = getValue(before.root, path)
    const value = getValue(now.root, path)
    const isUndoneAlready = sameValue(value, earlier)
    if (isUndoneAlready) continue

    const ours = getValue(written.root, path)
    const isAddedTo = isElementPath(path) && earlier === undefined && containsAll(value, ours)
    if (sameValue(value, ours) || isAddedTo) settings.push({ path, earlier })
    else kept.push(path)
  }

  return { settings: settings.map((setting) => widenToElement(before.root, setting, kept)), kept }
}

/**
 * Replaces a setting in a table that we added to a list by the whole table, including the additions of others:
 * without our settings it would be a useless entry. If someone changed one of our settings in it, it stays.
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

/** Whether `table` has all values of the table `ours`. It may have more. */
function containsAll(table: Value | undefined, ours: Value | undefined): boolean {
  if (!isValueTable(table) || !isValueTable(ours)) return false
  return Object.entries(ours).every(([key, value]) => sameValue(table[key], value))
}

/** The paths of the values at `path` in two versions of a file: the values of a table, or `path`. */
export function valuePathsAt(
  before: ConfigDocument['root'] | undefined,
  written: ConfigDocument['root'] | undefined,
  path: SettingPath,
): readonly SettingPath[] {
  return splitTables((before ?? {}) as ValueTable, (written ?? {}) as ValueTable, path)
}

/** `path` itself or, if there are tables at it, the paths of their values. */
function splitTables(before: ValueTable, written: ValueTable, path: SettingPath): SettingPath[] {
  if (isElementPath(path)) return [path]
  const values = [before, written].map((root) => getValue(root, path))
  const areTables = values.every((value) => value === undefined || isValueTable(value))
  if (!areTables) return [path]

  const leaves = values.flatMap((value) => (isEmptyContainer(value) ? [] : leafPaths(value, path)))
  const uniqueLeaves = [...new Map(leaves.map((leaf) => [JSON.stringify(leaf), leaf])).values()]
  // A value of one version can be a table in the other. Then the values of the table are listed.
  const isTableElsewhere = (leaf: SettingPath) =>
    uniqueLeaves.some((inner) => inner !== leaf && startsWith(inner, leaf))
  return uniqueLeaves.filter((leaf) => !isTableElsewhere(leaf))
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

  const steps = remaining.map(({ path, earlier: value }): EditStep => {
    if (value === undefined) return { path, content: undefined }
    const source = sourceAt(texts.before, path)
    return { path, content: source === undefined ? { value } : { source } }
  })
  return applySteps({
    dialect,
    start,
    fileName,
    steps,
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
    parsed = applySteps({
      dialect,
      start: parsed,
      fileName,
      steps: [{ path: table, content: undefined }],
      withBlankLine: !endsWithBlankLine(before.text),
      isExpected: (root) => matchesAfterChanges(root, expected, [table]),
    })
  }

  return parsed
}
