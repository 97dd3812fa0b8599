import { dirname } from 'node:path'
import type { Plan } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { checkedTarget, isUnchanged, takeOnce, withAbsolutePaths } from './changes.ts'
import { fileFailure } from './failure.ts'
import { findState, isThere, stateFolder } from './state.ts'
import { steadyWorld } from './steady.ts'
import type { World } from './types.ts'

/**
 * Looks whether a plan could be carried out, as far as that can be known without writing: before a
 * person is asked. What is wrong is thrown as `applyPlan` would throw it.
 *
 * @throws UserError `config-conflict`, `not-permitted`, `io-failed`
 */
export function checkTargets(unsteady: World, given: Plan): void {
  const world = steadyWorld(unsteady)
  const edits = withAbsolutePaths(world, given).edits.filter((edit) => !isUnchanged(edit))
  if (edits.length === 0) return
  refuseSudo(world)
  checkState(world)
  const taken = new Set<string>()
  for (const edit of edits) {
    try {
      const target = checkedTarget(world, edit)
      takeOnce(world, edit, target, taken)
      checkFolder(world, dirname(target.missingFolders[0] ?? target.realPath))
    } catch (error) {
      throw fileFailure(world.machine, edit.path, error)
    }
  }
}

function checkState(world: World): void {
  const { files, machine } = world
  const paths = findState(world)
  const place = stateFolder(machine)
  try {
    if (!paths) checkFolder(world, nearestFolder(world, place))
    else
      for (const folder of [paths.folder, paths.blobs])
        if (isThere(files, folder)) checkFolder(world, folder)
  } catch (error) {
    throw fileFailure(machine, place, error)
  }
}

function nearestFolder({ files }: World, path: string): string {
  let folder = dirname(path)
  while (!isThere(files, folder)) folder = dirname(folder)
  return folder
}

/** Throws what creating a file in `folder` would. */
function checkFolder({ files }: World, folder: string): void {
  const fail = (code: string) => Object.assign(new Error(`${code}: ${folder}`), { code })
  if (files.stat(folder).kind !== 'folder') throw fail('ENOTDIR')
  if (!files.isWritable(folder)) throw fail('EACCES')
}

/**
 * Under `sudo` with the home kept (as macOS does), the files of a person would be written as root.
 *
 * @throws UserError `not-permitted`
 */
export function refuseSudo({ files, machine, processes }: World): void {
  const { SUDO_UID: caller } = machine.env
  if (processes.uid !== 0 || !caller || caller === '0') return
  let owner: number
  try {
    owner = files.stat(machine.home).uid
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return
  }
  if (String(owner) !== caller) return
  throw new UserError({
    code: 'not-permitted',
    message: `repoint runs as root by sudo, and ${machine.home} is yours`,
    hint: 'These are your own files, so no rights are missing: run it without sudo.',
  })
}
