import parse from 'json5/lib/parse.js'
import type { Node } from 'jsonc-parser'
import type { ConfigValue } from '../plan.ts'
import { applySplices, invalid, notReadHere, offsetAt, type Splice } from '../text.ts'
import { emptyTable, isValueTable, maxNesting, toValue } from '../values.ts'
import type { Dialect } from './dialect.ts'
import { jsonContainers, jsonDialect } from './json.ts'

/**
 * JSON5. json5, with which clients read it, says what a text means; where it stands is found token by
 * token, in a text that json5 has accepted. What is written is plain JSON, with unquoted names among
 * such.
 */
export const json5Dialect: Dialect = {
  ...jsonDialect,
  parse(text, place) {
    const tokens = tokensOf(text)
    const first = tokens.find(({ isComment }) => !isComment)
    if (first === undefined) return { text, root: emptyTable(), containers: [] }

    const meaning = meaningOfJson5(text, tokens, place)
    const tree = json5Tree(text, tokens, place)
    const root = toValue(meaning, Number)
    if (!isValueTable(root)) throw invalid(place, 'its root is not an object', text, first.start)
    return { text, root, containers: jsonContainers(tree) }
  },
  toValue: (value) => toValue(value, Number),
  comment: /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//y,
}

/** A comment, a string, a mark, or what stands between blanks: a name, a number. Offsets in UTF-16 units. */
interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly isComment: boolean
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

function tokensOf(text: string): readonly Token[] {
  return Array.from(text.matchAll(json5Token), ({ 0: part, index: start }) => ({
    text: part,
    start,
    end: start + part.length,
    isComment: part.length > 1 && part.startsWith('/'),
  }))
}

/** @throws UserError `config-invalid` with line and column */
function meaningOfJson5(text: string, tokens: readonly Token[], place: string): ConfigValue {
  try {
    return parse(applySplices(text, escapedSeparators(tokens)))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const { lineNumber, columnNumber } = cause as SyntaxError & Record<string, unknown>
    // The rest of the message quotes the file, which may hold secrets.
    const reason = /invalid (end of input|identifier character|character)/.exec(cause.message)?.[0]
    const offset = offsetAt(text, Number(lineNumber), Number(columnNumber) - 1)
    throw invalid(place, reason ?? 'it is not valid JSON5', text, offset)
  }
}

/** json5 warns on the console of a bare U+2028 or U+2029 in a string (seen in 2.2.3, 2026-11-23). */
function escapedSeparators(tokens: readonly Token[]): readonly Splice[] {
  return tokens
    .filter(({ text }) => /^["'].*[\u2028\u2029]/s.test(text))
    .map(({ text, start, end }) => {
      const escaped = text.replace(/\\[\s\S]|[\u2028\u2029]/g, (part) =>
        part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16)}`,
      )
      return { start, end, text: escaped }
    })
}

type OpenNode = Omit<Node, 'length'> & { length: number }

/**
 * Of a text that is valid, as jsonc-parser has it: a name stands first in an object, or behind a comma.
 *
 * @throws UserError `config-invalid` for what is nested too deeply
 */
function json5Tree(text: string, tokens: readonly Token[], place: string): Node | undefined {
  const open: OpenNode[] = []
  let root: Node | undefined
  let name: Node | undefined

  for (const { text: part, start: offset, end, isComment } of tokens) {
    if (isComment || part === ':' || part === ',') continue
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
    if (node.children && open.push(node) > maxNesting)
      throw notReadHere(place, `nested more than ${maxNesting} levels deep`, text, offset)
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
  if (text.includes('\\')) return Object.keys(parse(`{${text}:0}`))[0]!
  return /^["']/.test(text) ? text.slice(1, -1) : text
}
