/**
 * Finds the file on the disk behind each edit of a plan, and refuses the files that repoint cannot replace
 * safely.
 */
import { resolve } from 'node:path'
import { type FileEdit, type Plan, sameBytes } from '../edits/types.ts'
import { UserError, valueOrError } from '../errors.ts'
import type { FileStatus } from '../platform/platform.ts'
import { refuseUnsafeAsRoot } from './as-root.ts'
import { displayPath, sha256Of, wrapFileErrors } from './files.ts'
import type { FileVersion, RollbackDetails, World } from './record.ts'
import { readRuns } from './records/records.ts'
import type { StatePaths } from './records/state-folder.ts'
import { type ResolvedFile, readIfExists, resolveFile } from './resolve-file.ts'

/** An edit with its file on the disk, and the mode of the file afterwards. */
export interface PlannedFile {
  readonly edit: FileEdit
  readonly file: ResolvedFile
  readonly mode: number
}

/** Makes the paths absolute: a record has only absolute paths. */
export function withAbsolutePaths({ machine }: World, plan: Plan): Plan {
  const edits = plan.edits.map((edit) => ({ ...edit, path: resolve(machine.cwd, edit.path) }))
  return { ...plan, edits }
}

/** Whether the file already has the contents of the edit. */
export function isUnchanged({ before, after, mode }: FileEdit): boolean {
  return mode === undefined && sameBytes(before, after)
}

/**
 * Finds the file of each edit, in the order of the plan, and which of them the run must write.
 *
 * @throws UserError `changed-underneath`, `locked`, `config-conflict`, `not-permitted`, `io-failed`
 */
export function findPlannedFiles(
  world: World,
  paths: StatePaths,
  plan: Plan,
  rollback: RollbackDetails | undefined,
): { readonly plannedFiles: readonly PlannedFile[]; readonly toWrite: readonly PlannedFile[] } {
  const toWrite: PlannedFile[] = []

  const plannedFiles = plan.edits.map((edit) =>
    wrapFileErrors(world.machine, edit.path, () => {
      const planned = fileToWrite(world, paths, edit, rollback)
      // The file has the contents of `after` already, so they are also those before the run.
      if (planned === undefined) return resolveUnchangedFile(world, { ...edit, before: edit.after })
      toWrite.push(planned)
      return planned
    }),
  )

  refuseDuplicateFiles(world, toWrite)

  return { plannedFiles, toWrite }
}

/** @returns undefined if the file already has the planned contents */
function fileToWrite(
  world: World,
  paths: StatePaths,
  edit: FileEdit,
  rollback: RollbackDetails | undefined,
): PlannedFile | undefined {
  if (isUnchanged(edit)) return undefined

  const planned = resolvePlannedFile(world, edit, rollback)
  const now = readIfExists(world.files, world.machine, planned.file.realPath)
  // Another program, most likely another run, has already written the same contents.
  if (sameBytes(now, edit.after) && hasPlannedMode(edit, planned.file)) return undefined
  if (!sameBytes(now, edit.before)) throw changedUnderneathError(world, paths, edit, now)
  return planned
}

/** A file that the run does not write. It may be one that cannot be written. */
export function resolveUnchangedFile({ files, machine }: World, edit: FileEdit): PlannedFile {
  const found = valueOrError(() => resolveFile(files, machine, edit.path))
  const file =
    found instanceof UserError
      ? { realPath: edit.path, status: undefined, missingFolders: [] }
      : { ...found, missingFolders: [] }
  return { edit, file, mode: file.status ? permissionsOf(file.status) : 0o600 }
}

function hasPlannedMode({ mode }: FileEdit, { status }: ResolvedFile): boolean {
  return mode === undefined || (status !== undefined && permissionsOf(status) === mode)
}

/** @throws UserError `config-conflict`, `not-permitted`; Node's own errors */
export function resolvePlannedFile(
  world: World,
  edit: FileEdit,
  rollback: RollbackDetails | undefined,
): PlannedFile {
  const file = resolveFile(world.files, world.machine, edit.path)
  return planFile(world, edit, file, rollback)
}

