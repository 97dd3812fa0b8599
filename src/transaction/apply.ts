import { dirname, resolve } from 'node:path'
import { compact } from '../compact.ts'
import { actionOf, type FileEdit, type Plan, sameBytes } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { FileStatus } from '../platform/platform.ts'
import {
  createDurably,
  createFolders,
  displayPath,
  missingFolders,
  pathExists,
  randomName,
  removeEmptyFolders,
  sha256Of,
  toFileError,
  withFilesState,
  wrapFileErrors,
} from './files.ts'
import { withLock } from './lock.ts'
import { limitRuns } from './prune.ts'
import {
  type ApplyResult,
  encodeDocument,
  type FileVersion,
  isWritten,
  type KeptSetting,
  type RecordedFile,
  type RunDocument,
  type RunPart,
  type RunRecord,
  tempOf,
  toRecordedSetting,
  type World,
} from './record.ts'
import {
  currentVersion,
  removeStage,
  restoreUnfinishedRun,
  switchFile,
  writeTemp,
} from './restore.ts'
import {
  findState,
  nextRunId,
  openState,
  readRuns,
  recordNames,
  type StatePaths,
  stateFolder,
  writeBlobs,
} from './state.ts'
import { findTarget, readIfExists, refuseUnsafeAsRoot, type TargetFile } from './target.ts'

/** The part of a rollback that its plan does not express. */
export interface RollbackDetails {
  readonly kind: 'undo' | 'redo'
  readonly undoes: readonly RunPart[]
  readonly kept: readonly KeptSetting[]
  /** The version of each file after the rollback, by path: it decides modes and owners. */
  readonly versions: ReadonlyMap<string, FileVersion | null>
  readonly dropFolders: readonly string[]
  /** The ID of the newest run when the rollback was planned. */
  readonly newestRunId: string | undefined
}

/** An edit with the file that it changes and the mode of the result. */
interface Change {
  readonly edit: FileEdit
  readonly target: TargetFile
  readonly mode: number
}

export interface ApplyOptions {
  readonly rollback?: RollbackDetails
  /** Reads the files again under the lock, before another run can change them. */
  readonly verify?: () => void
  /**
   * The last step, after the commit. It reports failures as notices, so it never fails the run. It gets the
   * paths if it runs under the lock. If no edit of the plan changes a file, no lock is taken, except for
   * a rollback.
   */
  readonly lastStep?: ((lockedPaths?: StatePaths) => readonly Finding[]) | undefined
}

/**
 * Applies a plan: all of its files change, or none. docs/transaction.md explains the steps.
 *
 * @throws UserError `locked`, `changed-underneath`, `config-conflict`, `not-permitted`, `disk-full`,
 *   `io-failed`; its `files` reports the state of the files
 */
export function applyPlan(
  world: World,
  requestedPlan: Plan,
  options: ApplyOptions = {},
): ApplyResult {
  const plan = withAbsolutePaths(world, requestedPlan)
  const { rollback, verify, lastStep } = options
  if (plan.edits.every(isUnchanged) && rollback === undefined)
    return applyResult(plan, undefined, lastStep?.())

  const paths = openState(world)

  return withLock(world, paths, () => {
    restoreUnfinishedRun(world, paths)
    const { changes, unchanged } = findChanges(world, paths, plan, rollback)
    if (changes.length === 0) {
      // An undo that changes nothing is recorded too, so that the next one goes one run further back.
      const isCurrent = rollback !== undefined && rollback.newestRunId === newestRunId(world, paths)
      const run = isCurrent ? recordUnchanged(world, paths, plan, unchanged, rollback) : undefined
      return applyResult(plan, run, lastStep?.(paths))
    }

    const allChanges = sortByPlan(plan, [...changes, ...unchanged])
    const document = composeDocument(world, paths, plan, allChanges, rollback)
    switchFiles(world, paths, document, allChanges)

    verify?.()
    limitRuns(world, paths)

    return applyResult(plan, document.run, lastStep?.(paths))
  })
}

/**
 * Records the files as they are, without writing them. Changes by others no longer count as drift.
 *
 * @param plan a plan whose edits change nothing
 * @throws UserError `locked`, `config-conflict`, `not-permitted`, `disk-full`, `io-failed`
 */
