import type { Utterance } from './answer.ts'

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
