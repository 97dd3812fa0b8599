import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SettingChange } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import {
  applyRollback,
  planRollback,
  type RollbackOptions,
} from '../../src/transaction/plan-rollback.ts'
import type { FindSituations } from '../../src/transaction/undo/undo-client.ts'
import {
  aPairPlan,
  authEdit,
  bytesOf,
  canaryKey,
  configEdit,
  keysEdit,
  providerEdits,
  settingsEdit,
} from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { keptPaths, rollBack, setUp } from '../support/runs.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const settings = '.claude/settings.json'
const config = '.codex/config.toml'
const auth = '.codex/auth.json'
const oldLogin = '{"tokens": {"access_token": "old-login"}}\n'
const newerLogin = '{"tokens": {"access_token": "newer-login"}}\n'
const codexPair = { [auth]: oldLogin, [config]: 'model = "gpt-5.5"\n' }
const toOriginal: RollbackOptions = { which: { kind: 'all' } }

function setSettings(home: Home, name: string, changes: readonly SettingChange[]) {
  return setUp(home, [keysEdit(sourceIn(home), name, changes)])
}

function setModel(home: Home, model: string, name = config) {
  return setSettings(home, name, [{ path: ['model'], value: model }])
}

function damageRecord(home: Home, { id }: { readonly id: string }): void {
  writeFileSync(home.at(`.local/state/repoint/run-${id}.json`), 'broken')
}

function append(home: Home, name: string, text: string): void {
  home.put(name, home.text(name) + text)
}

describe('undo of a file with scope whole', () => {
  const setup = (key: string) => (home: Home) => setUp(home, [authEdit(sourceIn(home), key)])
  const removal = (home: Home) => setUp(home, [{ ...authEdit(sourceIn(home)), after: null }])
  const byHand = (text: string) => (home: Home) => home.put(auth, text)
  const [first, second, third] = [setup('sk-first'), setup('sk-second'), setup('sk-third')]
  const withFirstKey = '{"OPENAI_API_KEY": "sk-first"}\n'
  const reformatted = '{ "OPENAI_API_KEY":   "sk-second" }'
  const ourKey = ['OPENAI_API_KEY']

  test.each<[string, ((home: Home) => unknown)[], string, string[][]]>([
    ['restored by hand to the first run', [first, second, byHand(withFirstKey)], oldLogin, []],
    ['the same, over two runs', [first, second, third, byHand(withFirstKey)], oldLogin, []],
    ['broken since', [first, second, byHand('broken')], 'broken', [ourKey]],
    ['broken twice', [first, byHand('other'), second, byHand('broken')], 'broken', [ourKey]],
    ['broken between the runs', [first, byHand('broken'), second], 'broken', [ourKey]],
    ['removed, written and reformatted', [removal, second, byHand(reformatted)], oldLogin, []],
    ['with a newer login', [removal, byHand(newerLogin), removal], newerLogin, [ourKey]],
    ['with a login since', [first, second, byHand(newerLogin)], newerLogin, [ourKey, ['tokens']]],
  ])('of several runs: a file %s', (_, steps, text, kept) => {
    const home = aHome(codexPair)
    for (const step of steps) step(home)
    expect(keptPaths(rollBack(home, toOriginal))).toEqual(kept)
    expect(home.text(auth)).toBe(text)
  })

  test('a login restored by hand is not reported, and the address is removed', () => {
    const home = aHome(codexPair)
    setUp(home, aPairPlan(sourceIn(home)).edits)
    home.put(auth, oldLogin)
    const { kept } = rollBack(home)
    expect(kept).toEqual([])
    expect(home.text(config)).toBe(codexPair[config])
  })

  test('a file that is no longer JSON stays, and --force restores an earlier one that was none', () => {
    const home = aHome({ [auth]: 'none' })
    setUp(home, [authEdit(sourceIn(home))])
    home.put(auth, 'broken')
    expect(keptPaths(rollBack(home))).toEqual([['OPENAI_API_KEY']])
    expect(home.text(auth)).toBe('broken')
    rollBack(home, { force: true })
    expect(home.text(auth)).toBe('none')
  })
})

