import { compact } from '../compact.ts'
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
import { isLoopback } from '../gateway/input/base-url.ts'
import { isSameButVersion } from '../gateway/roots.ts'
import type { Protocol } from '../gateway/types.ts'
import type {
  Client,
  ClientContext,
  LoadedFile,
  LoadedFiles,
  SetupTarget,
  Sources,
} from './client.ts'

/** The file of a role. A client lists each of its targets exactly once. */
export function fileOf(files: LoadedFiles, role: string): LoadedFile {
  const file = files.find((text) => text.kind === role)
  if (!file) throw new Error(`no file with the role ${role} was read`)
  return file
}

/** The layers of a role: any number, the weaker before the stronger. */
export function layersOf(files: LoadedFiles, role: string): readonly LoadedFile[] {
  return files.filter((text) => text.kind === role)
}

/** The files as they are, with what the edits make of theirs. */
export function asPlanned(files: LoadedFiles, edits: readonly FileEdit[]): LoadedFiles {
  return files.map((text) => {
    const edit = edits.find(({ path }) => path === text.path)
    return edit === undefined ? text : { ...text, bytes: edit.after }
  })
}

/** A file as far as it can be read, and what can be asked of it. Without a document nothing stands in it. */
export interface ReadFile {
  readonly kind: string
  readonly path: string
  readonly document: ConfigDocument | undefined
  /** Why it has no document, with line and column. Absent: there is no file, or it can be read. */
  readonly problem: string | undefined
  /** The client may read it all the same: the problem is repoint's. */
  readonly isNotReadHere: boolean
  get(path: SettingPath): ConfigValue | undefined
  /** Undefined for anything but text. */
  text(path: SettingPath): string | undefined
  /** Undefined for anything but a table. */
  table(path: SettingPath): Table | undefined
  /** Names and values of a table; none for anything else. */
  members(path: SettingPath): readonly (readonly [name: string, value: ConfigValue])[]
  /** `file:line` of the key, or the file where the line is not known. */
  place(path: SettingPath): string
}

/** What was read of these bytes, which nobody changes: a large file takes 50 ms for each MB. */
const alreadyRead = new WeakMap<Bytes, ReadFile>()

/** Reads a file without throwing: no file and an unreadable one have no document. */
export function readFile(file: Pick<LoadedFile, 'kind' | 'path' | 'format' | 'bytes'>): ReadFile {
  const { kind, path, format, bytes } = file
  const known = bytes && alreadyRead.get(bytes)
  if (known?.path === path && known.kind === kind) return known

  const found = bytes === null ? undefined : resultOf(() => formatOf(format).read(bytes, path))
  const document = found instanceof UserError ? undefined : found
  const get = (at: SettingPath) => (at.length === 0 ? document?.root : document?.get(at))
  const table = (at: SettingPath) => {
    const value = get(at)
    return isTable(value) ? value : undefined
  }

  const read: ReadFile = {
    kind,
    path,
    document,
    problem: found instanceof UserError ? found.message : undefined,
    isNotReadHere: found instanceof UnsupportedFile,
    get,
    text: (at) => textIn(get(at), []),
    table,
    members: (at) => Object.entries(table(at) ?? {}),
    place(at) {
      const line = document?.lineOf(at)
      return line === undefined ? path : `${path}:${line}`
    },
  }
  if (bytes !== null) alreadyRead.set(bytes, read)
  return read
}

/** The same of the file of a role. */
export function readKind(files: LoadedFiles, role: string): ReadFile {
  return readFile(fileOf(files, role))
}

/** The same of the layers of a role. */
export function readLayers(files: LoadedFiles, role: string): readonly ReadFile[] {
  return layersOf(files, role).map(readFile)
}

export type Table = { readonly [key: string]: ConfigValue }

export function isTable(value: ConfigValue | undefined): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What stands at `path` below a value, through tables alone. */
export function valueIn(
  value: ConfigValue | undefined,
  path: SettingPath,
): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>(
    (found, key) =>
      isTable(found) && typeof key === 'string' && Object.hasOwn(found, key)
        ? found[key]
        : undefined,
    value,
  )
}

/** A table below a value; empty for anything else. */
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

