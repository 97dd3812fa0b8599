import { UserError } from '../errors.ts'
import type { Bytes } from './types.ts'

/**
 * The largest configuration file that repoint reads and writes, in bytes. The largest real one had 90 kB; a picker
 * with 20,000 models and what each can do has 7 MB.
 */
export const maxConfigBytes = 12_000_000

/** A file's text without its byte order mark. */
interface DecodedText {
  readonly text: string
  readonly hasBom: boolean
}

/** Replaces the characters from `start` to `end` (exclusive). */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * @throws UserError `config-invalid` for a file that is too large or not UTF-8, with line and column
 */
export function decodeText(bytes: Bytes, fileName: string): DecodedText {
  if (bytes.length > maxConfigBytes) {
    throw new UnreadableFile({
      fileName,
      reason: `it is too large (${bytes.length} bytes, more than ${maxConfigBytes})`,
      hint: 'Make the file smaller, or change it yourself.',
    })
  }

  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    const valid = validUtf8Prefix(bytes)
    throw parseError({
      fileName,
      reason: 'it is not valid UTF-8',
      text: valid,
      offset: valid.length,
      isUnsupported: true,
      cause,
    })
  }

  const hasBom = text.startsWith('\ufeff')
  return { text: hasBom ? text.slice(1) : text, hasBom }
}

export function encodeText(decoded: DecodedText): Bytes {
  return new TextEncoder().encode((decoded.hasBom ? '\ufeff' : '') + decoded.text)
}

/** The error for a configuration file that repoint cannot read. */
export class UnreadableFile extends UserError {
  /** What is wrong, and where: `it is not valid JSON (line 3, column 5)`. */
  readonly reason: string
  /** A client may accept the file: it is not UTF-8, or exceeds a limit of ours. */
  readonly isUnsupported: boolean

  constructor(options: {
    fileName: string
    reason: string
    hint: string
    isUnsupported?: boolean
    cause?: unknown
  }) {
    const { fileName, reason, hint, isUnsupported = false, cause } = options
    super({ code: 'config-invalid', message: `Cannot read ${fileName}: ${reason}`, hint, cause })
    this.reason = reason
    this.isUnsupported = isUnsupported
  }
}

/** The error for a file that cannot be parsed. `text` and `offset` give line and column. */
export function parseError(problem: {
  fileName: string
  reason: string
  text: string
  offset: number
  isUnsupported?: boolean
  cause?: unknown
}): UnreadableFile {
  const { text, offset, reason, ...rest } = problem
  return new UnreadableFile({
    ...rest,
    reason: `${reason} (${describePosition(text, offset)})`,
    hint: `Fix line ${lineAt(text, offset)}, then run the command again.`,
  })
}

/** `line 3, column 5`, both from 1; columns in characters. */
export function describePosition(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lines = before.split('\n')
  const column = [...(lines.at(-1) ?? '')].length + 1
  return `line ${lines.length}, column ${column}`
}

/** The offset of a line and a column: lines from 1, columns from 0, in UTF-16 units. */
export function offsetAt(text: string, line: number, column: number): number {
  let start = 0
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1
  return Math.min(start + column, text.length)
}

/** The number of the line that contains `offset`, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Applies splices that do not overlap, in any order. Two splices at the same offset keep their order. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = []
  let copied = 0
  for (const splice of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    parts.push(text.slice(copied, splice.start), splice.text)
    copied = splice.end
  }
  return parts.join('') + text.slice(copied)
}

/** The start of the line that contains `offset`. */
export function lineStart(text: string, offset: number): number {
  return text.slice(0, offset).lastIndexOf('\n') + 1
}

/** The start of the line above the one that begins at `start`; 0 if there is none. */
export function lineAbove(text: string, start: number): number {
  return lineStart(text, Math.max(0, start - 1))
}

/** The end of the line that contains `offset`: before its line break and after it. */
export function lineEnd(text: string, offset: number): { content: number; next: number } {
  const feed = text.indexOf('\n', offset)
  if (feed === -1) return { content: text.length, next: text.length }
  return { content: text[feed - 1] === '\r' ? feed - 1 : feed, next: feed + 1 }
}

/** The line break of the line that contains `offset`, else the nearest one above, else below. */
export function eolAt(text: string, offset: number): string {
  const { content, next } = lineEnd(text, offset)
  if (next > content) return text.slice(content, next)
  return text[text.lastIndexOf('\n') - 1] === '\r' ? '\r\n' : '\n'
}

/** The indentation of the line that contains `offset`. */
export function indentAt(text: string, offset: number): string {
  return text.slice(lineStart(text, offset), offset).replace(/[^ \t].*/s, '')
}

/** Whether the last line of a text that ends with a line break is blank. */
export function endsWithBlankLine(text: string): boolean {
  return /(^|\n)[ \t]*\r?\n$/.test(text)
}

/** Removes whole lines. If the last line has no line break, the one before it is removed too. */
export function lineRemoval(text: string, start: number, end: number): Splice {
  const from = lineStart(text, start)
  const { content, next } = lineEnd(text, end)
  if (next > content || from === 0) return { start: from, end: next, text: '' }
  const before = text[from - 2] === '\r' ? from - 2 : from - 1
  return { start: before, end: next, text: '' }
}

/** The text before the first invalid byte. */
function validUtf8Prefix(bytes: Bytes): string {
  const replaced = new TextEncoder().encode(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
  )
  const end = bytes.findIndex((byte, index) => byte !== replaced[index])
  return new TextDecoder('utf-8').decode(bytes.subarray(0, end), { stream: true })
}
