import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../../src/transaction/apply-plan.ts'
import { withLock } from '../../../src/transaction/lock.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
} from '../../../src/transaction/plan-rollback.ts'
import type { World } from '../../../src/transaction/record.ts'
import { limitRuns } from '../../../src/transaction/records/prune.ts'
import { listRuns } from '../../../src/transaction/records/records.ts'
import { openState } from '../../../src/transaction/records/state-folder.ts'
import { aPairPlan } from '../../support/a-plan.ts'
import { ForgetfulFiles } from '../../support/forgetful-files.ts'
import { aHome } from '../../support/home.ts'
import {
  home as homeInMemory,
  stateFolder as stateInMemory,
  sweepPowerLoss,
  worldOf,
} from '../../support/power-loss.ts'
import { sourceIn, withCalls, worldIn } from '../../support/world.ts'

const auth = '.codex/auth.json'
const config = '.codex/config.toml'
const pair = {
  [auth]: '{"tokens": {"access_token": "old-login"}}\n',
  [config]: '# mine\nmodel = "gpt-5.5" # really\n',
}

describe('more runs than are kept', () => {
  test('leave no copies of the removed ones, and --original reads only the first and last copies', () => {
    const home = aHome(pair)
    const before = home.snapshot()
    // Without the slow steps that other tests check.
    const world = withCalls(worldIn(home), { fsync: () => {}, fsyncFolder: () => {} })
    for (let run = 1; run <= 105; run++)
      applyPlan(world, aPairPlan(sourceIn(home), `sk-canary-${run}`))

    const { runs } = listRuns(world)
    expect(runs).toHaveLength(101)
    expect(runs.at(-1)?.mergedRuns).toBe(5)
    const { blobs } = openState(world)
    // config.toml before and after the first run; auth.json before it, and after each run from the last removed one on.
    expect(readdirSync(blobs)).toHaveLength(2 + 1 + 101)

    let readCopies = 0
    const counting = withCalls(world, {
      read: (path, maxBytes) => {
        if (path.includes('/blobs/')) readCopies++
        return world.files.read(path, maxBytes)
      },
    })
    const plan = planRollback(counting, { which: { kind: 'all' } })!
    expect(readCopies).toBeLessThanOrEqual(4)
    applyRollback(world, plan)
    expect(home.snapshot()).toEqual(before)
  }, 120_000)
})

type Texts = Record<typeof auth | typeof config, string>

/** A machine in memory: someone edits the configuration between some of the runs. */
class Machine {
  readonly files = new ForgetfulFiles()

  readonly original: Texts

  constructor(original: Texts = pair) {
    this.original = original
    this.files.put(at(auth), original[auth], 0o600)
    this.files.put(at(config), original[config])
  }

  setUp(key: string): this {
    const source = { at, text: (name: string) => this.files.text(at(name)) }
    applyPlan(this.world, aPairPlan(source, key))
    return this
  }

  rollBack(options: RollbackOptions = {}): this {
    applyRollback(this.world, planRollback(this.world, options)!)
    return this
  }

  edit(): this {
    this.files.put(at(config), this.files.text(at(config))!.replace('# mine', '# mine\n# theirs'))
    return this
  }

  get world() {
    return worldOf(this.files, 1)
  }
}

function at(name: string): string {
  return `${homeInMemory}/${name}`
}

const machines = [
  {
    name: 'setups with an edit between them',
    limit: 3,
    machine: () => new Machine().setUp('1').setUp('2').edit().setUp('3').setUp('4').setUp('5'),
    config: pair[config].replace('# mine', '# mine\n# theirs'),
  },
  {
    name: 'a setup, its undo and its redo',
    limit: 2,
    machine: () =>
      new Machine()
        .setUp('1')
        .rollBack()
        .rollBack({ which: { kind: 'newest-undo' } })
        .setUp('2')
        .setUp('3'),
  },
  {
    name: 'a setup that was undone',
    limit: 2,
    machine: () => new Machine().setUp('1').rollBack().setUp('2').setUp('3'),
  },
  {
    name: 'two setups that cancel each other out',
    limit: 2,
    machine: () => {
      const { files } = new Machine().setUp('1')
      const original = { [auth]: files.text(at(auth))!, [config]: files.text(at(config))! }
      return new Machine(original as Texts).setUp('2').setUp('1').setUp('3')
    },
  },
]

