import { resultOf, UserError } from '../errors.ts'
import { jsonDialect } from './dialects/json.ts'
import { json5Dialect } from './dialects/json5.ts'
import { tomlDialect } from './dialects/toml.ts'
import { type ConfigDocument, editWith, readWith } from './edit.ts'
import type { Bytes, FileEdit, SettingChange, SettingPath } from './plan.ts'
import type { Versions } from './revert.ts'
import { type Undone, undoWith } from './undo.ts'

/** What editing a file format offers. */
export interface Format {
  /**
   * @param place how the file is called in an error
   * @throws UserError `config-invalid` with line and column (both from 1)
   */
  read(bytes: Bytes, place: string): ConfigDocument

  /**
   * Sets and removes keys and leaves every other byte as it is. `null` starts an empty file.
   * Changes that are already so change nothing: the same bytes come back.
   *
   * The result is verified with an independent parser before it is returned.
   *
   * @throws UserError `config-invalid` if the file cannot be parsed
   * @throws UserError `config-conflict` if the edit cannot be made safely, with line and column and,
   *   in the hint, the lines to add by hand
   */
  edit(bytes: Bytes | null, changes: readonly SettingChange[], place: string): Bytes

  /**
   * Takes our keys back out of a file that others may have changed since.
   *
   * For each path: where `current` still has the value of `written`, the source text of `before`
   * returns (or the key goes, with the tables that we opened for it and that hold nothing else);
   * where someone has changed it since, it stays and is listed in `kept`.
   * If `current` has the same bytes as `written`, the result is `before`, to the byte.
   * A result of null: nothing is left of a file that we created.
   *
   * @throws UserError as `edit` does
   */
  undo(versions: Versions<Bytes | null>, paths: readonly SettingPath[], place: string): Undone
}

/** Undefined: there is no document of the format, as a file before us may have been none. */
export function documentOf(
  { format, path }: Pick<FileEdit, 'format' | 'path'>,
  bytes: Bytes | null,
): ConfigDocument | undefined {
  const document = bytes === null ? undefined : resultOf(() => formatOf(format).read(bytes, path))
  return document instanceof UserError ? undefined : document
}

const dialects = { toml: tomlDialect, json: jsonDialect, json5: json5Dialect }

/** Edited in place: splices at the spans of one parser, judged by another. */
export function formatOf(format: FileEdit['format']): Format {
  const dialect = dialects[format]
  return {
    read: (bytes, place) => readWith(dialect, bytes, place),
    edit: (bytes, changes, place) => editWith(dialect, bytes, changes, place),
    undo: (versions, paths, place) => undoWith(dialect, versions, paths, place),
  }
}
