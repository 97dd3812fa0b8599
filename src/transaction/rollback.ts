import { basename } from 'node:path'
import { compact } from '../compact.ts'
import { actionOf, type Bytes, type FileEdit, type Plan, type SettingPath } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { applyPlan, type Restoring } from './apply.ts'
import { isInside, shownPath, wrapFileErrors } from './files.ts'
import {
  type Applied,
  changeTo,
  type FileOutcome,
  type FileVersion,
  type KeptSetting,
  type RecordedFile,
  type RunRecord,
  type Runs,
  type World,
} from './record.ts'
import { listRuns, readBlob } from './state.ts'
import { findTarget, readIfThere } from './target.ts'
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
   * Whether a recorded file belongs to a client as it is installed here: a second installation
   * (`CODEX_HOME`) has files of the same kind elsewhere. Not asked of a run that is named.
   */
  readonly isHere?: ((file: RecordedFile) => boolean) | undefined
  /** What an undo would break for a client. */
  readonly problemAfter?: ProblemAfter | undefined
}

/** @param after the files that an undo would change, by path. @param before how they are without it */
export type ProblemAfter = (
  client: string,
  after: ReadonlyMap<string, Bytes | null>,
  before: ReadonlyMap<string, Bytes | null>,
) => UndoProblem | undefined

/** What a rollback would do. `planRollback` makes it; it is shown, then `applyRollback` applies it. */
export interface RollbackPlan {
  readonly isRedo: boolean
  /** The undone runs that have an effect, newest first. The files go back to before the last one. */
  readonly runs: readonly [RunRecord, ...RunRecord[]]
  readonly kept: readonly KeptSetting[]
  /** Clients of which a table was removed together with what others wrote into it. */
  readonly removedTables: readonly string[]
  readonly plan: Plan
  readonly files: readonly FileBack[]
  readonly restoring: Restoring
}

interface FileBack extends FileOutcome {
  /** Our settings that stay. A whole file has the empty path. */
  readonly kept: readonly SettingPath[]
}

/**
 * Plans an undo of the newest run that still has an effect, of several runs, or of an undo.
 *
 * @returns undefined if nothing is recorded, or nothing is left to undo
 * @throws UserError `usage` if there is no such run; `record-damaged` if a damaged record could be the
 *   run that is meant; `backup-missing`; `config-invalid`, `config-conflict`, `not-permitted`
 */
export function planRollback(
  world: World,
  options: RollbackOptions = {},
): RollbackPlan | undefined {
  const { runs, damaged } = listRuns(world)
  const stack = runs.map((run) => withFilesHere(world, run, options)).toReversed()
  const copies = new Copies((sha256) => readBlob(world, sha256))
  const contents = contentsNow(world, copies)
  const undo: UndoOptions = {
    copies,
    force: options.force,
    clients: options.clients,
    problemAfter: problemCheck(copies, options.problemAfter),
  }

  const found = findPlan(stack, contents, undo, options)
  refuseIfDamaged(world, damaged, found, options)
  return found && asRollback(copies, contents, found, runs[0]?.id)
}

/** The runs that a rollback could undo, newest first, as far as they belong to this installation. */
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

  return undoTo(stack, namedRun(stack, run, undo.clients).id, contents, undo)
}

function namedRun(stack: Stack, id: string, clients?: readonly string[]): RunRecord {
  const isMeant = ({ client }: RecordedFile) => clients?.includes(client) ?? true
  const found = stack.find((run) => run.id === id && run.files.some(isMeant))
  if (found === undefined)
    throw new UserError({
      code: 'usage',
      message: `No run ${id}${clients ? ` of ${clients.join(' or ')}` : ''} is recorded`,
      hint: '`repoint rollback --list` shows what can be undone.',
    })

  if (found.kind === 'change') return found
  throw new UserError({
    code: 'usage',
    message: `Run ${id} is ${found.kind === 'undo' ? 'an undo' : 'a redo'}, not a change`,
    hint: found.kind === 'undo' ? 'repoint rollback --redo' : 'repoint rollback',
  })
}

