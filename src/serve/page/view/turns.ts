import { type Change, diffLines, diffWordsWithSpace } from 'diff'
import type { ComponentChildren, JSX } from 'preact'
import {
  type Answer,
  callNames,
  type Part,
  type Question,
  type Turn,
} from '../../requests/reading/turns.ts'
import type { Exchange } from '../../transcript/exchange.ts'
import { compare, type Difference } from '../read/difference.ts'
import { make } from './dom.ts'
import { fold, laidOut, longText } from './folds.ts'
import { amount, plural } from './words.ts'

/**
 * The conversation of a request: what was said before, folded; what is new; the answer.
 *
 * @param before the request before it in its conversation
 */
export function conversation(
  { question, answer }: Exchange,
  before: Question | undefined,
): readonly ComponentChildren[] {
  if (question === undefined) return []
  const difference = before && compare(before, question)
  const names = callNames([...question.turns, { role: 'assistant', parts: answer?.parts ?? [] }])

  return [
    make('h3', '', 'Conversation'),
    ...frameOf(question, before, difference),
    turnsView(question, difference, names),
    // An error has no parts and does not end: its words stand above.
    (answer?.parts.length || answer?.finish) && answerView(answer, names),
  ]
}

/** What stands around the turns: system prompt, tools, settings. */
function frameOf(
  question: Question,
  before: Question | undefined,
  difference: Difference | undefined,
): readonly ComponentChildren[] {
  const { system, tools, settings } = question
  const { isSystemNew = false, removedTools = [], settings: changes = [] } = difference ?? {}
  const names = changes.length === 0 ? Object.keys(settings) : changes.map(({ name }) => name)

  return [
    (system !== '' || isSystemNew) &&
      fold({
        name: 'system',
        title: 'System prompt',
        note: `${amount(system.length)} characters${isSystemNew ? ', changed' : ''}`,
        content: () => [isSystemNew ? changed(before?.system ?? '', system) : longText(system)],
      }),
    tools.length + removedTools.length > 0 &&
      fold({
        name: 'tools',
        title: plural(tools.length, 'tool'),
        note: toolsNote(question, difference),
        content: () => tools.map(toolView),
      }),
    names.length > 0 &&
      fold({
        name: 'settings',
        title: 'Settings',
        note: `${changes.length === 0 ? '' : 'changed: '}${names.join(', ')}`,
        isOpen: changes.length > 0,
        content: () => [settingsView(question, changes)],
      }),
  ]
}

function toolView({ name, definition }: Question['tools'][number]): JSX.Element {
  const content = () => [make('pre', '', JSON.stringify(definition, null, 2))]
  return fold({ name: `tool ${name}`, title: name, content })
}

function toolsNote({ tools }: Question, difference: Difference | undefined): string {
  const { addedTools = [], removedTools = [], changedTools = [] } = difference ?? {}
  const changes = [
    ...addedTools.map((name) => `+ ${name}`),
    ...removedTools.map((name) => `− ${name}`),
    ...changedTools.map((name) => `${name} changed`),
  ]
  return (changes.length > 0 ? changes : tools.map(({ name }) => name)).join(', ')
}

function settingsView(question: Question, changes: Difference['settings']): JSX.Element {
  const changed = new Map(changes.map((change) => [change.name, change]))
  const value = (held: unknown) => (held === undefined ? '(absent)' : JSON.stringify(held))
  const names = new Set([...Object.keys(question.settings), ...changed.keys()])

  const entries = [...names].flatMap((name) => {
    const change = changed.get(name)
    const now = value(question.settings[name])
    const shown =
      change === undefined
        ? [now]
        : [make('del', '', value(change.before)), ' ', make('ins', '', now)]
    return [make('dt', '', name), make('dd', 'mono', ...shown)]
  })
  return make('dl', 'settings', ...entries)
}

/** Texts that differ by more words than this are shown as two. */
const maxEditLength = 400

/** What became of a text: line by line, and word by word where lines stand in the place of others. */
function changed(before: string, now: string): JSX.Element {
  const lines = diffLines(before, now)
  const shown = lines.flatMap((line, index) => {
    const [last, next] = [lines[index - 1], lines[index + 1]]
    if (line.added && last?.removed) return []
    const words =
      line.removed && next?.added
        ? (diffWordsWithSpace(line.value, next.value, { maxEditLength }) ?? [line, next])
        : [line]
    return words.map((word) => marked(word, words.length === 1 ? shortened : String))
  })
  return make('div', 'text', ...shown)
}

