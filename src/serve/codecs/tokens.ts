import type { Part } from '../requests/reading/turns.ts'
import type { ModelRequest } from '../requests/request.ts'

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
