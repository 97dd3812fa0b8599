import type { FileAction, FileEdit, KeyPath, Plan } from '../edits/plan.ts'
import type { Notice } from '../notice.ts'
import type { Platform } from '../platform/platform.ts'
import { sha256Of } from './files.ts'

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
  /** The home that the run was made in. */
  readonly home: string
  readonly command: string
  /** Ids of the clients whose files it changed. */
  readonly clients: readonly string[]
  readonly baseUrl: string
  /** Absent: the usual ones. */
  readonly roots?: Plan['roots']
  readonly model: string
  /** The run that this one undid. */
  readonly undoes?: string
  /** The newest run before this one: where it is not recorded any more, runs between them are gone. */
  readonly follows?: string
  /** In the order in which they switched. */
  readonly files: readonly RecordedFile[]
  /** Folders that the run created, outermost first. */
  readonly folders: readonly string[]
}

/** Recorded runs, newest first. */
export type Runs = readonly RunRecord[]

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
  /** Those of `keys` that the client itself writes anew. Absent: none. */
  readonly stampedKeys?: readonly KeyPath[]
  readonly before: FileVersion | null
  readonly after: FileVersion | null
}

export interface FileVersion {
  /** Of the contents, hexadecimal. */
  readonly sha256: string
  /** Permission bits. In a file that a setup creates: before the umask takes its part. */
  readonly mode: number
  /** Both are -1 for a new file: whatever the system gives it. */
  readonly uid: number
  readonly gid: number
}

export interface Applied {
  /** Absent when every file was already as planned: nothing is recorded then. */
  readonly run: RunRecord | undefined
  readonly notices: readonly Notice[]
  readonly files: readonly FileOutcome[]
}

/** What becomes of one file. */
export interface FileOutcome {
  readonly path: string
  readonly client: string
  readonly action: FileAction
  /** What else a person should know, in words. */
  readonly note?: string
}

/** What a rollback would do. Made by `planRollback`, shown, then carried out by `applyRollback`. */
export interface RollbackPlan {
  /** The run that the files go back to before. */
  readonly undoes: RunRecord
  /** Newer runs of the same files, which go with it; newest first. */
  readonly passes: readonly RunRecord[]
  /** It goes forward: what it takes back is an undo. */
  readonly isRedo: boolean
  readonly plan: Plan
  readonly files: readonly FileBack[]
}

interface FileBack extends FileOutcome {
  /** Our keys that stay as they are, because someone has changed them since. */
  readonly kept: readonly KeyPath[]
}

/**
 * What lies on the disk for a run: first as the draft, then renamed to be the journal, then renamed
 * to be the record, which commits it.
 */
export interface RunDocument {
  readonly run: RunRecord
  /** For each of `run.files` where its new version is made: in a folder of ours beside it. */
  readonly temps: readonly string[]
  /** Folders to remove where nothing is left in them, outermost first. */
  readonly dropFolders: readonly string[]
}

/** Where the new version of one of the run's files is made. */
export function tempOf({ run, temps }: RunDocument, file: RecordedFile): string {
  return temps[run.files.indexOf(file)] as string
}

/** The version of the document's format. No other version is read. */
const documentVersion = 1

export function encodeDocument({ run, temps, dropFolders }: RunDocument): Uint8Array {
  const body = { version: documentVersion, run, temps, dropFolders }
  const text = JSON.stringify({ ...body, sha256: sumOf(body) }, undefined, 1)
  return new TextEncoder().encode(`${text}\n`)
}

/** @returns undefined for anything but an undamaged document of this version */
export function decodeDocument(bytes: Uint8Array): RunDocument | undefined {
  try {
    const { sha256, ...body } = JSON.parse(new TextDecoder().decode(bytes))
    if (sha256 !== sumOf(body)) return undefined
    return body.version === documentVersion ? body : undefined
  } catch {
    return undefined
  }
}

function sumOf(body: unknown): string {
  return sha256Of(new TextEncoder().encode(JSON.stringify(body)))
}
