import type { Focus } from './dialect.ts'
import { cutOut, type Stretch, worthCutting } from './focus.ts'
import { tokenEnd } from './json-judge.ts'
import type { KeyPath } from './plan.ts'

/** A value that is shorter stays, in characters. */
const shortValue = 200

/**
 * The text with a short string for each long value of the root that `paths` do not concern.
 * A tree of 1 MB takes 0.1 s to build, and every change builds it anew.
 */
export function focusJson(text: string, paths: readonly KeyPath[]): Focus | undefined {
  if (text.length < worthCutting) return undefined
  // A key that is spelled in another way is cut out too: its edit then fails, and is made in the whole.
  const roots = new Set(paths.map(([root]) => JSON.stringify(root)))
  const cuts = rootValues(text).filter(
    ({ key, start, end }) => !roots.has(key) && end - start >= shortValue,
  )
  return cutOut(text, cuts, '"')
}

interface RootValue extends Stretch {
  readonly key: string
}

/** The values of the root object's members. Of a text that is no JSON it says nothing sensible. */
function rootValues(text: string): readonly RootValue[] {
  const values: RootValue[] = []
  let depth = 0
  let key: string | undefined
  let start: number | undefined
  let end: number
  for (let offset = 0; offset < text.length; offset = end) {
    const mark = text[offset] as string
    end = tokenEnd(text, offset, mark) ?? text.length
    if (mark <= ' ' || mark === '/') continue
    if (depth === 1 && start === undefined && !',:}'.includes(mark)) {
      if (key === undefined) {
        key = text.slice(offset, end)
        continue
      }
      start = offset
    }
    if (mark === '{' || mark === '[') depth++
    if (mark === '}' || mark === ']') depth--
    if (depth !== 1 || key === undefined || start === undefined) continue
    values.push({ key, start, end })
    key = undefined
    start = undefined
  }
  return values
}
