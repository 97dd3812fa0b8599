/**
 * Plans and applies `repoint rollback`. The steps, with the values that each takes and returns:
 *
 *     1. read the records        World          ─▶  Runs            records/records.ts
 *     2. choose the runs         Runs           ─▶  Runs            undo/choose-runs.ts, undo/active-runs.ts
 *     3. undo them in memory     Runs, AllFiles ─▶  UndoPlan        undo/undo-runs.ts
 *          each client           its files      ─▶  UndoneClient    undo/undo-client.ts
 *          each file             FileHistory    ─▶  UndoneFile      undo/undo-file.ts
 *          its settings          FileHistory    ─▶  UndoneFile      undo/undo-settings.ts, edits/undo.ts
 *          safe?                 its files      ─▶  Situation[]     undo/run-situations.ts, undo/undo-safety.ts,
 *                                                                    commands/rollback/find-situations.ts
 *     4. make it a plan          UndoPlan       ─▶  RollbackPlan    here
 *     5. show and ask            RollbackPlan                       commands/rollback.ts
 *     6. apply and record        RollbackPlan   ─▶  ApplyResult     apply-plan.ts, like a setup
 *
 * A file has four versions: `before` the run, as the run has `written` it, as it is `now`, and the
 * `result`. `edits/compare-values.ts` compares the first three:
 *
 *     before     written    now                        result
 *     A          B          B                          A, byte for byte
 *     A          B          B, and x by others         A, and x
 *
 * docs/transaction.md follows two rollbacks and a redo through these steps.
 */
import { basename } from 'node:path'
import { compact } from '../compact.ts'
import { actionOf, type FileEdit, type Plan } from '../edits/types.ts'
import { samePath } from '../edits/values/paths.ts'
import { UserError } from '../errors.ts'
import { applyPlan } from './apply-plan.ts'
import { composeRun } from './compose-run.ts'
import { type AllFiles, filesOnDisk, withChanges } from './contents.ts'
import { displayPath, isInside } from './files.ts'
import type { PlannedFile } from './planned-files.ts'
import {
  type ApplyResult,
  type FileReport,
  isUndoOrRedo,
  type KeptSetting,
  type RecordedFile,
  type RollbackDetails,
  type RunRecord,
  type Runs,
  settingChange,
  type World,
} from './record.ts'
import { noFirstCopies, withFirstVersions } from './records/first-copies.ts'
import { listFirstCopies, listRuns } from './records/records.ts'
import { activeRuns, isSelected } from './undo/active-runs.ts'
import { heldBackIn, redo, undoAll, undoNewest, undoTo } from './undo/choose-runs.ts'
import type { UndoOptions } from './undo/undo-client.ts'
import type { UndoPlan } from './undo/undo-runs.ts'

export interface RollbackOptions extends UndoOptions {
  /** Absent: the newest run. */
  readonly which?: WhichRuns
  /**
   * Whether a recorded file belongs to the client's current installation. A second installation
   * (`CODEX_HOME`) has the same files in another folder. Not checked for a run that the user named.
   */
  readonly isHere?: ((file: RecordedFile) => boolean) | undefined
}

/** Which runs a rollback undoes. */
export type WhichRuns =
  | { readonly kind: 'newest' }
  /** This run, and every newer one of the same clients. */
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'newest-undo' }

/** What a rollback would do. `planRollback` creates it, a command shows it, `applyRollback` applies it. */
export interface RollbackPlan extends Plan, RollbackDetails {
  readonly kind: 'undo' | 'redo'
  /** The undone runs that have an effect, newest first. */
  readonly runs: Runs
  /** See `UndoPlan`. */
  readonly clientsLosingTables: readonly string[]
  readonly files: readonly FileReport[]
}

/**
 * Plans an undo of the newest run that still has an effect, of several runs, or of an earlier undo.
 *
 * @returns undefined if nothing is recorded, or nothing is left to undo
 * @throws UserError `usage` if there is no such run; `record-damaged` if the user may mean a run whose
 *   record is damaged; `backup-missing`; `config-invalid`, `config-conflict`, `not-permitted`
 */
export function planRollback(
  world: World,
  options: RollbackOptions = {},
): RollbackPlan | undefined {
  const { runs, damaged } = listRuns(world)
  const toFirstCopies = options.force && options.which?.kind === 'all'
  const firstCopies = toFirstCopies ? listFirstCopies(world) : noFirstCopies
  const allRuns = toFirstCopies ? withFirstVersions(firstCopies, runs) : runs
  const runsHere = allRuns.map((run) => withFilesHere(world, run, options))

  const now = filesOnDisk(world)
  const undoPlan = withHeldBack(planUndo(runsHere, now, options), runsHere, options)
  refuseIfDamaged(
    world,
    damaged.filter((path) => !firstCopies.runs.includes(idOf(path))),
    undoPlan,
    options,
  )

  return undoPlan && toRollbackPlan(now, undoPlan, runs[0]?.id)
}

