import type { Focus } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import { lineStart } from './text.ts'
import type { TomlText } from './toml-parse.ts'

/** Less than this is not worth it, in characters. */
const worthCutting = 2_000

/**
 * The text without the tables that `paths` do not concern: a comment stands for each stretch of them.
 * Every change parses the text anew, and a configuration can hold hundreds of trusted projects.
 */
export function focusToml(parsed: TomlText, paths: readonly KeyPath[]): Focus | undefined {
  const cuts = stretchesWithout(parsed, new Set(paths.map(([root]) => root)))
  const total = cuts.reduce((sum, { start, end }) => sum + end - start, 0)
  const mark = `#cut-${parsed.text.length}-`
  if (total < worthCutting || parsed.text.includes(mark)) return undefined
  let text = ''
  let done = 0
  for (const [index, { start, end }] of cuts.entries()) {
    text += `${parsed.text.slice(done, start)}${mark}${index}.`
    done = end
  }
  text += parsed.text.slice(done)
  return {
    text,
    restore(edited) {
      const isWhole = cuts.every((_, index) => edited.split(`${mark}${index}.`).length === 2)
      if (!isWhole) return undefined
      return cuts.reduce(
        (restored, { start, end }, index) =>
          restored.replace(`${mark}${index}.`, () => parsed.text.slice(start, end)),
        edited,
      )
    },
  }
}

interface Stretch {
  readonly start: number
  readonly end: number
}

/** Neighbouring tables of other roots, each from its header's line; the last line's end stays. */
function stretchesWithout(parsed: TomlText, roots: ReadonlySet<string | undefined>): Stretch[] {
  const stretches: { start: number; end: number }[] = []
  for (const [index, header] of parsed.headers.entries()) {
    if (roots.has(header.path[0])) continue
    const start = lineStart(parsed.text, header.start)
    const next = parsed.headers[index + 1]
    const end = next ? lineStart(parsed.text, next.start) : parsed.text.length
    const last = stretches.at(-1)
    if (last?.end === start) last.end = end
    else stretches.push({ start, end })
  }
  return stretches.map(({ start, end }) => ({
    start,
    end: start + parsed.text.slice(start, end).trimEnd().length,
  }))
}
