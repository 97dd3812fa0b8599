import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../compact.ts'
import { documentOf } from '../edits/format.ts'
import { actionOf, type Bytes } from '../edits/plan.ts'
import { UserError } from '../errors.ts'
import { applyPlan } from './apply.ts'
import { isInside, shownPath } from './files.ts'
import { endOf, type FileHistory, historiesOf, isBeside, type Standing, writes } from './history.ts'
import type { Applied, RecordedFile, RollbackPlan, RunRecord, Runs, World } from './record.ts'
import { copyOf, listRuns } from './state.ts'
import { leftAsItIs, type RecordedStep, type UndoOptions, undoFile, whyHeld } from './undo-file.ts'

export interface RollbackOptions {
  /** Only the files of these clients. */
  readonly clients?: readonly string[]
  /** Back to before this run, and so to before all newer runs of the same files. */
  readonly run?: string
  /** Back to before the first recorded run of every file. */
  readonly original?: boolean
  /** Forward again: takes back the newest undo instead. */
  readonly redo?: boolean
  /** The old contents as they were, whatever has been changed since. */
  readonly force?: boolean
  /**
   * Whether a recorded file is one that is looked for here: a client that is installed twice
   * (`CODEX_HOME`) has files of the same kind elsewhere. Not asked of a run that is named.
   */
  readonly isHere?: (file: RecordedFile) => boolean
  /** Clients in whose tables our keys stay beside keys of others: see `UndoOptions.keepsTables`. */
  readonly keepsTablesOf?: readonly string[]
  /** Clients whose tables go with what others wrote into them: see `UndoOptions.dropsTables`. */
  readonly dropsTablesOf?: readonly string[]
  /**
   * Whether with a file that is gone the address is gone too: nothing points its client at one any
   * more, so its key can go back. Asked only of files that are gone.
   */
  readonly isAbandoned?: (path: string) => boolean
}

/**
 * What would undo the newest run of which something still stands, or lead back to before an earlier
 * one; of it, the files of `clients` where they are named. A rollback is a run as well: a redo undoes
 * the newest one that no setup has followed.
 *
 * A file that someone has changed since keeps their changes: only our own keys are undone there. A
 * file that is ours as a whole is left as it is then. Where one of a client's bound keys was changed,
 * all of its files stay: see `isHeldTogether`.
 *
 * @returns undefined if nothing is recorded, or nothing is left to undo
 * @throws UserError `usage` if there is no such run; `record-damaged` if a record is damaged that
 *   might be meant; `backup-missing`; `config-invalid`, `config-conflict`, `not-permitted`
 */
export function planRollback(
  world: World,
  options: RollbackOptions = {},
): RollbackPlan | undefined {
  const { runs, damaged } = listRuns(world)
  const asked = runs.map((run) => asRequested(world, run, options))
  const records = { world, runs: asked, damaged, options, historyOf: historiesOf(asked) }

  if (options.original) return planToOriginal(records)
  if (options.run !== undefined) return planTo(records, namedRun(asked, options.run, options))
  return planNextStep(records)
}

/** What is recorded, as far as it is asked for. */
interface Records {
  readonly world: World
  readonly runs: Runs
  /** Where records lie that cannot be read. */
  readonly damaged: readonly string[]
  readonly options: RollbackOptions
  readonly historyOf: (file: RecordedFile) => FileHistory
}

/** Every file in which the work of a run still stands goes back to before all of them. */
function planToOriginal(records: Records): RollbackPlan | undefined {
  const { runs, options, historyOf } = records
  const first = runs.findLast(({ files }) => files.length > 0)
  // By force it does not matter what lies between, only what came before.
  refuseIfDamaged(records, first, (id) => !options.force || !first || id < first.id)
  if (first === undefined || options.force) return first && planTo(records, first)

  const stands = (file: RecordedFile) => historyOf(file).standing.length > 0
  const isAnyStanding = runs.some(({ files }) => files.some(stands))
  return isAnyStanding ? planTo(records, first, stands) : undefined
}

