import { dirname, resolve } from 'node:path'
import { compact } from '../compact.ts'
import { actionOf, type FileEdit, type Plan, sameBytes } from '../edits/plan.ts'
import { resultOf, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { FileStatus } from '../platform/platform.ts'
import {
  createDurably,
  fileFailure,
  isThere,
  makeFolders,
  missingFolders,
  randomName,
  removeEmptyFolders,
  sha256Of,
  shownPath,
  withFilesState,
  wrapFileErrors,
} from './files.ts'
import { withLock } from './lock.ts'
import { prune } from './prune.ts'
import {
  type Applied,
  encodeDocument,
  type FileVersion,
  isWritten,
  type KeptSetting,
  type RecordedFile,
  type RunDocument,
  type RunPart,
  type RunRecord,
  recordedSetting,
  tempOf,
  type World,
} from './record.ts'
import { clearStage, fileNow, restore, switchFile, writeTemp } from './restore.ts'
import {
  findState,
  nextRunId,
  openState,
  readRuns,
  recordNames,
  type StatePaths,
  stateFolder,
  writeBlobs,
} from './state.ts'
import { findTarget, readIfThere, refuseAsRoot, type TargetFile } from './target.ts'

/** What a rollback adds to a plan. */
export interface Restoring {
  readonly kind: 'undo' | 'redo'
  readonly undoes: readonly RunPart[]
  readonly kept: readonly KeptSetting[]
  /** Each file as the plan leaves it, by path: modes and owners come from there. */
  readonly versions: ReadonlyMap<string, FileVersion | null>
  readonly dropFolders: readonly string[]
  /** The newest run when the rollback was planned. */
  readonly newestRun: string | undefined
}

/** One edit, and where. */
interface Change {
  readonly edit: FileEdit
  readonly target: TargetFile
  readonly mode: number
}

export interface ApplyOptions {
  readonly restoring?: Restoring
  /** Reads the files back, under the lock, so that no other run can change them first. */
  readonly readBack?: () => void
  /**
   * The last step, after the commit. It reports its failures as notices, so it fails no run. It gets
   * `locked` if it runs under the lock; a run that changes no file takes no lock.
   */
  readonly lastStep?: ((locked?: StatePaths) => readonly Finding[]) | undefined
}

/**
 * Carries out a plan: all of its files switch, or none. docs/transaction.md has the steps.
 *
 * @throws UserError `locked`, `changed-underneath`, `config-conflict`, `not-permitted`, `disk-full`,
 *   `io-failed`; its `files` is the state of the files
 */
export function applyPlan(world: World, given: Plan, options: ApplyOptions = {}): Applied {
  const plan = withAbsolutePaths(world, given)
  const { restoring, readBack, lastStep } = options
  if (plan.edits.every(isUnchanged) && restoring === undefined)
    return asApplied(plan, undefined, lastStep?.())

  const paths = openState(world)
  return withLock(world, paths, () => {
    restore(world, paths)
    const { changes, unchanged } = findChanges(world, paths, plan, restoring)
    if (changes.length === 0) {
      // Even if it changes nothing, an undo counts: the next one goes one run further back.
      const isNews = restoring !== undefined && restoring.newestRun === newestRun(world, paths)
      const run = isNews ? recordOnly(world, paths, plan, unchanged, restoring) : undefined
      return asApplied(plan, run, lastStep?.(paths))
    }

    const all = inOrderOf(plan, [...changes, ...unchanged])
    const document = composeDocument(world, paths, plan, all, restoring)
    switchAll(world, paths, document, all)

    readBack?.()
    prune(world, paths)
    return asApplied(plan, document.run, lastStep?.(paths))
  })
}

/**
 * Records files as they are, without writing them: what others have changed there is meant from now on.
 *
 * @param plan of edits that change nothing
 * @throws UserError `locked`, `config-conflict`, `not-permitted`, `disk-full`, `io-failed`
 */
export function acceptDrift(world: World, plan: Plan): void {
  const paths = openState(world)
  withLock(world, paths, () => {
    restore(world, paths)
    const found = plan.edits.map((edit) => unchangedFile(world, edit))
    recordOnly(world, paths, plan, found)
  })
}

/** Records a run that writes no file. Needs the lock. */
function recordOnly(
  world: World,
  paths: StatePaths,
  plan: Plan,
  unchanged: readonly Change[],
  restoring?: Restoring,
): RunRecord {
  const { files } = world
  const document = composeDocument(world, paths, plan, unchanged, restoring)
  wrapFileErrors(world.machine, paths.draft, () => {
    writeBlobs(world, paths, copiesFor(unchanged))
    createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
    files.rename(paths.draft, paths.record(document.run.id))
    files.fsyncFolder(paths.folder)
  })
  prune(world, paths)
  return document.run
}

/**
 * From the draft to the record. The rename of the journal to the record commits the run; whatever
 * fails before it has never been.
 */
function switchAll(
  world: World,
  paths: StatePaths,
  document: RunDocument,
  changes: readonly Change[],
): void {
  const { files, machine } = world
  const { run, temps, dropFolders } = document
  let place = paths.draft
  /** What to do first where the disk cannot say whether the commit is durable. */
  let uncommit: (() => void) | undefined

  try {
    createDurably(files, paths.draft, encodeDocument(document), { mode: 0o600 })
    files.fsyncFolder(paths.folder)
    place = paths.blobs
    writeBlobs(world, paths, copiesFor(changes))
    for (const folder of run.folders) {
      place = folder
      makeFolders(files, [folder])
    }
    for (const [index, file] of run.files.entries()) {
      place = file.path
      const after = changes[index]?.edit.after ?? null
      if (after !== null && isWritten(file)) stage(world, document, file, after)
    }

    place = paths.journal
    files.rename(paths.draft, paths.journal)
    files.fsyncFolder(paths.folder)
    for (const file of run.files.filter(isWritten)) {
      place = file.path
      if (fileNow(world, file) !== 'old') throw changedNow(world, file)
      switchFile(world, file, tempOf(document, file))
    }

    place = paths.journal
    for (const temp of temps) clearStage(world, temp)
    removeEmptyFolders(files, dropFolders)
    files.rename(paths.journal, paths.record(run.id))
    uncommit = () => files.rename(paths.record(run.id), paths.journal)
    files.fsyncFolder(paths.folder)
  } catch (error) {
    throw goBack(world, paths, fileFailure(machine, place, error), uncommit)
  }
}

function copiesFor(changes: readonly Change[]): Uint8Array[] {
  return changes.flatMap(({ edit }) => [edit.before, edit.after]).filter((bytes) => bytes !== null)
}

/** Does all that can fail for want of room or of rights. What is left then is renaming. */
function stage(world: World, document: RunDocument, file: RecordedFile, bytes: Uint8Array): void {
  const isRestored = document.run.kind !== 'change'
  const isComplete = writeTemp(world, file, tempOf(document, file), { bytes, isRestored })
  if (isComplete || !world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `${shownPath(world.machine, file.path)} has access lists or extended attributes that could not be copied`,
    hint: 'See them with getfacl and getfattr; without them the file can be switched.',
  })
}

