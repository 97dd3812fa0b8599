/** The cells of a table in text form, with one row per line and `|` between cells. */
export function rows(texts: TemplateStringsArray): string[][] {
  const lines = String.raw(texts)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.map((line) => line.split(/(?<=\s)\|(?=\s)/).map((cell) => cell.trim()))
}
