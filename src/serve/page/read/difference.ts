import type { Question, Turn } from '../../transcript/turns.ts'
import { textOfTurn } from './digest.ts'

/** A turn, and what became of it since the request before. */
export interface ComparedTurn {
  readonly turn: Turn
  readonly mark: 'same' | 'new' | 'gone'
}

/** A value that is not as it was; undefined: there was, or is, none. */
export interface ComparedSetting {
  readonly name: string
  readonly before: unknown
  readonly now: unknown
}

/** What a request says otherwise than the one before it. */
export interface Difference {
  readonly turns: readonly ComparedTurn[]
  readonly isSystemNew: boolean
  readonly addedTools: readonly string[]
  readonly removedTools: readonly string[]
  readonly changedTools: readonly string[]
  readonly settings: readonly ComparedSetting[]
}

export function compare(before: Question, now: Question): Difference {
  const earlier = toolsOf(before)
  const later = toolsOf(now)
  return {
    turns: compareTurns(before.turns, now.turns),
    isSystemNew: before.system !== now.system,
    addedTools: [...later.keys()].filter((name) => !earlier.has(name)),
    removedTools: [...earlier.keys()].filter((name) => !later.has(name)),
    changedTools: [...later.keys()].filter(
      (name) => earlier.has(name) && earlier.get(name) !== later.get(name),
    ),
    settings: compareSettings(before, now),
  }
}

function toolsOf({ tools }: Question): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name, definition }) => [name, JSON.stringify(definition)]))
}

function compareSettings(before: Question, now: Question): readonly ComparedSetting[] {
  const names = new Set([...Object.keys(before.settings), ...Object.keys(now.settings)])
  return [...names]
    .map((name) => ({ name, before: before.settings[name], now: now.settings[name] }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.now))
}

/** More turns than this between the beginning and the end that are the same are not compared in pairs. */
const maxCompared = 1000

/**
 * The turns of both in order: the longest rows of turns that both have are the same, what stands
 * between them is gone or new.
 */
function compareTurns(before: readonly Turn[], now: readonly Turn[]): readonly ComparedTurn[] {
  const was = before.map(textOfTurn)
  const is = now.map(textOfTurn)
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]) start++
  let end = 0
  while (
    end < was.length - start &&
    end < is.length - start &&
    was.at(-1 - end) === is.at(-1 - end)
  )
    end++

  const mark = (turns: readonly Turn[], as: ComparedTurn['mark']) =>
    turns.map((turn) => ({ turn, mark: as }))
  return [
    ...mark(now.slice(0, start), 'same'),
    ...between(),
    ...mark(now.slice(now.length - end), 'same'),
  ]

  function between(): readonly ComparedTurn[] {
    const gone = before.slice(start, before.length - end)
    const added = now.slice(start, now.length - end)
    if (gone.length === 0 || added.length === 0 || gone.length * added.length > maxCompared ** 2)
      return [...mark(gone, 'gone'), ...mark(added, 'new')]
    return inPairs(gone, added)
  }
}

/** By the longest row of turns that both have, as a text diff does it. */
function inPairs(before: readonly Turn[], now: readonly Turn[]): readonly ComparedTurn[] {
  const was = before.map(textOfTurn)
  const is = now.map(textOfTurn)
  const width = is.length + 1
  const longest = new Uint32Array((was.length + 1) * width)
  for (let i = was.length - 1; i >= 0; i--)
    for (let j = is.length - 1; j >= 0; j--)
      longest[i * width + j] =
        was[i] === is[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)

  const found: ComparedTurn[] = []
  let i = 0
  let j = 0
  while (i < was.length || j < is.length) {
    if (i < was.length && was[i] === is[j]) {
      found.push({ turn: now[j]!, mark: 'same' })
      i++
      j++
    } else if (
      j === is.length ||
      (i < was.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!)
    )
      found.push({ turn: before[i++]!, mark: 'gone' })
    else found.push({ turn: now[j++]!, mark: 'new' })
  }
  return found
}
