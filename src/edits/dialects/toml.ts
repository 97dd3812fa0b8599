import stringify from '@iarna/toml/stringify.js'
import { parse, TomlDate, TomlError } from 'smol-toml'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { endsWithBlankLine, eolAt, offsetAt, parseError } from '../text.ts'
import { plainKey } from '../values/paths.ts'
import { Literal, maxNesting, toValue, type Value, type ValueTable } from '../values/values.ts'
import {
  asMembers,
  Conflict,
  type Container,
  type Content,
  type Dialect,
  type Member,
  parsedText,
  type Setting,
} from './dialect.ts'

/**
 * TOML. Two parsers that share no code must both accept a text: smol-toml provides the values,
 * toml-eslint-parser the offsets. @iarna/toml spells values.
 */
export const tomlDialect: Dialect = {
  parse(text, fileName) {
    const root = parseToml(text, fileName)
    return parsedText(text, root, () => tomlContainers(parseTomlTree(text, fileName)))
  },
  toValue: (value) =>
    toValue(value, (number) => (Number.isInteger(number) ? BigInt(number) : number)),
  spell: spellToml,
  spellMember: (keys, value) => `${spellKey(keys)} = ${value}`,
  spellNewTables: spellTables,
  spellByHand: (settings) => tableBlocks(settings, '\n').toSorted(rootFirst).join('\n\n'),
  comment: /#[^\r\n]*/y,
  describeValue: (value) => (Array.isArray(value) ? 'a list' : 'a single value'),
  table: 'a table',
  newTable: 'by key',
  isBlank: (text) => text.trim() === '',
}

function parseToml(text: string, fileName: string): ValueTable {
  try {
    return replaceDates(parse(text, { integersAsBigInt: true }), 0) as ValueTable
  } catch (cause) {
    if (cause instanceof RangeError)
      throw parseError({
        fileName,
        reason: cause.message,
        text,
        offset: 0,
        isUnsupported: true,
        cause,
      })
    if (!(cause instanceof TomlError)) throw cause

    const offset = offsetAt(text, cause.line, cause.column - 1)
    // The other lines of the message quote the file, which may hold secrets.
    const problem = cause.message.replace('Invalid TOML document: ', '').replace(/\n.*/s, '')
    const isSetTwice = /redefine/.test(problem)
    const reason = isSetTwice ? `${keyAt(text, offset)} is set twice` : problem
    throw parseError({ fileName, reason, text, offset })
  }
}

/** The source text of the key at an offset, without the equals sign or bracket after it. */
function keyAt(text: string, offset: number): string {
  return text
    .slice(offset)
    .replace(/[=\]\r\n].*/s, '')
    .trim()
}

/** Replaces dates in place. The tables of smol-toml have no prototype, and nobody else uses them. */
function replaceDates(value: unknown, depth: number): Value {
  if (typeof value !== 'object') return value as Value
  if (depth > maxNesting) throw new RangeError(`it is nested more than ${maxNesting} levels deep`)
  if (value instanceof TomlDate) return new Literal(value.toISOString())
  const members = value as Record<string, unknown>
  for (const key in members) members[key] = replaceDates(members[key], depth + 1)
  return members as ValueTable
}

function parseTomlTree(text: string, fileName: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text).body[0]
  } catch (cause) {
    // Seen in toml-eslint-parser 1.0.3 with strings of more than about 125,000 characters (2026-11-21).
    if (cause instanceof RangeError)
      throw parseError({
        fileName,
        reason: 'a text in it is too long',
        text,
        offset: 0,
        isUnsupported: true,
        cause,
      })
    if (!(cause instanceof ParseError)) throw cause
    const offset = offsetAt(text, cause.lineNumber, cause.column)
    throw parseError({ fileName, reason: cause.message, text, offset })
  }
}