/** The newest step that changes or holds anything; else the newest that has something to say. */
function planNextStep(records: Records): RollbackPlan | undefined {
  const open = openSteps(records)
  const passed = new Set<string>()
  let noted: RollbackPlan | undefined

  for (const step of newestSteps(open)) {
    refuseIfDamaged(records, step.run, (id) => id > step.run.id)
    const plan = planTo(records, step.run, ({ path }) => {
      const next = open.get(path)?.findLast((one) => !passed.has(nameOf(one)))
      return next !== undefined && nameOf(next) === nameOf(step)
    })

    if (plan.files.some(({ action, kept }) => action !== 'unchanged' || kept.length > 0))
      return plan
    if (plan.files.some(({ note }) => note !== undefined)) noted ??= plan
    passed.add(nameOf(step))
  }

  refuseIfDamaged(records, undefined, () => true)
  return noted
}

/** For every file that the runs wrote, by path, what could be taken back, oldest first. */
function openSteps(records: Records): ReadonlyMap<string, readonly Standing[]> {
  const { world, runs, options, historyOf } = records
  const files = new Map(runs.flatMap((run) => run.files.map((file) => [file.path, file])))

  return new Map(
    [...files].map(([path, file]) => {
      const { standing, undone } = historyOf(file)
      if (options.redo) return [path, undone.map((run) => ({ run, by: run }))]
      if (!options.force) return [path, standing]
      const held = undone.slice(-1).flatMap((undo) => heldBack(world, path, runs, undo))
      return [path, [...standing, ...held]]
    }),
  )
}

/** The run that the newest undo could not lead this file back behind: force can. */
function heldBack(world: World, path: string, runs: Runs, undo: RunRecord): readonly Standing[] {
  const led = undo.files.find((file) => file.path === path)
  const isHeld = (file: RecordedFile) =>
    file.path === path && (led === undefined || !isAsBefore(world, file, led))
  return runs
    .filter((run) => run.id === undo.undoes && run.files.some(isHeld))
    .map((run) => ({ run, by: undo }))
}

/** Whether an undo has left our keys in a file as a run had found them. */
function isAsBefore(world: World, { before, scope, ...file }: RecordedFile, led: RecordedFile) {
  if (scope === 'whole') return before?.sha256 === led.after?.sha256
  const [old, now] = [before, led.after].map((version) => documentOf(file, copyOf(world, version)))
  return file.keys.every((key) => isDeepStrictEqual(old?.get(key), now?.get(key)))
}

/** Every step once, the newest first. */
function newestSteps(open: ReadonlyMap<string, readonly Standing[]>): readonly Standing[] {
  const steps = new Map([...open.values()].flat().map((step) => [nameOf(step), step]))
  return [...steps.entries()]
    .toSorted(([one], [other]) => (one < other ? 1 : -1))
    .map(([, step]) => step)
}

/** Sorts by when it came to stand there. */
function nameOf({ run, by }: Standing): string {
  return `${by.id} ${run.id}`
}

/** The run with those of its files that are asked for; none of a home that is not this one. */
function asRequested({ machine }: World, run: RunRecord, options: RollbackOptions): RunRecord {
  const { clients, isHere = () => true } = options
  const files = run.files.filter(
    (file) =>
      (clients?.includes(file.client) ?? true) &&
      (options.run !== undefined || isHere(file)) &&
      (run.home === machine.home || !isInside(file.path, run.home)),
  )
  return { ...run, files }
}

function namedRun(runs: Runs, id: string, { clients }: RollbackOptions): RunRecord {
  const found = runs.find((run) => run.id === id && run.files.length > 0)
  if (found) return found
  throw new UserError({
    code: 'usage',
    message: `No run ${id}${clients ? ` of ${clients.join(' or ')}` : ''} is recorded`,
    hint: '`repoint rollback --list` shows what can be undone.',
  })
}

