import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { decodeDocument, encodeDocument } from '../../src/transaction/document.ts'
import { obsoleteRuns, removeUnnamedBlobs } from '../../src/transaction/prune.ts'
import { listRuns, nextRunId, stateFolder } from '../../src/transaction/records.ts'
import { settle } from '../../src/transaction/recover.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { openState } from '../../src/transaction/state.ts'
import type { RunRecord } from '../../src/transaction/types.ts'
import { aPairPlan, aPlan, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, worldIn } from '../support/world.ts'

describe('state folder', () => {
  const machine = { os: 'linux', env: {}, home: '/home/me', cwd: '/work' } as const
  const onWindows = { os: 'win32', home: 'C:\\Users\\me', cwd: 'C:\\work' } as const

  test.each([
    [machine, '/home/me/.local/state/repoint'],
    [{ ...machine, env: { XDG_STATE_HOME: '/state' } }, '/state/repoint'],
    [{ ...machine, env: { XDG_STATE_HOME: 'relative' } }, '/home/me/.local/state/repoint'],
    [{ ...machine, env: { REPOINT_STATE_DIR: '/mine', XDG_STATE_HOME: '/state' } }, '/mine'],
    [{ ...machine, env: { REPOINT_STATE_DIR: 'mine' } }, '/work/mine'],
    [{ ...onWindows, env: { LOCALAPPDATA: 'D:\\local' } }, 'D:\\local\\repoint'],
    [{ ...onWindows, env: {} }, 'C:\\Users\\me\\AppData\\Local\\repoint'],
  ])('%j', (given, expected) => {
    expect(stateFolder(given)).toBe(expected)
  })

  test('is closed to others, and so is everything in it', () => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const umask = process.umask(0)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    process.umask(umask)
    const folder = home.at('.local/state/repoint')
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      expect(statSync(`${folder}/${name}`).mode & 0o077, name).toBe(0)
  })

  test('is refused when it is a symlink, or others can write it', () => {
    const home = aHome()
    const plan = aPairPlan(sourceIn(home))
    mkdirSync(home.at('elsewhere'))
    symlinkSync(home.at('elsewhere'), home.at('link'))
    const linked = worldIn(home, { REPOINT_STATE_DIR: home.at('link') })
    expect(() => applyPlan(linked, plan)).toThrow('is a symbolic link')
    chmodSync(home.at('elsewhere'), 0o777)
    const open = worldIn(home, { REPOINT_STATE_DIR: home.at('elsewhere') })
    expect(() => applyPlan(open, plan)).toThrow('can be written by other users')
    expect(() => listRuns(open)).toThrow('can be written by other users')
  })

  test.each([
    ['a file', { 'mine/notes.txt': 'x' }, 'notes.txt'],
    ['a folder called blobs with files', { 'mine/blobs/photo.jpg': 'x' }, 'photo.jpg'],
    ['files beside records', { 'mine/journal.json.bak': 'x' }, 'journal.json.bak'],
  ])('is refused when it holds %s that is not ours, and left as it is', (_, given, name) => {
    const home = aHome(given)
    const before = home.snapshot('mine')
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('mine') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(name)
    expect(() => settle(world)).toThrow("that is not repoint's")
    expect(home.snapshot('mine')).toEqual(before)
    expect(readdirSync(home.path)).toEqual(['mine'])
  })

  test('is refused when its copies lie behind a symlink, which would lead us to delete there', () => {
    const hash = 'a'.repeat(64)
    const home = aHome({ [`theirs/${hash}`]: 'x', 'state/blobs': { link: '../theirs' } })
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('state') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow('is a symbolic link')
    expect(readdirSync(home.at('theirs'))).toEqual([hash])
  })

  test('may be an empty folder, or one with dot files', () => {
    const home = aHome({ 'mine/.keep': '' })
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('mine') })
    applyPlan(world, aPairPlan(sourceIn(home)))
    home.put('mine/models.txt', 'a\n', 0o600)
    applyPlan(world, aPairPlan(sourceIn(home), 'sk-second'))
    expect(listRuns(world).runs).toHaveLength(2)
  })

  test('only copies are tidied away in it', () => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)))
    const paths = openState(world)
    const { blobs } = paths
    writeFileSync(`${blobs}/notes.txt`, 'mine')
    writeFileSync(`${blobs}/${'b'.repeat(64)}`, 'unnamed')
    removeUnnamedBlobs(world, paths)
    expect(readdirSync(blobs)).toContain('notes.txt')
    expect(readdirSync(blobs)).not.toContain('b'.repeat(64))
  })

  test('looking for runs makes no folder', () => {
    const home = aHome()
    expect(listRuns(worldIn(home))).toEqual({ runs: [], damaged: [] })
    expect(readdirSync(home.path)).toEqual([])
  })
})

