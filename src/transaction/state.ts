import { posix, win32 } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Bytes } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Machine } from '../platform/platform.ts'
import {
  attempt,
  codeOf,
  createDurably,
  fileFailure,
  isInside,
  isThere,
  makeFolders,
  missingFolders,
  randomName,
  sha256Of,
  shownPath,
  unlessGone,
  wrapFileErrors,
} from './files.ts'
import { decodeDocument, type FileVersion, type RunRecord, type World } from './record.ts'
import { refuseAsRoot, refuseNoUtf8 } from './target.ts'

/**
 * Where the records and the copies of old files lie: `$REPOINT_STATE_DIR`, else
 * `$XDG_STATE_HOME/repoint` (`~/.local/state/repoint`); on Windows `%LOCALAPPDATA%\repoint`.
 */
export function stateFolder(machine: Machine): string {
  const { env, home, cwd, os } = machine
  const path = pathRules(machine)
  if (env['REPOINT_STATE_DIR']) return path.resolve(cwd, env['REPOINT_STATE_DIR'])
  if (os === 'win32')
    return path.join(env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local'), 'repoint')
  // The XDG specification wants relative values ignored.
  const base = env['XDG_STATE_HOME'] ?? ''
  return path.join(path.isAbsolute(base) ? base : path.join(home, '.local', 'state'), 'repoint')
}

function pathRules({ os }: Machine) {
  return os === 'win32' ? win32 : posix
}

/** The places inside the state folder. */
export function statePaths(machine: Machine) {
  const folder = stateFolder(machine)
  const at = (name: string) => pathRules(machine).join(folder, name)

  return {
    folder,
    lock: at('lock'),
    draft: at('draft.json'),
    journal: at('journal.json'),
    blobs: at('blobs'),
    gateways: at('gateways.json'),
    newGateways: at('gateways-new.json'),
    folders: at('folders.json'),
    newFolders: at('folders-new.json'),
    record: (id: string) => at(`run-${id}.json`),
    blob: (sha256: string) => at(`blobs/${sha256}`),
    named: at,
  }
}

export type StatePaths = ReturnType<typeof statePaths>

/** @returns undefined if there is no state folder yet */
export function findState(world: World): StatePaths | undefined {
  return inState(world, (paths) => {
    if (!isThere(world.files, paths.folder)) return undefined
    checkIsSafe(world, paths)
    return paths
  })
}

/** Creates the state folder where it is missing, so that its entry survives a power loss too. */
export function openState(world: World): StatePaths {
  const { files } = world
  return inState(world, (paths) => {
    makeFolders(files, missingFolders(files, paths.folder))
    checkIsSafe(world, paths)
    makeFolders(files, [paths.blobs])
    return paths
  })
}

function inState<Result>(world: World, work: (paths: StatePaths) => Result): Result {
  const paths = statePaths(world.machine)
  return wrapFileErrors(world.machine, paths.folder, () => {
    refuseNoUtf8(world.machine, paths.folder)
    refuseAsRoot(world, paths.folder)
    return work(paths)
  })
}

/** The name of a record. */
const recordName = /^run-.+\.json$/

/** Every name that repoint uses in the state folder. */
const stateNames =
  /^(lock(-\d+-[0-9a-f]{12})?|draft\.json|journal\.json|run-.+\.json(\.part)?|blobs|(gateways|folders)(-new)?\.json|models\.txt(\.\d+)?)$/

/** The copies, by the hash of their contents, and those that are still being written. */
const blobNames = /^([0-9a-f]{64}|new-[0-9a-f]{12})$/

/** What a file manager puts anywhere is nobody's folder. */
const strayNames = /^(\..*|desktop\.ini|thumbs\.db)$/i

/**
 * A folder is taken for ours only if nothing else is in it: records and copies are renamed and deleted
 * there.
 *
 * @throws UserError `not-permitted`; Node's own error if the folder cannot be looked at
 */
function checkIsSafe(world: World, paths: StatePaths): void {
  const { files } = world
  checkIsOurs(world, paths.folder)
  const names = files.readdir(paths.folder)
  refuseForeign(world, paths.folder, names, [stateNames])
  if (!names.includes('blobs')) return
  checkIsOurs(world, paths.blobs)
  refuseForeign(world, paths.blobs, files.readdir(paths.blobs), [blobNames])
}

function refuseForeign(
  { machine }: World,
  folder: string,
  names: readonly string[],
  ours: readonly RegExp[],
): void {
  const known = [...ours, strayNames]
  const foreign = names.find((name) => !known.some((one) => one.test(name)))
  if (foreign === undefined) return

  throw new UserError({
    code: 'not-permitted',
    message: `The state folder ${shownPath(machine, folder)} holds something that is not repoint's: ${foreign}`,
    hint: 'Name an empty folder, or one that does not exist yet, in REPOINT_STATE_DIR; or move that file away.',
  })
}

/** Old copies hold keys, and records are acted upon: nobody else may be able to write them. */
function checkIsOurs({ files, machine, processes }: World, folder: string): void {
  const { kind, mode, uid } = files.lstat(folder)
  const refuse = (problem: string, hint: string) =>
    new UserError({
      code: 'not-permitted',
      message: `The state folder ${shownPath(machine, folder)} ${problem}`,
      hint,
    })

  if (kind !== 'folder')
    throw refuse(
      kind === 'symlink' ? 'is a symbolic link' : 'is not a folder',
      'Move it away, or name another folder in REPOINT_STATE_DIR.',
    )
  if (machine.os === 'win32') return
  if (uid !== processes.uid)
    throw refuse(
      'belongs to another user',
      'Run repoint as that user, or name another folder in REPOINT_STATE_DIR.',
    )
  if ((mode & 0o022) !== 0)
    throw refuse('can be written by other users', `Close it: chmod 700 ${folder}`)
}

/** Largest copy that is read, in bytes: more than any configuration file that is edited. */
const maxBlobBytes = 16_000_000

/**
 * The contents that a record names.
 *
 * @throws UserError `backup-missing` if the copy is gone or is not what it was
 */
export function readBlob(world: World, sha256: string): Bytes {
  const paths = statePaths(world.machine)
  const bytes = readCopy(world, paths, sha256)
  if (bytes) return bytes
  throw new UserError({
    code: 'backup-missing',
    message: `The saved copy ${sha256.slice(0, 12)}… of a file is missing or damaged in ${shownPath(world.machine, paths.blobs)}`,
    hint: 'That run cannot be undone. `repoint rollback --list` shows the others.',
  })
}

/** The contents of a recorded version; null: there was no file. @throws as `readBlob` does */
export function contentsOf(world: World, version: FileVersion | null): Bytes | null {
  return version && readBlob(world, version.sha256)
}

/** A version of a file as far as there is one: a copy that is gone proves nothing. */
export function copyOf(world: World, version: FileVersion | null): Bytes | null {
  const bytes = resultOf(() => contentsOf(world, version))
  return bytes instanceof UserError ? null : bytes
}

function readCopy({ files }: World, paths: StatePaths, sha256: string): Bytes | undefined {
  try {
    const stored = files.read(paths.blob(sha256), maxBlobBytes)
    const bytes =
      sha256Of(stored) === sha256
        ? stored
        : inflateRawSync(stored, { maxOutputLength: maxBlobBytes })
    return sha256Of(bytes) === sha256 ? bytes : undefined
  } catch (error) {
    if (error instanceof RangeError || codeOf(error)) return undefined
    throw error
  }
}

/** Stores contents under their hashes, durably. A sound copy that is already there is kept. */
export function writeBlobs(world: World, paths: StatePaths, contents: Iterable<Bytes>): void {
  const { files } = world
  for (const bytes of contents) {
    const sha256 = sha256Of(bytes)
    if (readCopy(world, paths, sha256)) continue
    const packed = deflateRawSync(bytes)
    const temp = paths.named(`blobs/new-${randomName()}`)
    createDurably(files, temp, packed.length < bytes.length ? packed : bytes, { mode: 0o600 })
    files.rename(temp, paths.blob(sha256))
  }
  files.fsyncFolder(paths.blobs)
}

/** Largest record that is read, in bytes. One of four files has about 3 kB. */
const maxRecordBytes = 8_000_000

export interface RecordedRuns {
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /** The paths of records that are damaged or of another version, newest first. */
  readonly damaged: readonly string[]
}

/** The recorded runs. Reads only. A damaged record, or one of another version, is reported as damaged. */
export function listRuns(world: World): RecordedRuns {
  const paths = findState(world)
  return paths ? readRuns(world, paths) : { runs: [], damaged: [] }
}

export function readRuns(world: World, paths: StatePaths): RecordedRuns {
  const runs: RunRecord[] = []
  const damaged: string[] = []
  for (const name of recordNames(world, paths).reverse()) {
    const path = paths.named(name)
    const document = readRunDocument(world, path)
    if (document === undefined) continue
    if (document !== 'damaged' && name === `run-${document.run.id}.json`)
      runs.push(atHome(world.machine, document.run))
    else damaged.push(path)
  }

  const replaced = new Set(runs.flatMap(({ replaces = [] }) => replaces))
  return { runs: runs.filter(({ id }) => !replaced.has(id)), damaged }
}

/** The file names of the records, oldest first. */
export function recordNames(world: World, paths: StatePaths): string[] {
  return wrapFileErrors(world.machine, paths.folder, () => {
    const names = world.files.readdir(paths.folder)
    return names.filter((name) => recordName.test(name)).sort()
  })
}

/** @returns undefined where nothing is */
export function readRunDocument(world: World, path: string) {
  try {
    return decodeDocument(world.files.read(path, maxRecordBytes)) ?? 'damaged'
  } catch (error) {
    if (error instanceof RangeError) return 'damaged'
    if (codeOf(error) === 'ENOENT') return undefined
    throw fileFailure(world.machine, path, error)
  }
}

/**
 * The record of a home that has moved since, with its state folder in it, as if it had been made where
 * the home is now.
 */
function atHome(machine: Machine, run: RunRecord): RunRecord {
  const { home } = machine
  if (run.home === home || !isInside(stateFolder(machine), home)) return run
  const moved = (path: string) =>
    isInside(path, run.home) ? home + path.slice(run.home.length) : path

  return {
    ...run,
    home,
    files: run.files.map((file) => ({
      ...file,
      path: moved(file.path),
      realPath: moved(file.realPath),
    })),
    folders: run.folders.map(moved),
    ...(run.kept && { kept: run.kept.map((one) => ({ ...one, file: moved(one.file) })) }),
  }
}

/**
 * An id for a run at `now` that sorts behind all earlier ones, also within one second and when the
 * clock was set back.
 *
 * @param names of the records, oldest first
 */
export function nextRunId(now: Date, names: readonly string[]): string {
  const stamp = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const [, newestStamp = '', newestEnd = ''] =
    /^run-(\d{8}T\d{6}Z)-([0-9a-f]+)\./.exec(names.at(-1) ?? '') ?? []
  if (stamp <= newestStamp) return `${newestStamp}-${successor(newestEnd)}`
  // Below 8000, so that there is room to count up within one second.
  const end = Number.parseInt(randomName(), 16) & 0x7fff
  return `${stamp}-${end.toString(16).padStart(4, '0')}`
}

/** The next longer or larger one in the order of text. */
function successor(hex: string): string {
  if (/^f+$/.test(hex)) return `${hex}0`
  return (BigInt(`0x${hex}`) + 1n).toString(16).padStart(hex.length, '0')
}

function hashesOf({ files }: RunRecord): string[] {
  return files.flatMap(({ before, after }) =>
    [before, after].flatMap((version) => (version ? [version.sha256] : [])),
  )
}

/**
 * Removes records, then the copies that no other record names. Needs the lock.
 *
 * @param records oldest first. Each is gone for good before the next one: an undo must not be deleted
 *   before the change that it undid.
 */
export function removeRecords(world: World, paths: StatePaths, records: readonly string[]): void {
  const { files } = world
  if (records.length === 0) return
  for (const path of records) {
    unlessGone(() => files.unlink(path))
    files.fsyncFolder(paths.folder)
  }
  removeUnnamedBlobs(world, paths)
}

/** Removes the records of every version, and all copies. Needs the lock. */
export function removeAllRecords(world: World, paths: StatePaths): void {
  removeRecords(world, paths, recordNames(world, paths).map(paths.named))
  removeUnnamedBlobs(world, paths)
}

/**
 * Removes the copies that no record names; none while a record is damaged. Those of a draft go: it is
 * never carried out. Needs the lock.
 */
export function removeUnnamedBlobs(world: World, paths: StatePaths): void {
  const { files } = world
  attempt(() => {
    const { runs, damaged } = readRuns(world, paths)
    if (damaged.length > 0) return
    const named = new Set(runs.flatMap(hashesOf))
    const unnamed = files
      .readdir(paths.blobs)
      .filter((name) => blobNames.test(name) && !named.has(name))
    for (const name of unnamed) files.unlink(paths.blob(name))
    if (unnamed.length > 0) files.fsyncFolder(paths.blobs)
  })
}