describe('undo of a run that changed only a mode', () => {
  function closed(home: Home, name: string, mode = 0o600) {
    const edit = keysEdit(sourceIn(home), name, [])
    return setUp(home, [{ ...edit, after: edit.before, holdsSecret: true, mode }])
  }
  const modeOf = (home: Home, name: string) => statSync(home.at(name)).mode & 0o777

  test('the mode is restored and set again', () => {
    const home = aHome({ [settings]: '{}\n' })
    chmodSync(home.at(settings), 0o644)
    closed(home, settings)
    expect(modeOf(home, settings)).toBe(0o600)
    const { edits, files } = rollBack(home)
    expect([edits[0]?.mode, files[0]?.action]).toEqual([0o644, 'updated'])
    expect(modeOf(home, settings)).toBe(0o644)
    rollBack(home, { which: { kind: 'newest-undo' } })
    expect(modeOf(home, settings)).toBe(0o600)
  })

  test('the mode stays if another program changed the file or the mode since', () => {
    for (const change of [
      (home: Home) => home.put(settings, '{"theirs": 1}\n'),
      (home: Home) => chmodSync(home.at(settings), 0o640),
      (home: Home) => rmSync(home.at(settings)),
    ]) {
      const home = aHome({ [settings]: '{}\n' })
      chmodSync(home.at(settings), 0o644)
      closed(home, settings)
      change(home)
      expect(planRollback(worldIn(home))?.edits[0]?.mode).toBeUndefined()
    }
  })
})

describe('undo of a mode', () => {
  test('the mode stays if two runs led to the same contents', () => {
    const home = aHome({ [config]: 'model = "a"\n' })
    setModel(home, 'b')
    setModel(home, 'a')
    expect(planRollback(worldIn(home), toOriginal)?.files).toMatchObject([{ action: 'unchanged' }])
  })
})

describe('undo of a shared table', () => {
  const table = ['model_providers', 'gateway']
  const ownSettings = [[...table, 'name']]
  /** A client that cannot read a provider without a name. */
  const findSituations: FindSituations = (client, { result }) => {
    const text = new TextDecoder().decode(result.get([...result.keys()][0]!) ?? undefined)
    const isNameless = text.includes('theirs = 1') && !text.includes('name =')
    return client === 'codex' && isNameless ? ['unreadable'] : []
  }

  function shared(home: Home) {
    const run = setUp(home, [configEdit(sourceIn(home))])
    append(home, config, 'theirs = 1\n')
    return run
  }

  test('only what the client needs to read the rest stays', () => {
    const home = aHome(codexPair)
    shared(home)
    const { kept } = rollBack(home, { findSituations })
    expect(keptPaths({ kept })).toEqual(ownSettings)
    expect(kept.every(({ why }) => why === 'needed')).toBe(true)
    expect(home.text(config)).toContain('theirs = 1')
    expect(home.text(config)).not.toContain('requires_openai_auth')
    expect(home.text(config)).toContain('model = "gpt-5.5"')
    expect(home.text(config)).not.toContain('base_url')
  })

  test('our settings outside of the table are removed, also in a file that the setup created', () => {
    const home = aHome()
    shared(home)
    expect(keptPaths(rollBack(home, { findSituations }))).toEqual(ownSettings)
    expect(home.text(config)).not.toContain('model =')
  })

  test('a table without additions is removed with its file', () => {
    const home = aHome()
    setUp(home, [configEdit(sourceIn(home))])
    append(home, config, '\n')
    rollBack(home, { findSituations })
    expect(home.snapshot()).toEqual({})
  })

  test('a table that the user had before loses our settings', () => {
    const home = aHome({ [config]: '[model_providers.gateway]\nmine = 1\n' })
    shared(home)
    expect(keptPaths(rollBack(home))).toEqual([])
    expect(home.text(config)).not.toContain('requires_openai_auth')
    expect(home.text(config)).toContain('mine = 1')
  })
})