test.each(machines)(
  'a power loss or a kill at any call of the removal loses nothing: $name',
  ({ machine, limit, config: edited }) => {
    const { files: start, original } = machine()
    const texts = { ...original, ...(edited && { [config]: edited }) }
    const countBefore = countChanges(worldOf(start, 2))
    const prune = (world: World) => {
      const paths = openState(world)
      withLock(world, paths, () => limitRuns(world, paths, limit))
    }
    const { points, states, violations } = sweepPowerLoss({
      start: start.afterSync(),
      work: prune,
      check: (files) => {
        const world = worldOf(files, 3)
        const found = lostBytes(world, texts)
        if (countChanges(world) > countBefore) found.push('a run counts twice')
        // The next run goes on, whatever a crash left.
        prune(world)
        found.push(...lostBytes(world, texts))

        const { runs } = listRuns(world)
        if (runs.length > limit + 1) found.push(`${runs.length} runs are left`)
        const names = files.names(stateInMemory)
        const records = names.filter((name) => name.startsWith('run-'))
        if (records.length > limit) found.push(`records left: ${records.join(', ')}`)
        return found
      },
      boot: 2,
    })
    expect(violations).toEqual([])
    expect(points).toBeGreaterThan(30)
    expect(states).toBeGreaterThan(80)
  },
  120_000,
)

/** How many runs the records contain. */
function countChanges(world: World): number {
  return listRuns(world).runs.reduce((sum, { mergedRuns = 1 }) => sum + mergedRuns, 0)
}

/** The files that an undo of everything would not restore. */
function lostBytes(world: World, texts: Texts): string[] {
  if (listRuns(world).damaged.length > 0) return ['a record is damaged']
  const edits = planRollback(world, { which: { kind: 'all' } })?.edits ?? []
  const isRestored = (name: keyof Texts) => {
    const bytes = edits.find(({ path }) => path === at(name))?.after
    return bytes && new TextDecoder().decode(bytes) === texts[name]
  }
  return ([auth, config] as const).filter((name) => !isRestored(name))
}

test('keeps the removed runs of each home separate', () => {
  const files = new ForgetfulFiles()
  const worlds = ['/home/one', '/home/two'].map((home): World => {
    const world = worldOf(files, 1)
    return { ...world, machine: { ...world.machine, home, env: { REPOINT_STATE_DIR: '/state' } } }
  })
  const textAt = ({ machine: { home } }: World, name: string) => files.text(`${home}/${name}`)
  for (const { machine } of worlds) {
    files.put(`${machine.home}/${auth}`, pair[auth])
    files.put(`${machine.home}/${config}`, pair[config])
  }

  for (const key of ['1', '2', '3'])
    for (const world of worlds) {
      const inHome = (name: string) => `${world.machine.home}/${name}`
      const source = { at: inHome, text: (name: string) => textAt(world, name) }
      applyPlan(world, aPairPlan(source, key))
    }
  const paths = openState(worlds[0]!)
  withLock(worlds[0]!, paths, () => limitRuns(worlds[0]!, paths, 3))

  expect(listRuns(worlds[0]!).runs.map(({ mergedRuns = 1 }) => mergedRuns)).toEqual([1, 1, 1, 1, 2])
  for (const world of worlds) {
    applyRollback(world, planRollback(world, { which: { kind: 'all' } })!)
    expect([textAt(world, auth), textAt(world, config)]).toEqual([pair[auth], pair[config]])
  }
})
