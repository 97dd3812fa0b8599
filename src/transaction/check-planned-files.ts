/** Checks a plan before the user confirms it. `applyPlan` checks its files again. */
import { dirname } from 'node:path'
import { compact } from '../compact.ts'
import type { Plan } from '../edits/types.ts'
import type { Finding } from '../finding.ts'
import { displayPath, missingFolders, pathExists, toFileError, wrapFileErrors } from './files.ts'
import {
  isUnchanged,
  refuseDuplicateFiles,
  resolvePlannedFile,
  withAbsolutePaths,
} from './planned-files.ts'
import type { RollbackDetails, World } from './record.ts'
import { findState, stateFolder } from './records/state-folder.ts'

/**
 * Checks whether a plan could be applied, without writing anything, before the user is asked.
 *
 * @param rollback a rollback's details, which decide the permissions
 * @returns warnings for the user
 * @throws UserError `config-conflict`, `not-permitted`, `io-failed`, as `applyPlan` would
 */
export function checkPlannedFiles(
  world: World,
  requestedPlan: Plan,
  { rollback }: { readonly rollback?: RollbackDetails } = {},
): Finding[] {
  const { files, machine } = world
  const edits = withAbsolutePaths(world, requestedPlan).edits.filter((edit) => !isUnchanged(edit))
  if (edits.length === 0) return []

  expectWritableStateFolder(world)
  const planned = edits.map((edit) =>
    wrapFileErrors(machine, edit.path, () => {
      const result = resolvePlannedFile(world, edit, rollback)
      const { missingFolders: newFolders, realPath } = result.file
      expectWritableFolder(world, dirname(newFolders[0] ?? realPath))
      return result
    }),
  )
  refuseDuplicateFiles(world, planned)

  const rewritten = planned.filter(({ file }) => file.status !== undefined)
  if (machine.os === 'win32' || rewritten.length === 0 || files.canCopyAttributes()) return []
  const places = rewritten.map(({ edit }) => displayPath(machine, edit.path)).join(', ')

  return [
    compact({
      code: 'attributes-lost',
      severity: 'warning' as const,
      message: `repoint cannot keep access lists and extended attributes of ${places}`,
      hint: machine.os === 'linux' ? 'To keep them, install coreutils.' : undefined,
    }),
  ]
}

function expectWritableStateFolder(world: World): void {
  const { files, machine } = world
  const place = stateFolder(machine)

  try {
    const paths = findState(world)
    const missing = missingFolders(files, place)
    const folders = paths ? [paths.folder, paths.blobs] : [dirname(missing[0] ?? place)]
    for (const folder of folders) if (pathExists(files, folder)) expectWritableFolder(world, folder)
  } catch (error) {
    throw toFileError(machine, place, error)
  }
}

/** Throws the error that creating a file in `folder` would throw. */
function expectWritableFolder({ files }: World, folder: string): void {
  if (files.stat(folder).kind !== 'folder')
    throw Object.assign(new Error(`not a folder: ${folder}`), { code: 'ENOTDIR' })
  files.checkWritable(folder)
}
