import { UserError } from '../../src/errors.ts'
import type { Files } from '../../src/platform/platform.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { aPairPlan } from './a-plan.ts'
import { ForgetfulFiles } from './forgetful-files.ts'
import { home, type Swept, stateFolder, sweepPowerLoss, worldOf } from './power-loss.ts'
import { oneInTurn, triesAll } from './sample.ts'

const auth = `${home}/.codex/auth.json`
const config = `${home}/.codex/config.toml`
const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
// Longer than one write of ForgetfulFiles.
const oldConfig = `# mine\nmodel = "gpt-5.5"\n${'# a long file\n'.repeat(600)}`

/** Machines in memory, on which a setup writes its pair of files. */
export const pairMachines: readonly { name: string; start: () => ForgetfulFiles }[] = [
  {
    name: 'an existing pair',
    start: () => {
      const files = new ForgetfulFiles()
      files.put(auth, oldAuth, 0o600)
      files.put(config, oldConfig)
      return files
    },
  },
  {
    name: 'a fresh home',
    start: () => {
      const files = new ForgetfulFiles()
      files.put(`${home}/.profile`, '')
      return files
    },
  },
  {
    name: 'a symlinked pair',
    start: () => {
      const files = new ForgetfulFiles()
      files.put(`${home}/dotfiles/auth`, oldAuth, 0o600)
      files.put(`${home}/dotfiles/codex/config`, oldConfig)
      files.putLink(auth, '../dotfiles/auth')
      files.putLink(`${home}/.codex/link`, '../dotfiles/codex')
      files.putLink(config, 'link/config')
      return files
    },
  },
]

type Pair = readonly [string | null, string | null]

function pairOf(files: ForgetfulFiles): Pair {
  return [files.text(auth), files.text(config)]
}

export function isOldPair(files: ForgetfulFiles, ends: Ends): boolean {
  return isSamePair(pairOf(files), ends.old)
}

export function isNewPair(files: ForgetfulFiles, ends: Ends): boolean {
  return isSamePair(pairOf(files), ends.new)
}

function isSamePair(a: Pair, b: Pair): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

/** The pairs before and after a piece of work. */
interface Ends {
  readonly old: Pair
  readonly new: Pair
  /** The one of the two pairs that points at the gateway. */
  readonly gateway: Pair
  readonly runsBefore: number
}

/** A setup or its rollback, which a sweep repeats. */
export interface Work {
  readonly start: ForgetfulFiles
  readonly boot: number
  readonly ends: Ends
  readonly run: (world: World) => void
}

export function setupWork(start: ForgetfulFiles): Work {
  const plan = planFor(start)
  const done = start.afterSync()
  applyPlan(worldOf(done, 1), plan)
  const ends = { old: pairOf(start), new: pairOf(done), gateway: pairOf(done), runsBefore: 0 }
  return { start, boot: 1, ends, run: (world) => applyPlan(world, plan) }
}

export function rollbackWork(start: ForgetfulFiles): Work {
  const done = start.afterSync()
  applyPlan(worldOf(done, 1), planFor(done))
  const ends = { old: pairOf(done), new: pairOf(start), gateway: pairOf(done), runsBefore: 1 }
  return {
    start: done.afterSync(),
    boot: 2,
    ends,
    run: (world) => applyRollback(world, planRollback(world)!),
  }
}

function planFor(files: ForgetfulFiles) {
  return aPairPlan({
    at: (name) => `${home}/${name}`,
    text: (name) => files.text(`${home}/${name}`),
  })
}

const works = [
  { what: 'setup', workOf: setupWork, leastStates: 300 },
  { what: 'rollback', workOf: rollbackWork, leastStates: 100 },
]

/** Each machine with each work. In a sample, each machine with one of them. */
export const pairSweeps = pairMachines.flatMap((machine, turn) =>
  (triesAll ? works : oneInTurn(works, turn)).map((work) => ({ ...machine, ...work })),
)

/** Simulates a power loss at each call of the work. */
export function sweepWork(work: Work, mistake?: (files: Files) => Files): Swept {
  return sweepPowerLoss({
    start: work.start,
    work: work.run,
    check: (files, hasEnded) => problems(files, work.ends, work.boot + 1, hasEnded),
    mistake,
    boot: work.boot,
  })
}

/**
 * Simulates a power loss at each call of the recovery from a power loss during the work. If `depth` is 2, it does the
 * same for the recovery after that. It tries every `stride`-th of the states to recover from.
 */
