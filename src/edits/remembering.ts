/** How many texts are kept: what one file was, is and shall be, and one more. */
const keptTexts = 4

/** In characters; what is smaller is parsed in a moment, and would only push out the others. */
const worthKeeping = 10_000

/**
 * The same parser, which does not parse again what it has just parsed: a command sees the same text
 * when it plans, describes and proves, and a large one takes 50 ms for each MB and pass. What the
 * parser gives is shared by all who ask, so nobody may change it.
 */
export function remembering<Rest extends unknown[], Result>(
  parse: (text: string, ...rest: Rest) => Result,
): (text: string, ...rest: Rest) => Result {
  const kept: { text: string; result: Result }[] = []
  return (text, ...rest) => {
    const known = kept.find((one) => one.text === text)
    if (known) return known.result
    const result = parse(text, ...rest)
    if (text.length >= worthKeeping) kept.unshift({ text, result })
    kept.length = Math.min(kept.length, keptTexts)
    return result
  }
}
