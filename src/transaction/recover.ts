import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { formatOf } from '../edits/format.ts'
import { UserError } from '../errors.ts'
import { readBlob } from './blobs.ts'
import { decodeDocument, encodeDocument, type RunDocument } from './document.ts'
import { createDurably, unlessGone } from './durable.ts'
import { fileFailure, placeOf } from './failure.ts'
import { withLock } from './lock.ts'
import { removeUnnamedBlobs } from './prune.ts'
import { maxRecordBytes, nextRunId, recordNames, setAside } from './records.ts'
import { findState, isThere, type StatePaths } from './state.ts'
import { steadyWorld } from './steady.ts'
import { dropFolders, fileNow, remakeTemp, removeTemps, switchFile } from './switch.ts'
import { findTarget, readIfThere } from './target.ts'
import { isTrusted } from './trust.ts'
import type { RecordedFile, RunRecord, Settled, World } from './types.ts'

/**
 * Finishes or discards a run that was cut off. Comes first in every command that reads or writes
 * state; costs a handful of looks at the disk when there is nothing to do.
 *
 * @throws UserError `locked` if that run is still at work; `record-damaged` if its journal cannot be
 *   read (it is set aside); `not-permitted`, `disk-full`, `io-failed`, `backup-missing` if it could
 *   not be finished now
 */
export function settle(unsteady: World): Settled | undefined {
  const world = steadyWorld(unsteady)
  const paths = findState(world)
  if (!paths || !isUnsettled(world, paths)) return undefined
  return withLock(world, paths, () => settleLocked(world, paths))
}

function isUnsettled({ files, machine }: World, paths: StatePaths): boolean {
  try {
    return isThere(files, paths.journal) || isThere(files, paths.draft)
  } catch (error) {
    throw fileFailure(machine, paths.folder, error)
  }
}

/** As `settle`, for who holds the lock already. */
export function settleLocked(world: World, paths: StatePaths): Settled | undefined {
  return settleDraft(world, paths) ?? settleJournal(world, paths)
}

function readDocument(world: World, path: string): RunDocument | 'damaged' | undefined {
  try {
    return decodeDocument(world.files.read(path, maxRecordBytes)) ?? 'damaged'
  } catch (error) {
    if (error instanceof RangeError) return 'damaged'
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fileFailure(world.machine, path, error)
  }
}

/** A draft was never committed: what it names beside the targets goes. */
function settleDraft(world: World, paths: StatePaths): Settled | undefined {
  const document = readDocument(world, paths.draft)
  if (document === undefined) return undefined
  try {
    if (document === 'damaged') {
      // Cut off while it was written. It is complete before anything that it names exists.
      unlessGone(() => world.files.unlink(paths.draft))
      return undefined
    }
    discardDraft(world, paths, document)
    return {
      run: document.run.id,
      outcome: 'discarded',
      files: pathsOf(document.run.files),
      left: [],
    }
  } catch (error) {
    throw fileFailure(world.machine, paths.draft, error)
  }
}

/**
 * Removes all that a run left which was not committed, the draft last.
 *
 * @throws Node's own errors
 */
export function discardDraft(world: World, paths: StatePaths, document: RunDocument): void {
  const { files } = world
  removeTemps(world, document)
  dropFolders(world, document.run.folders)
  removeUnnamedBlobs(world, paths)
  unlessGone(() => files.unlink(paths.draft))
  files.fsyncFolder(paths.folder)
}

/** A journal was committed: the run is finished, as far as nobody has come in between. */
function settleJournal(world: World, paths: StatePaths): Settled | undefined {
  const document = readDocument(world, paths.journal)
  if (document === undefined) return undefined
  if (document === 'damaged') throw unreadable(world, paths, 'is damaged', 'unknown')
  let place = paths.journal
  try {
    const states = document.run.files.map((file) => {
      place = file.path
      return stateOf(world, paths, file)
    })
    const reach = reachOf(states)
    for (const [index, file] of document.run.files.slice(0, reach).entries()) {
      place = file.path
      const temp = document.temps[index] ?? ''
      if (states[index] === 'old') switchFile(world, file, temp, makeTemp(world, document))
      // The rename may have been seen and yet not be durable.
      else fsyncFolderIfThere(world, dirname(file.realPath))
    }
    place = paths.journal
    return finish(world, paths, document, states, reach)
  } catch (error) {
    if (error instanceof UserError && error.code === 'backup-missing')
      throw unreadable(world, paths, 'names a copy that is gone', document.run, error)
    throw fileFailure(world.machine, place, error, 'pending')
  }
}

/**
 * `changed`: someone has changed a file that was not switched yet. `unknown`: someone has changed
 * our own keys in it, before or after the switch.
 */
type Found = 'old' | 'new' | 'changed' | 'unknown'

