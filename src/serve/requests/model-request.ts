/** The types that the protocols share for requests: a body becomes a `ModelRequest`. */
import type { ClientToolType } from './checks/hosted-tools.ts'
import { RequestRejection } from './rejection.ts'
import type { Part, Turn } from './turns/turns.ts'

/** The headers of a request. The names are in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Everything except the body that decides how a request is read. */
export interface RequestContext {
  /** Replaces the member `input`: the stored conversation that it continues is added (responses only). */
  readonly input?: unknown
  readonly headers?: RequestHeaders
  /** `rewritten` accepts what only some families of models reject. Absent: `vendor`. */
  readonly families?: 'vendor' | 'rewritten'
}

/** A client's request, independent of the protocol. */
export interface ModelRequest {
  /** The name that the client sent. It may be an alias. */
  readonly model: string
  /** The conversation in order, including system and developer prompts. */
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  /** Whether one answer may contain several calls. */
  readonly isParallel: boolean
  /** Whether the model thinks before each answer, when it decides to, or not at all. */
  readonly thinking: 'always' | 'sometimes' | 'never'
  /**
   * The client returned altered thoughts. The request is rejected, unless the answer was recorded from
   * a vendor with the vendor's own signature.
   */
  readonly alteredThought?: RequestRejection
  /** In tokens. Undefined: no limit. */
  readonly maxOutputTokens: number | undefined
  readonly stopSequences: readonly string[]
  /** The JSON schema of the answer. Undefined: free text. `{type: 'object'}`: any JSON object. */
  readonly outputSchema?: unknown
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

export interface Tool {
  readonly name: string
  /** `function` takes a JSON object, `custom` takes free text (chat and responses only). */
  readonly kind: 'function' | 'custom'
  readonly description?: string
  /** The JSON schema of the arguments, as the client sent it. */
  readonly parameters: unknown
  /** The vendor's name for a tool that it defines and the client executes. Its calls over responses have a form of their own. */
  readonly vendorType?: ClientToolType
  /** The client's group of the tool. Calls repeat it. */
  readonly namespace?: string
  /** Tools that can only be called by a script that is passed to this tool. */
  readonly nested?: readonly string[]
}

/**
 * A JSON body that the imitated gateway itself rejects. It gets a 500, whereas a `RequestRejection` of the vendor
 * usually gets a 400, so code that tells the two apart checks this class first.
 */
export class InvalidRequest extends RequestRejection {}

export function endsWithResults(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.parts.some(({ type }) => type === 'tool-result') ?? false
}

/** Counts one token for every four characters of the conversation and tool names, and one per turn. */
export function countInputTokens(request: ModelRequest): number {
  let characters = 0
  for (const turn of request.turns) for (const part of turn.parts) characters += charactersOf(part)
  for (const tool of request.tools) characters += tool.name.length
  return request.turns.length + Math.ceil(characters / 4)
}

// An image costs about 85 tokens, as a small one does at the vendors.
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
