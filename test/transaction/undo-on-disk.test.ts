import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { planRollback, type RollbackOptions } from '../../src/transaction/plan-rollback.ts'
import { aPairPlan, authEdit, keysEdit, providerEdits, settingsEdit } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { keptPaths, rollBack, setUp } from '../support/runs.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const chatGptLogin = '{"tokens": {"access_token": "old-login"}}\n'
const newerLogin = '{"tokens": {"access_token": "newer-login"}}\n'
const config = 'model = "gpt-5.5"\n'
const codexPair = { '.codex/auth.json': chatGptLogin, '.codex/config.toml': config }
const settings = '{\n  "model": "opus"\n}\n'

function setUpCodex(home: Home, key?: string) {
  return setUp(home, aPairPlan(sourceIn(home), key).edits)
}

describe('address and key of one client are undone together', () => {
  test('codex: an address that was changed by hand does not get the ChatGPT login', () => {
    const home = aHome(codexPair)
    setUpCodex(home)
    const changed = home.replace('.codex/config.toml', 'gateway.example', 'theirs.example')
    const { files } = rollBack(home)
    expect(files.map(({ action }) => action)).toEqual(['unchanged', 'unchanged'])
    expect(home.text('.codex/auth.json')).not.toContain('old-login')
    expect(home.text('.codex/config.toml')).toBe(changed)
  })

  test.each([
    ['', newerLogin],
    [
      ' also one that names our key as null',
      '{"OPENAI_API_KEY": null, "tokens": {"access_token": "newer-login"}}\n',
    ],
  ])('codex: a login made since stays%s, and the address of the vendor is restored', (_, login) => {
    const home = aHome(codexPair)
    setUpCodex(home)
    home.put('.codex/auth.json', login)
    const { files } = rollBack(home)
    expect(files.at(-1)).toMatchObject({ action: 'unchanged' })
    expect(home.text('.codex/auth.json')).toBe(login)
    expect(home.text('.codex/config.toml')).toBe(config)
  })

  test('codex: another key instead of ours keeps the address', () => {
    const home = aHome(codexPair)
    setUpCodex(home)
    home.put('.codex/auth.json', '{"OPENAI_API_KEY": "sk-theirs"}')
    rollBack(home)
    expect(home.text('.codex/auth.json')).toContain('sk-theirs')
    expect(home.text('.codex/config.toml')).toContain('gateway.example')
  })

  test('codex: a changed model is independent of address and key', () => {
    const home = aHome(codexPair)
    setUpCodex(home)
    home.replace('.codex/config.toml', '"gpt-5.6-sol"', '"theirs"')
    const { kept } = rollBack(home)
    expect(keptPaths({ kept })).toEqual([['model']])
    expect(home.text('.codex/config.toml')).toBe('model = "theirs"\n')
    expect(home.text('.codex/auth.json')).toBe(chatGptLogin)
  })

  test('a client that is kept does not affect another one of the same run', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    setUp(home, [...aPairPlan(sourceIn(home)).edits, settingsEdit(sourceIn(home))])
    home.replace('.claude/settings.json', 'gateway.example', 'theirs.example')
    rollBack(home)
    expect(home.text('.codex/auth.json')).toBe(chatGptLogin)
    expect(home.text('.claude/settings.json')).toContain('theirs.example')
  })

  test('by force they are restored exactly, even if everything was changed, broken or deleted', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    const before = home.snapshot()
    setUp(home, [...aPairPlan(sourceIn(home)).edits, settingsEdit(sourceIn(home))])
    home.replace('.claude/settings.json', 'gateway.example', 'theirs.example')
    home.put('.codex/config.toml', 'broken = ')
    rmSync(home.at('.codex/auth.json'))
    const { kept } = rollBack(home, { force: true })
    expect(kept).toEqual([])
    expect(home.text('.claude/settings.json')).toBe(settings)
    expect(home.text('.codex/config.toml')).toBe(config)
    expect(home.text('.codex/auth.json')).toBe(chatGptLogin)
    expect(Object.keys(home.snapshot())).toEqual(Object.keys(before))
  })
})

