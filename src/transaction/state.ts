import { posix, win32 } from 'node:path'
import { UserError } from '../errors.ts'
import type { Files, Machine } from '../platform/platform.ts'
import { fileFailure, placeOf } from './failure.ts'
import type { World } from './types.ts'

/**
 * Where the records and the copies of old files lie: `$REPOINT_STATE_DIR`, else
 * `$XDG_STATE_HOME/repoint` (`~/.local/state/repoint`); on Windows `%LOCALAPPDATA%\repoint`.
 */
export function stateFolder(machine: Machine): string {
  const { env, home, cwd, os } = machine
  const path = os === 'win32' ? win32 : posix
  if (env['REPOINT_STATE_DIR']) return path.resolve(cwd, env['REPOINT_STATE_DIR'])
  if (os === 'win32')
    return path.join(env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local'), 'repoint')
  // The XDG specification wants relative values ignored.
  const base = env['XDG_STATE_HOME'] ?? ''
  return path.join(path.isAbsolute(base) ? base : path.join(home, '.local', 'state'), 'repoint')
}

/** The places inside the state folder. */
function statePaths(machine: Machine) {
  const folder = stateFolder(machine)
  const { join } = machine.os === 'win32' ? win32 : posix
  const at = (name: string) => join(folder, name)
  return {
    folder,
    lock: at('lock'),
    draft: at('draft.json'),
    journal: at('journal.json'),
    blobs: at('blobs'),
    record: (id: string) => at(`run-${id}.json`),
    blob: (sha256: string) => at(`blobs/${sha256}`),
    named: at,
  }
}

export type StatePaths = ReturnType<typeof statePaths>

/** @returns undefined if there is no state folder yet */
export function findState(world: World): StatePaths | undefined {
  const paths = statePaths(world.machine)
  try {
    checkState(world, paths)
    return paths
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fileFailure(world.machine, paths.folder, error)
  }
}

/** Creates the state folder where it is missing, so that its entry survives a power loss too. */
export function openState(world: World): StatePaths {
  const { files, machine } = world
  const paths = statePaths(machine)
  try {
    makeFolders(files, paths.folder, machine)
    checkState(world, paths)
    makeFolders(files, paths.blobs, machine)
    return paths
  } catch (error) {
    throw fileFailure(machine, paths.folder, error)
  }
}

function makeFolders(files: Files, folder: string, machine: Machine): void {
  const { dirname } = machine.os === 'win32' ? win32 : posix
  const missing: string[] = []
  for (let path = folder; !isThere(files, path); path = dirname(path)) missing.unshift(path)
  for (const path of missing) {
    try {
      files.mkdir(path, 0o700)
    } catch (error) {
      // Another run has just made it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    files.fsyncFolder(dirname(path))
  }
}

/** Whether anything, be it a dangling symlink, stands at `path`. */
export function isThere(files: Files, path: string): boolean {
  try {
    files.lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Every name that is ever put into the state folder, by what model-cache.ts keeps there too. */
const stateNames =
  /^(lock(-\d+-[0-9a-f]{12})?|draft\.json|journal\.json|run-.+\.(json(\.damaged-[0-9a-f]+)?|part)|blobs|models\.txt(\.\d+)?)$/

/** The copies, by the hash of their contents, and those that are still being written. */
export const blobNames = /^([0-9a-f]{64}|new-[0-9a-f]{12})$/

/** What a file manager puts anywhere is nobody's folder. */
const strayNames = /^(\..*|desktop\.ini|thumbs\.db)$/i

/**
 * A folder is taken for ours only if nothing else is in it: records are written, renamed and deleted
 * there. Costs three looks at the disk.
 *
 * @throws UserError `not-permitted`; Node's own error if the folder cannot be looked at
 */
function checkState(world: World, paths: StatePaths): void {
  const { files } = world
  checkIsOurs(world, paths.folder)
  const names = files.readdir(paths.folder)
  refuseForeign(world, paths.folder, names, stateNames)
  if (!names.includes('blobs')) return
  checkIsOurs(world, paths.blobs)
  refuseForeign(world, paths.blobs, files.readdir(paths.blobs), blobNames)
}

function refuseForeign(
  { machine }: World,
  folder: string,
  names: readonly string[],
  ours: RegExp,
): void {
  const foreign = names.find((name) => !ours.test(name) && !strayNames.test(name))
  if (foreign === undefined) return
  throw new UserError({
    code: 'not-permitted',
    message: `The state folder ${placeOf(machine, folder)} holds something that is not repoint's: ${foreign}`,
    hint: 'Name an empty folder, or one that does not exist yet, in REPOINT_STATE_DIR; or move that file away.',
  })
}

/**
 * Old copies hold keys, and records are acted upon: nobody else may be able to write them.
 *
 * @throws UserError `not-permitted`; Node's own error if the folder cannot be looked at
 */
function checkIsOurs(world: World, folder: string): void {
  const { files, machine } = world
  const { kind, mode, uid } = files.lstat(folder)
  const refuse = (problem: string, hint: string) =>
    new UserError({
      code: 'not-permitted',
      message: `The state folder ${placeOf(machine, folder)} ${problem}`,
      hint,
    })
  if (kind !== 'folder')
    throw refuse(
      kind === 'symlink' ? 'is a symbolic link' : 'is not a folder',
      'Move it away, or name another folder in REPOINT_STATE_DIR.',
    )
  if (machine.os === 'win32') return
  if (!isOwnerOurs(world, folder, uid))
    throw refuse(
      'belongs to another user',
      'Run repoint as that user, or name another folder in REPOINT_STATE_DIR.',
    )
  if ((mode & 0o022) !== 0)
    throw refuse('can be written by other users', `Close it: chmod 700 ${folder}`)
}

/** As root we may have made it for whom the folder around it belongs to: see steady.ts. */
function isOwnerOurs({ files, machine, processes }: World, folder: string, uid: number): boolean {
  if (uid === processes.uid) return true
  const { dirname } = machine.os === 'win32' ? win32 : posix
  return processes.uid === 0 && uid === files.stat(dirname(folder)).uid
}