/** What went wrong, once the files are as they were before; or how they stand where that failed too. */
function goBack(
  world: World,
  paths: StatePaths,
  failure: unknown,
  uncommit: (() => void) | undefined,
): unknown {
  try {
    uncommit?.()
  } catch {
    return withFilesState(failure, 'changed')
  }

  try {
    const left = restore(world, paths)?.left ?? []
    return left.length === 0 ? failure : withFilesState(failure, 'unknown')
  } catch (error) {
    return error instanceof UserError ? withFilesState(failure, error.files) : error
  }
}

function changedNow(world: World, file: RecordedFile): UserError {
  return new UserError({
    code: 'changed-underneath',
    message: `${shownPath(world.machine, file.path)} was changed by another program during this run`,
    hint: 'Run the same command again.',
  })
}

/** A record names absolute paths only. */
function withAbsolutePaths({ machine }: World, plan: Plan): Plan {
  const edits = plan.edits.map((edit) => ({ ...edit, path: resolve(machine.cwd, edit.path) }))
  return { ...plan, edits }
}

/** Whether the edit is already so. */
function isUnchanged({ before, after, mode }: FileEdit): boolean {
  return mode === undefined && sameBytes(before, after)
}

/**
 * The edits that change a file, and those that do not: they are recorded too.
 *
 * @throws UserError `changed-underneath`, `locked`, `config-conflict`, `not-permitted`, `io-failed`
 */
