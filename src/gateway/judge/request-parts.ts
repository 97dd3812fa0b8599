/** Names the part of a client's request that a rejection blames, by the gateway's words. */
import { asList, asObject, cleanForeignText } from '../foreign-text.ts'
import type { Protocol, Sender } from '../types.ts'
import { anyOf, either, near, within } from './causes/patterns.ts'
import type { Evidence } from './evidence.ts'
import { traitsOf } from './traits.ts'
import type { HttpResponse, Outcome } from './types.ts'

/** The names of the token limit in the three protocols. */
export const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** Whether a response rejects a token limit. It names the parameter in any language. */
export function rejectsLimit({ status, body }: HttpResponse): boolean {
  return (status === 400 || status === 422) && limitWords.test(body)
}

/** The statuses that are about the request. An error can also be the body of a 200. */
const aboutRequest = [200, 400, 413, 422]

/**
 * The outcome with the rejected part of the request, if the gateway's words name one. The first row that applies
 * decides. An outcome that blames anything else than the model or the gateway stays.
 *
 *     The words                          The outcome names
 *     an optional member or a header     it, and how to leave it out
 *     a type of tool                     the types that are not functions
 *     no tools                           the tools
 */
export function nameRejectedPart(outcome: Outcome, evidence: Evidence): Outcome {
  const { route, model = '', sender } = evidence.request
  const blames = traitsOf(outcome)?.blames
  if (route === 'catalog' || (blames !== 'model' && blames !== 'gateway')) return outcome

  const { quote = '' } = outcome
  if (sender !== undefined && aboutRequest.includes(evidence.response.status)) {
    const rejected = rejectedParts(evidence, sender)
    if (rejected.some((name) => name !== 'tools')) {
      const { body } = sender
      const shown = rejected.map((name) =>
        typeof body[name] === 'number' ? `${name} ${body[name]}` : name,
      )
      return partUnsupported(outcome, model, sender, { what: shown.join(', '), parts: rejected })
    }

    const unusual = unusualTools(route, sender)
    const named = unusual.filter((part) => quote.includes(part))
    if (named.length > 0 || (unusual.length > 0 && toolTypes.test(quote))) {
      const parts = named.length > 0 ? named : unusual
      return partUnsupported(outcome, model, sender, {
        what: `tools of ${parts.join(', ')}`,
        parts,
      })
    }
  }
  // Function tools are not supported for gpt-5.6-sol in /v1/chat/completions
  const words = `${evidence.error.param}: ${quote}`
  return !routes.test(quote) && noTools.test(words) ? toolsUnsupported(outcome, model) : outcome
}

/** The optional members and the headers of the client's request that a rejection names. */
function rejectedParts(
  { error: { param, words }, response }: Evidence,
  sender: Sender,
): readonly string[] {
  const { body, headers = {} } = sender
  const names = optionalMembers(sender)

  const blamed = names.filter((name) => param === name || param.startsWith(`${name}.`))
  if (blamed.length > 0) return blamed

  const namedHeaders = Object.keys(headers).filter((name) =>
    isHeaderNamedIn(words, name, headers[name]!),
  )
  if (namedHeaders.length > 0) return namedHeaders

  return Object.keys(body).filter(
    (name) =>
      isItemNamed(body[name], words) ||
      (names.includes(name) && (isNamedIn(words, name) || isPlaceIn(response.body, name))),
  )
}

/** Whether the words name a header, or one of the betas in it: `anthropic-beta: effort-2025-11-24`. */
function isHeaderNamedIn(words: string, name: string, value: string): boolean {
  if (words.includes(name)) return true
  if (!name.endsWith('-beta')) return false
  return /\bbetas?\b/i.test(words) || value.split(',').some((beta) => words.includes(beta))
}

/** Every request has these members. */
const essential = ['stream', 'messages', 'input']

