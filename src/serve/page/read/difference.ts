import { diffArrays } from 'diff'
import type { Question, Turn } from '../../requests/reading/turns.ts'
import { textOfTurn } from './digest.ts'

/** What a request says otherwise than the one before it. */
export type Difference = ReturnType<typeof compare>

export function compare(before: Question, now: Question) {
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

/** The values that are not as they were; undefined: there was, or is, none. */
function compareSettings(before: Question, now: Question) {
  const names = new Set([...Object.keys(before.settings), ...Object.keys(now.settings)])
  return [...names]
    .map((name) => ({ name, before: before.settings[name], now: now.settings[name] }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.now))
}

/** Conversations that differ by more turns than this are not compared turn by turn. */
const maxEditLength = 1000

/**
 * The turns of both in order: the longest rows of turns that both have are the same, what stands
 * between them is gone or new.
 */
function compareTurns(before: readonly Turn[], now: readonly Turn[]) {
  const changes = diffArrays(before.map(textOfTurn), now.map(textOfTurn), { maxEditLength })
  if (changes === undefined) return [...marked(before, 'gone'), ...marked(now, 'new')]

  let was = 0
  let is = 0
  return changes.flatMap(({ added, removed, count }) => {
    const turns = removed ? before.slice(was, was + count) : now.slice(is, is + count)
    if (!added) was += count
    if (!removed) is += count
    return marked(turns, removed ? 'gone' : added ? 'new' : 'same')
  })
}

function marked(turns: readonly Turn[], mark: 'same' | 'new' | 'gone') {
  return turns.map((turn) => ({ turn, mark }))
}
