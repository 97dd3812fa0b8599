/**
 * Recovers an unfinished run: it failed, or its process was killed. Its files are restored.
 *
 *     draft.json      the run switched no file yet: removes what it created
 *     journal.json    it switched auth.json, and not config.toml: restores auth.json from its copy
 *
 * Then the journal or draft is deleted, and nothing of the run is left. If a file cannot be restored because someone
 * changed it since, the run is recorded instead.
 */
import { dirname } from 'node:path'
import type { Bytes } from '../edits/types.ts'
import { UserError, valueOrError } from '../errors.ts'
import {
  createDurably,
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
  encodeDocument,
  isChangedByRun,
  type RecordedFile,
  type RunDocument,
  type RunRecord,
  type StagedFile,
  stagedFiles,
  type World,
  writeOrderOf,
} from './record.ts'
import { contentsOf } from './records/blobs.ts'
import { nextRunId, readRunDocument, recordNames, removeUnusedBlobs } from './records/records.ts'
import { findState, type StatePaths } from './records/state-folder.ts'
import { resolveFile } from './resolve-file.ts'
import { removeStage, restoredTemp, switchFile, versionOnDisk, writeTemp } from './stage.ts'

/** An unfinished run that was recovered, with the paths of its files. */
export type RecoveredRun =
  /** It had switched no file, and nothing of it is left. */
  | { readonly kind: 'discarded'; readonly runId: string }
  /** The files that it had switched are restored, and nothing of it is left. */
  | { readonly kind: 'restored'; readonly runId: string; readonly restored: readonly string[] }
  /**
   * Someone else wrote some of its files since their switch. Not all of its files could be restored, so the run
   * is recorded, and a rollback can undo the rest of it.
   */
  | {
      readonly kind: 'recorded'
      readonly runId: string
      readonly restored: readonly string[]
      readonly notRestored: readonly string[]
    }

/**
 * Recovers an unfinished run. Every command that reads the records calls this first. If there is
 * nothing to do, it costs a few file system calls.
 *
 * @throws UserError `locked` if that run is still active; `record-damaged` if its journal cannot be
 *   read (it is set aside); `not-permitted`, `disk-full`, `io-failed` if it cannot be restored now
 */
export function recoverRun(world: World): RecoveredRun | undefined {
  const paths = findState(world)
  if (!paths) return undefined
  removeLeftovers(world, paths)
  if (!hasUnfinishedRun(world, paths)) return undefined
  return withLock(world, paths, () => recoverUnderLock(world, paths))
}

function hasUnfinishedRun({ files, machine }: World, paths: StatePaths): boolean {
  return wrapFileErrors(machine, paths.folder, () => {
    return [paths.journal, paths.draft].some((path) => pathExists(files, path))
  })
}

/**
 * Recovers an unfinished run for a caller that holds the lock. A failed run and the next start after a
 * crash both call this.
 */
export function recoverUnderLock(world: World, paths: StatePaths): RecoveredRun | undefined {
  return restoreJournal(world, paths) ?? discardDraft(world, paths)
}

function restoreJournal(world: World, paths: StatePaths): RecoveredRun | undefined {
  const document = readRunDocument(world, paths.journal)
  if (document === undefined) return undefined
  if (document === 'damaged') {
    const record = setJournalAside(world, paths)
    throw unusableJournalError(world, record, {
      problem: 'is damaged, or another version of repoint wrote it',
    })
  }

  const recovered = valueOrError(() =>
    wrapFileErrors(world.machine, paths.journal, () => restoreFiles(world, paths, document)),
  )
  if (!(recovered instanceof UserError)) return recovered
  if (recovered.code !== 'backup-missing') throw withFilesState(recovered, 'pending')

  const record = setJournalAside(world, paths, document)
  throw unusableJournalError(world, record, {
    problem: 'names a copy that is missing',
    run: document.run,
    cause: recovered,
  })
}

