import { findLeniencies, jsonDialect, type Leniency } from '../../edits/dialects/json.ts'
import {
  applySplices,
  decodeText,
  describePosition,
  encodeText,
  type Splice,
  UnreadableFile,
} from '../../edits/text.ts'
import type { Bytes } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { JsonSyntax } from '../../finding.ts'
import type { LoadedFile } from '../contract/files.ts'
import { brokenText, type ParsedFile, parseFile, withoutValues } from './parse-file.ts'
import type { Table } from './tables.ts'

/** How a client reads JSON. serde_json and JSON.parse accept none of this. For another format only `problemIn` counts. */
interface JsonReader {
  /** Claude Code accepts a byte order mark, Codex does not. */
  readonly allowsBom?: boolean
  readonly allowsComments?: boolean
  /** Why the client uses nothing of a file that it can parse, as shown to the user. */
  readonly problemIn?: (root: Table) => string | undefined
}

/** A file as its client reads it: without values if the client ignores it. */
export interface StrictFile extends ParsedFile {
  /** Why the client ignores the whole file, as shown to the user, with line and column if they are known. */
  readonly whyIgnored?: string
  /** The client would read the file without the syntax that it does not accept. */
  readonly isRepairable: boolean
  readonly reader?: JsonReader
}

/** Reads a file of any format, by default JSON: strictly, and repoint can repair only that. */
export function readStrictly(
  file: Pick<LoadedFile, 'kind' | 'path' | 'bytes'> & Partial<Pick<LoadedFile, 'format'>>,
  reader: JsonReader = {},
): StrictFile {
  const { bytes, format = 'json' } = file
  const read = parseFile({ ...file, format })
  const isJson = format === 'json'
  const problem = () => (isJson ? strictJsonProblem(bytes!, reader) : read.error?.reason)
  const unparsed = bytes === null ? undefined : problem()
  const whyIgnored = unparsed ?? (bytes === null ? undefined : reader.problemIn?.(read.root))
  const isRepairable = isJson && unparsed !== undefined && isReadOnceRepaired(bytes!, reader)

  const values = whyIgnored === undefined ? read : withoutValues(read)
  return { ...values, whyIgnored, isRepairable, reader }
}

function isReadOnceRepaired(bytes: Bytes, reader: JsonReader): boolean {
  const repaired = valueOrError(() => removeSyntax(bytes, 'it', syntaxToRemove(reader)))
  return !(repaired instanceof UserError) && strictJsonProblem(repaired, reader) === undefined
}

/** The syntax that a repair removes from a client's file. */
export function syntaxToRemove({ allowsBom, allowsComments }: JsonReader = {}): JsonSyntax {
  if (!allowsComments) return 'comments-and-commas'
  return allowsBom ? 'commas' : 'commas-and-bom'
}

/** As the object of a sentence. */
export const syntaxNames: Readonly<Record<JsonSyntax, string>> = {
  'comments-and-commas': 'comments and trailing commas',
  commas: 'trailing commas',
  'commas-and-bom': 'trailing commas and the byte order mark',
}

/** @throws UserError `config-invalid` if the client would ignore the edited file */
export function expectRead(
  label: string,
  {
    path,
    whyIgnored,
    isRepairable,
    reader,
  }: Pick<StrictFile, 'path' | 'whyIgnored' | 'isRepairable' | 'reader'>,
): void {
  if (whyIgnored === undefined) return
  throw new UserError({
    code: 'config-invalid',
    message: `${label} would not read the file: ${brokenText(path, whyIgnored)}`,
    hint: isRepairable
      ? `Fix the file, or let repoint remove ${syntaxNames[syntaxToRemove(reader)]}.`
      : 'Fix the file.',
  })
}

/**
 * What keeps a strict reader from using the file, as shown to the user, with line and column. Undefined:
 * nothing.
 */
export function strictJsonProblem(
  bytes: Bytes,
  { allowsBom = false, allowsComments = false }: JsonReader = {},
): string | undefined {
  try {
    const { text, hasBom } = decodeText(bytes, 'it')
    if (hasBom && !allowsBom) return 'a byte order mark (line 1, column 1)'
    if (text.trim() === '') return 'an empty file'

    const [first] = findLeniencies(text, 'it').filter(
      ({ kind }) => kind !== 'comment' || !allowsComments,
    )
    if (first) return `a ${first.kind} (${describePosition(text, first.start)})`
    jsonDialect.parse(text, 'it')
    return undefined
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    return error.reason
  }
}

/**
 * Removes syntax that a reader does not accept. Removes the whole line if it has only a comment.
 *
 * @throws UserError `config-invalid` if the file has other faults
 */
export function removeSyntax(bytes: Bytes, place: string, syntax: JsonSyntax): Bytes {
  const { text, hasBom } = decodeText(bytes, place)
  jsonDialect.parse(text, place)
  const splices = findLeniencies(text, place)
    .filter(({ kind }) => kind !== 'comment' || syntax === 'comments-and-commas')
    .map((leniency) => repair(text, leniency))

  return encodeText({
    text: applySplices(text, splices),
    hasBom: hasBom && syntax !== 'commas-and-bom',
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
