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
import { sha256Of } from '../../src/transaction/files.ts'
import { planRollback } from '../../src/transaction/plan-rollback.ts'
import { readBlob } from '../../src/transaction/records/blobs.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Home } from '../support/home.ts'
import { keptPaths, rollBack, setUp as setUpEdits } from '../support/runs.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
const oldConfig = '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.a]\ncommand = "x"\n'
const oldPair = { '.codex/auth.json': oldAuth, '.codex/config.toml': oldConfig }

function setUp(home: Home): void {
  setUpEdits(home, aPairPlan(sourceIn(home)).edits)
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

  test('restores a file that was not a valid document', () => {
    const broken = '{"tokens": '
    const home = aHome({ ...oldPair, '.codex/auth.json': broken })
    setUp(home)
    rollBack(home)
    expect(home.text('.codex/auth.json')).toBe(broken)
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

  test.each(['removed', 'changed'])('refuses when a saved copy was %s', (what) => {
    const home = aHome(oldPair)
    const world = worldIn(home)
    setUp(home)
    const blob = `${stateFolder(world.machine)}/blobs/${sha256Of(Buffer.from(oldAuth))}`
    expect(existsSync(blob)).toBe(true)
    if (what === 'removed') rmSync(blob)
    else writeFileSync(blob, oldAuth.replace('old', 'bad'))
    expect(failureOf(() => planRollback(world)).code).toBe('backup-missing')
    expect(failureOf(() => readBlob(world, sha256Of(Buffer.from(oldAuth)))).code).toBe(
      'backup-missing',
    )
  })

  test('refuses to touch what replaced a file', () => {
    const home = aHome(oldPair)
    setUp(home)
    rmSync(home.at('.codex/config.toml'))
    mkdirSync(home.at('.codex/config.toml'))
    expect(failureOf(() => planRollback(worldIn(home))).code).toBe('config-conflict')
  })
})
