import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import { decodeDocument, type World } from '../../src/transaction/record.ts'
import { limitRuns } from '../../src/transaction/records/prune.ts'
import { listRuns, nextRunId, removeUnusedBlobs } from '../../src/transaction/records/records.ts'
import { openState, stateFolder } from '../../src/transaction/records/state-folder.ts'
import { recoverRun } from '../../src/transaction/restore.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { aPairPlan, aPlan, bytesOf, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

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

  test('is closed to other users, with everything in it', () => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const umask = process.umask(0)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    process.umask(umask)
    const folder = home.at('.local/state/repoint')
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      expect(statSync(`${folder}/${name}`).mode & 0o077, name).toBe(0)
  })

  test('is refused if it is a symlink or others can write to it', () => {
    const home = aHome()
    const plan = aPairPlan(sourceIn(home))
    mkdirSync(home.at('elsewhere'))
    symlinkSync(home.at('elsewhere'), home.at('link'))
    const linked = worldIn(home, { REPOINT_STATE_DIR: home.at('link') })
    expect(() => applyPlan(linked, plan)).toThrow('is a symbolic link')
    chmodSync(home.at('elsewhere'), 0o777)
    const open = worldIn(home, { REPOINT_STATE_DIR: home.at('elsewhere') })
    expect(() => applyPlan(open, plan)).toThrow('is open: other users can write in it')
    expect(() => listRuns(open)).toThrow('is open: other users can write in it')
  })

  test.each([
    ['a file', { 'mine/notes.txt': 'x' }, 'notes.txt'],
    ['a folder called blobs with files', { 'mine/blobs/photo.jpg': 'x' }, 'photo.jpg'],
    ['files next to records', { 'mine/journal.json.bak': 'x' }, 'journal.json.bak'],
  ])('is refused if it contains %s that is not ours, and is not changed', (_, given, name) => {
    const home = aHome(given)
    const before = home.snapshot('mine')
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('mine') })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(name)
    expect(() => recoverRun(world)).toThrow('that repoint did not write')
    expect(home.snapshot('mine')).toEqual(before)
    expect(readdirSync(home.path)).toEqual(['mine'])
  })

  test('is refused if the copies are behind a symlink, because we would delete files there', () => {
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

  test('loses only copies in a cleanup', () => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)))
    const paths = openState(world)
    const { blobs } = paths
    writeFileSync(`${blobs}/notes.txt`, 'mine')
    writeFileSync(`${blobs}/${'b'.repeat(64)}`, 'unnamed')
    removeUnusedBlobs(world, paths)
    expect(readdirSync(blobs)).toContain('notes.txt')
    expect(readdirSync(blobs)).not.toContain('b'.repeat(64))
  })

  test('is not created by listing runs', () => {
    const home = aHome()
    expect(listRuns(worldIn(home))).toEqual({ runs: [], damaged: [] })
    expect(readdirSync(home.path)).toEqual([])
  })
})