describe('an undo of several runs', () => {
  test('undoes each of them, and keeps what others wrote in between', () => {
    const home = aHome(codexPair)
    const first = setUpCodex(home, 'sk-first')
    home.replace('.codex/config.toml', 'model = ', '# theirs\nmodel = ')
    setUp(home, [settingsEdit(sourceIn(home))])
    const again = aPairPlan(sourceIn(home), 'sk-second')
    setUp(home, again.edits)
    home.put('.codex/config.toml', `${home.text('.codex/config.toml')}\n[notice]\nseen = true\n`)
    rollBack(home, { which: { kind: 'run', id: first.id } })
    expect(home.text('.codex/config.toml')).toBe(`# theirs\n${config}\n[notice]\nseen = true\n`)
    expect(home.text('.codex/auth.json')).toBe(chatGptLogin)
    expect(home.text('.claude/settings.json')).toContain('gateway.example')
  })

  test('does not touch another installation of the same client', () => {
    const home = aHome({ ...codexPair, 'other/config.toml': config })
    const elsewhere = keysEdit(sourceIn(home), 'other/config.toml', [
      { path: ['model'], value: 'ours' },
    ])
    const first = setUp(home, [elsewhere])
    setUpCodex(home)
    rollBack(home, { which: { kind: 'run', id: first.id } })
    expect(home.text('other/config.toml')).toBe(config)
    expect(home.text('.codex/config.toml')).toContain('gateway.example')
  })

  test.each(['the time of its second start', undefined])(
    'also undoes what the client itself writes at each start: %s',
    (stamp) => {
      const home = aHome({ 'other/x.json': '{}\n' })
      setUp(home, [
        keysEdit(sourceIn(home), 'other/x.json', [
          { path: ['entry', 'url'], value: 'https://gateway.example', role: 'address' },
          { path: ['entry', 'at'], value: 'never', rewrittenByClient: true },
        ]),
      ])
      const { entry } = JSON.parse(home.text('other/x.json'))
      home.put('other/x.json', JSON.stringify({ entry: { ...entry, at: stamp } }))
      expect(keptPaths(rollBack(home))).toEqual([])
      expect(JSON.parse(home.text('other/x.json'))).toEqual({})
    },
  )

  test('does not report a setting as kept that an older undo restored', () => {
    const home = aHome({ '.claude/settings.json': settings })
    const first = setUp(home, [settingsEdit(sourceIn(home), 'https://first.example', 'sk-first')])
    setUp(home, [settingsEdit(sourceIn(home), 'https://second.example', 'sk-second')])
    const led = home.replace('.claude/settings.json', 'second.example', 'first.example')
    expect(
      keptPaths(planRollback(worldIn(home), { which: { kind: 'run', id: first.id } })),
    ).toEqual([])
    home.put('.claude/settings.json', led.replace('"sonnet"', '"haiku"'))
    const { kept } = rollBack(home, { which: { kind: 'run', id: first.id } })
    expect(keptPaths({ kept })).toEqual([['model']])
    expect(home.text('.claude/settings.json')).toBe(settings.replace('opus', 'haiku'))
  })

  test('to the original restores the first bytes of every client, whichever run came first', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    const before = home.snapshot()
    setUpCodex(home, 'sk-first')
    setUp(home, [settingsEdit(sourceIn(home), 'https://first.example')])
    setUpCodex(home, 'sk-second')
    setUp(home, [settingsEdit(sourceIn(home), 'https://second.example')])
    setUp(home, providerEdits(sourceIn(home)))
    rollBack(home)
    rollBack(home)
    rollBack(home, { which: { kind: 'all' } })
    // repoint also created the folders, so they are removed with their files.
    expect(home.snapshot()).toEqual(before)
    rollBack(home, { which: { kind: 'newest-undo' } })
    expect(home.text('.claude/settings.json')).toContain('first.example')
  })
})

describe('what someone wrote between two setups', () => {
  const toOriginal = (home: Home) => rollBack(home, { which: { kind: 'all' } })

  test('is restored if it is a login, and the address is removed', () => {
    const home = aHome(codexPair)
    setUpCodex(home)
    home.put('.codex/auth.json', newerLogin)
    setUpCodex(home)
    const { kept } = toOriginal(home)
    expect(home.text('.codex/auth.json')).toBe(newerLogin)
    expect(home.text('.codex/config.toml')).toBe(config)
    expect(kept).toMatchObject([{ path: ['tokens'], why: 'newer' }])
  })

  test('is restored by one rollback, and the next one respects it', () => {
    const home = aHome({ '.claude/settings.json': settings })
    setUp(home, [settingsEdit(sourceIn(home))])
    const changed = home.replace('.claude/settings.json', '"model": "sonnet"', '"model": "haiku"')
    setUp(home, [settingsEdit(sourceIn(home))])
    rollBack(home)
    expect(home.text('.claude/settings.json')).toBe(changed)
    expect(keptPaths(rollBack(home))).toEqual([['model']])
    expect(JSON.parse(home.text('.claude/settings.json'))).toEqual({ model: 'haiku' })
  })
})

