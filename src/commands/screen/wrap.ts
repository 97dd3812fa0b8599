/** Words of `text` in lines of at most `width` columns, where no word is longer. */
export function wrapWords(text: string, width: number): string[] {
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