describe('run ids sort by time', () => {
  const at = new Date('2026-11-21T09:15:00Z')

  test('within one second, and after the clock was set back', () => {
    const ids: string[] = []
    const dates = [at, at, new Date('2026-11-21T09:15:01Z'), at, new Date('2020-01-01T00:00:00Z')]
    for (const date of dates) ids.push(nextRunId(date, ids.map((id) => `run-${id}.json`).sort()))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids[0]).toMatch(/^20261121T091500Z-[0-7][0-9a-f]{3}$/)
  })

  test('if the IDs of one second are used up', () => {
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

  test('is reported if it is damaged, and never changed by reading it', () => {
    const { world, path } = aRecord()
    const text = readFileSync(path, 'utf8').replace('gpt-5.6', 'gpt-5.7')
    writeFileSync(path, text)
    for (let look = 0; look < 2; look++)
      expect(listRuns(world)).toEqual({ runs: [], damaged: [path] })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('is reported as damaged from then on, and no copy is removed while it exists', () => {
    const { world, home, path } = aRecord()
    writeFileSync(path, 'broken')
    const blobs = () => readdirSync(`${stateFolder(world.machine)}/blobs`)
    const before = blobs()
    applyPlan(world, aPlan([changeOf(home, 'other')]))
    const failing = withCalls(world, {
      rename: (from, to) => {
        if (to.endsWith('config.toml')) throw Object.assign(new Error(), { code: 'EIO' })
        world.files.rename(from, to)
      },
    })
    expect(() => applyPlan(failing, aPlan([changeOf(home, 'third')]))).toThrow('(EIO)')
    limitRuns(world, openState(world), 1)
    expect(blobs()).toEqual(expect.arrayContaining(before))
    expect(listRuns(world)).toMatchObject({ runs: [{}], damaged: [path] })
    expect(readFileSync(path, 'utf8')).toBe('broken')
  })

  test('stops a rollback while it exists if it is damaged', () => {
    const { world, home, path, run } = aRecord()
    applyPlan(world, aPlan([changeOf(home, 'other')]))
    const newest = `${stateFolder(world.machine)}/${
      readdirSync(stateFolder(world.machine))
        .filter((name) => name.startsWith('run-'))
        .sort()[1]
    }`
    writeFileSync(newest, 'broken')
    listRuns(world)
    expect(() => planRollback(world)).toThrow('Cannot read the record')
    expect(path).toContain(planRollback(world, { run: run?.id ?? '' })?.runs.at(-1)?.id)
  })

  test('is damaged if it has the name of another run', () => {
    const { world, path } = aRecord()
    writeFileSync(
      `${stateFolder(world.machine)}/run-20300101T000000Z-0000.json`,
      readFileSync(path),
    )
    expect(listRuns(world).damaged).toHaveLength(1)
  })

  test('contains no key', () => {
    const { path } = aRecord()
    expect(readFileSync(path, 'utf8')).not.toContain('sk-canary')
  })

  function changeOf(home: Home, model: string) {
    return keysEdit(sourceIn(home), '.codex/config.toml', [{ path: ['model'], value: model }])
  }

  test.each([
    ['another checksum', (text: string) => text.replace(/"sha256": "\w/, '"sha256": "x')],
    ['another version', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['half of it', (text: string) => text.slice(0, text.length / 2)],
    ['nothing', () => ''],
    ['a list', () => '[]'],
    ['null', () => 'null'],
  ])('is damaged with %s', (_, change) => {
    const { run, path } = aRecord()
    expect(decodeDocument(readFileSync(path))?.run).toEqual(run)
    expect(decodeDocument(Buffer.from(change(readFileSync(path, 'utf8'))))).toBeUndefined()
  })
})

/** A world without the slow steps that other tests check: flushing, and a program for attributes. */
function quickWorld(home: Home): World {
  return withCalls(worldIn(home), {
    fsync: () => {},
    fsyncFolder: () => {},
    copyAttributes: () => true,
  })
}

describe('copies', () => {
  test('take less space than their contents, and are restored to the byte', () => {
    const long = `model = "0"\n${'# a long line of a configuration\n'.repeat(3_000)}`
    const home = aHome({ '.codex/config.toml': long })
    const world = worldIn(home)
    const change = [{ path: ['model'], value: 'ours' }]
    applyPlan(world, aPlan([keysEdit(sourceIn(home), '.codex/config.toml', change)]))
    const { blobs } = openState(world)
    for (const name of readdirSync(blobs))
      expect(statSync(`${blobs}/${name}`).size).toBeLessThan(long.length / 10)
    applyRollback(world, planRollback(world)!)
    expect(home.text('.codex/config.toml')).toBe(long)
  })

  test('of many runs of a large configuration are bounded, and undone exactly', () => {
    const random = Array.from(
      { length: 1_200 },
      (_, line) => `k${line} = "${sha256Of(Buffer.from(String(line)))}"`,
    )
    const home = aHome({ '.codex/config.toml': `model = "0"\n${random.join('\n')}\n` })
    const before = home.text('.codex/config.toml')
    const world = quickWorld(home)
    const path = home.at('.codex/config.toml')
    const anEdit = keysEdit(sourceIn(aHome()), 'config.toml', [])
    let text = before
    // 20 more runs than the stack keeps.
    for (let index = 1; index <= 120; index++) {
      const after = before.replace('"0"', `"${index}"`)
      const edit = {
        ...anEdit,
        path,
        changes: [{ path: ['model'], value: String(index) }],
        before: bytesOf(text),
        after: bytesOf(after),
      }
      applyPlan(world, aPlan([edit]))
      text = after
    }
    const { blobs } = openState(world)
    const bytes = readdirSync(blobs).reduce(
      (sum, name) => sum + statSync(`${blobs}/${name}`).size,
      0,
    )
    expect(bytes).toBeLessThan(22_000_000)
    applyRollback(world, planRollback(world, { original: true })!)
    expect(home.text('.codex/config.toml')).toBe(before)
  }, 120_000)
})