function findChanges(
  world: World,
  paths: StatePaths,
  plan: Plan,
  restoring: Restoring | undefined,
): { readonly changes: readonly Change[]; readonly unchanged: readonly Change[] } {
  const changes: Change[] = []
  const unchanged: Change[] = []
  for (const edit of plan.edits) {
    try {
      if (isUnchanged(edit)) {
        unchanged.push(unchangedFile(world, edit))
        continue
      }
      const change = changeOf(world, edit, restoring)
      const now = readIfThere(world.files, world.machine, change.target.realPath)
      // Another program, most likely another run, has already written the same.
      if (sameBytes(now, edit.after) && hasMode(edit, change.target)) {
        unchanged.push(unchangedFile(world, { ...edit, before: edit.after }))
        continue
      }
      if (!sameBytes(now, edit.before)) throw changedUnderneath(world, paths, edit, now)
      changes.push(change)
    } catch (error) {
      throw fileFailure(world.machine, edit.path, error)
    }
  }
  refuseSameFile(world, changes)

  return { changes, unchanged }
}

/** A file that a run leaves as it is. It need not be one that could be written. */
function unchangedFile({ files, machine }: World, edit: FileEdit): Change {
  const found = resultOf(() => findTarget(files, machine, edit.path))
  const target =
    found instanceof UserError
      ? { realPath: edit.path, status: undefined, missingFolders: [] }
      : { ...found, missingFolders: [] }
  return { edit, target, mode: target.status ? permissionsOf(target.status) : 0o600 }
}

function newestRun(world: World, paths: StatePaths): string | undefined {
  return readRuns(world, paths).runs[0]?.id
}

function hasMode({ mode }: FileEdit, { status }: TargetFile): boolean {
  return mode === undefined || (status !== undefined && (status.mode & 0o777) === mode)
}

/** @throws UserError `config-conflict`, `not-permitted`; Node's own errors */
function changeOf(world: World, edit: FileEdit, restoring: Restoring | undefined): Change {
  const { files, machine, processes } = world
  const target = findTarget(files, machine, edit.path)
  refuseAsRoot(world, edit.path, target.realPath)
  const uid = target.status?.uid ?? processes.uid
  if (machine.os !== 'win32' && uid !== processes.uid)
    throw new UserError({
      code: 'not-permitted',
      message: `${shownPath(machine, edit.path)} belongs to another user, and only that user can keep it so`,
      hint: 'Run repoint as that user, or give the file to yourself.',
    })

  refuseReadOnlyMark(world, edit, target)
  const mode = modeAfter(edit, target.status, restoring?.versions.get(edit.path))
  refuseMask(world, edit, target, mode)

  return { edit, target, mode }
}

/** Windows puts no other file in the place of one that is marked read-only. */
function refuseReadOnlyMark({ machine }: World, edit: FileEdit, { status }: TargetFile): void {
  if (machine.os !== 'win32' || status === undefined || (status.mode & 0o200) !== 0) return
  throw new UserError({
    code: 'not-permitted',
    message: `${shownPath(machine, edit.path)} is marked read-only`,
    hint: `Take the mark away, then run the same command again: attrib -R "${edit.path}"`,
  })
}

