/**
 * The files as an undo sees them. A `FileVersion` names contents by hash, `Copies` holds their bytes,
 * and `AllFiles` says which version each path has. So an undo of several runs is computed in memory, step by
 * step, and no file changes before the whole plan is known. In each step, `now` is what it finds (the files on
 * the disk, or the result of the previous step), and `result` is what it leaves.
 */
import type { ConfigDocument } from '../edits/edit.ts'
import { documentOf } from '../edits/format.ts'
import type { Bytes } from '../edits/types.ts'
import { sha256Of, wrapFileErrors } from './files.ts'
import type { FileVersion, RecordedFile, World } from './record.ts'
import { readBlob } from './records/blobs.ts'
import { readIfExists, resolveFile } from './resolve-file.ts'

/**
 * The bytes of some files, by their paths. Null: there is no such file. A file whose path is missing here is as on
 * the disk: the undo does not touch it, or the records do not know it.
 */
export type FileContents = ReadonlyMap<string, Bytes | null>

/** The same thing as a step of an undo finds it, and as it leaves it. */
export interface NowAndResult<T> {
  readonly now: T
  readonly result: T
}

/** All files: the version that each path has on the disk, or after some steps of a plan. */
export interface AllFiles {
  readonly copies: Copies
  /** @throws UserError if the file cannot be read */
  readonly get: (path: string) => FileVersion | null
  /** The versions that those steps give their files. */
  readonly planned: ReadonlyMap<string, FileVersion | null>
}

/** The files on the disk. Each is read once, when it is needed. */
export function filesOnDisk(world: World): AllFiles {
  const copies = savedCopies(world)
  const versions = new Map<string, FileVersion | null>()
  return {
    copies,
    planned: new Map(),
    get: (path) => {
      if (!versions.has(path)) versions.set(path, readVersion(world, copies, path))
      return versions.get(path) ?? null
    },
  }
}

function readVersion(world: World, copies: Copies, path: string): FileVersion | null {
  const { files, machine } = world
  return wrapFileErrors(machine, path, () => {
    const { realPath, status } = resolveFile(files, machine, path)
    const bytes = status && readIfExists(files, machine, realPath)
    return bytes ? copies.add(bytes, { ...status, mode: status.mode & 0o777 }) : null
  })
}

/** All files after one more step, which gives some of them other versions. */
export function withChanges(
  files: AllFiles,
  changed: ReadonlyMap<string, FileVersion | null>,
): AllFiles {
  const planned = new Map([...files.planned, ...changed])
  return {
    copies: files.copies,
    planned,
    get: (path) => (planned.has(path) ? (planned.get(path) ?? null) : files.get(path)),
  }
}

/** The bytes of the files that a plan has changed so far, before and after the step from `now` to `result`. */
export function plannedBytes(now: AllFiles, result: AllFiles): NowAndResult<FileContents> {
  const paths = [...result.planned.keys()]
  const bytesIn = ({ copies, get }: AllFiles): FileContents =>
    new Map(paths.map((path) => [path, copies.bytesOf(get(path))]))
  return { now: bytesIn(now), result: bytesIn(result) }
}

/** The copies in the state folder. Each is read when it is needed. */
export function savedCopies(world: World): Copies {
  return new Copies((sha256) => readBlob(world, sha256))
}

/** The bytes of versions, by hash: of saved copies, of the files on the disk, and of an undo's results. */
export class Copies {
  readonly #read: (sha256: string) => Bytes
  readonly #added = new Map<string, Bytes>()
  readonly #contents = new Map<string, Bytes>()
  readonly #documents = new Map<string, ConfigDocument | undefined>()

  /** @param read reads a saved copy; throws UserError `backup-missing` */
  constructor(read: (sha256: string) => Bytes) {
    this.#read = read
  }

  /** Adds contents. @returns their version, with the mode and the owner of `like` */
  add(bytes: Bytes, { mode, uid, gid }: Omit<FileVersion, 'sha256'>): FileVersion {
    const sha256 = sha256Of(bytes)
    this.#added.set(sha256, bytes)
    return { sha256, mode, uid, gid }
  }

  /** @returns undefined if the contents were not added, but come from a saved copy */
  addedBytes(version: FileVersion | null): Bytes | undefined {
    return version === null ? undefined : this.#added.get(version.sha256)
  }

  /** @throws UserError `backup-missing` */
  bytesOf(version: FileVersion | null): Bytes | null {
    if (version === null) return null
    const { sha256 } = version
    const bytes = this.addedBytes(version) ?? this.#contents.get(sha256) ?? this.#read(sha256)
    this.#contents.set(sha256, bytes)
    return bytes
  }

  /** @returns undefined if there is no file, or if it cannot be parsed */
  documentOf(
    file: Pick<RecordedFile, 'format' | 'path'>,
    version: FileVersion | null,
  ): ConfigDocument | undefined {
    if (version === null) return undefined
    const cacheKey = `${file.format} ${version.sha256}`
    if (!this.#documents.has(cacheKey))
      this.#documents.set(cacheKey, documentOf(file, this.bytesOf(version)))
    return this.#documents.get(cacheKey)
  }
}
