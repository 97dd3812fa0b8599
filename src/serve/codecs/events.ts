/**
 * The vocabulary between the protocols and the model: a codec turns a body into a `ModelRequest` and
 * `ModelEvent`s into frames. Nothing here knows a protocol or a socket.
 */

/** What a client asks for, whatever protocol it spoke. */
export interface ModelRequest {
  /** As the client named it; may be an alias. */
  readonly model: string
  /** The conversation in order, system and developer prompts included. */
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  /** In tokens; undefined: no limit. */
  readonly maxOutputTokens: number | undefined
  readonly stopSequences: readonly string[]
  /** JSON schema that the answer must fit; undefined: free text. `{}`: any JSON object. */
  readonly outputSchema?: unknown
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

export interface Tool {
  readonly name: string
  /** `function` takes a JSON object, `custom` takes free text (responses protocol only). */
  readonly kind: 'function' | 'custom'
  /** JSON schema of the arguments, as the client sent it. */
  readonly parameters: unknown
  /** The group that the client put the tool into; its calls name it again. */
  readonly namespace?: string | undefined
  /** Tools that can be reached only through this one, which takes a script that calls them. */
  readonly nested?: readonly string[]
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: readonly Part[]
}

export type Part =
  | { readonly type: 'text'; readonly text: string }
  /** An image, a file or a sound: accepted, not looked at. */
  | { readonly type: 'media' }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-result'; readonly id: string; readonly text: string }

/** One step of an answer. Blocks do not overlap: a start is followed by its own deltas and end. */
export type ModelEvent =
  | { readonly type: 'text-start' }
  /** Of any length: the model says a text as a whole, and what streams it cuts it into tokens. */
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'text-end' }
  | {
      readonly type: 'tool-call-start'
      readonly id: string
      readonly tool: Tool
    }
  /** A piece of the arguments: JSON text for a function, free text for a custom tool. */
  | { readonly type: 'tool-call-delta'; readonly text: string }
  | { readonly type: 'tool-call-end' }
  /** Always the last event of a complete answer. */
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: Usage }

export type FinishReason =
  | { readonly type: 'stop' }
  | { readonly type: 'tool-calls' }
  | { readonly type: 'length' }
  | { readonly type: 'stop-sequence'; readonly sequence: string }

/** In tokens, counted by `countTokens`. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}
