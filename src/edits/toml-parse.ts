import { parse, TomlDate, TomlError } from 'smol-toml'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import type { ParsedText } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import { remembering } from './remembering.ts'
import { invalid } from './text.ts'
import { Literal, maxDepth, type Value, type ValueTable } from './values.ts'

/** A TOML text with the place of each key. */
export interface TomlText extends ParsedText {
  /** Keys of the root, in their order. */
  readonly rootEntries: readonly TomlEntry[]
  readonly headers: readonly TomlHeader[]
  /** All keys, also those of inline tables. */
  readonly entries: readonly TomlEntry[]
}

/** `key = value`. Offsets are in UTF-16 units, ends exclusive. */
export interface TomlEntry {
  /** From the root. */
  readonly path: KeyPath
  /** The path of the table that it is written in: the root, a header, or an inline table. */
  readonly base: KeyPath
  /** The inline table's own entry. */
  readonly inline: TomlEntry | undefined
  readonly header: TomlHeader | undefined
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
  /** Its value is an inline table, with these entries. */
  readonly children: readonly TomlEntry[] | undefined
}

/** `[table]` or `[[list]]`. */
export interface TomlHeader {
  readonly path: KeyPath
  readonly start: number
  readonly end: number
  /** It opens an element of a list of tables, or stands below one. */
  readonly isInList: boolean
  readonly entries: readonly TomlEntry[]
}

/**
 * Two parsers that share no code must both accept the text: smol-toml says what it means,
 * toml-eslint-parser says where it stands.
 *
 * @throws UserError `config-invalid`
 */
export function parseToml(text: string, place: string): TomlText {
  const root = parseValues(text, place)
  return { text, root, ...index(parseSpans(text, place)) }
}

/**
 * Says what the text means, and looks for places when it is first asked for one. The span parser
 * takes 5 ms to run for the first time (Node 20.20, 2026-11-21), and 0.2 s for 1 MB.
 *
 * @throws UserError `config-invalid`; so do the places, where only the span parser refuses the text
 */
export function readToml(text: string, place: string): TomlText {
  const root = parseValues(text, place)
  let found: ReturnType<typeof index> | undefined
  const places = () => {
    found ??= index(parseSpans(text, place))
    return found
  }
  return {
    text,
    root,
    get rootEntries() {
      return places().rootEntries
    },
    get headers() {
      return places().headers
    },
    get entries() {
      return places().entries
    },
  }
}

const parseValues = remembering((text: string, place: string): ValueTable => {
  try {
    return toValue(parse(text, { integersAsBigInt: true }), 0) as ValueTable
  } catch (cause) {
    if (cause instanceof RangeError) throw invalid(place, cause.message, text, 0, cause)
    if (!(cause instanceof TomlError)) throw cause
    const offset = offsetOf(text, cause.line, cause.column - 1)
    // The rest of the message quotes the file, which may hold secrets.
    const reason = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? ''
    const key = /redefine/.test(reason) && /^[^=\]\r\n]*/.exec(text.slice(offset))?.[0].trim()
    throw invalid(place, key ? `${key} is set twice` : reason, text, offset)
  }
})

function parseSpans(text: string, place: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text, { tomlVersion: 'latest' }).body[0]
  } catch (cause) {
    if (!(cause instanceof ParseError)) throw cause
    throw invalid(place, cause.message, text, offsetOf(text, cause.lineNumber, cause.column))
  }
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1
  return Math.min(start + column, text.length)
}

/** What smol-toml gives is ours alone: its tables, which have no prototype, and lists are kept. */
function toValue(value: unknown, depth: number): Value {
  if (typeof value !== 'object' || value === null) return value as Value
  if (depth > maxDepth) throw new RangeError(`it is nested more than ${maxDepth} levels deep`)
  if (value instanceof TomlDate) return new Literal(value.toISOString())
  const members = value as Record<string, unknown>
  for (const key in members) {
    const child = members[key]
    if (typeof child === 'object') members[key] = toValue(child, depth + 1)
  }
  return members as ValueTable
}

function index(top: AST.TOMLTopLevelTable): Omit<TomlText, keyof ParsedText> {
  const entries: TomlEntry[] = []
  const headers: TomlHeader[] = []
  const rootEntries: TomlEntry[] = []
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') {
      rootEntries.push(addEntry(node, [], undefined, undefined, entries))
    } else {
      headers.push(addHeader(node, entries))
    }
  }
  return { entries, headers, rootEntries }
}

function addHeader(node: AST.TOMLTable, entries: TomlEntry[]): TomlHeader {
  const own: TomlEntry[] = []
  const path = keyNames(node.key)
  const header: TomlHeader = {
    path,
    start: node.range[0],
    end: node.key.range[1],
    isInList: node.resolvedKey.some((key) => typeof key === 'number'),
    entries: own,
  }
  for (const child of node.body) own.push(addEntry(child, path, undefined, header, entries))
  return header
}

function addEntry(
  node: AST.TOMLKeyValue,
  base: KeyPath,
  inline: TomlEntry | undefined,
  header: TomlHeader | undefined,
  entries: TomlEntry[],
): TomlEntry {
  const children: TomlEntry[] | undefined = node.value.type === 'TOMLInlineTable' ? [] : undefined
  const entry: TomlEntry = {
    path: [...base, ...keyNames(node.key)],
    base,
    inline,
    header,
    start: node.key.range[0],
    valueStart: node.value.range[0],
    valueEnd: node.value.range[1],
    children,
  }
  entries.push(entry)
  if (node.value.type === 'TOMLInlineTable') {
    for (const child of node.value.body) {
      children?.push(addEntry(child, entry.path, entry, header, entries))
    }
  }
  return entry
}

function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))
}
