import { parse, TomlDate, TomlError } from 'smol-toml'
import { remembering } from './remembering.ts'
import { invalid } from './text.ts'
import { piecesOf } from './toml-pieces.ts'
import { emptyTable, Literal, maxDepth, type Value, type ValueTable } from './values.ts'

/**
 * What a text means, by the independent parser.
 *
 * @throws UserError `config-invalid`
 */
export const parseValues = remembering(
  (text: string, place: string): ValueTable => parseInPieces(text) ?? parseWhole(text, place),
)

/**
 * A large text in pieces, so that of two versions only the pieces that differ are parsed. It is read
 * in full all the same, and nothing depends on where it was cut: a piece that the parser takes has
 * ended where it ends, each but the first begins with a header, and where no two have a key in
 * common, none can concern another.
 *
 * @returns undefined where a piece is refused or has a key of another's
 */
function parseInPieces(text: string): ValueTable | undefined {
  const root = emptyTable()
  try {
    for (const piece of piecesOf(text)) {
      const values = parsePiece(piece)
      for (const key in values) {
        if (Object.hasOwn(root, key)) return undefined
        root[key] = values[key] as Value
      }
    }
  } catch (cause) {
    if (cause instanceof TomlError || cause instanceof RangeError) return undefined
    throw cause
  }
  return root
}

const parsePiece = remembering(
  (text: string) => toValue(parse(text, { integersAsBigInt: true }), 0) as ValueTable,
)

function parseWhole(text: string, place: string): ValueTable {
  try {
    return parsePiece(text)
  } catch (cause) {
    if (cause instanceof RangeError) throw invalid(place, cause.message, text, 0, cause)
    if (!(cause instanceof TomlError)) throw cause
    const offset = offsetOf(text, cause.line, cause.column - 1)
    // The rest of the message quotes the file, which may hold secrets.
    const reason = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? ''
    const key = /redefine/.test(reason) && /^[^=\]\r\n]*/.exec(text.slice(offset))?.[0].trim()
    throw invalid(place, key ? `${key} is set twice` : reason, text, offset)
  }
}

export function offsetOf(text: string, line: number, column: number): number {
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
