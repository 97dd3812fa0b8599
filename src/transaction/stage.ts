import type { FileEdit, Plan } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import type { FileStatus } from '../platform/platform.ts'
import { writeBlobs } from './blobs.ts'
import type { Change } from './changes.ts'
import { decodeDocument, encodeDocument, type RunDocument, tempPrefix } from './document.ts'
import { createDurably, randomName, sha256Of } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { maxRecordBytes, nextRunId, recordNames } from './records.ts'
import type { StatePaths } from './state.ts'
import { makeFolders, writeTemp } from './switch.ts'
import type { FileVersion, RecordedFile, RunRecord, World } from './types.ts'

/** What a rollback adds to a plan. */
export interface Restoring {
  readonly undoes: string
  /** The run's files as they were recorded, by path: modes and owners come from there. */
  readonly files?: ReadonlyMap<string, RecordedFile>
  readonly dropFolders?: readonly string[]
}

/** The run as it will be recorded, with names for the new files. Nothing is written yet. */
export function composeDocument(
  world: World,
  paths: StatePaths,
  plan: Plan,
  changes: readonly Change[],
  restoring: Restoring | undefined,
): RunDocument {
  const now = world.clock.now()
  const files = changes.map((change) => recordedFile(change, restoring))
  const run: RunRecord = {
    id: nextRunId(now, recordNames(world, paths)),
    at: now.toISOString(),
    command: plan.command,
    clients: [...new Set(files.map(({ client }) => client))],
    baseUrl: plan.baseUrl,
    model: plan.model,
    ...(restoring === undefined ? {} : { undoes: restoring.undoes }),
    files,
    folders: [...new Set(changes.flatMap(foldersToMake))],
  }
  const document = {
    run,
    temps: files.map(({ realPath }) => tempPrefix(realPath) + randomName()),
    dropFolders: restoring?.dropFolders ?? [],
  }
  checkIsReadable(world, document)
  return document
}

/** What cannot be read back could be neither finished nor undone. */
function checkIsReadable({ machine }: World, document: RunDocument): void {
  const bytes = encodeDocument(document)
  if (bytes.length <= maxRecordBytes && decodeDocument(bytes)) return
  const places = document.run.files.map(({ path }) => placeOf(machine, path)).join(', ')
  throw new UserError({
    code: 'config-conflict',
    message: `A record of this run could not be read back, so the run could not be undone: ${places}`,
    hint: 'Files must have absolute paths that end in .toml, .json or .jsonc; their client may name them by a variable.',
  })
}

function foldersToMake({ edit, target }: Change): readonly string[] {
  return edit.after === null ? [] : target.missingFolders
}

function recordedFile({ edit, target }: Change, restoring: Restoring | undefined): RecordedFile {
  const { status, realPath } = target
  const { client, path, format, scope, holdsSecret, changes, before, after } = edit
  return {
    client,
    path,
    realPath,
    format,
    scope,
    holdsSecret,
    keys: changes.map((change) => change.path),
    secretKeys: changes.filter(({ isSecret }) => isSecret).map((change) => change.path),
    boundKeys: changes.filter(({ isBound }) => isBound).map((change) => change.path),
    before: before && status ? { sha256: sha256Of(before), ...ownerAndMode(status) } : null,
    after: after && {
      sha256: sha256Of(after),
      ...wantedOwnerAndMode(edit, status, restoring?.files?.get(path)),
    },
  }
}

/** Permissions only: setuid, setgid and the sticky bit mean nothing on a configuration. */
function ownerAndMode({ mode, uid, gid }: FileStatus | FileVersion) {
  return { mode: mode & 0o777, uid, gid }
}

/**
 * Owner, group and mode stay; only a file that a setup writes a secret into is closed to others.
 * A rollback gives back the mode that the undone run had found.
 *
 * @param undone the file in the run that is undone
 */
function wantedOwnerAndMode(
  edit: FileEdit,
  status: FileStatus | undefined,
  undone: RecordedFile | undefined,
) {
  const original = undone?.before
  if (status === undefined) {
    if (original) return ownerAndMode(original)
    return { mode: edit.holdsSecret ? 0o600 : 0o644, uid: -1, gid: -1 }
  }
  const now = ownerAndMode(status)
  if (edit.mode !== undefined) return { ...now, mode: edit.mode }
  const isModeOurs = original && now.mode === undone.after?.mode
  if (isModeOurs) return { ...now, mode: original.mode }
  const isClosed = edit.holdsSecret && undone === undefined
  return { ...now, mode: isClosed ? now.mode & ~0o077 : now.mode }
}

/** Writes the document that names all that comes after it, so that a crash leaves nothing unknown. */
export function writeDraft(world: World, paths: StatePaths, document: RunDocument): void {
  try {
    createDurably(world.files, paths.draft, encodeDocument(document), 0o600)
    world.files.fsyncFolder(paths.folder)
  } catch (error) {
    throw fileFailure(world.machine, paths.draft, error)
  }
}

/**
 * Does all that can fail for want of room or of rights: the copies, the folders, and the new files
 * complete beside their targets. What is left then is renaming.
 */
export function stage(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  changes: readonly Change[],
): void {
  const { machine } = world
  try {
    const contents = changes.flatMap(({ edit }) => [edit.before, edit.after])
    writeBlobs(
      world,
      paths,
      contents.filter((bytes) => bytes !== null),
    )
  } catch (error) {
    throw fileFailure(machine, paths.blobs, error)
  }
  makeFolders(world, document)
  for (const [index, file] of document.run.files.entries()) {
    const temp = document.temps[index] ?? ''
    const after = changes[index]?.edit.after ?? null
    if (after === null) continue
    try {
      writeTemp(world, file, temp, after, document.run.undoes !== undefined)
    } catch (error) {
      throw fileFailure(machine, file.path, error)
    }
  }
}
