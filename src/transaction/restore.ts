import { basename, dirname, join } from 'node:path'
import { resultOf, UserError } from '../errors.ts'
import {
  attempt,
  codeOf,
  createDurably,
  fileFailure,
  isThere,
  makeFolders,
  removeEmptyFolders,
  sha256Of,
  shownPath,
  unlessGone,
  withFilesState,
  wrapFileErrors,
} from './files.ts'
import { sweep, withLock } from './lock.ts'
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
  removeUnnamedBlobs,
  type StatePaths,
} from './state.ts'
import { findTarget, readIfThere } from './target.ts'

/**
 * An unfinished run that was found and settled: the files are as they were before it.
 *
 * `discarded`: it had switched nothing. `restored`: what it had switched is back. `left`: files that
 * someone else has written meanwhile are left as they are, and so is what must not part from them; the
 * run is recorded, so that a rollback can undo the rest of it.
 */
export interface Settled {
  readonly run: string
  readonly outcome: 'discarded' | 'restored' | 'left'
  /** Files of the run that are as they were before it. */
  readonly files: readonly string[]
  readonly left: readonly string[]
}

/**
 * Takes back a run that was cut off. Comes first in every command that reads or writes state; costs a
 * handful of looks at the disk when there is nothing to do.
 *
 * @throws UserError `locked` if that run is still at work; `record-damaged` if its journal cannot be
 *   read (it is set aside); `not-permitted`, `disk-full`, `io-failed` if it cannot be taken back now
 */
export function settle(world: World): Settled | undefined {
  const paths = findState(world)
  if (!paths) return undefined
  sweep(world, paths)
  if (!isUnsettled(world, paths)) return undefined
  return withLock(world, paths, () => restore(world, paths))
}

function isUnsettled({ files, machine }: World, paths: StatePaths): boolean {
  return wrapFileErrors(machine, paths.folder, () => {
    return [paths.journal, paths.draft].some((path) => isThere(files, path))
  })
}

/**
 * Puts everything back as it was before the run that is not recorded yet. A failure on the way and the
 * next start after a crash come here alike. Needs the lock.
 */
export function restore(world: World, paths: StatePaths): Settled | undefined {
  return restoreJournal(world, paths) ?? discardDraft(world, paths)
}

/** Whoever has only a draft has switched nothing: what it names beside the targets goes. */
function discardDraft(world: World, paths: StatePaths): Settled | undefined {
  const document = readRunDocument(world, paths.draft)
  if (document === undefined) return undefined

  return wrapFileErrors(world.machine, paths.draft, () => {
    // Cut off while it was written, it had named nothing yet.
    if (document === 'damaged') {
      unlessGone(() => world.files.unlink(paths.draft))
      return undefined
    }
    discard(world, paths, document)
    const { id, files } = document.run
    return { run: id, outcome: 'discarded', files: filePaths(files.filter(isWritten)), left: [] }
  })
}

/** Removes all that a run left which is no record, its draft last. */
function discard(world: World, paths: StatePaths, { run, temps }: RunDocument): void {
  const { files } = world
  for (const temp of temps) clearStage(world, temp)
  removeEmptyFolders(files, run.folders)
  removeUnnamedBlobs(world, paths)
  unlessGone(() => files.unlink(paths.draft))
  files.fsyncFolder(paths.folder)
}

/**
 * Gives up a run that cannot be taken back: its files stay as they are, its copies may go. Needs the
 * lock.
 */
export function abandon(world: World, paths: StatePaths): void {
  const { files, machine } = world
  for (const path of [paths.journal, paths.draft]) {
    wrapFileErrors(machine, path, () => {
      const document = readRunDocument(world, path)
      const temps = document === undefined || document === 'damaged' ? [] : document.temps
      for (const temp of temps) attempt(() => clearStage(world, temp))
      unlessGone(() => files.unlink(path))
    })
  }
}

