import type { Utterance } from './answer.ts'

/**
 * A space and up to sixteen UTF-16 units of a word, never cut between the halves of a character
 * outside of the basic plane. What stands before `!`, control characters too, counts as a space.
 */
const tokenPattern = /(?:[^!-\uffff]|(?=[!-\uffff]))[!-\uffff]{0,16}[\udc00-\udfff]*/g

/** The arguments of a tool call are streamed in pieces of 4 to 8 characters; the last may be shorter. */
const argumentPattern = /.{1,4}\w{0,4}/gsu

/**
 * Splits what is said into the pieces that are streamed, one "token" each: a word with the space
 * before it, or a part of the arguments of a call. Joined again they are the text.
 */
export function splitTokens({ type, text }: Pick<Utterance, 'type' | 'text'>): readonly string[] {
  return text.match(type === 'call' ? argumentPattern : tokenPattern) ?? []
}
