import type { Focus } from './dialect.ts'
import { cutOut, type Stretch, worthCutting } from './focus.ts'
import type { KeyPath } from './plan.ts'
import { lineEnd } from './text.ts'
import { groupTables } from './toml-scan.ts'

/**
 * The text without the tables that `paths` do not concern: a header and a comment stand for each
 * stretch of them.
 * The span parser takes 0.2 s for 1 MB, and every change parses the text anew.
 */
export function focusToml(text: string, paths: readonly KeyPath[]): Focus | undefined {
  if (text.length < worthCutting) return undefined
  return cutOut(text, stretchesWithout(text, new Set(paths.map(([root]) => root))))
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
