import { basename, dirname, join } from 'node:path'
import { resultOf, UserError } from '../errors.ts'
import {
  createDurably,
  createFolders,
  displayPath,
  errorCode,
  ignoreFileErrors,
  ignoreMissing,
  pathExists,
  removeEmptyFolders,
  sha256Of,
  toFileError,
  withFilesState,
  wrapFileErrors,
} from './files.ts'
import { removeLeftovers, withLock } from './lock.ts'
import {
  type FileVersion,
  isWritten,
  type RecordedFile,
  type RunDocument,
  tempOf,
  type World,
} from './record.ts'
import {
  contentsOf,
  findState,
  nextRunId,
  readRunDocument,
  recordNames,
  removeUnusedBlobs,
  type StatePaths,
} from './state.ts'
import { findTarget, readIfExists } from './target.ts'

/**
 * An unfinished run that was recovered.
 *
 * `discarded`: it had switched no file. `restored`: its files were restored. `left`: someone else wrote
 * some of its files in the meantime. These stay as they are, together with the files that must not be
 * separated from them, and the run is recorded, so that a rollback can undo the rest of it.
 */
export interface RecoveredRun {
  readonly run: string
  readonly outcome: 'discarded' | 'restored' | 'left'
  /** The files that have their contents from before the run. */
  readonly files: readonly string[]
  /** The files that stay as they are. */
  readonly kept: readonly string[]
}

/**
 * Recovers a run that was interrupted. Every command that reads or writes state calls this first. If
 * there is nothing to do, it costs a few file system calls.
 *
 * @throws UserError `locked` if that run is still active; `record-damaged` if its journal cannot be
 *   read (it is set aside); `not-permitted`, `disk-full`, `io-failed` if it cannot be restored now
 */
export function recoverRun(world: World): RecoveredRun | undefined {
  const paths = findState(world)
  if (!paths) return undefined
  removeLeftovers(world, paths)
  if (!hasUnfinishedRun(world, paths)) return undefined
  return withLock(world, paths, () => restoreUnfinishedRun(world, paths))
}

function hasUnfinishedRun({ files, machine }: World, paths: StatePaths): boolean {
  return wrapFileErrors(machine, paths.folder, () => {
    return [paths.journal, paths.draft].some((path) => pathExists(files, path))
  })
}

/**
 * Restores the state before the run that has no record yet. A failed run and the next start after a
 * crash both call this. The caller holds the lock.
 */
export function restoreUnfinishedRun(world: World, paths: StatePaths): RecoveredRun | undefined {
  return restoreJournal(world, paths) ?? discardDraft(world, paths)
}

/** A run that has only a draft has switched no file. Removes the draft and what it created. */
function discardDraft(world: World, paths: StatePaths): RecoveredRun | undefined {
  const document = readRunDocument(world, paths.draft)
  if (document === undefined) return undefined

  return wrapFileErrors(world.machine, paths.draft, () => {
    // The draft is incomplete, so the run created nothing else.
    if (document === 'damaged') {
      ignoreMissing(() => world.files.unlink(paths.draft))
      return undefined
    }
    removeTraces(world, paths, document)
    const { id, files } = document.run
    return { run: id, outcome: 'discarded', files: filePaths(files.filter(isWritten)), kept: [] }
  })
}

/** Removes everything that a run created except a record. The draft is removed last. */
function removeTraces(world: World, paths: StatePaths, { run, temps }: RunDocument): void {
  const { files } = world
  for (const temp of temps) removeStage(world, temp)
  removeEmptyFolders(files, run.folders)
  removeUnusedBlobs(world, paths)
  ignoreMissing(() => files.unlink(paths.draft))
  files.fsyncFolder(paths.folder)
}

/**
 * Gives up on an unfinished run that cannot be restored. Its files stay as they are, and its copies may
 * be removed. The caller holds the lock.
 */
export function abandonRun(world: World, paths: StatePaths): void {
  const { files, machine } = world
  for (const path of [paths.journal, paths.draft]) {
    wrapFileErrors(machine, path, () => {
      const document = readRunDocument(world, path)
      const temps = document === undefined || document === 'damaged' ? [] : document.temps
      for (const temp of temps) ignoreFileErrors(() => removeStage(world, temp))
      ignoreMissing(() => files.unlink(path))
    })
  }
}

