import type { ModelRequest, Part } from './events.ts'

/**
 * Splits text into the pieces that are streamed, one "token" each: a word with the space before it.
 * Joined again they are the text.
 */
export function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  let start = 0
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (at > 0 && startsToken(code, length)) {
      tokens.push(text.slice(start, at))
      start = at
      length = 0
    }
    if (!isSpace(code)) length++
  }
  if (start < text.length) tokens.push(text.slice(start))
  return tokens
}

/** How many `tokensOf` would find. */
export function countTokens(text: string): number {
  let count = text === '' ? 0 : 1
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (at > 0 && startsToken(code, length)) {
      count++
      length = 0
    }
    if (!isSpace(code)) length++
  }
  return count
}

/**
 * Whether a character that is not the first belongs to a token of its own.
 *
 * @param code its UTF-16 unit
 * @param length of the word before it
 */
export function startsToken(code: number, length: number): boolean {
  // Never between the halves of a character outside of the basic plane.
  return isSpace(code) || (length >= maxWordLength && (code & 0xfc00) !== 0xdc00)
}

/** A longer word is cut. In UTF-16 units. */
const maxWordLength = 16

/** Control characters count as spaces. */
export function isSpace(code: number): boolean {
  return code <= 0x20
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
