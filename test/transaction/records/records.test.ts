import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../../src/transaction/apply-plan.ts'
import { sha256Of } from '../../../src/transaction/files.ts'
import { applyRollback, planRollback } from '../../../src/transaction/plan-rollback.ts'
import { decodeDocument, encodeDocument, type World } from '../../../src/transaction/record.ts'
import { limitRuns } from '../../../src/transaction/records/prune.ts'
import { listRuns, nextRunId } from '../../../src/transaction/records/records.ts'
import { openState, stateFolder } from '../../../src/transaction/records/state-folder.ts'
import { aPairPlan, aPlan, bytesOf, keysEdit } from '../../support/a-plan.ts'
import { aHome, type Home } from '../../support/home.ts'
import { notAsRoot, sourceIn, withCalls, worldIn } from '../../support/world.ts'

const state = '.local/state/repoint'

function throwing(code?: string) {
  return () => {
    throw Object.assign(new Error(code ?? 'ours'), code === undefined ? {} : { code })
  }
}

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
})

test.each([
  ['0001', '0002'],
  ['0fff', '1000'],
  ['f000', 'f001'],
  ['ffff', 'ffff0'],
  ['ffff0', 'ffff1'],
])('a run in the second of %s is called %s', (end, next) => {
  const at = new Date('2026-11-21T09:15:00Z')
  const names = [`run-20261121T091500Z-${end}.json`]
  expect(nextRunId(at, names)).toBe(`20261121T091500Z-${next}`)
  expect(nextRunId(at, ['run-odd.json'])).toMatch(/^20261121T091500Z-[0-7][0-9a-f]{3}$/)
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
    expect(path).toContain(
      planRollback(world, { which: { kind: 'run', id: run?.id ?? '' } })?.runs.at(-1)?.id,
    )
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

describe('records', () => {
  function threeRuns(world: World, home: Home) {
    return ['1', '2', '3'].map((model) => {
      const edit = keysEdit(sourceIn(home), 'a.toml', [{ path: ['model'], value: model }])
      return applyPlan(world, aPlan([edit])).run!
    })
  }

  test('are listed newest first, whatever the order on the disk', () => {
    const home = aHome()
    const world = worldIn(home)
    const runs = threeRuns(world, home)
    for (const turn of [
      (names: string[]) => names.sort(),
      (names: string[]) => names.sort().reverse(),
    ]) {
      const turned = withCalls(world, { readdir: (path) => turn(world.files.readdir(path)) })
      expect(listRuns(turned)).toEqual({ runs: runs.toReversed(), damaged: [] })
    }
  })

  test('skip a record that was just deleted, and report one that is too large or unreadable', () => {
    const home = aHome()
    const world = worldIn(home)
    const [first, second, third] = threeRuns(world, home)
    const reading = (work: () => never) =>
      withCalls(world, {
        read: (path, max) => (path.includes(second!.id) ? work() : world.files.read(path, max)),
      })
    expect(listRuns(reading(throwing('ENOENT')))).toEqual({ runs: [third, first], damaged: [] })
    const tooLong = () => {
      throw new RangeError('too long')
    }
    const path = home.at(`${state}/run-${second!.id}.json`)
    expect(listRuns(reading(tooLong))).toEqual({ runs: [third, first], damaged: [path] })
    expect(() => listRuns(reading(throwing('EACCES')))).toThrow(
      expect.objectContaining({
        code: 'not-permitted',
        message: expect.stringContaining(`run-${second!.id}.json cannot be`),
      }),
    )
    let looks = 0
    const closing = withCalls(world, {
      readdir: (folder) => (looks++ < 2 ? world.files.readdir(folder) : throwing('EIO')()),
    })
    expect(() => listRuns(closing)).toThrow('Cannot read or write ~/.local/state/repoint (EIO)')
  })

  test('follow a home that has moved', () => {
    const home = aHome({ 'x/.codex/config.toml': 'model = "old"\n' })
    const before = { ...worldIn(home), machine: { ...worldIn(home).machine, home: home.at('x') } }
    const source = { at: (name: string) => home.at(`x/${name}`), text: () => null }
    const plan = aPairPlan({ ...source, text: (name) => sourceIn(home).text(`x/${name}`) })
    const outside = keysEdit(sourceIn(home), 'outside.toml', [{ path: ['model'], value: 'y' }])
    const user = notAsRoot(before)
    const { run } = applyPlan(user, { ...plan, edits: [...plan.edits, outside] })
    expect(run?.folders).toEqual([])
    renameSync(home.at('x'), home.at('y'))

    const now = { ...user, machine: { ...user.machine, home: home.at('y') } }
    const [moved] = listRuns(now).runs
    expect(moved?.home).toBe(home.at('y'))
    expect(moved?.files.map(({ path, realPath }) => [path, realPath])).toEqual(
      ['y/.codex/auth.json', 'y/.codex/config.toml', 'outside.toml'].map((name) => [
        home.at(name),
        home.at(name),
      ]),
    )
    applyRollback(now, planRollback(now)!)
    expect(home.text('y/.codex/config.toml')).toBe('model = "old"\n')
  })

  test('outside of the home do not follow a home that has moved', () => {
    const home = aHome()
    const folder = aHome().at('state')
    const world = notAsRoot(worldIn(home, { REPOINT_STATE_DIR: folder }))
    const { run } = applyPlan(world, aPairPlan(sourceIn(home)))
    const there = { ...world, machine: { ...world.machine, home: '/somewhere' } }
    expect(listRuns(there).runs).toEqual([run])
  })

  test('follow the folders that they created in a home that has moved', () => {
    const home = aHome({ 'x/.keep': '' })
    const world = notAsRoot(worldIn(home))
    const before = { ...world, machine: { ...world.machine, home: home.at('x') } }
    const source = { at: (name: string) => home.at(`x/${name}`), text: () => null }
    applyPlan(before, aPairPlan(source))
    renameSync(home.at('x'), home.at('y'))
    const now = { ...world, machine: { ...world.machine, home: home.at('y') } }
    expect(listRuns(now).runs[0]?.folders).toEqual([home.at('y/.codex')])
  })

  test('of another version are damaged, even with a valid checksum', () => {
    const home = aHome()
    const [run] = threeRuns(worldIn(home), home)
    const document = { run: run!, temps: ['/t'], dropFolders: ['/d'] }
    const { sha256: _, ...body } = JSON.parse(Buffer.from(encodeDocument(document)).toString())
    const signed = (version: number) => {
      const changed = { ...body, version }
      const sha256 = sha256Of(bytesOf(JSON.stringify(changed)))
      return decodeDocument(bytesOf(JSON.stringify({ ...changed, sha256 })))
    }
    expect(signed(4)).toMatchObject(document)
    expect(signed(3)).toBeUndefined()
    expect(signed(5)).toBeUndefined()
  })
})
