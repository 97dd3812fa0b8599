/**
 * Reads, edits and undoes a configuration file of any format. Other folders call `formatOf`:
 * `formatOf('toml').edit(bytes, changes, 'config.toml')`.
 */
import { UserError, valueOrError } from '../errors.ts'
import { jsonDialect } from './dialects/json.ts'
import { json5Dialect } from './dialects/json5.ts'
import { tomlDialect } from './dialects/toml.ts'
import { type ConfigDocument, editWith, readWith } from './edit.ts'
import { keyFileFormat } from './key-file.ts'
import type { Bytes, FileEdit, SettingChange } from './types.ts'
import { type UndoDecision, type UndoVersions, undoWith } from './undo.ts'

/** The operations on files of one format. */
export interface Format {
  /**
   * @param fileName the name of the file in errors
   * @throws UserError `config-invalid` with line and column (both from 1)
   */
  read(bytes: Bytes, fileName: string): ConfigDocument

  /**
   * Sets and removes keys and leaves every other byte as it is. `null` starts an empty file.
   * If no value changes, the same bytes are returned.
   *
   * An independent parser verifies the result before it is returned.
   *
   * @throws UserError `config-invalid` if the file cannot be parsed
   * @throws UserError `config-conflict` if the edit cannot be made safely, with line and column and,
   *   in the hint, the lines to add by hand
   */
  edit(bytes: Bytes | null, changes: readonly SettingChange[], fileName: string): Bytes

  /**
   * Gives the settings at `restore` their earlier values, whatever they are now. All others stay. Those
   * at `keep` are the settings of the run that the caller decided to keep.
   *
   * The source text of `before` is restored. If there was none, the key is removed, together with the
   * tables that we created for it and that are empty now. If `now` has the same bytes as `written`
   * and nothing is kept, the result is `before`, to the byte. The result is null if we created the file
   * and nothing is left in it.
   *
   * @throws UserError as `edit` does
   */
  undo(versions: UndoVersions, decision: UndoDecision, fileName: string): Bytes | null

  /** Whether the file has only blanks, or an empty root. */
  isBlank(text: string): boolean
}

/** Parses a file. @returns undefined if there is no file, or if it cannot be parsed */
export function documentOf(
  { format, path }: Pick<FileEdit, 'format' | 'path'>,
  bytes: Bytes | null,
): ConfigDocument | undefined {
  const document =
    bytes === null ? undefined : valueOrError(() => formatOf(format).read(bytes, path))
  return document instanceof UserError ? undefined : document
}

const dialects = { toml: tomlDialect, json: jsonDialect, json5: json5Dialect }

/** Edits are splices at the offsets of one parser. Another parser verifies them. */
export function formatOf(format: FileEdit['format']): Format {
  if (format === 'key') return keyFileFormat
  const dialect = dialects[format]
  return {
    read: (bytes, fileName) => readWith(dialect, bytes, fileName),
    edit: (bytes, changes, fileName) => editWith(dialect, bytes, changes, fileName),
    undo: (versions, decision, fileName) => undoWith(dialect, versions, decision, fileName),
    isBlank: dialect.isBlank,
  }
}
