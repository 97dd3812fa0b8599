import type { JsonObject } from '../read.ts'
import { asObject, asString, isObject, objectsIn } from '../read.ts'

/**
 * A conversation, whatever protocol it was spoken in: for the built-in model and for the page alike.
 * It is read without trust, and everything is kept: arguments, thinking, and what nobody knows.
 */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: readonly Part[]
}

export type Part =
  /** Thinking without text came encrypted. */
  | { readonly type: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `text`: the arguments as they were sent. */
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      readonly text: string
    }
  | {
      readonly type: 'tool-result'
      readonly id: string
      readonly text: string
      readonly isError: boolean
    }
  /** A picture, a file, or what only its vendor knows; `text` says what. */
  | { readonly type: 'other'; readonly text: string }

/** What a request says. */
export interface Question {
  readonly system: string
  readonly turns: readonly Turn[]
  readonly tools: readonly OfferedTool[]
  /** Everything else in the body. */
  readonly settings: JsonObject
  /** The id of the answer that this goes on from, where the client sends no more than that. */
  readonly follows: string | undefined
}

export interface OfferedTool {
  readonly name: string
  readonly definition: unknown
}

/** In tokens; what an answer of somebody else's does not say is 0. */
export interface Usage {
  readonly inputTokens: number
  /** Of the input: found in the vendor's cache. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Of the output: thoughts. */
  readonly reasoningTokens: number
}

/** What an answer says. */
export interface Answer {
  readonly id: string | undefined
  /** Which model answered. */
  readonly model: string | undefined
  readonly usage: Usage | undefined
  readonly parts: readonly Part[]
  /** In the protocol's word. */
  readonly finish: string | undefined
}

/** All that is said, the system prompt first. */
export function wholeTurns({ system, turns }: Question): readonly Turn[] {
  return system === ''
    ? turns
    : [{ role: 'system', parts: [{ type: 'text', text: system }] }, ...turns]
}

/** How one protocol is read. */
export interface ProtocolReader {
  question(body: JsonObject): Question
  answer(document: JsonObject): Answer
  /** The document that a whole answer would have been, from the events of a stream. */
  assemble(events: readonly JsonObject[]): JsonObject
}

/** The parts of content that is a text or a list of blocks. */
export function partsIn(content: unknown, partOf: (block: JsonObject) => Part): readonly Part[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : objectsIn(content).map(partOf)
}

/** A tool that says its name, or what it is, at its top. */
export function offeredTool(definition: JsonObject): OfferedTool {
  return { name: textOf(definition['name'] ?? definition['type']), definition }
}

/** The usage in an answer of chat or responses, by what they call input and output. */
export function saidUsage(usage: unknown, input: string, output: string): Usage | undefined {
  if (!isObject(usage)) return undefined
  return {
    inputTokens: numberAt(usage, `${input}_tokens`),
    cachedTokens: numberAt(usage, `${input}_tokens_details`, 'cached_tokens'),
    outputTokens: numberAt(usage, `${output}_tokens`),
    reasoningTokens: numberAt(usage, `${output}_tokens_details`, 'reasoning_tokens'),
  }
}

export type ToolResult = Extract<Part, { type: 'tool-result' }>

/** The turns since the model last spoke, and the results of tools in them. */
export function newestOf(turns: readonly Turn[]) {
  const newest = turns.slice(turns.findLastIndex(({ role }) => role === 'assistant') + 1)
  const parts = newest.flatMap((turn) => turn.parts)
  return { newest, results: parts.filter((part) => part.type === 'tool-result') }
}

/** Which tool a call id belongs to: a result names only that. */
export function callNames(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  return new Map(calls.map(({ id, name }) => [id, name]))
}

/** The number at a path, 0 if there is none. */
export function numberAt(value: unknown, ...path: readonly string[]): number {
  const [name, ...rest] = path
  if (name === undefined) return typeof value === 'number' ? value : 0
  return isObject(value) ? numberAt(value[name], ...rest) : 0
}

/** What stands for a part without text: its kind, and how much there is of it. */
export function otherPart(block: JsonObject): Part {
  const kind = asString(block['type']) ?? 'unknown'
  const source = asObject(block['source'])
  const media = asString(source['media_type']) ?? asString(block['filename']) ?? ''
  const size = JSON.stringify(block).length
  return { type: 'other', text: `${[kind, media].join(' ').trim()}, ${size} characters` }
}

/** Text of any value: a string as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The members of a body but for some. */
export function without(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}
