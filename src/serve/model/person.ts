import type { Turn } from '../requests/turns/turns.ts'

/** Tags that clients add around a prompt. A user's `<b>`, `<T>` or `<document>` has no hyphen. */
const openingTag = /^\s*<([a-z]+[-_][a-z_-]+)>/
const closingTag = /<\/([a-z]+[-_][a-z_-]+)>\s*$/

/**
 * What OpenClaw 2026.9.6 adds (2026-11-23): the time at the start of the prompt, and a separate text
 * between two marks after it.
 */
const timePrefix = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,40}\] /
const markStart = /^\s*<<<BEGIN_[A-Z_]+>>>/
const markEnd = /<<<END_[A-Z_]+>>>\s*$/

/** The last text of the user, without the notes that clients add before and after it, each in a tag. */
export function lastUserText(messages: readonly Turn[]): string {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])))
  const lastText = texts.findLast((text) => removeNotes(text) !== '') ?? ''
  return removeNotes(lastText)
}

/**
 * Removes a client's notes around a text: `<system-reminder>`, `<environment_context>`, or Copilot
 * 1.0.102's `<current_datetime>…</current_datetime>` at the start of the prompt (2026-11-23). A note
 * without an end extends to the end of the text.
 */
export function removeNotes(whole: string): string {
  if (markStart.test(whole) && markEnd.test(whole.slice(-maxNameLength))) return ''
  let text = whole.replace(timePrefix, '')
  for (let tag = openingTag.exec(text); tag !== null; tag = openingTag.exec(text)) {
    const close = `</${tag[1]}>`
    const end = text.indexOf(close)
    if (end === -1) return ''
    text = text.slice(end + close.length).trimStart()
  }

  for (let tag = closingTag.exec(text.slice(-maxNameLength)); tag !== null; ) {
    const start = text.lastIndexOf(`<${tag[1]}>`)
    // Within a line it may be the user's, because custom HTML elements have such names too.
    const isNote = tag[1]!.startsWith('system') || /(^|\n)\s*$/.test(text.slice(0, start).slice(-2))
    if (start === -1 || !isNote) break
    text = text.slice(0, start).trimEnd()
    tag = closingTag.exec(text.slice(-maxNameLength))
  }

  return text
}

/** The longest closing tag at the end of a text, with the space after it, in characters. */
const maxNameLength = 200
