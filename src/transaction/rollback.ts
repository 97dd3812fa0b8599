import { basename } from 'node:path'
import { compact } from '../compact.ts'
import { actionOf, type Bytes, type FileEdit, type Plan, type SettingPath } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { applyPlan, type RollbackDetails } from './apply.ts'
import { displayPath, isInside, wrapFileErrors } from './files.ts'
import {
  type ApplyResult,
  type FileOutcome,
  type FileVersion,
  type KeptSetting,
  type RecordedFile,
  type RunRecord,
  type Runs,
  settingChange,
  type World,
} from './record.ts'
import { listRuns, readBlob } from './state.ts'
import { findTarget, readIfExists } from './target.ts'
import { Copies } from './undo/copies.ts'
import {
  activeRuns,
  redo,
  type Stack,
  type StackPlan,
  undoAll,
  undoLatest,
  undoTo,
} from './undo/stack.ts'
import { isConnection } from './undo/undo-file.ts'
import {
  type Contents,
  isRedirected,
  type UndoOptions,
  type UndoProblem,
  undoRun,
} from './undo/undo-run.ts'

export interface RollbackOptions {
  /** Only the files of these clients. */
  readonly clients?: readonly string[] | undefined
  /** Undoes this run and every newer one of the same clients. */
  readonly run?: string | undefined
  /** Undoes every run. */
  readonly original?: boolean | undefined
  /** Undoes the newest undo instead. */
  readonly redo?: boolean | undefined
  /** Restores the copies, even if someone changed the files since. */
  readonly force?: boolean | undefined
  /**
   * Whether a recorded file belongs to the client's current installation. A second installation
   * (`CODEX_HOME`) has the same files in another folder. Not checked if `run` is given.
   */
  readonly isHere?: ((file: RecordedFile) => boolean) | undefined
  /** Reports what an undo would break for a client. */
  readonly problemAfter?: ProblemAfter | undefined
}

/**
 * @param after the contents of the files after an undo, by path
 * @param before their contents without the undo
 */
export type ProblemAfter = (
  client: string,
  after: ReadonlyMap<string, Bytes | null>,
  before: ReadonlyMap<string, Bytes | null>,
) => UndoProblem | undefined

/** What a rollback would do. `planRollback` creates it, a command shows it, `applyRollback` applies it. */
export interface RollbackPlan {
  readonly isRedo: boolean
  /** The undone runs that have an effect, newest first. */
  readonly runs: readonly [RunRecord, ...RunRecord[]]
  readonly kept: readonly KeptSetting[]
  /** Clients that lose a whole table, including what others wrote into it. */
  readonly removedTables: readonly string[]
  readonly plan: Plan
  readonly files: readonly RollbackFile[]
  readonly details: RollbackDetails
}

interface RollbackFile extends FileOutcome {
  /** The settings that stay. The empty path is the whole file. */
  readonly kept: readonly SettingPath[]
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
  const stack = runs.map((run) => withFilesHere(world, run, options)).toReversed()
  const copies = new Copies((sha256) => readBlob(world, sha256))
  const contents = currentContents(world, copies)
  const undoOptions: UndoOptions = {
    copies,
    force: options.force,
    clients: options.clients,
    problemAfter: problemCheck(copies, options.problemAfter),
  }

  const stackPlan = findPlan(stack, contents, undoOptions, options)
  refuseIfDamaged(world, damaged, stackPlan, options)

  return stackPlan && toRollbackPlan(copies, contents, stackPlan, runs[0]?.id)
}

/** The runs of this installation that a rollback could undo, newest first. */
export function undoableRuns(
  world: World,
  options: Pick<RollbackOptions, 'clients' | 'isHere'>,
): Runs {
  const runs = listRuns(world).runs.map((run) => withFilesHere(world, run, options))
  return activeRuns(runs.toReversed(), options.clients).toReversed()
}

