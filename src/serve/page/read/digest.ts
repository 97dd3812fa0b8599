import type { LoggedRequest } from '../../log/request-log.ts'
import { objectIn } from '../../requests/read.ts'
import type { Part, Turn } from '../../requests/reading/turns.ts'
import type { Exchange } from '../../transcript/exchange.ts'
import { readExchange } from '../../transcript/exchange.ts'
import { gistOfAnswer, gistOfQuestion } from './gist.ts'

/** What the list needs to know of a request: its two lines, where it belongs, what is found in it. */
export type Digest = ReturnType<typeof digestOf>

export function digestOf(request: LoggedRequest) {
  const exchange = readExchange(request)
  const { question, answer } = exchange
  const tools = question?.tools.map(({ name }) => name) ?? []

  return {
    asks: gistOfQuestion(question, request),
    says: gistOfAnswer(exchange, request),
    trail: trailOf(question?.turns ?? []),
    /** A side job of a client, such as a title, has no tools. */
    toolsPrint: printOf(tools.join('\n')),
    session: sessionOf(request),
    answerId: answer?.id,
    /** The log knows it only of answers that this gateway made. */
    model: answer?.model,
    usage: answer?.usage,
    follows: question?.follows,
    called: (answer?.parts ?? []).flatMap((part) => (part.type === 'tool-call' ? part.name : [])),
    sought: soughtIn(request, exchange),
  }
}

/** One number for each turn, which stands for it and all before it. */
function trailOf(turns: readonly Turn[]): readonly number[] {
  let print = 0
  return turns.map((turn) => {
    print = printOf(`${print} ${textOfTurn(turn)}`)
    return print
  })
}

/** The same for what says the same, whatever markers stand around it. */
export function textOfTurn({ role, parts }: Turn): string {
  return JSON.stringify([role, parts])
}

/** 53 bits that stand for a text (cyrb53, public domain). */
export function printOf(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 4294967296 * (2097151 & low) + (high >>> 0)
}

const sessionHeaders = [
  'session_id',
  'session-id',
  'conversation_id',
  'thread-id',
  'x-claude-code-session-id',
  'x-opencode-session',
  'x-session-id',
  'x-session-affinity',
]

/** What the client calls the conversation, or the program's whole session. */
function sessionOf({ headers, requestBody }: LoggedRequest): string | undefined {
  const name = sessionHeaders.find((candidate) => candidate in headers)
  if (name !== undefined) return headers[name]
  const body = objectIn(requestBody)
  const metadata = body?.['metadata'] as { user_id?: unknown } | undefined
  const said = body?.['prompt_cache_key'] ?? metadata?.user_id
  return typeof said === 'string' ? said : undefined
}

/** What a filter looks at, in small letters: bodies as they came, and what a stream says in pieces. */
function soughtIn(request: LoggedRequest, { answer }: Exchange): string {
  const { method, path, protocol, client, modelAsked, modelServed, fault, reason, status } = request
  const facts = [method, path, protocol, client, modelAsked, modelServed, fault, reason, status]
  const pieces = request.stream ? (answer?.parts ?? []).map(textOfPart) : []
  return [...facts, request.requestBody, request.responseBody, ...pieces].join('\n').toLowerCase()
}

function textOfPart(part: Part): string {
  return part.type === 'tool-call' ? `${part.name} ${part.text}` : part.text
}
