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
import type { Plan } from '../../src/edits/plan.ts'
import { applyPlan } from '../../src/transaction/apply.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import { decodeDocument, type RunRecord, type World } from '../../src/transaction/record.ts'
import { settle } from '../../src/transaction/restore.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import {
  listRuns,
  nextRunId,
  obsoleteRuns,
  openState,
  prune,
  removeUnnamedBlobs,
  stateFolder,
} from '../../src/transaction/state.ts'
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

  test('that is damaged is told from then on, and no copy goes while it is there', () => {
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
    expect(() => applyPlan(failing, aPlan([changeOf(home, 'third')]))).toThrow('cannot be')
    prune(world, openState(world))
    expect(blobs()).toEqual(expect.arrayContaining(before))
    expect(listRuns(world)).toMatchObject({ runs: [{}], damaged: [path] })
    expect(readFileSync(path, 'utf8')).toBe('broken')
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
    expect(path).toContain(planRollback(world, { run: run?.id ?? '' })?.undoes.id)
  })

  test('under the name of another run is damaged', () => {
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
    ['another checksum', (text: string) => text.replace(/"sha256": "\w/, '"sha256": "x')],
    ['another version', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['half of it', (text: string) => text.slice(0, text.length / 2)],
    ['nothing', () => ''],
    ['a list', () => '[]'],
    ['null', () => 'null'],
  ])('with %s is not sound', (_, change) => {
    const { run, path } = aRecord()
    expect(decodeDocument(readFileSync(path))?.run).toEqual(run)
    expect(decodeDocument(Buffer.from(change(readFileSync(path, 'utf8'))))).toBeUndefined()
  })
})

/** Without what makes many runs slow and is looked at elsewhere: flushing, a program for attributes. */
function quickWorld(home: Home): World {
  return withCalls(worldIn(home), {
    fsync: () => {},
    fsyncFolder: () => {},
    copyAttributes: () => true,
  })
}

describe('old runs', () => {
  const day = 24 * 60 * 60_000
  const now = new Date('2026-11-21T00:00:00Z')
  const small = () => 100

  function runs(
    count: number,
    ageDays: (index: number) => number,
    pathOf = (_: number) => '/home/me/.codex/config.toml',
  ) {
    return Array.from({ length: count }, (_, index) => ({
      id: String(index),
      at: new Date(now.getTime() - ageDays(index) * day).toISOString(),
      clients: ['codex'],
      files: [
        {
          realPath: pathOf(index),
          before: { sha256: `${index + 1}` },
          after: { sha256: `${index}` },
        },
      ],
    })) as unknown as RunRecord[]
  }

  const idsOf = (obsolete: readonly RunRecord[]) => obsolete.map(({ id }) => Number(id))

  test('go by age, but for the newest thirty', () => {
    const all = runs(40, () => 100)
    // The oldest stays: it holds the files as they were before repoint.
    expect(idsOf(obsoleteRuns(all, now, small))).toEqual([30, 31, 32, 33, 34, 35, 36, 37, 38])
  })

  test('go by number whatever their age', () => {
    const all = runs(205, () => 1)
    expect(idsOf(obsoleteRuns(all, now, small))).toEqual([200, 201, 202, 203])
  })

  test('go by size, whatever their number', () => {
    const all = runs(12, () => 1)
    expect(idsOf(obsoleteRuns(all, now, () => 2_500_000))).toEqual([7, 8, 9, 10])
  })

  test('never take the oldest or the newest copy of a file along, of whichever installation', () => {
    const ofOther = (index: number) =>
      index === 50 || index === 55 ? '/other/config.toml' : '/home/me/.codex/config.toml'
    const obsolete = idsOf(
      obsoleteRuns(
        runs(60, () => 400, ofOther),
        now,
        small,
      ),
    )
    expect(obsolete).not.toContain(50)
    expect(obsolete).not.toContain(55)
    expect(obsolete).not.toContain(59)
    expect(obsolete).toHaveLength(27)
  })

  /** Many runs within the newest thirty, then some half a year later, so that the middle goes. */
  function pruned(home: Home, plan: (index: number) => Plan, from = 1) {
    const world = quickWorld(home)
    for (let index = from; index <= 40; index++) {
      const clock = {
        now: () => new Date(now.getTime() + (index < 35 ? index : 200 * day + index)),
      }
      applyPlan({ ...world, clock }, plan(index))
    }
    expect(listRuns(world).runs.length).toBeLessThan(35)
    return world
  }

  test('are removed with the copies that nothing else names', () => {
    const home = aHome({ '.codex/config.toml': 'model = "0"\n' })
    const world = pruned(home, (index) => {
      const change = [{ path: ['model'], value: String(index) }]
      return aPlan([keysEdit(sourceIn(home), '.codex/config.toml', change)])
    })
    const hashes = new Set(
      listRuns(world).runs.flatMap((run) =>
        run.files.flatMap((file) => [file.before?.sha256, file.after?.sha256]),
      ),
    )
    expect(readdirSync(`${stateFolder(world.machine)}/blobs`).sort()).toEqual([...hashes].sort())
    applyRollback(world, planRollback(world)!)
    expect(home.text('.codex/config.toml')).toBe('model = "39"\n')
  })

  test('that are gone were nobody else: the original comes back as it was, with nothing held', () => {
    const home = aHome({
      '.codex/config.toml': '# mine\nmodel = "0"\n',
      '.codex/auth.json': '{"tokens": {"access_token": "old-login"}}\n',
    })
    const before = home.snapshot()
    const world = pruned(home, (index) => {
      // Ours change from run to run, and some runs write keys that later ones do not.
      const { edits } = aPairPlan(sourceIn(home), `sk-canary-${index}`)
      const [auth, config] = edits
      const change = [
        { path: ['model'], value: `m${index}` },
        { path: ['model_providers', 'gateway', 'base_url'], value: `https://${index}.example/v1` },
        ...(index === 20 ? [{ path: ['model_provider'], value: 'gateway' }] : []),
      ]
      const written = keysEdit(
        sourceIn(home),
        '.codex/config.toml',
        index === 1 ? config!.changes : change,
      )
      return aPlan([auth!, written])
    })
    const plan = planRollback(world, { original: true })!
    expect(plan.files).toMatchObject([{ kept: [] }, { kept: [] }])
    expect(plan.files.map(({ note }) => note)).toEqual([undefined, undefined])
    applyRollback(world, plan)
    expect(home.snapshot()).toEqual(before)
  })

  test('that are gone do not take along what their user wrote between them', () => {
    const home = aHome({ '.codex/config.toml': 'model = "0"\n' })
    const world = pruned(home, (index) => {
      if (index === 10)
        home.put('.codex/config.toml', `${home.text('.codex/config.toml')}# theirs\n`)
      const change = [{ path: ['model'], value: String(index) }]
      return aPlan([keysEdit(sourceIn(home), '.codex/config.toml', change)])
    })
    applyRollback(world, planRollback(world, { original: true })!)
    expect(home.text('.codex/config.toml')).toBe('model = "0"\n# theirs\n')
  })

  test('of one installation leave the original of another alone', () => {
    const home = aHome({ '.codex/config.toml': 'model = "0"\n', 'b/config.toml': '# B\n' })
    const change = (index: number) => [{ path: ['model'], value: String(index) }]
    const other = keysEdit(sourceIn(home), 'b/config.toml', change(1))
    const clock = { now: () => new Date(now.getTime() - day) }
    const { run } = applyPlan({ ...worldIn(home), clock }, aPlan([other]))
    const world = pruned(home, (index) =>
      aPlan([keysEdit(sourceIn(home), '.codex/config.toml', change(index))]),
    )
    applyRollback(world, planRollback(world, { run: run?.id ?? '' })!)
    expect(home.text('b/config.toml')).toBe('# B\n')
  })
})

describe('copies', () => {
  test('take less room than their contents, and come back to the byte', () => {
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

  test('of many runs of a large configuration are bounded, and their undo takes less than a second', () => {
    const random = Array.from(
      { length: 1_200 },
      (_, line) => `k${line} = "${sha256Of(Buffer.from(String(line)))}"`,
    )
    const home = aHome({ '.codex/config.toml': `model = "0"\n${random.join('\n')}\n` })
    const before = home.text('.codex/config.toml')
    const world = quickWorld(home)
    let text = before
    for (let index = 1; index <= 300; index++) {
      const after = before.replace('"0"', `"${index}"`)
      const edit = {
        ...keysEdit(sourceIn(aHome()), 'config.toml', [{ path: ['model'], value: String(index) }]),
        path: home.at('.codex/config.toml'),
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
    const start = performance.now()
    const plan = planRollback(world, { original: true })!
    const took = performance.now() - start
    console.log(
      `undo of ${listRuns(world).runs.length} runs: ${Math.round(took)} ms, ${bytes} bytes`,
    )
    expect(took).toBeLessThan(1_000)
    applyRollback(world, plan)
    expect(home.text('.codex/config.toml')).toBe(before)
  }, 120_000)
})
