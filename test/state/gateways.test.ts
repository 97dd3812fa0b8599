import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { baseUrlsOf } from '../../src/gateway/base-urls.ts'
import { gatewayList, gatewayNamePattern, type SavedGateway } from '../../src/state/gateway-list.ts'
import { saveGateway } from '../../src/state/save-gateway.ts'
import { changeList, readList, removeList } from '../../src/state/saved-list.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import type { Lock } from '../../src/transaction/lock.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const list = '.local/state/repoint/gateways.json'
const keyHeader = 'authorization'
const work: SavedGateway = {
  name: 'work',
  address: 'https://work.example',
  key: 'sk-work',
  keyHeader,
}
const mine: SavedGateway = {
  name: 'mine',
  address: 'https://mine.example',
  key: 'sk-mine',
  keyHeader,
}

function save(home: Home, ...gateways: SavedGateway[]): void {
  changeList(worldIn(home), gatewayList, (all) => [...gateways, ...all])
}

/** A home whose list of gateways contains `text`. */
function saying(text: string | Uint8Array): Home {
  const home = aHome({ [list]: text })
  chmodSync(home.at('.local/state/repoint'), 0o700)
  return home
}

describe('the saved gateways', () => {
  test('are none without a list, and reading creates no folder', () => {
    const home = aHome()
    expect(readList(worldIn(home), gatewayList)).toEqual([])
    removeList(worldIn(home), gatewayList)
    expect(readdirSync(home.path)).toEqual([])
  })

  test('are read as they were saved, from a file that is closed to other users', () => {
    const home = aHome()
    save(home, mine)
    save(home, work)
    expect(readList(worldIn(home), gatewayList)).toEqual([work, mine])
    expect(statSync(home.at(list)).mode & 0o777).toBe(0o600)
    expect(readdirSync(stateFolder(worldIn(home).machine)).sort()).toEqual([
      'blobs',
      'gateways.json',
    ])
    expect(home.text(list)).toBe(
      `${JSON.stringify({ version: 2, gateways: [work, mine] }, undefined, 1)}\n`,
    )
  })

  test('are not written if they do not change', () => {
    const home = aHome()
    save(home, work)
    const written = statSync(home.at(list)).ino
    changeList(worldIn(home), gatewayList, (all) => {
      expect(all).toEqual([work])
      return all
    })
    expect(statSync(home.at(list)).ino).toBe(written)
  })

  test('have no file after all are deleted', () => {
    const home = aHome()
    save(home, work)
    changeList(worldIn(home), gatewayList, () => [])
    expect(existsSync(home.at(list))).toBe(false)
    expect(readList(worldIn(home), gatewayList)).toEqual([])
    removeList(worldIn(home), gatewayList)
  })

  test('are written after the leftovers of a crash are removed', () => {
    const home = saying('{"version":2,"gateways":[]}')
    home.put('.local/state/repoint/gateways-new.json', 'half of it', 0o600)
    save(home, work)
    expect(readList(worldIn(home), gatewayList)).toEqual([work])
    expect(readdirSync(stateFolder(worldIn(home).machine))).not.toContain('gateways-new.json')
  })

  test.each<[string, string | Uint8Array]>([
    ['no JSON', 'broken'],
    ['null', 'null'],
    ['of another version', '{"version":1,"gateways":[]}'],
    ['no list', '{"version":2,"gateways":{}}'],
    ['no text', Uint8Array.of(0xff, 0xfe)],
    ['far too long', ' '.repeat(1_000_001)],
    ...[
      'null',
      '{}',
      '"work"',
      '{"name":"work"}',
      '{"name":"--all","address":"https://a","key":"k"}',
      '{"name":"a","address":"no address","key":"k"}',
      '{"name":"a","address":"https://a"}',
      '{"name":"a","address":"https://a","maskedKey":"....k"}',
      '{"name":"a","address":"https://a","key":1}',
      '{"name":"a","address":"https://a","key":"k","caFile":{}}',
      '{"name":"a","address":"https://a","key":"k","baseUrls":{"chat":"https://a"}}',
      '{"name":"a","address":"https://a","key":"k","baseUrls":null}',
      '{"name":"a","address":"https://a","key":"k","proven":{"at":"x","protocol":"chat"}}',
      '{"name":"a","address":"https://a","key":"k","headers":{}}',
      '{"name":"a","address":"https://a","key":"k","headers":[null]}',
      '{"name":"a","address":"https://a","key":"k","headers":[{"name":"x"}]}',
    ].map((entry): [string, string] => [
      `a list of ${entry}`,
      `{"version":2,"gateways":[${entry}]}`,
    ]),
  ])('are reported as damaged and kept if the file is %s', (_, text) => {
    const home = saying(text)
    const before = readFileSync(home.at(list))
    const damaged = expect.objectContaining({ code: 'record-damaged' })
    expect(() => readList(worldIn(home), gatewayList)).toThrow(damaged)
    expect(() => save(home, work)).toThrow(damaged)
    expect(before.equals(readFileSync(home.at(list)))).toBe(true)

    removeList(worldIn(home), gatewayList)
    expect(readList(worldIn(home), gatewayList)).toEqual([])
  })

  test('are read with all optional members', () => {
    const full: SavedGateway = {
      ...work,
      baseUrls: { chat: 'https://work.example/v1', messages: 'https://work.example' },
      keyHeader: 'x-api-key',
      headers: [{ name: 'x-team', value: 'a', isSecret: true }],
      caFile: '/etc/ca.pem',
      allowHttp: true,
      proven: { at: '2026-11-23T05:00:00.000Z', protocol: 'chat', model: 'm' },
    }
    const home = aHome()
    save(home, full, mine)
    expect(readList(worldIn(home), gatewayList)).toEqual([full, mine])
  })

  test('are reported with the cause if they cannot be read or written', () => {
    const home = aHome()
    save(home, work)
    const closed = withCalls(worldIn(home), {
      read: () => {
        throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'read' })
      },
    })
    expect(() => readList(closed, gatewayList)).toThrow(
      expect.objectContaining({
        code: 'not-permitted',
        message: '~/.local/state/repoint/gateways.json cannot be read: permission denied',
      }),
    )
    const full = withCalls(worldIn(home), {
      write: () => {
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      },
    })
    expect(() => changeList(full, gatewayList, () => [mine])).toThrow(
      expect.objectContaining({ code: 'disk-full' }),
    )
    expect(readList(worldIn(home), gatewayList)).toEqual([work])
  })

  test.each([
    ['work', true],
    ['a', true],
    ['9.work_2-b', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['', false],
    ['-work', false],
    ['.work', false],
    ['a b', false],
    ['a/b', false],
    ['wörk', true],
    ['公司', true],
    ['a\u202eb', false],
  ])('%j is a valid name: %s', (name, is) => {
    expect(gatewayNamePattern.test(name)).toBe(is)
  })
})

