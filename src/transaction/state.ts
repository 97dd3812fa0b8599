import { posix, win32 } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Bytes } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Machine } from '../platform/platform.ts'
import {
  createDurably,
  createFolders,
  displayPath,
  errorCode,
  ignoreFileErrors,
  ignoreMissing,
  isInside,
  missingFolders,
  pathExists,
  randomName,
  sha256Of,
  toFileError,
  wrapFileErrors,
} from './files.ts'
import { decodeDocument, type FileVersion, type RunRecord, type World } from './record.ts'
import { refuseInvalidUtf8, refuseUnsafeAsRoot } from './target.ts'

/**
 * The folder with the records and the copies of old files: `$REPOINT_STATE_DIR`, else
 * `$XDG_STATE_HOME/repoint` (`~/.local/state/repoint`), or `%LOCALAPPDATA%\repoint` on Windows.
 */
export function stateFolder(machine: Machine): string {
  const { env, home, cwd, os } = machine
  const path = pathModule(machine)
  if (env['REPOINT_STATE_DIR']) return path.resolve(cwd, env['REPOINT_STATE_DIR'])
  if (os === 'win32')
    return path.join(env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local'), 'repoint')
  // The XDG specification says that relative values must be ignored.
  const base = env['XDG_STATE_HOME'] ?? ''
  return path.join(path.isAbsolute(base) ? base : path.join(home, '.local', 'state'), 'repoint')
}

function pathModule({ os }: Machine) {
  return os === 'win32' ? win32 : posix
}

/** The paths inside the state folder. */
export function statePaths(machine: Machine) {
  const folder = stateFolder(machine)
  const inFolder = (name: string) => pathModule(machine).join(folder, name)

  return {
    folder,
    lock: inFolder('lock'),
    draft: inFolder('draft.json'),
    journal: inFolder('journal.json'),
    blobs: inFolder('blobs'),
    gateways: inFolder('gateways.json'),
    newGateways: inFolder('gateways-new.json'),
    folders: inFolder('folders.json'),
    newFolders: inFolder('folders-new.json'),
    record: (id: string) => inFolder(`run-${id}.json`),
    blob: (sha256: string) => inFolder(`blobs/${sha256}`),
    file: inFolder,
  }
}

export type StatePaths = ReturnType<typeof statePaths>

/** @returns undefined if there is no state folder yet */
export function findState(world: World): StatePaths | undefined {
  return withStatePaths(world, (paths) => {
    if (!pathExists(world.files, paths.folder)) return undefined
    checkStateFolder(world, paths)
    return paths
  })
}

/** Returns the state folder, and creates it if it is missing. The new entry survives a power loss. */
export function openState(world: World): StatePaths {
  const { files } = world
  return withStatePaths(world, (paths) => {
    createFolders(files, missingFolders(files, paths.folder))
    checkStateFolder(world, paths)
    createFolders(files, [paths.blobs])
    return paths
  })
}

function withStatePaths<Result>(world: World, work: (paths: StatePaths) => Result): Result {
  const paths = statePaths(world.machine)
  return wrapFileErrors(world.machine, paths.folder, () => {
    refuseInvalidUtf8(world.machine, paths.folder)
    refuseUnsafeAsRoot(world, paths.folder)
    return work(paths)
  })
}

/** The file name of a record. */
const recordNamePattern = /^run-.+\.json$/

/** Every file name that repoint uses in the state folder. */
const stateNamePattern =
  /^(lock(-\d+-[0-9a-f]{12})?|draft\.json|journal\.json|run-.+\.json(\.part)?|blobs|(gateways|folders)(-new)?\.json|(models|address)\.txt(\.\d+)?)$/

/** File names in `blobs`: copies, named by their hash, and copies that are still being written. */
const blobNamePattern = /^([0-9a-f]{64}|new-[0-9a-f]{12})$/

/** File names that file managers create in any folder. */
const strayNamePattern = /^(\..*|desktop\.ini|thumbs\.db)$/i

/**
 * Checks that the state folder contains only files of repoint, because repoint renames and deletes
 * files there.
 *
 * @throws UserError `not-permitted`; Node's own error if the folder cannot be read
 */
function checkStateFolder(world: World, paths: StatePaths): void {
  const { files } = world
  checkFolderOwner(world, paths.folder)
  const names = files.readdir(paths.folder)
  refuseForeignFiles(world, paths.folder, names, [stateNamePattern])
  if (!names.includes('blobs')) return
  checkFolderOwner(world, paths.blobs)
  refuseForeignFiles(world, paths.blobs, files.readdir(paths.blobs), [blobNamePattern])
}

function refuseForeignFiles(
  { machine }: World,
  folder: string,
  names: readonly string[],
  patterns: readonly RegExp[],
): void {
  const allowed = [...patterns, strayNamePattern]
  const foreign = names.find((name) => !allowed.some((pattern) => pattern.test(name)))
  if (foreign === undefined) return

  throw new UserError({
    code: 'not-permitted',
    message: `The state folder ${displayPath(machine, folder)} contains a file that repoint did not write: ${foreign}`,
    hint: 'Move that file away, or set REPOINT_STATE_DIR to a new folder.',
  })
}

/** Copies contain keys, and repoint does what its records say, so no other user may write here. */
function checkFolderOwner({ files, machine, processes }: World, folder: string): void {
  const { kind, mode, uid } = files.lstat(folder)
  const refuse = (problem: string, hint: string) =>
    new UserError({
      code: 'not-permitted',
      message: `The state folder ${displayPath(machine, folder)} ${problem}`,
      hint,
    })

  if (kind !== 'folder')
    throw refuse(
      kind === 'symlink' ? 'is a symbolic link' : 'is not a folder',
      'Move it away, or set REPOINT_STATE_DIR to another folder.',
    )
  if (machine.os === 'win32') return
  if (uid !== processes.uid)
    throw refuse(
      'belongs to another user',
      'Run repoint as that user, or set REPOINT_STATE_DIR to another folder.',
    )
  if ((mode & 0o022) !== 0)
    throw refuse('is open: other users can write in it', `Close it: chmod 700 ${folder}`)
}

/** The largest copy that repoint reads, in bytes: larger than any configuration file that it edits. */
const maxBlobBytes = 16_000_000

/**
 * Reads the saved copy with this hash.
 *
 * @throws UserError `backup-missing` if the copy is gone or its hash is wrong
 */
export function readBlob(world: World, sha256: string): Bytes {
  const paths = statePaths(world.machine)
  const bytes = findBlob(world, paths, sha256)
  if (bytes) return bytes
  throw new UserError({
    code: 'backup-missing',
    message: `A saved copy (${sha256.slice(0, 12)}…) of a file is missing or damaged in ${displayPath(world.machine, paths.blobs)}`,
    hint: 'See the other runs: repoint rollback --list',
  })
}

/** The contents of a recorded version, or null if there was no file. @throws as `readBlob` does */
export function contentsOf(world: World, version: FileVersion | null): Bytes | null {
  return version && readBlob(world, version.sha256)
}

/** Like `contentsOf`, but returns null if the copy is gone or damaged. */
export function contentsIfAvailable(world: World, version: FileVersion | null): Bytes | null {
  const bytes = resultOf(() => contentsOf(world, version))
  return bytes instanceof UserError ? null : bytes
}

function findBlob({ files }: World, paths: StatePaths, sha256: string): Bytes | undefined {
  try {
    const stored = files.read(paths.blob(sha256), maxBlobBytes)
    const bytes =
      sha256Of(stored) === sha256
        ? stored
        : inflateRawSync(stored, { maxOutputLength: maxBlobBytes })
    return sha256Of(bytes) === sha256 ? bytes : undefined
  } catch (error) {
    if (error instanceof RangeError || errorCode(error)) return undefined
    throw error
  }
}

/** Stores contents under their hashes, durably. A sound copy that is already there is kept. */
export function writeBlobs(world: World, paths: StatePaths, contents: Iterable<Bytes>): void {
  const { files } = world
  for (const bytes of contents) {
    const sha256 = sha256Of(bytes)
    if (findBlob(world, paths, sha256)) continue
    const packed = deflateRawSync(bytes)
    const temp = paths.file(`blobs/new-${randomName()}`)
    createDurably(files, temp, packed.length < bytes.length ? packed : bytes, { mode: 0o600 })
    files.rename(temp, paths.blob(sha256))
  }
  files.fsyncFolder(paths.blobs)
}

/** The largest record that repoint reads, in bytes. A record of four files has about 3 kB. */
const maxRecordBytes = 8_000_000

export interface RecordedRuns {
  /** Newest first. */
  readonly runs: readonly RunRecord[]
  /** The paths of records that are damaged or of another version, newest first. */
  readonly damaged: readonly string[]
}

/** Lists the recorded runs. Changes nothing. A record of another version is listed as damaged. */
export function listRuns(world: World): RecordedRuns {
  const paths = findState(world)
  return paths ? readRuns(world, paths) : { runs: [], damaged: [] }
}

export function readRuns(world: World, paths: StatePaths): RecordedRuns {
  const runs: RunRecord[] = []
  const damaged: string[] = []
  for (const name of recordNames(world, paths).reverse()) {
    const path = paths.file(name)
    const document = readRunDocument(world, path)
    if (document === undefined) continue
    if (document !== 'damaged' && name === `run-${document.run.id}.json`)
      runs.push(relocateRun(world.machine, document.run))
    else damaged.push(path)
  }

  const replaced = new Set(runs.flatMap(({ replaces = [] }) => replaces))
  return { runs: runs.filter(({ id }) => !replaced.has(id)), damaged }
}

/** The file names of the records, oldest first. */
export function recordNames(world: World, paths: StatePaths): string[] {
  return wrapFileErrors(world.machine, paths.folder, () => {
    const names = world.files.readdir(paths.folder)
    return names.filter((name) => recordNamePattern.test(name)).sort()
  })
}

/** @returns undefined if there is no such file */
export function readRunDocument(world: World, path: string) {
  try {
    return decodeDocument(world.files.read(path, maxRecordBytes)) ?? 'damaged'
  } catch (error) {
    if (error instanceof RangeError) return 'damaged'
    if (errorCode(error) === 'ENOENT') return undefined
    throw toFileError(world.machine, path, error)
  }
}

/** If the home folder moved together with the state folder in it: the run with the new paths. */
function relocateRun(machine: Machine, run: RunRecord): RunRecord {
  const { home } = machine
  if (run.home === home || !isInside(stateFolder(machine), home)) return run
  const newPath = (path: string) =>
    isInside(path, run.home) ? home + path.slice(run.home.length) : path

  return {
    ...run,
    home,
    files: run.files.map((file) => ({
      ...file,
      path: newPath(file.path),
      realPath: newPath(file.realPath),
    })),
    folders: run.folders.map(newPath),
    ...(run.kept && {
      kept: run.kept.map((setting) => ({ ...setting, file: newPath(setting.file) })),
    }),
  }
}

/**
 * The ID for a run at `now`. It sorts after all earlier IDs, also within one second and after the clock
 * was set back.
 *
 * @param names the names of the records, oldest first
 */
export function nextRunId(now: Date, names: readonly string[]): string {
  const stamp = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const [, newestStamp = '', newestSuffix = ''] =
    /^run-(\d{8}T\d{6}Z)-([0-9a-f]+)\./.exec(names.at(-1) ?? '') ?? []
  if (stamp <= newestStamp) return `${newestStamp}-${nextSuffix(newestSuffix)}`
  // Below 0x8000, so that there is room to count up within one second.
  const suffix = Number.parseInt(randomName(), 16) & 0x7fff
  return `${stamp}-${suffix.toString(16).padStart(4, '0')}`
}

/** The next hexadecimal suffix in string order. After `f…` it gets one digit longer. */
function nextSuffix(hex: string): string {
  if (/^f+$/.test(hex)) return `${hex}0`
  return (BigInt(`0x${hex}`) + 1n).toString(16).padStart(hex.length, '0')
}

function hashesOf({ files }: RunRecord): string[] {
  return files.flatMap(({ before, after }) =>
    [before, after].flatMap((version) => (version ? [version.sha256] : [])),
  )
}

/**
 * Removes records, then the copies that no other record names. The caller holds the lock.
 *
 * @param records the paths, oldest first. The folder is flushed after each, because an undo must not
 *   be deleted before the change that it undid.
 */
export function removeRecords(world: World, paths: StatePaths, records: readonly string[]): void {
  const { files } = world
  if (records.length === 0) return
  for (const path of records) {
    ignoreMissing(() => files.unlink(path))
    files.fsyncFolder(paths.folder)
  }
  removeUnusedBlobs(world, paths)
}

/** Removes the records of every version, and all copies. The caller holds the lock. */
export function removeAllRecords(world: World, paths: StatePaths): void {
  removeRecords(world, paths, recordNames(world, paths).map(paths.file))
  removeUnusedBlobs(world, paths)
}

/**
 * Removes the copies that no record names. Removes none while a record is damaged, because it could
 * name any of them. The copies of a draft are removed, because a draft is never applied. The caller
 * holds the lock.
 */
export function removeUnusedBlobs(world: World, paths: StatePaths): void {
  const { files } = world
  ignoreFileErrors(() => {
    const { runs, damaged } = readRuns(world, paths)
    if (damaged.length > 0) return
    const used = new Set(runs.flatMap(hashesOf))
    const unused = files
      .readdir(paths.blobs)
      .filter((name) => blobNamePattern.test(name) && !used.has(name))
    for (const name of unused) files.unlink(paths.blob(name))
    if (unused.length > 0) files.fsyncFolder(paths.blobs)
  })
}
