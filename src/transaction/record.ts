/** The record of a run: what it consists of, what it says about a file or a setting, and how it is encoded. */
import type {
  ConfigValue,
  FileAction,
  FileEdit,
  Plan,
  RunKind,
  SettingChange,
  SettingPath,
  SettingRole,
} from '../edits/types.ts'
import type { UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Platform } from '../platform/platform.ts'
import { sha256Of } from './files.ts'

/** The part of the outside world that a transaction needs. */
export type World = Pick<Platform, 'files' | 'processes' | 'machine' | 'clock'>

/**
 * What a run left in the state folder, as JSON. It holds no secret: contents are in blobs
 * (`blobs/<sha256>`, 0600), which the record names by hash.
 */
export interface RunRecord {
  /** Sorts by time: `20261121T091500Z-4f2a`. */
  readonly id: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly home: string
  readonly kind: RunKind
  readonly command: string
  /** IDs of the clients whose files the run changed. If it changed none: of all its clients. */
  readonly clients: readonly string[]
  /** Absent: the run is about no gateway. An undo has the address of the oldest run that it undoes. */
  readonly address?: string
  /** Absent: the usual base URLs of `address`. */
  readonly baseUrls?: Plan['baseUrls']
  readonly model?: string
  /** What an undo or a redo undid. */
  readonly undoes?: readonly RunPart[]
  readonly kept?: readonly KeptSetting[]
  /** In a merged run: how many runs it consists of. */
  readonly mergedRuns?: number
  /** In a merged run: the records that it replaced. A crash can leave them; they no longer count. */
  readonly replaces?: readonly string[]
  /**
   * Every file of the plan, in write order. Files that did not change are listed too, because they
   * show which address and which key belong together.
   */
  readonly files: readonly RecordedFile[]
  /** Folders that the run created, outermost first. */
  readonly folders: readonly string[]
}

/** Recorded runs, newest first. */
export type Runs = readonly RunRecord[]

/** One client's part of a run. */
export interface RunPart {
  readonly run: string
  readonly client: string
}

export interface RecordedFile {
  readonly client: string
  /** The path that the client uses. */
  readonly path: string
  /** The path after all symlinks are resolved. */
  readonly realPath: string
  readonly format: FileEdit['format']
  readonly scope: FileEdit['scope']
  readonly holdsSecret: boolean
  readonly settings: readonly RecordedSetting[]
  /** In a merged run: the gateways that its runs wrote, newest first. Absent: the gateway of the run. */
  readonly gateways?: readonly RunGateway[]
  readonly before: FileVersion | null
  /** The new version. The switch replaces `before` by it. */
  readonly written: FileVersion | null
}

export interface RunGateway {
  readonly address: string
  readonly baseUrls?: Plan['baseUrls']
}

export interface RecordedSetting {
  readonly path: SettingPath
  readonly role?: SettingRole
  /** The value is never shown. */
  readonly isSecret?: true
  /** A later value that starts with this is still ours: `gateway/` for opencode's `model`. */
  readonly ourPrefix?: string
  /** The client writes this setting at each start, so any value is still ours. */
  readonly rewrittenByClient?: true
}

export interface FileVersion {
  /** The hash of the contents, in hexadecimal. */
  readonly sha256: string
  /** Permission bits. For a file that a setup creates: before the umask is applied. */
  readonly mode: number
  /** For a new file both are -1, and the system chooses. */
  readonly uid: number
  readonly gid: number
}

/** A setting that an undo did not change. */
export interface KeptSetting {
  readonly client: string
  readonly file: string
  /** Also `wholeFile`. */
  readonly path: SettingPath
  readonly why: ReasonToKeep
}

/**
 * Why an undo leaves a setting. Each but the last two holds it back, so a later undo can still undo it:
 *
 *     changed              someone changed it since the run
 *     together             another setting of the same gateway stays
 *     unreadable           the client could not read what would be left
 *     wrong-key            the client would have another login or key for the gateway's address, or none
 *     our-key-stays        the gateway's key stays in a login file that someone changed
 *     our-key-elsewhere    a key of a setup would be without its address
 *     address-moved        another file of the client names the gateway
 *     needed               the client could not read what others wrote without it
 *     newer                someone wrote it after the run had removed an earlier one
 */
export type ReasonToKeep =
  | 'changed'
  | 'together'
  | 'unreadable'
  | 'wrong-key'
  | 'our-key-stays'
  | 'our-key-elsewhere'
  | 'address-moved'
  | 'needed'
  | 'newer'

/** Whether the undo left something of ours undone. */
export function isHeldBack({ why }: Pick<KeptSetting, 'why'>): boolean {
  return why !== 'needed' && why !== 'newer'
}

/** The change that gives a recorded setting a value. */
export function settingChange(
  { path, role, isSecret, rewrittenByClient }: RecordedSetting,
  value: ConfigValue | undefined,
): SettingChange {
  return { path, value, role, isSecret, rewrittenByClient }
}

/** Whether the run changes the file. A record also lists files that already had the planned content. */
export function isChangedByRun({
  before,
  written,
}: Pick<RecordedFile, 'before' | 'written'>): boolean {
  return !isSameVersion(before, written)
}

/** Whether two versions have the same bytes. Both can be null: there is no file. */
export function isSameContent(a: FileVersion | null, b: FileVersion | null): boolean {
  return a?.sha256 === b?.sha256
}

