import type { FileAction, FileEdit, KeyPath, Plan } from '../edits/plan.ts'
import type { Platform } from '../platform/platform.ts'

/** The part of the outside world that a transaction needs. */
export type World = Pick<Platform, 'files' | 'processes' | 'machine' | 'clock'>

/**
 * What a run left in our state folder, as JSON. It holds no secret: contents are in blobs
 * (`blobs/<sha256>`, 0600), which it names by hash.
 */
export interface RunRecord {
  /** Sorts by time: `20261121T091500Z-4f2a`. */
  readonly id: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly command: string
  /** Ids of the clients whose files it changed. */
  readonly clients: readonly string[]
  readonly baseUrl: string
  readonly model: string
  /** The run that this one undid. */
  readonly undoes?: string
  /** In the order in which they switched. */
  readonly files: readonly RecordedFile[]
  /** Folders that the run created, outermost first. */
  readonly folders: readonly string[]
}

export interface RecordedFile {
  readonly client: string
  /** As the client names it. */
  readonly path: string
  /** Where the bytes lie, behind all symlinks. */
  readonly realPath: string
  readonly format: FileEdit['format']
  readonly scope: FileEdit['scope']
  readonly holdsSecret: boolean
  readonly keys: readonly KeyPath[]
  /** Those of `keys` whose values are never shown. */
  readonly secretKeys: readonly KeyPath[]
  /** Those of `keys` that are undone together with their like in the client's other files. */
  readonly boundKeys: readonly KeyPath[]
  readonly before: FileVersion | null
  readonly after: FileVersion | null
}

export interface FileVersion {
  /** Of the contents, hexadecimal. */
  readonly sha256: string
  /** Permission bits. In a file that a setup creates: before the umask takes its part. */
  readonly mode: number
  /** Both are -1 for a new file: whatever the system gives it, or, as root, its folder has. */
  readonly uid: number
  readonly gid: number
}

export type { FileAction }

export interface Applied {
  /** Absent when every file was already as planned: nothing is recorded then. */
  readonly run: RunRecord | undefined
  readonly files: readonly {
    readonly path: string
    readonly client: string
    readonly action: FileAction
    /** What else a person should know, in words. */
    readonly note?: string
  }[]
}

/** What a rollback would do. Made by `planRollback`, shown, then carried out by `applyRollback`. */
export interface RollbackPlan {
  /** The run that the files go back to before. */
  readonly undoes: RunRecord
  /** Newer runs of the same files, which go with it; newest first. */
  readonly passes: readonly RunRecord[]
  readonly plan: Plan
  readonly files: readonly {
    readonly path: string
    readonly client: string
    readonly action: FileAction
    /** Our keys that stay as they are, because someone has changed them since. */
    readonly kept: readonly KeyPath[]
    /** Why, in words. */
    readonly note?: string
  }[]
}

/**
 * An unfinished run that was found and settled.
 *
 * `rolled-forward`: it had been committed; `files` are switched now. `discarded`: nothing of it is
 * left, the files are as they were before it.
 */
export interface Settled {
  readonly run: string
  readonly outcome: 'rolled-forward' | 'discarded'
  readonly files: readonly string[]
  /** Files that someone else has written meanwhile: left as they are, and no part of the record. */
  readonly left: readonly string[]
}
