import type { ModelRequest, Part } from './events.ts'

/**
 * Splits text into the pieces that are streamed, one "token" each: a word with the space before it.
 * Joined again they are the text.
 */
export function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  let start = 0
  while (start < text.length) {
    let end = start
    if (isSpace(text.charCodeAt(end))) end++
    const limit = end + maxWordLength
    while (end < text.length && end < limit && !isSpace(text.charCodeAt(end))) end++
    // Never between the halves of a character outside of the basic plane.
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end++
    tokens.push(text.slice(start, end))
    start = end
  }
  return tokens
}

/** A longer word is cut. In UTF-16 units. */
const maxWordLength = 16

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
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
    case 'media':
      return mediaCharacters
    case 'tool-call':
      return part.name.length
    default:
      return part.text.length
  }
}