function stateOf(world: World, paths: StatePaths, file: RecordedFile): Found {
  if (!isSamePlace(world, paths, file)) return 'unknown'
  const now = fileNow(world, file)
  if (now !== 'other') return now
  const current = valuesIn(readIfThere(world.files, world.machine, file.realPath), file)
  const versionOf = (version: RecordedFile['after']) =>
    valuesIn(version && readBlob(world, version.sha256), file)
  if (current === undefined) return 'unknown'
  if (isDeepStrictEqual(current, versionOf(file.after))) return 'new'
  return isDeepStrictEqual(current, versionOf(file.before)) ? 'changed' : 'unknown'
}

/** Whether the client's path still leads where it led when the run was committed, and may. */
function isSamePlace(world: World, paths: StatePaths, { path, realPath }: RecordedFile): boolean {
  try {
    const target = findTarget(world.files, world.machine, path)
    return target.realPath === realPath && isTrusted(world, paths, target)
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

/** What a version of a file says where the run had something to say; undefined: cannot be read. */
function valuesIn(bytes: Uint8Array | null, { format, scope, keys, path }: RecordedFile): unknown {
  if (bytes === null) return null
  try {
    const document = formatOf(format).read(bytes, path)
    return scope === 'whole' ? document.root : keys.map((key) => document.get(key))
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/**
 * How many files, from the first, may be switched. Never one behind a file that someone has come in
 * between: the order of the files is what keeps a login from being sent to the wrong place. A file
 * before one that is new was switched, whatever it looks like now.
 */
function reachOf(states: readonly Found[]): number {
  const lastNew = states.lastIndexOf('new')
  const obstacle = states.findIndex((state, index) => index > lastNew && state !== 'old')
  if (obstacle < 0) return states.length
  return lastNew < 0 ? 0 : obstacle
}

function makeTemp(world: World, document: RunDocument) {
  return (temp: string, file: RecordedFile) => remakeTemp(world, document, file, temp)
}

function fsyncFolderIfThere({ files }: World, folder: string): void {
  unlessGone(() => files.fsyncFolder(folder))
}

/** Turns the journal into the record of what was switched; what was not is no part of it. */
function finish(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  states: readonly Found[],
  reach: number,
): Settled {
  const { files } = world
  const { run, temps } = document
  const isSwitched = (_: unknown, index: number) => index < reach
  // Where it cannot be known, the old contents must stay within reach of a rollback.
  const isRecorded = (_: unknown, index: number) => index < reach || states[index] === 'unknown'
  const recorded: RunDocument = {
    ...document,
    run: { ...run, files: run.files.filter(isRecorded) },
    temps: temps.filter(isRecorded),
  }
  const settled = {
    run: run.id,
    files: pathsOf(run.files.filter(isSwitched)),
    left: pathsOf(run.files.filter((_, index) => index >= reach)),
  }
  if (recorded.run.files.length === 0) {
    files.rename(paths.journal, paths.draft)
    // From here on its copies may go: the journal must not come back.
    files.fsyncFolder(paths.folder)
    discardDraft(world, paths, document)
    return { ...settled, outcome: 'discarded' }
  }
  removeTemps(world, document)
  if (reach === run.files.length) {
    dropFolders(world, document.dropFolders)
    files.rename(paths.journal, paths.record(run.id))
  } else {
    recordPart(world, paths, recorded)
    files.unlink(paths.journal)
  }
  files.fsyncFolder(paths.folder)
  return { ...settled, outcome: 'rolled-forward' }
}

function recordPart({ files }: World, paths: StatePaths, recorded: RunDocument): void {
  const part = paths.named(`run-${recorded.run.id}.part`)
  unlessGone(() => files.unlink(part))
  createDurably(files, part, encodeDocument(recorded), 0o600)
  files.rename(part, paths.record(recorded.run.id))
  files.fsyncFolder(paths.folder)
}

/**
 * A journal that is no use is set aside as the damaged record of its run, or of the newest run where
 * it does not say: so it stands in the way of a rollback that would pass it over unseen.
 */
function unreadable(
  world: World,
  paths: StatePaths,
  problem: string,
  run: RunRecord | 'unknown',
  cause?: unknown,
): UserError {
  const id = run === 'unknown' ? nextRunId(world.clock.now(), recordNames(world, paths)) : run.id
  const aside = setAside(world, paths.journal, paths.record(id))
  const which =
    run === 'unknown'
      ? ''
      : `: ${pathsOf(run.files)
          .map((path) => placeOf(world.machine, path))
          .join(', ')}`
  return new UserError({
    code: 'record-damaged',
    message: `The journal of a run that was cut off ${problem}. It is set aside as ${placeOf(world.machine, aside)}`,
    files: 'unknown',
    hint: `Look at \`repoint status\`, then run the setup again${which}`,
    cause,
  })
}

function pathsOf(files: readonly RecordedFile[]): string[] {
  return files.map(({ path }) => path)
}