function restoreJournal(world: World, paths: StatePaths): RecoveredRun | undefined {
  const document = readRunDocument(world, paths.journal)
  if (document === undefined) return undefined
  if (document === 'damaged')
    throw setJournalAside(world, paths, 'is damaged, or another version of repoint wrote it')

  const { files, machine } = world
  const { run } = document
  let currentPath = paths.journal
  try {
    const states = run.files.map((file) => {
      currentPath = file.path
      return switchState(world, file, tempOf(document, file))
    })
    const restored = filesToRestore(run.files, states)
    const copies = new Map(
      restored.filter(isWritten).map((file) => [file, contentsOf(world, file.before)]),
    )

    for (const file of restored.filter(isWritten).toReversed()) {
      currentPath = file.path
      if (states[run.files.indexOf(file)] === 'new')
        restoreFile(world, document, file, copies.get(file) ?? null)
      // The rename may be visible but not durable yet.
      else ignoreMissing(() => files.fsyncFolder(dirname(file.realPath)))
    }

    currentPath = paths.journal
    const keptFiles = run.files.filter((file) => isWritten(file) && !restored.includes(file))
    if (keptFiles.length > 0) return recordPartialRun(world, paths, document, keptFiles)
    files.rename(paths.journal, paths.draft)
    // Its copies may be removed after this, so the journal must not come back after a crash.
    files.fsyncFolder(paths.folder)
    removeTraces(world, paths, document)
    const outcome = states.includes('new') ? 'restored' : 'discarded'
    return { run: run.id, outcome, files: filePaths(run.files.filter(isWritten)), kept: [] }
  } catch (error) {
    if (error instanceof UserError && error.code === 'backup-missing')
      throw setJournalAside(world, paths, 'names a copy that is missing', document, error)
    throw withFilesState(toFileError(machine, currentPath, error), 'pending')
  }
}

/** Records an unfinished run, because some of its files stay. */
function recordPartialRun(
  world: World,
  paths: StatePaths,
  { run, temps }: RunDocument,
  keptFiles: readonly RecordedFile[],
): RecoveredRun {
  const { files } = world
  for (const temp of temps) removeStage(world, temp)
  files.rename(paths.journal, paths.record(run.id))
  files.fsyncFolder(paths.folder)

  const restored = run.files.filter((file) => isWritten(file) && !keptFiles.includes(file))
  return { run: run.id, outcome: 'left', files: filePaths(restored), kept: filePaths(keptFiles) }
}

/** `untouched`: the run did not switch the file. `changed`: someone changed it after the switch. */
type SwitchState = CurrentVersion | 'untouched' | 'changed'

function switchState(world: World, file: RecordedFile, temp: string): SwitchState {
  if (!isWritten(file)) return 'untouched'
  const now = pathHasMoved(world, file) ? 'other' : currentVersion(world, file)
  if (now !== 'other') return now
  // The switch renames the new version. If it is still there, the file was not switched.
  return pathExists(world.files, temp) ? 'untouched' : 'changed'
}

/** Whether the client's path resolves to another file than at the time of the run. */
function pathHasMoved({ files, machine }: World, { path, realPath }: RecordedFile): boolean {
  const target = resultOf(() => findTarget(files, machine, path))
  return target instanceof UserError || target.realPath !== realPath
}

/**
 * The files to restore. If someone changed a file after its switch, a restore may only go on in the
 * direction away from the gateway. A run towards the gateway switches the key first and the address
 * last, and the key must never be restored alone.
 */
function filesToRestore(
  files: readonly RecordedFile[],
  states: readonly SwitchState[],
): RecordedFile[] {
  return files.filter((file, index) => {
    const isSameClient = (one: RecordedFile) => one.client === file.client
    const changed = files.findLastIndex((one, at) => isSameClient(one) && states[at] === 'changed')
    const isTowardsGateway = files.find(isSameClient)?.holdsSecret === true
    return changed < 0 || (isTowardsGateway && index > changed)
  })
}

function restoreFile(
  world: World,
  document: RunDocument,
  file: RecordedFile,
  bytes: Uint8Array | null,
): void {
  const temp = tempOf(document, file)
  const reversed: RecordedFile = { ...file, before: file.after, after: file.before }
  if (bytes !== null) {
    createFolders(world.files, document.dropFolders)
    removeStage(world, temp)
    writeTemp(world, reversed, temp, { bytes, isRestored: true })
  }
  switchFile(world, reversed, temp)
}

/** Turns an unusable journal into a (damaged) record, so that no rollback skips it silently. */
function setJournalAside(
  world: World,
  paths: StatePaths,
  problem: string,
  document?: RunDocument,
  cause?: unknown,
): UserError {
  const { files, machine, clock } = world
  const id = document?.run.id ?? nextRunId(clock.now(), recordNames(world, paths))

  for (const temp of document?.temps ?? []) ignoreFileErrors(() => removeStage(world, temp))
  ignoreFileErrors(() => {
    files.rename(paths.journal, paths.record(id))
    files.fsyncFolder(paths.folder)
  })

  const places = document?.run.files.map(({ path }) => displayPath(machine, path)).join(', ')

  return new UserError({
    code: 'record-damaged',
    message: `The journal of an interrupted run ${problem}. repoint renamed it to ${displayPath(machine, paths.record(id))}`,
    files: 'unknown',
    hint: `See what your clients use: repoint status. Then set them up again${places ? ` (${places})` : ''}. To delete the journal and all records: repoint forget --all`,
    cause,
  })
}

