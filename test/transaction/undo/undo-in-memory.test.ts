import { describe, expect, test } from 'vitest'
import type { ListElement } from '../../../src/edits/types.ts'
import {
  isHeldBack,
  type KeptSetting,
  type RecordedFile,
  type RecordedSetting,
} from '../../../src/transaction/record.ts'
import { activeRuns } from '../../../src/transaction/undo/active-runs.ts'
import { redo, undoAll, undoNewest, undoTo } from '../../../src/transaction/undo/choose-runs.ts'
import type { FindSituations, UndoOptions } from '../../../src/transaction/undo/undo-client.ts'
import { undoFile } from '../../../src/transaction/undo/undo-file.ts'
import { mergeFiles, type UndoPlan } from '../../../src/transaction/undo/undo-runs.ts'
import { authPath, settingsPath, UndoMachine } from '../../support/undo-values.ts'

const original = '{\n  "url": "vendor",\n  "model": "vendor-model",\n  "theme": "dark"\n}\n'
const ours = { url: 'gw', token: 'k1', model: 'gw/a', limit: 1 }

function aMachine(text = original): UndoMachine {
  const machine = new UndoMachine({ [settingsPath]: text })
  machine.setUp(ours)
  return machine
}

function rollBack(machine: UndoMachine, options: Partial<UndoOptions> = {}) {
  const { runs, contents } = machine
  return machine.apply(undoNewest(runs, contents, options))
}

function redoLast(machine: UndoMachine, options: Partial<UndoOptions> = {}) {
  const { runs, contents } = machine
  return machine.apply(redo(runs, contents, options))
}

function keptIn(plan: { readonly kept: readonly KeptSetting[] } | undefined) {
  return plan?.kept.map(({ path, why }) => [path.join('.'), why])
}

describe('rollback', () => {
  test('keeps a setting that someone changed, reports it, and undoes the rest', () => {
    const machine = aMachine()
    machine.edit({ limit: 2, mine: true })
    expect(keptIn(rollBack(machine))).toEqual([['limit', 'changed']])
    expect(machine.values()).toEqual({ ...JSON.parse(original), limit: 2, mine: true })
  })

  test.each([
    ['the address', { url: 'other' }, 'url'],
    ['the key', { token: 'theirs' }, 'token'],
  ])('keeps everything of a client if someone changed %s', (_, edit, changed) => {
    const machine = aMachine()
    machine.edit(edit)
    const before = machine.text(settingsPath)
    const kept = keptIn(rollBack(machine))
    expect(machine.text(settingsPath)).toBe(before)
    expect(kept).toContainEqual([changed, 'changed'])
    expect(kept).toHaveLength(4)
    expect(kept).toContainEqual(['model', 'together'])
  })

  test('undoes the address if someone removed our key and there was no address before', () => {
    const machine = aMachine('{"theme": "dark"}\n')
    machine.edit({ token: undefined })
    rollBack(machine)
    expect(machine.values()).toEqual({ theme: 'dark' })
  })

  test('keeps the address if someone removed our key and an older address would return', () => {
    const machine = aMachine()
    machine.setUp({ ...ours, url: 'gw2', token: 'k2' })
    machine.edit({ token: undefined })
    expect(keptIn(rollBack(machine))).toContainEqual(['url', 'together'])
    expect(machine.values()['url']).toBe('gw2')
  })

  test.each([
    ['that names our provider', { model: 'gw/b' }],
    ['of the gateway', { plain: 'another' }],
  ])('undoes a model %s, which someone chose since, with the address', (_, edit) => {
    const machine = new UndoMachine({ [settingsPath]: original })
    machine.setUp({ ...ours, plain: 'one' })
    machine.edit(edit)
    expect(rollBack(machine)?.kept).toEqual([])
    expect(machine.text(settingsPath)).toBe(original)
  })

  test('keeps the model of another provider, and models that name no provider with it', () => {
    const machine = new UndoMachine({ [settingsPath]: original })
    machine.setUp({ ...ours, plain: 'one' })
    machine.edit({ model: 'elsewhere/x', plain: 'x' })
    expect(keptIn(rollBack(machine))).toEqual([
      ['model', 'changed'],
      ['plain', 'changed'],
    ])
    expect(machine.values()).toMatchObject({ url: 'vendor', model: 'elsewhere/x', plain: 'x' })
  })

  test('keeps a model that someone chose if the gateway stays', () => {
    const machine = aMachine()
    machine.setUp({ ...ours, model: 'gw/b' })
    machine.edit({ model: 'gw/c' })
    expect(keptIn(rollBack(machine))).toEqual([['model', 'changed']])
    expect(machine.values()['model']).toBe('gw/c')
  })

  test('goes one run further back each time, even if it kept every setting', () => {
    const machine = aMachine()
    machine.setUp({ ...ours, url: 'gw2', token: 'k2' })
    machine.edit({ url: 'other' })
    expect(rollBack(machine)?.undoes).toEqual([{ run: '000002', client: 'codex' }])
    expect(rollBack(machine)?.undoes).toEqual([{ run: '000001', client: 'codex' }])
    expect(rollBack(machine)).toBeUndefined()
  })

  test('skips a run that has nothing left, and counts it as undone', () => {
    const machine = aMachine()
    const first = machine.text(settingsPath)
    machine.setUp({ ...ours, limit: 3 })
    machine.write(settingsPath, first)
    const plan = rollBack(machine)
    expect(plan?.undoes.map(({ run }) => run)).toEqual(['000002', '000001'])
    expect(machine.text(settingsPath)).toBe(original)
    expect(activeRuns(machine.runs)).toEqual([])
  })
})