/** One table over another: tables are merged key by key, all else is replaced. */
export function merged(below: Table, above: Table = {}): Table {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const old = all.get(key)
    all.set(key, isTable(old) && isTable(value) ? merged(old, value) : value)
  }
  return Object.fromEntries(all)
}

/**
 * How an entry of a list is known: by the first of these members, and by more of them as long as an entry
 * in `others` has the same. None may be a secret, because records name it.
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

/** Several files merged, the weaker before the stronger. */
export function mergedFiles(files: readonly ReadFile[]): Table {
  return files.reduce<Table>((all, { document }) => merged(all, document?.root), {})
}

/** An address as a client appends its route to it: without slashes at the end. */
export function rootOf(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Whether an address leads to this machine. */
export function isLoopbackUrl(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname)
}

/**
 * Whether an address is one that repoint has written before, or the one about to be set up, be it
 * with another ending: `/v1` more or less.
 */
export function isOwnAddress(
  url: string | undefined,
  { ownRoots }: ClientContext,
  target?: SetupTarget,
): boolean {
  if (url === undefined) return false
  const own = target === undefined ? ownRoots : [...ownRoots, target.baseUrl]
  return own.some((root) => isSameButVersion(root, rootOf(url)))
}

/** A model server on this machine may need no key; an address that repoint has written does. */
export function mayNeedNoKey(url: string | undefined, context: ClientContext): boolean {
  return isLoopbackUrl(url) && !isOwnAddress(url, context)
}

/**
 * The base URL with the `/v1` that repoint wrote and that is missing now. Undefined: it is not missing.
 *
 * @param protocol of a client with several, for which the messages protocol needs no `/v1`
 */
export function withLostVersion(
  url: string,
  { ownRoots }: ClientContext,
  protocol?: Protocol,
): string | undefined {
  const root = `${rootOf(url)}/v1`
  const isRight = protocol === undefined ? ownRoots.includes(rootOf(url)) : protocol === 'messages'
  return ownRoots.includes(root) && !isRight ? root : undefined
}

/** An address without what may be secret in it: user and password, query and fragment. */
export function shownUrl(url: string): string {
  if (URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url)
    if (host !== '') return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
  }
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? ''
  const rest = url.slice(scheme.length)
  // What cannot be told apart may be a password up to the last @.
  return scheme + rest.slice(rest.lastIndexOf('@') + 1).replace(/[?#].*$/s, '')
}

/** Why a client does not read a file: the file, then line and column where `why` ends in them. */
export function brokenText(path: string, why: string): string {
  const at = /^(.*) \((line \d+, column \d+)\)$/s.exec(why)
  return at ? `${path} ${at[2]}: ${at[1]}` : `${path}: ${why}`
}

/** The strongest of `files` (the weaker come first) in which something stands at `path`. */
export function originOf(files: readonly ReadFile[], path: SettingPath): string | undefined {
  return files.findLast((file) => file.get(path) !== undefined)?.path
}

/** The files from which a client's address and its models come. */
export function originsOf(
  { sources, read }: Pick<Client, 'sources' | 'read'>,
  files: LoadedFiles,
): Sources {
  if (sources) return sources(files)

  const { baseUrl, model, isModelUnnamed, smallModel } = read(files)
  const path = files.findLast(({ use }) => use === 'target')?.path
  return compact({
    baseUrl: baseUrl && path,
    model: isModelUnnamed ? undefined : model && path,
    smallModel: smallModel && path,
  })
}

/** An object with the values of `changes` at their paths, over those of `base`. Removals change nothing. */
export function overlaid(base: Table, changes: readonly SettingChange[]): Table {
  return changes.reduce<Table>(
    (all, { path, value }) => (value === undefined ? all : withValue(all, path, value)),
    base,
  )
}

/** A path into a list leads nowhere here. */
function withValue(base: Table, [name, ...rest]: SettingPath, value: ConfigValue): Table {
  if (typeof name !== 'string') return base
  const below = Object.hasOwn(base, name) ? base[name] : undefined
  const inner = rest.length === 0 ? value : withValue(isTable(below) ? below : {}, rest, value)
  return Object.fromEntries([...Object.entries(base), [name, inner]])
}

/** Many short names, which are written as a paragraph. */
export function wordsIn(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
