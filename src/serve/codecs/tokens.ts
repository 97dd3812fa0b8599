/**
 * A space and up to sixteen UTF-16 units of a word, never cut between the halves of a character
 * outside of the basic plane. What stands before `!`, control characters too, counts as a space.
 */
const tokenPattern = /(?:[^!-\uffff]|(?=[!-\uffff]))[!-\uffff]{0,16}[\udc00-\udfff]*/g

/**
 * Splits text into the pieces that are streamed, one "token" each: a word with the space before it.
 * Joined again they are the text.
 */
export function tokensOf(text: string): readonly string[] {
  return text.match(tokenPattern) ?? []
}
