import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Plan } from '../../src/edits/types.ts'
import type { ErrorCode } from '../../src/error-codes.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { checkPlannedFiles } from '../../src/transaction/check-planned-files.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { aPairPlan, aPlan, keysEdit, settingsEdit } from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Given, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const config = '.codex/config.toml'
const pair = { '.codex/auth.json': '{}\n', [config]: 'model = "x"\n' }

/** Folders that count as unwritable, even if root runs the tests and may write everywhere. */
function readOnly(home: Home, ...folders: readonly string[]): World {
  const world = worldIn(home)
  const refused = folders.map((folder) => home.at(folder))
  const refuse = (path: string) => {
    if (refused.includes(join(path, '..')))
      throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
  }
  const { files } = world
  return withCalls(world, {
    checkWritable: (path) => {
      refuse(join(path, 'x'))
      files.checkWritable(path)
    },
    createNew: (path, mode) => {
      refuse(path)
      return files.createNew(path, mode)
    },
    mkdir: (path, mode) => {
      refuse(path)
      files.mkdir(path, mode)
    },
  })
}

describe('checkPlannedFiles', () => {
  test('finds no problem if the plan can be applied, and writes nothing', () => {
    for (const home of [aHome(), aHome(pair)]) {
      const before = home.snapshot()
      checkPlannedFiles(worldIn(home), aPairPlan(sourceIn(home)))
      expect(home.snapshot()).toEqual(before)
      expect(existsSync(home.at('.local'))).toBe(false)
    }
  })

  test.each<[string, Readonly<Record<string, Given>>, ErrorCode, string]>([
    [
      'a symlink into a folder that does not exist',
      { [config]: { link: '../nowhere/config.toml' } },
      'config-conflict',
      'is a symbolic link into a folder that does not exist: ~/nowhere/config.toml',
    ],
    ['a folder instead of a file', { [`${config}/x`]: '' }, 'config-conflict', 'is a folder, not'],
    ['a file instead of a folder', { '.codex': '' }, 'config-conflict', 'not a regular file in a'],
    [
      'circular symlinks',
      { [config]: { link: 'b' }, '.codex/b': { link: 'config.toml' } },
      'config-conflict',
      'is a symbolic link to itself',
    ],
    [
      'a folder that is a dangling symlink',
      { '.codex': { link: 'nowhere' } },
      'config-conflict',
      'is below a symbolic link whose target does not exist',
    ],
    [
      'a file on the way to the state folder',
      { ...pair, '.local': '' },
      'config-conflict',
      '~/.local/state/repoint is not a regular file in a folder',
    ],
    [
      "a state folder with someone's files",
      { ...pair, '.local/state/repoint/notes.txt': '' },
      'not-permitted',
      'contains a file that repoint did not write: notes.txt',
    ],
  ])('finds %s, in the words of the run, and changes nothing', (_, given, code, message) => {
    const home = aHome(given)
    const before = home.snapshot()
    const plan = aPairPlan(sourceIn(home))
    for (const work of [checkPlannedFiles, applyPlan])
      expect(failureOf(() => work(worldIn(home), plan))).toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
    expect(home.snapshot()).toEqual(before)
  })

  test.each<[string, (home: Home) => World, ErrorCode, string]>([
    [
      'a file with two names',
      (home) => {
        linkSync(home.at(config), home.at('other'))
        return worldIn(home)
      },
      'config-conflict',
      '~/.codex/config.toml has 2 names',
    ],
    [
      "another user's file",
      (home) => {
        const world = worldIn(home)
        const uid = world.processes.uid + 1
        const { files } = world
        const lstat = (path: string) => {
          const status = files.lstat(path)
          return path.endsWith('.json') ? status : { ...status, uid }
        }
        return { ...withCalls(world, { lstat }), processes: { ...world.processes, uid } }
      },
      'not-permitted',
      '~/.codex/auth.json belongs to another user',
    ],
    [
      'a folder that is not writable',
      (home) => readOnly(home, '.codex'),
      'not-permitted',
      'cannot be written: the file system is read-only',
    ],
    [
      'a state folder that may not be written',
      (home) => {
        home.put('.local/state/repoint/models.txt', '')
        chmodSync(home.at('.local/state/repoint'), 0o700)
        return readOnly(home, '.local/state/repoint')
      },
      'not-permitted',
      '~/.local/state/repoint',
    ],
    [
      'a place where no state folder can be made',
      (home) => {
        mkdirSync(home.at('.local'))
        return readOnly(home, '.local')
      },
      'not-permitted',
      'cannot be written: the file system is read-only',
    ],
  ])('finds %s, in the words of the run', (_, prepare, code, message) => {
    const home = aHome(pair)
    const plan = aPairPlan(sourceIn(home))
    const world = prepare(home)
    for (const work of [checkPlannedFiles, applyPlan])
      expect(failureOf(() => work(world, plan))).toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
    expect(home.text('.codex/auth.json')).toBe(pair['.codex/auth.json'])
  })

  test('finds two paths to one file, in the words of the run', () => {
    const home = aHome({ 'a.json': '{}', 'b.json': { link: 'a.json' } })
    const edits = ['a.json', 'b.json'].map((name) =>
      keysEdit(sourceIn(home), name, [{ path: ['model'], value: name }]),
    )
    for (const work of [checkPlannedFiles, applyPlan])
      expect(failureOf(() => work(worldIn(home), aPlan(edits)))).toMatchObject({
        code: 'config-conflict',
        message: expect.stringContaining('links to the same file'),
      })
    expect(home.text('a.json')).toBe('{}')
  })

  test.runIf(process.platform === 'linux')(
    'finds rights of the group that a rollback would keep, as the run does',
    () => {
      const home = aHome({ '.claude/settings.json': '{}\n' })
      applyPlan(worldIn(home), aPlan([settingsEdit(sourceIn(home))]))
      chmodSync(home.at('.claude/settings.json'), 0o640)

      const world = withCalls(worldIn(home), { canCopyAttributes: () => false })
      const undo = planRollback(world)!
      const found = failureOf(() => checkPlannedFiles(world, undo, { rollback: undo }))
      expect(found.code).toBe('not-permitted')
      const { code, message } = failureOf(() => applyRollback(world, undo))
      expect({ code, message }).toEqual({ code: found.code, message: found.message })
    },
  )

  test.runIf(process.platform === 'linux')(
    'checks the undo of the plan by the same rules, and refuses a plan without one',
    () => {
      const home = aHome(pair)
      chmodSync(home.at('.codex/config.toml'), 0o664)
      const before = home.snapshot()
      let calls = 0
      const world = withCalls(worldIn(home), { canCopyAttributes: () => ++calls === 1 })
      expect(failureOf(() => checkPlannedFiles(world, aPairPlan(sourceIn(home))))).toMatchObject({
        code: 'not-permitted',
        message: expect.stringMatching(/rollback could not undo this in .*config\.toml/),
      })
      expect(home.snapshot()).toEqual(before)
    },
  )

  test('does not check files that stay unchanged', () => {
    const home = aHome(pair)
    const plan = aPairPlan(sourceIn(home))
    applyPlan(worldIn(home), plan)
    checkPlannedFiles(readOnly(home, '.codex'), aPairPlan(sourceIn(home)))
  })
})