/** The run with its files that belong to this home and this installation. */
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
 * It is not known which files a damaged record is about, so it may hide a newer change of any.
 *
 * @param found what would be undone instead
 */
function refuseIfDamaged(
  { machine }: World,
  damaged: readonly string[],
  found: StackPlan | undefined,
  { run, original, force }: RollbackOptions,
): void {
  if (run !== undefined) return
  const undone = found?.runs.at(-1)
  const isInTheWay = (id: string) => {
    if (undone === undefined) return true
    // The copies from before the oldest run do not depend on what came between.
    return original && force ? id < undone.id : original || id > undone.id
  }
  const idOf = (path: string) => basename(path, '.json').slice('run-'.length)
  const inTheWay = damaged.filter((path) => isInTheWay(idOf(path)))
  if (inTheWay.length === 0) return
  const places = inTheWay.map((path) => shownPath(machine, path)).join(', ')

  throw new UserError({
    code: 'record-damaged',
    message: `Cannot read the record of ${undone ? 'another' : 'a'} run, which may be the one that you mean: ${places}`,
    hint: undone
      ? `That run cannot be undone. To undo an earlier one: repoint rollback --run ${undone.id}`
      : 'That run cannot be undone, and there is no other. Its copies of old files are kept; `repoint forget --all` removes them.',
  })
}

// ---------------------------------------------------------------- files

/** The files as they are. Each is read when it is needed, and once. */
function contentsNow(world: World, copies: Copies): Contents {
  const found = new Map<string, FileVersion | null>()
  return {
    changes: new Map(),
    get: (path) => {
      if (!found.has(path)) found.set(path, versionNow(world, copies, path))
      return found.get(path) ?? null
    },
  }
}

function versionNow(world: World, copies: Copies, path: string): FileVersion | null {
  const { files, machine } = world
  return wrapFileErrors(machine, path, () => {
    const { realPath, status } = findTarget(files, machine, path)
    const bytes = status && readIfThere(files, machine, realPath)
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

function asRollback(
  copies: Copies,
  contents: Contents,
  { runs, undoes, files, kept, removedTables, contents: after }: StackPlan,
  newestRun: string | undefined,
): RollbackPlan {
  const [newest] = runs
  const target = runs.at(-1) as RunRecord
  const edits = files.map((file) => editOf(copies, file, contents, after))

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
    restoring: {
      kind: newest?.kind === 'undo' ? 'redo' : 'undo',
      undoes,
      kept,
      versions: new Map(files.map(({ path }) => [path, after.get(path)])),
      dropFolders: foldersOf(runs, files),
      newestRun,
    },
  }
}

function editOf(
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
    changes: file.settings.map((setting) => changeTo(setting, document?.get(setting.path))),
    before: copies.bytesOf(now),
    after: copies.bytesOf(then),
    mode: isModeChanged ? then.mode : undefined,
  })
}

/** The folders that these runs created, as far as one of the files was in it. A folder precedes those in it. */
function foldersOf(runs: Runs, files: readonly RecordedFile[]): readonly string[] {
  const folders = new Set(runs.flatMap((run) => run.folders))
  const isUsed = (folder: string) => files.some(({ realPath }) => isInside(realPath, folder))
  return [...folders].filter(isUsed).sort()
}

/** Applies what `planRollback` planned. @throws as `applyPlan` does */
export function applyRollback(world: World, { plan, restoring }: RollbackPlan): Applied {
  return applyPlan(world, plan, { restoring })
}

/**
 * A file as an undo of its newest run would leave it, then of the newest two, and so on: what others
 * have written since is in each. Reads only.
 *
 * None if that cannot be known: a record is damaged, a copy is gone, or someone pointed the client
 * elsewhere.
 */
export function* earlierVersions(world: World, path: string): Generator<Bytes | null> {
  try {
    const { runs, damaged } = listRuns(world)
    if (damaged.length > 0) return
    const copies = new Copies((sha256) => readBlob(world, sha256))
    let contents = contentsNow(world, copies)
    const isPointing = (file: RecordedFile) =>
      file.path === path && file.settings.some(isConnection)
    if (!runs.some(({ files }) => files.some(isPointing))) return

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
