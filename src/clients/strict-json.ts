import { jsonDialect, type Leniency, lenienciesOf } from '../edits/dialects/json.ts'
import type { Bytes } from '../edits/plan.ts'
import { applySplices, decodeText, encodeText, position, type Splice } from '../edits/text.ts'
import { resultOf, UserError } from '../errors.ts'
import type { FileText } from './client.ts'
import { brokenText, type ReadFile, readFile, type Table } from './texts.ts'

/** What a client's reader bears beside plain JSON, which is all that serde_json and JSON.parse do. */
export interface Strictness {
  /** Claude Code 2.1.329 accepts a byte order mark, Codex 0.169.0 does not (2026-11-21). */
  readonly allowsBom?: boolean
  readonly allowsComments?: boolean
}

/** A JSON file as its client reads it. */
export interface StrictFile extends ReadFile {
  /** Empty where there is no file, or the client ignores it. */
  readonly root: Table
  /** Why the client ignores the whole file, in words, with line and column where they are known. */
  readonly ignored?: string | undefined
  /** Without comments and trailing commas it would be read. */
  readonly isRepairable: boolean
}

export function readStrictly(
  file: Pick<FileText, 'role' | 'path' | 'bytes'>,
  bears: Strictness = {},
): StrictFile {
  const { bytes } = file
  const read = readFile({ ...file, format: 'json' })
  const ignored = bytes === null ? undefined : strictJsonProblem(bytes, bears)
  const root = ignored === undefined ? (read.document?.root ?? {}) : {}
  const isRepairable = ignored !== undefined && isReadOnceRepaired(bytes!, bears)
  return { ...read, root, ignored, isRepairable }
}

function isReadOnceRepaired(bytes: Bytes, bears: Strictness): boolean {
  const repaired = resultOf(() => repairToStrictJson(bytes, 'it'))
  return !(repaired instanceof UserError) && strictJsonProblem(repaired, bears) === undefined
}

/**
 * @param leniencies what a repair would take out of it
 * @throws UserError `config-invalid` where the client would ignore a file that was edited
 */
export function expectRead(
  label: string,
  { path, ignored }: Pick<StrictFile, 'path' | 'ignored'>,
  leniencies = 'comments and trailing commas',
): void {
  if (ignored === undefined) return
  throw new UserError({
    code: 'config-invalid',
    message: `${label} would not read the file: ${brokenText(path, ignored)}`,
    hint: `Correct the file, or let repoint take ${leniencies} out of it.`,
  })
}

/** What keeps a strict reader from using the file, in words with line and column, or undefined. */
export function strictJsonProblem(
  bytes: Bytes,
  { allowsBom = false, allowsComments = false }: Strictness = {},
): string | undefined {
  try {
    const { text, hasBom } = decodeText(bytes, 'it')
    if (hasBom && !allowsBom) return 'a byte order mark (line 1, column 1)'
    if (text.trim() === '') return 'an empty file'

    const [first] = lenienciesOf(text, 'it').filter(
      ({ kind }) => kind !== 'comment' || !allowsComments,
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
