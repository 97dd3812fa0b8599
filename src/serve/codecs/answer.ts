import type { Tool } from '../requests/model-request.ts'
import type { Usage } from '../requests/turns/turns.ts'

/** A complete answer of a model, independent of the protocol. */
export interface WholeAnswer {
  readonly blocks: readonly Block[]
  readonly reason: FinishReason
  readonly usage: Usage
}

/** A part of an answer after the limits of the request are applied. */
export type Block = Utterance & {
  /** The token limit cut the block. */
  readonly isCut: boolean
  /** The ID of a call; empty for other blocks. */
  readonly id: string
}

/** A part of the model's output before the limits of the request are applied. */
export type Utterance =
  | { readonly type: 'thinking'; readonly text: string }
  /** `isRefusal`: the text explains why the model does not answer. */
  | { readonly type: 'text'; readonly text: string; readonly isRefusal?: boolean }
  /** `text`: the arguments. JSON for a function, free text for a custom tool. */
  | { readonly type: 'call'; readonly text: string; readonly tool: Tool }

export type FinishReason =
  | { readonly type: 'stop' }
  | { readonly type: 'tool-calls' }
  | { readonly type: 'length' }
  | { readonly type: 'stop-sequence'; readonly sequence: string }
  /** The model refused to answer. */
  | { readonly type: 'refusal' }
  /** A filter of the vendor stopped the answer. */
  | { readonly type: 'content-filter' }