function restoreJournal(world: World, paths: StatePaths): Settled | undefined {
  const document = readRunDocument(world, paths.journal)
  if (document === undefined) return undefined
  if (document === 'damaged')
    throw setAside(world, paths, 'is damaged, or another version of repoint wrote it')

  const { files, machine } = world
  const { run } = document
  let place = paths.journal
  try {
    const found = run.files.map((file) => {
      place = file.path
      return lookAt(world, file, tempOf(document, file))
    })
    const back = goingBack(run.files, found)
    const copies = new Map(
      back.filter(isWritten).map((file) => [file, contentsOf(world, file.before)]),
    )

    for (const file of back.filter(isWritten).toReversed()) {
      place = file.path
      if (found[run.files.indexOf(file)] === 'new')
        putBack(world, document, file, copies.get(file) ?? null)
      // The rename may have been seen and yet not be durable.
      else unlessGone(() => files.fsyncFolder(dirname(file.realPath)))
    }

    place = paths.journal
    const left = run.files.filter((file) => isWritten(file) && !back.includes(file))
    if (left.length > 0) return keepAsRecord(world, paths, document, left)
    files.rename(paths.journal, paths.draft)
    // From here on its copies may go: the journal must not come back.
    files.fsyncFolder(paths.folder)
    discard(world, paths, document)
    const outcome = found.includes('new') ? 'restored' : 'discarded'
    return { run: run.id, outcome, files: filePaths(run.files.filter(isWritten)), left: [] }
  } catch (error) {
    if (error instanceof UserError && error.code === 'backup-missing')
      throw setAside(world, paths, 'names a copy that is gone', document, error)
    throw withFilesState(fileFailure(machine, place, error), 'pending')
  }
}

/** What others have written stays, and the run is recorded as far as it came. */
function keepAsRecord(
  world: World,
  paths: StatePaths,
  { run, temps }: RunDocument,
  left: readonly RecordedFile[],
): Settled {
  const { files } = world
  for (const temp of temps) clearStage(world, temp)
  files.rename(paths.journal, paths.record(run.id))
  files.fsyncFolder(paths.folder)

  const back = run.files.filter((file) => isWritten(file) && !left.includes(file))
  return { run: run.id, outcome: 'left', files: filePaths(back), left: filePaths(left) }
}

/** `untouched`: not switched yet, whoever has changed it. `changed`: someone did after the switch. */
type FoundFile = FileNow | 'untouched' | 'changed'

function lookAt(world: World, file: RecordedFile, temp: string): FoundFile {
  if (!isWritten(file)) return 'untouched'
  const now = leadsElsewhere(world, file) ? 'other' : fileNow(world, file)
  if (now !== 'other') return now
  // A rename uses the new version up: where it still lies there, it never came to its place.
  return isThere(world.files, temp) ? 'untouched' : 'changed'
}

/** Whether the client's path leads somewhere else than when the run was made. */
function leadsElsewhere({ files, machine }: World, { path, realPath }: RecordedFile): boolean {
  const target = resultOf(() => findTarget(files, machine, path))
  return target instanceof UserError || target.realPath !== realPath
}

/**
 * The files that go back. Where someone has changed one after its switch, only what takes its client
 * away from the gateway goes on: towards it the key was switched first and the address last, and
 * never the key alone may go back.
 */
function goingBack(files: readonly RecordedFile[], found: readonly FoundFile[]): RecordedFile[] {
  return files.filter((file, index) => {
    const isOwn = (one: RecordedFile) => one.client === file.client
    const changed = files.findLastIndex((one, at) => isOwn(one) && found[at] === 'changed')
    const isTowardsGateway = files.find(isOwn)?.holdsSecret === true
    return changed < 0 || (isTowardsGateway && index > changed)
  })
}

function putBack(
  world: World,
  document: RunDocument,
  file: RecordedFile,
  bytes: Uint8Array | null,
): void {
  const temp = tempOf(document, file)
  const backwards: RecordedFile = { ...file, before: file.after, after: file.before }
  if (bytes !== null) {
    makeFolders(world.files, document.dropFolders)
    clearStage(world, temp)
    writeTemp(world, backwards, temp, { bytes, isRestored: true })
  }
  switchFile(world, backwards, temp)
}

/** A journal that is of no use becomes a record, so that no rollback passes it over unseen. */
function setAside(
  world: World,
  paths: StatePaths,
  problem: string,
  document?: RunDocument,
  cause?: unknown,
): UserError {
  const { files, machine, clock } = world
  const id = document?.run.id ?? nextRunId(clock.now(), recordNames(world, paths))

  for (const temp of document?.temps ?? []) attempt(() => clearStage(world, temp))
  attempt(() => {
    files.rename(paths.journal, paths.record(id))
    files.fsyncFolder(paths.folder)
  })

  const places = document?.run.files.map(({ path }) => shownPath(machine, path)).join(', ')
  return new UserError({
    code: 'record-damaged',
    message: `The journal of a run that was cut off ${problem}. It is set aside as ${shownPath(machine, paths.record(id))}`,
    files: 'unknown',
    hint: `Look at \`repoint status\`, then run the setup again${places ? `: ${places}` : ''}. \`repoint forget --all\` removes the journal and all records.`,
    cause,
  })
}

