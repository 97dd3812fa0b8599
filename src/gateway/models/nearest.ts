import type { Catalog } from '../types.ts'
import { isChatModel, withoutVendor } from './rules.ts'

/** Longer names are no slip of the fingers, and comparing them with a whole catalog takes long. */
const longestCompared = 100

/** The ids of the catalog that look most like `asked`: at most `count`, the likest first. */
export function nearestModels(asked: string, catalog: Catalog, count = 3): readonly string[] {
  const wanted = withoutVendor(asked).toLowerCase()
  if (wanted.length > longestCompared) return []
  return catalog.models
    .filter(({ id }) => id.length <= longestCompared)
    .filter(isChatModel)
    .map(({ id }) => ({ id, distance: distance(wanted, withoutVendor(id).toLowerCase()) }))
    .filter(({ id, distance: steps }) => steps <= Math.max(wanted.length, id.length) * 0.6)
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
}

/**
 * Edit distance, two letters in the wrong order being one slip; an id that begins with the other one
 * is near, whatever follows.
 */
function distance(a: string, b: string): number {
  let above: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)

  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? above[j - 2]! + 1 : replaced
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1))
    }
    above = row
    row = next
  }

  const isPrefix = a !== '' && (b.startsWith(a) || a.startsWith(b))
  return isPrefix ? row[b.length]! / 2 : row[b.length]!
}
