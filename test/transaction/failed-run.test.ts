import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Files } from '../../src/platform/platform.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { checkPlannedFiles } from '../../src/transaction/check-planned-files.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import { isChangedByRun, type World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import {
  aPairPlan,
  aPlan,
  authEdit,
  bytesOf,
  configEdit,
  keysEdit,
  settingsEdit,
} from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const auth = '.codex/auth.json'
const config = '.codex/config.toml'
const pair = { [auth]: '{"tokens": {"access_token": "old-login"}}\n', [config]: 'model = "old"\n' }

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}

const set = (home: Home, world: World) => applyPlan(world, aPairPlan(sourceIn(home)))

describe('a run that fails at the commit', () => {
  /** The commit is renamed, and then the disk cannot say whether that is durable. */
  function afterCommit(home: Home, back: (from: string, to: string) => void): World {
    const world = worldIn(home)
    let isCommitted = false
    return withCalls(world, {
      rename: (from, to) => {
        if (isCommitted) return back(from, to)
        world.files.rename(from, to)
        isCommitted = /run-.*\.json$/.test(to)
      },
      fsyncFolder: (path) => (isCommitted ? fail('EIO') : world.files.fsyncFolder(path)),
    })
  }

  test('is restored if the commit cannot be flushed', () => {
    const home = aHome(pair)
    const before = home.snapshot()
    const { files } = worldIn(home)
    const world = afterCommit(home, files.rename)
    expect(failureOf(() => set(home, world)).filesState).toBe('pending')
    expect(listRuns(worldIn(home)).runs).toEqual([])
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'restored' })
    expect(home.snapshot()).toEqual(before)
  })

  test('stays if the restore fails too, and the error says so', () => {
    const home = aHome(pair)
    const error = failureOf(() =>
      set(
        home,
        afterCommit(home, () => fail('EIO')),
      ),
    )
    expect([error.code, error.filesState]).toEqual(['io-failed', 'changed'])
    expect(home.text(auth)).toContain('sk-canary')
    expect(listRuns(worldIn(home)).runs).toHaveLength(1)
    expect(recoverRun(worldIn(home))).toBeUndefined()
  })
})

describe('a run that fails during the switch', () => {
  function failingAtConfig(home: Home, meanwhile: () => void, back: Partial<Files> = {}): World {
    const world = worldIn(home)
    return withCalls(world, {
      rename: (from, to) => {
        if (!to.endsWith('config.toml')) return world.files.rename(from, to)
        meanwhile()
        fail('EIO')
      },
      ...back,
    })
  }

  test('reports an unknown state if others changed files in between', () => {
    const home = aHome(pair)
    const world = failingAtConfig(home, () => home.put(auth, '{"theirs": 1}'))
    const error = failureOf(() => set(home, world))
    expect([error.code, error.filesState]).toEqual(['io-failed', 'unknown'])
    expect(home.text(auth)).toBe('{"theirs": 1}')
  })

  test('reports the first failure and a pending state if the restore fails too', () => {
    const home = aHome(pair)
    let isFailing = false
    const { files } = worldIn(home)
    const world = failingAtConfig(
      home,
      () => {
        isFailing = true
      },
      { read: (path, max) => (isFailing ? fail('EACCES') : files.read(path, max)) },
    )
    const error = failureOf(() => set(home, world))
    expect([error.code, error.message]).toEqual([
      'io-failed',
      'Cannot read or write ~/.codex/config.toml (EIO)',
    ])
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'restored' })
  })

  test('does not hide a bug of ours during the restore', () => {
    const home = aHome(pair)
    const world = failingAtConfig(home, () => {}, {})
    const faulty = withCalls(world, {
      fsyncFolder: () => {
        throw new Error('ours')
      },
    })
    expect(() => set(home, faulty)).toThrow(/^ours$/)
  })
})

describe('a file that changed before the run', () => {
  test('by another program after an earlier run is blamed on that program', () => {
    const home = aHome(pair)
    set(home, worldIn(home))
    const plan = aPlan([configEdit(sourceIn(home), 'https://other.example/v1')])
    home.put(config, 'theirs = 1\n')
    expect(failureOf(() => applyPlan(worldIn(home), plan)).code).toBe('changed-underneath')
    rmSync(home.at(config))
    expect(failureOf(() => applyPlan(worldIn(home), plan)).code).toBe('changed-underneath')
  })

  test('by a rollback that removed it is blamed on another run', () => {
    const home = aHome()
    set(home, worldIn(home))
    const plan = aPlan([configEdit(sourceIn(home), 'https://other.example/v1')])
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(failureOf(() => applyPlan(worldIn(home), plan)).code).toBe('locked')
  })

  test('is not blamed on a run of another file', () => {
    const home = aHome({ ...pair, '.claude/settings.json': '{}\n' })
    const plan = aPlan([configEdit(sourceIn(home))])
    applyPlan(worldIn(home), aPlan([settingsEdit(sourceIn(home))]))
    home.put(config, home.text('.claude/settings.json'))
    expect(failureOf(() => applyPlan(worldIn(home), plan)).code).toBe('changed-underneath')
  })
})

