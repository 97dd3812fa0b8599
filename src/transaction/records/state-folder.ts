/** Where the state folder is, what it may contain, and who may write in it. */
import { posix, win32 } from 'node:path'
import { UserError } from '../../errors.ts'
import type { Machine } from '../../platform/platform.ts'
import { refuseUnsafeAsRoot } from '../as-root.ts'
import {
  createFolders,
  displayPath,
  isInside,
  missingFolders,
  pathExists,
  wrapFileErrors,
} from '../files.ts'
import type { World } from '../record.ts'
import { refuseInvalidUtf8 } from '../resolve-file.ts'

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
    firstCopies: inFolder('first-copies.json'),
    newFirstCopies: inFolder('first-copies-new.json'),
    record: (id: string) => inFolder(`run-${id}.json`),
    blob: (sha256: string) => inFolder(`blobs/${sha256}`),
    file: inFolder,
  }
}

/** Gives a path of `home` its new place, if the home folder has moved together with the state folder in it. */
export function movedPath(machine: Machine, home: string): (path: string) => string {
  const isMoved = home !== machine.home && isInside(stateFolder(machine), machine.home)
  return (path) => (isMoved && isInside(path, home) ? machine.home + path.slice(home.length) : path)
}

export type StatePaths = ReturnType<typeof statePaths>

/** @returns undefined if there is no state folder yet */
export function findState(world: World): StatePaths | undefined {
  return withStatePaths(world, (paths) => {
    if (!pathExists(world.files, paths.folder)) return undefined
    expectOwnStateFolder(world, paths)
    return paths
  })
}

/** Returns the state folder, and creates it if it is missing. The new entry survives a power loss. */
export function openState(world: World): StatePaths {
  const { files } = world
  return withStatePaths(world, (paths) => {
    createFolders(files, missingFolders(files, paths.folder))
    expectOwnStateFolder(world, paths)
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

/** Every file name that repoint uses in the state folder. */
const stateNamePattern =
  /^(lock(-\d+-[0-9a-f]{12})?|draft\.json|journal\.json|run-.+\.json(\.part)?|blobs|(gateways|folders|first-copies)(-new)?\.json|(models|address|served)\.txt(\.\d+)?)$/

/** File names in `blobs`: copies, named by their hash, and copies that are still being written. */
export const blobNamePattern = /^([0-9a-f]{64}|new-[0-9a-f]{12})$/

/** File names that file managers create in any folder. */
const strayNamePattern = /^(\..*|desktop\.ini|thumbs\.db)$/i

/**
 * Checks that the state folder contains only files of repoint, because repoint renames and deletes
 * files there.
 *
 * @throws UserError `not-permitted`; Node's own error if the folder cannot be read
 */
function expectOwnStateFolder(world: World, paths: StatePaths): void {
  const { files } = world
  expectOwnFolder(world, paths.folder)
  const names = files.readdir(paths.folder)
  refuseForeignFiles(world, paths.folder, names, [stateNamePattern])
  if (!names.includes('blobs')) return
  expectOwnFolder(world, paths.blobs)
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
function expectOwnFolder({ files, machine, processes }: World, folder: string): void {
  const { kind, mode, uid } = files.lstat(folder)
  const unsafeError = (problem: string, hint: string) =>
    new UserError({
      code: 'not-permitted',
      message: `The state folder ${displayPath(machine, folder)} ${problem}`,
      hint,
    })

  if (kind !== 'folder')
    throw unsafeError(
      kind === 'symlink' ? 'is a symbolic link' : 'is not a folder',
      'Move it away, or set REPOINT_STATE_DIR to another folder.',
    )
  if (machine.os === 'win32') return
  if (uid !== processes.uid)
    throw unsafeError(
      'belongs to another user',
      'Run repoint as that user, or set REPOINT_STATE_DIR to another folder.',
    )
  if ((mode & 0o022) !== 0)
    throw unsafeError('is open: other users can write in it', `Close it: chmod 700 ${folder}`)
}