describe('a run and the list', () => {
  const newer = { ...work, key: 'sk-newer' }
  /** Saves `newer` as the last step. */
  const saving = (world: World) => {
    const access = { ...newer, baseUrls: baseUrlsOf(newer), timeoutMs: 1_000 }
    return { lastStep: (lock: Lock) => saveGateway(world, { access }, lock) }
  }

  /** The same world, in which every call from `fatal` on fails: after a kill, nothing is done. */
  function dyingAt(world: World, fatal: number): World {
    let count = 0
    const dying = Object.entries(world.files).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        if (++count >= fatal) throw new Error('killed')
        return (call as (...all: unknown[]) => unknown)(...args)
      },
    ])
    return { ...world, files: Object.fromEntries(dying) }
  }

  test('a kill leaves the old list, or the list with the gateway of a committed run', () => {
    const ends = { old: 0, committed: 0, saved: 0 }
    for (let fatal = 1; ; fatal++) {
      const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
      save(home, work)
      const plan = aPairPlan(sourceIn(home))
      const dying = dyingAt(worldIn(home), fatal)
      const isKilled = resultOfKill(() => applyPlan(dying, plan, saving(dying)))
      recoverRun(worldIn(home))

      const isNew = home.text('.codex/config.toml').includes('gateway.example')
      const [saved, ...others] = readList(worldIn(home), gatewayList)
      const isSaved = saved?.key === newer.key
      expect(others).toEqual([])
      expect(saved).toEqual(isSaved ? newer : work)
      expect(isSaved && !isNew, `saved before the commit, killed at call ${fatal}`).toBe(false)
      const names = readdirSync(stateFolder(worldIn(home).machine))
      expect(names.filter((name) => /draft|journal/.test(name))).toEqual([])
      ends[isSaved ? 'saved' : isNew ? 'committed' : 'old']++
      if (!isKilled) break
      home.remove()
    }
    expect(ends.old).toBeGreaterThan(50)
    expect(ends.committed).toBeGreaterThan(5)
    expect(ends.saved).toBeGreaterThan(2)
  })

  function resultOfKill(work: () => void): boolean {
    try {
      work()
      return false
    } catch (error) {
      expect(error).toMatchObject({ message: 'killed' })
      return true
    }
  }

  test('the gateway is saved even if no file has to change', () => {
    const home = aHome()
    const world = worldIn(home)
    const { edits, ...rest } = aPairPlan(sourceIn(home))
    applyPlan(world, { ...rest, edits })
    expect(readList(world, gatewayList)).toEqual([])

    const unchanged = edits.map((edit) => ({ ...edit, before: edit.after }))
    const first = applyPlan(world, { ...rest, edits: unchanged }, saving(world))
    expect(first).toMatchObject({ run: undefined, findings: [] })
    expect(readList(world, gatewayList)).toEqual([newer])

    removeList(world, gatewayList)
    // Another run has already made the same change.
    const second = applyPlan(world, { ...rest, edits }, saving(world))
    expect(second).toMatchObject({ run: undefined, findings: [] })
    expect(readList(world, gatewayList)).toEqual([newer])
  })

  test('a rollback does not change the list', () => {
    const home = aHome()
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)), saving(world))
    const before = readFileSync(home.at(list))
    applyRollback(world, planRollback(world)!)
    expect(existsSync(home.at('.codex/config.toml'))).toBe(false)
    expect(readFileSync(home.at(list)).equals(before)).toBe(true)
  })

  test.each(['a list that is damaged', 'a full disk'])(
    '%s does not stop a run, and is reported in one notice',
    (why) => {
      const home = why === 'a full disk' ? aHome() : saying('broken')
      const world = worldIn(home)
      const full = withCalls(world, {
        createNew: (path, mode) => {
          if (path.endsWith('gateways-new.json'))
            throw Object.assign(new Error(), { code: 'ENOSPC' })
          return world.files.createNew(path, mode)
        },
      })
      const plan = aPairPlan(sourceIn(home))
      const { run, findings } = applyPlan(world, plan, saving(why === 'a full disk' ? full : world))
      expect(run).toBeDefined()
      expect(findings).toMatchObject([{ code: 'gateway-not-saved' }])
      expect(home.text('.codex/config.toml')).toContain('gateway.example')
      if (why !== 'a full disk') expect(home.text(list)).toBe('broken')
    },
  )

  test('the list changes as the last step, and under the lock of the run', () => {
    const home = aHome()
    const world = worldIn(home)
    const steps: string[] = []
    const note = (step: string) => {
      const isLocked = existsSync(home.at('.local/state/repoint/lock'))
      steps.push(
        `${step}, ${listRuns(world).runs.length} recorded, ${isLocked ? 'locked' : 'open'}`,
      )
    }
    applyPlan(world, aPairPlan(sourceIn(home)), {
      findMismatches: () => {
        note('read back')
        return []
      },
      lastStep: () => {
        note('last step')
        return []
      },
    })
    expect(steps).toEqual(['read back, 1 recorded, locked', 'last step, 1 recorded, locked'])
    expect(existsSync(home.at('.local/state/repoint/lock'))).toBe(false)
  })
})
