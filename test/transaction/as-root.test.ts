import { chownSync, lstatSync, readdirSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { checkTargets } from '../../src/transaction/check.ts'
import { listRuns } from '../../src/transaction/records.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { aPairPlan, aPlan, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const someone = { uid: 54321, gid: 54322 }
const isRoot = process.getuid?.() === 0

function ownersIn(home: Home): string[] {
  const names = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
  return names.map((name) => {
    const { uid, gid } = lstatSync(home.at(name))
    return `${uid}:${gid} ${name.replace(/[0-9a-f]{64}|run-.*$/, '…')}`
  })
}

describe.runIf(isRoot)('as root in the home of another user', () => {
  function homeOfSomeone(given: Parameters<typeof aHome>[0] = {}): Home {
    const home = aHome(given)
    for (const name of ['', ...readdirSync(home.path, { recursive: true, encoding: 'utf8' })])
      chownSync(home.at(name), someone.uid, someone.gid)
    return home
  }

  test('everything that is made belongs to that user', () => {
    const home = homeOfSomeone()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const owners = ownersIn(home)
    expect(owners.filter((one) => !one.startsWith('54321:54322 '))).toEqual([])
    expect(owners.length).toBeGreaterThan(8)
  })

  test('a run after it is carried out, and undone, in the same state folder', () => {
    const home = homeOfSomeone({ '.codex/config.toml': 'model = "x"\n' })
    const before = home.snapshot()
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)))
    checkTargets(world, aPairPlan(sourceIn(home), 'sk-second'))
    applyPlan(world, aPairPlan(sourceIn(home), 'sk-second'))
    expect(listRuns(world).runs).toHaveLength(2)
    applyRollback(world, planRollback(world, { original: true })!)
    expect(home.snapshot()).toEqual(before)
    expect(ownersIn(home).filter((one) => !one.startsWith('54321:54322 '))).toEqual([])
  })

  test("that user's records lead to no file of somebody else's outside of that home", () => {
    const elsewhere = aHome({ 'system.json': '{"mine": true}\n' })
    const home = homeOfSomeone({ 'own.json': '{}\n' })
    const world = worldIn(home)
    const place = elsewhere.at('system.json')
    const edits = ['own.json', relative(home.path, place)].map((name) =>
      keysEdit(sourceIn(home), name, [{ path: ['model'], value: 'x' }]),
    )
    for (const edit of edits) applyPlan(world, aPlan([{ ...edit, path: resolve(edit.path) }]))
    const written = elsewhere.text('system.json')
    expect(() => applyRollback(world, planRollback(world)!)).toThrow('does not belong to the user')
    expect(elsewhere.text('system.json')).toBe(written)
    chownSync(place, someone.uid, someone.gid)
    applyRollback(world, planRollback(world)!)
    expect(elsewhere.text('system.json')).toBe('{"mine": true}\n')
  })

  test('a file of root in that home goes back too', () => {
    const home = homeOfSomeone({ '.codex/config.toml': 'model = "x"\n' })
    const before = home.snapshot()
    chownSync(home.at('.codex/config.toml'), 0, 0)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.snapshot()).toEqual(before)
  })

  test('a state folder of a third user is refused', () => {
    const home = homeOfSomeone({ 'state/.keep': '' })
    chownSync(home.at('state'), 777, 777)
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('state') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow('belongs to another user')
  })
})

describe('under sudo with the own home', () => {
  function sudo(home: Home, owner: number) {
    const world = worldIn(home, { SUDO_UID: '1000' })
    const { files } = world
    const stat = (path: string) => ({ ...files.stat(path), uid: owner })
    return { ...withCalls(world, { stat }), processes: { ...world.processes, uid: 0 } }
  }

  test.each([
    ['the run', applyPlan],
    ['the look before it', checkTargets],
  ])('%s refuses before anything is written', (_, work) => {
    const home = aHome()
    expect(() => work(sudo(home, 1000), aPairPlan(sourceIn(home)))).toThrow(
      expect.objectContaining({
        code: 'not-permitted',
        hint: expect.stringContaining('without sudo'),
      }),
    )
    expect(readdirSync(home.path)).toEqual([])
  })

  test("root's own home is root's business", () => {
    const home = aHome()
    checkTargets(sudo(home, 0), aPairPlan(sourceIn(home)))
  })

  test('a plan that changes nothing is refused nothing', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    expect(applyPlan(sudo(home, 1000), aPairPlan(sourceIn(home))).run).toBeUndefined()
  })
})
