import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { superuserFinding } from '../../src/transaction/as-root.ts'
import { checkPlannedFiles } from '../../src/transaction/check-planned-files.ts'
import { planRollback } from '../../src/transaction/plan-rollback.ts'
import { encodeDocument, type RunDocument, type World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { aPairPlan, aPlan, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const someone = 54321
const isRoot = process.getuid?.() === 0
const refused = expect.objectContaining({ code: 'not-permitted', filesState: 'unchanged' })

/** Every file of the home, with its owner and mode. */
function everythingIn(home: Home): string[] {
  const names = readdirSync(home.path, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => {
    const { uid, mode, size } = lstatSync(home.at(name))
    return `${uid} ${mode.toString(8)} ${size} ${name}`
  })
}

function giveTo(home: Home, uid: number): void {
  for (const name of ['', ...readdirSync(home.path, { recursive: true, encoding: 'utf8' })])
    spawnSync('chown', ['-h', String(uid), home.at(name)])
}

describe.runIf(isRoot)('as root in the home of another user', () => {
  function homeOfSomeone(given: Parameters<typeof aHome>[0] = {}): Home {
    const home = aHome(given)
    giveTo(home, someone)
    return home
  }

  test('reads, creates and writes nothing, and names the user', () => {
    const home = homeOfSomeone({ '.codex/config.toml': 'model = "x"\n' })
    const before = everythingIn(home)
    for (const work of [applyPlan, checkPlannedFiles])
      expect(() => work(worldIn(home), aPairPlan(sourceIn(home)))).toThrow(
        expect.objectContaining({
          code: 'not-permitted',
          hint: expect.stringContaining(`-u '#${someone}'`),
        }),
      )
    for (const work of [recoverRun, listRuns, planRollback])
      expect(() => work(worldIn(home))).toThrow(refused)
    expect(everythingIn(home)).toEqual(before)
  })

  test('does not make a file of root readable through a symlink', () => {
    const secret = aHome({ 'shadow.json': '{"root": "only"}\n' })
    const home = homeOfSomeone({ '.claude/settings.json': { link: secret.at('shadow.json') } })
    const edit = keysEdit(sourceIn(home), '.claude/settings.json', [{ path: ['a'], value: 'b' }])
    expect(() => applyPlan(worldIn(home), aPlan([edit]))).toThrow(refused)
    expect(secret.text('shadow.json')).toBe('{"root": "only"}\n')
    expect(everythingIn(home).filter((path) => path.includes('blobs'))).toEqual([])
  })

  test.each(['draft', 'journal', 'run-20261121T091500Z-0000'])(
    'does nothing for a forged %s',
    (name) => {
      const victim = aHome({ 'keep/me.json': 'x', 'empty/.keep': '' })
      const home = homeOfSomeone()
      const folder = home.at('.local/state/repoint')
      home.put(`.local/state/repoint/${name}.json`, encodeDocument(forged(victim)), 0o600)
      giveTo(home, someone)
      spawnSync('chmod', ['700', folder])
      const before = everythingIn(victim)
      const world = worldIn(home)
      for (const work of [recoverRun, listRuns, planRollback])
        expect(() => work(world)).toThrow(refused)
      expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(refused)
      expect(everythingIn(victim)).toEqual(before)
    },
  )

  /** A document that would delete a file of root, create a folder and delete another. */
  function forged(victim: Home): RunDocument {
    const version = { sha256: '0'.repeat(64), mode: 0o644, uid: someone, gid: someone }
    const file = {
      client: 'codex',
      path: victim.at('keep/me.json'),
      realPath: victim.at('keep/me.json'),
      format: 'json',
      scope: 'whole',
      holdsSecret: true,
      settings: [{ path: ['a'] }],
      before: null,
      written: version,
    } as const
    const run = {
      id: '20261121T091500Z-0000',
      at: '2026-11-21T09:15:00Z',
      home: victim.path,
      kind: 'setup' as const,
      command: 'codex',
      clients: ['codex'],
      files: [file],
      folders: [victim.at('empty'), victim.at('made')],
    }
    return { run, temps: [victim.at('keep/me.json')], dropFolders: [victim.at('empty')] }
  }
})

describe.runIf(isRoot)("as root in root's own home", () => {
  test.each<[string, (home: Home) => void]>([
    ['a file of another user', (home) => chownSync(home.at('.codex/config.toml'), someone, 0)],
    ['a folder of another user', (home) => chownSync(home.at('.codex'), someone, 0)],
    [
      'a link out of it',
      (home) => {
        const elsewhere = aHome({ 'config.toml': home.text('.codex/config.toml') })
        spawnSync('rm', [home.at('.codex/config.toml')])
        symlinkSync(elsewhere.at('config.toml'), home.at('.codex/config.toml'))
      },
    ],
    ['a state folder of another user', (home) => stateOf(home, someone)],
    [
      'a state folder that does not exist yet, behind a link out of it',
      (home) => symlinkSync(aHome().path, home.at('.local')),
    ],
  ])('%s is refused', (_, prepare) => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const plan = aPairPlan(sourceIn(home))
    prepare(home)
    const before = everythingIn(home)
    for (const work of [checkPlannedFiles, applyPlan])
      expect(() => work(worldIn(home), plan)).toThrow(refused)
    expect(everythingIn(home).filter((path) => !path.includes('.local'))).toEqual(
      before.filter((path) => !path.includes('.local')),
    )
    expect(readFileSync(home.at('.codex/config.toml'), 'utf8')).toBe('model = "x"\n')
  })

  test('accepts a state folder outside of the home if only root can write there', () => {
    const [home, elsewhere] = [aHome(), aHome()]
    const world = worldIn(home, { REPOINT_STATE_DIR: elsewhere.at('state') })
    applyPlan(world, aPairPlan(sourceIn(home)))
    expect(readdirSync(elsewhere.path)).toEqual(['state'])
  })

  test.each([
    ['belongs to another user', (place: string) => chownSync(place, someone, someone)],
    ['may be written by others', (place: string) => chmodSync(place, 0o777)],
  ])('refuses a folder outside of the home that %s, for state and for targets', (_, open) => {
    const [home, elsewhere] = [aHome(), aHome()]
    open(elsewhere.path)
    const world = worldIn(home, { REPOINT_STATE_DIR: elsewhere.at('state') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(refused)
    expect(() => applyPlan(worldIn(home), aPairPlan(sourceIn(elsewhere)))).toThrow(refused)
    expect(readdirSync(elsewhere.path)).toEqual([])
  })

  test("refuses a path with another user's link to a folder of root", () => {
    const [home, theirs, elsewhere] = [aHome(), aHome(), aHome()]
    symlinkSync(elsewhere.path, theirs.at('link'))
    giveTo(theirs, someone)
    const world = worldIn(home, { REPOINT_STATE_DIR: theirs.at('link/state') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(refused)
    expect(readdirSync(elsewhere.path)).toEqual([])
  })

  function stateOf(home: Home, uid: number): void {
    mkdirSync(home.at('.local/state/repoint'), { recursive: true, mode: 0o700 })
    chownSync(home.at('.local/state/repoint'), uid, uid)
  }
})

describe("under sudo with the user's own home", () => {
  function sudo(home: Home, owner: number): World {
    const world = worldIn(home, { SUDO_UID: '1000' })
    const { files } = world
    const as = (uid: number) => ({
      lstat: (path: string) => ({ ...files.lstat(path), uid }),
      stat: (path: string) => ({ ...files.stat(path), uid }),
    })
    return { ...withCalls(world, as(owner)), processes: { ...world.processes, uid: 0 } }
  }

  test.each([
    ['the run', applyPlan],
    ['the check before it', checkPlannedFiles],
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

  test("accepts root's home, and reports it", () => {
    const home = aHome()
    const world = sudo(home, 0)
    checkPlannedFiles(world, aPairPlan(sourceIn(home)))
    expect(superuserFinding(world)).toMatchObject([{ code: 'runs-as-root' }])
    expect(superuserFinding(sudo(home, 1000))).toEqual([])
    expect(superuserFinding(worldIn(home))).toEqual([])
    const byRoot = { ...world, machine: { ...world.machine, env: { SUDO_UID: '0' } } }
    expect(superuserFinding(byRoot)).toEqual([])
  })

  test("accepts a link to root's home", () => {
    const home = aHome()
    const around = aHome({ home: { link: home.path } })
    const world = sudo(home, 0)
    const linked = { ...world, machine: { ...world.machine, home: around.at('home') } }
    const source = { at: (name: string) => around.at(`home/${name}`), text: () => null }
    expect(applyPlan(linked, aPairPlan(source)).run).toBeDefined()
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
  })

  test('accepts a plan that changes nothing', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    expect(applyPlan(sudo(home, 1000), aPairPlan(sourceIn(home))).run).toBeUndefined()
  })
})
