import type { ConfigDocument } from '../../edits/edit.ts'
import { documentOf } from '../../edits/format.ts'
import type { Bytes } from '../../edits/plan.ts'
import { sha256Of } from '../files.ts'
import type { FileVersion, RecordedFile } from '../record.ts'

/** File contents by hash: the saved copies, what is on the disk now, and what an undo would write. */
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
  added(version: FileVersion | null): Bytes | undefined {
    return version === null ? undefined : this.#added.get(version.sha256)
  }

  /** @throws UserError `backup-missing` */
  bytesOf(version: FileVersion | null): Bytes | null {
    if (version === null) return null
    const { sha256 } = version
    const bytes = this.added(version) ?? this.#contents.get(sha256) ?? this.#read(sha256)
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