function marked({ added, removed, value }: Change, same: (text: string) => string) {
  if (added) return make('ins', '', value)
  return removed ? make('del', '', value) : same(value)
}

/** Lines that are the same on both sides: their beginning and their end. */
function shortened(same: string): string {
  const lines = same.split('\n')
  if (lines.length <= 8) return same
  return [...lines.slice(0, 3), `… ${lines.length - 6} lines …`, ...lines.slice(-3)].join('\n')
}

function turnsView(
  { turns }: Question,
  difference: Difference | undefined,
  names: ReadonlyMap<string, string>,
): JSX.Element {
  if (difference === undefined)
    return make('div', 'turns', ...turns.map((turn) => turnView(turn, '', names)))

  const { turns: compared } = difference
  const shown = compared.map(({ turn, mark }, index) => {
    if (mark !== 'same') return turnView(turn, mark, names)
    return compared[index - 1]?.mark !== 'same' && earlierView(compared.slice(index), names)
  })

  const isSame = compared.every(({ mark }) => mark === 'same')
  const note = make('p', 'quiet', 'It says the same as the request before it.')
  return make('div', 'turns', ...shown, isSame && note)
}

/** The turns from one on that are as they were, folded. */
function earlierView(from: Difference['turns'], names: ReadonlyMap<string, string>): JSX.Element {
  const end = from.findIndex(({ mark }) => mark !== 'same')
  const same = end === -1 ? from : from.slice(0, end)
  return fold({
    name: 'earlier',
    title: `${plural(same.length, 'turn')} as before`,
    content: () => same.map(({ turn }) => turnView(turn, '', names)),
  })
}

function answerView({ parts, finish }: Answer, names: ReadonlyMap<string, string>): JSX.Element {
  const end = finish === undefined ? undefined : make('div', 'finish', `ended with ${finish}`)
  return turnView({ role: 'assistant', parts }, 'answer', names, end)
}

const roleNames = { system: 'System', user: 'User', assistant: 'Model', tool: 'Tool' } as const

/** @param mark what became of it: `new`, `gone`, `answer`, or nothing */
function turnView(
  { role, parts }: Turn,
  mark: string,
  names: ReadonlyMap<string, string>,
  end?: JSX.Element,
): JSX.Element {
  const title = mark === 'answer' ? 'Answer' : roleNames[role]
  const marked = mark === 'new' || mark === 'gone' ? [' ', make('span', 'mark', mark)] : []
  const label = make('div', 'role', title, ...marked)
  const said = parts.map((part) => partView(part, names))
  const nothing = parts.length === 0 ? make('div', 'quiet', 'says nothing') : undefined
  return make('article', `turn ${role} ${mark}`, label, make('div', 'said', ...said, nothing), end)
}

/** Arguments with the line breaks of their texts as such, which JSON escapes. */
function withLines(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\n/g, '$1\n')
}

function partView(part: Part, names: ReadonlyMap<string, string>): JSX.Element {
  const { type, text } = part
  switch (type) {
    case 'text':
      return longText(text)
    case 'refusal':
      return labelled('part', 'refuses', longText(text))
    case 'thinking': {
      const thought = text === '' ? make('div', 'quiet', 'encrypted') : longText(text)
      return labelled('part thinking', 'thinks', thought)
    }
    case 'tool-call': {
      const input = longText(withLines(laidOut(text)), 'mono')
      return labelled('part call', 'calls ', make('b', 'mono', part.name), input)
    }
    case 'tool-result': {
      const [className, label] = part.isError ? [' bad', 'failed: '] : ['', 'result of ']
      const name = make('b', 'mono', names.get(part.id) || part.id || 'a tool')
      return labelled(`part result${className}`, label, name, longText(text, 'mono'))
    }
    case 'other':
      return make('div', 'part quiet', text)
  }
}

function labelled(className: string, label: string, ...content: JSX.Element[]): JSX.Element {
  return make('div', className, make('span', 'kind', label), ...content)
}
