import { remembering } from './remembering.ts'

/** Tables that stand together and have the first key of their paths in common. */
export interface TableGroup {
  /** Of the line that the first header stands in, in UTF-16 units. The next group is its end. */
  readonly start: number
  /** Undefined where the first key is written with an escape. */
  readonly root: string | undefined
}

/**
 * The tables and lists of tables of a TOML text, in a twentieth of the time that the span parser
 * takes. Of a text that is no TOML it says nothing sensible: a parser has to judge what is built on
 * it.
 */
export const groupTables = remembering((text: string): readonly TableGroup[] => {
  const groups: TableGroup[] = []
  /** How the headers of the last group begin: `[projects.` or `[[history]`. */
  let opening = ''
  /** Brackets and braces that are open: of a header, a list or an inline table. */
  let depth = 0
  let line = 0
  let isLineStart = true
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    switch (character) {
      case feed:
        line = at + 1
        isLineStart = true
        continue
      case space:
      case tab:
        continue
      case hash:
        at = foundOrEnd(text, text.indexOf('\n', at)) - 1
        continue
      case quote:
      case apostrophe:
        at = stringEnd(text, at, character) - 1
        break
      case openBracket:
        if (isLineStart && depth === 0 && !(opening && text.startsWith(opening, at))) {
          const { root, end } = firstKey(text, at)
          groups.push({ start: line, root })
          opening = /[.\]]/.test(text.charAt(end)) ? text.slice(at, end + 1) : ''
        }
        depth++
        break
      case openBrace:
        depth++
        break
      case closeBracket:
      case closeBrace:
        depth--
        break
    }
    isLineStart = false
  }
  return groups
})

const tab = 0x09
const feed = 0x0a
const space = 0x20
const quote = 0x22
const hash = 0x23
const apostrophe = 0x27
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const keyInHeader = /\[{1,2}[ \t]*(?:([\w-]+)|"([^"\\]*)"|'([^']*)')/y

/** The first key of the header that begins at `start`, and where it ends. */
function firstKey(text: string, start: number): { root: string | undefined; end: number } {
  keyInHeader.lastIndex = start
  const [, bare, basic, literal] = keyInHeader.exec(text) ?? []
  const root = bare ?? basic ?? literal
  return { root, end: root === undefined ? text.length : keyInHeader.lastIndex }
}

/** Behind the string whose quotes, of the kind `mark`, open at `start`. */
function stringEnd(text: string, start: number, mark: number): number {
  const single = mark === quote ? '"' : "'"
  const isMultiLine = text.charCodeAt(start + 1) === mark && text.charCodeAt(start + 2) === mark
  const closing = isMultiLine ? single + single + single : single
  let end = text.indexOf(closing, start + closing.length)
  while (mark === quote && isEscaped(text, end)) end = text.indexOf(closing, end + 1)
  if (end === -1) return text.length
  end += closing.length
  // One or two quotes may stand directly before the three that close.
  for (let more = 0; isMultiLine && more < 2 && text.charCodeAt(end) === mark; more++) end++
  return end
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charCodeAt(start - 1) === backslash) start--
  return (at - start) % 2 === 1
}

function foundOrEnd(text: string, found: number): number {
  return found === -1 ? text.length : found
}
