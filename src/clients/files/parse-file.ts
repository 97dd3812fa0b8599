import type { ConfigDocument } from '../../edits/edit.ts'
import { formatOf } from '../../edits/format.ts'
import { UnreadableFile } from '../../edits/text.ts'
import type { Bytes, ConfigValue, FileEdit, SettingPath } from '../../edits/types.ts'
import { UserError, valueOrError } from '../../errors.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ClientState, Origins } from '../contract/state.ts'
import { isTable, merged, type Table, textIn } from './tables.ts'

/** The file of a kind. A client lists each of its editable files exactly once. */
export function fileOf(files: LoadedFiles, kind: string): LoadedFile {
  const file = files.find((loaded) => loaded.kind === kind)
  if (!file) throw new Error(`no file of the kind ${kind} was loaded`)
  return file
}

/** All files of a kind, weakest first. */
export function filesOfKind(files: LoadedFiles, kind: string): readonly LoadedFile[] {
  return files.filter((file) => file.kind === kind)
}

/** The files as they will be after the edits. */
export function asPlanned(files: LoadedFiles, edits: readonly FileEdit[]): LoadedFiles {
  return files.map((file) => {
    const edit = edits.find(({ path }) => path === file.path)
    return edit === undefined ? file : { ...file, bytes: edit.after }
  })
}

/** A file's content as text, with replacement characters for invalid bytes. Empty if there is no file. */
export function textOf({ bytes }: Pick<LoadedFile, 'bytes'>): string {
  return bytes === null ? '' : new TextDecoder().decode(bytes)
}

/** A file with its values, as far as repoint can parse it. Without a document it has no values. */
export interface ParsedFile {
  readonly kind: string
  readonly path: string
  readonly document: ConfigDocument | undefined
  /** All values. Empty if there are none. */
  readonly root: Table
  /** Why a file that exists has no document. */
  readonly error: UnreadableFile | undefined
  get(path: SettingPath): ConfigValue | undefined
  /** Undefined if the value is not text. */
  text(path: SettingPath): string | undefined
  /** Undefined if the value is not a table. */
  table(path: SettingPath): Table | undefined
  /** Names and values of a table. Empty if the value is not a table. */
  members(path: SettingPath): readonly (readonly [name: string, value: ConfigValue])[]
  /** `file:line` of the key, or only the file if the line is unknown. */
  place(path: SettingPath): string
}

/** A cache of parsed files by their bytes, which nobody changes. Parsing takes 50 ms for each MB. */
const parsedFiles = new WeakMap<Bytes, ParsedFile>()

/** Parses a file and never throws: a missing or unreadable file has no document. */
export function parseFile(
  file: Pick<LoadedFile, 'kind' | 'path' | 'format' | 'bytes'>,
): ParsedFile {
  const { kind, path, format, bytes } = file
  const cached = bytes && parsedFiles.get(bytes)
  if (cached?.path === path && cached.kind === kind) return cached

  const parsed = bytes === null ? undefined : valueOrError(() => formatOf(format).read(bytes, path))
  const document = parsed instanceof UserError ? undefined : parsed
  const get = (at: SettingPath) => (at.length === 0 ? document?.root : document?.get(at))
  const table = (at: SettingPath) => {
    const value = get(at)
    return isTable(value) ? value : undefined
  }

  const parsedFile: ParsedFile = {
    kind,
    path,
    document,
    root: document?.root ?? {},
    error: parsed instanceof UnreadableFile ? parsed : undefined,
    get,
    text: (at) => textIn(get(at), []),
    table,
    members: (at) => Object.entries(table(at) ?? {}),
    place(at) {
      const line = document?.lineOf(at)
      return line === undefined ? path : `${path}:${line}`
    },
  }
  if (bytes !== null) parsedFiles.set(bytes, parsedFile)
  return parsedFile
}

/** A file whose client uses none of its values. Only its `document` has them. */
export function withoutValues<File extends ParsedFile>(file: File): File {
  return {
    ...file,
    root: {},
    get: () => undefined,
    text: () => undefined,
    table: () => undefined,
    members: () => [],
  }
}

export function parseKind(files: LoadedFiles, kind: string): ParsedFile {
  return parseFile(fileOf(files, kind))
}

export function parseLayers(files: LoadedFiles, kind: string): readonly ParsedFile[] {
  return filesOfKind(files, kind).map(parseFile)
}

/** Merges several files, weakest first. */
export function mergedFiles(files: readonly ParsedFile[]): Table {
  return files.reduce<Table>((all, { root }) => merged(all, root), {})
}

/** Why a client does not read a file: the file, then line and column if `why` ends with them. */
export function brokenText(path: string, why: string): string {
  const at = /^(.*) \((line \d+, column \d+)\)$/s.exec(why)
  return at ? `${path} ${at[2]}: ${at[1]}` : `${path}: ${why}`
}

/** The strongest of `files` (weakest first) that has a value at `path`. */
export function originOf(files: readonly ParsedFile[], path: SettingPath): string | undefined {
  return files.findLast((file) => file.get(path) !== undefined)?.path
}

/**
 * The file as the origin of the values that it sets.
 *
 * @param values the values themselves, not yet their origins
 */
export function originsIn(path: string, values: Origins): Origins {
  const set = Object.entries(values).filter(([, value]) => Boolean(value))
  return Object.fromEntries(set.map(([name]) => [name, path]))
}

/** Why the client cannot read its files, as the findings of its state. */
export function unreadable(why: string | undefined): ClientState['findings'] {
  if (why === undefined) return []
  return [{ code: 'broken', severity: 'error', message: why, topic: 'broken' }]
}

/** Splits a text of many short names. */
export function wordsIn(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
