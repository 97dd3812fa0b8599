import { dirname, relative } from 'node:path'
import { UserError } from '../errors.ts'
import { placeOf } from './failure.ts'
import type { StatePaths } from './state.ts'
import type { Target } from './target.ts'
import type { World } from './types.ts'

/**
 * Whether what a record says may be done at `target`. As root, records in another user's state folder
 * are that user's word: they lead to that user's files, and to what lies in that user's home.
 *
 * @throws Node's own errors
 */
export function isTrusted(world: World, paths: StatePaths, target: Target): boolean {
  const { files, machine, processes } = world
  if (processes.uid !== 0 || machine.os === 'win32') return true
  const author = files.stat(paths.folder).uid
  if (author === 0) return true
  const folder = dirname(target.missingFolders[0] ?? target.realPath)
  if ((target.status ?? files.stat(folder)).uid === author) return true
  const isInHome = !relative(files.realpath(machine.home), target.realPath).startsWith('..')
  return isInHome && files.stat(machine.home).uid === author
}

/** @throws UserError `not-permitted`; Node's own errors */
export function requireTrust(world: World, paths: StatePaths, path: string, target: Target): void {
  if (isTrusted(world, paths, target)) return
  const { machine } = world
  throw new UserError({
    code: 'not-permitted',
    message: `${placeOf(machine, path)} does not belong to the user whose records in ${placeOf(machine, paths.folder)} name it`,
    hint: 'Run the rollback as that user, without root.',
  })
}
