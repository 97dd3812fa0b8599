import { remembering } from './remembering.ts'
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

/**
 * @throws UserError `config-invalid` for what cannot be a token, or is nested too deeply
 */
export const scanJson = remembering((text: string, place: string): ScannedJson => {
  const tagged: string[] = []
  const leniencies: Leniency[] = []
  let copied = 0
  /** Copies up to `end`, then writes `more` for what stands from there to `next`. */
  const copy = (end: number, more: string, next: number) => {
    tagged.push(text.slice(copied, end), more)
    copied = next
  }
  /** A comma that only blanks and comments have followed so far, and its index in `tagged`. */
  let comma: { readonly index: number; readonly offset: number } | undefined
  let depth = 0
  for (let offset = 0; offset < text.length; ) {
    const mark = text[offset] as string
    const end = tokenEnd(text, offset, mark)
    if (end === undefined) throw invalid(place, unexpected(text, offset), text, offset)
    switch (mark) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        break
      case '/':
        copy(offset, ' ', end)
        leniencies.push({ kind: 'comment', start: offset, end })
        break
      case ',':
        copy(offset, ',', end)
        comma = { index: tagged.length - 1, offset }
        break
      case '{':
      case '[':
        if (++depth > maxDepth)
          throw invalid(place, `nested more than ${maxDepth} levels deep`, text, offset)
        comma = undefined
        break
      case '}':
      case ']':
        depth--
        if (comma) {
          tagged[comma.index] = ' '
          leniencies.push({ kind: 'trailing comma', start: comma.offset, end: comma.offset + 1 })
        }
        comma = undefined
        break
      case ':':
        comma = undefined
        break
      case '"':
        copy(offset + 1, 's', offset + 1)
        comma = undefined
        break
      default:
        comma = undefined
        if (isWord(mark)) break
        copy(offset, '"n', offset)
        copy(end, '"', end)
    }
    offset = end
  }
  leniencies.sort((a, b) => a.start - b.start)
  return {
    strict: blanked(text, leniencies),
    tagged: tagged.join('') + text.slice(copied),
    leniencies,
  }
})

const blanks = /[ \t\r\n]+/y
const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y
const string = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y
const number = /-?\d[\d.eE+-]*/y
const word = /[a-z]+/y

/** Behind the token at `offset`, whose first character is `mark`; undefined: there can be none. */
export function tokenEnd(text: string, offset: number, mark: string): number | undefined {
  if ('{}[],:'.includes(mark)) return offset + 1
  const token =
    mark === '"'
      ? string
      : ' \t\r\n'.includes(mark)
        ? blanks
        : mark === '/'
          ? comment
          : isWord(mark)
            ? word
            : number
  token.lastIndex = offset
  return token.test(text) ? token.lastIndex : undefined
}

function isWord(mark: string): boolean {
  return mark >= 'a' && mark <= 'z'
}

function blanked(text: string, leniencies: readonly Leniency[]): string {
  let result = ''
  let copied = 0
  for (const { start, end } of leniencies) {
    result += `${text.slice(copied, start)} `
    copied = end
  }
  return result + text.slice(copied)
}

function unexpected(text: string, offset: number): string {
  if (text[offset] === '"') return 'a string does not end'
  return text.startsWith('/*', offset) ? 'a comment does not end' : 'unexpected character'
}

function untag(value: unknown): Value {
  if (typeof value === 'string') {
    return value.startsWith('n') ? new Literal(value.slice(1)) : value.slice(1)
  }
  if (Array.isArray(value)) return value.map(untag)
  if (typeof value !== 'object' || value === null) return value as Value
  const table = emptyTable()
  const members = value as Record<string, unknown>
  for (const key in members) table[key.slice(1)] = untag(members[key])
  return table
}