export function acceptDrift(world: World, plan: Plan): void {
  const paths = openState(world)
  withLock(world, paths, () => {
    restoreUnfinishedRun(world, paths)
    const unchanged = plan.edits.map((edit) => unchangedFile(world, edit))
    recordUnchanged(world, paths, plan, unchanged)
  })
}

/** Records a run that writes no file. The caller holds the lock. */
function recordUnchanged(
  world: World,
  paths: StatePaths,
  plan: Plan,
  unchanged: readonly Change[],
  rollback?: RollbackDetails,
): RunRecord {
  const { files } = world
  const document = composeDocument(world, paths, plan, unchanged, rollback)
  wrapFileErrors(world.machine, paths.draft, () => {
    writeBlobs(world, paths, contentsToSave(unchanged))
    createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
    files.rename(paths.draft, paths.record(document.run.id))
    files.fsyncFolder(paths.folder)
  })
  limitRuns(world, paths)
  return document.run
}

/** A switch of files in progress. */
interface FileSwitch {
  readonly world: World
  readonly paths: StatePaths
  readonly document: RunDocument
  readonly changes: readonly Change[]
  /** The path that an error would be about. */
  currentPath: string
  /** Takes the commit back if the disk cannot confirm that it is durable. */
  undoCommit?: () => void
}

/** Switches all files of a run. If a step fails before the commit, everything is restored. */
function switchFiles(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  changes: readonly Change[],
): void {
  const fileSwitch: FileSwitch = { world, paths, document, changes, currentPath: paths.draft }
  try {
    prepareSwitch(fileSwitch)
    switchTargets(fileSwitch)
    commitRun(fileSwitch)
  } catch (error) {
    const failure = toFileError(world.machine, fileSwitch.currentPath, error)
    throw restoreAfterFailure(world, paths, failure, fileSwitch.undoCommit)
  }
}

/** Writes the draft, the copies and the new versions. No target changes yet. */
function prepareSwitch(fileSwitch: FileSwitch): void {
  const { world, paths, document, changes } = fileSwitch
  const { files } = world
  const { run } = document

  createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
  files.fsyncFolder(paths.folder)

  fileSwitch.currentPath = paths.blobs
  writeBlobs(world, paths, contentsToSave(changes))

  for (const folder of run.folders) {
    fileSwitch.currentPath = folder
    createFolders(files, [folder])
  }

  for (const [index, file] of run.files.entries()) {
    fileSwitch.currentPath = file.path
    const after = changes[index]?.edit.after ?? null
    if (after !== null && isWritten(file)) writeStagedFile(world, document, file, after)
  }
}

/** Turns the draft into the journal, then renames each new version to its target. */
function switchTargets(fileSwitch: FileSwitch): void {
  const { world, paths, document } = fileSwitch
  const { files } = world

  fileSwitch.currentPath = paths.journal
  files.rename(paths.draft, paths.journal)
  files.fsyncFolder(paths.folder)

  for (const file of document.run.files.filter(isWritten)) {
    fileSwitch.currentPath = file.path
    if (currentVersion(world, file) !== 'old') throw changedDuringRun(world, file)
    switchFile(world, file, tempOf(document, file))
  }
}

/** Cleans up, then renames the journal to the record. This rename commits the run. */
function commitRun(fileSwitch: FileSwitch): void {
  const { world, paths, document } = fileSwitch
  const { files } = world
  const record = paths.record(document.run.id)

  fileSwitch.currentPath = paths.journal
  for (const temp of document.temps) removeStage(world, temp)
  removeEmptyFolders(files, document.dropFolders)
  files.rename(paths.journal, record)

  fileSwitch.undoCommit = () => files.rename(record, paths.journal)
  files.fsyncFolder(paths.folder)
}

function contentsToSave(changes: readonly Change[]): Uint8Array[] {
  return changes.flatMap(({ edit }) => [edit.before, edit.after]).filter((bytes) => bytes !== null)
}

/** Writes a new version in full, so that only a rename remains, which needs no more space or rights. */
function writeStagedFile(
  world: World,
  document: RunDocument,
  file: RecordedFile,
  bytes: Uint8Array,
): void {
  const isRestored = document.run.kind !== 'change'
  const isComplete = writeTemp(world, file, tempOf(document, file), { bytes, isRestored })
  if (isComplete || !world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `repoint could not copy the access lists or extended attributes of ${displayPath(world.machine, file.path)}`,
    hint: 'To see them: getfacl FILE, getfattr -d FILE. Remove them, then run the command again.',
  })
}

