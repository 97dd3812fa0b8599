import type { Usage } from '../requests/reading/turns.ts'
import type { Tool } from '../requests/request.ts'

/**
 * The vocabulary between the model and the protocols on the way out: the blocks of an answer become
 * frames or a document. Nothing here knows a protocol or a socket.
 */

/** What a model says, before the limits of the request cut it. */
export type Utterance =
  | { readonly type: 'thinking'; readonly text: string }
  /** `isRefusal`: the text says why nothing is said. */
  | { readonly type: 'text'; readonly text: string; readonly isRefusal?: boolean }
  /** `text`: the arguments, JSON for a function, free text for a custom tool. */
  | { readonly type: 'call'; readonly text: string; readonly tool: Tool }

/** A part of an answer, as far as it was said. */
export type Block = Utterance & {
  /** By the limit of tokens, before its end. */
  readonly isCut: boolean
  /** Of a call; empty elsewhere. */
  readonly id: string
}

/** A complete answer. */
export interface WholeAnswer {
  readonly blocks: readonly Block[]
  readonly reason: FinishReason
  readonly usage: Usage
}

export type FinishReason =
  | { readonly type: 'stop' }
  | { readonly type: 'tool-calls' }
  | { readonly type: 'length' }
  | { readonly type: 'stop-sequence'; readonly sequence: string }
  /** The model will not say it. */
  | { readonly type: 'refusal' }
  /** A filter of the vendor came between. */
  | { readonly type: 'content-filter' }