/**
 * Which files a damaged record concerns is not known, so it may hide a newer state of any.
 *
 * @param run what would be undone in its place
 */
function refuseIfDamaged(
  { world, damaged }: Records,
  run: RunRecord | undefined,
  isMeant: (id: string) => boolean,
): void {
  const inTheWay = damaged.filter((path) => isMeant(basename(path, '.json').slice('run-'.length)))
  if (inTheWay.length === 0) return
  const places = inTheWay.map((path) => shownPath(world.machine, path)).join(', ')

  throw new UserError({
    code: 'record-damaged',
    message: `The record of ${run ? 'another' : 'a'} run, which may be the one that is meant, cannot be read: ${places}`,
    hint: run
      ? `That run cannot be undone. To undo an earlier one all the same: repoint rollback --run ${run.id}`
      : 'That run cannot be undone, and there is no other. Its copies of old files are kept; `repoint forget --all` removes them.',
  })
}

/**
 * The plan that leads back to before `target`.
 *
 * @param isMeant of the files on the way, which are to go back
 */
function planTo(
  { world, runs, options, historyOf }: Records,
  target: RunRecord,
  isMeant: (file: RecordedFile) => boolean = () => true,
): RollbackPlan {
  const since = runs.slice(0, runs.indexOf(target) + 1)
  const isRedo = endOf(target, runs).isUndone
  const files = filesBack(since, isMeant, options)
  const way = since.filter((run) => files.some((file) => writes(run, file)))

  // The way back is the way there reversed: see docs/transaction.md on why the order matters.
  const order = inSwitchOrder(files, way, isRedo).toReversed()
  const alone = order.map((file) => {
    const steps = stepsOf(file, since, isRedo ? undefined : historyOf(file).standing)
    return undoFile(world, steps, undoOptionsFor(file, options))
  })
  const undone = alone.map((one) => {
    const own = alone.filter(({ edit }) => edit.client === one.edit.client)
    const why = whyHeld(world, own, options.isAbandoned)
    return why === undefined ? one : leftAsItIs(one, why)
  })

  return {
    undoes: target,
    passes: way.filter((run) => run !== target),
    isRedo,
    plan: {
      command: 'rollback',
      baseUrl: target.baseUrl,
      roots: target.roots,
      model: target.model,
      edits: undone.map(({ edit }) => edit),
    },
    files: undone.map(({ edit, kept, note }) =>
      compact({
        path: edit.path,
        client: edit.client,
        action: actionOf(edit),
        kept,
        note,
      }),
    ),
  }
}

function undoOptionsFor({ client }: RecordedFile, options: RollbackOptions): UndoOptions {
  const { force, keepsTablesOf = [], dropsTablesOf = [] } = options
  return {
    force,
    keepsTables: keepsTablesOf.includes(client),
    dropsTables: dropsTablesOf.includes(client),
  }
}

/**
 * The files that go back, each as its oldest run since the target recorded it: those of the target,
 * and the others of the same client that newer runs wrote. A run writes only the address, or only the
 * key, where the other is right already; back there they belong together again.
 *
 * @param since newest first, the target last
 */
function filesBack(
  since: Runs,
  isMeant: (file: RecordedFile) => boolean,
  { original = false }: RollbackOptions,
): RecordedFile[] {
  const found = new Map<string, RecordedFile>()
  for (const run of since.toReversed()) {
    const known = [...found.values()]
    const goesBack = (file: RecordedFile) =>
      original || run === since.at(-1) || isBeside(file, run, known)
    for (const file of run.files)
      if (!found.has(file.path) && isMeant(file) && goesBack(file)) found.set(file.path, file)
  }

  return [...found.values()]
}

/**
 * The order in which the first run that wrote most of a client's files switched them. Around those go
 * the files of other runs: before them the keys, after them the addresses; of undos the other way round.
 */
