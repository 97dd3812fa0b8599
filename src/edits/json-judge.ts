import { invalid } from './text.ts'
import { emptyTable, Literal, maxDepth, type Value } from './values.ts'

/** What JSONC allows and JSON does not. Offsets in UTF-16 units, `end` exclusive. */
export interface Leniency {
  readonly kind: 'comment' | 'trailing comma'
  readonly start: number
  readonly end: number
}

/**
 * The second judge of a JSON text. It shares no code with jsonc-parser: a scanner of our own blanks
 * comments and trailing commas, and the JavaScript engine's JSON.parse does the rest.
 *
 * JSON.parse alone would lose digits of large numbers and treat `__proto__` as it likes, so it gets
 * a copy in which each number is a string `n…` and each string, keys too, is `s…`.
 *
 * @throws UserError `config-invalid`
 */
export function judgeJson(
  text: string,
  place: string,
  scanned: ScannedJson = scanJson(text, place),
): Value | undefined {
  if (scanned.strict.trim() === '') return undefined
  try {
    JSON.parse(scanned.strict)
    return untag(JSON.parse(scanned.tagged))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // Its message quotes the file, which may hold secrets.
    throw invalid(place, 'it is not valid JSON', text, 0)
  }
}

export interface ScannedJson {
  /** The text with comments and trailing commas blanked. */
  readonly strict: string
  readonly tagged: string
  readonly leniencies: readonly Leniency[]
}

const token =
  /(?<comment>\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)|(?<string>"[^"\\]*(?:\\[\s\S][^"\\]*)*")|(?<number>-?\d[\d.eE+-]*)|(?<blank>[ \t\r\n]+)|(?<mark>[{}[\],:])|(?<word>[a-z]+)/y

/**
 * @throws UserError `config-invalid` for what cannot be a token, or is nested too deeply
 */
export function scanJson(text: string, place: string): ScannedJson {
  const strict: string[] = []
  const tagged: string[] = []
  const leniencies: Leniency[] = []
  /** Index in both lists of a comma that only blanks and comments have followed so far. */
  let comma: { readonly index: number; readonly offset: number } | undefined
  let depth = 0
  for (let offset = 0; offset < text.length; ) {
    token.lastIndex = offset
    const groups = token.exec(text)?.groups
    if (groups === undefined) throw invalid(place, unexpected(text, offset), text, offset)
    const source = Object.values(groups).find((part) => part !== undefined) as string
    if (groups['comment'] !== undefined) {
      leniencies.push({ kind: 'comment', start: offset, end: offset + source.length })
      strict.push(' ')
      tagged.push(' ')
    } else if (groups['blank'] !== undefined) {
      strict.push(source)
      tagged.push(source)
    } else {
      if (comma && /^[}\]]$/.test(source)) {
        strict[comma.index] = ' '
        tagged[comma.index] = ' '
        leniencies.push({
          kind: 'trailing comma',
          start: comma.offset,
          end: comma.offset + 1,
        })
      }
      comma = source === ',' ? { index: strict.length, offset } : undefined
      if (/^[{[]$/.test(source) && ++depth > maxDepth) {
        throw invalid(place, `nested more than ${maxDepth} levels deep`, text, offset)
      }
      if (/^[}\]]$/.test(source)) depth--
      strict.push(source)
      tagged.push(tag(groups, source))
    }
    offset += source.length
  }
  return {
    strict: strict.join(''),
    tagged: tagged.join(''),
    leniencies: leniencies.toSorted((a, b) => a.start - b.start),
  }
}

function unexpected(text: string, offset: number): string {
  if (text[offset] === '"') return 'a string does not end'
  return text.startsWith('/*', offset) ? 'a comment does not end' : 'unexpected character'
}

function tag(groups: Record<string, string | undefined>, source: string): string {
  if (groups['string'] !== undefined) return `"s${source.slice(1)}`
  return groups['number'] === undefined ? source : `"n${source}"`
}

function untag(value: unknown): Value {
  if (typeof value === 'string') {
    return value.startsWith('n') ? new Literal(value.slice(1)) : value.slice(1)
  }
  if (Array.isArray(value)) return value.map(untag)
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  for (const [key, child] of Object.entries(value)) table[key.slice(1)] = untag(child)
  return table
}
