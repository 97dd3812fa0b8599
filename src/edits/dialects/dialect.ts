import type { ConfigValue, SettingPath } from '../plan.ts'
import { isValueTable, type Value, type ValueTable } from '../values.ts'

/** A parsed text: `root` comes from the independent parser, the containers from the one that has places. */
export interface ParsedText {
  readonly text: string
  readonly root: ValueTable
  /**
   * The root's first.
   *
   * @throws UserError `config-invalid` where only the parser with places refuses the text
   */
  readonly containers: readonly Container[]
}

/** Where in a text: the keys from the root. An element of a list has its index for a key. */
export type IndexedPath = readonly (string | number)[]

/**
 * What holds members: a table, an object or a list, as it stands in the text.
 *
 *     [a]              a container of `lines`, with the member `a.b`
 *     b = { c = 1 }    whose value is an `inline` container: inside `a.b`, with the member `a.b.c`
 *
 * Offsets are in UTF-16 units, ends exclusive.
 */
export interface Container {
  readonly kind: ContainerKind
  readonly path: IndexedPath
  /** Of the header, or of the braces or brackets with all that they hold. */
  readonly start: number
  readonly end: number
  /** In the order of the text. */
  readonly members: readonly Member[]
  /** The member whose value it is; undefined for the root and for what is below a header. */
  readonly owner?: Member | undefined
}

/** How a container separates its members. */
export type ContainerKind =
  /** TOML: a line each, below a header or above all headers. */
  | 'lines'
  /** TOML: commas within braces, which stay on their line. */
  | 'inline'
  /** JSON: commas within braces, on one line or on several. */
  | 'object'
  /** Commas within brackets. */
  | 'list'

/** `key = value`, `"key": value` or an element of a list. */
export interface Member {
  readonly path: IndexedPath
  readonly container: Container
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** Its value, where that holds members itself. */
  readonly inside: Container | undefined
}

/** What to write: a value, one as another version of the file spells it, or members one by one. */
export type Content =
  | { readonly value: Value }
  | { readonly source: string }
  | { readonly members: ReadonlyMap<string, Content> }

/** How a container writes its members. */
export interface MemberLayout {
  readonly isMultiLine: boolean
  /** The line break of the neighbouring line. */
  readonly eol: string
  /** One level of indentation. */
  readonly unit: string
  /** What stands before each member on its line. */
  readonly indent: string
  /** What stands between key and value: `: `. */
  readonly colon: string
  /** Names stand without quotes. */
  readonly isUnquoted: boolean
}

/** A key that is to have a value. */
export interface Setting {
  readonly path: SettingPath
  readonly content: Content
}

/** What TOML, JSON and JSON5 each know: parsing and spelling. Finding, setting and removing know neither. */
export interface Dialect {
  /** @throws UserError `config-invalid` with line and column */
  parse(text: string, place: string): ParsedText
  /** A change's value as `parse` would give it back. */
  toValue(value: ConfigValue): Value
  /** A value at its place. @throws Conflict where it cannot be written at all */
  spell(content: Content, layout: MemberLayout): string
  /** A member with a value that is spelled already. `keys` are several only for a dotted key. */
  spellMember(keys: readonly string[], value: string, layout: MemberLayout): string
  /** What follows at the end of `text` for keys whose tables have no place in it yet. */
  spellAtEnd(text: string, settings: readonly Setting[]): string
  /** The lines that a person would add for `settings`. */
  spellByHand(settings: readonly Setting[]): string
  /** Matches a comment at `lastIndex`. */
  readonly comment: RegExp
  /** What a value that is no table is called: `a list`. */
  nameOf(value: Value): string
  /** What holds keys is called: `a table`. */
  readonly table: string
  /** Whether nothing is left of the file but blanks. */
  isBlank(text: string): boolean
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

/** Members one by one, in the order in which they are first named. */
export function membersOf(
  settings: readonly { readonly path: readonly string[]; readonly content: Content }[],
): ReadonlyMap<string, Content> {
  const groups = new Map<string, { path: readonly string[]; content: Content }[]>()
  for (const { path, content } of settings) {
    const [key = '', ...rest] = path
    groups.set(key, [...(groups.get(key) ?? []), { path: rest, content }])
  }

  return new Map(
    [...groups].map(([key, group]) => {
      const whole = group.find(({ path }) => path.length === 0)
      return [key, whole?.content ?? { members: membersOf(group) }]
    }),
  )
}

/** A table as its members, one by one; all else as it is. */
export function byMembers(content: Content): Content {
  if (!('value' in content) || !isValueTable(content.value)) return content
  const children = Object.entries(content.value)
  return { members: new Map(children.map(([key, value]) => [key, { value }])) }
}
