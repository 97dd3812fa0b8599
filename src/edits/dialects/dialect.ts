import type { ConfigValue, SettingPath } from '../types.ts'
import { isValueTable, type Value, type ValueTable } from '../values/values.ts'

/** A parsed text. `root` comes from the independent parser, the containers from the parser with offsets. */
export interface ParsedText {
  readonly text: string
  readonly root: ValueTable
  /**
   * All containers. The root is first. The first call parses them, because a reader needs only the root.
   *
   * @throws UserError `config-invalid` if only the parser with offsets rejects the text
   */
  readonly containers: () => readonly Container[]
}

/** A parsed text whose containers are parsed once, when they are needed. */
export function parsedText(
  text: string,
  root: ValueTable,
  parseContainers: () => readonly Container[],
): ParsedText {
  let containers: readonly Container[] | undefined
  return { text, root, containers: () => (containers ??= parseContainers()) }
}

/** A path in a text: the keys from the root. The key of a list element is its index. */
export type IndexedPath = readonly (string | number)[]

/**
 * A part of the text that has members: a table, an object or a list.
 *
 *     [a]              a container of `lines`, with the member `a.b`
 *     b = { c = 1 }    whose value is an `inline` container: inside `a.b`, with the member `a.b.c`
 *
 * Offsets are in UTF-16 units, ends exclusive.
 */
export interface Container {
  readonly kind: ContainerKind
  readonly path: IndexedPath
  /** The range of the header, or of the braces or brackets with their contents. */
  readonly start: number
  readonly end: number
  /** In the order of the text. */
  readonly members: readonly Member[]
  /** The member that has this container as its value. The root and tables with a header have none. */
  readonly owner?: Member
}

/** How a container separates its members. */
type ContainerKind =
  /** TOML: one line for each member, below a header or above all headers. */
  | 'lines'
  /** TOML: braces with commas, on one line. */
  | 'inline'
  /** JSON: braces with commas, on one line or on several. */
  | 'object'
  /** Brackets with commas. */
  | 'list'

/** `key = value`, `"key": value` or an element of a list. */
export interface Member {
  readonly path: IndexedPath
  readonly container: Container
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** The member's value, if it is a container. */
  readonly inside: Container | undefined
}

/** What to write: a value, the source text of a value, or single members. */
export type Content =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'source'; readonly source: string }
  | { readonly kind: 'members'; readonly members: ReadonlyMap<string, Content> }

/** The formatting of a container's members. */
export interface MemberLayout {
  readonly isMultiLine: boolean
  /** The line break of the neighbouring line. */
  readonly eol: string
  /** One level of indentation. */
  readonly unit: string
  /** The indentation of each member. */
  readonly indent: string
  /** The text between key and value: `: `. */
  readonly colon: string
  /** Names have no quotes. */
  readonly isUnquoted: boolean
}

/** A key and its new content. */
export interface Setting {
  readonly path: SettingPath
  readonly content: Content
}

/** How TOML, JSON and JSON5 are parsed and spelled. Finding, setting and removing work for all of them. */
export interface Dialect {
  /** @throws UserError `config-invalid` with line and column */
  parse(text: string, fileName: string): ParsedText
  /** Converts a change's value to the form that `parse` returns. */
  toValue(value: ConfigValue): Value
  /** Spells a value. @throws Conflict if the format cannot express it */
  spell(content: Content, layout: MemberLayout): string
  /** Spells a member whose value is spelled already. Only a dotted key has several `keys`. */
  spellMember(keys: readonly string[], value: string, layout: MemberLayout): string
  /** Spells the tables to append to `text` for keys whose tables do not exist yet. */
  spellNewTables(text: string, settings: readonly Setting[]): string
  /** The lines that a user would add by hand for `settings`. */
  spellByHand(settings: readonly Setting[]): string
  /** Matches a comment at `lastIndex`. */
  readonly comment: RegExp
  /** Names the kind of a value that is not a table: `a list`. */
  describeValue(value: Value): string
  /** The format's word for a table: `a table`. */
  readonly table: string
  /** How a new table is written: as one value in braces, or each key where it belongs, such as below a header. */
  readonly newTable: 'whole' | 'by key'
  /** Whether the file has only blanks, or an empty root. */
  isBlank(text: string): boolean
}

/** An edit that is impossible at this place. It becomes a UserError `config-conflict`. */
export class Conflict extends Error {
  readonly offset: number
  /** @param offset the place in the text */
  constructor(reason: string, offset: number) {
    super(reason)
    this.name = 'Conflict'
    this.offset = offset
  }
}

/** Groups settings by their first key, in the order in which the keys first appear. */
export function groupMembers(
  settings: readonly { readonly path: readonly string[]; readonly content: Content }[],
): ReadonlyMap<string, Content> {
  const groups = new Map<string, { path: readonly string[]; content: Content }[]>()
  for (const { path, content } of settings) {
    const [key = '', ...innerPath] = path
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ path: innerPath, content }])
    else group.push({ path: innerPath, content })
  }

  return new Map(
    [...groups].map(([key, group]) => {
      const whole = group.find(({ path }) => path.length === 0)
      return [key, whole?.content ?? { kind: 'members', members: groupMembers(group) }]
    }),
  )
}

/** Converts the value of a table to single members. Other content stays as it is. */
export function asMembers(content: Content): Content {
  if (content.kind !== 'value' || !isValueTable(content.value)) return content
  const children = Object.entries(content.value)
  const members = new Map(children.map(([key, value]) => [key, { kind: 'value', value } as const]))
  return { kind: 'members', members }
}
