/** Composes the record of a run from its plan. */
import { dirname } from 'node:path'
import { compact } from '../compact.ts'
import type { Bytes, FileEdit, Plan, SettingChange } from '../edits/types.ts'
import { plainKey } from '../edits/values/paths.ts'
import type { FileStatus } from '../platform/platform.ts'
import { randomName, sha256Of } from './files.ts'
import { type PlannedFile, permissionsOf } from './planned-files.ts'
import {
  decidesEndpoint,
  type FileVersion,
  isChangedByRun,
  type RecordedFile,
  type RecordedSetting,
  type RollbackDetails,
  type RunDocument,
  type RunRecord,
  type StagedFile,
  type World,
} from './record.ts'
import { nextRunId } from './records/records.ts'

/** A run that is ready to be written: its document, and the contents of each of its files. */
export interface ComposedRun {
  readonly document: RunDocument
  readonly files: readonly ComposedFile[]
}

export interface ComposedFile extends StagedFile {
  readonly before: Bytes | null
  readonly after: Bytes | null
}

/** A plan with its files on the disk. */
interface RunToCompose {
  readonly plan: Plan
  readonly plannedFiles: readonly PlannedFile[]
  readonly rollback?: RollbackDetails
}

/**
 * Composes the run to record, with paths for the new versions. Writes nothing.
 *
 * @param recordNames of the recorded runs, in order
 */
export function composeRun(
  world: World,
  recordNames: readonly string[],
  { plan, plannedFiles, rollback }: RunToCompose,
): ComposedRun {
  const now = world.clock.now()
  const composedFiles = plannedFiles.map((planned) => composeFile(planned, plan, rollback))
  const files = composedFiles.map(({ file }) => file)
  const folders = plannedFiles.flatMap(({ file }) => file.missingFolders)
  const changed = files.filter(isChangedByRun)
  const filesOfClients = changed.length > 0 ? changed : files

  const run: RunRecord = compact({
    id: nextRunId(now, recordNames),
    at: now.toISOString(),
    home: world.machine.home,
    kind: plan.kind,
    command: plan.command,
    clients: [...new Set(filesOfClients.map(({ client }) => client))],
    address: plan.address,
    baseUrls: plan.baseUrls,
    model: plan.model,
    undoes: rollback?.undoes,
    kept: rollback?.kept,
    files,
    folders: [...new Set(folders)],
  })

  const temps = composedFiles.map(({ temp }) => temp)
  const dropFolders = rollback?.dropFolders ?? []
  return { document: { run, temps, dropFolders }, files: composedFiles }
}

function composeFile(
  planned: PlannedFile,
  plan: Plan,
  rollback: RollbackDetails | undefined,
): ComposedFile {
  const { before, after } = planned.edit
  const file = recordedFile(planned, plan, rollback)
  return { file, temp: tempPath(file), before, after }
}

/** A path for the new version of a file. Nobody else can guess it. */
function tempPath({ realPath }: RecordedFile): string {
  return `${dirname(realPath)}/.repoint-${randomName()}/${randomName()}`
}

function recordedFile(
  { edit, file, mode }: PlannedFile,
  plan: Plan,
  rollback: RollbackDetails | undefined,
): RecordedFile {
  const { status, realPath } = file
  const { client, path, format, scope, holdsSecret, changes, before, after } = edit
  const owner = status ?? rollback?.versions.get(path) ?? { uid: -1, gid: -1 }
  const attributes = status ?? { mode, ...owner }

  return {
    client,
    path,
    realPath,
    format,
    scope,
    holdsSecret,
    settings: changes.map((change) => recordedSetting(change, edit, plan)),
    before: before && versionOf(before, permissionsOf(attributes), attributes),
    written: after && versionOf(after, mode, owner),
  }
}

function recordedSetting(change: SettingChange, edit: FileEdit, plan: Plan): RecordedSetting {
  const { path, role, isSecret, rewrittenByClient } = change
  const setting = {
    path,
    role,
    isSecret: isSecret || undefined,
    ourPrefix: role === 'model' ? providerPrefix(change, edit, plan) : undefined,
    rewrittenByClient: rewrittenByClient || undefined,
  }
  return compact(setting) as RecordedSetting
}

/** The prefix by which a model names the provider that the run writes: `gateway/` in `gateway/gpt-5.6-sol`. */
function providerPrefix(
  { value }: SettingChange,
  { client }: FileEdit,
  plan: Plan,
): string | undefined {
  if (typeof value !== 'string') return undefined
  const names = plan.edits
    .filter((edit) => edit.client === client)
    .flatMap(({ changes }) => changes.filter(decidesEndpoint))
    .flatMap(({ path }) => path.map(plainKey))

  if (names.includes(value)) return value
  const [provider = ''] = value.split('/')
  return provider !== value && names.includes(provider) ? `${provider}/` : undefined
}

function versionOf(
  bytes: Uint8Array,
  mode: number,
  { uid, gid }: Pick<FileStatus, 'uid' | 'gid'>,
): FileVersion {
  return { sha256: sha256Of(bytes), mode, uid, gid }
}