/** Restores the switched files, unless someone changed them. Then ends the run. */
function restoreFiles(world: World, paths: StatePaths, document: RunDocument): RecoveredRun {
  const { files, machine } = world

  const unfinished = stagedFiles(document).map(
    (staged): UnfinishedFile =>
      wrapFileErrors(machine, staged.file.path, () => ({
        ...staged,
        progress: switchProgress(world, staged),
      })),
  )
  const changedByRun = unfinished.filter(({ file }) => isChangedByRun(file))
  const restorable = changedByRun.filter((candidate) => canBeRestored(candidate, unfinished))
  restoreFromCopies(world, document, restorable)

  const runId = document.run.id
  const restored = pathsOf(restorable.filter(({ progress }) => progress === 'switched'))
  const others = changedByRun.filter((candidate) => !restorable.includes(candidate))
  if (others.length > 0) {
    const clients = others.map(({ file }) => file.client)
    recordRun(world, paths, document, clients)
    return { kind: 'recorded', runId, restored, notRestored: pathsOf(others) }
  }

  // A draft has switched no file. Its copies may be removed after this, so the journal must not come back after a
  // crash.
  files.rename(paths.journal, paths.draft)
  files.fsyncFolder(paths.folder)
  removeTraces(world, paths, document)

  return restored.length > 0 ? { kind: 'restored', runId, restored } : { kind: 'discarded', runId }
}

/** A file of an unfinished run, and how far its switch got. */
interface UnfinishedFile extends StagedFile {
  readonly progress: SwitchProgress
}

/**
 * `not-switched`: someone may have changed the file before its switch, or an earlier recovery restored it.
 * `changed-since`: the run switched the file, and someone changed it after that.
 */
type SwitchProgress = 'not-switched' | 'switched' | 'changed-since'

function switchProgress(world: World, { file, temp }: StagedFile): SwitchProgress {
  if (!isChangedByRun(file)) return 'not-switched'
  const onDisk = pathHasMoved(world, file) ? 'other' : versionOnDisk(world, file)
  if (onDisk === 'before') return 'not-switched'
  if (onDisk === 'written') return 'switched'
  // A switch renames `temp`, or removes it before it deletes the file. A restore does not create it again. So if it
  // exists, the file was not switched.
  return pathExists(world.files, temp) ? 'not-switched' : 'changed-since'
}

/** Whether the client's path resolves to another file than at the time of the run. */
function pathHasMoved({ files, machine }: World, { path, realPath }: RecordedFile): boolean {
  const file = valueOrError(() => resolveFile(files, machine, path))
  return file instanceof UserError || file.realPath !== realPath
}

/**
 * Whether a file can be restored: yes, unless someone changed a file of the same client after its switch. Then only
 * the files are restored that the run switched after that one, and only if it wrote the client's key first.
 *
 * These are the files that lead away from the gateway. A restored key must never meet the gateway's address. For
 * example, a setup switches auth.json with the key, then config.toml with the address:
 *
 *     someone changed    restored       stays        because
 *     auth.json          config.toml    auth.json    the client no longer uses the gateway
 *     config.toml        -              both         the login would be sent to the gateway
 *
 * An undo of a setup switches the address first. Everything it switched leads away from the gateway, so
 * all files of the client stay. So they do after a repair that wrote no address: the address is in a file
 * that the run does not know, so only a rollback can tell which key belongs to it.
 */
function canBeRestored(candidate: UnfinishedFile, unfinished: readonly UnfinishedFile[]): boolean {
  const ofClient = unfinished.filter(({ file }) => file.client === candidate.file.client)
  const lastChanged = ofClient.findLastIndex(({ progress }) => progress === 'changed-since')
  if (lastChanged < 0) return true

  const isKeyFirst = writeOrderOf(ofClient.map(({ file }) => file)) === 'key-first'
  return isKeyFirst && ofClient.indexOf(candidate) > lastChanged
}

