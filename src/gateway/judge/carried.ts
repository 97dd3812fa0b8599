import { asObject, cleanForeignText } from '../foreign-text.ts'
import type { Sender } from '../types.ts'
import type { HttpAnswer, Outcome } from './answer.ts'
import { readErrorBody } from './error-body.ts'

/** The names of the token limit in the three protocols. */
export const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** Whether an answer rejects a token limit. It names the parameter in any language. */
export function refusesLimit({ status, body }: HttpAnswer): boolean {
  return (status === 400 || status === 422) && limitWords.test(body)
}

/** The members and headers of the client's request that a rejection names. Empty: it names none. */
export function refusedIn(answer: HttpAnswer, sender: Sender): readonly string[] {
  const { body, headers = {} } = sender
  const { param, words } = readErrorBody(answer)
  const names = membersOf(sender)

  const blamed = names.filter((name) => param === name || param.startsWith(`${name}.`))
  if (blamed.length > 0) return blamed
  const inBody = names.filter(
    (name) =>
      isNamedIn(words, name) || isPlaceIn(answer.body, name) || holdsNamed(body[name], words),
  )
  const inHeaders = Object.entries(headers).flatMap(([name, value]) => {
    const isBetas = name.endsWith('-beta')
    const parts = isBetas ? [name, ...value.split(',')] : [name]
    const isBeta = isBetas && /\bbetas?\b/i.test(words)
    return isBeta || parts.some((part) => words.includes(part)) ? [name] : []
  })
  return inHeaders.length > 0 ? inHeaders : inBody
}

/** The members of a request that a gateway may not know. Every request has the others. */
function membersOf({ body }: Sender): readonly string[] {
  return Object.keys(body).filter((name) => name !== 'stream' && body[name] !== undefined)
}

/** A rejection can use another protocol's name for the limit. Bedrock says "maximum tokens" (2026-11-23). */
const limitWords = /\bmax(?:imum)?[ _](?:(?:output|completion|new)[ _])?tokens\b/i

/**
 * A name that is also an English word counts only in quotes, at the start, or after "parameter" or a
 * similar word.
 */
function isNamedIn(words: string, name: string): boolean {
  if (limitNames.some((limit) => limit === name)) return limitWords.test(words)
  if (name.includes('_')) return new RegExp(`\\b${name}\\b`).test(words)
  return new RegExp(`(?:^|["'\`]|(?:parameter|field|argument|property)s?:? )${name}\\b`, 'i').test(
    words,
  )
}

/** Whether a list contains an item whose type is named. */
function holdsNamed(value: unknown, words: string): boolean {
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const kinds = items.map((item) => asObject(item)?.['type'])
  return kinds.some(
    (kind) => typeof kind === 'string' && kind.includes('_') && words.includes(kind),
  )
}

/** The format of FastAPI and of programs based on it: `"loc": ["body", "include"]`. */
function isPlaceIn(body: string, name: string): boolean {
  return new RegExp(`"loc"\\s*:\\s*\\[[^\\]]{0,200}"${name}"`).test(body)
}

/** vLLM, OpenRouter, Ollama (2026-11-23): a rejection of tools names them. */
export function speaksOfTools({ message }: Outcome): boolean {
  return /\btools?\b|\bfunctions?\b|工具|函数/i.test(message)
}

/** The gateway serves the model only without tools, and the clients always offer some. */
export function toolsUnsupported({ said = '', ...refusal }: Outcome, model: string): Outcome {
  return {
    ...refusal,
    code: 'tools-unsupported',
    message: `${cleanForeignText(model)} answers, but not with tools, which every client needs${said}`,
    hint: 'Name a model that can use tools: --model ID. On your own vLLM server, turn tools on: --enable-auto-tool-choice and --tool-call-parser.',
  }
}

/**
 * The gateway serves the model, but not with the client's own request.
 *
 * @param refused the parts that the gateway named; empty: it named none
 */
export function parameterUnsupported(
  outcome: Outcome,
  model: string,
  sender: Sender,
  refused: readonly string[],
): Outcome {
  const { body, headers = {}, hints = {} } = sender
  // The other headers only describe the client.
  const isOfProtocol = (name: string) => name.endsWith('-beta') || name in hints
  const all = [...membersOf(sender), ...Object.keys(headers).filter(isOfProtocol)]
  const parts = refused.length > 0 ? refused : all
  const list = parts
    .map((name) => (typeof body[name] === 'number' ? `${name} ${body[name]}` : name))
    .join(', ')
  const what = refused.length > 0 ? list : `all its parameters (${list})`
  return partUnsupported(outcome, model, sender, { what, parts })
}

/**
 * The gateway knows functions as tools, but not the client's other tools.
 *
 * @param unusual the types or members that it may not know
 */
export function toolTypesUnsupported(
  outcome: Outcome,
  model: string,
  sender: Sender,
  unusual: readonly string[],
): Outcome {
  const named = unusual.filter((part) => outcome.said?.includes(part))
  const parts = named.length > 0 ? named : unusual
  return partUnsupported(outcome, model, sender, { what: `tools of ${parts.join(', ')}`, parts })
}

function partUnsupported(
  { said = '', ...refusal }: Outcome,
  model: string,
  { label, hints = {} }: Sender,
  { what, parts }: { readonly what: string; readonly parts: readonly string[] },
): Outcome {
  const cure = parts.map((name) => hints[name]).find(Boolean)
  return {
    ...refusal,
    code: 'parameter-unsupported',
    message: `${cleanForeignText(model)} answers, but rejects a request of ${label} with ${what}${said}`,
    hint:
      cure ??
      `${label} always sends it. Name another model: --model ID. Or ask the gateway's operator to accept it.`,
  }
}