/** Whether two versions have the same bytes and the same permissions. */
export function isSameVersion(a: FileVersion | null, b: FileVersion | null): boolean {
  return isSameContent(a, b) && a?.mode === b?.mode
}

/** Whether a setting decides where the client connects: its address, key or provider. */
export function decidesEndpoint({ role }: { readonly role?: SettingRole }): boolean {
  return role !== undefined && role !== 'model'
}

/** Whether a setting names the gateway: its address, or the provider with the address. */
export function hasAddressRole({ role }: { readonly role?: SettingRole }): boolean {
  return role === 'address' || role === 'provider'
}

/** Whether a file has a client's key, and not its address. */
function hasOnlyKey({ settings }: Pick<RecordedFile, 'settings'>): boolean {
  return settings.some(({ role }) => role === 'key') && !settings.some(hasAddressRole)
}

/** Which file of a client is written first. `any`: they do not hold both its key and its address. */
type WriteOrder = 'key-first' | 'address-first' | 'any'

/**
 * The order in which a run writes the files of one client. The kind of the run does not say it: an undo of
 * `repoint off` writes the key first, like a setup.
 */
export function writeOrderOf(filesOfClient: readonly RecordedFile[]): WriteOrder {
  const keyAt = filesOfClient.findIndex(hasOnlyKey)
  const addressAt = filesOfClient.findIndex(({ settings }) => settings.some(hasAddressRole))
  if (keyAt < 0 || addressAt < 0) return 'any'
  return keyAt < addressAt ? 'key-first' : 'address-first'
}

/** Sorts the files of one client: the inverse of `writeOrderOf`. */
export function inWriteOrder(
  filesOfClient: readonly RecordedFile[],
  order: Exclude<WriteOrder, 'any'>,
): readonly RecordedFile[] {
  const keys = filesOfClient.filter(hasOnlyKey)
  const others = filesOfClient.filter((file) => !keys.includes(file))
  return order === 'key-first' ? [...keys, ...others] : [...others, ...keys]
}

/** Whether a run undoes others: a redo undoes an undo. A setup, an `off` or a repair does not. */
export function isUndoOrRedo({ kind }: Pick<RunRecord, 'kind'>): boolean {
  return kind === 'undo' || kind === 'redo'
}

/** The gateways that a run wrote into one of its files, newest first. */
export function gatewaysIn(
  { gateways }: RecordedFile,
  { address, baseUrls }: RunRecord,
): readonly RunGateway[] {
  if (gateways !== undefined) return gateways
  return address === undefined ? [] : [{ address, baseUrls }]
}

export interface ApplyResult {
  /** Undefined if every file already had the planned content. Then nothing is recorded. */
  readonly run: RunRecord | undefined
  readonly findings: readonly Finding[]
  /** Why the written files do not say what was planned. The run is recorded all the same, so that an undo is possible. */
  readonly mismatches: readonly UserError[]
  readonly files: readonly FileReport[]
}

/** What a run does to one file, or would do. */
export interface FileReport {
  readonly path: string
  readonly client: string
  readonly action: FileAction
  /** A sentence for the user, such as a changed mode. */
  readonly note?: string
}

/**
 * The file of a run in the state folder. It is written as the draft, renamed to the journal, and
 * renamed to the record. The second rename commits the run.
 */
export interface RunDocument {
  readonly run: RunRecord
  /**
   * For each of `run.files`: the path of its new version before the switch, in a private folder next to it. If the
   * file is deleted: of an empty file, see `stageDeletion`.
   */
  readonly temps: readonly string[]
  /** Folders to remove if they are empty, outermost first. */
  readonly dropFolders: readonly string[]
}

/** What a rollback has in addition to the members of every plan. */
export interface RollbackDetails {
  readonly undoes: readonly RunPart[]
  readonly kept: readonly KeptSetting[]
  /** The versions of the files that exist after the rollback, by path. They decide modes and owners. */
  readonly versions: ReadonlyMap<string, FileVersion>
  readonly dropFolders: readonly string[]
  /** The ID of the newest run when the rollback was planned. */
  readonly newestRunId: string | undefined
}

/** A file of a run, with the path of its new version before the switch. */
export interface StagedFile {
  readonly file: RecordedFile
  readonly temp: string
}

/** The document lists the files and their paths in the same order. */
export function stagedFiles({ run, temps }: RunDocument): readonly StagedFile[] {
  return run.files.map((file, index) => ({ file, temp: temps[index] as string }))
}

/** The version of the document's format. Documents of other versions count as damaged. */
const documentVersion = 4

/** The document as JSON, with its version and a checksum. */
export function encodeDocument({ run, temps, dropFolders }: RunDocument): Uint8Array {
  const body = { version: documentVersion, run, temps, dropFolders }
  const text = JSON.stringify({ ...body, sha256: checksum(body) }, undefined, 1)
  return new TextEncoder().encode(`${text}\n`)
}

/** @returns undefined if the document is damaged or has another version */
export function decodeDocument(bytes: Uint8Array): RunDocument | undefined {
  try {
    const { sha256, ...body } = JSON.parse(new TextDecoder().decode(bytes))
    if (sha256 !== checksum(body)) return undefined
    return body.version === documentVersion ? body : undefined
  } catch {
    return undefined
  }
}

function checksum(body: unknown): string {
  return sha256Of(new TextEncoder().encode(JSON.stringify(body)))
}