function filePaths(files: readonly RecordedFile[]): string[] {
  return files.map(({ path }) => path)
}

/** Which version of a file the disk has now. */
type CurrentVersion = 'old' | 'new' | 'other'

export function currentVersion({ files, machine }: World, file: RecordedFile): CurrentVersion {
  const bytes = readIfExists(files, machine, file.realPath)
  const sha256 = bytes && sha256Of(bytes)
  const { before, after } = file
  const isBefore = sha256 === (before?.sha256 ?? null)
  if (sha256 !== (after?.sha256 ?? null)) return isBefore ? 'old' : 'other'
  // If a run switches only the mode, the contents say nothing.
  const isOldMode = isBefore && (files.lstat(file.realPath).mode & 0o777) !== after?.mode
  return isOldMode ? 'old' : 'new'
}

/** Replaces a file by its new version, and flushes the folder. */
export function switchFile({ files }: World, file: RecordedFile, temp: string): void {
  if (file.after === null) ignoreMissing(() => files.unlink(file.realPath))
  else files.rename(temp, file.realPath)
  files.fsyncFolder(dirname(file.realPath))
}

/**
 * Writes a new version next to its target: with its owner, mode and attributes, and flushed to the
 * disk. It is in a private folder with a random name, so nobody else can open or replace it, whatever
 * its mode.
 *
 * @returns whether the attributes of the old version could be copied
 */
export function writeTemp(
  world: World,
  file: RecordedFile,
  temp: string,
  { bytes, isRestored }: { readonly bytes: Uint8Array; readonly isRestored: boolean },
): boolean {
  const { files } = world
  const version = file.after as FileVersion
  const isNew = file.before === null
  let isComplete = true
  files.mkdir(dirname(temp), 0o700)
  createDurably(files, temp, bytes, {
    // A new file of a setup is created with its mode, so that the umask applies.
    mode: isNew && !isRestored ? version.mode : 0o600,
    prepare: (handle) => {
      // The mode comes last, because the other two steps can change it.
      if (!isNew) isComplete = files.copyAttributes(file.realPath, handle)
      setOwner(world, file, temp, handle)
      if (!isNew || isRestored) files.fchmod(handle, version.mode)
    },
  })

  return isComplete
}

function setOwner(world: World, file: RecordedFile, temp: string, handle: number): void {
  const { files, machine } = world
  const version = file.after as FileVersion
  const created = files.lstat(temp)
  const uid = version.uid < 0 ? created.uid : version.uid
  const gid = version.gid < 0 ? created.gid : version.gid
  if (uid === created.uid && gid === created.gid) return

  try {
    files.fchown(handle, uid, gid)
  } catch (error) {
    // Only root can set a group that it is not a member of. If the group has the same rights as
    // everybody, another group makes no difference.
    const isForeignGroup = errorCode(error) === 'EPERM' && uid === created.uid
    if (!isForeignGroup) throw error
    if (((version.mode >> 3) & 0o7) === (version.mode & 0o7)) return
    throw new UserError({
      code: 'not-permitted',
      message: `repoint could not keep the group of ${displayPath(machine, file.path)} (${gid}), because you are not in it`,
      hint: `Change the group to one of yours: chgrp ${created.gid} FILE`,
      cause: error,
    })
  }
}

/** Removes unused new versions next to the `targets`. The caller holds the lock. */
export function removeStagesNextTo(world: World, targets: readonly string[]): void {
  const { files } = world
  for (const folder of new Set(targets.map((path) => dirname(path))))
    ignoreFileErrors(() => {
      const stages = files.readdir(folder).map((name) => join(folder, name))
      for (const stage of stages.filter(isStageName))
        if (files.lstat(stage).kind === 'folder')
          removeStage(world, join(stage, files.readdir(stage)[0] ?? 'none'))
    })
}

/** Whether a folder has a name for new versions. */
function isStageName(folder: string): boolean {
  return /^\.repoint-[0-9a-f]{12}$/.test(basename(folder))
}

/** Removes a new version and its folder. */
export function removeStage({ files }: World, temp: string): void {
  const folder = dirname(temp)
  try {
    ignoreMissing(() => files.unlink(temp))
    if (ignoreMissing(() => files.rmdir(folder)))
      ignoreMissing(() => files.fsyncFolder(dirname(folder)))
  } catch (error) {
    // A parent may have been replaced by a file.
    if (errorCode(error) !== 'ENOTDIR') throw error
  }
}
