import type { Bytes, ConfigValue, KeyChange, KeyPath } from './plan.ts'

/** Largest configuration file that is edited, in bytes. The largest real one seen had 90 kB. */
export const maxConfigBytes = 1_000_000

/** A parsed configuration file, for reading only. */
export interface ConfigDocument {
  /** The decoded root value. Objects have no prototype, so `__proto__` is just a key. */
  readonly root: { readonly [key: string]: ConfigValue }
  /** The decoded value at `path`, or undefined where nothing stands. */
  get(path: KeyPath): ConfigValue | undefined
  /** The line of the key at `path`, from 1; undefined where it does not stand or stands twice. */
  lineOf(path: KeyPath): number | undefined
}

/** What editing a file format offers. `toml.ts` and `json.ts` are the two. */
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
  edit(bytes: Bytes | null, changes: readonly KeyChange[], place: string): Bytes

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
  undo(versions: UndoVersions, paths: readonly KeyPath[], place: string): Undone
}

export interface UndoVersions {
  readonly before: Bytes | null
  readonly written: Bytes | null
  readonly current: Bytes | null
}

export interface Undone {
  readonly bytes: Bytes | null
  readonly kept: readonly KeyPath[]
}
