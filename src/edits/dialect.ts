import type { KeyChange, KeyPath } from './plan.ts'
import type { Value, ValueTable } from './values.ts'

/** A parsed text: `root` comes from the independent parser, the places from the span parser. */
export interface ParsedText {
  readonly text: string
  readonly root: ValueTable
}

/** A value to write: decoded, or as another version of the same file spells it. */
export type Content = { readonly value: Value } | { readonly source: string }

/** Where a key stood in an older version of the file. */
export interface OldPlace {
  /** The key before it in the same table; absent: it was the first. */
  readonly after?: KeyPath
  /** What stood between the two: a comma and blanks. */
  readonly gap?: string
  /** What stood between it and the next key: a comma and blanks. */
  readonly nextGap?: string
  /** Inside the braces around it and its siblings: blanks, and a trailing comma behind the last. */
  readonly padding?: { readonly before: string; readonly behind: string }
  /** Blanks and comment behind it on its line. */
  readonly trail: string
}

/**
 * What TOML and JSON each know; `edit.ts` and `undo.ts` are the same for both.
 * A text is never changed by halves: every function returns a whole new text, or throws `Conflict`.
 */
export interface Dialect<Parsed extends ParsedText = ParsedText> {
  /** @throws UserError `config-invalid` with line and column */
  parse(text: string, place: string): Parsed
  /** For reading only: as `parse`, but what only places need may wait until one is asked for. */
  read(text: string, place: string): Parsed
  /**
   * A smaller text in which what lies below `paths` stands as in the whole, if that is TOML or JSON.
   * Undefined, or absent: not known, or not worth it.
   */
  focus?(text: string, paths: readonly KeyPath[]): Focus | undefined
  /** One change as changes that can each be made at one place. */
  expand(parsed: Parsed, path: KeyPath, value: Value | undefined): readonly ValueChange[]
  /** A change's value as `parse` would give it back. */
  toValue(value: NonNullable<KeyChange['value']> | null): Value
  /** Sets a key. `old`: where a key that comes back belongs, as far as its surroundings are there. */
  set(parsed: Parsed, path: KeyPath, content: Content, old?: OldPlace): string
  remove(parsed: Parsed, path: KeyPath): string
  /** Removes a table that holds nothing, with the blank line above it if `withBlankLine`. */
  removeEmptyTable(parsed: Parsed, path: KeyPath, withBlankLine: boolean): string
  /** How the value at `path` is spelled, or undefined where it is no single piece of text. */
  sourceAt(parsed: Parsed, path: KeyPath): string | undefined
  /** Where the key at `path` begins: an offset; of a table, its header or its first key. */
  startOf(parsed: Parsed, path: KeyPath): number | undefined
  placeOf(parsed: Parsed, path: KeyPath): OldPlace | undefined
  /** Whether nothing is left of the file but blanks. */
  isBlank(parsed: Parsed): boolean
  /** The lines that a person would add for `changes`. */
  byHand(changes: readonly KeyChange[]): string
}

export interface Focus {
  readonly text: string
  /** What was left out, back in the changed text; undefined where it has lost its place. */
  restore(edited: string): string | undefined
}

export interface ValueChange {
  readonly path: KeyPath
  readonly value: Value | undefined
}

/** An edit that cannot be made at this place. Becomes a UserError `config-conflict`. */
export class Conflict extends Error {
  readonly offset: number
  /** @param offset where in the text */
  constructor(reason: string, offset: number) {
    super(reason)
    this.name = 'Conflict'
    this.offset = offset
  }
}
