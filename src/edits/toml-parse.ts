import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import type { ParsedText } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import { invalid } from './text.ts'
import { offsetOf, parseValues } from './toml-values.ts'

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

function parseSpans(text: string, place: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text, { tomlVersion: 'latest' }).body[0]
  } catch (cause) {
    // Seen in toml-eslint-parser 1.0.3 with strings of more than some 125,000 characters (2026-11-21).
    if (cause instanceof RangeError)
      throw invalid(place, 'it holds too long a text', text, 0, cause)
    if (!(cause instanceof ParseError)) throw cause
    throw invalid(place, cause.message, text, offsetOf(text, cause.lineNumber, cause.column))
  }
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
