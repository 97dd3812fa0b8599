import { chmodSync, chownSync, lstatSync, rmSync, statSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { aPairPlan, aPlan, authEdit, configEdit, settingsEdit } from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const auth = '.codex/auth.json'
const config = '.codex/config.toml'
const pair = { [auth]: '{"tokens": {"access_token": "old-login"}}\n', [config]: 'model = "old"\n' }
const isRoot = process.getuid?.() === 0

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}

const set = (home: Home, world: World) => applyPlan(world, aPairPlan(sourceIn(home)))
const modeOf = (home: Home, name: string) => statSync(home.at(name)).mode & 0o777

describe('the record of a run', () => {
  test('has the roles of its settings, and which are secret', () => {
    const home = aHome(pair)
    const { run } = set(home, worldIn(home))
    expect(run?.files.map(({ settings }) => settings.filter(({ role }) => role))).toEqual([
      [{ path: ['OPENAI_API_KEY'], role: 'key', isSecret: true }],
      [
        { path: ['model_provider'], role: 'address' },
        { path: ['model_providers', 'gateway', 'base_url'], role: 'address' },
      ],
    ])
    expect(run).not.toHaveProperty('undoes')
    expect(run).not.toHaveProperty('baseUrls')
    const plan = aPlan([settingsEdit(sourceIn(home))])
    const baseUrls = { chat: 'https://a', messages: 'https://b' }
    const next = applyPlan(worldIn(home), { ...plan, baseUrls }).run
    expect(next?.baseUrls).toEqual(baseUrls)
    expect(listRuns(worldIn(home)).runs).toEqual([next, run])
  })

  test('notes each mode that it closed; an undo notes none', () => {
    const home = aHome(pair)
    chmodSync(home.at(auth), 0o600)
    chmodSync(home.at(config), 0o600)
    const { files } = applyPlan(
      worldIn(home),
      aPlan([{ ...configEdit(sourceIn(home)), holdsSecret: true }, authEdit(sourceIn(home))]),
    )
    expect(files.map(({ note }) => note)).toEqual([undefined, undefined])
    chmodSync(home.at(auth), 0o644)
    const again = applyPlan(worldIn(home), aPlan([authEdit(sourceIn(home), 'sk-other')]))
    expect(again.files[0]?.note).toContain('mode 0644 became 0600')
    const back = applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(modeOf(home, auth)).toBe(0o644)
    expect(back.files[0]).not.toHaveProperty('note')
  })
})

describe('mode and owner', () => {
  test('are restored with a file that is restored by force', () => {
    const home = aHome(pair)
    chmodSync(home.at(config), 0o640)
    set(home, worldIn(home))
    rmSync(home.at(config))
    const umask = process.umask(0o077)
    onTestFinished(() => void process.umask(umask))
    applyRollback(worldIn(home), planRollback(worldIn(home), { force: true })!)
    expect([home.text(config), modeOf(home, config)]).toEqual([pair[config], 0o640])
  })

  test.skipIf(!isRoot)('the group of a deleted file is restored with it', () => {
    const home = aHome(pair)
    chownSync(home.at(config), 0, 5678)
    set(home, worldIn(home))
    rmSync(home.at(config))
    applyRollback(worldIn(home), planRollback(worldIn(home), { force: true })!)
    expect(lstatSync(home.at(config)).gid).toBe(5678)
  })

  test('are not set if they are right; a new file gets those of the system', () => {
    const home = aHome(pair)
    const world = withCalls(worldIn(home), { fchown: () => fail('EIO') })
    expect(set(home, world).run).toBeDefined()
    const fresh = aHome()
    expect(set(fresh, withCalls(worldIn(fresh), { fchown: () => fail('EIO') })).run).toBeDefined()
  })

  test.skipIf(!isRoot)(
    'a file is not closed if its undo could not give its rights back to its group',
    () => {
      const home = aHome(pair)
      const world = withCalls(worldIn(home), { fchown: () => fail('EPERM') })
      chownSync(home.at(auth), 0, 5678)
      chmodSync(home.at(auth), 0o660)
      expect(failureOf(() => set(home, world))).toMatchObject({
        code: 'not-permitted',
        filesState: 'unchanged',
        hint: expect.stringMatching(/chgrp \d+ .*auth\.json$/),
      })
      expect([modeOf(home, auth), lstatSync(home.at(auth)).gid]).toEqual([0o660, 5678])
      chmodSync(home.at(auth), 0o600)
      expect(set(home, world).run).toBeDefined()
    },
  )

  test.skipIf(!isRoot)('a group that cannot be given for another reason stops the run', () => {
    const home = aHome(pair)
    chownSync(home.at(config), 0, 5678)
    const world = withCalls(worldIn(home), { fchown: () => fail('EIO') })
    expect(failureOf(() => set(home, world))).toMatchObject({
      code: 'io-failed',
      filesState: 'unchanged',
    })
  })

  test('are not closed by a rollback that restores a secret', () => {
    const home = aHome({ '.claude/settings.json': '{}\n' })
    applyPlan(worldIn(home), aPlan([settingsEdit(sourceIn(home))]))
    chmodSync(home.at('.claude/settings.json'), 0o640)
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(modeOf(home, '.claude/settings.json')).toBe(0o640)
    applyRollback(worldIn(home), planRollback(worldIn(home), { which: { kind: 'newest-undo' } })!)
    expect(modeOf(home, '.claude/settings.json')).toBe(0o640)
  })
})
