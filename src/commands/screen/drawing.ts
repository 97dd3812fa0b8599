import cells from 'fast-string-width'
import type { Platform } from '../../platform/platform.ts'
import { isUtf8, minWrapColumns, wrapWords } from '../../text.ts'

/** How to print text at its destination. Colour only repeats the meaning of a word or a sign. */
interface TextStyle {
  readonly hasColour: boolean
  /** Whether the destination can show more than ASCII. */
  readonly isUtf8: boolean
}

/** FORCE_COLOR, NO_COLOR (https://no-color.org) and TERM decide, in this order. */
export function textStyleFor(env: Platform['machine']['env'], isTerminal: boolean): TextStyle {
  return {
    hasColour: hasColour(env, isTerminal),
    // Our locale says nothing about the program that reads a pipe or file.
    isUtf8: !isTerminal || isUtf8(env),
  }
}

function hasColour(env: Platform['machine']['env'], isTerminal: boolean): boolean {
  const force = env['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  if (env['NO_COLOR']) return false
  return isTerminal && env['TERM'] !== 'dumb'
}

const bold = 1
const red = 31
const green = 32
const yellow = 33
const cyan = 36

/** Patterns for the start of a line, and the colours of the matching part. */
const lineColours: readonly (readonly [RegExp, ...number[]])[] = [
  [/^error:/, bold, red],
  [/^(warning:|warning(?= ))/, bold, yellow],
  [/^(hint|note):/, bold, cyan],
  [/^ *(?:✔|OK(?= ))|^(?:Done|ok)\b/, green],
  [/^ *(?:✗|X(?= ))|^problem(?= )/, bold, red],
  [/^== .*/, bold],
  [/^ *\+(?!\+).*/, green],
  [/^ *-(?!-).*/, red],
  // Only the sign is coloured: a whole sentence in yellow is hard to read on a light background.
  [/^ *!(?= )/, bold, yellow],
]

/** `text` as its destination can show it. The lines must not contain escape sequences. */
export function paint(text: string, style: TextStyle): string {
  const shown = style.isUtf8 ? text : toAscii(text)
  return style.hasColour ? shown.split('\n').map(colourLine).join('\n') : shown
}

function colourLine(line: string): string {
  for (const [start, ...codes] of lineColours) {
    const painted = line.replace(start, (found) => `\x1b[${codes.join(';')}m${found}\x1b[0m`)
    if (painted !== line) return painted
  }
  return line
}

/** Our own signs. Characters in the user's files and paths stay as they are. */
const asciiSigns: Readonly<Record<string, string>> = {
  '’': "'",
  '“': '"',
  '”': '"',
  '…': '...',
  '→': '->',
  '–': '-',
  '•': '*',
  '·': '|',
  '✔': 'OK',
  '✗': 'X',
}

function toAscii(text: string): string {
  // `OK` replaces the space before the sign too, so that it ends in the same column as the other marks.
  return text.replace(/(?<= ) ✔|[’“”…→–•·✔✗]/g, (sign) => asciiSigns[sign.trim()] ?? sign)
}

/** Pads a text to a width in display cells: a Chinese character has two, a combining accent none. */
function padCells(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - cells(text)))
}

/**
 * Wraps a line that is longer than the terminal. The next lines start below its text, after the label or
 * indent.
 */
export function wrapLine(line: string, columns: number): string {
  if (cells(line) <= columns || columns < minWrapColumns) return line
  const [start] = /^ *(?:(?:error|warning|note|hint): *|[-+!✔✗→] )?/.exec(line) ?? ['']
  const [first, ...more] = wrapWords(line.slice(start.length), columns - start.length)
  return [`${start}${first}`, ...more.map((text) => ' '.repeat(start.length) + text)].join('\n')
}

/** A table with a heading. If it is wider than the terminal, each row becomes a block. */
export function fittingTable(
  [head = [], ...rows]: readonly (readonly string[])[],
  columns: number,
): string[] {
  const lines = table(head, rows, columns)
  if (head.length < 3 || lines.every((line) => cells(line) <= columns)) return lines

  return rows.flatMap(([first = '', ...others]) => {
    const fields = others.map((cell, index) => [`    ${head[index + 1]!.toLowerCase()}`, cell])
    const filled = fields.filter(([, cell]) => cell !== '')
    return [first, ...table(['', ''], filled, columns).slice(1)]
  })
}

/**
 * The lines of a table, with two spaces between columns. If the table is wider than the terminal, the
 * last column is wrapped, so that as few lines as possible are longer than `columns`.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): string[] {
  return alignRows([head, ...rows], columns).flat()
}

/** The lines of each row of a table. The first row has a cell for every column. */
export function alignRows(
  rows: readonly (readonly string[])[],
  columns: number,
): readonly (readonly string[])[] {
  const [firstRow = []] = rows
  const widths = firstRow.map((_, index) => Math.max(...rows.map((row) => cells(row[index] ?? ''))))

  const last = firstRow.length - 1
  const indent = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(columns - indent, 20)

  return rows.map((row) => {
    const fixed = row
      .slice(0, last)
      .map((cell, index) => padCells(cell, widths[index]! + 2))
      .join('')

    const [first = '', ...more] = wrapWords(row[last] ?? '', room)
    return [`${fixed}${first}`, ...more.map((line) => ' '.repeat(indent) + line)].map((line) =>
      line.trimEnd(),
    )
  })
}
