import type { Focus } from './dialect.ts'
import type { KeyPath } from './plan.ts'
import { lineEnd } from './text.ts'
import { groupTables } from './toml-scan.ts'

/** Less than this is not worth it, in characters. */
const worthCutting = 2_000

/**
 * The text without the tables that `paths` do not concern: a header and a comment stand for each
 * stretch of them.
 * The span parser takes 0.2 s for 1 MB, and every change parses the text anew.
 */
export function focusToml(text: string, paths: readonly KeyPath[]): Focus | undefined {
  if (text.length < worthCutting) return undefined
  const cuts = stretchesWithout(text, new Set(paths.map(([root]) => root)))
  const total = cuts.reduce((sum, { start, end }) => sum + end - start, 0)
  const mark = `#cut-${text.length}-`
  if (total < worthCutting || text.includes(mark)) return undefined
  let focused = ''
  let done = 0
  for (const [index, { start, end }] of cuts.entries()) {
    focused += `${text.slice(done, start)}${mark}${index}.`
    done = end
  }
  focused += text.slice(done)
  return {
    text: focused,
    restore(edited) {
      const [head = '', ...parts] = edited.split(mark)
      const isWhole =
        parts.length === cuts.length && parts.every((part, index) => part.startsWith(`${index}.`))
      if (!isWhole) return undefined
      const back = (part: string, index: number) =>
        text.slice(cuts[index]?.start, cuts[index]?.end) + part.slice(`${index}.`.length)
      return head + parts.map(back).join('')
    },
  }
}

interface Stretch {
  readonly start: number
  readonly end: number
}

/**
 * Neighbouring tables of other roots, but for the line of the first header: where keys go may depend
 * on it. The last line's end stays as well.
 */
function stretchesWithout(text: string, roots: ReadonlySet<string | undefined>): Stretch[] {
  const stretches: { start: number; end: number }[] = []
  const groups = groupTables(text)
  let isOpen = false
  for (const [index, { start, root }] of groups.entries()) {
    const end = groups[index + 1]?.start ?? text.length
    const last = stretches.at(-1)
    const isCut = root !== undefined && !roots.has(root)
    if (isCut && isOpen && last) last.end = end
    else if (isCut) stretches.push({ start: lineEnd(text, start).next, end })
    isOpen = isCut
  }
  return stretches
    .map(({ start, end }) => ({ start, end: start + text.slice(start, end).trimEnd().length }))
    .filter(({ start, end }) => end > start)
}
