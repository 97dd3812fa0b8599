import parse from 'json5/lib/parse.js'
import type { Node } from 'jsonc-parser'
import type { ConfigValue } from '../plan.ts'
import { applySplices, invalidConfig, offsetAt, type Splice, unsupported } from '../text.ts'
import { emptyTable, isValueTable, maxNesting, toValue } from '../values.ts'
import type { Container, Dialect } from './dialect.ts'
import { jsonContainers, jsonDialect } from './json.ts'

/**
 * JSON5. json5, with which clients read it, says what a text means; where it stands is found token by
 * token, in a text that json5 has accepted. What is written is plain JSON, with unquoted names among
 * such.
 */
export const json5Dialect: Dialect = {
  ...jsonDialect,
  parse(text, place) {
    const { start, separators } = surveyOf(text, place)
    if (start === undefined) return { text, root: emptyTable(), containers: [] }

    const root = toValue(meaningOfJson5(text, separators, place), Number)
    if (!isValueTable(root)) throw invalidConfig(place, 'its root is not an object', text, start)
    let containers: readonly Container[] | undefined
    return {
      text,
      root,
      get containers() {
        containers ??= jsonContainers(json5Tree(text))
        return containers
      },
    }
  },
  toValue: (value) => toValue(value, Number),
  comment: /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//y,
}

/** A string, a mark, or what stands between blanks: a name, a number. Offsets in UTF-16 units. */
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

/** Comments are none. One by one: a large file has hundreds of thousands. */
function* tokensOf(text: string): Generator<Token, void> {
  for (const { 0: part, index: start } of text.matchAll(json5Token)) {
    const isComment = part.length > 1 && part.startsWith('/')
    if (!isComment) yield { text: part, start, end: start + part.length }
  }
}

interface Survey {
  /** Of the root; undefined: the text holds nothing but blanks and comments. */
  readonly start: number | undefined
  /** Escapes for bare U+2028 and U+2029 in strings: json5 2.2.3 warns of them on the console. */
  readonly separators: readonly Splice[]
}

/** @throws UserError `config-invalid` for what is nested too deeply */
function surveyOf(text: string, place: string): Survey {
  const separators: Splice[] = []
  let root: number | undefined
  let depth = 0

  for (const { text: part, start, end } of tokensOf(text)) {
    root ??= start
    if ('{['.includes(part) && ++depth > maxNesting)
      throw unsupported(place, `nested more than ${maxNesting} levels deep`, text, start)
    if ('}]'.includes(part)) depth--
    if (/^["'].*[\u2028\u2029]/s.test(part))
      separators.push({ start, end, text: withEscapedSeparators(part) })
  }
  return { start: root, separators }
}

function withEscapedSeparators(string: string): string {
  return string.replace(/\\[\s\S]|[\u2028\u2029]/g, (part) =>
    part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16)}`,
  )
}

/** @throws UserError `config-invalid` with line and column */
function meaningOfJson5(text: string, separators: readonly Splice[], place: string): ConfigValue {
  try {
    return parse(applySplices(text, separators))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const { lineNumber, columnNumber } = cause as SyntaxError & Record<string, unknown>
    // The rest of the message quotes the file, which may hold secrets.
    const reason = /invalid (end of input|identifier character|character)/.exec(cause.message)?.[0]
    const offset = offsetAt(text, Number(lineNumber), Number(columnNumber) - 1)
    throw invalidConfig(place, reason ?? 'it is not valid JSON5', text, offset)
  }
}

type OpenNode = Omit<Node, 'length'> & { length: number }

/** Of a text that is valid, as jsonc-parser has it: a name stands first in an object, or behind a comma. */
function json5Tree(text: string): Node | undefined {
  const open: OpenNode[] = []
  let root: Node | undefined
  let name: Node | undefined

  for (const { text: part, start: offset, end } of tokensOf(text)) {
    if (part === ':' || part === ',') continue
    if (part === '}' || part === ']') {
      const closed = open.pop()!
      closed.length = end - closed.offset
      continue
    }

    const container = open.at(-1)
    if (container?.type === 'object' && name === undefined) {
      name = { type: 'string', value: nameIn(part), offset, length: end - offset }
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

/** What it holds, and how long it is then, follows. */
function valueNode(text: string, offset: number): OpenNode {
  const found = { offset, length: text.length }
  if (text === '{') return { type: 'object', ...found, children: [] }
  return text === '[' ? { type: 'array', ...found, children: [] } : { type: 'string', ...found }
}

function nameIn(text: string): string {
  if (text.includes('\\')) return Object.keys(parse(`{${withEscapedSeparators(text)}:0}`))[0]!
  return /^["']/.test(text) ? text.slice(1, -1) : text
}
