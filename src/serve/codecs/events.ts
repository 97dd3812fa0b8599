import type { Tool } from '../requests/request.ts'

/**
 * The vocabulary between the model and the protocols on the way out: `ModelEvent`s become frames or a
 * document. Nothing here knows a protocol or a socket.
 */

/** One step of an answer. Blocks do not overlap: a start is followed by its own deltas and end. */
export type ModelEvent =
  | { readonly type: 'thinking-start' }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | { readonly type: 'thinking-end'; readonly isCut?: boolean }
  /** `isRefusal`: the text says why nothing is said. */
  | { readonly type: 'text-start'; readonly isRefusal?: boolean }
  /** Of any length: the model says a text as a whole, and what streams it cuts it into tokens. */
  | { readonly type: 'text-delta'; readonly text: string }
  /** `isCut`: the limit of tokens came before its end. */
  | { readonly type: 'text-end'; readonly isCut?: boolean }
  | {
      readonly type: 'tool-call-start'
      readonly id: string
      readonly tool: Tool
    }
  /** A piece of the arguments: JSON text for a function, free text for a custom tool. */
  | { readonly type: 'tool-call-delta'; readonly text: string }
  | { readonly type: 'tool-call-end'; readonly isCut?: boolean }
  /** Always the last event of a complete answer. */
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: Usage }

export type FinishReason =
  | { readonly type: 'stop' }
  | { readonly type: 'tool-calls' }
  | { readonly type: 'length' }
  | { readonly type: 'stop-sequence'; readonly sequence: string }
  /** The model will not say it. */
  | { readonly type: 'refusal' }
  /** A filter of the vendor came between. */
  | { readonly type: 'content-filter' }

/** In tokens. */
export interface Usage {
  readonly inputTokens: number
  /** Of the input: found in the vendor's cache. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Of the output: thoughts. */
  readonly reasoningTokens: number
}
