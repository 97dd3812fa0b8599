import { posix } from 'node:path'
import type { FileStatus, Files } from '../../src/platform/platform.ts'

/** Thrown by the call at which the power is lost, and by every later call. */
export class PowerLoss extends Error {}

interface FileNode {
  readonly kind: 'file'
  data: Uint8Array
  /** What survives a power loss. */
  durable: Uint8Array
  mode: number
}

interface FolderNode {
  readonly kind: 'folder'
  readonly entries: Map<string, Node>
  /** What survives a power loss whatever happens. */
  durable: Map<string, Node>
  mode: number
}

interface LinkNode {
  readonly kind: 'symlink'
  readonly target: string
}

type Node = FileNode | FolderNode | LinkNode

/** A change to a folder that may or may not survive a power loss. */
interface PendingChange {
  readonly folder: FolderNode
  readonly apply: (entries: Map<string, Node>) => void
}

/**
 * A file system in memory that simulates a power loss. Changes that were not synced may be lost, in any combination
 * that a real file system could leave. File contents and folder entries are lost independently of each other, and a
 * rename within a folder is one change.
 */
export class ForgetfulFiles implements Files {
  /** Calls so far. */
  calls = 0
  /** The power is lost before this call, counted from 1. */
  powerLossAt = Number.POSITIVE_INFINITY
  readonly #root: FolderNode
  #pending: PendingChange[] = []
  readonly #handles = new Map<number, FileNode>()
  readonly #unsynced = new Set<FileNode>()
  #nextHandle = 3

  constructor(root: FolderNode = newFolder(0o755)) {
    this.#root = root
  }

  /** Creates a durable file with its folders. Not counted as a call. */
  put(path: string, text: string, mode = 0o644): void {
    const data = new TextEncoder().encode(text)
    this.#put(path, { kind: 'file', data, durable: data, mode })
  }

  /** Creates a durable symlink. */
  putLink(path: string, target: string): void {
    this.#put(path, { kind: 'symlink', target })
  }

  /** The text at `path`, or null. Not counted as a call. */
  text(path: string): string | null {
    const node = this.#find(path, true)
    return node?.kind === 'file' ? new TextDecoder().decode(node.data) : null
  }

  /** The mode at `path`, or undefined. Not counted as a call. */
  mode(path: string): number | undefined {
    const node = this.#find(path, true)
    return node === undefined || node.kind === 'symlink' ? undefined : node.mode
  }

  /** The sorted names in a folder. Empty if the folder does not exist. Not counted as a call. */
  names(path: string): string[] {
    const node = this.#find(path, true)
    return node?.kind === 'folder' ? [...node.entries.keys()].sort() : []
  }