function findPlan(
  stack: Stack,
  contents: Contents,
  undo: UndoOptions,
  { run, original, redo: isRedo }: RollbackOptions,
): StackPlan | undefined {
  if (isRedo) return redo(stack, contents, undo)
  if (original) return undoAll(stack, contents, undo)
  if (run === undefined) return undoLatest(stack, contents, undo)

  return undoTo(stack, findRun(stack, run, undo.clients).id, contents, undo)
}

function findRun(stack: Stack, id: string, clients?: readonly string[]): RunRecord {
  const isSelected = ({ client }: RecordedFile) => clients?.includes(client) ?? true
  const found = stack.find((run) => run.id === id && run.files.some(isSelected))
  if (found === undefined)
    throw new UserError({
      code: 'usage',
      message: `repoint has recorded no run ${id}${clients ? ` of ${clients.join(' or ')}` : ''}`,
      hint: 'See the recorded runs: repoint rollback --list',
    })

  if (found.kind === 'change') return found
  throw new UserError({
    code: 'usage',
    message: `Run ${id} is ${found.kind === 'undo' ? 'an undo' : 'a redo'}, not a change`,
    hint: found.kind === 'undo' ? 'repoint rollback --redo' : 'repoint rollback',
  })
}

/** The run without files of another home folder or another installation. */
function withFilesHere(
  { machine }: World,
  run: RunRecord,
  options: Pick<RollbackOptions, 'run' | 'isHere'>,
): RunRecord {
  const { isHere = () => true } = options
  const files = run.files.filter(
    (file) =>
      (options.run !== undefined || isHere(file)) &&
      (run.home === machine.home || !isInside(file.path, run.home)),
  )
  return { ...run, files }
}

/**
 * Refuses if a damaged record may belong to the run that the user means. Nobody can read which files
 * it is about, so it may contain a newer change of any file.
 *
 * @param stackPlan the undo that skips the damaged records
 */
function refuseIfDamaged(
  { machine }: World,
  damaged: readonly string[],
  stackPlan: StackPlan | undefined,
  { run, original, force }: RollbackOptions,
): void {
  if (run !== undefined) return
  const undone = stackPlan?.runs.at(-1)
  const mayBeMeant = (id: string) => {
    if (undone === undefined) return true
    // The copies from before the oldest run do not depend on later runs.
    return original && force ? id < undone.id : original || id > undone.id
  }
  const idOf = (path: string) => basename(path, '.json').slice('run-'.length)
  const candidates = damaged.filter((path) => mayBeMeant(idOf(path)))
  if (candidates.length === 0) return
  const places = candidates.map((path) => displayPath(machine, path)).join(', ')

  throw new UserError({
    code: 'record-damaged',
    message: `Cannot read the record of ${undone ? 'another' : 'a'} run, which may be the one you mean: ${places}`,
    hint: undone
      ? `To undo an earlier run: repoint rollback --run ${undone.id}`
      : 'There is no other run to undo. To delete the record and its copies: repoint forget --all',
  })
}

// ---------------------------------------------------------------- files

/** The current files. Each is read once, when it is needed. */
function currentContents(world: World, copies: Copies): Contents {
  const versions = new Map<string, FileVersion | null>()
  return {
    changes: new Map(),
    get: (path) => {
      if (!versions.has(path)) versions.set(path, readCurrentVersion(world, copies, path))
      return versions.get(path) ?? null
    },
  }
}

function readCurrentVersion(world: World, copies: Copies, path: string): FileVersion | null {
  const { files, machine } = world
  return wrapFileErrors(machine, path, () => {
    const { realPath, status } = findTarget(files, machine, path)
    const bytes = status && readIfExists(files, machine, realPath)
    return bytes ? copies.add(bytes, { ...status, mode: status.mode & 0o777 }) : null
  })
}