export function sweepRecovery(work: Work, stride: number, depth: 1 | 2 = 1): Swept {
  const total = { points: 0, states: 0, violations: [] as string[] }
  const unsettled = unsettledStates(work.start, work.run, work.boot)
  for (const state of everyNth(unsettled, stride)) sweepFrom(state, work.boot + 1, depth)
  return total

  function sweepFrom(state: ForgetfulFiles, boot: number, further: number): void {
    const swept = sweepPowerLoss({
      start: state,
      work: (world) => recoverRun(world),
      check: (files) => problems(files, work.ends, boot + 1, false),
      boot,
    })
    total.points += swept.points
    total.states += swept.states
    total.violations.push(...swept.violations)
    if (further < 2) return
    const next = unsettledStates(state, (world) => recoverRun(world), boot)
    for (const unsettled of everyNth(next, stride)) sweepFrom(unsettled, boot + 1, further - 1)
  }
}

function unsettledStates(
  start: ForgetfulFiles,
  run: (world: World) => void,
  boot: number,
): ForgetfulFiles[] {
  const found: ForgetfulFiles[] = []
  sweepPowerLoss({
    start,
    work: run,
    check: (files) => {
      const names = files.names(stateFolder)
      // Keep a copy, because the check modifies the state.
      if (names.includes('journal.json') || names.includes('draft.json'))
        found.push(files.afterSync())
      return []
    },
    boot,
  })
  return found
}

function everyNth<T>(all: readonly T[], stride: number): T[] {
  return all.filter((_, index) => index % stride === 0)
}

/** Starts repoint again and checks the result. Returns the problems. Modifies `files`. */
export function problems(
  files: ForgetfulFiles,
  ends: Ends,
  boot: number,
  hasEnded: boolean,
): string[] {
  const found: string[] = []
  const world = worldOf(files, boot)
  const [authNow, configNow] = pairOf(files)
  if (configNow === ends.gateway[1] && authNow !== ends.gateway[0] && authNow !== null)
    found.push('the own login would go to the gateway')
  try {
    recoverRun(world)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [...found, `recovery failed: ${error.message}`]
  }
  const isNew = isSamePair(pairOf(files), ends.new)
  if (!isNew && !isSamePair(pairOf(files), ends.old)) found.push('the pair is torn')
  if (hasEnded && !isNew) found.push('the run was reported as done and is gone')
  const { runs, damaged } = listRuns(world)
  if (damaged.length > 0) found.push('a record is damaged')
  if (runs.length !== ends.runsBefore + (isNew ? 1 : 0))
    found.push(`${runs.length} runs are recorded, and the pair is ${isNew ? 'new' : 'old'}`)
  if (recoverRun(world) !== undefined) found.push('there is something to settle a second time')
  found.push(...straysIn(files, runs).map((name) => `${name} was left behind`))
  const authMode = files.mode(auth)
  if (authMode !== undefined && authMode !== 0o600) found.push('others can read the key')
  if (isNew && found.length === 0) found.push(...undoProblems(files, ends, world))
  return found
}

function undoProblems(files: ForgetfulFiles, ends: Ends, world: World): string[] {
  try {
    const kind = listRuns(world).runs[0]?.undoes === undefined ? 'newest' : 'newest-undo'
    applyRollback(world, planRollback(world, { which: { kind } })!)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [`cannot be undone: ${error.message}`]
  }
  return isSamePair(pairOf(files), ends.old) ? [] : ['the undo is not exact']
}

function straysIn(files: ForgetfulFiles, runs: ReturnType<typeof listRuns>['runs']): string[] {
  const folders = ['.codex', 'dotfiles', 'dotfiles/codex'].flatMap((name) =>
    files.names(`${home}/${name}`).map((file) => `${name}/${file}`),
  )
  const named = new Set(
    runs.flatMap((run) =>
      run.files.flatMap(({ before, written }) => [before?.sha256, written?.sha256]),
    ),
  )
  return [
    ...folders.filter((name) => name.includes('.repoint-')),
    ...files
      .names(stateFolder)
      .filter(
        (name) => !/^(blobs|lock|lock-.*|run-.*\.json|first-copies(-new)?\.json)$/.test(name),
      ),
    ...files.names(`${stateFolder}/blobs`).filter((name) => !named.has(name)),
  ]
}
