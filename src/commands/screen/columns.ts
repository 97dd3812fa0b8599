/** Words of `text` in lines of at most `width` columns, where no word is longer. */
function wrapWords(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** Narrower than this nothing is wrapped: there is no reading it anyway. */
const narrowest = 30

/** Continues a line that is longer than the terminal below its text, behind a label or an indent. */
export function wrapLine(line: string, columns: number): string {
  if (line.length <= columns || columns < narrowest) return line
  const [start] = /^ *(?:(?:error|warning|note|hint): *|[+-] |! )?/.exec(line) ?? ['']
  const [first, ...more] = wrapWords(line.slice(start.length), columns - start.length)
  return [`${start}${first}`, ...more.map((one) => ' '.repeat(start.length) + one)].join('\n')
}

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
