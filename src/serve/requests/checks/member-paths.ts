import { isMissing, type JsonObject, toObject } from '../json.ts'

/**
 * A path in a body: the names of members, and steps that select entries of a list (`each`, `any`, `first`,
 * `last`, `beforeLast`; in a condition also `previous` and `next`, the neighbours of the selected entry). A position is the index of a selected entry; a path has one for each list. In
 * `tools.each.name`, the second tool has the position 1.
 */
type Steps = readonly string[]

type Positions = readonly number[]

const listSteps = new Set(['each', 'any', 'first', 'last', 'beforeLast', 'previous', 'next'])

function isListStep(step: string): boolean {
  return listSteps.has(step)
}

/** The first position that a step selects in a list, and the one after the last. */
function entryRange(step: string, length: number): readonly [start: number, end: number] {
  switch (step) {
    case 'first':
      return [0, Math.min(1, length)]
    case 'last':
      return [Math.max(0, length - 1), length]
    case 'beforeLast':
      return [0, length - 1]
    default:
      return [0, length]
  }
}

/** A value at a path. */
export interface FoundValue {
  readonly value: unknown
  readonly steps: Steps
  readonly positions: Positions
}

/** All values at a path. Null counts as absent. */
export function valuesAt(body: JsonObject, steps: Steps): readonly FoundValue[] {
  const found: FoundValue[] = []
  addValues(body, 0, [])
  return found

  function addValues(value: unknown, depth: number, positions: Positions): void {
    const step = steps[depth]
    if (isMissing(value)) return
    if (step === undefined) found.push({ value, steps, positions })
    else if (!isListStep(step)) addValues(toObject(value)[step], depth + 1, positions)
    else if (Array.isArray(value)) {
      const [start, end] = entryRange(step, value.length)
      for (let index = start; index < end; index++)
        addValues(value[index], depth + 1, [...positions, index])
    }
  }
}

const neighbourOffsets: Readonly<Record<string, number>> = { previous: -1, next: 1 }

/** Whether a member passes a test. On the path that it shares with another value, it has the same positions. */
export function someMember(
  body: JsonObject,
  path: string,
  { steps: otherSteps, positions }: FoundValue,
  test: (value: unknown) => boolean,
): boolean {
  const steps = path.split('.')
  const difference = steps.findIndex((step, depth) => step !== otherSteps[depth])
  const sharedSteps = difference === -1 ? steps : steps.slice(0, difference)
  const sharedLists = sharedSteps.filter(isListStep).length
  const shared = positions.slice(0, sharedLists)
  const offset = neighbourOffsets[steps[difference] ?? '']
  const neighbour = offset === undefined ? [] : [positions[sharedLists]! + offset]
  return someValue(body, steps, [...shared, ...neighbour], test)
}

/**
 * Whether a value at a path passes a test. Null counts as absent.
 *
 * @param positions the positions in the first lists of the path; in further lists, any entry may pass
 */
function someValue(
  value: unknown,
  [step, ...laterSteps]: Steps,
  positions: Positions,
  test: (value: unknown) => boolean,
): boolean {
  if (isMissing(value)) return false
  if (step === undefined) return test(value)
  if (!isListStep(step)) return someValue(toObject(value)[step], laterSteps, positions, test)
  if (!Array.isArray(value)) return false

  const [position, ...laterPositions] = positions
  if (position !== undefined) return someValue(value[position], laterSteps, laterPositions, test)
  const entries = value.slice(...entryRange(step, value.length))
  return entries.some((entry) => someValue(entry, laterSteps, laterPositions, test))
}

type Place = readonly (string | number)[]

/** The path with positions instead of the steps for lists. */
export function memberPlace(steps: Steps, positions: Positions): Place {
  const remaining = [...positions]
  return steps.map((step) => (isListStep(step) ? remaining.shift()! : step))
}

export function memberAt(body: JsonObject, place: Place): unknown {
  let value: unknown = body
  for (const step of place)
    value = Array.isArray(value) ? value[Number(step)] : toObject(value)[step]
  return value
}
