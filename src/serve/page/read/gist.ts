import type { LoggedRequest } from '../../log/request-log.ts'
import { withoutNotes } from '../../model/person.ts'
import { asList, objectIn } from '../../requests/read.ts'
import {
  callNames,
  newestOf,
  type Part,
  type Question,
  type Turn,
} from '../../requests/reading/turns.ts'
import type { Exchange } from '../../transcript/exchange.ts'

/** What a row says of a request, in characters. */
const maxGist = 240

/** What is asked, in a line: the words of the person, or what a tool gave back. */
export function gistOfQuestion(question: Question | undefined, request: LoggedRequest): string {
  const said = question && newestWords(question)
  return oneLine(said || `${request.method} ${request.path}`)
}

/** What is answered, in a line: the text, or the tools that are called. */
export function gistOfAnswer({ answer, problem }: Exchange, request: LoggedRequest): string {
  const parts = answer?.parts ?? []
  const said = parts.map(gistOfPart).filter(Boolean).join(' ')
  const cut =
    request.state === 'cut' ? (said === '' ? 'cut off before an answer' : '… cut off') : ''
  return oneLine(
    [request.reason ?? problem ?? '', said || listGist(request), cut].filter(Boolean).join(' '),
  )
}

/** The last that was said to the model. */
function newestWords({ turns }: Question): string {
  const { newest, results } = newestOf(turns)
  if (results.length === 0) {
    // Claude Code 2.1.330 puts its own words behind those of the person, in a turn of the system.
    const ofPerson = newest.filter(({ role }) => role === 'user')
    return ofPerson.map(wordsOf).findLast((words) => words !== '') ?? ''
  }
  const names = callNames(turns)
  return results.map(({ id, text }) => `${names.get(id) ?? 'a tool'} → ${text}`).join(' · ')
}

/** What a person says, without what the client puts around it. */
function wordsOf({ parts }: Turn): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  const bare = texts.map(withoutNotes)
  return bare.findLast((text) => text !== '') ?? texts.at(-1) ?? parts.map(gistOfPart).join(' ')
}

function gistOfPart(part: Part): string {
  switch (part.type) {
    case 'tool-call':
      return `${part.name}(${valuesIn(part.text)})`
    case 'thinking':
      return ''
    case 'tool-result':
      return `→ ${part.text}`
    default:
      return part.text
  }
}

/** The arguments of a call without their names. */
function valuesIn(input: string): string {
  const values = objectIn(input)
  if (values === undefined) return input
  return Object.values(values)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(', ')
}

function listGist({ responseBody, path }: LoggedRequest): string {
  if (!/\/models(\?|$)/.test(path)) return ''
  const list = objectIn(responseBody)?.['data']
  return list === undefined ? '' : `${asList(list).length} models`
}

function oneLine(text: string): string {
  return text
    .slice(0, 4 * maxGist)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxGist)
}