function inSwitchOrder(files: readonly RecordedFile[], way: Runs, isRedo: boolean): RecordedFile[] {
  const clients = [...new Set(files.map(({ client }) => client))]
  return clients.flatMap((client) => {
    const own = files.filter((file) => file.client === client)
    const count = (run: RunRecord) => own.filter((file) => writes(run, file)).length
    const [pattern] = way.toReversed().toSorted((one, other) => count(other) - count(one)) as [
      RunRecord,
    ]

    const rank = ({ path, holdsSecret }: RecordedFile) => {
      const index = pattern.files.findIndex((file) => file.path === path)
      return index < 0 && holdsSecret === isRedo ? pattern.files.length : index
    }
    return own.toSorted((one, other) => rank(one) - rank(other))
  })
}

/**
 * What was recorded of a file, newest first; `file` is the last of them.
 *
 * @param since as above
 * @param standing the runs whose work is to go: what an undo has led back already is no way to go again
 */
function stepsOf(
  file: Pick<RecordedFile, 'path'>,
  since: Runs,
  standing?: readonly Standing[],
): [RecordedStep, ...RecordedStep[]] {
  const isStanding = (run: RunRecord) => standing?.some((one) => one.run === run)
  const isAnyStanding = since.some(isStanding)
  const steps: RecordedStep[] = []
  let isBehindGap = false
  for (const [index, run] of since.entries()) {
    const newer = since[index - 1]
    isBehindGap ||= newer?.follows !== undefined && newer.follows !== run.id
    const recorded = run.files.find(({ path }) => path === file.path)
    if (recorded === undefined || (isAnyStanding && !isStanding(run))) continue
    steps.push({ file: recorded, isBehindGap, stands: isAnyStanding })
    isBehindGap = false
  }

  return steps as [RecordedStep, ...RecordedStep[]]
}

/** Carries out what `planRollback` has planned. @throws as `applyPlan` does */
export function applyRollback(world: World, { undoes, passes, plan }: RollbackPlan): Applied {
  const way = [...passes, undoes]
  const isPlanned = (path: string) => plan.edits.some((edit) => edit.path === path)
  // Mode and owner from before the oldest run; what the file has now comes from its newest run.
  const files = new Map<string, RecordedFile>()
  const recorded = way.flatMap((run) => run.files.filter(({ path }) => isPlanned(path)))
  for (const file of recorded)
    files.set(file.path, { ...file, after: (files.get(file.path) ?? file).after })

  // Sorted, a folder comes before those in it.
  const dropFolders = [...new Set(way.flatMap(({ folders }) => folders))]
    .filter((folder) => recorded.some(({ realPath }) => isInside(realPath, folder)))
    .sort()
  return applyPlan(world, plan, { restoring: { undoes: undoes.id, files, dropFolders } })
}

/**
 * A file as a rollback of its newest run would leave it, then of the newest two, and so on: what
 * others have written since is in each. Reads only.
 *
 * None where it cannot be told: a record is damaged, a copy is gone, or address or key are no longer
 * those that a run left.
 */
export function* earlierVersions(world: World, path: string): Generator<Bytes | null> {
  try {
    const { runs, damaged } = listRuns(world)
    if (damaged.length > 0) return
    const isPointing = (file: RecordedFile) => file.path === path && file.boundKeys.length > 0
    const pointing = runs.find(({ files }) => files.some(isPointing))
    if (pointing === undefined) return

    const { changedBound, isKeyGone, isGone } = undoFile(world, stepsOf({ path }, [pointing]))
    if (changedBound.length > 0 || isKeyGone || isGone) return
    const [newest, ...older] = stepsOf({ path }, runs)
    for (let count = 0; count <= older.length; count++)
      yield undoFile(world, [newest, ...older.slice(0, count)]).edit.after
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
}
