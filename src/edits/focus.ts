import type { Focus } from './dialect.ts'

/** A stretch of a text. Offsets in UTF-16 units, `end` exclusive. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** Less than this is not worth it, in characters. */
export const worthCutting = 2_000

/**
 * The text with a mark for each of the stretches.
 *
 * @param quote around each mark, where it has to be a string; else it is a comment
 * @returns undefined where it is not worth it, or a mark could be mistaken
 */
export function cutOut(
  text: string,
  stretches: readonly Stretch[],
  quote: '"' | '' = '',
): Focus | undefined {
  const total = stretches.reduce((sum, { start, end }) => sum + end - start, 0)
  const mark = `${quote}#cut-${text.length}-`
  if (total < worthCutting || text.includes(mark)) return undefined
  const closing = (index: number) => `${index}.${quote}`
  let focused = ''
  let done = 0
  for (const [index, { start, end }] of stretches.entries()) {
    focused += `${text.slice(done, start)}${mark}${closing(index)}`
    done = end
  }
  focused += text.slice(done)
  return {
    text: focused,
    restore(edited) {
      const [head = '', ...parts] = edited.split(mark)
      const isWhole =
        parts.length === stretches.length &&
        parts.every((part, index) => part.startsWith(closing(index)))
      if (!isWhole) return undefined
      const back = (part: string, index: number) =>
        text.slice(stretches[index]?.start, stretches[index]?.end) +
        part.slice(closing(index).length)
      return head + parts.map(back).join('')
    },
  }
}
