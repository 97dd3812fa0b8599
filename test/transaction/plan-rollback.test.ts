import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Plan, SettingChange } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import { planRollback } from '../../src/transaction/plan-rollback.ts'
import { readBlob } from '../../src/transaction/records/blobs.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'
import { aPairPlan, aPlan, authEdit, configEdit, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { keptPaths, rollBack } from '../support/runs.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
const oldConfig = '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.a]\ncommand = "x"\n'
const oldPair = { '.codex/auth.json': oldAuth, '.codex/config.toml': oldConfig }

function setUp(home: Home, plan: Plan = aPairPlan(sourceIn(home))) {
  const { run } = applyPlan(worldIn(home), plan)
  if (!run) throw new Error('nothing changed')
  return run
}

/** The same plan in which every setting is undone together with address and key. */
function bound(plan: Plan): Plan {
  const edits = plan.edits.map((edit) => ({
    ...edit,
    changes: edit.changes.map(
      (change): SettingChange => ({
        ...change,
        role: change.isSecret ? 'key' : 'address',
      }),
    ),
  }))
  return { ...plan, edits }
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof UserError) return error.code
    throw error
  }
  return 'none'
}

describe('rollback', () => {
  test('undoes, redoes and undoes to the byte', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    setUp(home)
    const after = home.snapshot()
    for (let round = 0; round < 2; round++) {
      rollBack(home)
      expect(home.snapshot()).toEqual(before)
      expect(planRollback(worldIn(home))).toBeUndefined()
      rollBack(home, { which: { kind: 'newest-undo' } })
      expect(home.snapshot()).toEqual(after)
    }
  })

  test('switches in reverse order, and a redo in the original order', () => {
    const home = aHome(oldPair)
    const run = setUp(home)
    const back = rollBack(home)
    const forward = rollBack(home, { which: { kind: 'newest-undo' } })
    const order = (paths: readonly { path: string }[]) =>
      paths.map(({ path }) => path.split('/').at(-1))
    expect(order(run.files)).toEqual(['auth.json', 'config.toml'])
    expect(order(back.applied.run?.files ?? [])).toEqual(['config.toml', 'auth.json'])
    expect(order(forward.applied.run?.files ?? [])).toEqual(['auth.json', 'config.toml'])
    expect(back.applied.run?.undoes?.map(({ run }) => run)).toContain(run.id)
  })

  test('removes the files and folders that the run created, and a redo creates them again', () => {
    const home = aHome()
    setUp(home)
    const after = home.snapshot()
    expect(rollBack(home).files.map(({ action }) => action)).toEqual(['removed', 'removed'])
    expect(home.snapshot()).toEqual({})
    rollBack(home, { which: { kind: 'newest-undo' } })
    expect(home.snapshot()).toEqual(after)
  })

  test('keeps a folder that the run created if someone put something into it', () => {
    const home = aHome()
    setUp(home)
    home.put('.codex/history.jsonl', '{}\n')
    rollBack(home)
    expect(Object.keys(home.snapshot())).toEqual(['.codex', '.codex/history.jsonl'])
  })

  test('restores the mode that the run closed, unless someone changed it since', () => {
    const home = aHome(oldPair)
    chmodSync(home.at('.codex/auth.json'), 0o644)
    setUp(home)
    rollBack(home)
    expect(statSync(home.at('.codex/auth.json')).mode & 0o777).toBe(0o644)
    setUp(home)
    chmodSync(home.at('.codex/auth.json'), 0o400)
    rollBack(home)
    expect(statSync(home.at('.codex/auth.json')).mode & 0o777).toBe(0o400)
  })

  test('works through symlinks, also one that was created since', () => {
    const home = aHome({
      'dotfiles/auth': oldAuth,
      '.codex/auth.json': { link: '../dotfiles/auth' },
      '.codex/config.toml': oldConfig,
    })
    setUp(home)
    home.put('dotfiles/config', home.text('.codex/config.toml'))
    rmSync(home.at('.codex/config.toml'))
    home.put('.codex/config.toml', { link: '../dotfiles/config' })
    rollBack(home)
    expect(home.text('dotfiles/auth')).toBe(oldAuth)
    expect(home.text('dotfiles/config')).toBe(oldConfig)
    expect(lstatSync(home.at('.codex/config.toml')).isSymbolicLink()).toBe(true)
  })

  test('removes our keys from a file that the client rewrote, and keeps its additions', () => {
    const home = aHome(oldPair)
    setUp(home)
    home.put(
      '.codex/config.toml',
      `${home.text('.codex/config.toml')}\n[projects."/x"]\ntrust_level = "trusted"\n`,
    )
    const { kept } = rollBack(home)
    expect(home.text('.codex/config.toml')).toBe(
      `${oldConfig}\n[projects."/x"]\ntrust_level = "trusted"\n`,
    )
    expect(kept).toEqual([])
  })

  test('keeps a key that was edited since, and reports it', () => {
    const home = aHome(oldPair)
    setUp(home)
    const config = home.text('.codex/config.toml').replace('"gpt-5.6-sol"', '"theirs"')
    home.put('.codex/config.toml', config)
    const { kept } = rollBack(home)
    expect(keptPaths({ kept })).toEqual([['model']])
    expect(home.text('.codex/config.toml')).toBe(oldConfig.replace('"gpt-5.5"', '"theirs"'))
  })

  test('never replaces a login that was made since', () => {
    const home = aHome(oldPair)
    setUp(home)
    const login = '{"tokens": {"access_token": "newer-login"}}\n'
    home.put('.codex/auth.json', login)
    const { files, kept } = rollBack(home)
    expect(home.text('.codex/auth.json')).toBe(login)
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
    expect(files.at(-1)).toMatchObject({ action: 'unchanged' })
    expect(kept).toMatchObject([{ path: ['tokens'], why: 'newer' }])
  })

  test('restores a file with scope whole if only its formatting changed', () => {
    const home = aHome(oldPair)
    setUp(home)
    const { OPENAI_API_KEY } = JSON.parse(home.text('.codex/auth.json'))
    home.put('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY }, undefined, 4))
    rollBack(home)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })

  test('does not restore a file that was deleted since', () => {
    const home = aHome(oldPair)
    setUp(home)
    rmSync(home.at('.codex/auth.json'))
    const { files } = rollBack(home)
    expect(files.at(-1)).toMatchObject({ action: 'unchanged' })
    expect(home.snapshot()).not.toHaveProperty('.codex/auth.json')
  })

  test('restores a file that was not a valid document', () => {
    const broken = '{"tokens": '
    const home = aHome({ ...oldPair, '.codex/auth.json': broken })
    setUp(home)
    rollBack(home)
    expect(home.text('.codex/auth.json')).toBe(broken)
  })

  test('undoes only the files of the given client', () => {
    const home = aHome({ ...oldPair, '.claude/settings.json': '{"model": "opus"}\n' })
    const source = sourceIn(home)
    const settings = keysEdit(
      source,
      '.claude/settings.json',
      [{ path: ['model'], value: 'sonnet' }],
      {
        client: 'claude',
      },
    )
    const run = setUp(home, aPlan([authEdit(source), configEdit(source), settings], 'setup'))
    const { applied } = rollBack(home, { clients: ['codex'] })
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
    expect(home.text('.claude/settings.json')).toContain('sonnet')
    expect(applied.run?.clients).toEqual(['codex'])
    rollBack(home, { clients: ['claude'], which: { kind: 'run', id: run.id } })
    expect(home.text('.claude/settings.json')).toContain('opus')
  })

  test('undoes a given older run together with the newer ones, to the byte', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    const first = setUp(home)
    const second = setUp(home, aPlan([configEdit(sourceIn(home), 'https://second.example/v1')]))
    const { runs, applied } = rollBack(home, { which: { kind: 'run', id: first.id } })
    expect(runs.map(({ id }) => id)).toEqual([second.id, first.id])
    expect(home.snapshot()).toEqual(before)
    expect(applied.run?.undoes?.map(({ run }) => run)).toContain(first.id)
  })

  test('undoes newer runs too, and keeps what others wrote between them', () => {
    const home = aHome(oldPair)
    const first = setUp(home)
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[notice]\nx = true\n`)
    setUp(home, aPlan([configEdit(sourceIn(home), 'https://second.example/v1')]))
    rollBack(home, { which: { kind: 'run', id: first.id } })
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}\n[notice]\nx = true\n`)
  })

  test('keeps address and key if one of them was changed since', () => {
    const home = aHome(oldPair)
    setUp(home, bound(aPairPlan(sourceIn(home))))
    const config = home.text('.codex/config.toml').replace('gateway.example', 'theirs.example')
    home.put('.codex/config.toml', config)
    const { files } = rollBack(home)
    expect(files.map(({ action }) => action)).toEqual(['unchanged', 'unchanged'])
    expect(home.text('.codex/config.toml')).toBe(config)
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
  })

  test('restores the old contents by force, whatever was changed since', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    setUp(home, bound(aPairPlan(sourceIn(home))))
    home.put('.codex/config.toml', 'broken = ')
    rmSync(home.at('.codex/auth.json'))
    rollBack(home, { force: true })
    expect(home.snapshot()).toEqual({ ...before, '.codex/auth.json': expect.any(String) })
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })

  test('finds nothing to undo without a record, and says so if all of it is gone', () => {
    const home = aHome(oldPair)
    expect(planRollback(worldIn(home))).toBeUndefined()
    setUp(home)
    expect(planRollback(worldIn(home), { clients: ['claude'] })).toBeUndefined()
    for (const name of Object.keys(oldPair)) rmSync(home.at(name))
    const { files, kept } = planRollback(worldIn(home))!
    expect(files.every(({ action }) => action === 'unchanged')).toBe(true)
    expect(keptPaths({ kept })).toEqual([[], []])
  })

  test('refuses a run that is not recorded', () => {
    const home = aHome(oldPair)
    setUp(home)
    expect(
      codeOf(() =>
        planRollback(worldIn(home), { which: { kind: 'run', id: '20200101T000000Z-0000' } }),
      ),
    ).toBe('usage')
  })

  test.each(['removed', 'changed'])('refuses when a saved copy was %s', (what) => {
    const home = aHome(oldPair)
    const world = worldIn(home)
    setUp(home)
    const blob = `${stateFolder(world.machine)}/blobs/${sha256Of(Buffer.from(oldAuth))}`
    expect(existsSync(blob)).toBe(true)
    if (what === 'removed') rmSync(blob)
    else writeFileSync(blob, oldAuth.replace('old', 'bad'))
    expect(codeOf(() => planRollback(world))).toBe('backup-missing')
    expect(codeOf(() => readBlob(world, sha256Of(Buffer.from(oldAuth))))).toBe('backup-missing')
  })

  test('refuses to touch what replaced a file', () => {
    const home = aHome(oldPair)
    setUp(home)
    rmSync(home.at('.codex/config.toml'))
    mkdirSync(home.at('.codex/config.toml'))
    expect(codeOf(() => planRollback(worldIn(home)))).toBe('config-conflict')
  })
})
