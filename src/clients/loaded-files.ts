import type { ConfigDocument } from '../edits/edit.ts'
import { formatOf } from '../edits/format.ts'
import type {
  Bytes,
  ConfigValue,
  FileEdit,
  ListElement,
  SettingChange,
  SettingPath,
} from '../edits/plan.ts'
import { UnsupportedFile } from '../edits/text.ts'
import { resultOf, UserError } from '../errors.ts'
import { isSameButVersion } from '../gateway/base-urls.ts'
import { isLoopback } from '../gateway/input/base-url.ts'
import type { Protocol } from '../gateway/types.ts'
import type {
  ClientContext,
  ClientState,
  LoadedFile,
  LoadedFiles,
  SetupTarget,
  Sources,
} from './client.ts'

/** The file of a kind. A client lists each of its targets exactly once. */
export function fileOf(files: LoadedFiles, kind: string): LoadedFile {
  const file = files.find((loaded) => loaded.kind === kind)
  if (!file) throw new Error(`no file of the kind ${kind} was read`)
  return file
}

/** All layers of a kind, weakest first. */
export function layersOf(files: LoadedFiles, kind: string): readonly LoadedFile[] {
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

/** A file as far as repoint can read it, with its values. Without a document it has no values. */
export interface ReadFile {
  readonly kind: string
  readonly path: string
  readonly document: ConfigDocument | undefined
  /** Why it has no document, with line and column. Absent: there is no file, or it is readable. */
  readonly problem: string | undefined
  /** The client may be able to read it: only repoint cannot. */
  readonly isUnsupported: boolean
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
const parsedFiles = new WeakMap<Bytes, ReadFile>()

/** Reads a file and never throws: a missing or unreadable file has no document. */
export function readFile(file: Pick<LoadedFile, 'kind' | 'path' | 'format' | 'bytes'>): ReadFile {
  const { kind, path, format, bytes } = file
  const cached = bytes && parsedFiles.get(bytes)
  if (cached?.path === path && cached.kind === kind) return cached

  const parsed = bytes === null ? undefined : resultOf(() => formatOf(format).read(bytes, path))
  const document = parsed instanceof UserError ? undefined : parsed
  const get = (at: SettingPath) => (at.length === 0 ? document?.root : document?.get(at))
  const table = (at: SettingPath) => {
    const value = get(at)
    return isTable(value) ? value : undefined
  }

  const read: ReadFile = {
    kind,
    path,
    document,
    problem: parsed instanceof UserError ? parsed.message : undefined,
    isUnsupported: parsed instanceof UnsupportedFile,
    get,
    text: (at) => textIn(get(at), []),
    table,
    members: (at) => Object.entries(table(at) ?? {}),
    place(at) {
      const line = document?.lineOf(at)
      return line === undefined ? path : `${path}:${line}`
    },
  }
  if (bytes !== null) parsedFiles.set(bytes, read)
  return read
}

/** Reads the file of a kind. */
export function readKind(files: LoadedFiles, kind: string): ReadFile {
  return readFile(fileOf(files, kind))
}

/** Reads the layers of a kind. */
export function readLayers(files: LoadedFiles, kind: string): readonly ReadFile[] {
  return layersOf(files, kind).map(readFile)
}

export type Table = { readonly [key: string]: ConfigValue }

export function isTable(value: ConfigValue | undefined): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at `path` below a value. Only tables are searched, and no lists. */
export function valueIn(
  value: ConfigValue | undefined,
  path: SettingPath,
): ConfigValue | undefined {
  let inner = value
  for (const key of path) {
    if (!isTable(inner) || typeof key !== 'string' || !Object.hasOwn(inner, key)) return undefined
    inner = inner[key]
  }
  return inner
}

/** The table at `path` below a value. Empty if there is none. */
export function tableIn(value: ConfigValue | undefined, path: SettingPath): Table {
  const found = valueIn(value, path)
  return isTable(found) ? found : {}
}

export function textIn(value: ConfigValue | undefined, path: SettingPath): string | undefined {
  const found = valueIn(value, path)
  return typeof found === 'string' ? found : undefined
}

export function numberIn(value: ConfigValue | undefined, path: SettingPath): number | undefined {
  const found = valueIn(value, path)
  return typeof found === 'number' ? found : undefined
}

/** Merges tables key by key; `above` replaces any other value. */
export function merged(below: Table, above: Table = {}): Table {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const old = all.get(key)
    all.set(key, isTable(old) && isTable(value) ? merged(old, value) : value)
  }
  return Object.fromEntries(all)
}

/**
 * Identifies an entry of a list by the first of these members, and by more of them while an entry in `others`
 * has the same values. None may be a secret, because records name it.
 */
export function knownElement(
  entry: Table,
  members: readonly string[],
  others: readonly Table[],
): ListElement {
  const known = members.filter((name) => typeof entry[name] === 'string')
  const isLike = (other: Table, names: readonly string[]) =>
    names.every((name) => other[name] === entry[name])
  const count = known.findIndex((_, index) =>
    others.every((other) => !isLike(other, known.slice(0, index + 1))),
  )
  const names = count === -1 ? known : known.slice(0, count + 1)
  return { element: Object.fromEntries(names.map((name) => [name, String(entry[name])])) }
}

/** Merges several files, weakest first. */
export function mergedFiles(files: readonly ReadFile[]): Table {
  return files.reduce<Table>((all, { document }) => merged(all, document?.root), {})
}

/** An address without slashes at the end: a client appends its route to it. */
export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Whether a client's address is this base URL. Slashes and an added or missing `/v1` at its end do not matter. */
export function isUrlOf(url: string, baseUrl: string): boolean {
  return isSameButVersion(withoutTrailingSlash(url), baseUrl)
}

/** Whether an address is on this machine. */
export function isLoopbackUrl(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname)
}

