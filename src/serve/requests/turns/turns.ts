import type { JsonObject } from '../json.ts'
import { asString, listObjects, toObject } from '../json.ts'

/**
 * One turn of a conversation in any of the three protocols. The readers do not trust a body, and keep
 * unknown parts as type `other`.
 */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: readonly Part[]
}

export type Part =
  /** Encrypted thinking has no text. */
  | { readonly type: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `text` contains the arguments as they were sent. */
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
  /** An image, a file or an unknown part. `text` describes it. */
  | { readonly type: 'other'; readonly text: string }

/** In tokens. */
export interface Usage {
  readonly inputTokens: number
  /** The part of the input that the vendor's cache had. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** The part of the output that is thinking. */
  readonly reasoningTokens: number
}

/** Adds the system prompt as the first turn. */
export function withSystem(system: string, turns: readonly Turn[]): readonly Turn[] {
  return system === ''
    ? turns
    : [{ role: 'system', parts: [{ type: 'text', text: system }] }, ...turns]
}

/** The parts of content, which is a string or a list of blocks. */
export function readParts(content: unknown, partOf: (block: JsonObject) => Part): readonly Part[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : listObjects(content).map(partOf)
}

export type ToolResult = Extract<Part, { type: 'tool-result' }>

/** The turns after the model's last turn, and the tool results in them. */
export function newestTurns(turns: readonly Turn[]) {
  const newest = turns.slice(turns.findLastIndex(({ role }) => role === 'assistant') + 1)
  const parts = newest.flatMap((turn) => turn.parts)
  return { newest, results: parts.filter((part) => part.type === 'tool-result') }
}

/** The tool names by call ID. A tool result has only the call ID. */
export function callNames(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  return new Map(calls.map(({ id, name }) => [id, name]))
}

/** Represents a part without text by its kind and its size. */
export function otherPart(block: JsonObject): Part {
  const kind = asString(block['type']) ?? 'unknown'
  const source = toObject(block['source'])
  const media = asString(source['media_type']) ?? asString(block['filename']) ?? ''
  const size = JSON.stringify(block).length
  return { type: 'other', text: `${[kind, media].join(' ').trim()}, ${size} characters` }
}

/** Converts a value to text: a string stays, anything else becomes JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
