/** Which parts of a client's request a rejection blames, and the outcomes that name them. */
import { asList, asObject, cleanForeignText } from '../foreign-text.ts'
import type { Sender } from '../types.ts'
import { readErrorBody } from './error-body.ts'
import type { HttpResponse, Outcome } from './types.ts'

/** The names of the token limit in the three protocols. */
export const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** Whether a response rejects a token limit. It names the parameter in any language. */
export function rejectsLimit({ status, body }: HttpResponse): boolean {
  return (status === 400 || status === 422) && limitWords.test(body)
}

/** The members and headers of the client's request that a rejection names. */
export function rejectedParts(response: HttpResponse, sender: Sender): readonly string[] {
  const { body, headers = {} } = sender
  const { param, words } = readErrorBody(response)
  const names = optionalMembers(sender)

  const blamed = names.filter((name) => param === name || param.startsWith(`${name}.`))
  if (blamed.length > 0) return blamed

  const namedHeaders = Object.keys(headers).filter((name) =>
    isHeaderNamedIn(words, name, headers[name]!),
  )
  if (namedHeaders.length > 0) return namedHeaders

  return names.filter(
    (name) =>
      isNamedIn(words, name) || isPlaceIn(response.body, name) || isItemNamed(body[name], words),
  )
}

/** Whether the words name a header, or one of the betas in it: `anthropic-beta: effort-2025-11-24`. */
function isHeaderNamedIn(words: string, name: string, value: string): boolean {
  if (words.includes(name)) return true
  if (!name.endsWith('-beta')) return false
  return /\bbetas?\b/i.test(words) || value.split(',').some((beta) => words.includes(beta))
}

/** The members of a request that a gateway may not know. Every request has the others. */
function optionalMembers({ body }: Sender): readonly string[] {
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

/** Whether a member is a list, and the words name the type of an item in it: `web_search`. */
function isItemNamed(member: unknown, words: string): boolean {
  const types = asList(member).map((item) => asObject(item)?.['type'])
  return types.some(
    (type) => typeof type === 'string' && type.includes('_') && words.includes(type),
  )
}

/** The format of FastAPI and of programs based on it: `"loc": ["body", "include"]`. */
function isPlaceIn(body: string, name: string): boolean {
  return new RegExp(`"loc"\\s*:\\s*\\[[^\\]]{0,200}"${name}"`).test(body)
}

/** vLLM, OpenRouter, Ollama (2026-11-23): a rejection of tools names them. */
export function speaksOfTools({ quote = '' }: Outcome): boolean {
  return /\btools?\b|\bfunctions?\b|工具|函数/i.test(quote)
}

/** The gateway serves the model only without tools, and the clients always offer some. */
export function toolsUnsupported({ quote = '', ...rejection }: Outcome, model: string): Outcome {
  return {
    ...rejection,
    code: 'tools-unsupported',
    message: `${cleanForeignText(model)} answers, but not with tools, which every client needs${quote}`,
    hint: 'Name a model that can use tools: --model ID. On your own vLLM server, turn tools on: --enable-auto-tool-choice and --tool-call-parser.',
  }
}

/**
 * The gateway serves the model, but not with the client's own request.
 *
 * @param rejected the parts that the gateway named; empty: it named none
 */
export function parameterUnsupported(
  outcome: Outcome,
  model: string,
  sender: Sender,
  rejected: readonly string[],
): Outcome {
  const { body, headers = {}, hints = {} } = sender
  // The other headers only describe the client.
  const isProtocolHeader = (name: string) => name.endsWith('-beta') || name in hints
  const allParts = [...optionalMembers(sender), ...Object.keys(headers).filter(isProtocolHeader)]

  const parts = rejected.length > 0 ? rejected : allParts
  const shownParts = parts
    .map((name) => (typeof body[name] === 'number' ? `${name} ${body[name]}` : name))
    .join(', ')
  const what = rejected.length > 0 ? shownParts : `all its parameters (${shownParts})`
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
  const named = unusual.filter((part) => outcome.quote?.includes(part))
  const parts = named.length > 0 ? named : unusual
  return partUnsupported(outcome, model, sender, { what: `tools of ${parts.join(', ')}`, parts })
}

function partUnsupported(
  { quote = '', ...rejection }: Outcome,
  model: string,
  { label, hints = {} }: Sender,
  { what, parts }: { readonly what: string; readonly parts: readonly string[] },
): Outcome {
  const hintOfPart = parts.map((name) => hints[name]).find(Boolean)

  return {
    ...rejection,
    code: 'parameter-unsupported',
    message: `${cleanForeignText(model)} answers, but rejects a request of ${label} with ${what}${quote}`,
    hint:
      hintOfPart ??
      `${label} always sends it. Name another model: --model ID. Or ask the gateway's operator to accept it.`,
  }
}
