/**
 * Replaces the files of a run by their new versions. The run document has three names in turn:
 *
 *     draft.json      the new versions are written next to their files; no file has changed
 *     journal.json    each new version is renamed to its file
 *     run-<id>.json   the run is committed
 *
 * A run that changes no file only renames the document. A failure before the last rename restores every file.
 * Tests make each file call fail, so the order of the calls is part of the contract.
 */
import { type FilesState, UserError, valueOrError } from '../errors.ts'
import type { ComposedFile, ComposedRun } from './compose-run.ts'
import {
  createDurably,
  createFolders,
  displayPath,
  removeEmptyFolders,
  toFileError,
  withFilesState,
} from './files.ts'
import {
  encodeDocument,
  isChangedByRun,
  isUndoOrRedo,
  type RecordedFile,
  type RunRecord,
  type World,
} from './record.ts'
import { writeBlobs } from './records/blobs.ts'
import type { StatePaths } from './records/state-folder.ts'
import { recoverUnderLock } from './recover.ts'
import { removeStage, stageDeletion, switchFile, versionOnDisk, writeTemp } from './stage.ts'

interface FileSwitch {
  readonly world: World
  readonly paths: StatePaths
  readonly composed: ComposedRun
  /** The path that an error would be about. */
  currentPath: string
  /** Takes the commit back if the disk cannot confirm that it is durable. */
  takeBackCommit?: () => void
}

/** Switches all files of a run. If a step fails before the commit, everything is restored. */
export function switchFiles(world: World, paths: StatePaths, composed: ComposedRun): void {
  const fileSwitch: FileSwitch = { world, paths, composed, currentPath: paths.draft }

  try {
    prepareSwitch(fileSwitch)
    renameNewVersions(fileSwitch)
    commitRun(fileSwitch)
  } catch (error) {
    const failure = toFileError(world.machine, fileSwitch.currentPath, error)
    throw withFilesState(failure, restoreAfterFailure(fileSwitch))
  }
}

/** Writes the draft, the copies and the new versions. No file changes yet. */
function prepareSwitch(fileSwitch: FileSwitch): void {
  const { world, paths, composed } = fileSwitch
  const { files } = world
  const { document } = composed

  createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
  files.fsyncFolder(paths.folder)

  fileSwitch.currentPath = paths.blobs
  writeBlobs(world, paths, contentsToSave(composed))

  for (const folder of document.run.folders) {
    fileSwitch.currentPath = folder
    createFolders(files, [folder])
  }

  for (const composedFile of composed.files) {
    fileSwitch.currentPath = composedFile.file.path
    if (isChangedByRun(composedFile.file)) stageFile(world, document.run.kind, composedFile)
  }
}

/** Turns the draft into the journal, then renames each new version to its file. */
function renameNewVersions(fileSwitch: FileSwitch): void {
  const { world, paths, composed } = fileSwitch
  const { files } = world

  fileSwitch.currentPath = paths.journal
  files.rename(paths.draft, paths.journal)
  files.fsyncFolder(paths.folder)

  for (const composedFile of composed.files) {
    const { file } = composedFile
    if (!isChangedByRun(file)) continue
    fileSwitch.currentPath = file.path
    if (versionOnDisk(world, file) !== 'before') throw changedDuringRunError(world, file)
    switchFile(world, composedFile)
  }
}

/** Cleans up, then renames the journal to the record. This rename commits the run. */
function commitRun(fileSwitch: FileSwitch): void {
  const { world, paths, composed } = fileSwitch
  const { files } = world
  const { document } = composed
  const record = paths.record(document.run.id)

  fileSwitch.currentPath = paths.journal
  for (const temp of document.temps) removeStage(world, temp)
  removeEmptyFolders(files, document.dropFolders)
  files.rename(paths.journal, record)

  fileSwitch.takeBackCommit = () => files.rename(record, paths.journal)
  files.fsyncFolder(paths.folder)
}

/** The contents that a run saves as copies: each file as it was, and as it will be. */
function contentsToSave({ files }: ComposedRun): Uint8Array[] {
  return files.flatMap(({ before, after }) => [before, after]).filter((bytes) => bytes !== null)
}

/** Writes a new version in full, so that only a rename remains, which needs no more space or rights. */
function stageFile(world: World, kind: RunRecord['kind'], composedFile: ComposedFile): void {
  const { file, after: bytes } = composedFile
  if (bytes === null) {
    stageDeletion(world, composedFile.temp)
    return
  }

  const isRestored = isUndoOrRedo({ kind })
  const areAttributesCopied = writeTemp(world, composedFile, { bytes, isRestored })
  if (areAttributesCopied || !world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `repoint could not copy the access lists or extended attributes of ${displayPath(world.machine, file.path)}`,
    hint: 'To see them: getfacl FILE, getfattr -d FILE. Remove them, then run the command again.',
  })
}

/** Restores the files after a failure, and returns their state. */
function restoreAfterFailure({ world, paths, takeBackCommit }: FileSwitch): FilesState {
  try {
    takeBackCommit?.()
  } catch {
    return 'changed'
  }

  const recovered = valueOrError(() => recoverUnderLock(world, paths))
  if (recovered instanceof UserError) return recovered.filesState
  return recovered?.kind === 'recorded' ? 'unknown' : 'unchanged'
}

function changedDuringRunError(world: World, file: RecordedFile): UserError {
  return new UserError({
    code: 'changed-underneath',
    message: `Another program changed ${displayPath(world.machine, file.path)} during this run`,
    hint: 'Run the same command again.',
  })
}