function filePaths(files: readonly RecordedFile[]): string[] {
  return files.map(({ path }) => path)
}

/** Which version of a file lies there now. */
type FileNow = 'old' | 'new' | 'other'

export function fileNow({ files, machine }: World, file: RecordedFile): FileNow {
  const bytes = readIfThere(files, machine, file.realPath)
  const sha256 = bytes && sha256Of(bytes)
  const { before, after } = file
  const isBefore = sha256 === (before?.sha256 ?? null)
  if (sha256 !== (after?.sha256 ?? null)) return isBefore ? 'old' : 'other'
  // Where only the mode is switched, it alone tells.
  const isOldMode = isBefore && (files.lstat(file.realPath).mode & 0o777) !== after?.mode
  return isOldMode ? 'old' : 'new'
}

/** Puts one file's new version in its place, durably. */
export function switchFile({ files }: World, file: RecordedFile, temp: string): void {
  if (file.after === null) unlessGone(() => files.unlink(file.realPath))
  else files.rename(temp, file.realPath)
  files.fsyncFolder(dirname(file.realPath))
}

/**
 * Writes a new version beside its target: complete, with its owner, mode and attributes, and durable
 * but for its name. Its folder is born closed and has a name that nobody knows, so nobody else can open
 * the file, whatever its mode, or put another in its place.
 *
 * @returns whether the attributes of the file before could be copied
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
    // A new file of a setup is born with its mode, so that the umask has its part.
    mode: isNew && !isRestored ? version.mode : 0o600,
    prepare: (handle) => {
      // The mode comes last: both of the others can change it.
      if (!isNew) isComplete = files.copyAttributes(file.realPath, handle)
      giveOwner(world, file, temp, handle)
      if (!isNew || isRestored) files.fchmod(handle, version.mode)
    },
  })

  return isComplete
}

function giveOwner(world: World, file: RecordedFile, temp: string, handle: number): void {
  const { files, machine } = world
  const version = file.after as FileVersion
  const born = files.lstat(temp)
  const uid = version.uid < 0 ? born.uid : version.uid
  const gid = version.gid < 0 ? born.gid : version.gid
  if (uid === born.uid && gid === born.gid) return

  try {
    files.fchown(handle, uid, gid)
  } catch (error) {
    // Only root gives a file to a group that it is not in. Where the group may do what everybody may,
    // nobody gains or loses anything by another group.
    const isForeignGroup = codeOf(error) === 'EPERM' && uid === born.uid
    if (!isForeignGroup) throw error
    if (((version.mode >> 3) & 0o7) === (version.mode & 0o7)) return
    throw new UserError({
      code: 'not-permitted',
      message: `${shownPath(machine, file.path)} belongs to a group (${gid}) that you are not in, so it could not be kept`,
      hint: `Give the file to a group of yours: chgrp ${born.gid} FILE`,
      cause: error,
    })
  }
}

/** Removes new versions that nothing names any more, beside any of `targets`. Needs the lock. */
export function clearStagesBeside(world: World, targets: readonly string[]): void {
  const { files } = world
  for (const folder of new Set(targets.map((path) => dirname(path))))
    attempt(() => {
      const stages = files.readdir(folder).map((name) => join(folder, name))
      for (const stage of stages.filter(isStage))
        if (files.lstat(stage).kind === 'folder')
          clearStage(world, join(stage, files.readdir(stage)[0] ?? 'none'))
    })
}

/** Whether a folder has the name of those in which new versions are made. */
function isStage(folder: string): boolean {
  return /^\.repoint-[0-9a-f]{12}$/.test(basename(folder))
}

/** Removes the folder beside a target in which its new version was made. */
export function clearStage({ files }: World, temp: string): void {
  const folder = dirname(temp)
  try {
    unlessGone(() => files.unlink(temp))
    if (unlessGone(() => files.rmdir(folder))) unlessGone(() => files.fsyncFolder(dirname(folder)))
  } catch (error) {
    // A folder on the way may be no folder any more.
    if (codeOf(error) !== 'ENOTDIR') throw error
  }
}