describe('a file with scope whole', () => {
  const auth = '{"key": "k1"}'

  function withAuth(before: string | null = '{"key": "old"}'): UndoMachine {
    const machine = new UndoMachine({ [settingsPath]: '{}\n', [authPath]: before })
    machine.setUp({ url: 'gw' }, auth)
    return machine
  }

  test('is restored if only its formatting changed', () => {
    const machine = withAuth()
    machine.write(authPath, '{\n  "key": "k1"\n}\n')
    rollBack(machine)
    expect(machine.text(authPath)).toBe('{"key": "old"}')
  })

  test('stays if someone logged in since, and the address is removed', () => {
    const machine = withAuth(null)
    machine.write(authPath, '{"login": "me"}')
    expect(keptIn(rollBack(machine))).toEqual([])
    expect(machine.text(authPath)).toBe('{"login": "me"}')
    expect(machine.values()).toEqual({})
  })

  test.each([
    ['an addition', null, { key: 'k1', more: true }, { more: true }],
    ['an addition to an earlier key', { key: 'old' }, { key: 'k1', a: 1 }, { key: 'old', a: 1 }],
    [
      'an addition to an earlier login',
      { mode: 'login', tokens: { id: 'old' } },
      { key: 'k1', more: true },
      { mode: 'login', tokens: { id: 'old' }, more: true },
    ],
    [
      'what describes our key, if the earlier login has another value',
      { mode: 'login', tokens: { id: 'old' } },
      { key: 'k1', mode: 'key' },
      { mode: 'login', tokens: { id: 'old' } },
    ],
    [
      'a newer login with our key, and no part of the earlier login',
      { mode: 'login', tokens: { id: 'old' }, at: 1 },
      { key: 'k1', tokens: { id: 'new' } },
      { tokens: { id: 'new' } },
    ],
    [
      'a newer login without a table',
      { mode: 'login', token: 'old' },
      { key: 'k1', mode: 'other', token: 'new' },
      { mode: 'other', token: 'new' },
    ],
  ])('loses our key, and so does the address: %s', (_, before, now, result) => {
    const machine = withAuth(before && JSON.stringify(before))
    machine.write(authPath, JSON.stringify(now))
    expect(rollBack(machine)?.kept.filter(isHeldBack)).toEqual([])
    expect(JSON.parse(machine.text(authPath)!)).toEqual(result)
    expect(machine.values()).toEqual({})
  })

  test('stays with our key and the address if the earlier version cannot be read', () => {
    const machine = withAuth('broken {')
    machine.write(authPath, '{"key": "k1", "more": true}')
    expect(keptIn(rollBack(machine))).toContainEqual(['url', 'our-key-stays'])
    expect(machine.values()).toEqual({ url: 'gw' })
  })

  test.each([
    ['only a value that is no secret is left', { name: 'gateway' }],
    ['one of our two secrets is left', { token: 'k2' }],
    ['nothing of ours is left', { login: 'me' }],
  ])('loses the rest of ours if someone removed our key: %s', (_, now) => {
    const machine = new UndoMachine({ [settingsPath]: '{}\n', [authPath]: null })
    machine.setUp({ url: 'gw' }, '{"key": "k1", "token": "k2", "name": "gateway"}')
    const [auth, settings] = machine.runs[0]!.files as [RecordedFile, RecordedFile]
    const authSettings: RecordedFile['settings'] = [
      { path: ['key'], role: 'key', isSecret: true },
      { path: ['token'], isSecret: true },
      { path: ['name'] },
    ]
    machine.runs = [{ ...machine.runs[0]!, files: [{ ...auth, settings: authSettings }, settings] }]
    machine.write(authPath, JSON.stringify(now))
    rollBack(machine)
    expect(machine.values()).toEqual({})
    expect(machine.text(authPath) ?? '').not.toContain('k2')
  })

  test('is reported as a whole if the run recorded no setting of it', () => {
    const machine = withAuth()
    machine.write(authPath, '{"login": "me"}')
    const file = { ...machine.runs[0]!.files[0]!, settings: [] }
    const { copies, contents } = machine
    const { kept } = undoFile({ copies, file, now: contents.get(authPath) })
    expect(kept).toEqual([{ client: 'codex', file: authPath, path: [], why: 'changed' }])
  })
})

