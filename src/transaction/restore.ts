/**
 * Restores the files of a run that did not finish: it failed, or its process was killed.
 *
 * `draft.json` means that the run switched no file yet, so only what it created is removed.
 * `journal.json` means that it may have switched some files, so these get their saved copies back.
 */
import { dirname } from 'node:path'
import { resultOf, UserError } from '../errors.ts'
import {
  createFolders,
  displayPath,
  ignoreFileErrors,
  ignoreMissing,
  pathExists,
  removeEmptyFolders,
  withFilesState,
  wrapFileErrors,
} from './files.ts'
import { removeLeftovers, withLock } from './lock.ts'
import {
  isWritten,
  type RecordedFile,
  type RunDocument,
  type StagedFile,
  stagedFiles,
  type World,
} from './record.ts'
import { contentsOf } from './records/blobs.ts'
import { nextRunId, readRunDocument, recordNames, removeUnusedBlobs } from './records/records.ts'
import { findState, type StatePaths } from './records/state-folder.ts'
import { type CurrentVersion, currentVersion, removeStage, switchFile, writeTemp } from './stage.ts'
import { findTarget } from './target.ts'

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

  const { machine } = world
  try {
    return wrapFileErrors(machine, paths.journal, () => restoreFiles(world, paths, document))
  } catch (error) {
    if (error instanceof UserError && error.code === 'backup-missing')
      throw setJournalAside(world, paths, 'names a copy that is missing', document, error)
    throw withFilesState(error, 'pending')
  }
}

/** Restores the switched files from their copies, the last one first. */
function restoreFiles(world: World, paths: StatePaths, document: RunDocument): RecoveredRun {
  const { files, machine } = world
  const { run } = document

  const unfinished: readonly UnfinishedFile[] = stagedFiles(document).map((staged) =>
    wrapFileErrors(machine, staged.file.path, () => ({
      ...staged,
      state: switchState(world, staged),
    })),
  )
  const restored = filesToRestore(unfinished).filter(({ file }) => isWritten(file))
  // All copies are read before the first file changes, because one of them may be missing.
  const withCopies = restored.map((unfinishedFile) => ({
    ...unfinishedFile,
    copy: contentsOf(world, unfinishedFile.file.before),
  }))

  for (const { file, temp, state, copy } of withCopies.toReversed())
    wrapFileErrors(machine, file.path, () => {
      if (state === 'new') restoreFile(world, document, { file, temp }, copy)
      // An earlier restore may have renamed the file without flushing the folder.
      else ignoreMissing(() => files.fsyncFolder(dirname(file.realPath)))
    })

  const written = unfinished.filter(({ file }) => isWritten(file))
  const keptFiles = written.filter((file) => !restored.includes(file)).map(({ file }) => file)
  if (keptFiles.length > 0) return recordPartialRun(world, paths, document, keptFiles)

  files.rename(paths.journal, paths.draft)
  // Its copies may be removed after this, so the journal must not come back after a crash.
  files.fsyncFolder(paths.folder)
  removeTraces(world, paths, document)

  const hasSwitched = unfinished.some(({ state }) => state === 'new')
  const outcome = hasSwitched ? 'restored' : 'discarded'
  return { run: run.id, outcome, files: filePaths(run.files.filter(isWritten)), kept: [] }
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

/** A file of an unfinished run, and how far its switch got. */
interface UnfinishedFile extends StagedFile {
  readonly state: SwitchState
}

function switchState(world: World, { file, temp }: StagedFile): SwitchState {
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
 * The files to restore. A file that someone changed after its switch stays. Of the same client's other
 * files, only those are restored that lead away from the gateway, because a restored key must never
 * meet the gateway's address.
 *
 * For example, a setup switches auth.json with the key, then config.toml with the address:
 *
 *     someone changed    restored       stays        because
 *     auth.json          config.toml    auth.json    the client no longer uses the gateway
 *     config.toml        -              both         the login would be sent to the gateway
 *
 * An undo switches the address first. Everything it switched leads away from the gateway, so all files
 * of the client stay.
 */
function filesToRestore(unfinished: readonly UnfinishedFile[]): readonly UnfinishedFile[] {
  return unfinished.filter((unfinishedFile, index) => {
    const isSameClient = ({ file }: UnfinishedFile) => file.client === unfinishedFile.file.client
    const lastChanged = unfinished.findLastIndex(
      (candidate) => isSameClient(candidate) && candidate.state === 'changed',
    )
    if (lastChanged < 0) return true

    const startsWithKey = unfinished.find(isSameClient)?.file.holdsSecret === true
    return startsWithKey && index > lastChanged
  })
}

function restoreFile(
  world: World,
  document: RunDocument,
  { file, temp }: StagedFile,
  bytes: Uint8Array | null,
): void {
  const reversed: StagedFile = { temp, file: { ...file, before: file.after, after: file.before } }
  if (bytes !== null) {
    createFolders(world.files, document.dropFolders)
    removeStage(world, temp)
    writeTemp(world, reversed, { bytes, isRestored: true })
  }
  switchFile(world, reversed)
}

/**
 * Renames an unusable journal to a record. It then counts as a damaged record, so that no rollback skips
 * it silently.
 */
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
