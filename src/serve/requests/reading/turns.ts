import type { JsonObject } from '../read.ts'
import { asString, listObjects, toObject } from '../read.ts'

/**
 * One turn of a conversation, in any of the three protocols. The readers trust nothing in a body, and
 * keep what they do not know as a part of type `other`.
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

/** In tokens. */
export interface Usage {
  readonly inputTokens: number
  /** Of the input: found in the vendor's cache. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Of the output: thoughts. */
  readonly reasoningTokens: number
}

/** The turns of a request, with its system prompt as the first one. */
export function withSystem(system: string, turns: readonly Turn[]): readonly Turn[] {
  return system === ''
    ? turns
    : [{ role: 'system', parts: [{ type: 'text', text: system }] }, ...turns]
}

/** The parts of content that is a text or a list of blocks. */
export function readParts(content: unknown, partOf: (block: JsonObject) => Part): readonly Part[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : listObjects(content).map(partOf)
}

export type ToolResult = Extract<Part, { type: 'tool-result' }>

/** The turns since the model last spoke, and the results of tools in them. */
export function newestTurns(turns: readonly Turn[]) {
  const newest = turns.slice(turns.findLastIndex(({ role }) => role === 'assistant') + 1)
  const parts = newest.flatMap((turn) => turn.parts)
  return { newest, results: parts.filter((part) => part.type === 'tool-result') }
}

/** Which tool a call id belongs to: a result names only that. */
export function callNames(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  return new Map(calls.map(({ id, name }) => [id, name]))
}

/** What stands for a part without text: its kind, and how much there is of it. */
export function otherPart(block: JsonObject): Part {
  const kind = asString(block['type']) ?? 'unknown'
  const source = toObject(block['source'])
  const media = asString(source['media_type']) ?? asString(block['filename']) ?? ''
  const size = JSON.stringify(block).length
  return { type: 'other', text: `${[kind, media].join(' ').trim()}, ${size} characters` }
}

/** Text of any value: a string as it is, anything else as JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