/** Restores the files after a failure. @returns the error to throw, with the state of the files */
function restoreAfterFailure(
  world: World,
  paths: StatePaths,
  failure: unknown,
  undoCommit: (() => void) | undefined,
): unknown {
  try {
    undoCommit?.()
  } catch {
    return withFilesState(failure, 'changed')
  }

  try {
    const kept = restoreUnfinishedRun(world, paths)?.kept ?? []
    return kept.length === 0 ? failure : withFilesState(failure, 'unknown')
  } catch (error) {
    return error instanceof UserError ? withFilesState(failure, error.files) : error
  }
}

function changedDuringRun(world: World, file: RecordedFile): UserError {
  return new UserError({
    code: 'changed-underneath',
    message: `Another program changed ${displayPath(world.machine, file.path)} during this run`,
    hint: 'Run the same command again.',
  })
}

/** Makes the paths absolute: a record has only absolute paths. */
function withAbsolutePaths({ machine }: World, plan: Plan): Plan {
  const edits = plan.edits.map((edit) => ({ ...edit, path: resolve(machine.cwd, edit.path) }))
  return { ...plan, edits }
}

/** Whether the file already has the contents of the edit. */
function isUnchanged({ before, after, mode }: FileEdit): boolean {
  return mode === undefined && sameBytes(before, after)
}

/**
 * Sorts the edits into those that change a file and those that do not. Both are recorded.
 *
 * @throws UserError `changed-underneath`, `locked`, `config-conflict`, `not-permitted`, `io-failed`
 */
function findChanges(
  world: World,
  paths: StatePaths,
  plan: Plan,
  rollback: RollbackDetails | undefined,
): { readonly changes: readonly Change[]; readonly unchanged: readonly Change[] } {
  const changes: Change[] = []
  const unchanged: Change[] = []
  for (const edit of plan.edits) {
    try {
      if (isUnchanged(edit)) {
        unchanged.push(unchangedFile(world, edit))
        continue
      }
      const change = prepareChange(world, edit, rollback)
      const now = readIfExists(world.files, world.machine, change.target.realPath)
      // Another program, most likely another run, has already written the same contents.
      if (sameBytes(now, edit.after) && hasPlannedMode(edit, change.target)) {
        unchanged.push(unchangedFile(world, { ...edit, before: edit.after }))
        continue
      }
      if (!sameBytes(now, edit.before)) throw changedUnderneath(world, paths, edit, now)
      changes.push(change)
    } catch (error) {
      throw toFileError(world.machine, edit.path, error)
    }
  }

  refuseDuplicateTargets(world, changes)

  return { changes, unchanged }
}

/** The change for a file that the run does not write. The file may be one that cannot be written. */
function unchangedFile({ files, machine }: World, edit: FileEdit): Change {
  const found = resultOf(() => findTarget(files, machine, edit.path))
  const target =
    found instanceof UserError
      ? { realPath: edit.path, status: undefined, missingFolders: [] }
      : { ...found, missingFolders: [] }
  return { edit, target, mode: target.status ? permissionsOf(target.status) : 0o600 }
}

function newestRunId(world: World, paths: StatePaths): string | undefined {
  return readRuns(world, paths).runs[0]?.id
}

function hasPlannedMode({ mode }: FileEdit, { status }: TargetFile): boolean {
  return mode === undefined || (status !== undefined && (status.mode & 0o777) === mode)
}

/** @throws UserError `config-conflict`, `not-permitted`; Node's own errors */
function prepareChange(
  world: World,
  edit: FileEdit,
  rollback: RollbackDetails | undefined,
): Change {
  const { files, machine, processes } = world
  const target = findTarget(files, machine, edit.path)
  refuseUnsafeAsRoot(world, edit.path, target.realPath)
  const uid = target.status?.uid ?? processes.uid

  if (machine.os !== 'win32' && uid !== processes.uid)
    throw new UserError({
      code: 'not-permitted',
      message: `${displayPath(machine, edit.path)} belongs to another user, and repoint cannot keep that owner`,
      hint: 'Run repoint as that user, or make yourself the owner of the file.',
    })

  refuseReadOnlyMark(world, edit, target)
  const mode = modeAfter(edit, target.status, rollback?.versions.get(edit.path))
  refuseUnknownMask(world, edit, target, mode)

  return { edit, target, mode }
}

