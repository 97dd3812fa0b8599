import { wrapWords } from './wrap.ts'

/**
 * Lines of a table, columns two blanks apart. Where it is wider than the terminal the last column is
 * wrapped under itself, so that no line is longer than `columns` where that can be helped.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)))
  const last = head.length - 1
  const indent = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(columns - indent, 20)
  return all.flatMap((row) => {
    const fixed = row
      .slice(0, last)
      .map((cell, index) => cell.padEnd(widths[index]! + 2))
      .join('')
    const [first = '', ...more] = wrapWords(row[last] ?? '', room)
    return [`${fixed}${first}`, ...more.map((line) => ' '.repeat(indent) + line)].map((line) =>
      line.trimEnd(),
    )
  })
}