/** Refuses a file that repoint cannot replace safely. @throws UserError `not-permitted` */
export function planFile(
  world: World,
  edit: FileEdit,
  file: ResolvedFile,
  rollback: RollbackDetails | undefined,
): PlannedFile {
  const { machine, processes } = world
  refuseUnsafeAsRoot(world, edit.path, file.realPath)
  const uid = file.status?.uid ?? processes.uid

  if (machine.os !== 'win32' && uid !== processes.uid)
    throw new UserError({
      code: 'not-permitted',
      message: `${displayPath(machine, edit.path)} belongs to another user, and repoint cannot keep that owner`,
      hint: 'Run repoint as that user, or make yourself the owner of the file.',
    })

  refuseReadOnlyMark(world, edit, file)
  refuseUnknownMask(world, edit, file)
  const mode = rollback
    ? modeAfterRollback(file.status, rollback.versions.get(edit.path))
    : modeAfterSetup(edit, file.status)

  return { edit, file, mode }
}

/** Windows cannot replace a file that is marked read-only. */
function refuseReadOnlyMark({ machine }: World, edit: FileEdit, { status }: ResolvedFile): void {
  if (machine.os !== 'win32' || status === undefined || (status.mode & 0o200) !== 0) return
  throw new UserError({
    code: 'not-permitted',
    message: `${displayPath(machine, edit.path)} is marked read-only`,
    hint: `Remove the mark: attrib -R "${edit.path}". Then run the same command again.`,
  })
}

/**
 * If a file has an access list, its group bits are the mask of that list. Without the list, they would
 * give rights to the group. Rejects files where repoint cannot find out which of the two applies, also those that a
 * setup closes to others: its undo opens them again.
 */
function refuseUnknownMask(world: World, edit: FileEdit, { status }: ResolvedFile): void {
  if (status === undefined || world.machine.os !== 'linux') return
  const groupHasMoreRights = ((status.mode >> 3) & ~status.mode & 0o7) !== 0
  if (!groupHasMoreRights) return
  if (world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `${displayPath(world.machine, edit.path)} gives its group more rights than other users. Without the cp of coreutils repoint cannot find out whether an access list says so`,
    hint: `Install coreutils, or remove the group's rights: chmod g=o ${edit.path}`,
  })
}

/** @throws UserError `config-conflict` if two of the files are links to the same one */
export function refuseDuplicateFiles({ machine }: World, planned: readonly PlannedFile[]): void {
  const duplicate = planned.find(({ file }, index) =>
    planned.slice(0, index).some((earlier) => earlier.file.realPath === file.realPath),
  )
  if (duplicate === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${displayPath(machine, duplicate.edit.path)} and another file of this run are links to the same file`,
    hint: 'Make them two separate files, then run the same command again.',
  })
}

function changedUnderneathError(
  world: World,
  paths: StatePaths,
  edit: FileEdit,
  now: Uint8Array | null,
): UserError {
  const shownPath = displayPath(world.machine, edit.path)
  const isFileOfEdit = ({ path }: { readonly path: string }) => path === edit.path
  const lastRun = readRuns(world, paths).runs.find(({ files }) => files.some(isFileOfEdit))
  const recorded = lastRun?.files.find(isFileOfEdit)
  const sha256 = now && sha256Of(now)

  if (lastRun && recorded && (recorded.written?.sha256 ?? null) === sha256)
    return new UserError({
      code: 'locked',
      message: `Another run of repoint (${lastRun.id}) changed ${shownPath} during this run`,
      hint: 'Run the same command again.',
    })

  return new UserError({
    code: 'changed-underneath',
    message: `Another program changed ${shownPath} during this run`,
    hint: 'Run the same command again.',
  })
}

/** The permission bits. Setuid, setgid and the sticky bit have no meaning for a configuration file. */
export function permissionsOf({ mode }: Pick<FileStatus, 'mode'>): number {
  return mode & 0o777
}

/** The mode of a file after a run. A file keeps its mode, but a secret removes the rights of other users. */
function modeAfterSetup(edit: FileEdit, status: FileStatus | undefined): number {
  if (status === undefined) return edit.holdsSecret ? 0o600 : 0o644
  if (edit.mode !== undefined) return edit.mode
  const now = permissionsOf(status)
  return edit.holdsSecret ? now & ~0o077 : now
}

/**
 * The mode of a file after a rollback: that of its earlier version. A file that the rollback removes has
 * no such version, and keeps its mode until then.
 */
function modeAfterRollback(
  status: FileStatus | undefined,
  version: FileVersion | undefined,
): number {
  if (version) return version.mode
  return status ? permissionsOf(status) : 0o600
}
