import type { Turn } from '../requests/reading/turns.ts'

/** Names of what clients put around a prompt: no person's `<b>`, `<T>` or `<document>`. */
const openingTag = /^\s*<([a-z]+[-_][a-z_-]+)>/
const closingTag = /<\/([a-z]+[-_][a-z_-]+)>\s*$/

/**
 * As OpenClaw 2026.9.6 sends them (2026-11-23): the time before a prompt in one text, and a text of its own
 * between two marks behind it.
 */
const timePrefix = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,40}\] /
const markStart = /^\s*<<<BEGIN_[A-Z_]+>>>/
const markEnd = /<<<END_[A-Z_]+>>>\s*$/

/** The last text of a person; clients put notes of their own, each in a tag, before and after it. */
export function lastUserText(messages: readonly Turn[]): string {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])))
  const said = texts.findLast((text) => removeNotes(text) !== '') ?? ''
  return removeNotes(said)
}

/**
 * A text without the notes of a client around it: `<system-reminder>`, `<environment_context>`, and as
 * Copilot 1.0.102 sends it, `<current_datetime>…</current_datetime>` before the prompt in one text
 * (2026-11-23). A note that does not end takes all that follows with it.
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
    // Within a line it may be a person's, as elements of web pages have such names too.
    const isNote = tag[1]!.startsWith('system') || /(^|\n)\s*$/.test(text.slice(0, start).slice(-2))
    if (start === -1 || !isNote) break
    text = text.slice(0, start).trimEnd()
    tag = closingTag.exec(text.slice(-maxNameLength))
  }
  return text
}

/** Of a tag that is looked for at the end of a text, with the space behind it, in characters. */
const maxNameLength = 200
