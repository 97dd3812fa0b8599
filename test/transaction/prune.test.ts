import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { withLock } from '../../src/transaction/lock.ts'
import { prune } from '../../src/transaction/prune.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { listRuns, openState, stateFolder } from '../../src/transaction/state.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { ForgetfulFiles } from '../support/forgetful-files.ts'
import { aHome, type Home } from '../support/home.ts'
import { home as homeInMemory, sweepPowerLoss, worldOf } from '../support/power-loss.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const auth = '.codex/auth.json'
const config = '.codex/config.toml'
const pair = {
  [auth]: '{"tokens": {"access_token": "old-login"}}\n',
  [config]: '# mine\nmodel = "gpt-5.5" # really\n',
}

/** Without what makes many runs slow and is checked elsewhere. */
function quickWorld(home: Home) {
  const none = { fsync: () => {}, fsyncFolder: () => {}, copyAttributes: () => true }
  return withCalls(worldIn(home), none)
}

function setUpMany(home: Home, count: number, between: (index: number) => void = () => {}) {
  const world = quickWorld(home)
  for (let index = 1; index <= count; index++) {
    applyPlan(world, aPairPlan(sourceIn(home), `sk-canary-${index}`))
    between(index)
  }
  return world
}

function bytesBelow(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.reduce((sum, name) => sum + lstatSync(join(folder, name)).size, 0)
}

describe('300 runs', () => {
  test('keep a small state folder, and go back to the original exactly and fast', () => {
    const home = aHome(pair)
    const before = home.snapshot()
    const world = setUpMany(home, 300)

    expect(listRuns(world).runs).toHaveLength(100)
    expect(listRuns(world).runs.at(-1)?.mergedRuns).toBe(201)
    expect(bytesBelow(stateFolder(world.machine))).toBeLessThan(3_000_000)

    const start = performance.now()
    applyRollback(world, planRollback(world, { original: true })!)
    const duration = performance.now() - start
    console.log(duration, bytesBelow(stateFolder(world.machine)))
    expect(duration).toBeLessThan(1_000)
    expect(home.snapshot()).toEqual(before)
  }, 120_000)

  test('keep what others wrote between them', () => {
    const home = aHome(pair)
    const world = setUpMany(home, 130, (index) => {
      if (index !== 7) return
      home.put(config, `${home.text(config)}\n[notice]\nx = true\n`)
    })
    applyRollback(world, planRollback(world, { original: true })!)
    expect(home.text(config)).toBe(`${pair[config]}\n[notice]\nx = true\n`)
    expect(home.text(auth)).toBe(pair[auth])
  }, 120_000)
})

/** A machine in memory after some setups, and the pair as it was before the first. */
function machineAfter(setups: number): ForgetfulFiles {
  const files = new ForgetfulFiles()
  files.put(`${homeInMemory}/${auth}`, pair[auth], 0o600)
  files.put(`${homeInMemory}/${config}`, pair[config])
  for (let index = 1; index <= setups; index++) {
    const at = (name: string) => `${homeInMemory}/${name}`
    const source = { at, text: (name: string) => files.text(at(name)) }
    applyPlan(worldOf(files, 1), aPairPlan(source, `sk-canary-${index}`))
    if (index === 2)
      files.put(at(config), files.text(at(config))!.replace('# mine', '# mine\n# theirs'))
  }
  return files.afterSync()
}

const limit = 3

function problemsAfter(files: ForgetfulFiles, boot: number): string[] {
  const world = worldOf(files, boot)
  const found: string[] = []
  const { runs, damaged } = listRuns(world)
  if (damaged.length > 0) found.push('a record is damaged')
  const count = runs.reduce((sum, run) => sum + (run.mergedRuns ?? 1), 0)
  if (count !== 6) found.push(`${count} runs are recorded`)

  // The next run merges again, whatever a crash left.
  const paths = openState(world)
  withLock(world, paths, () => prune(world, paths, limit))
  const left = listRuns(world).runs.length
  if (left > limit) found.push(`${left} runs are left`)
  const strays = files
    .names(paths.folder)
    .filter((name) => !/^(blobs|lock|lock-.*|run-.*\.json)$/.test(name))
  found.push(...strays.map((name) => `${name} was left behind`))

  applyRollback(world, planRollback(world, { original: true })!)
  const text = (name: string) => files.text(`${homeInMemory}/${name}`)
  if (text(auth) !== pair[auth]) found.push('the first login is lost')
  if (text(config) !== pair[config].replace('# mine', '# mine\n# theirs'))
    found.push('the first configuration, or what others wrote, is lost')
  return found
}

test('a power loss or a kill at any call of a merge loses nothing', () => {
  const { points, states, violations } = sweepPowerLoss({
    start: machineAfter(6),
    work: (world) => {
      const paths = openState(world)
      withLock(world, paths, () => prune(world, paths, limit))
    },
    check: (files) => problemsAfter(files, 3),
    boot: 2,
  })
  expect(violations).toEqual([])
  expect(points).toBeGreaterThan(40)
  expect(states).toBeGreaterThan(100)
}, 120_000)
