/** Checks a plan before the user confirms it. `applyPlan` checks its files again. */
import { dirname } from 'node:path'
import { compact } from '../compact.ts'
import { type Bytes, type FileEdit, type Plan, sameBytes } from '../edits/types.ts'
import { UserError, valueOrError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { displayPath, missingFolders, pathExists, toFileError, wrapFileErrors } from './files.ts'
import { expectUnlocked } from './lock.ts'
import { planUndoOf } from './plan-rollback.ts'
import {
  isUnchanged,
  type PlannedFile,
  permissionsOf,
  planFile,
  refuseDuplicateFiles,
  resolvePlannedFile,
  resolveUnchangedFile,
  withAbsolutePaths,
} from './planned-files.ts'
import type { RollbackDetails, World } from './record.ts'
import { findState, stateFolder, statePaths } from './records/state-folder.ts'

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
  const plan = withAbsolutePaths(world, requestedPlan)
  const edits = plan.edits.filter((edit) => !isUnchanged(edit))
  if (edits.length === 0) return []

  expectStateFolder(
    world,
    edits.flatMap(({ before, after }) => [before, after]),
  )
  const planned = edits.map((edit) => expectReplaceable(world, edit, rollback))
  refuseDuplicateFiles(world, planned)
  if (rollback === undefined) refuseWithoutUndo(world, plan, planned)

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

/**
 * Refuses a run that `rollback` could not undo afterwards: it must restore each file, with its permissions.
 *
 * @param planned the files that the run changes
 */
function refuseWithoutUndo(world: World, plan: Plan, planned: readonly PlannedFile[]): void {
  const plannedFiles = plan.edits.map(
    (edit) =>
      planned.find((file) => file.edit === edit) ??
      resolveUnchangedFile(world, { ...edit, before: edit.after }),
  )
  const undo = planUndoOf(world, plan, plannedFiles)

  for (const { edit, file } of planned) {
    const shownPath = displayPath(world.machine, edit.path)
    const undoEdit = undo?.edits.find(({ path }) => path === edit.path)
    const undone = undoEdit && valueOrError(() => planFile(world, undoEdit, file, undo))
    if (undone instanceof UserError)
      throw new UserError({
        code: 'not-permitted',
        message: `rollback could not undo this in ${shownPath}: ${undone.message}`,
        hint: undone.hint,
        cause: undone,
      })

    const isRestored =
      undoEdit !== undefined &&
      sameBytes(undoEdit.after, edit.before) &&
      (file.status === undefined || undone?.mode === permissionsOf(file.status))
    if (!isRestored)
      throw new UserError({
        code: 'not-permitted',
        message: `rollback could not restore ${shownPath} after this`,
        hint: 'Move the file away, then run the same command again. This is an error of repoint: please report it.',
      })
  }
}

/** Why a run could not replace a file, whatever it plans. Undefined: nothing is in the way. */
export function whyNotReplaceable(
  world: World,
  { path, holdsSecret, bytes }: Pick<FileEdit, 'path' | 'holdsSecret'> & { bytes: Bytes | null },
): UserError | undefined {
  const edit = { client: '', path, holdsSecret, format: 'json', scope: 'keys' } as const
  const error = valueOrError(() =>
    expectReplaceable(world, { ...edit, changes: [], before: bytes, after: bytes }, undefined),
  )
  return error instanceof UserError ? error : undefined
}

/** @throws UserError `config-conflict`, `not-permitted`, `io-failed`, as `applyPlan` would */
function expectReplaceable(
  world: World,
  edit: FileEdit,
  rollback: RollbackDetails | undefined,
): PlannedFile {
  return wrapFileErrors(world.machine, edit.path, () => {
    const planned = resolvePlannedFile(world, edit, rollback)
    const { missingFolders: newFolders, realPath } = planned.file
    const folder = dirname(newFolders[0] ?? realPath)
    expectWritableFolder(world, folder)
    expectRoom(world, folder, sizeOnDisk(edit.after))
    return planned
  })
}

/** Why repoint could not record a run now, whatever it plans. Undefined: it could. */
export function whyNoRecords(world: World): UserError | undefined {
  const error = valueOrError(() => expectStateFolder(world, []))
  return error instanceof UserError ? error : undefined
}

/**
 * @param contents the contents of which the run keeps a copy
 * @throws UserError `locked`, `disk-full`, `not-permitted`, `config-conflict`, `io-failed`
 */
function expectStateFolder(world: World, contents: readonly (Bytes | null)[]): void {
  const { files, machine } = world
  const place = stateFolder(machine)

  try {
    const paths = findState(world)
    const missing = missingFolders(files, place)
    const folders = paths ? [paths.folder, paths.blobs] : [dirname(missing[0] ?? place)]
    for (const folder of folders) if (pathExists(files, folder)) expectWritableFolder(world, folder)

    // The copies are compressed. Each needs a block at least.
    const copies = contents.filter((content) => content !== null).length
    expectRoom(world, folders[0]!, blockBytes * (copies + recordBlocks))
  } catch (error) {
    const failure = toFileError(machine, place, error)
    if (!(failure instanceof UserError) || !isAboutPlace(failure)) throw failure
    const hint = `${failure.hint} Or set REPOINT_STATE_DIR to a folder that you can write.`
    throw failure.with({ hint })
  }
  expectUnlocked(world, statePaths(machine))
}

/** Whether another state folder helps, and the error does not say so. */
function isAboutPlace({ code, hint }: UserError): boolean {
  const isPlace = code === 'not-permitted' || code === 'disk-full'
  return isPlace && hint?.includes('REPOINT_STATE_DIR') !== true
}

/** How a file system rounds the size of a file up. Most have this size. */
const blockBytes = 4096

/** The blocks of a record, and of the journal before it. */
const recordBlocks = 2

function sizeOnDisk(bytes: Bytes | null): number {
  return Math.ceil((bytes?.length ?? 0) / blockBytes) * blockBytes
}

/** @throws UserError `disk-full` if so many bytes certainly do not fit into the folder */
function expectRoom({ files, machine }: World, folder: string, bytes: number): void {
  const free = files.freeBytes(folder)
  if (free === undefined || free >= bytes) return
  const error = Object.assign(new Error('ENOSPC: measured before writing'), { code: 'ENOSPC' })
  throw toFileError(machine, folder, error)
}

/** @throws UserError that names the folder if nothing can be created in it */
function expectWritableFolder({ files, machine }: World, folder: string): void {
  if (files.stat(folder).kind !== 'folder')
    throw Object.assign(new Error(`not a folder: ${folder}`), { code: 'ENOTDIR' })
  wrapFileErrors(machine, folder, () => files.checkWritable(folder))
}
