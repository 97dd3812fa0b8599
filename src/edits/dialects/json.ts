import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { applySplices, eolAt, parseError } from '../text.ts'
import { plainKey } from '../values/paths.ts'
import {
  emptyTable,
  isValueTable,
  Literal,
  maxNesting,
  toValue,
  type Value,
  type ValueTable,
} from '../values/values.ts'
import {
  asMembers,
  Conflict,
  type Container,
  type Content,
  type Dialect,
  groupMembers,
  type IndexedPath,
  type Member,
  type MemberLayout,
  parsedText,
  type Setting,
} from './dialect.ts'

/**
 * JSON and JSONC. Two parsers that share no code must both accept a text: JSON.parse provides the
 * values, jsonc-parser the offsets. Whether a client accepts comments and trailing commas is decided in
 * the client's module, with `strictJsonProblem`.
 */
export const jsonDialect: Dialect = {
  parse(text, fileName) {
    const root = parseRoot(text, fileName)
    return parsedText(text, root, () => jsonContainers(parseJsonTree(text, fileName)))
  },
  toValue: (value) => toValue(value, toLiteral),
  spell: spellJson,
  spellMember: ([key = ''], value, layout) => spellName(key, layout) + layout.colon + value,
  spellNewTables: spellNewRoot,
  spellByHand: (settings) => spellRoot(settings, '\n'),
  comment: /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y,
  describeValue: describeJsonValue,
  table: 'an object',
  newTable: 'whole',
  isBlank: (text) => /^\s*(\{\s*\}\s*)?$/.test(text),
}

function parseRoot(text: string, fileName: string): ValueTable {
  let root: Value
  try {
    root = parseStrict(text, fileName)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    parseJsonTree(text, fileName)
    throw parseError({ fileName, reason: 'it is not valid JSON', text, offset: 0 })
  }

  if (!isValueTable(root)) {
    const { offset } = parseJsonTree(text, fileName)!
    throw parseError({ fileName, reason: 'its root is not an object', text, offset })
  }

  return root
}

/** Something that JSONC allows and JSON does not. Offsets in UTF-16 units, `end` exclusive. */
export interface Leniency {
  readonly kind: 'comment' | 'trailing comma'
  readonly start: number
  readonly end: number
}

const string = /"[^"\\]*(?:\\.[^"\\]*)*"/.source
const number = /-?\d[\d.eE+-]*/.source
const jsonToken = new RegExp(
  `${string}|//[^\\r\\n]*|/\\*[\\s\\S]*?\\*/|[{}[\\],]|[^\\s{}[\\],"/]+|["/]`,
  'g',
)

/**
 * Finds comments and trailing commas, in the order of the text.
 *
 * @throws UserError `config-invalid` if the nesting is too deep
 */
export function findLeniencies(text: string, fileName: string): readonly Leniency[] {
  const leniencies: Leniency[] = []
  /** The last comma, if only blanks and comments followed it so far. */
  let comma: number | undefined
  let depth = 0

  for (const { 0: part, index: start } of text.matchAll(jsonToken)) {
    const end = start + part.length
    if (part.startsWith('//') || part.startsWith('/*')) {
      leniencies.push({ kind: 'comment', start, end })
      continue
    }

    if ('{['.includes(part) && ++depth > maxNesting) {
      throw parseError({
        fileName,
        reason: `nested more than ${maxNesting} levels deep`,
        text,
        offset: start,
        isUnsupported: true,
      })
    }
    if ('}]'.includes(part)) {
      depth--
      if (comma !== undefined)
        leniencies.push({ kind: 'trailing comma', start: comma, end: comma + 1 })
    }
    comma = part === ',' ? start : undefined
  }

  return leniencies.toSorted((a, b) => a.start - b.start)
}

/**
 * Parses a JSON text without jsonc-parser: replaces comments and trailing commas with blanks and calls
 * JSON.parse.
 *
 * JSON.parse loses digits of large numbers and treats `__proto__` specially. So it also parses a copy
 * in which each number is a string `n…` and each string, including keys, is `s…`.
 *
 * @returns an empty object if the text has only blanks and comments
 * @throws SyntaxError, whose message quotes the file
 * @throws UserError `config-invalid` if the nesting is too deep
 */
function parseStrict(text: string, fileName: string): Value {
  const blanks = findLeniencies(text, fileName).map(({ start, end }) => ({ start, end, text: ' ' }))
  // Without its comma, `[,]` would be valid.
  if (blanks.length > 0) parseJsonTree(text, fileName)
  const strict = applySplices(text, blanks)
  if (strict.trim() === '') return emptyTable()
  JSON.parse(strict)
  const tagged = strict.replace(new RegExp(`${string}|${number}`, 'g'), (part) =>
    part.startsWith('"') ? `"s${part.slice(1)}` : `"n${part}"`,
  )
  return removeTags(JSON.parse(tagged))
}

function removeTags(value: unknown): Value {
  if (typeof value === 'string') {
    return value.startsWith('n') ? new Literal(value.slice(1)) : value.slice(1)
  }
  if (Array.isArray(value)) return value.map(removeTags)
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key.slice(1)] = removeTags(child)
  return table
}

/**
 * The root object, or undefined if the file has only blanks and comments. The parser is recursive, so
 * the caller must check the nesting first.
 *
 * @throws UserError `config-invalid` with line and column
 */
function parseJsonTree(text: string, fileName: string): Node | undefined {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error === undefined) return tree
  const words = printParseErrorCode(error.error).replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
  throw parseError({ fileName, reason: words.toLowerCase(), text, offset: error.offset })
}

