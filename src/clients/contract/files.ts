import type { Bytes, FileEdit } from '../../edits/types.ts'

/** A file that a client reads. */
export interface ConfigFile {
  /** The name of the file in the client's module: `config`, `auth`, `settings`. */
  readonly kind: string
  /** Absolute. */
  readonly path: string
  readonly format: FileEdit['format']
  readonly holdsSecret: boolean
  /**
   * `editable`: a setup may write it. `layer`: the client also reads it, and repoint only looks at it. `companion`: a
   * program next to the client reads it. Only `doctor --fix` edits it, and nothing fails because of it.
   */
  readonly use: 'editable' | 'layer' | 'companion'
  /** `folder`: the file comes with the folder where the client starts, so anyone may have written it. */
  readonly owner: 'user' | 'folder' | 'administrator'
  /** `variables`: a .env file. `agent`: Markdown with front matter. */
  readonly content: 'settings' | 'credentials' | 'variables' | 'agent'
  /** The client reads this layer only if the user names it, as in `codex --profile`. */
  readonly isProfile?: true
  /** Most setups do not need this file. Reports leave it out if the file does not exist. */
  readonly isOptional?: true
  /** `whole`: a setup replaces the file, because parts of two versions must not be mixed. */
  readonly scope: FileEdit['scope']
}

/** The part of the disk that `files` may read. */
export interface DiskReader {
  exists(path: string): boolean
  /** The names in a folder, sorted. Empty if there is no such folder. */
  entries(folder: string): readonly string[]
  /** The first kB of a file as text. Empty if there is no such file. */
  readStart(path: string): string
}

/** The files of one client with their contents. */
export type LoadedFiles = readonly LoadedFile[]

export interface LoadedFile extends ConfigFile {
  /** null: no such file. */
  readonly bytes: Bytes | null
}

/** A change of a client's files. */
export interface EditedFiles {
  /** `undo`: it removes what a setup wrote. `forget`: only repoint's records go, the files stay. */
  readonly by: 'setup' | 'undo' | 'forget'
  readonly before: LoadedFiles
  readonly after: LoadedFiles
}
