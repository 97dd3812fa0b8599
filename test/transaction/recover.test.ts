import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply.ts'
import { listRuns, stateFolder } from '../../src/transaction/records.ts'
import { settle } from '../../src/transaction/recover.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
const oldConfig = '# mine\nmodel = "gpt-5.5"\n'
const oldPair = { '.codex/auth.json': oldAuth, '.codex/config.toml': oldConfig }

class Killed extends Error {}

function state(home: Home): string {
  return stateFolder(worldIn(home).machine)
}

function failureOf(work: () => unknown): UserError {
  try {
    work()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('recovery', () => {
  test('finds nothing to do where nothing was cut off, and takes no lock for it', () => {
    const home = aHome(oldPair)
    expect(settle(worldIn(home))).toBeUndefined()
    expect(existsSync(state(home))).toBe(false)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const locking = withCalls(worldIn(home), {
      mkdir: () => {
        throw new Error('it took the lock')
      },
    })
    expect(settle(locking)).toBeUndefined()
  })

  test('finishes a run that was committed, and says so', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    const settled = settle(worldIn(home))
    expect(settled).toMatchObject({ outcome: 'rolled-forward', left: [] })
    expect(settled?.files).toHaveLength(2)
    expect(home.text('.codex/config.toml')).toContain('gateway.example')
    expect(listRuns(worldIn(home)).runs.map(({ id }) => id)).toEqual([settled?.run])
  })

  test('discards a run that was not committed, with all that it left', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    killedBefore(home, '/journal.json')
    expect(home.snapshot()).not.toEqual(before)
    expect(settle(worldIn(home))).toMatchObject({ outcome: 'discarded', left: [] })
    expect(home.snapshot()).toEqual(before)
    expect(readdirSync(state(home), { recursive: true })).toEqual(['blobs'])
  })

  test('leaves a file alone that someone has changed before it was switched', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    home.put('.codex/config.toml', `${oldConfig}# changed\n`)
    const settled = settle(worldIn(home))
    expect(settled).toMatchObject({
      outcome: 'rolled-forward',
      files: [home.at('.codex/auth.json')],
      left: [home.at('.codex/config.toml')],
    })
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}# changed\n`)
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })

  test('switches nothing behind a file that someone has come in between', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home, { isNothingSwitched: true })
    home.put('.codex/auth.json', '{"tokens": {"access_token": "newer-login"}}\n')
    const settled = settle(worldIn(home))
    expect(settled?.files).toEqual([])
    expect(settled?.left).toHaveLength(2)
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
    expect(home.text('.codex/auth.json')).toContain('newer-login')
  })

  test('knows a file that was switched and then rewritten by its client', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    renameSync(temporaryOf(home, 'config.toml'), home.at('.codex/config.toml'))
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[notice]\nx = true\n`)
    expect(settle(worldIn(home))).toMatchObject({ outcome: 'rolled-forward', left: [] })
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}\n[notice]\nx = true\n`)
  })

  test('sets a damaged journal aside and names it', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    const journal = `${state(home)}/journal.json`
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('.codex', '.other'))
    const error = failureOf(() => settle(worldIn(home)))
    expect(error.code).toBe('record-damaged')
    expect(error.files).toBe('unknown')
    const aside = readdirSync(state(home)).find((name) => name.includes('damaged'))
    expect(aside).toMatch(/^run-.+\.json\.damaged-/)
    expect(error.message).toContain(aside)
    expect(settle(worldIn(home))).toBeUndefined()
  })

  test('a damaged journal stands in the way of undoing an earlier run in its place', () => {
    const home = aHome(oldPair)
    const { run } = applyPlan(worldIn(home), aPairPlan(sourceIn(home), 'sk-first'))
    killedAfterCommit(home, { isNothingSwitched: true })
    writeFileSync(`${state(home)}/journal.json`, 'broken')
    expect(failureOf(() => settle(worldIn(home))).code).toBe('record-damaged')
    expect(failureOf(() => planRollback(worldIn(home)))).toMatchObject({
      code: 'record-damaged',
      hint: expect.stringContaining(`--run ${run?.id}`),
    })
  })

  test('sets a journal aside whose copies are gone', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    rmSync(temporaryOf(home, 'config.toml'))
    rmSync(`${state(home)}/blobs`, { recursive: true })
    expect(failureOf(() => settle(worldIn(home))).code).toBe('record-damaged')
    expect(settle(worldIn(home))).toBeUndefined()
  })

  test('follows no journal to another place than the path leads to', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    home.put('elsewhere/config.toml', oldConfig)
    rmSync(home.at('.codex/config.toml'))
    home.put('.codex/config.toml', { link: '../elsewhere/config.toml' })
    expect(settle(worldIn(home))?.left).toEqual([home.at('.codex/config.toml')])
    expect(home.text('elsewhere/config.toml')).toBe(oldConfig)
  })

  test('says that it is pending when it cannot finish now, and finishes later', () => {
    const home = aHome(oldPair)
    killedAfterCommit(home)
    const world = worldIn(home)
    const readOnly = withCalls(world, {
      rename: (from, to) => {
        if (to.endsWith('config.toml')) throw Object.assign(new Error(), { code: 'EROFS' })
        world.files.rename(from, to)
      },
    })
    expect(failureOf(() => settle(readOnly))).toMatchObject({
      code: 'not-permitted',
      files: 'pending',
    })
    expect(settle(world)).toMatchObject({ outcome: 'rolled-forward' })
  })
})

/** Committed, and the first file switched. */
function killedAfterCommit(home: Home, options: { isNothingSwitched?: boolean } = {}): void {
  killedBefore(home, options.isNothingSwitched ? '.codex/auth.json' : '.codex/config.toml')
  expect(existsSync(`${state(home)}/journal.json`)).toBe(true)
}

/** A setup that dies just before it renames something to `target`, and tidies nothing up. */
function killedBefore(home: Home, target: string): void {
  const world = worldIn(home)
  let isDead = false
  const dying = new Proxy(world.files, {
    get: (files, name) => {
      const call = files[name as keyof typeof files] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (name === 'rename' && String(args[1]).endsWith(target)) isDead = true
        if (isDead) throw new Killed()
        return call(...args)
      }
    },
  })
  expect(() => applyPlan({ ...world, files: dying }, aPairPlan(sourceIn(home)))).toThrow(Killed)
  rmSync(`${state(home)}/lock`, { recursive: true })
}

function temporaryOf(home: Home, name: string): string {
  const found = readdirSync(home.at('.codex')).find((one) => one.startsWith(`.${name}.repoint-`))
  if (!found) throw new Error(`no temporary file of ${name}`)
  return home.at(`.codex/${found}`)
}