describe('a client with two files', () => {
  function aPair(): UndoMachine {
    const machine = new UndoMachine({ [settingsPath]: original, [authPath]: null })
    machine.setUp({ ...ours, plain: 'one' }, '{"key": "k1"}')
    return machine
  }

  test('loses a model of the gateway that someone chose since, though only one file has the address', () => {
    const machine = aPair()
    machine.edit({ plain: 'another' })
    expect(rollBack(machine)?.kept).toEqual([])
    expect(machine.text(settingsPath)).toBe(original)
  })

  describe('writes its files so that no login meets the address of a gateway', () => {
    const login = '{"login": "me"}'
    const addressFirst = [settingsPath, authPath]
    const keyFirst = [authPath, settingsPath]
    const orderOf = (plan: UndoPlan | undefined) => plan?.files.map(({ path }) => path)

    function aHistory(): UndoMachine {
      const machine = new UndoMachine({ [settingsPath]: original, [authPath]: login })
      machine.setUp(ours, '{"key": "k1"}')
      machine.setUp({ ...ours, url: 'gw2' }, '{"key": "k2"}')
      return machine
    }

    test('an undo of setups, and its redo', () => {
      const machine = aHistory()
      const { runs, contents } = machine
      expect(orderOf(machine.apply(undoAll(runs, contents, {})))).toEqual(addressFirst)
      expect(machine.text(authPath)).toBe(login)
      expect(orderOf(redoLast(machine))).toEqual(keyFirst)
    })

    test('an undo of `off`, and its redo', () => {
      const machine = aHistory()
      machine.off({ url: 'vendor' }, login)
      expect(orderOf(rollBack(machine))).toEqual(keyFirst)
      expect(orderOf(redoLast(machine))).toEqual(addressFirst)
    })

    test.each([false, true])('an undo of `off` and a setup before it, force: %s', (force) => {
      const machine = aHistory()
      machine.off({ url: 'vendor' }, login)
      const { runs, contents } = machine
      const plan = machine.apply(undoTo(runs, '000002', contents, { force }))
      expect(machine.values().url).toBe('gw')
      expect(orderOf(plan)).toEqual(keyFirst)
    })

    test('an undo of runs of which the newest wrote only one of the files', () => {
      const machine = aHistory()
      machine.setUp({ model: 'gw/b' })
      const { runs, contents } = machine
      expect(orderOf(machine.apply(undoAll(runs, contents, {})))).toEqual(addressFirst)
    })

    test('an undo of `off` and of a setup after it that wrote only the address', () => {
      const machine = aHistory()
      machine.off({ url: 'vendor' }, login)
      machine.setUp({ url: 'gw3' })
      const { runs, contents } = machine
      expect(orderOf(machine.apply(undoTo(runs, '000003', contents, {})))).toEqual(keyFirst)
    })

    test('an undo of runs without a record, of which the oldest wrote only the address', () => {
      const machine = new UndoMachine({ [settingsPath]: original, [authPath]: login })
      machine.setUp(ours)
      machine.setUp({ ...ours, url: 'gw2' }, '{"key": "k2"}')
      machine.setUp({ model: 'gw/b' })
      machine.prune(1)
      expect(machine.runs).toHaveLength(2)
      rollBack(machine)
      expect(orderOf(rollBack(machine))).toEqual(addressFirst)
      expect(machine.text(authPath)).toBe(login)
    })
  })

  test('keeps a model without a provider if a model of another provider is in one file', () => {
    const machine = aPair()
    machine.edit({ model: 'elsewhere/x', plain: 'x' })
    rollBack(machine)
    expect(machine.values()).toMatchObject({ model: 'elsewhere/x', plain: 'x' })
  })
})

