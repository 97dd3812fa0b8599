import type { JsonObject } from './read.ts'
import type { Part, Turn } from './reading/turns.ts'
import { Refusal } from './refusal.ts'

/**
 * What the protocols have in common on the way in: a body becomes a `ModelRequest`. Nothing here knows
 * a protocol or a socket.
 */

/** What stands beside a body. */
export interface RequestContext {
  /** What counts in the place of the member `input` (responses only). */
  readonly input?: unknown
  /** By their names in small letters. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  /** `rewritten`: what only some families of models reject is accepted. `vendor` if absent. */
  readonly families?: 'vendor' | 'rewritten'
}

/** What a client asks for, whatever protocol it spoke. */
export interface ModelRequest {
  /** As the client named it; may be an alias. */
  readonly model: string
  /** The conversation in order, system and developer prompts included. */
  readonly messages: readonly Turn[]
  /** Those that may be called. */
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  /** Whether one answer may hold several calls. */
  readonly isParallel: boolean
  /** Whether it is to think: before each answer, where it finds reason to, or not at all. */
  readonly thinking: 'always' | 'sometimes' | 'never'
  /** Thoughts came back altered: refused, unless the answer was recorded with a vendor's own. */
  readonly unsealed?: Refusal | undefined
  /** In tokens; undefined: no limit. */
  readonly maxOutputTokens: number | undefined
  readonly stopSequences: readonly string[]
  /** JSON schema that the answer must fit; undefined: free text. `{type: 'object'}`: any JSON object. */
  readonly outputSchema?: unknown
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

export interface Tool {
  readonly name: string
  /** `function` takes a JSON object, `custom` takes free text (chat and responses only). */
  readonly kind: 'function' | 'custom'
  readonly description?: string | undefined
  /** JSON schema of the arguments, as the client sent it. */
  readonly parameters: unknown
  /** The group that the client put the tool into; its calls name it again. */
  readonly namespace?: string | undefined
  /** Tools that can be reached only through this one, which takes a script that calls them. */
  readonly nested?: readonly string[]
}

/** A body that is JSON but not a request to the service itself: 500, in its own words. */
export class InvalidRequest extends Refusal {}

/**
 * What the service itself wants of chat and messages.
 *
 * @throws InvalidRequest
 */
export function requireMessages({ messages }: JsonObject): void {
  const isEmpty = Array.isArray(messages) && messages.length === 0
  if (messages === undefined || messages === null || isEmpty)
    throw new InvalidRequest('field messages is required')
}

/** Whether a conversation ends with the results of tools. */
export function endsWithResults(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.parts.some(({ type }) => type === 'tool-result') ?? false
}

/** A token for every four characters of the conversation and the tools' names, and one a message. */
export function countInputTokens(request: ModelRequest): number {
  let characters = 0
  for (const message of request.messages)
    for (const part of message.parts) characters += charactersOf(part)
  for (const tool of request.tools) characters += tool.name.length
  return request.messages.length + Math.ceil(characters / 4)
}

// A picture costs what a small one costs at the vendors: about 85 tokens.
const mediaCharacters = 340

function charactersOf(part: Part): number {
  switch (part.type) {
    case 'other':
      return mediaCharacters
    case 'thinking':
      return 0
    case 'tool-call':
      return part.name.length
    default:
      return part.text.length
  }
}