describe('undo and redo', () => {
  const at = (home: Home, name: string) =>
    setUp(home, [settingsEdit(sourceIn(home), `https://${name}.example`, `sk-${name}`)])

  test('goes back run by run, and redoes as many', () => {
    const home = aHome({ '.claude/settings.json': settings })
    const states = [home.snapshot()]
    for (const name of ['first', 'second', 'third']) {
      at(home, name)
      states.push(home.snapshot())
    }
    for (const index of [2, 1, 0]) {
      rollBack(home)
      expect(home.snapshot()).toEqual(states[index])
    }
    expect(planRollback(worldIn(home))).toBeUndefined()
    for (const index of [1, 2, 3]) {
      expect(rollBack(home, { which: { kind: 'newest-undo' } }).kind).toBe('redo')
      expect(home.snapshot()).toEqual(states[index])
    }
    expect(planRollback(worldIn(home), { which: { kind: 'newest-undo' } })).toBeUndefined()
    rollBack(home)
    expect(home.snapshot()).toEqual(states[2])
  })

  test('a setup that wrote only the key ends the redo of the address too', () => {
    const home = aHome(codexPair)
    setUpCodex(home)
    rollBack(home)
    setUp(home, [authEdit(sourceIn(home), 'sk-elsewhere')])
    expect(planRollback(worldIn(home), { which: { kind: 'newest-undo' } })).toBeUndefined()
  })

  test('the last redone run is undone first, and alone', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    const before = home.snapshot()
    setUp(home, [...aPairPlan(sourceIn(home)).edits, settingsEdit(sourceIn(home))])
    at(home, 'second')
    rollBack(home, { clients: ['codex'] })
    const undone = home.snapshot()
    rollBack(home, { which: { kind: 'newest-undo' } })
    rollBack(home)
    expect(home.snapshot()).toEqual(undone)
    rollBack(home)
    expect(home.text('.claude/settings.json')).toContain('gateway.example')
    rollBack(home)
    expect(home.snapshot()).toEqual(before)
  })

  test('kept settings are restored by force, and never by a redo', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    const before = home.snapshot()
    setUpCodex(home)
    home.put('.codex/auth.json', newerLogin)
    home.replace('.codex/config.toml', '"gpt-5.6-sol"', '"theirs"')
    expect(keptPaths(rollBack(home))).toHaveLength(2)
    expect(planRollback(worldIn(home))).toBeUndefined()
    rollBack(home, { force: true })
    expect(home.snapshot()).toEqual(before)
    expect(planRollback(worldIn(home), { force: true })).toBeUndefined()
  })
})

describe('which run is undone', () => {
  test('a run whose files were deleted since does not block older ones of other clients', () => {
    const home = aHome({ '.claude/settings.json': settings })
    setUp(home, [settingsEdit(sourceIn(home))])
    setUpCodex(home)
    rmSync(home.at('.codex'), { recursive: true })
    rollBack(home)
    expect(home.text('.claude/settings.json')).toBe(settings)
  })

  test('after one client of a run was rolled back, the rest can be', () => {
    const home = aHome({ ...codexPair, '.claude/settings.json': settings })
    const before = home.snapshot()
    const run = setUp(home, [...aPairPlan(sourceIn(home)).edits, settingsEdit(sourceIn(home))])
    rollBack(home, { clients: ['codex'] })
    expect(home.text('.claude/settings.json')).toContain('gateway.example')
    const { edits } = rollBack(home, { which: { kind: 'run', id: run.id } })
    expect(edits.map(({ client }) => client)).toEqual(['claude'])
    expect(home.snapshot()).toEqual(before)
  })

  test.each<[string, RollbackOptions]>([
    ['a damaged record alone is an error, not nothing to undo', {}],
    ['a damaged record is not the original', { which: { kind: 'all' } }],
  ])('%s', (_, options) => {
    const home = aHome(codexPair)
    const { id } = setUpCodex(home, 'sk-first')
    const record = home.at(`.local/state/repoint/run-${id}.json`)
    if (options.which?.kind === 'all') setUpCodex(home, 'sk-second')
    writeFileSync(record, 'broken')
    expect(() => planRollback(worldIn(home), options)).toThrow('Cannot read the record')
  })

  test.each(['sk-first', 'sk-second'])(
    'by force the original is restored despite a damaged record: %s',
    (damaged) => {
      const home = aHome(codexPair)
      const ids = new Map(['sk-first', 'sk-second'].map((key) => [key, setUpCodex(home, key).id]))
      writeFileSync(home.at(`.local/state/repoint/run-${ids.get(damaged)}.json`), 'broken')
      expect(() => planRollback(worldIn(home), { which: { kind: 'all' } })).toThrow(
        'Cannot read the record',
      )
      rollBack(home, { which: { kind: 'all' }, force: true })
      expect(home.text('.codex/auth.json')).toBe(chatGptLogin)
    },
  )
})