describe('undo of a pair with a deleted file', () => {
  const opencodeAuth = '.local/share/opencode/auth.json'
  const opencode = '.config/opencode/opencode.json'
  const own = '{"provider": {"gateway": {"options": {"baseURL": "https://mine.example"}}}}\n'

  test.each<[string, Record<string, string>, boolean]>([
    ['the key is removed if the run created the address', {}, true],
    ['the key stays if an earlier address went with it', { [opencode]: own }, false],
  ])('%s', (_, given, goes) => {
    const home = aHome({ [opencodeAuth]: '{}\n', ...given })
    setUp(home, providerEdits(sourceIn(home)))
    rmSync(home.at(opencode))
    rollBack(home)
    expect(home.text(opencodeAuth).includes(canaryKey)).toBe(!goes)
    expect(() => home.text(opencode)).toThrow()
  })

  test('the key stays if one of its two addresses existed before', () => {
    const home = aHome({ ...codexPair, [config]: 'model_provider = "mine"\n' })
    setUp(home, aPairPlan(sourceIn(home)).edits)
    rmSync(home.at(config))
    rollBack(home)
    expect(home.text(auth)).toContain(canaryKey)
  })

  test('a deleted key removes the address, unless an older one would be restored', () => {
    const older = 'model_provider = "mine"\n'
    for (const before of [codexPair[config], older]) {
      const home = aHome({ [auth]: oldLogin, [config]: before })
      setUp(home, aPairPlan(sourceIn(home)).edits)
      const ours = home.text(config)
      rmSync(home.at(auth))
      const { kept } = rollBack(home)
      expect(home.text(config)).toBe(before === older ? ours : before)
      const address = { file: home.at(config), path: ['model_provider'], why: 'together' }
      if (before === older) expect(kept).toContainEqual({ client: 'codex', ...address })
      else expect(kept.map(({ file }) => file)).toEqual([home.at(auth)])
    }
  })

  test('a deleted file is reported once, not for each setting', () => {
    const home = aHome({ [settings]: '{}\n' })
    setUp(home, [settingsEdit(sourceIn(home))])
    rmSync(home.at(settings))
    const { files, kept } = planRollback(worldIn(home))!
    expect(files).toMatchObject([{ client: 'claude', action: 'unchanged' }])
    expect(kept).toEqual([{ client: 'claude', file: home.at(settings), path: [], why: 'changed' }])
  })
})

describe('undo of a file that cannot be parsed', () => {
  test('the error explains what --force does', () => {
    const home = aHome(codexPair)
    setUp(home, [configEdit(sourceIn(home))])
    home.put(config, 'broken = ')
    expect(() => planRollback(worldIn(home))).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        hint: expect.stringContaining('repoint rollback --force'),
        cause: expect.any(UserError),
      }),
    )
  })
})

describe('undo of several runs without changes in between', () => {
  test('only the oldest copy is needed', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    for (const model of ['first', 'second', 'third']) setModel(home, model)
    const blobs = home.at('.local/state/repoint/blobs')
    const oldest = sha256Of(bytesOf('model = "0"\n'))
    for (const name of readdirSync(blobs)) if (name !== oldest) rmSync(`${blobs}/${name}`)
    rollBack(home, toOriginal)
    expect(home.text(config)).toBe('model = "0"\n')
  })
})

