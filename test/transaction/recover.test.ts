import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maxConfigBytes } from '../../src/edits/text.ts'
import { acceptDrift, applyPlan } from '../../src/transaction/apply-plan.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { applyForget } from '../../src/transaction/records/forget.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'
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
import { killedBefore } from '../support/runs.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
const newerLogin = '{"tokens": {"access_token": "newer-login"}}\n'
const oldConfig = '# mine\nmodel = "gpt-5.5"\n'
const oldPair = { '.codex/auth.json': oldAuth, '.codex/config.toml': oldConfig }

function state(home: Home): string {
  return stateFolder(worldIn(home).machine)
}

describe('recovery', () => {
  test('does nothing without an interrupted run, and takes no lock', () => {
    const home = aHome(oldPair)
    expect(recoverRun(worldIn(home))).toBeUndefined()
    expect(existsSync(state(home))).toBe(false)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const locking = withCalls(worldIn(home), {
      mkdir: () => {
        throw new Error('it took the lock')
      },
    })
    expect(recoverRun(locking)).toBeUndefined()
  })

  test('restores an interrupted switch, and reports it', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    killedWhileSwitching(home)
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'restored',
      restored: [home.at('.codex/auth.json')],
    })
    expect(home.snapshot()).toEqual(before)
    expect(listRuns(worldIn(home)).runs).toEqual([])
    expect(readdirSync(state(home), { recursive: true })).toEqual(['blobs'])
  })

  test('discards a run that had switched nothing, with everything that it created', () => {
    const home = aHome(oldPair)
    const before = home.snapshot()
    killedBefore(home, '/journal.json')
    expect(home.snapshot()).not.toEqual(before)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'discarded' })
    expect(home.snapshot()).toEqual(before)
    expect(readdirSync(state(home), { recursive: true })).toEqual(['blobs'])
  })

  test('keeps a file that someone changed before its switch, and restores the others', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    home.put('.codex/config.toml', `${oldConfig}# changed\n`)
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'restored',
      restored: [home.at('.codex/auth.json')],
    })
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}# changed\n`)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
    expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])
  })

  test('keeps a login made since, and removes the address', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    home.put('.codex/auth.json', newerLogin)
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'recorded',
      restored: [home.at('.codex/config.toml')],
      notRestored: [home.at('.codex/auth.json')],
    })
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
    expect(home.text('.codex/auth.json')).toBe(newerLogin)
    expect(recoverRun(worldIn(home))).toBeUndefined()
  })

  test('keeps the key if the address was rewritten since, and a rollback undoes both', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[notice]\nx = true\n`)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}\n[notice]\nx = true\n`)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })

  test('does not restore a key for an address that changed during an interrupted rollback', () => {
    const home = aHome(oldPair)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    killedBefore(home, '/auth.json', (world) => applyRollback(world, planRollback(world)!))
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
    home.put('.codex/config.toml', `${oldConfig}# changed\n`)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/config.toml')).toBe(`${oldConfig}# changed\n`)
  })

  test('discards a rollback if someone changed the file that it would have deleted first', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    killedBefore(
      home,
      /\/\.repoint-/,
      (world) => applyRollback(world, planRollback(world)!),
      'unlink',
    )
    const changed = `${home.text('.codex/config.toml')}# changed\n`
    home.put('.codex/config.toml', changed)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'discarded' })
    expect(home.text('.codex/config.toml')).toBe(changed)
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    expect(Object.keys(home.snapshot())).not.toContainEqual(expect.stringContaining('.repoint-'))
    expect(planRollback(worldIn(home))).toMatchObject({ kind: 'undo' })
  })

  test('a recorded rollback names only the clients that it undid', () => {
    const home = aHome({ ...oldPair, '.claude/settings.json': '{"theme": "dark"}\n' })
    const source = sourceIn(home)
    applyPlan(worldIn(home), aPlan([authEdit(source), configEdit(source), settingsEdit(source)]))
    const codexPair = [home.text('.codex/auth.json'), home.text('.codex/config.toml')]
    killedBefore(home, /run-.*\.json$/, (world) => applyRollback(world, planRollback(world)!))
    home.put('.claude/settings.json', '{"theme": "light"}\n')

    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'recorded',
      notRestored: [home.at('.claude/settings.json')],
    })
    expect([home.text('.codex/auth.json'), home.text('.codex/config.toml')]).toEqual(codexPair)
    expect(readdirSync(state(home))).not.toContain('journal.json')
    expect(readdirSync(state(home))).not.toContain('draft.json')
    const { runs } = listRuns(worldIn(home))
    expect(runs[0]!.undoes).toEqual([{ run: runs[1]!.id, client: 'claude' }])

    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
  })

  test('does not restore the address for a login made after a rollback deleted both files', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    killedBefore(home, /run-.*\.json$/, (world) => applyRollback(world, planRollback(world)!))
    home.put('.codex/auth.json', newerLogin)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.snapshot()).toHaveProperty(['.codex/auth.json'])
    expect(home.snapshot()).not.toHaveProperty(['.codex/config.toml'])
    expect(home.text('.codex/auth.json')).toBe(newerLogin)
  })

  test('keeps the key for an address that changed while an earlier recovery restored it', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    killedBefore(home, '.codex/config.toml', recoverRun)
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}# changed\n`)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])
  })

  test('does not restore a key for such an address if its file holds a secret header', () => {
    const home = aHome(oldPair)
    const source = sourceIn(home)
    const header = ['model_providers', 'gateway', 'http_headers', 'x-team']
    const config = keysEdit(source, '.codex/config.toml', [
      ...configEdit(source).changes,
      { path: header, value: 'sk-canary-team', isSecret: true, role: 'key' },
    ])
    applyPlan(worldIn(home), aPlan([authEdit(source), { ...config, holdsSecret: true }]))
    killedBefore(home, /run-.*\.json$/, (world) => applyRollback(world, planRollback(world)!))
    home.put('.codex/config.toml', `${oldConfig}# changed\n`)
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })

  test('leaves all files of a repair that wrote no address, and a rollback undoes the rest', () => {
    const home = aHome(oldPair)
    const source = sourceIn(home)
    const model = keysEdit(source, '.codex/config.toml', [{ path: ['model'], value: 'fixed' }])
    const repair = aPlan([authEdit(source), model], 'repair')
    killedBefore(home, /run-.*\.json$/, (world) => applyPlan(world, repair))
    home.put('.codex/config.toml', 'model = "theirs"\n')
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    applyRollback(worldIn(home), planRollback(worldIn(home))!)
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
    expect(home.text('.codex/config.toml')).toBe('model = "theirs"\n')
  })

  test('keeps a login made during an undo that leads back to the gateway, and removes the address', () => {
    const home = aHome(oldPair)
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    const source = sourceIn(home)
    const config = configEdit(source)
    const ownService = keysEdit(
      source,
      '.codex/config.toml',
      config.changes.map((change) => ({ ...change, value: undefined })),
    )
    const ownLogin = { ...authEdit(source), after: bytesOf(oldAuth) }
    applyPlan(worldIn(home), aPlan([ownService, ownLogin], 'off'))
    const atOwnService = home.text('.codex/config.toml')
    killedBefore(home, /run-.*\.json$/, (world) => applyRollback(world, planRollback(world)!))
    expect(home.text('.codex/config.toml')).toContain('gateway.example')
    home.put('.codex/auth.json', newerLogin)
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'recorded',
      notRestored: [home.at('.codex/auth.json')],
    })
    expect(home.text('.codex/config.toml')).toBe(atOwnService)
  })

  test('sets a damaged journal aside and names it', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    const journal = `${state(home)}/journal.json`
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('.codex', '.other'))
    const error = failureOf(() => recoverRun(worldIn(home)))
    expect(error.code).toBe('record-damaged')
    expect(error.filesState).toBe('unknown')
    const [aside = ''] = readdirSync(state(home)).filter((name) => name.startsWith('run-'))
    expect(error.message).toContain(aside)
    expect(listRuns(worldIn(home)).damaged).toEqual([`${state(home)}/${aside}`])
    expect(recoverRun(worldIn(home))).toBeUndefined()
  })

  test('refuses to undo an earlier run instead of one with a damaged journal', () => {
    const home = aHome(oldPair)
    const { run } = applyPlan(worldIn(home), aPairPlan(sourceIn(home), 'sk-first'))
    killedWhileSwitching(home, { isAllSwitched: true })
    writeFileSync(`${state(home)}/journal.json`, 'broken')
    expect(failureOf(() => recoverRun(worldIn(home))).code).toBe('record-damaged')
    expect(failureOf(() => planRollback(worldIn(home)))).toMatchObject({
      code: 'record-damaged',
      hint: expect.stringContaining(`--run ${run?.id}`),
    })
  })

  test('does not follow a journal to another file than the path leads to', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    const written = home.text('.codex/config.toml')
    home.put('elsewhere/config.toml', written)
    rmSync(home.at('.codex/config.toml'))
    home.put('.codex/config.toml', { link: '../elsewhere/config.toml' })
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'recorded',
      notRestored: [home.at('.codex/auth.json'), home.at('.codex/config.toml')],
    })
    expect(home.text('elsewhere/config.toml')).toBe(written)
  })

  test('reports a pending state if it cannot restore now, and restores later', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    const world = worldIn(home)
    const readOnly = withCalls(world, {
      rename: (from, to) => {
        if (to.endsWith('auth.json')) throw Object.assign(new Error(), { code: 'EROFS' })
        world.files.rename(from, to)
      },
    })
    expect(failureOf(() => recoverRun(readOnly))).toMatchObject({
      code: 'not-permitted',
      filesState: 'pending',
    })
    expect(recoverRun(world)).toMatchObject({ kind: 'restored' })
    expect(home.text('.codex/auth.json')).toBe(oldAuth)
  })
})

