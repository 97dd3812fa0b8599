import type { Turn } from '../requests/turns/turns.ts'

/** Tags that clients add around a prompt. A user's `<b>`, `<T>` or `<document>` has no hyphen. */
const openingTagPattern = /^\s*<([a-z]+[-_][a-z_-]+)>/
/** The tag that Grok Build 1.0.41 puts around the prompt itself (2026-11-29). */
const promptTagPattern = /^\s*<user_query>([\s\S]*)<\/user_query>\s*$/
const closingTagPattern = /<\/([a-z]+[-_][a-z_-]+)>\s*$/

/**
 * What OpenClaw 2026.9.6 adds (2026-11-23): the time at the start of the prompt, and a separate text
 * between two marks after it.
 */
const timePrefixPattern = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,40}\] /
const firstMarkPattern = /^\s*<<<BEGIN_[A-Z_]+>>>/
const lastMarkPattern = /<<<END_[A-Z_]+>>>\s*$/

/** The last text of the user, without the notes that clients add before and after it, each in a tag. */
export function lastUserText(turns: readonly Turn[]): string {
  const texts = turns
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])))
  const lastText = texts.findLast((text) => removeNotes(text) !== '') ?? ''
  return removeNotes(lastText)
}

/**
 * Removes a client's notes around a text: `<system-reminder>`, `<environment_context>`, or Copilot
 * 1.0.102's `<current_datetime>…</current_datetime>` at the start of the prompt (2026-11-23).
 */
function removeNotes(text: string): string {
  if (firstMarkPattern.test(text) && lastMarkPattern.test(text.slice(-maxNoteEndLength))) return ''
  const prompt = promptTagPattern.exec(text)?.[1]?.trim() ?? text
  return removeLastNotes(removeFirstNotes(prompt.replace(timePrefixPattern, '')))
}

/** A note without an end extends to the end of the text. */
function removeFirstNotes(whole: string): string {
  let text = whole
  for (;;) {
    const name = openingTagPattern.exec(text)?.[1]
    if (name === undefined) return text
    const closing = `</${name}>`
    const end = text.indexOf(closing)
    if (end === -1) return ''
    text = text.slice(end + closing.length).trimStart()
  }
}

function removeLastNotes(whole: string): string {
  let text = whole
  for (;;) {
    const name = closingTagPattern.exec(text.slice(-maxNoteEndLength))?.[1]
    if (name === undefined) return text
    const start = text.lastIndexOf(`<${name}>`)
    // Within a line it may be the user's, because custom HTML elements have such names too.
    const isOnNewLine = /(^|\n)\s*$/.test(text.slice(0, start).slice(-2))
    if (start === -1 || !(name.startsWith('system') || isOnNewLine)) return text
    text = text.slice(0, start).trimEnd()
  }
}

/** The longest closing tag or mark at the end of a text, with the space after it, in characters. */
const maxNoteEndLength = 200
