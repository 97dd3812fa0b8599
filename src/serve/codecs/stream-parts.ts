import type { Block, Utterance, WholeAnswer } from './answer.ts'

/**
 * A part of a streamed answer, the same for all protocols. The answer starts, then each block starts,
 * grows and ends before the next one starts, then the answer ends.
 */
export type StreamPart =
  | { readonly type: 'answer-start'; readonly answer: WholeAnswer }
  | ({ readonly type: 'block-start' } & IndexedBlock)
  /** `delta` is the next piece of the block's text. */
  | ({ readonly type: 'block-delta'; readonly delta: string } & IndexedBlock)
  | ({ readonly type: 'block-end' } & IndexedBlock)
  | { readonly type: 'answer-end'; readonly answer: WholeAnswer }

/** A whole block with its position in the answer. */
export interface IndexedBlock {
  readonly block: Block
  readonly index: number
}

/** Splits an answer into the parts of its stream. Texts grow by one token at a time. */
export function* streamParts(answer: WholeAnswer): Generator<StreamPart> {
  yield { type: 'answer-start', answer }

  for (const [index, block] of answer.blocks.entries()) {
    yield { type: 'block-start', block, index }
    for (const delta of splitTokens(block)) yield { type: 'block-delta', block, index, delta }
    yield { type: 'block-end', block, index }
  }

  yield { type: 'answer-end', answer }
}

/**
 * A space and up to sixteen UTF-16 units of a word. Surrogate pairs are never split. Every character
 * below `!`, including control characters, counts as a space.
 */
const tokenPattern = /(?:[^!-\uffff]|(?=[!-\uffff]))[!-\uffff]{0,16}[\udc00-\udfff]*/g

/** The arguments of a call are streamed in pieces of 4 to 8 characters. The last may be shorter. */
const argumentPattern = /.{1,4}\w{0,4}/gsu

/**
 * Splits a text into "tokens" for a stream: words with the space before them, or parts of the arguments
 * of a call. Joined, they are the text.
 */
export function splitTokens({ type, text }: Pick<Utterance, 'type' | 'text'>): readonly string[] {
  return text.match(type === 'call' ? argumentPattern : tokenPattern) ?? []
}
