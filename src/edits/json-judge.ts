import { applySplices, invalid } from './text.ts'
import { emptyTable, Literal, maxDepth, type Value } from './values.ts'

/** What JSONC allows and JSON does not. Offsets in UTF-16 units, `end` exclusive. */
export interface Leniency {
  readonly kind: 'comment' | 'trailing comma'
  readonly start: number
  readonly end: number
}

const string = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/.source
const number = /-?\d[\d.eE+-]*/.source
const token = new RegExp(`${string}|//[^\\r\\n]*|/\\*[\\s\\S]*?\\*/|[^\\s"/]|["/]`, 'g')

/**
 * Comments and trailing commas, in their order.
 *
 * @throws UserError `config-invalid` for what is nested too deeply
 */
export function lenienciesOf(text: string, place: string): readonly Leniency[] {
  const found: Leniency[] = []
  /** The comma that only blanks and comments have followed so far. */
  let comma: number | undefined
  let depth = 0
  for (const { 0: part, index: start } of text.matchAll(token)) {
    const end = start + part.length
    if (part.startsWith('//') || part.startsWith('/*')) {
      found.push({ kind: 'comment', start, end })
      continue
    }
    if ('{['.includes(part) && ++depth > maxDepth) {
      throw invalid(place, `nested more than ${maxDepth} levels deep`, text, start)
    }
    if ('}]'.includes(part)) {
      depth--
      if (comma !== undefined) found.push({ kind: 'trailing comma', start: comma, end: comma + 1 })
    }
    comma = part === ',' ? start : undefined
  }
  return found.toSorted((a, b) => a.start - b.start)
}

/**
 * The second judge of a JSON text. It shares no code with jsonc-parser: what JSONC allows is blanked,
 * and the JavaScript engine does the rest.
 *
 * JSON.parse alone would lose digits of large numbers and treat `__proto__` as it likes, so it also
 * gets a copy in which each number is a string `n…` and each string, keys too, is `s…`.
 *
 * @returns undefined for nothing but blanks and comments
 * @throws SyntaxError, whose message quotes the file
 * @throws UserError `config-invalid` for what is nested too deeply
 */
export function judgeJson(text: string, place: string): Value | undefined {
  const blanks = lenienciesOf(text, place).map(({ start, end }) => ({ start, end, text: ' ' }))
  const strict = applySplices(text, blanks)
  if (strict.trim() === '') return undefined
  JSON.parse(strict)
  const tagged = strict.replace(new RegExp(`${string}|${number}`, 'g'), (part) =>
    part.startsWith('"') ? `"s${part.slice(1)}` : `"n${part}"`,
  )
  return untagged(JSON.parse(tagged))
}

function untagged(value: unknown): Value {
  if (typeof value === 'string') {
    return value.startsWith('n') ? new Literal(value.slice(1)) : value.slice(1)
  }
  if (Array.isArray(value)) return value.map(untagged)
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key.slice(1)] = untagged(child)
  return table
}