  /**
   * The possible states of the disk after a power loss now. In every result the machine has started again.
   *
   * @param random a source of numbers from 0 to 1 for further combinations
   */
  afterPowerLoss(random: () => number, randomStates = 2): ForgetfulFiles[] {
    const count = this.#pending.length
    const choices: boolean[][] = [Array(count).fill(false), Array(count).fill(true)]
    for (let index = 0; index < count; index++) {
      choices.push(Array.from({ length: count }, (_, other) => other === index))
      choices.push(Array.from({ length: count }, (_, other) => other < index))
      choices.push(Array.from({ length: count }, (_, other) => other !== index))
    }
    for (let index = 0; index < randomStates; index++)
      choices.push(Array.from({ length: count }, () => random() < 0.5))
    const contents =
      this.#unsynced.size > 0 ? (['durable', 'current', 'half'] as const) : (['current'] as const)
    const states = distinct(choices, String).flatMap((kept) =>
      contents.map((content) => this.#restart(kept, content)),
    )
    return distinct(states, (state) => state.describe())
  }

  /** The state of the disk if everything was synced before a power loss. */
  afterSync(): ForgetfulFiles {
    return this.#restart(Array(this.#pending.length).fill(true), 'current')
  }

  /** One line for each file, folder and link. */
  describe(): string {
    const lines: string[] = []
    const visit = (node: Node, path: string) => {
      if (node.kind === 'folder') {
        lines.push(`${path}/ ${node.mode}`)
        for (const [name, child] of [...node.entries].sort()) visit(child, `${path}/${name}`)
      } else if (node.kind === 'file')
        lines.push(`${path} ${node.mode} ${Buffer.from(node.data).toString('latin1')}`)
      else lines.push(`${path} -> ${node.target}`)
    }
    visit(this.#root, '')
    return lines.join('\n')
  }

  lstat(path: string): FileStatus {
    this.#count()
    return this.#status(path, false)
  }

  stat(path: string): FileStatus {
    this.#count()
    return this.#status(path, true)
  }

  realpath(path: string): string {
    this.#count()
    const { real, node } = this.#walk(path, true)
    if (node === undefined) throw failure('ENOENT', path)
    return real
  }

  checkWritable(path: string): void {
    this.#count()
    this.#need(path, true)
  }

  readlink(path: string): string {
    this.#count()
    const node = this.#need(path, false)
    if (node.kind !== 'symlink') throw failure('EINVAL', path)
    return node.target
  }

  read(path: string, maxBytes: number): Uint8Array {
    this.#count()
    const node = this.#need(path, true)
    if (node.kind !== 'file') throw failure('EISDIR', path)
    if (node.data.length > maxBytes) throw new RangeError(`${path} is too long`)
    return node.data.slice()
  }

  readStart(path: string, bytes: number): Uint8Array {
    return this.read(path, Number.POSITIVE_INFINITY).slice(0, bytes)
  }

  readdir(path: string): string[] {
    this.#count()
    return [...this.#folder(path).entries.keys()].sort()
  }

  mkdir(path: string, mode: number): void {
    this.#count()
    this.#add(path, newFolder(mode))
  }

  rmdir(path: string): void {
    this.#count()
    const node = this.#need(path, false)
    if (node.kind !== 'folder') throw failure('ENOTDIR', path)
    if (node.entries.size > 0) throw failure('ENOTEMPTY', path)
    this.#change(posix.dirname(path), (entries) => entries.delete(posix.basename(path)))
  }

  createNew(path: string, mode: number): number {
    this.#count()
    const empty = new Uint8Array()
    const node: FileNode = { kind: 'file', data: empty, durable: empty, mode }
    this.#add(path, node)
    this.#handles.set(this.#nextHandle, node)
    return this.#nextHandle++
  }

  write(handle: number, bytes: Uint8Array, offset: number): number {
    this.#count()
    const node = this.#opened(handle)
    // Limits the bytes of one write, so that code that relies on a single write fails.
    const piece = bytes.subarray(offset, offset + 4096)
    node.data = Buffer.concat([node.data, piece])
    this.#unsynced.add(node)
    return piece.length
  }

  fsync(handle: number): void {
    this.#count()
    const node = this.#opened(handle)
    node.durable = node.data
    this.#unsynced.delete(node)
  }

  fchmod(handle: number, mode: number): void {
    this.#count()
    this.#opened(handle).mode = mode
  }

  fchown(): void {
    this.#count()
  }

  close(handle: number): void {
    this.#count()
    if (!this.#handles.delete(handle)) throw failure('EBADF', String(handle))
  }

  rename(from: string, to: string): void {
    this.#count()
    const node = this.#need(from, false)
    const old = this.#find(to, false)
    if (old?.kind === 'folder' && old.entries.size > 0) throw failure('ENOTEMPTY', to)
    const [fromName, toName] = [posix.basename(from), posix.basename(to)]
    const fromFolder = posix.dirname(from)
    const toFolder = posix.dirname(to)
    if (this.#folder(fromFolder) === this.#folder(toFolder)) {
      this.#change(fromFolder, (entries) => {
        // The change that created the entry may be lost.
        if (entries.get(fromName) !== node) return
        entries.delete(fromName)
        entries.set(toName, node)
      })
      return
    }
    this.#change(fromFolder, (entries) => entries.delete(fromName))
    this.#change(toFolder, (entries) => entries.set(toName, node))
  }

  unlink(path: string): void {
    this.#count()
    if (this.#need(path, false).kind === 'folder') throw failure('EISDIR', path)
    this.#change(posix.dirname(path), (entries) => entries.delete(posix.basename(path)))
  }

  fsyncFolder(path: string): void {
    this.#count()
    const folder = this.#folder(path)
    folder.durable = new Map(folder.entries)
    this.#pending = this.#pending.filter((change) => change.folder !== folder)
  }

  freeBytes(): undefined {}

  canCopyAttributes(): boolean {
    return true
  }

  copyAttributes(): boolean {
    this.#count()
    return true
  }

  #count(): void {
    this.calls++
    if (this.calls >= this.powerLossAt) throw new PowerLoss(`power lost at call ${this.calls}`)
  }

  #restart(kept: readonly boolean[], content: 'durable' | 'current' | 'half'): ForgetfulFiles {
    const entriesOf = new Map<FolderNode, Map<string, Node>>()
    for (const [index, { folder, apply }] of this.#pending.entries()) {
      const entries = entriesOf.get(folder) ?? new Map(folder.durable)
      entriesOf.set(folder, entries)
      if (kept[index]) apply(entries)
    }
    const copies = new Map<Node, Node>()
    const copy = (node: Node): Node => {
      const known = copies.get(node)
      if (known) return known
      const made = copyOf(node)
      copies.set(node, made)
      return made
    }
    const copyOf = (node: Node): Node => {
      if (node.kind === 'symlink') return node
      if (node.kind === 'file') {
        const data = dataAfter(node, content)
        return { kind: 'file', data, durable: data, mode: node.mode }
      }
      const entries = new Map<string, Node>()
      for (const [name, child] of entriesOf.get(node) ?? node.durable)
        entries.set(name, copy(child))
      return { kind: 'folder', entries, durable: new Map(entries), mode: node.mode }
    }
    return new ForgetfulFiles(copy(this.#root) as FolderNode)
  }

  #put(path: string, node: Node): void {
    let folder = this.#root
    for (const name of posix.dirname(path).split('/').filter(Boolean)) {
      const next = folder.entries.get(name) ?? newFolder(0o755)
      folder.entries.set(name, next)
      folder.durable.set(name, next)
      folder = next as FolderNode
    }
    folder.entries.set(posix.basename(path), node)
    folder.durable.set(posix.basename(path), node)
  }

  #add(path: string, node: Node): void {
    if (this.#find(path, false)) throw failure('EEXIST', path)
    this.#change(posix.dirname(path), (entries) => entries.set(posix.basename(path), node))
  }

  #change(folderPath: string, apply: (entries: Map<string, Node>) => void): void {
    const folder = this.#folder(folderPath)
    apply(folder.entries)
    this.#pending.push({ folder, apply })
  }

  #opened(handle: number): FileNode {
    const node = this.#handles.get(handle)
    if (!node) throw failure('EBADF', String(handle))
    return node
  }

