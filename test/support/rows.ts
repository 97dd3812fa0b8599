/** The cells of a table that is written as text: a line for each row, `|` between cells. */
export function rows(texts: TemplateStringsArray): string[][] {
  const lines = String.raw(texts)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.map((line) => line.split(/(?<=\s)\|(?=\s)/).map((cell) => cell.trim()))
}