/** Beside an access list the group bits are its mask: alone they would be rights of the group. */
function refuseMask(world: World, edit: FileEdit, target: TargetFile, mode: number): void {
  const isMoreThanAll = ((mode >> 3) & ~mode & 0o7) !== 0
  if (!isMoreThanAll || world.machine.os !== 'linux' || target.status === undefined) return
  if (world.files.canCopyAttributes()) return
  throw new UserError({
    code: 'not-permitted',
    message: `${shownPath(world.machine, edit.path)} lets its group do more than everybody, and whether an access list says so cannot be told without the cp of coreutils`,
    hint: `Install coreutils, or take the group's rights away: chmod g=o ${edit.path}`,
  })
}

function refuseSameFile({ machine }: World, changes: readonly Change[]): void {
  const again = changes.find(({ target }, index) =>
    changes.slice(0, index).some((one) => one.target.realPath === target.realPath),
  )
  if (again === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${shownPath(machine, again.edit.path)} and another file of this run are one and the same behind their links`,
    hint: 'Give each of them a file of its own, then run the same command again.',
  })
}

function changedUnderneath(
  world: World,
  paths: StatePaths,
  edit: FileEdit,
  now: Uint8Array | null,
): UserError {
  const place = shownPath(world.machine, edit.path)
  const sha256 = now && sha256Of(now)
  const writer = readRuns(world, paths).runs.find((run) =>
    run.files.some(({ path }) => path === edit.path),
  )
  const written = writer?.files.find(({ path }) => path === edit.path)

  if (writer && written && (written.after?.sha256 ?? null) === sha256)
    return new UserError({
      code: 'locked',
      message: `Another run of repoint (${writer.id}) changed ${place} while this one was being prepared`,
      hint: 'Run the same command again.',
    })

  return new UserError({
    code: 'changed-underneath',
    message: `${place} was changed by another program while this run was being prepared`,
    hint: 'Run the same command again.',
  })
}

/**
 * Looks whether a plan could be carried out, as far as that can be known without writing: before a
 * person is asked. What is wrong is thrown as `applyPlan` would throw it.
 *
 * @returns what a person should know before agreeing
 * @throws UserError `config-conflict`, `not-permitted`, `io-failed`
 */
export function checkTargets(world: World, given: Plan): Finding[] {
  const { files, machine } = world
  const edits = withAbsolutePaths(world, given).edits.filter((edit) => !isUnchanged(edit))
  if (edits.length === 0) return []

  checkStatePlace(world)
  const changes = edits.map((edit) =>
    wrapFileErrors(machine, edit.path, () => {
      const change = changeOf(world, edit, undefined)
      checkFolder(world, dirname(change.target.missingFolders[0] ?? change.target.realPath))
      return change
    }),
  )
  refuseSameFile(world, changes)

  const rewritten = changes.filter(({ target }) => target.status !== undefined)
  if (machine.os === 'win32' || rewritten.length === 0 || files.canCopyAttributes()) return []
  const places = rewritten.map(({ edit }) => shownPath(machine, edit.path)).join(', ')
  return [
    compact({
      code: 'attributes-lost',
      message: `Access lists and extended attributes, where there are any, are not kept: ${places}`,
      hint: machine.os === 'linux' ? 'They are kept where coreutils is installed.' : undefined,
    }),
  ]
}

function checkStatePlace(world: World): void {
  const { files, machine } = world
  const place = stateFolder(machine)
  try {
    const paths = findState(world)
    const missing = missingFolders(files, place)
    const folders = paths ? [paths.folder, paths.blobs] : [dirname(missing[0] ?? place)]
    for (const folder of folders) if (isThere(files, folder)) checkFolder(world, folder)
  } catch (error) {
    throw fileFailure(machine, place, error)
  }
}

/** Throws what creating a file in `folder` would. */
function checkFolder({ files }: World, folder: string): void {
  if (files.stat(folder).kind !== 'folder')
    throw Object.assign(new Error(`not a folder: ${folder}`), { code: 'ENOTDIR' })
  files.checkWritable(folder)
}

/** The run as it will be recorded, with places for the new files. Nothing is written yet. */
function composeDocument(
  world: World,
  paths: StatePaths,
  plan: Plan,
  changes: readonly Change[],
  restoring: Restoring | undefined,
): RunDocument {
  const now = world.clock.now()
  const files = changes.map((change) => recordedFile(change, plan, restoring))
  const folders = changes.flatMap(({ target }) => target.missingFolders)
  const written = files.filter(isWritten)

  const run: RunRecord = compact({
    id: nextRunId(now, recordNames(world, paths)),
    at: now.toISOString(),
    home: world.machine.home,
    kind: restoring?.kind ?? ('change' as const),
    command: plan.command,
    clients: [...new Set((written.length > 0 ? written : files).map(({ client }) => client))],
    baseUrl: plan.baseUrl,
    baseUrls: plan.baseUrls,
    model: plan.model,
    undoes: restoring?.undoes,
    kept: restoring?.kept,
    files,
    folders: [...new Set(folders)],
  })

  return {
    run,
    temps: files.map(
      ({ realPath }) => `${dirname(realPath)}/.repoint-${randomName()}/${randomName()}`,
    ),
    dropFolders: restoring?.dropFolders ?? [],
  }
}

/** The order of a plan says which file a secret must reach first. */
function inOrderOf({ edits }: Plan, changes: readonly Change[]): readonly Change[] {
  const indexOf = ({ edit }: Change) => edits.findIndex(({ path }) => path === edit.path)
  return changes.toSorted((one, other) => indexOf(one) - indexOf(other))
}

function recordedFile(
  { edit, target, mode }: Change,
  plan: Plan,
  restoring: Restoring | undefined,
): RecordedFile {
  const { status, realPath } = target
  const { client, path, format, scope, holdsSecret, changes, before, after } = edit
  const owner = status ?? restoring?.versions.get(path) ?? { uid: -1, gid: -1 }
  const found = status ?? { mode, ...owner }

  return {
    client,
    path,
    realPath,
    format,
    scope,
    holdsSecret,
    settings: changes.map((change) => recordedSetting(change, edit, plan)),
    before: before && asVersion(before, permissionsOf(found), found),
    after: after && asVersion(after, mode, owner),
  }
}

function asVersion(
  bytes: Uint8Array,
  mode: number,
  { uid, gid }: Pick<FileStatus, 'uid' | 'gid'>,
): FileVersion {
  return { sha256: sha256Of(bytes), mode, uid, gid }
}

/** Permissions only: setuid, setgid and the sticky bit mean nothing on a configuration. */
function permissionsOf({ mode }: Pick<FileStatus, 'mode'>): number {
  return mode & 0o777
}

/**
 * The mode stays; only a file that a setup writes a secret into is closed to others. A rollback gives
 * the file the mode that its plan names.
 *
 * @param restored the file as a rollback leaves it
 */
function modeAfter(
  edit: FileEdit,
  status: FileStatus | undefined,
  restored: FileVersion | null | undefined,
): number {
  if (restored) return restored.mode
  if (status === undefined) return edit.holdsSecret ? 0o600 : 0o644
  if (edit.mode !== undefined) return edit.mode
  const now = permissionsOf(status)
  return edit.holdsSecret && restored === undefined ? now & ~0o077 : now
}

function asApplied(
  plan: Plan,
  run: RunRecord | undefined,
  notices: readonly Finding[] = [],
): Applied {
  return {
    run,
    notices,
    files: plan.edits.map((edit) => {
      const recorded = run?.files.find(({ path }) => path === edit.path)
      const note = recorded && noteOn(recorded, run?.kind !== 'change')
      return compact({
        path: edit.path,
        client: edit.client,
        action: recorded && isWritten(recorded) ? actionOf(edit) : 'unchanged',
        note,
      })
    }),
  }
}

function noteOn({ before, after }: RecordedFile, isRollback: boolean): string | undefined {
  if (!before || !after || before.mode === after.mode || isRollback) return undefined
  const octal = (mode: number) => mode.toString(8).padStart(4, '0')
  return `Its mode was ${octal(before.mode)} and is now ${octal(after.mode)}, because the key stands in it.`
}
