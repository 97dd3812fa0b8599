/** One step of a line diff: lines `oldStart..oldEnd` became lines `newStart..newEnd`, from 0. */
export interface Hunk {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

export interface Line {
  readonly content: string
  /** `\n`, `\r\n`, or empty at the end of a file. */
  readonly eol: string
}

export function splitLines(text: string): Line[] {
  return [...text.matchAll(/([^\n]*?)(\r?\n|$)/g)]
    .map((match) => ({ content: match[1] ?? '', eol: match[2] ?? '' }))
    .filter((line) => line.content !== '' || line.eol !== '')
}

/**
 * The changed stretches between two lists of lines, by Myers' algorithm.
 *
 * @param maxChanges gives up beyond this many added and removed lines: undefined
 */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
  maxChanges: number,
): readonly Hunk[] | undefined {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++
  }
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  const steps = shortestEdit(old, fresh, maxChanges)
  return steps && joinSteps(steps, start)
}

/** The points of the path through the edit graph, from the end back to the start. */
function shortestEdit(
  old: readonly string[],
  fresh: readonly string[],
  maxChanges: number,
): readonly (readonly [number, number])[] | undefined {
  const limit = Math.min(old.length + fresh.length, maxChanges)
  /** The furthest point on each diagonal, for each number of changes. */
  const history: Map<number, number>[] = []
  let furthest = new Map<number, number>([[1, 0]])
  for (let changes = 0; changes <= limit; changes++) {
    history.push(furthest)
    const next = new Map<number, number>()
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = firstColumn(furthest, diagonal, changes)
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x++
      next.set(diagonal, x)
      if (x === old.length && x - diagonal === fresh.length) {
        return backtrack(history, old.length, fresh.length)
      }
    }
    furthest = next
  }
  return undefined
}

function firstColumn(furthest: Map<number, number>, diagonal: number, changes: number): number {
  return isInsertion(furthest, diagonal, changes)
    ? (furthest.get(diagonal + 1) as number)
    : (furthest.get(diagonal - 1) as number) + 1
}

function isInsertion(furthest: Map<number, number>, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true
  if (diagonal === changes) return false
  return (furthest.get(diagonal - 1) as number) < (furthest.get(diagonal + 1) as number)
}

function backtrack(
  history: readonly Map<number, number>[],
  oldLength: number,
  newLength: number,
): readonly (readonly [number, number])[] {
  const points: (readonly [number, number])[] = [[oldLength, newLength]]
  let x = oldLength
  let y = newLength
  for (let changes = history.length - 1; changes > 0; changes--) {
    const furthest = history[changes] as Map<number, number>
    const diagonal = x - y
    const startX = firstColumn(furthest, diagonal, changes)
    const startY = startX - diagonal
    while (x > startX && y > startY) {
      x--
      y--
      points.push([x, y])
    }
    if (isInsertion(furthest, diagonal, changes)) y--
    else x--
    points.push([x, y])
  }
  while (x > 0 && y > 0) {
    x--
    y--
    points.push([x, y])
  }
  return points
}

function joinSteps(points: readonly (readonly [number, number])[], offset: number): Hunk[] {
  const hunks: Hunk[] = []
  const forward = points.toReversed()
  for (let step = 1; step < forward.length; step++) {
    const [fromX, fromY] = forward[step - 1] as readonly [number, number]
    const [toX, toY] = forward[step] as readonly [number, number]
    if (toX > fromX && toY > fromY) continue
    const last = hunks.at(-1)
    if (last && last.oldEnd === fromX + offset && last.newEnd === fromY + offset) {
      hunks[hunks.length - 1] = { ...last, oldEnd: toX + offset, newEnd: toY + offset }
    } else {
      hunks.push({
        oldStart: fromX + offset,
        oldEnd: toX + offset,
        newStart: fromY + offset,
        newEnd: toY + offset,
      })
    }
  }
  return hunks
}