/** Windows cannot replace a file that is marked read-only. */
function refuseReadOnlyMark({ machine }: World, edit: FileEdit, { status }: TargetFile): void {
  if (machine.os !== 'win32' || status === undefined || (status.mode & 0o200) !== 0) return
  throw new UserError({
    code: 'not-permitted',
    message: `${displayPath(machine, edit.path)} is marked read-only`,
    hint: `Remove the mark: attrib -R "${edit.path}". Then run the same command again.`,
  })
}

/**
 * If a file has an access list, its group bits are the mask of that list. Without the list, they would
 * give rights to the group. Rejects files where repoint cannot find out which of the two applies.
 */
function refuseUnknownMask(world: World, edit: FileEdit, target: TargetFile, mode: number): void {
  const groupHasMoreRights = ((mode >> 3) & ~mode & 0o7) !== 0
  if (!groupHasMoreRights || world.machine.os !== 'linux' || target.status === undefined) return
  if (world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `${displayPath(world.machine, edit.path)} gives its group more rights than other users. Without the cp of coreutils repoint cannot find out whether an access list says so`,
    hint: `Install coreutils, or remove the group's rights: chmod g=o ${edit.path}`,
  })
}

function refuseDuplicateTargets({ machine }: World, changes: readonly Change[]): void {
  const duplicate = changes.find(({ target }, index) =>
    changes.slice(0, index).some((one) => one.target.realPath === target.realPath),
  )
  if (duplicate === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${displayPath(machine, duplicate.edit.path)} and another file of this run are links to the same file`,
    hint: 'Make them two separate files, then run the same command again.',
  })
}

function changedUnderneath(
  world: World,
  paths: StatePaths,
  edit: FileEdit,
  now: Uint8Array | null,
): UserError {
  const shownPath = displayPath(world.machine, edit.path)
  const sha256 = now && sha256Of(now)
  const lastRun = readRuns(world, paths).runs.find((run) =>
    run.files.some(({ path }) => path === edit.path),
  )
  const recorded = lastRun?.files.find(({ path }) => path === edit.path)

  if (lastRun && recorded && (recorded.after?.sha256 ?? null) === sha256)
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

/**
 * Checks whether a plan could be applied, without writing anything, before the user is asked.
 *
 * @returns warnings for the user
 * @throws UserError `config-conflict`, `not-permitted`, `io-failed`, as `applyPlan` would
 */
export function checkTargets(world: World, requestedPlan: Plan): Finding[] {
  const { files, machine } = world
  const edits = withAbsolutePaths(world, requestedPlan).edits.filter((edit) => !isUnchanged(edit))
  if (edits.length === 0) return []

  checkStateFolderIsWritable(world)
  const changes = edits.map((edit) =>
    wrapFileErrors(machine, edit.path, () => {
      const change = prepareChange(world, edit, undefined)
      checkFolderIsWritable(
        world,
        dirname(change.target.missingFolders[0] ?? change.target.realPath),
      )
      return change
    }),
  )
  refuseDuplicateTargets(world, changes)

  const rewritten = changes.filter(({ target }) => target.status !== undefined)
  if (machine.os === 'win32' || rewritten.length === 0 || files.canCopyAttributes()) return []
  const places = rewritten.map(({ edit }) => displayPath(machine, edit.path)).join(', ')

  return [
    compact({
      code: 'attributes-lost',
      message: `repoint cannot keep access lists and extended attributes of ${places}`,
      hint: machine.os === 'linux' ? 'To keep them, install coreutils.' : undefined,
    }),
  ]
}

function checkStateFolderIsWritable(world: World): void {
  const { files, machine } = world
  const place = stateFolder(machine)

  try {
    const paths = findState(world)
    const missing = missingFolders(files, place)
    const folders = paths ? [paths.folder, paths.blobs] : [dirname(missing[0] ?? place)]
    for (const folder of folders)
      if (pathExists(files, folder)) checkFolderIsWritable(world, folder)
  } catch (error) {
    throw toFileError(machine, place, error)
  }
}

/** Throws the error that creating a file in `folder` would throw. */
function checkFolderIsWritable({ files }: World, folder: string): void {
  if (files.stat(folder).kind !== 'folder')
    throw Object.assign(new Error(`not a folder: ${folder}`), { code: 'ENOTDIR' })
  files.checkWritable(folder)
}

/** Composes the run to record, with paths for the new versions. Writes nothing. */
function composeDocument(
  world: World,
  paths: StatePaths,
  plan: Plan,
  changes: readonly Change[],
  rollback: RollbackDetails | undefined,
): RunDocument {
  const now = world.clock.now()
  const files = changes.map((change) => recordedFile(change, plan, rollback))
  const folders = changes.flatMap(({ target }) => target.missingFolders)
  const written = files.filter(isWritten)

  const run: RunRecord = compact({
    id: nextRunId(now, recordNames(world, paths)),
    at: now.toISOString(),
    home: world.machine.home,
    kind: rollback?.kind ?? ('change' as const),
    command: plan.command,
    clients: [...new Set((written.length > 0 ? written : files).map(({ client }) => client))],
    baseUrl: plan.baseUrl,
    baseUrls: plan.baseUrls,
    model: plan.model,
    undoes: rollback?.undoes,
    kept: rollback?.kept,
    files,
    folders: [...new Set(folders)],
  })

  return {
    run,
    temps: files.map(
      ({ realPath }) => `${dirname(realPath)}/.repoint-${randomName()}/${randomName()}`,
    ),
    dropFolders: rollback?.dropFolders ?? [],
  }
}

/** Sorts the changes as in the plan, which lists the files in write order. */
function sortByPlan({ edits }: Plan, changes: readonly Change[]): readonly Change[] {
  const indexOf = ({ edit }: Change) => edits.findIndex(({ path }) => path === edit.path)
  return changes.toSorted((one, other) => indexOf(one) - indexOf(other))
}

function recordedFile(
  { edit, target, mode }: Change,
  plan: Plan,
  rollback: RollbackDetails | undefined,
): RecordedFile {
  const { status, realPath } = target
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
    settings: changes.map((change) => toRecordedSetting(change, edit, plan)),
    before: before && versionOf(before, permissionsOf(attributes), attributes),
    after: after && versionOf(after, mode, owner),
  }
}

function versionOf(
  bytes: Uint8Array,
  mode: number,
  { uid, gid }: Pick<FileStatus, 'uid' | 'gid'>,
): FileVersion {
  return { sha256: sha256Of(bytes), mode, uid, gid }
}

/** The permission bits. Setuid, setgid and the sticky bit have no meaning for a configuration file. */
function permissionsOf({ mode }: Pick<FileStatus, 'mode'>): number {
  return mode & 0o777
}

/**
 * The mode of a file after the run. A file keeps its mode, but a setup that writes a secret removes the
 * rights of other users. A rollback sets the mode of its version.
 *
 * @param rollbackVersion the version of the file after a rollback
 */
function modeAfter(
  edit: FileEdit,
  status: FileStatus | undefined,
  rollbackVersion: FileVersion | null | undefined,
): number {
  if (rollbackVersion) return rollbackVersion.mode
  if (status === undefined) return edit.holdsSecret ? 0o600 : 0o644
  if (edit.mode !== undefined) return edit.mode
  const now = permissionsOf(status)
  return edit.holdsSecret && rollbackVersion === undefined ? now & ~0o077 : now
}

function applyResult(
  plan: Plan,
  run: RunRecord | undefined,
  notices: readonly Finding[] = [],
): ApplyResult {
  return {
    run,
    notices,
    files: plan.edits.map((edit) => {
      const recorded = run?.files.find(({ path }) => path === edit.path)
      const note = recorded && modeNote(recorded, run?.kind !== 'change')
      return compact({
        path: edit.path,
        client: edit.client,
        action: recorded && isWritten(recorded) ? actionOf(edit) : 'unchanged',
        note,
      })
    }),
  }
}

function modeNote({ before, after }: RecordedFile, isRollback: boolean): string | undefined {
  if (!before || !after || before.mode === after.mode || isRollback) return undefined
  const octal = (mode: number) => mode.toString(8).padStart(4, '0')
  return `Only you can read it now (mode ${octal(before.mode)} became ${octal(after.mode)}).`
}