/** Restores the switched ones of the files from their copies, the last one first. */
function restoreFromCopies(
  world: World,
  document: RunDocument,
  restorable: readonly UnfinishedFile[],
): void {
  const { files, machine } = world
  // All copies are read before the first file changes, because one of them may be missing.
  const withCopies = restorable.map((unfinished) => ({
    ...unfinished,
    copy: contentsOf(world, unfinished.file.before),
  }))

  for (const { file, temp, progress, copy } of withCopies.toReversed())
    wrapFileErrors(machine, file.path, () => {
      if (progress === 'switched') restoreFile(world, document, { file, temp }, copy)
      // An earlier restore may have renamed the file without flushing the folder.
      else ignoreMissing(() => files.fsyncFolder(dirname(file.realPath)))
    })
}

function restoreFile(
  world: World,
  document: RunDocument,
  { file, temp }: StagedFile,
  copy: Bytes | null,
): void {
  // The switch back puts `before` in place. It is staged at another path: if the process dies now, a version at
  // `temp` would mean that the file was not switched.
  const reversed: StagedFile = {
    temp: restoredTemp(temp),
    file: { ...file, before: file.written, written: file.before },
  }
  if (copy !== null) {
    createFolders(world.files, document.dropFolders)
    removeStage(world, temp)
    writeTemp(world, reversed, { bytes: copy, isRestored: true })
  }
  switchFile(world, reversed)
}

/**
 * Makes the journal the record of its run. Clients whose files are all restored are not in the record: an undo of
 * theirs has not happened, and a later one must still undo what they have.
 */
function recordRun(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  clients: readonly string[],
): void {
  const { files } = world
  const { run, temps } = document
  for (const temp of temps) removeStage(world, temp)

  const isRecorded = ({ client }: { readonly client: string }) => clients.includes(client)
  if ([...run.files, ...(run.undoes ?? [])].every(isRecorded))
    files.rename(paths.journal, paths.record(run.id))
  else {
    const recorded: RunRecord = {
      ...run,
      clients: run.clients.filter((client) => clients.includes(client)),
      files: run.files.filter(isRecorded),
      ...(run.undoes && { undoes: run.undoes.filter(isRecorded) }),
      ...(run.kept && { kept: run.kept.filter(isRecorded) }),
    }
    // An earlier start may have died here.
    ignoreMissing(() => files.unlink(paths.draft))
    createDurably(files, paths.draft, encodeDocument({ ...document, run: recorded }), {
      mode: 0o600,
    })
    files.rename(paths.draft, paths.record(run.id))
    files.unlink(paths.journal)
  }
  files.fsyncFolder(paths.folder)
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
    return { kind: 'discarded', runId: document.run.id }
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
 * Renames an unusable journal to a record, as far as possible. It then counts as a damaged record, so
 * that no rollback skips it silently. Returns the path of the record.
 */
function setJournalAside(world: World, paths: StatePaths, document?: RunDocument): string {
  const { files, clock } = world
  const id = document?.run.id ?? nextRunId(clock.now(), recordNames(world, paths))

  for (const temp of document?.temps ?? []) ignoreFileErrors(() => removeStage(world, temp))
  ignoreFileErrors(() => {
    files.rename(paths.journal, paths.record(id))
    files.fsyncFolder(paths.folder)
  })
  return paths.record(id)
}

function unusableJournalError(
  { machine }: World,
  record: string,
  { problem, run, cause }: { problem: string; run?: RunRecord; cause?: UserError },
): UserError {
  const places = run?.files.map(({ path }) => displayPath(machine, path)).join(', ')

  return new UserError({
    code: 'record-damaged',
    message: `The journal of an interrupted run ${problem}. repoint renamed it to ${displayPath(machine, record)}`,
    filesState: 'unknown',
    hint: `See what your clients use: repoint status. Then set them up again${places ? ` (${places})` : ''}. To delete the journal and all records: repoint forget --all`,
    cause,
  })
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

function pathsOf(files: readonly StagedFile[]): string[] {
  return files.map(({ file }) => file.path)
}