  #folder(path: string): FolderNode {
    const node = this.#need(path, true)
    if (node.kind !== 'folder') throw failure('ENOTDIR', path)
    return node
  }

  #need(path: string, follow: boolean): Node {
    const node = this.#find(path, follow)
    if (!node) throw failure('ENOENT', path)
    return node
  }

  #status(path: string, follow: boolean): FileStatus {
    const node = this.#need(path, follow)
    return {
      kind: node.kind,
      mode: node.kind === 'symlink' ? 0o777 : node.mode,
      uid: 1000,
      gid: 1000,
      sizeBytes: node.kind === 'file' ? node.data.length : 0,
      links: 1,
      modifiedMs: 0,
    }
  }

  #find(path: string, follow: boolean): Node | undefined {
    return this.#walk(path, follow).node
  }

  /** Resolves the symlinks in a path. `follow` says whether to resolve the last one too. */
  #walk(path: string, follow: boolean, depth = 0): { real: string; node: Node | undefined } {
    if (depth > 40) throw failure('ELOOP', path)
    const names = path.split('/').filter(Boolean)
    let node: Node | undefined = this.#root
    for (const [index, name] of names.entries()) {
      if (node?.kind === 'file') throw failure('ENOTDIR', path)
      node = node?.kind === 'folder' ? node.entries.get(name) : undefined
      const isLast = index === names.length - 1
      if (node?.kind === 'symlink' && (follow || !isLast)) {
        const folder = `/${names.slice(0, index).join('/')}`
        const remaining = names.slice(index + 1).join('/')
        return this.#walk(posix.resolve(folder, node.target, remaining), follow, depth + 1)
      }
    }
    return { real: `/${names.join('/')}`, node }
  }
}

function newFolder(mode: number): FolderNode {
  return { kind: 'folder', entries: new Map(), durable: new Map(), mode }
}

function dataAfter({ data, durable }: FileNode, content: 'durable' | 'current' | 'half') {
  if (content === 'durable' || data === durable) return durable
  return content === 'current' ? data : data.subarray(0, Math.floor(data.length / 2))
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}

function distinct<T>(all: readonly T[], keyOf: (value: T) => string): T[] {
  return [...new Map(all.map((value) => [keyOf(value), value])).values()]
}