describe('a plan that another run already applied', () => {
  test('records nothing, and reports no change', () => {
    const home = aHome(pair)
    const plan = aPairPlan(sourceIn(home))
    const { run } = applyPlan(worldIn(home), plan)
    const again = applyPlan(worldIn(home), plan)
    expect(again.run).toBeUndefined()
    expect(again.files.map(({ action }) => action)).toEqual(['unchanged', 'unchanged'])
    expect(listRuns(worldIn(home)).runs).toEqual([run])
  })

  test('still changes the other file', () => {
    const home = aHome(pair)
    const plan = aPairPlan(sourceIn(home))
    applyPlan(worldIn(home), aPlan([authEdit(sourceIn(home))]))
    const { run, files } = applyPlan(worldIn(home), plan)
    expect(files.map(({ action }) => action)).toEqual(['unchanged', 'updated'])
    // The record lists the unchanged file too: it says which key belongs to the address.
    expect(run?.files.map(({ path }) => path)).toEqual([
      home.at('.codex/auth.json'),
      home.at(config),
    ])
    expect(run?.files.map(isChangedByRun)).toEqual([false, true])
    expect(run?.clients).toEqual(['codex'])
  })

  test('does not check files that stay unchanged', () => {
    const home = aHome(pair)
    const same = { ...keysEdit(sourceIn(home), config, []), after: bytesOf(pair[config]) }
    const plan = aPlan([authEdit(sourceIn(home)), same])
    home.put(config, 'theirs = 1\n')
    const { files } = applyPlan(worldIn(home), plan)
    expect(files.map(({ action }) => action)).toEqual(['updated', 'unchanged'])
    expect(home.text(config)).toBe('theirs = 1\n')
  })
})

describe('the check before a run', () => {
  const notCopied = { canCopyAttributes: () => false, copyAttributes: () => false }

  test('reports attributes that existing files will lose', () => {
    const home = aHome({ [config]: 'model = "x"\n' })
    const world = withCalls(worldIn(home), notCopied)
    expect(checkPlannedFiles(world, aPairPlan(sourceIn(home)))).toEqual([
      {
        code: 'attributes-lost',
        severity: 'warning',
        message: 'repoint cannot keep access lists and extended attributes of ~/.codex/config.toml',
        hint: 'To keep them, install coreutils.',
      },
    ])
    const mac = { ...world, machine: { ...world.machine, os: 'darwin' as const } }
    expect(checkPlannedFiles(mac, aPairPlan(sourceIn(home)))[0]).not.toHaveProperty('hint')
    expect(checkPlannedFiles(worldIn(home), aPairPlan(sourceIn(home)))).toEqual([])
  })

  test('does not need a tool for attributes if there is no file', () => {
    const home = aHome()
    const asked = withCalls(worldIn(home), { canCopyAttributes: () => fail('asked') })
    expect(checkPlannedFiles(asked, aPairPlan(sourceIn(home)))).toEqual([])
  })

  test('reads nothing for a plan that changes nothing', () => {
    const home = aHome(pair)
    const edit = keysEdit(sourceIn(home), config, [{ path: ['model'], value: 'old' }])
    expect(edit.after).toEqual(edit.before)
    const blind = withCalls(worldIn(home), {
      lstat: () => fail('EIO'),
      stat: () => fail('EIO'),
      checkWritable: () => fail('EACCES'),
    })
    expect(checkPlannedFiles(blind, aPlan([edit]))).toEqual([])
    expect(applyPlan(blind, aPlan([edit]))).toMatchObject({
      run: undefined,
      files: [{ action: 'unchanged' }],
    })
  })

  test('accepts a state folder without copies', () => {
    const home = aHome({ ...pair, '.local/state/repoint/models.txt': '' })
    chmodSync(home.at('.local/state/repoint'), 0o700)
    expect(checkPlannedFiles(worldIn(home), aPairPlan(sourceIn(home)))).toEqual([])
  })

  test('finds a file instead of a folder even if the system reports a missing file', () => {
    const home = aHome({ '.codex': 'a file' })
    const { files } = worldIn(home)
    const windows = withCalls(worldIn(home), {
      lstat: (path) => (path.includes('.codex/') ? fail('ENOENT') : files.lstat(path)),
    })
    expect(failureOf(() => checkPlannedFiles(windows, aPairPlan(sourceIn(home)))).code).toBe(
      'config-conflict',
    )
  })

  test('refuses a group with more rights than others only if it may be the mask of an access list', () => {
    const home = aHome({ [config]: 'model = "x"\n' })
    chmodSync(home.at(config), 0o664)
    const plan = aPlan([configEdit(sourceIn(home))])
    const world = withCalls(worldIn(home), notCopied)
    expect(failureOf(() => checkPlannedFiles(world, plan))).toMatchObject({
      code: 'not-permitted',
      hint: expect.stringContaining(`chmod g=o ${home.at(config)}`),
    })
    expect(checkPlannedFiles(worldIn(home), plan)).toEqual([])
    const mac = { ...world, machine: { ...world.machine, os: 'darwin' as const } }
    expect(checkPlannedFiles(mac, plan)).toHaveLength(1)
    chmodSync(home.at(config), 0o644)
    expect(checkPlannedFiles(world, plan)).toHaveLength(1)
  })

  test('refuses a read-only mark on Windows, and ignores owners there', () => {
    const home = aHome({ 'a.toml': 'model = "x"\n' })
    const plan = aPlan([keysEdit(sourceIn(home), 'a.toml', [{ path: ['model'], value: 'y' }])])
    const { machine, processes, ...rest } = worldIn(home)
    const windows: World = withCalls(
      {
        ...rest,
        machine: { ...machine, os: 'win32' },
        processes: { ...processes, uid: -1 },
      },
      notCopied,
    )
    expect(checkPlannedFiles(windows, plan)).toEqual([])
    chmodSync(home.at('a.toml'), 0o444)
    expect(failureOf(() => checkPlannedFiles(windows, plan))).toMatchObject({
      code: 'not-permitted',
      message: '~/a.toml is marked read-only',
      hint: expect.stringContaining('attrib -R'),
    })
    expect(readdirSync(home.path)).toEqual(['a.toml'])
  })
})
