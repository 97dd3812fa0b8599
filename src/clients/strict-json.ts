import { jsonDialect, type Leniency, lenienciesOf } from '../edits/json.ts'
import type { Bytes } from '../edits/plan.ts'
import { applySplices, decodeText, encodeText, position, type Splice } from '../edits/text.ts'
import { UserError } from '../errors.ts'
import type { Table } from './texts.ts'

/** What a reader that knows only plain JSON makes of a file. */
export type StrictJson =
  | { readonly kind: 'object'; readonly root: Table }
  | {
      readonly kind: 'refused'
      /** In words, with line and column. */
      readonly why: string
      /** Without comments and trailing commas it would be read. */
      readonly isRepairable: boolean
    }

/**
 * Reads a file as strictly as serde_json and JSON.parse do: UTF-8 only, no comments, no trailing
 * commas, an object at the root.
 */
export function readStrictJson(bytes: Bytes, options: { readonly allowsBom: boolean }): StrictJson {
  const why = strictJsonProblem(bytes, options)
  if (why !== undefined) {
    return { kind: 'refused', why, isRepairable: isRepairable(bytes, options) }
  }
  const text = new TextDecoder().decode(bytes)
  return { kind: 'object', root: JSON.parse(text) as Table }
}

function isRepairable(bytes: Bytes, options: { readonly allowsBom: boolean }): boolean {
  try {
    return strictJsonProblem(repairToStrictJson(bytes, 'it'), options) === undefined
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

/**
 * What keeps a strict reader from using the file, in words with line and column, or undefined.
 * Claude Code 2.1.329 accepts a byte order mark, Codex 0.169.0 does not (2026-11-21).
 */
export function strictJsonProblem(
  bytes: Bytes,
  options: { readonly allowsBom?: boolean; readonly allowsComments?: boolean } = {},
): string | undefined {
  try {
    const { text, hasBom } = decodeText(bytes, 'it')
    if (hasBom && options.allowsBom !== true) return 'a byte order mark (line 1, column 1)'
    if (text.trim() === '') return 'an empty file'

    const [first] = lenienciesOf(text, 'it').filter(
      ({ kind }) => kind !== 'comment' || options.allowsComments !== true,
    )
    if (first) return `a ${first.kind} (${position(text, first.start)})`
    jsonDialect.parse(text, 'it')
    return undefined
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    return cause.message.replace('Cannot read it: ', '')
  }
}

/**
 * Takes out trailing commas and, unless they are kept, comments, for readers that skip such a file.
 * A line that holds nothing but a comment goes whole.
 *
 * @throws UserError `config-invalid` if the file is more broken than that
 */
export function repairToStrictJson(
  bytes: Bytes,
  place: string,
  options: { readonly removesBom?: boolean; readonly keepsComments?: boolean } = {},
): Bytes {
  const { text, hasBom } = decodeText(bytes, place)
  jsonDialect.parse(text, place)
  const splices = lenienciesOf(text, place)
    .filter(({ kind }) => kind !== 'comment' || options.keepsComments !== true)
    .map((leniency) => repair(text, leniency))
  return encodeText({
    text: applySplices(text, splices),
    hasBom: hasBom && options.removesBom !== true,
  })
}

function repair(text: string, { kind, start, end }: Leniency): Splice {
  if (kind === 'trailing comma') return { start, end, text: '' }
  const from = text.slice(0, start).replace(/[ \t]+$/, '').length
  const rest = /^[ \t]*(\r?\n|\r|$)/.exec(text.slice(end))?.[0]
  if (rest === undefined) return { start, end, text: '' }
  const isWholeLine = from === 0 || text[from - 1] === '\n' || text[from - 1] === '\r'
  return { start: from, end: isWholeLine ? end + rest.length : end, text: '' }
}