describe('recovery, step by step', () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }

  test('removes an incomplete draft without a report', () => {
    const home = aHome({ '.local/state/repoint/draft.json': '{"version": 2, "ru' })
    chmodSync(state(home), 0o700)
    expect(recoverRun(worldIn(home))).toBeUndefined()
    expect(readdirSync(state(home))).toEqual([])
  })

  test('removes the folders of a discarded run', () => {
    const home = aHome()
    killedBefore(home, '/journal.json')
    expect(Object.keys(home.snapshot())).toContain('.codex')
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'discarded',
    })
    expect(home.snapshot()).toEqual({})
  })

  test.each([/journal\.json$/, /run-.*\.json$/])(
    'discards a run that changes no file, interrupted before the rename to %s',
    (target) => {
      const home = aHome(oldPair)
      const before = home.snapshot()
      const edits = aPairPlan(sourceIn(home)).edits.map((edit) => ({ ...edit, after: edit.before }))
      killedBefore(home, target, (world) => acceptDrift(world, aPlan(edits)))
      expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'discarded' })
      expect(home.snapshot()).toEqual(before)
      expect(readdirSync(state(home), { recursive: true })).toEqual(['blobs'])
    },
  )

  test('restores a run that created files and folders', () => {
    const home = aHome()
    killedWhileSwitching(home, { isAllSwitched: true })
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'restored' })
    expect(home.snapshot()).toEqual({})
  })

  test('restores files and folders with their modes after a rollback that was interrupted at its end', () => {
    const home = aHome()
    applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
    chmodSync(home.at('.codex/config.toml'), 0o664)
    const before = home.snapshot()
    killedBefore(home, /run-.*\.json$/, (world) => applyRollback(world, planRollback(world)!))
    expect(home.snapshot()).toEqual({})
    const umask = process.umask(0o077)
    onTestFinished(() => void process.umask(umask))
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'restored' })
    expect(home.snapshot()).toEqual(before)
  })

  test('removes staged files next to files that stay and files that were not switched', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    home.put('.codex/auth.json', newerLogin)
    expect(recoverRun(worldIn(home))).toMatchObject({
      kind: 'recorded',
      restored: [],
      notRestored: [home.at('.codex/auth.json')],
    })
    expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])
    expect(home.text('.codex/config.toml')).toBe(oldConfig)
  })

  test.each(['first', 'last'])(
    'restores the other clients if the file of one changed: %s',
    (place) => {
      const home = aHome({ ...oldPair, '.claude/settings.json': '{"model": "opus"}\n' })
      const edits = [settingsEdit(sourceIn(home)), ...aPairPlan(sourceIn(home)).edits]
      killedBefore(home, /run-.*\.json$/, (world) =>
        applyPlan(world, aPlan(place === 'first' ? edits : edits.toReversed(), 'setup')),
      )
      home.put('.claude/settings.json', '{"theirs": true}\n')
      expect(recoverRun(worldIn(home))).toMatchObject({
        kind: 'recorded',
        notRestored: [home.at('.claude/settings.json')],
      })
      expect(home.text('.codex/auth.json')).toBe(oldAuth)
      expect(home.text('.codex/config.toml')).toBe(oldConfig)
    },
  )

  test('keeps both files if both changed since', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    home.put('.codex/auth.json', newerLogin)
    home.put('.codex/config.toml', 'theirs = 1\n')
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/auth.json')).toBe(newerLogin)
    expect(home.text('.codex/config.toml')).toBe('theirs = 1\n')
  })

  test('keeps a folder that replaced a file', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home, { isAllSwitched: true })
    rmSync(home.at('.codex/config.toml'))
    home.put('.codex/config.toml/theirs', 'x')
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'recorded', restored: [] })
    expect(home.text('.codex/config.toml/theirs')).toBe('x')
  })

  test('ignores a file that replaced the folder', () => {
    const home = aHome()
    killedBefore(home, '/journal.json')
    rmSync(home.at('.codex'), { recursive: true })
    home.put('.codex', 'theirs')
    expect(recoverRun(worldIn(home))).toMatchObject({ kind: 'discarded' })
    expect(home.text('.codex')).toBe('theirs')
  })

  test('does not report a damaged journal if a file is too large now', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    home.put('.codex/config.toml', '#'.repeat(maxConfigBytes + 1))
    expect(failureOf(() => recoverRun(worldIn(home)))).toMatchObject({
      code: 'config-conflict',
      filesState: 'pending',
    })
    expect(existsSync(`${state(home)}/journal.json`)).toBe(true)
  })

  test('sets a journal aside whose copies are gone, and names its files and its ID', () => {
    const home = aHome(oldPair)
    killedWhileSwitching(home)
    const { run } = JSON.parse(readFileSync(`${state(home)}/journal.json`, 'utf8'))
    rmSync(`${state(home)}/blobs`, { recursive: true })
    const error = failureOf(() => recoverRun(worldIn(home)))
    expect(error.message).toContain(`run-${run.id}.json`)
    expect(error.hint).toContain('~/.codex/auth.json, ~/.codex/config.toml')
    expect(error.code).toBe('record-damaged')
    expect(error.cause).toMatchObject({ code: 'backup-missing' })
    expect(recoverRun(worldIn(home))).toBeUndefined()
  })

  test('names the file if the disk fails', () => {
    const home = aHome(oldPair)
    killedBefore(home, '/journal.json')
    const world = worldIn(home)
    const blind = withCalls(world, {
      lstat: (path) => (path.endsWith('journal.json') ? failing('EIO')() : world.files.lstat(path)),
    })
    expect(failureOf(() => recoverRun(blind)).message).toContain('~/.local/state/repoint (EIO)')
    const stuck = withCalls(world, {
      unlink: (path) => (path.endsWith('draft.json') ? failing('EIO')() : world.files.unlink(path)),
    })
    expect(failureOf(() => recoverRun(stuck)).message).toContain('repoint/draft.json (EIO)')
    const held = withCalls(world, {
      unlink: (path) =>
        path.includes('/.repoint-') ? failing('EACCES')() : world.files.unlink(path),
    })
    expect(failureOf(() => recoverRun(held)).code).toBe('not-permitted')
    expect(recoverRun(world)).toMatchObject({ kind: 'discarded' })
  })

  test('runs first in a run, in an accepted drift and in forget', () => {
    for (const work of [
      (world: World) => acceptDrift(world, aPlan([])),
      (world: World, home: Home) => applyPlan(world, aPlan([settingsEdit(sourceIn(home))])),
      (world: World) => applyForget(world, { isAll: false, runs: [], damaged: [], originals: [] }),
    ]) {
      const home = aHome(oldPair)
      killedWhileSwitching(home)
      work(worldIn(home), home)
      expect(home.text('.codex/auth.json')).toBe(oldAuth)
      expect(readdirSync(state(home))).not.toContain('journal.json')
    }
  })
})

/** Kills a run after the first file was switched, or after both were and before the run is recorded. */
function killedWhileSwitching(home: Home, options: { isAllSwitched?: boolean } = {}): void {
  killedBefore(home, options.isAllSwitched ? /run-.*\.json$/ : '.codex/config.toml')
  expect(existsSync(`${state(home)}/journal.json`)).toBe(true)
}
