import { stringify } from 'yaml'
import { compact } from '../../compact.ts'
import type { LoggedRequest } from '../log/request-log.ts'
import { lastUserText } from '../model/person.ts'
import { objectIn } from '../requests/read.ts'
import type { Part } from '../requests/reading/turns.ts'
import { endsWithResults } from '../requests/request.ts'
import { type Exchange, readExchange } from '../transcript/exchange.ts'
import type { RawReply } from './scenario.ts'

/** As much of a question as tells it from others, in characters. */
const maxQuestion = 200

interface RuleOfFile {
  readonly when: Readonly<Record<string, unknown>>
  readonly reply: object[]
}

/**
 * The answers in a log as a scenario file, which gives them again: to the same question, before or
 * after tool results, in the same order. Model and protocol are named where there are several. What
 * this gateway refused by itself is left out, since it will refuse it again.
 *
 * @returns undefined: there is no answer in it
 */
export function scenarioText(requests: readonly LoggedRequest[]): string | undefined {
  const replied = requests.flatMap((request) => {
    const exchange = readExchange(request)
    const reply = replyOf(request, exchange)
    return reply === undefined ? [] : [{ request, exchange, reply }]
  })
  if (replied.length === 0) return undefined

  const isSame = (name: 'modelAsked' | 'protocol') =>
    new Set(replied.map(({ request }) => request[name])).size === 1
  return textOf(replied, { model: !isSame('modelAsked'), protocol: !isSame('protocol') })
}

/** The same of answers as they came, byte for byte. Model and protocol are named. */
export function recordedText(recorded: ReadonlyMap<LoggedRequest, RawReply>): string {
  const replied = [...recorded].map(([request, raw]) => {
    return { request, exchange: readExchange(request), reply: { raw } }
  })
  return textOf(replied, { model: true, protocol: true })
}

/** An answer, and what a scenario gives in its place. */
interface Replied {
  readonly request: LoggedRequest
  readonly exchange: Exchange
  readonly reply: object
}

/** What a rule names beside the question. */
interface NamedInRules {
  readonly model: boolean
  readonly protocol: boolean
}

function textOf(replied: readonly Replied[], named: NamedInRules): string {
  const rules = new Map<string, RuleOfFile>()
  for (const { request, exchange, reply } of replied) {
    const when = whenOf(request, exchange, named)
    const key = JSON.stringify(when)
    const rule = rules.get(key) ?? { when, reply: [] }
    rules.set(key, rule)
    rule.reply.push(reply)
  }

  // The first rule that fits answers: a question that holds another one comes before it.
  const lengthOf = ({ when }: RuleOfFile) => String(when['text'] ?? '').length
  const answers = [...rules.values()].sort((a, b) => lengthOf(b) - lengthOf(a))
  return stringify({ answers }, { lineWidth: 0 })
}

function whenOf(
  { modelAsked, protocol }: LoggedRequest,
  { question }: Exchange,
  named: NamedInRules,
): RuleOfFile['when'] {
  const turns = question?.turns ?? []
  const text = lastUserText(turns).slice(0, maxQuestion)
  return {
    ...(text === '' ? {} : { text }),
    ...(named.model ? { model: modelAsked } : {}),
    ...(named.protocol ? { protocol } : {}),
    afterTool: endsWithResults(turns),
  }
}

/** Undefined: this is no answer of a model, nor an error that came in its place. */
function replyOf(request: LoggedRequest, { answer, problem }: Exchange): object | undefined {
  const { protocol, keyMatches, status, state, reason, fault, inputTokens } = request
  if (protocol === undefined || !keyMatches || status === undefined || state === 'open')
    return undefined
  if (status >= 400)
    return reason !== undefined && fault === undefined
      ? undefined
      : { status, ...(problem === undefined ? {} : { message: problem }) }

  const parts = answer?.parts ?? []
  const textOf = (type: Part['type']) =>
    parts.flatMap((part) => (part.type === type ? part.text : [])).join('')
  const [text, refusal] = [textOf('text'), textOf('refusal')]
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? writtenCall(part) : []))
  if (text + refusal === '' && calls.length === 0) return undefined

  const [call, ...more] = calls
  return {
    ...compact({
      thinking: textOf('thinking') || undefined,
      text: text || undefined,
      refusal: refusal || undefined,
      finish: finishes[answer?.finish ?? ''],
      // This gateway counts its own answers again; those of another one are told.
      usage: inputTokens === undefined ? answer?.usage : undefined,
    }),
    ...(call === undefined
      ? {}
      : more.length > 0
        ? { calls }
        : { call: call.tool, with: call.with }),
  }
}

/** Where an answer ended otherwise than what is said in it tells, by the protocols' words. */
const finishes: Readonly<Record<string, string>> = {
  length: 'length',
  max_tokens: 'length',
  incomplete: 'length',
  content_filter: 'content-filter',
}

function writtenCall({ name, text }: Extract<Part, { type: 'tool-call' }>) {
  // A namespace stands before a name; no name holds a dot.
  return { tool: name.slice(name.lastIndexOf('.') + 1), with: objectIn(text) ?? text }
}
