import parse from 'json5/lib/parse.js'
import type { Node } from 'jsonc-parser'
import { applySplices, offsetAt, parseError, type Splice } from '../text.ts'
import type { ConfigValue } from '../types.ts'
import { emptyTable, isValueTable, maxNesting, toValue } from '../values/values.ts'
import { type Dialect, parsedText } from './dialect.ts'
import { jsonContainers, jsonDialect } from './json.ts'

/**
 * JSON5. The package json5, which clients use too, provides the values. The offsets come from a scan of
 * the tokens, after json5 accepted the text. Edits write plain JSON, but with unquoted names if the
 * sibling names are unquoted.
 */
export const json5Dialect: Dialect = {
  ...jsonDialect,
  parse(text, fileName) {
    const { start, separators } = scanJson5(text, fileName)
    if (start === undefined) return parsedText(text, emptyTable(), () => [])

    const root = toValue(parseJson5(text, separators, fileName), Number)
    if (!isValueTable(root))
      throw parseError({ fileName, reason: 'its root is not an object', text, offset: start })
    return parsedText(text, root, () => jsonContainers(buildTree(text)))
  },
  toValue: (value) => toValue(value, Number),
  comment: /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//y,
}

/** A string, a punctuation mark, a name or a number. Offsets in UTF-16 units. */
interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
}

const json5Token = new RegExp(
  [
    /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//,
    /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^'\\]*(?:\\[\s\S][^'\\]*)*'/,
    /[{}[\]:,]|[^\s{}[\]:,"'/]+|\S/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** Yields the tokens without comments. A generator, because a large file has hundreds of thousands. */
function* readTokens(text: string): Generator<Token, void> {
  for (const { 0: part, index: start } of text.matchAll(json5Token)) {
    const isComment = part.length > 1 && part.startsWith('/')
    if (!isComment) yield { text: part, start, end: start + part.length }
  }
}

interface Json5Scan {
  /** The offset of the root. Undefined if the text has only blanks and comments. */
  readonly start: number | undefined
  /** Escapes for bare U+2028 and U+2029 in strings: json5 2.2.3 warns of them on the console. */
  readonly separators: readonly Splice[]
}

/** @throws UserError `config-invalid` if the nesting is too deep */
function scanJson5(text: string, fileName: string): Json5Scan {
  const separators: Splice[] = []
  let root: number | undefined
  let depth = 0

  for (const { text: part, start, end } of readTokens(text)) {
    root ??= start
    if ('{['.includes(part) && ++depth > maxNesting)
      throw parseError({
        fileName,
        reason: `nested more than ${maxNesting} levels deep`,
        text,
        offset: start,
        isUnsupported: true,
      })
    if ('}]'.includes(part)) depth--
    if (/^["'].*[\u2028\u2029]/s.test(part))
      separators.push({ start, end, text: escapeSeparators(part) })
  }

  return { start: root, separators }
}

function escapeSeparators(string: string): string {
  return string.replace(/\\[\s\S]|[\u2028\u2029]/g, (part) =>
    part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16)}`,
  )
}

/** @throws UserError `config-invalid` with line and column */
function parseJson5(text: string, separators: readonly Splice[], fileName: string): ConfigValue {
  try {
    return parse(applySplices(text, separators))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const { lineNumber, columnNumber } = cause as SyntaxError & Record<string, unknown>
    // The rest of the message quotes the file, which may hold secrets.
    const known = /invalid (end of input|identifier character|character)/.exec(cause.message)?.[0]
    const reason = known ?? 'it is not valid JSON5'
    const offset = offsetAt(text, Number(lineNumber), Number(columnNumber) - 1)
    throw parseError({ fileName, reason, text, offset })
  }
}

type OpenNode = Omit<Node, 'length'> & { length: number }

/** Builds the tree of a valid text, in jsonc-parser's format. A name follows `{` or a comma. */
function buildTree(text: string): Node | undefined {
  const open: OpenNode[] = []
  let root: Node | undefined
  let name: Node | undefined

  for (const { text: part, start: offset, end } of readTokens(text)) {
    if (part === ':' || part === ',') continue
    if (part === '}' || part === ']') {
      const closed = open.pop()!
      closed.length = end - closed.offset
      continue
    }

    const container = open.at(-1)
    if (container?.type === 'object' && name === undefined) {
      name = { type: 'string', value: parseName(part), offset, length: end - offset }
      continue
    }

    const node = valueNode(part, offset)
    root ??= node
    container?.children?.push(name ? { ...name, type: 'property', children: [name, node] } : node)
    name = undefined
    if (node.children) open.push(node)
  }

  return root
}

/** A node without its children. The caller adds them and then sets the length. */
function valueNode(text: string, offset: number): OpenNode {
  const position = { offset, length: text.length }
  if (text === '{') return { type: 'object', ...position, children: [] }
  return text === '['
    ? { type: 'array', ...position, children: [] }
    : { type: 'string', ...position }
}

function parseName(text: string): string {
  if (text.includes('\\')) return Object.keys(parse(`{${escapeSeparators(text)}:0}`))[0]!
  return /^["']/.test(text) ? text.slice(1, -1) : text
}