test('an element that only one of two runs writes first is the same setting in both', () => {
  const machine = aMachine()
  machine.setUp({ limit: 3 })
  const settings = [{ isFirst: true }, {}].map((options): RecordedSetting => {
    return { path: ['models', { element: 'gw', ...options } as ListElement] }
  })
  const files = settings.map((setting) => [{ ...machine.runs[0]!.files[0]!, settings: [setting] }])
  expect(mergeFiles(files)[0]!.settings).toEqual([settings[0]])
})

describe('no undo creates a problem', () => {
  const isAt =
    (url: string): FindSituations =>
    (_, { result }) =>
      JSON.parse(new TextDecoder().decode(result.get(settingsPath) ?? undefined) || '{}').url ===
      url
        ? ['unreadable']
        : []

  test('nothing of the client is undone if every attempt has a problem', () => {
    const machine = aMachine()
    const before = machine.text(settingsPath)
    const plan = rollBack(machine, { findSituations: isAt('vendor') })
    expect(machine.text(settingsPath)).toBe(before)
    expect(keptIn(plan)).toContainEqual(['url', 'unreadable'])
    expect(rollBack(machine)).toBeUndefined()
  })

  test('a setting in a table that was there before the run is not kept alone', () => {
    const machine = aMachine()
    machine.edit({ mine: true })
    const before = machine.text(settingsPath)
    const findSituations: FindSituations = (_, { result }) =>
      String(Buffer.from(result.get(settingsPath)!)).includes('limit') ? [] : ['unreadable']
    expect(keptIn(rollBack(machine, { findSituations }))).toContainEqual(['url', 'unreadable'])
    expect(machine.text(settingsPath)).toBe(before)
  })

  test('a redo with a problem keeps the settings, and force redoes it', () => {
    const machine = aMachine()
    const set = machine.text(settingsPath)
    rollBack(machine)
    const plan = redoLast(machine, { findSituations: isAt('gw') })
    expect(keptIn(plan)).not.toEqual([])
    expect(machine.text(settingsPath)).toBe(original)
    redoLast(machine, { force: true })
    expect(machine.text(settingsPath)).toBe(set)
  })
})

test('the situations after an undo are found in all files that it has changed so far', () => {
  const machine = new UndoMachine({ [settingsPath]: original, [authPath]: '{"login": "me"}' })
  machine.setUp(ours)
  machine.setUp({ ...ours, url: 'gw2' }, '{"key": "k2"}')
  const changedSoFar: string[][] = []
  const findSituations: FindSituations = (_, { result }) => {
    changedSoFar.push([...result.keys()])
    return []
  }
  undoAll(machine.runs, machine.contents, { findSituations })
  expect(changedSoFar.at(-1)).toEqual([authPath, settingsPath])
})

describe('rollback --force', () => {
  test('after a rollback restores only the files that it kept', () => {
    const machine = new UndoMachine({ [settingsPath]: original, [authPath]: null })
    machine.setUp({ ...ours }, '{"key": "k1"}')
    machine.edit({ limit: 2 })
    rollBack(machine)
    machine.write(authPath, '{"login": "me"}')
    rollBack(machine, { force: true })
    expect(machine.text(settingsPath)).toBe(original)
    expect(machine.text(authPath)).toBe('{"login": "me"}')
  })
})

describe('several runs at once', () => {
  test('--run gives the same files as single rollbacks', () => {
    const [singly, together] = [0, 1].map(() => {
      const machine = aMachine()
      machine.edit({ note: 'between' })
      machine.setUp({ ...ours, model: 'gw/c' })
      machine.edit({ limit: 9 })
      return machine
    }) as [UndoMachine, UndoMachine]
    rollBack(singly)
    rollBack(singly)
    together.apply(undoTo(together.runs, '000001', together.contents, {}))
    expect(together.text(settingsPath)).toBe(singly.text(settingsPath))
    expect(rollBack(together)).toBeUndefined()
  })
})

describe('rollback --redo', () => {
  test('works until the next change of the same files, and for others after it', () => {
    const machine = aMachine()
    rollBack(machine)
    machine.setUp(ours)
    expect(redoLast(machine)).toBeUndefined()
  })
})
