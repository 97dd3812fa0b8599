/** In characters: less is parsed in a moment. */
const largeText = 10_000

/**
 * A large TOML text in up to three pieces that follow on one another, with only line breaks between
 * them: the tables of the root that takes most of the text, with what stands amidst them, and what
 * stands before and behind them. Each but the first begins with a header, or with what looks like one.
 */
export function piecesOf(text: string): readonly string[] {
  if (text.length < largeText) return [text]
  const [largest] = [1 / 4, 1 / 2, 3 / 4]
    .map((part) => spanAround(text, text.length * part))
    .toSorted((one, other) => other.end - other.start - (one.end - one.start))
  const { start, end } = largest as Span
  return [text.slice(0, start), text.slice(start, end), text.slice(end)].map(withoutFinalBreaks)
}

interface Span {
  readonly start: number
  readonly end: number
}

/** How a header begins, up to the end of its first key: `[projects.` or `[[history]`. */
const opening = /\n\[{1,2}(?:[\w-]+|"[^"\\\n]*"|'[^'\n]*')[.\]]/y

/** From the first to the last table whose header begins as the next one behind `at` does. */
function spanAround(text: string, at: number): Span {
  opening.lastIndex = Math.max(0, text.indexOf('\n[', at))
  const [found] = opening.exec(text) ?? []
  if (found === undefined) return { start: 0, end: 0 }
  const start = text.startsWith(found.slice(1)) ? 0 : text.indexOf(found) + 1
  const next = text.indexOf('\n[', text.lastIndexOf(found) + 1)
  return { start, end: next === -1 ? text.length : next + 1 }
}

/** They mean nothing, and come and go with what follows. */
function withoutFinalBreaks(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1
  return text.slice(0, end)
}