describe('the runs that can be undone', () => {
  test('there is none after the user restored everything by hand, and a deleted file is reported', () => {
    const home = aHome({ ...codexPair, [settings]: '{}\n' })
    setUp(home, [configEdit(sourceIn(home)), settingsEdit(sourceIn(home))])
    home.put(config, codexPair[config])
    home.put(settings, '{}\n')
    chmodSync(home.at(settings), 0o644)
    expect(planRollback(worldIn(home))).toBeUndefined()
    rmSync(home.at(settings))
    expect(planRollback(worldIn(home))?.kept.map(({ file }) => file)).toEqual([home.at(settings)])
  })

  test('runs older than a damaged record are not included', () => {
    const home = aHome(codexPair)
    const first = setModel(home, 'first')
    damageRecord(home, setModel(home, 'second'))
    expect(() => planRollback(worldIn(home))).toThrow(
      expect.objectContaining({
        code: 'record-damaged',
        hint: expect.stringContaining(`--run ${first.id}`),
      }),
    )
  })

  test('an undo older than a damaged record is not redone, and the hint does not name --run', () => {
    const home = aHome(codexPair)
    setModel(home, 'first')
    rollBack(home)
    damageRecord(home, setModel(home, 'second'))
    expect(() => planRollback(worldIn(home), { which: { kind: 'newest-undo' } })).toThrow(
      expect.objectContaining({
        code: 'record-damaged',
        hint: 'Run the undone command again instead. To delete all records and copies: repoint forget --all',
      }),
    )
  })

  test('--force restores the original even after an undo', () => {
    const home = aHome(codexPair)
    setModel(home, 'first')
    rollBack(home)
    home.put(config, 'theirs = 1\n')
    expect(planRollback(worldIn(home), toOriginal)).toBeUndefined()
    rollBack(home, { ...toOriginal, force: true })
    expect(home.text(config)).toBe(codexPair[config])
  })

  test('--force does not touch files that an undo already restored', () => {
    const home = aHome({ ...codexPair, [settings]: '{}\n' })
    setUp(home, [settingsEdit(sourceIn(home)), configEdit(sourceIn(home))])
    home.put(config, home.text(config).replace('"gpt-5.6-sol"', '"theirs"'))
    home.put(settings, home.text(settings).replace('{', '{"theirs": 1,'))
    rollBack(home)
    const left = home.text(settings)
    rollBack(home, { force: true })
    expect(home.text(config)).toBe(codexPair[config])
    expect(home.text(settings)).toBe(left)
    expect(left).toContain('theirs')
  })

  test('--force restores the older login after an undo restored a newer one', () => {
    const home = aHome(codexPair)
    setUp(home, aPairPlan(sourceIn(home)).edits)
    home.put(auth, newerLogin)
    setUp(home, aPairPlan(sourceIn(home)).edits)
    rollBack(home, toOriginal)
    expect(home.text(auth)).toBe(newerLogin)
    rollBack(home, { force: true })
    expect(home.text(auth)).toBe(oldLogin)
  })

  test('--force finds nothing if the files that a run created no longer exist', () => {
    const home = aHome()
    setUp(home, aPairPlan(sourceIn(home)).edits)
    rollBack(home)
    expect(planRollback(worldIn(home), { force: true })).toBeUndefined()
  })
})

describe('undo of a setting that was changed between two runs', () => {
  test('the change stays if the newer run did not write the setting', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    setSettings(home, config, [
      { path: ['model'], value: 'first' },
      { path: ['review_model'], value: 'a' },
    ])
    home.put(config, home.text(config).replace('"a"', '"theirs"'))
    setModel(home, 'second')
    const { kept } = rollBack(home, toOriginal)
    expect(home.text(config)).toBe('model = "0"\nreview_model = "theirs"\n')
    expect(keptPaths({ kept })).toEqual([['review_model']])
  })

  test('an addition stays in a file that was deleted and created again', () => {
    const home = aHome({ [config]: 'model = "0"\n' })
    setModel(home, 'first')
    rmSync(home.at(config))
    setModel(home, 'second')
    append(home, config, 'theirs = 1\n')
    rollBack(home, toOriginal)
    expect(home.text(config)).toBe('theirs = 1\n')
  })
})

describe('the order of an undo', () => {
  const nameOf = ({ path }: { readonly path: string }) => basename(path)

  test.each([0, 1])('the address comes first, also if a separate run wrote it: %i', (first) => {
    const home = aHome(codexPair)
    const edits = aPairPlan(sourceIn(home)).edits
    const { id } = setUp(home, [edits[first]!])
    setUp(home, [edits[1 - first]!])
    const { applied } = rollBack(home, { which: { kind: 'run', id } })
    expect(applied.run?.files.map(nameOf)).toEqual(['config.toml', 'auth.json'])
    const redo = planRollback(worldIn(home), { which: { kind: 'newest-undo' } })
    expect(redo?.files.map(nameOf)).toEqual(['auth.json', 'config.toml'])
  })

  test('--run undoes the newer runs of its files, and no others', () => {
    const home = aHome({ ...codexPair, [settings]: '{}\n' })
    const first = setModel(home, 'first')
    setUp(home, [settingsEdit(sourceIn(home))])
    const third = setUp(home, [...providerEdits(sourceIn(home)), configEdit(sourceIn(home))])
    const { runs, edits } = planRollback(worldIn(home), { which: { kind: 'run', id: first.id } })!
    expect(runs.map(({ id }) => id)).toEqual([third.id, first.id])
    expect(new Set(edits.map(({ client }) => client))).toEqual(new Set(['codex']))
  })
})