describe('run ids sort by time', () => {
  const at = new Date('2026-11-21T09:15:00Z')

  test('also within one second, and when the clock was set back', () => {
    const ids: string[] = []
    const dates = [at, at, new Date('2026-11-21T09:15:01Z'), at, new Date('2020-01-01T00:00:00Z')]
    for (const date of dates) ids.push(nextRunId(date, ids.map((id) => `run-${id}.json`).sort()))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids[0]).toMatch(/^20261121T091500Z-[0-7][0-9a-f]{3}$/)
  })

  test('also when one second is used up', () => {
    const id = nextRunId(at, ['run-20261121T091500Z-ffff.json'])
    expect(id > '20261121T091500Z-ffff').toBe(true)
  })
})

describe('a record', () => {
  function aRecord() {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const world = worldIn(home)
    const { run } = applyPlan(world, aPairPlan(sourceIn(home)))
    const path = `${stateFolder(world.machine)}/run-${run?.id}.json`
    return { home, world, run, path }
  }

  test('that is damaged is told, never guessed at, and not touched by looking at it', () => {
    const { world, path } = aRecord()
    const text = readFileSync(path, 'utf8').replace('gpt-5.6', 'gpt-5.7')
    writeFileSync(path, text)
    for (let look = 0; look < 2; look++)
      expect(listRuns(world)).toEqual({ runs: [], damaged: [path] })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('that is damaged is set aside by the next run, and told from then on', () => {
    const { world, home, path } = aRecord()
    writeFileSync(path, 'broken')
    applyPlan(world, aPlan([changeOf(home, 'other')]))
    for (let look = 0; look < 2; look++) {
      const { runs, damaged } = listRuns(world)
      expect(runs).toHaveLength(1)
      expect(damaged).toEqual([expect.stringContaining(`${path}.damaged-`)])
      expect(readFileSync(damaged[0] ?? '', 'utf8')).toBe('broken')
    }
  })

  test('that is damaged stops a rollback for as long as it is there, whoever has looked', () => {
    const { world, home, path, run } = aRecord()
    applyPlan(world, aPlan([changeOf(home, 'other')]))
    const newest = `${stateFolder(world.machine)}/${
      readdirSync(stateFolder(world.machine))
        .filter((name) => name.startsWith('run-'))
        .sort()[1]
    }`
    writeFileSync(newest, 'broken')
    listRuns(world)
    expect(() => planRollback(world)).toThrow('cannot be read')
    renameSync(newest, `${newest}.damaged-0123456789ab`)
    expect(() => planRollback(world)).toThrow('cannot be read')
    expect(path).toContain(planRollback(world, { run: run?.id ?? '' })?.undoes.id)
  })

  test('under the name of another run is set aside', () => {
    const { world, path } = aRecord()
    writeFileSync(
      `${stateFolder(world.machine)}/run-20300101T000000Z-0000.json`,
      readFileSync(path),
    )
    expect(listRuns(world).damaged).toHaveLength(1)
  })

  test('holds no key', () => {
    const { path } = aRecord()
    expect(readFileSync(path, 'utf8')).not.toContain('sk-canary')
  })

  function changeOf(home: Home, model: string) {
    return keysEdit(sourceIn(home), '.codex/config.toml', [{ path: ['model'], value: model }])
  }

  test.each([
    ['a path that is not absolute', { path: 'config.toml' }],
    ['a path with a way up', { path: '/home/me/../you/config.toml' }],
    ['a path that is no configuration', { path: '/home/me/.bashrc' }],
    ['a path with a NUL', { path: '/home/me/a\0.toml' }],
    ['an unknown scope', { scope: 'all' }],
    ['an odd hash', { after: { sha256: '../../etc', mode: 0o600, uid: 0, gid: 0 } }],
    [
      'a mode beyond permissions',
      { after: { sha256: 'a'.repeat(64), mode: 0o100644, uid: 0, gid: 0 } },
    ],
    ['a setuid bit', { after: { sha256: 'a'.repeat(64), mode: 0o4755, uid: 0, gid: 0 } }],
    ['keys that are no paths', { keys: ['model'] }],
  ])('that was made up with %s is not sound', (_, forged) => {
    const { run, path } = aRecord()
    const document = decodeDocument(readFileSync(path))
    expect(document?.run).toEqual(run)
    const files = run?.files.map((file, index) => (index === 0 ? { ...file, ...forged } : file))
    const made = { ...document, run: { ...run, files } } as NonNullable<typeof document>
    expect(decodeDocument(encodeDocument(made))).toBeUndefined()
  })

  test('whose temporary file lies elsewhere is not sound', () => {
    const { path } = aRecord()
    const document = decodeDocument(readFileSync(path))!
    const temps = document.temps.map(() => '/etc/passwd')
    expect(decodeDocument(encodeDocument({ ...document, temps }))).toBeUndefined()
  })
})

describe('old runs', () => {
  const day = 24 * 60 * 60_000
  const now = new Date('2026-11-21T00:00:00Z')

  function runs(
    count: number,
    ageDays: (index: number) => number,
    clientOf = (_: number) => 'codex',
  ) {
    return Array.from({ length: count }, (_, index) => ({
      id: String(index),
      at: new Date(now.getTime() - ageDays(index) * day).toISOString(),
      clients: [clientOf(index)],
    })) as unknown as RunRecord[]
  }

  test('go by age, but for the newest thirty', () => {
    const obsolete = obsoleteRuns(
      runs(40, () => 100),
      now,
    )
    // The oldest stays: it holds the files as they were before repoint.
    expect(obsolete.map(({ id }) => Number(id))).toEqual([30, 31, 32, 33, 34, 35, 36, 37, 38])
  })

  test('go by number whatever their age', () => {
    expect(
      obsoleteRuns(
        runs(205, () => 1),
        now,
      ).map(({ id }) => id),
    ).toEqual(['200', '201', '202', '203'])
  })

  test('never take the newest of a client along', () => {
    const obsolete = obsoleteRuns(
      runs(
        60,
        () => 400,
        (index) => (index >= 50 ? 'claude' : 'codex'),
      ),
      now,
    )
    expect(obsolete.map(({ id }) => id)).not.toContain('50')
    expect(obsolete.map(({ id }) => id)).toContain('51')
  })

  test('are removed with the copies that nothing else names', () => {
    const home = aHome({ '.codex/config.toml': 'model = "0"\n' })
    const world = worldIn(home)
    const names = () =>
      readdirSync(stateFolder(world.machine)).filter((name) => name.startsWith('run-'))
    for (let index = 1; index <= 40; index++) {
      const clock = {
        now: () => new Date(now.getTime() + (index < 35 ? index : 200 * day + index)),
      }
      const change = [{ path: ['model'], value: String(index) }]
      applyPlan(
        { ...world, clock },
        aPlan([keysEdit(sourceIn(home), '.codex/config.toml', change)]),
      )
    }
    const kept = listRuns(world).runs
    expect(names().length).toBe(kept.length)
    expect(kept.length).toBeLessThan(35)
    const hashes = new Set(
      kept.flatMap((run) => run.files.flatMap((file) => [file.before?.sha256, file.after?.sha256])),
    )
    expect(readdirSync(`${stateFolder(world.machine)}/blobs`).sort()).toEqual([...hashes].sort())
    applyRollback(world, planRollback(world)!)
    expect(home.text('.codex/config.toml')).toBe('model = "39"\n')
  })
})