/**
 * The settings that earlier undos held back and that are still as those left them, in the files of this installation.
 *
 * @param files absent: the files on the disk
 */
export function settingsHeldBack(
  world: World,
  options: Pick<RollbackOptions, 'clients' | 'isHere'>,
  files: AllFiles = filesOnDisk(world),
): readonly KeptSetting[] {
  const runs = listRuns(world).runs.map((run) => withFilesHere(world, run, options))
  return heldBackIn(runs, files, options.clients)
}

/** Applies what `planRollback` planned. @throws as `applyPlan` does */
export function applyRollback(world: World, rollbackPlan: RollbackPlan): ApplyResult {
  return applyPlan(world, rollbackPlan, { rollback: rollbackPlan })
}

/**
 * Plans the undo of a run that is not applied yet.
 *
 * @param plannedFiles the files of the plan, as they are before the run
 */
export function planUndoOf(
  world: World,
  plan: Plan,
  plannedFiles: readonly PlannedFile[],
): RollbackPlan | undefined {
  const { run } = composeRun(world, [], { plan, plannedFiles }).document
  const disk = filesOnDisk(world)
  for (const [index, { before, written }] of run.files.entries()) {
    const edit = plannedFiles[index]?.edit
    if (edit?.before && before) disk.copies.add(edit.before, before)
    if (edit?.after && written) disk.copies.add(edit.after, written)
  }

  const now = withChanges(disk, new Map(run.files.map(({ path, written }) => [path, written])))
  const undoPlan = undoNewest([run], now, {})
  return undoPlan && toRollbackPlan(now, undoPlan, run.id)
}

/** The runs of this installation that a rollback could undo, newest first. */
export function undoableRuns(
  world: World,
  options: Pick<RollbackOptions, 'clients' | 'isHere'>,
): Runs {
  const runs = listRuns(world).runs.map((run) => withFilesHere(world, run, options))
  return activeRuns(runs, options.clients)
}

/** The run without files of another home folder or another installation. */
function withFilesHere(
  { machine }: World,
  run: RunRecord,
  { which, isHere = () => true }: Pick<RollbackOptions, 'which' | 'isHere'>,
): RunRecord {
  const isOfInstallation = (file: RecordedFile) => which?.kind === 'run' || isHere(file)
  const isOfHome = ({ path }: RecordedFile) =>
    run.home === machine.home || !isInside(path, run.home)

  return { ...run, files: run.files.filter((file) => isOfInstallation(file) && isOfHome(file)) }
}

function planUndo(runs: Runs, now: AllFiles, options: RollbackOptions): UndoPlan | undefined {
  const { which = { kind: 'newest' }, clients } = options
  switch (which.kind) {
    case 'newest':
      return undoNewest(runs, now, options)
    case 'run':
      return undoTo(runs, findRun(runs, which.id, clients).id, now, options)
    case 'all':
      return undoAll(runs, now, options)
    case 'newest-undo':
      return redo(runs, now, options)
  }
}

/** `--original` also reports what earlier undos held back. */
function withHeldBack(
  plan: UndoPlan | undefined,
  runs: Runs,
  { which, clients }: RollbackOptions,
): UndoPlan | undefined {
  if (plan === undefined || which?.kind !== 'all') return plan
  const isNew = ({ file, path }: KeptSetting) =>
    plan.kept.every((kept) => kept.file !== file || !samePath(kept.path, path))
  return { ...plan, kept: [...plan.kept, ...heldBackIn(runs, plan.result, clients).filter(isNew)] }
}

function findRun(runs: Runs, id: string, clients?: readonly string[]): RunRecord {
  const isOfClients = ({ client }: RecordedFile) => isSelected(client, clients)
  const found = runs.find((run) => run.id === id && run.files.some(isOfClients))
  if (found === undefined)
    throw new UserError({
      code: 'usage',
      message: `repoint has recorded no run ${id}${clients ? ` of ${clients.join(' or ')}` : ''}`,
      hint: 'See the recorded runs: repoint rollback --list',
    })

  if (!isUndoOrRedo(found)) return found
  throw new UserError({
    code: 'usage',
    message: `Run ${id} is ${found.kind === 'undo' ? 'an undo' : 'a redo'}, not a change`,
    hint: found.kind === 'undo' ? 'repoint rollback --redo' : 'repoint rollback',
  })
}