/** @param tree undefined if the text has only blanks and comments */
export function jsonContainers(tree: Node | undefined): readonly Container[] {
  const containers: Container[] = []
  if (tree) addContainer(containers, tree, [], undefined)
  return containers
}

function addContainer(
  containers: Container[],
  node: Node,
  path: IndexedPath,
  owner: Member | undefined,
): Container | undefined {
  if (node.children === undefined) return undefined

  const members: Member[] = []
  const kind = node.type === 'array' ? 'list' : 'object'
  const [start, end] = [node.offset, node.offset + node.length]
  const container: Container = { kind, path, start, end, members, owner }
  containers.push(container)

  for (const [index, child] of node.children.entries()) {
    const [key, value] = kind === 'list' ? [undefined, child] : (child.children as [Node, Node])
    const member = {
      path: [...path, key ? String(key.value) : index],
      container,
      start: child.offset,
      valueStart: value.offset,
      end: value.offset + value.length,
      inside: undefined as Container | undefined,
    }
    members.push(member)
    member.inside = addContainer(containers, value, member.path, member)
  }

  return container
}

/** A number in the form that `parseStrict` returns: its source text. */
function toLiteral(number: number | bigint): Value {
  if (typeof number === 'number' && !Number.isFinite(number)) return number
  return new Literal(String(number))
}

function describeJsonValue(value: Value): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return `a ${value instanceof Literal ? 'number' : typeof value}`
}

function spellJson(unresolved: Content, layout: MemberLayout): string {
  const content = asMembers(unresolved)
  if (content.kind === 'source') return content.source.replace(/\r?\n/g, layout.eol)
  if (content.kind === 'value') return spellJsonValue(content.value, layout)

  const inner = indented(layout)
  const all = [...content.members].map(
    ([key, child]) => spellName(key, layout) + layout.colon + spellJson(child, inner),
  )
  return enclose('{', all, '}', layout)
}

function spellJsonValue(value: Value, layout: MemberLayout): string {
  if (value instanceof Literal) return value.source
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Conflict('JSON has only finite numbers', 0)
  if (!Array.isArray(value)) return JSON.stringify(value)
  const items = value.map((item) => spellJson({ kind: 'value', value: item }, indented(layout)))
  return enclose('[', items, ']', layout)
}

/** Spells a name without quotes if its sibling names have none, which only JSON5 allows. */
function spellName(key: string, { isUnquoted }: MemberLayout): string {
  return isUnquoted && /^[a-z_$][\w$]*$/i.test(key) ? key : JSON.stringify(key)
}

function indented(layout: MemberLayout): MemberLayout {
  return { ...layout, indent: layout.indent + layout.unit }
}

function enclose(
  open: string,
  parts: readonly string[],
  close: string,
  layout: MemberLayout,
): string {
  const { isMultiLine, eol, unit, indent, colon } = layout
  if (parts.length === 0) return open + close
  if (!isMultiLine) {
    const space = colon.endsWith(' ') ? ' ' : ''
    const pad = open === '{' ? space : ''
    return open + pad + parts.join(`,${space}`) + pad + close
  }

  const lines = parts.map((part) => indent + unit + part).join(`,${eol}`)
  return open + eol + lines + eol + indent + close
}

/** Spells the root object of a file that has none. */
function spellNewRoot(text: string, settings: readonly Setting[]): string {
  const eol = eolAt(text, text.length)
  const root = spellRoot(settings, eol)
  return text === '' || text.endsWith('\n') ? root + eol : eol + root
}

function spellRoot(settings: readonly Setting[], eol: string): string {
  const members = settings.map(({ path, content }) => ({
    path: path.map(plainKey),
    content,
  }))
  const layout = { isMultiLine: true, eol, unit: '  ', indent: '', colon: ': ', isUnquoted: false }
  return spellJson({ kind: 'members', members: groupMembers(members) }, layout)
}