describe('a record', () => {
  test('has the absolute path of a relative one, and can be undone', () => {
    const home = aHome(pair)
    const before = home.snapshot()
    const plan = aPairPlan(sourceIn(home))
    const edits = plan.edits.map((edit) => ({ ...edit, path: relative(home.path, edit.path) }))
    applyPlan(worldIn(home), { ...plan, edits })
    expect(home.text('.codex/config.toml')).toContain('gateway')
    const world = worldIn(home)
    expect(listRuns(world)).toMatchObject({ runs: [{}], damaged: [] })
    applyRollback(world, planRollback(world)!)
    expect(home.snapshot()).toEqual(before)
  })

  test('contains only permission bits', () => {
    const home = aHome(pair)
    chmodSync(home.at('.codex/config.toml'), 0o2644)
    const { run } = applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const config = run?.files.find(({ path }) => path.endsWith('config.toml'))
    expect([config?.before?.mode, config?.written?.mode]).toEqual([0o644, 0o644])
    expect(listRuns(worldIn(home)).damaged).toEqual([])
  })
})

describe('a path that is not valid UTF-8', () => {
  const odd = (name: string) => Buffer.concat([Buffer.from(`${name}/`), Buffer.of(0xe9)])

  test.each([
    ['the home', (home: Home) => ({ ...worldIn(home).machine, home: home.at('\ufffd') })],
    [
      'the state folder',
      (home: Home) => ({
        ...worldIn(home).machine,
        env: { REPOINT_STATE_DIR: home.at('\ufffd/state') },
      }),
    ],
  ])('in %s is refused with a message, and nothing is created', (_, machineIn) => {
    const home = aHome()
    mkdirSync(odd(home.path))
    const world = { ...worldIn(home), machine: machineIn(home) }
    const plan = aPairPlan(sourceIn(home))
    for (const work of [() => listRuns(world), () => applyPlan(world, plan)])
      expect(failureOf(work)).toMatchObject({
        code: 'config-conflict',
        message: expect.stringContaining('is not valid UTF-8'),
      })
    expect(readdirSync(home.path)).toEqual(['\ufffd'])
  })

  test('is also refused behind a link', () => {
    const home = aHome()
    mkdirSync(odd(home.path))
    symlinkSync(odd(home.path), home.at('.codex'))
    const source = sourceIn(home)
    const world = worldIn(home)
    const refusedWith = (plan: Plan, message: string) => {
      for (const work of [() => checkPlannedFiles(world, plan), () => applyPlan(world, plan)])
        expect(failureOf(work)).toMatchObject({
          code: 'config-conflict',
          message: expect.stringContaining(message),
        })
    }
    refusedWith(
      aPairPlan({ ...source, at: (name) => home.at(`\ufffd/${name}`) }),
      'not valid UTF-8',
    )
    refusedWith(aPairPlan(source), 'whose target does not exist')
    expect(readdirSync(odd(home.path))).toEqual([])
  })
})
