import { chmodSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import { decodeDocument, encodeDocument, type World } from '../../src/transaction/record.ts'
import { contentsIfAvailable, readBlob, writeBlobs } from '../../src/transaction/records/blobs.ts'
import { limitRuns } from '../../src/transaction/records/prune.ts'
import { listRuns, nextRunId, removeUnusedBlobs } from '../../src/transaction/records/records.ts'
import { findState, openState } from '../../src/transaction/records/state-folder.ts'
import { applyRollback, planRollback } from '../../src/transaction/rollback.ts'
import { aPairPlan, aPlan, bytesOf, keysEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { notAsRoot, sourceIn, withCalls, worldIn } from '../support/world.ts'

const state = '.local/state/repoint'
const hash = '0123456789abcdef'.repeat(4)
const part = '0123456789ab'

function throwing(code?: string) {
  return () => {
    throw Object.assign(new Error(code ?? 'ours'), code === undefined ? {} : { code })
  }
}

describe('a name in the state folder', () => {
  test.each([
    ['lock', true],
    [`lock-17-${part}`, true],
    ['draft.json', true],
    ['journal.json', true],
    ['run-20261121T091500Z-4f2a.json', true],
    ['gateways.json', true],
    ['gateways-new.json', true],
    ['folders.json', true],
    ['folders-new.json', true],
    ['models.txt', true],
    ['models.txt.1234', true],
    ['.DS_Store', true],
    ['Desktop.ini', true],
    ['Thumbs.db', true],
    ['lock-17', false],
    ['lock-a-0123456789ab', false],
    ['lock-17-0123456789a', false],
    ['lock-17-0123456789ax', false],
    ['my-lock', false],
    ['locks', false],
    ['models.txt.x', false],
    ['models.txt.', false],
    ['my-models.txt.1', false],
    ['gateways-old.json', false],
    ['run-.json', false],
    ['run-1.json.bak', false],
    ['run-1.json.damaged-0a1b', false],
    ['run-1.part', false],
    ['my-desktop.ini', false],
    ['desktop.ini.bak', false],
  ])('%s counts as ours: %s', (name, isOurs) => {
    const home = aHome({ [`${state}/${name}`]: '' })
    chmodSync(home.at(state), 0o700)
    const look = () => findState(worldIn(home))
    if (isOurs) expect(look()?.folder).toBe(home.at(state))
    else expect(look).toThrow(`contains a file that repoint did not write: ${name}`)
  })

  test.each([
    [hash, true],
    [`new-${part}`, true],
    ['.keep', true],
    [`${hash}0`, false],
    [`x${hash}`, false],
    ['new-0', false],
    [`new-${part}0`, false],
    ['new-xxxxxxxxxxxx', false],
  ])('%s counts as our copy: %s', (name, isOurs) => {
    const home = aHome({ [`${state}/blobs/${name}`]: '' })
    for (const folder of [state, `${state}/blobs`]) chmodSync(home.at(folder), 0o700)
    const look = () => findState(worldIn(home))
    if (isOurs) expect(look()).toBeDefined()
    else expect(look).toThrow('~/.local/state/repoint/blobs contains')
  })
})

describe('a state folder', () => {
  test('is refused with the cause if it is a file or belongs to another user', () => {
    const home = aHome({ state: 'x' })
    const world = worldIn(home, { REPOINT_STATE_DIR: home.at('state') })
    expect(() => listRuns(world)).toThrow('~/state is not a folder')

    const { files } = notAsRoot(worldIn(home))
    openState(notAsRoot(worldIn(home)))
    const foreign = withCalls(notAsRoot(worldIn(home)), {
      lstat: (path) => ({ ...files.lstat(path), ...(path.endsWith(state) ? { uid: 1001 } : {}) }),
    })
    expect(() => listRuns(foreign)).toThrow('belongs to another user')
    expect(() => openState(foreign)).toThrow('belongs to another user')
  })
})

describe('a copy', () => {
  function aState() {
    const home = aHome()
    const world = worldIn(home)
    const paths = openState(world)
    const put = (text: string) => {
      writeBlobs(world, paths, [bytesOf(text)])
      return sha256Of(bytesOf(text))
    }
    return { world, paths, put }
  }

  test('is compressed only if that saves space', () => {
    const { world, paths, put } = aState()
    const short = put('ab')
    expect(readFileSync(paths.blob(short), 'utf8')).toBe('ab')
    const long = put('a'.repeat(1_000))
    expect(statSync(paths.blob(long)).size).toBeLessThan(100)
    expect(Buffer.from(readBlob(world, long)).toString()).toBe('a'.repeat(1_000))
    expect(readdirSync(paths.blobs).sort()).toEqual([short, long].sort())
    expect(statSync(paths.blob(short)).mode & 0o777).toBe(0o600)
  })

  test('is kept if it is valid, and written again if it is damaged', () => {
    const { world, paths, put } = aState()
    const name = put('contents')
    const { ino } = statSync(paths.blob(name))
    put('contents')
    expect(statSync(paths.blob(name)).ino).toBe(ino)
    writeFileSync(paths.blob(name), 'damaged')
    const copy = { sha256: name, mode: 0o600, uid: 0, gid: 0 }
    expect(contentsIfAvailable(world, copy)).toBeNull()
    expect(() => readBlob(world, name)).toThrow(
      `A saved copy (${name.slice(0, 12)}…) of a file is missing or damaged in ~/.local/state/repoint/blobs`,
    )
    put('contents')
    expect(contentsIfAvailable(world, copy)).toEqual(Buffer.from('contents'))
    expect(contentsIfAvailable(world, null)).toBeNull()
  })

  test('is damaged if it decompresses to other contents', () => {
    const { world, paths, put } = aState()
    const [one, other] = [put('a'.repeat(1_000)), put('b'.repeat(1_000))]
    writeFileSync(paths.blob(one), readFileSync(paths.blob(other)))
    expect(() => readBlob(world, one)).toThrow('missing or damaged')
  })

  test('is damaged if it is too large; a bug of ours is not reported as damage', () => {
    const { world, put } = aState()
    const name = put('contents')
    const large = withCalls(world, {
      read: () => {
        throw new RangeError('too long')
      },
    })
    expect(() => readBlob(large, name)).toThrow('missing or damaged')
    const faulty = withCalls(world, { read: throwing() })
    expect(() => readBlob(faulty, name)).toThrow('ours')
    expect(() => contentsIfAvailable(faulty, { sha256: name, mode: 0, uid: 0, gid: 0 })).toThrow(
      'ours',
    )
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
      const other = { ...body, version }
      const sha256 = sha256Of(bytesOf(JSON.stringify(other)))
      return decodeDocument(bytesOf(JSON.stringify({ ...other, sha256 })))
    }
    expect(signed(1)).toMatchObject(document)
    expect(signed(0)).toBeUndefined()
    expect(signed(2)).toBeUndefined()
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

describe('a copy that no record names', () => {
  test('is removed, unless a record names it or a record is damaged', () => {
    const home = aHome()
    const world = worldIn(home)
    applyPlan(world, aPairPlan(sourceIn(home)))
    const paths = openState(world)
    const named = readdirSync(paths.blobs).sort()
    const leftover = `${paths.blobs}/new-${part}`
    writeFileSync(leftover, '')
    writeFileSync(paths.record('broken'), '')
    removeUnusedBlobs(world, paths)
    limitRuns(world, paths, 1)
    expect(readdirSync(paths.blobs)).toContain(`new-${part}`)
    writeFileSync(paths.record('broken'), readFileSync(paths.record(listRuns(world).runs[0]!.id)))
    removeUnusedBlobs(world, paths)
    expect(readdirSync(paths.blobs)).toContain(`new-${part}`)
    renameSync(paths.record('broken'), `${paths.folder}/.broken`)
    removeUnusedBlobs(world, paths)
    expect(readdirSync(paths.blobs).sort()).toEqual(named)
  })
})