/**
 * Whether repoint wrote an address before, or is about to set it up. An additional or missing `/v1` at its
 * end does not matter.
 */
export function isOwnAddress(
  url: string | undefined,
  { writtenBaseUrls }: ClientContext,
  target?: SetupTarget,
): boolean {
  if (url === undefined) return false
  const written = target === undefined ? writtenBaseUrls : [...writtenBaseUrls, target.baseUrl]
  return written.some((baseUrl) => isUrlOf(url, baseUrl))
}

/** A model server on this machine may need no key, unless repoint wrote its address. */
export function mayNeedNoKey(url: string | undefined, context: ClientContext): boolean {
  return isLoopbackUrl(url) && !isOwnAddress(url, context)
}

/**
 * The base URL with the `/v1` that repoint wrote and that is missing now. Undefined: it is not missing.
 *
 * @param protocol for a client with several: the messages protocol needs no `/v1`
 */
export function withLostVersion(
  url: string,
  { writtenBaseUrls }: ClientContext,
  protocol?: Protocol,
): string | undefined {
  const withVersion = `${withoutTrailingSlash(url)}/v1`
  const isRight =
    protocol === undefined
      ? writtenBaseUrls.includes(withoutTrailingSlash(url))
      : protocol === 'messages'
  return writtenBaseUrls.includes(withVersion) && !isRight ? withVersion : undefined
}

/** An address without parts that may be secret: user and password, query and fragment. */
export function shownUrl(url: string): string {
  if (URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url)
    if (host !== '') return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
  }
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ''
  const rest = url.slice(scheme.length)
  // Everything up to the last @ may be a password.
  return scheme + rest.slice(rest.lastIndexOf('@') + 1).replace(/[?#].*$/s, '')
}

/** Why a client does not read a file: the file, then line and column if `why` ends with them. */
export function brokenText(path: string, why: string): string {
  const at = /^(.*) \((line \d+, column \d+)\)$/s.exec(why)
  return at ? `${path} ${at[2]}: ${at[1]}` : `${path}: ${why}`
}

/** The strongest of `files` (weakest first) that has a value at `path`. */
export function originOf(files: readonly ReadFile[], path: SettingPath): string | undefined {
  return files.findLast((file) => file.get(path) !== undefined)?.path
}

/** The file as the source of those values that are set. */
export function sourcesIn(path: string, values: Sources): Sources {
  const set = Object.entries(values).filter(([, value]) => Boolean(value))
  return Object.fromEntries(set.map(([name]) => [name, path]))
}

/** Why the client cannot read its files, as the findings of its state. */
export function unreadable(why: string | undefined): ClientState['findings'] {
  if (why === undefined) return []
  return [{ code: 'broken', severity: 'error', message: why, cause: 'broken' }]
}

/** An object with the values of `changes` at their paths, over those of `base`. Ignores removals. */
export function overlaid(base: Table, changes: readonly SettingChange[]): Table {
  return changes.reduce<Table>(
    (all, { path, value }) => (value === undefined ? all : withValue(all, path, value)),
    base,
  )
}

/** Ignores a path into a list. */
function withValue(base: Table, [name, ...rest]: SettingPath, value: ConfigValue): Table {
  if (typeof name !== 'string') return base
  const below = Object.hasOwn(base, name) ? base[name] : undefined
  const inner = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value)
  return Object.fromEntries([...Object.entries(base), [name, inner]])
}

/** Splits a text of many short names. */
export function wordsIn(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