/** The members of a request that a gateway may not know. */
function optionalMembers({ body }: Sender): readonly string[] {
  return Object.keys(body).filter((name) => !essential.includes(name) && body[name] !== undefined)
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

// `tools[3].function.parameters` is about one tool.
const tools = String.raw`(?:\b(?:tools?|functions?)\b(?![[.])|工具|函数)`
const denied = either(
  String.raw`\b(?:not|un|dis)[- ]?(?:be )?(?:support|allow|permit|enable|implement|available)`,
  '不支持',
)

/** vLLM, OpenRouter, Ollama (2026-11-23). */
const noTools = anyOf(
  near(tools, denied),
  // No endpoints found that support tool use
  String.raw`\bno\b${within(40)}\bsupport${within(20)}${tools}`,
  // "auto" tool choice requires --enable-auto-tool-choice
  String.raw`\btool choice requires\b`,
)

const routes = /\/(?:chat\/completions|responses|messages)\b/

/** 'type' of tool must be 'function' (llama.cpp, 2026-11-24). */
const toolTypes = anyOf(near(tools, String.raw`\btypes?\b`))

/** The gateway serves the model only without tools, and the clients always offer some. */
function toolsUnsupported({ quote = '', ...rejection }: Outcome, model: string): Outcome {
  return {
    ...rejection,
    code: 'tools-unsupported',
    message: `The gateway serves ${cleanForeignText(model)} without tools, which every client needs${quote}`,
    hint: 'Name a model that can use tools: {--model ID}. On your own vLLM server, turn tools on: --enable-auto-tool-choice and --tool-call-parser.',
  }
}

function partUnsupported(
  { quote = '', ...rejection }: Outcome,
  model: string,
  { label, body, hints = {} }: Sender,
  { what, parts }: { readonly what: string; readonly parts: readonly string[] },
): Outcome {
  const part = parts.find((name) => hints[name])
  const hint = part === undefined ? undefined : hints[part]
  return {
    ...rejection,
    code: 'parameter-unsupported',
    message: `The gateway rejects a request of ${label} for ${cleanForeignText(model)} with ${what}${quote}`,
    hint:
      hint ??
      `${label} always sends it. Name another model: {--model ID}. Or ask the gateway's operator to accept it.`,
    cure: hint && cureIn(hint, body[part!], quote),
  }
}

/** No limit for an answer is that small, but a status is: `HTTP 400`. */
const leastLimit = 600

/**
 * The flag in a hint, if the user need not choose its value. An output limit is the one that the gateway's words name: the
 * largest number below the rejected one.
 */
function cureIn(hint: string, rejected: unknown, words: string): string | undefined {
  const [, flag] = /\{(--output-limit TOKENS|--[a-z-]+(?: [a-z]+)?)\}/.exec(hint) ?? []
  if (!flag?.includes('TOKENS')) return flag
  const numbers = words.replaceAll(/(?<=\d),(?=\d{3}\b)/g, '').match(/\b\d+\b/g) ?? []
  const possible = numbers
    .map(Number)
    .filter((limit) => limit > leastLimit && limit < Number(rejected))
  return possible.length === 0 ? undefined : flag.replace('TOKENS', String(Math.max(...possible)))
}

/** The members of a tool that every gateway knows. Chat keeps all but the type in `function`. */
const usualMembers: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ['type', 'function'],
  responses: ['type', 'name', 'description', 'parameters', 'strict'],
  messages: ['type', 'name', 'description', 'input_schema', 'cache_control'],
}

/** The types, or else the members, of the client's tools that a gateway may not know. */
function unusualTools(protocol: Protocol, { body }: Sender): readonly string[] {
  const usualType = protocol === 'messages' ? 'custom' : 'function'
  const ofTools = asList(body['tools']).map((tool) => {
    const members = asObject(tool) ?? {}
    const { type = usualType } = members
    if (type !== usualType) return String(type)
    return Object.keys(members).find((name) => !usualMembers[protocol].includes(name))
  })
  // An item of the input can contain tools, instead of the request's own list.
  const inInput = asList(body['input'])
    .map(asObject)
    .filter((item) => Array.isArray(item?.['tools']))
    .map((item) => String(item!['type']))
  return [...new Set([...ofTools, ...inInput].filter((part) => part !== undefined))]
}