function tomlContainers(top: AST.TOMLTopLevelTable): readonly Container[] {
  const root: OpenContainer = { kind: 'lines', path: [], start: 0, end: 0, members: [] }
  const containers = [root]

  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') {
      addMember(containers, root, node)
      continue
    }
    const [start, end] = [node.range[0], node.key.range[1]]
    const path = node.resolvedKey
    const header: OpenContainer = { kind: 'lines', path, start, end, members: [] }
    containers.push(header)
    for (const child of node.body) addMember(containers, header, child)
  }

  return containers
}

interface OpenContainer extends Container {
  readonly members: Member[]
}

function addMember(
  containers: Container[],
  container: OpenContainer,
  node: AST.TOMLKeyValue,
): void {
  const keys = node.key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))
  const place = { path: [...container.path, ...keys], start: node.key.range[0] }
  addValue(containers, container, place, node.value)
}

function addValue(
  containers: Container[],
  container: OpenContainer,
  { path, start }: Pick<Member, 'path' | 'start'>,
  value: AST.TOMLContentNode,
): void {
  const [valueStart, end] = value.range
  const member = {
    path,
    container,
    start,
    valueStart,
    end,
    inside: undefined as Container | undefined,
  }
  container.members.push(member)
  if (value.type !== 'TOMLInlineTable' && value.type !== 'TOMLArray') return

  const kind = value.type === 'TOMLArray' ? 'list' : 'inline'
  const inside: OpenContainer = { kind, path, start: valueStart, end, members: [], owner: member }
  member.inside = inside
  containers.push(inside)
  if (value.type === 'TOMLInlineTable') {
    for (const child of value.body) addMember(containers, inside, child)
  } else {
    for (const [index, item] of value.elements.entries())
      addValue(containers, inside, { path: [...path, index], start: item.range[0] }, item)
  }
}

function spellToml(unresolved: Content): string {
  const content = asMembers(unresolved)
  if (content.kind === 'source') return content.source
  if (content.kind === 'value') return spellTomlValue(content.value)

  const all = [...content.members].map(([key, child]) => `${spellKey([key])} = ${spellToml(child)}`)
  return all.length === 0 ? '{}' : `{ ${all.join(', ')} }`
}

function spellTomlValue(value: Value): string {
  if (value === null) throw new Conflict('TOML has no null', 0)
  if (Array.isArray(value)) {
    const items = value.map((item) => spellToml({ kind: 'value', value: item }))
    return `[${items.join(', ')}]`
  }
  return spellScalar(value as string | number | boolean)
}

function spellKey(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : spellScalar(key))).join('.')
}

/** The types of @iarna/toml leave out bigint, which it supports (seen in 3.0.0). */
function spellScalar(scalar: string | number | boolean): string {
  if (/\p{Surrogate}/u.test(String(scalar)))
    throw new Conflict('TOML cannot contain half a character', 0)
  // @iarna/toml escapes only the first control character (seen in 3.0.0).
  return stringify.value(scalar).replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be escaped
    /[\u0000-\u001f\u007f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Spells a new `[table]` for each parent. */
function spellTables(text: string, settings: readonly Setting[]): string {
  const eol = eolAt(text, text.length)
  const blocks = tableBlocks(settings, eol).join(eol + eol)
  if (text === '') return blocks + eol
  if (!text.endsWith('\n')) return eol + eol + blocks
  return (endsWithBlankLine(text) ? '' : eol) + blocks + eol
}

/** One block for each table: its header, then its keys. The root has no header. */
function tableBlocks(settings: readonly Setting[], eol: string): string[] {
  const blocks = new Map<string, string[]>()
  for (const { path, content } of settings) {
    const keys = path.map(plainKey)
    const table = spellKey(keys.slice(0, -1))
    const header = table === '' ? [] : [`[${table}]`]
    const line = `${spellKey(keys.slice(-1))} = ${spellToml(content)}`
    blocks.set(table, [...(blocks.get(table) ?? header), line])
  }
  return [...blocks.values()].map((lines) => lines.join(eol))
}

function rootFirst(a: string, b: string): number {
  return Number(a.startsWith('[')) - Number(b.startsWith('['))
}