/**
 * Refuses if a damaged record may belong to the run that the user means. Nobody can read which files
 * it is about, so it may be about any file.
 *
 * @param undoPlan the undo that skips the damaged records
 */
function refuseIfDamaged(
  { machine }: World,
  damaged: readonly string[],
  undoPlan: UndoPlan | undefined,
  options: RollbackOptions,
): void {
  const oldest = undoPlan?.runs.at(-1)
  const candidates = damaged.filter((path) => mayBeMeant(idOf(path), oldest?.id, options))
  if (candidates.length === 0) return

  const places = candidates.map((path) => displayPath(machine, path)).join(', ')

  throw new UserError({
    code: 'record-damaged',
    message: `Cannot read the record of ${oldest ? 'another' : 'a'} run, which may be the one you mean: ${places}`,
    hint: hintForDamagedRecord(oldest?.id, options),
  })
}

function idOf(record: string): string {
  return basename(record, '.json').slice('run-'.length)
}

/** What the user can do instead. `--run` cannot name an undo, so it is no way to redo one. */
function hintForDamagedRecord(oldestId: string | undefined, { which }: RollbackOptions): string {
  if (which?.kind === 'newest-undo')
    return 'Run the undone command again instead. To delete all records and copies: repoint forget --all'
  if (oldestId !== undefined) return `To undo an earlier run: repoint rollback --run ${oldestId}`
  return 'There is no other run to undo. To delete the record and its copies: repoint forget --all'
}

/**
 * Whether the user may mean a run that cannot be read. The first row that applies decides:
 *
 *     rollback --run ID              no: they named the run
 *     nothing is left to undo        yes
 *     rollback --original --force    if it is older, and no first copy is known: each file gets its first copy
 *     rollback --original            yes: it may be any of those to undo
 *     rollback                       if it is newer than the run to undo: it may be the newest
 *     rollback --redo                if it is newer than the undo: it may be the newest undo, or have
 *                                    written the same files
 *
 * @param oldestId of the runs to undo; undefined: nothing is left to undo
 */
function mayBeMeant(
  id: string,
  oldestId: string | undefined,
  { which, force }: RollbackOptions,
): boolean {
  if (which?.kind === 'run') return false
  if (oldestId === undefined) return true

  // IDs begin with the time of their run.
  const isNewer = id > oldestId
  if (which?.kind === 'all') return force ? !isNewer : true
  return isNewer
}

function toRollbackPlan(
  now: AllFiles,
  { runs, undoes, files, kept, clientsLosingTables, result }: UndoPlan,
  newestRunId: string | undefined,
): RollbackPlan | undefined {
  const oldest = runs.at(-1)
  if (oldest === undefined) return undefined

  // A rollback undoes runs or redoes undos, never both.
  const kind = oldest.kind === 'undo' ? 'redo' : 'undo'
  const edits = files.map((file) => rollbackEdit(file, now, result))
  const versions = files.flatMap(({ path }) => {
    const version = result.get(path)
    return version === null ? [] : [[path, version] as const]
  })

  return {
    kind,
    command: 'rollback',
    address: oldest.address,
    baseUrls: oldest.baseUrls,
    model: oldest.model,
    edits,
    runs,
    clientsLosingTables,
    files: edits.map((edit) => ({ path: edit.path, client: edit.client, action: actionOf(edit) })),
    undoes,
    kept,
    versions: new Map(versions),
    dropFolders: foldersToRemove(runs, files),
    newestRunId,
  }
}

function rollbackEdit(file: RecordedFile, now: AllFiles, result: AllFiles): FileEdit {
  const { client, path, format, scope, holdsSecret } = file
  const { copies } = result
  const before = now.get(path)
  const after = result.get(path)
  const document = copies.documentOf(file, after)
  const arePermissionsChanged = before !== null && after !== null && before.mode !== after.mode

  return compact({
    client,
    path,
    format,
    scope,
    holdsSecret,
    changes: file.settings.map((setting) => settingChange(setting, document?.get(setting.path))),
    before: copies.bytesOf(before),
    after: copies.bytesOf(after),
    mode: arePermissionsChanged ? after.mode : undefined,
  })
}

/** The folders that these runs created for one of the files. Parents come first. */
function foldersToRemove(runs: Runs, files: readonly RecordedFile[]): readonly string[] {
  const folders = new Set(runs.flatMap((run) => run.folders))
  const containsFile = (folder: string) => files.some(({ realPath }) => isInside(realPath, folder))
  return [...folders].filter(containsFile).sort()
}
