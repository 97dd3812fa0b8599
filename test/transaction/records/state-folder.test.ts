import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../../src/transaction/apply-plan.ts'
import { listRuns, removeUnusedBlobs } from '../../../src/transaction/records/records.ts'
import { findState, openState, stateFolder } from '../../../src/transaction/records/state-folder.ts'
import { recoverRun } from '../../../src/transaction/recover.ts'
import { aPairPlan } from '../../support/a-plan.ts'
import { aHome } from '../../support/home.ts'
import { notAsRoot, sourceIn, withCalls, worldIn } from '../../support/world.ts'

const state = '.local/state/repoint'
const hash = '0123456789abcdef'.repeat(4)
const part = '0123456789ab'

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