function problemCheck(
  copies: Copies,
  problemAfter: ProblemAfter | undefined,
): UndoOptions['problemAfter'] {
  if (problemAfter === undefined) return undefined
  return (client, after, before) => {
    const paths = [...after.changes.keys()]
    const bytesIn = (contents: Contents) =>
      new Map(paths.map((path) => [path, copies.bytesOf(contents.get(path))]))
    return problemAfter(client, bytesIn(after), bytesIn(before))
  }
}

function toRollbackPlan(
  copies: Copies,
  contents: Contents,
  { runs, undoes, files, kept, removedTables, contents: after }: StackPlan,
  newestRunId: string | undefined,
): RollbackPlan {
  const [newest] = runs
  const target = runs.at(-1) as RunRecord
  const edits = files.map((file) => rollbackEdit(copies, file, contents, after))

  return {
    isRedo: target.kind === 'undo',
    runs: runs as RollbackPlan['runs'],
    kept,
    removedTables,
    plan: {
      command: 'rollback',
      baseUrl: target.baseUrl,
      baseUrls: target.baseUrls,
      model: target.model,
      edits,
    },
    files: edits.map((edit) => ({
      path: edit.path,
      client: edit.client,
      action: actionOf(edit),
      kept: kept.filter(({ file }) => file === edit.path).map((setting) => setting.path),
    })),
    details: {
      kind: newest?.kind === 'undo' ? 'redo' : 'undo',
      undoes,
      kept,
      versions: new Map(files.map(({ path }) => [path, after.get(path)])),
      dropFolders: foldersToRemove(runs, files),
      newestRunId,
    },
  }
}

function rollbackEdit(
  copies: Copies,
  file: RecordedFile,
  contents: Contents,
  result: Contents,
): FileEdit {
  const { client, path, format, scope, holdsSecret } = file
  const [now, then] = [contents.get(path), result.get(path)]
  const document = copies.documentOf(file, then)
  const isModeChanged = now !== null && then !== null && now.mode !== then.mode

  return compact({
    client,
    path,
    format,
    scope,
    holdsSecret,
    changes: file.settings.map((setting) => settingChange(setting, document?.get(setting.path))),
    before: copies.bytesOf(now),
    after: copies.bytesOf(then),
    mode: isModeChanged ? then.mode : undefined,
  })
}

/** The folders that these runs created for one of the files. Parents come first. */
function foldersToRemove(runs: Runs, files: readonly RecordedFile[]): readonly string[] {
  const folders = new Set(runs.flatMap((run) => run.folders))
  const heldFile = (folder: string) => files.some(({ realPath }) => isInside(realPath, folder))
  return [...folders].filter(heldFile).sort()
}

/** Applies what `planRollback` planned. @throws as `applyPlan` does */
export function applyRollback(
  world: World,
  { plan, details: rollback }: RollbackPlan,
): ApplyResult {
  return applyPlan(world, plan, { rollback })
}

/**
 * The contents of a file after an undo of its newest run, then of its newest two runs, and so on. Each
 * includes what others wrote since. Changes nothing.
 *
 * Ends early if a version cannot be computed: a record is damaged, a copy is missing, or someone
 * pointed the client to another service.
 */
export function* earlierVersions(world: World, path: string): Generator<Bytes | null> {
  try {
    const { runs, damaged } = listRuns(world)
    if (damaged.length > 0) return
    const copies = new Copies((sha256) => readBlob(world, sha256))
    let contents = currentContents(world, copies)
    const setsConnection = (file: RecordedFile) =>
      file.path === path && file.settings.some(isConnection)
    if (!runs.some(({ files }) => files.some(setsConnection))) return

    for (const { id, files } of activeRuns(runs.toReversed()).toReversed()) {
      const own = files.filter((file) => file.path === path)
      if (own.length === 0) continue
      if (isRedirected(copies, own, contents)) return
      contents = undoRun({ id, files: own }, contents, { copies }).contents
      yield copies.bytesOf(contents.get(path))
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