describe('folders that the runs created', () => {
  test('folders are removed with their files, innermost first, whichever run created them', () => {
    const home = aHome()
    setModel(home, 'a', 'a/one.toml')
    setModel(home, 'b', 'a/b/two.toml')
    const since = setModel(home, 'c', 'a/b/c/three.toml')
    expect(since.folders).toEqual([home.at('a/b/c')])
    const first = planRollback(worldIn(home), toOriginal)!
    applyRollback(worldIn(home), first)
    expect(home.snapshot()).toEqual({})
  })

  test('an empty folder stays if none of its files is undone', () => {
    const home = aHome()
    setUp(home, [configEdit(sourceIn(home)), settingsEdit(sourceIn(home))])
    rmSync(home.at(settings))
    rollBack(home, { clients: ['codex'] })
    expect(home.snapshot()).toEqual({ '.claude': 'folder 700' })
    rollBack(home, { clients: ['codex'], which: { kind: 'newest-undo' } })
    expect(Object.keys(home.snapshot())).toEqual(['.claude', '.codex', config])
  })
})

describe('the runs that an undo selects', () => {
  test('runs of another installation are excluded, unless a run is given', () => {
    const home = aHome({ 'a.toml': '', 'b.toml': '' })
    setModel(home, 'a', 'a.toml')
    const other = setModel(home, 'b', 'b.toml')
    const isHere = ({ path }: { path: string }) => path.endsWith('a.toml')
    expect(planRollback(worldIn(home), { isHere })?.edits[0]?.path).toBe(home.at('a.toml'))
    expect(
      planRollback(worldIn(home), { isHere, which: { kind: 'run', id: other.id } })?.runs.at(-1)
        ?.id,
    ).toBe(other.id)
    expect(planRollback(worldIn(home), { isHere: () => false })).toBeUndefined()
  })

  test('runs of another home are excluded, except files outside of it', () => {
    const home = aHome({ 'a.toml': '' })
    const outside = aHome({ 'out.toml': '' })
    const state = { REPOINT_STATE_DIR: aHome().at('state') }
    const world = { ...worldIn(home, state), processes: { ...worldIn(home).processes, uid: 0 } }
    const user = withCalls({ ...world, processes: { ...world.processes, uid: 1000 } }, owned(world))
    const change = [{ path: ['model'], value: 'x' }]
    setUp(home, [keysEdit(sourceIn(home), 'a.toml', change)], user)
    const there = { ...user, machine: { ...user.machine, home: outside.path } }
    expect(planRollback(there)).toBeUndefined()
    setUp(home, [keysEdit(sourceIn(outside), 'out.toml', change)], user)
    expect(planRollback(there)?.edits.map(({ path }) => path)).toEqual([outside.at('out.toml')])
  })

  /** Everything belongs to an ordinary user. */
  function owned({ files }: ReturnType<typeof worldIn>) {
    return {
      lstat: (path: string) => ({ ...files.lstat(path), uid: 1000 }),
      stat: (path: string) => ({ ...files.stat(path), uid: 1000 }),
      fchown: () => {},
    }
  }

  test('an unknown ID is refused with the given clients', () => {
    const home = aHome(codexPair)
    const { id } = setModel(home, 'x')
    expect(() =>
      planRollback(worldIn(home), { which: { kind: 'run', id }, clients: ['claude', 'pi'] }),
    ).toThrow(`no run ${id} of claude or pi`)
    expect(() => planRollback(worldIn(home), { which: { kind: 'run', id: 'none' } })).toThrow(
      'no run none',
    )
  })

  test('a damaged record older than the run is ignored', () => {
    const home = aHome(codexPair)
    const old = setModel(home, 'first')
    const { id } = setModel(home, 'second')
    damageRecord(home, old)
    expect(planRollback(worldIn(home))?.runs.at(-1)?.id).toBe(id)
    const place = `~/.local/state/repoint/run-${old.id}.json`
    expect(() => planRollback(worldIn(home), toOriginal)).toThrow(place)
    rollBack(home, { ...toOriginal, force: true })
    expect(home.text(config)).toBe(codexPair[config])
  })

  test('a deleted file is reported at its run, and the next rollback goes one run further', () => {
    const home = aHome({ 'a.toml': '', 'b.toml': '' })
    setModel(home, 'a', 'a.toml')
    setModel(home, 'b', 'b.toml')
    for (const name of ['a.toml', 'b.toml']) rmSync(home.at(name))
    for (const name of ['b.toml', 'a.toml'])
      expect(rollBack(home).files.map(({ path }) => basename(path))).toEqual([name])
    expect(planRollback(worldIn(home))).toBeUndefined()
  })
})
