import { readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../../src/transaction/apply-plan.ts'
import { applyForget, planForget } from '../../../src/transaction/records/forget.ts'
import { openState } from '../../../src/transaction/records/state-folder.ts'
import { recoverRun } from '../../../src/transaction/recover.ts'
import { aPairPlan, aPlan, keysEdit } from '../../support/a-plan.ts'
import { aHome } from '../../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../../support/world.ts'

const dates = ['2026-11-01T10:00:00Z', '2026-11-02T10:00:00Z', '2026-11-03T10:00:00Z']

/** Three runs on three days: the first and the last of one file, the second of another. */
function threeRuns() {
  const home = aHome({ 'a.toml': 'model = "0"\n', 'b.toml': 'model = "0"\n' })
  const world = worldIn(home)
  const runs = dates.map((date, index) => {
    const change = [{ path: ['model'], value: String(index + 1) }]
    const edit = keysEdit(sourceIn(home), index === 1 ? 'b.toml' : 'a.toml', change)
    return applyPlan({ ...world, clock: { now: () => new Date(date) } }, aPlan([edit])).run!
  })
  const paths = openState(world)
  return { home, world, runs, paths, records: () => readdirSync(paths.folder).sort() }
}

describe('forget', () => {
  test('all: deletes every run with its copies, and the originals of all files', () => {
    const { home, world, runs, paths, records } = threeRuns()
    const plan = planForget(world)
    expect(plan).toEqual({
      isAll: true,
      runs: runs.toReversed(),
      damaged: [],
      originals: [home.at('a.toml'), home.at('b.toml')],
    })
    applyForget(world, plan)
    expect(records()).toEqual(['blobs'])
    expect(readdirSync(paths.blobs)).toEqual([])
    expect(home.text('a.toml')).toBe('model = "3"\n')
  })

  test('before a time: keeps newer runs with their copies', () => {
    const { home, world, runs, paths } = threeRuns()
    const plan = planForget(world, new Date(dates[1]!))
    expect(plan.runs).toEqual([runs[0]])
    expect(plan.originals).toEqual([home.at('a.toml')])
    applyForget(world, plan)
    expect(planForget(world).runs).toEqual([runs[2], runs[1]])
    const kept = [runs[1], runs[2]].flatMap((run) =>
      run!.files.flatMap(({ before, written }) => [before!.sha256, written!.sha256]),
    )
    expect(readdirSync(paths.blobs).sort()).toEqual([...new Set(kept)].sort())
  })

  test('deletes damaged records by the time in their name, and with all records', () => {
    const { world, paths, records } = threeRuns()
    const early = paths.record('20200101T000000Z-0000')
    const late = paths.record('20261102T100000Z-0000')
    const odd = paths.record('odd')
    for (const path of [early, late, odd]) writeFileSync(path, 'broken')
    expect(planForget(world).damaged.toSorted()).toEqual([early, late, odd])
    expect(planForget(world, new Date(dates[1]!)).damaged).toEqual([early])
    expect(planForget(world, new Date('2026-11-02T10:00:01Z')).damaged).toEqual([late, early])

    const blobs = readdirSync(paths.blobs)
    applyForget(world, planForget(world, new Date(dates[1]!)))
    expect(records()).not.toContain('run-20200101T000000Z-0000.json')
    // A damaged record does not say which copies it needs.
    expect(readdirSync(paths.blobs)).toEqual(blobs)
    applyForget(world, planForget(world))
    expect(records()).toEqual(['blobs'])
  })

  test('changes nothing if there is nothing to delete, also without a state folder', () => {
    const home = aHome()
    applyForget(worldIn(home), planForget(worldIn(home)))
    expect(readdirSync(home.path)).toEqual([])

    const { world } = threeRuns()
    const reading = withCalls(world, {
      fsyncFolder: () => {
        throw new Error('it wrote')
      },
    })
    applyForget(reading, { isAll: false, runs: [], damaged: [], originals: [] })
  })

  describe('an interrupted run that cannot be restored', () => {
    /** The first run of a home, killed between its files, and a world in which no file can be renamed. */
    function cutOff() {
      const home = aHome({ '.codex/auth.json': '{"tokens": {}}\n' })
      const world = worldIn(home)
      const killed = withCalls(world, {
        rename: (from, to) => {
          if (to.endsWith('config.toml')) throw new Error('killed')
          if (to.endsWith('draft.json')) throw new Error('killed')
          world.files.rename(from, to)
        },
      })
      expect(() => applyPlan(killed, aPairPlan(sourceIn(home)))).toThrow('killed')
      const stuck = withCalls(world, {
        rename: (from, to) => {
          if (from.endsWith('journal.json'))
            throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
          world.files.rename(from, to)
        },
      })
      const staged = () => readdirSync(home.at('.codex')).filter((name) => /^\.repoint/.test(name))
      return { home, world, stuck, staged, state: () => readdirSync(openState(world).folder) }
    }

    test('is abandoned when all records are deleted, together with its staged files', () => {
      const { stuck, staged, state } = cutOff()
      expect(staged()).not.toEqual([])
      applyForget(stuck, planForget(stuck))
      expect(staged()).toEqual([])
      expect(state()).toEqual(['blobs'])
    })

    test('stops a forget of some records', () => {
      const { stuck, state } = cutOff()
      expect(() => applyForget(stuck, planForget(stuck, new Date()))).toThrow(
        expect.objectContaining({ code: 'io-failed' }),
      )
      expect(state()).toContain('journal.json')
    })

    test('is set aside if its copies are gone, and its staged files are removed', () => {
      const { world, staged, state } = cutOff()
      const { blobs } = openState(world)
      for (const name of readdirSync(blobs)) writeFileSync(`${blobs}/${name}`, 'x')
      expect(() => recoverRun(world)).toThrow(expect.objectContaining({ code: 'record-damaged' }))
      expect(staged()).toEqual([])
      expect(state().some((name) => name.startsWith('run-'))).toBe(true)
    })
  })
})
