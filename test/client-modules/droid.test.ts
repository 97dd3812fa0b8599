import { describe, expect, test } from 'vitest'
import { type ClientContext, runKeyVariable } from '../../src/clients/client.ts'
import { planFixes } from '../../src/clients/fixes.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { Finding } from '../../src/finding.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  aMachine,
  byId,
  catalogWithWindows,
  type Disk,
  emptySystem,
  key,
  obstaclesOn,
  planOn,
  readValues,
  type StateValues,
  text,
  textsOf,
  written,
} from './support.ts'

const droid = byId('droid')
const file = '.factory/settings.json'

const entry = {
  id: 'custom:gateway',
  model: 'big',
  baseUrl: 'https://gw.example/v1',
  apiKey: 'sk-a',
  provider: 'generic-chat-completion-api',
}

/** As a setup leaves it, and what to put in its place. */
function home(more: object = {}, others: readonly unknown[] = [], ours: object = {}): Disk {
  const models = [...others, { ...entry, ...ours }]
  const session = { model: 'custom:gateway' }
  return {
    [file]: JSON.stringify({ customModels: models, sessionDefaultSettings: session, ...more }),
  }
}

function readBack(disk: Disk): StateValues {
  return readValues(droid, aMachine(), disk)
}

function scene(disk: Disk, machine: Partial<Machine> = {}): ClientContext {
  return {
    files: textsOf(droid, aMachine(machine), disk),
    machine: aMachine(machine),
    ownRoots: ['https://gw.example/v1'],
    knownModels: [],
    shellProfiles: [],
    system: emptySystem(aMachine(machine)),
  }
}

function wrong(disk: Disk, machine: Partial<Machine> = {}): readonly Finding[] {
  return obstaclesOn(droid, disk, aMachine(machine), { ownRoots: ['https://gw.example/v1'] })
}

const codes = (found: readonly Finding[]) => found.map(({ code }) => code)

/** Each row but that with Factory's own model was run with 0.215.0 and 0.225.2, 2026-11-22. */
describe('what droid believes', () => {
  const other = { ...entry, id: undefined, model: 'other', apiKey: 'sk-b' }
  const named = { ...other, displayName: 'My  one' }
  const chosen = (model: string) => ({ sessionDefaultSettings: { model } })

  test.each<[string, Disk, StateValues]>([
    ['by the id of an entry', home(), { model: 'big', key: 'sk-a', providerId: 'gateway' }],
    ['by its model', home(chosen('custom:other'), [other]), { model: 'other', key: 'sk-b' }],
    ['by name and count', home(chosen('custom:My-one-0'), [named]), { model: 'other' }],
    ['by name and place', home(chosen('custom:My-one-1'), [entry, named]), { model: 'other' }],
    ['of two with one id the first', home({}, [{ ...entry, model: 'first' }]), { model: 'first' }],
    ['beside what is no entry', home({}, ['x', null, 7]), { model: 'big' }],
    [
      'by its model, beside names that are none',
      home(chosen('custom:other'), [
        { ...entry, id: undefined, model: {} },
        { ...other, displayName: {} },
      ]),
      { model: 'other' },
    ],
    [
      'by the older key where the newer is not there',
      home({ model: 'custom:gateway', sessionDefaultSettings: {} }),
      { model: 'big' },
    ],
    ['the newer key wins', home({ model: 'custom:other' }, [other]), { model: 'big' }],
    ["one of Factory's", home(chosen('claude-opus-5')), { model: 'claude-opus-5' }],
    ['with comments', { [file]: `// mine\n${home()[file]}` }, { model: 'big' }],
    ['a number for a key', home({}, [], { apiKey: 5 }), { model: 'big' }],
  ])('%s', (_, disk, expected) => {
    const state = readBack(disk)
    expect(state).toMatchObject(expected)
    expect(state.broken).toBeUndefined()
  })

  test.each([
    ['a trailing comma', `${String(home()[file]).slice(0, -1)},}`],
    ['a byte order mark', `\ufeff${home()[file]}`],
    ['half a file', String(home()[file]).slice(0, -1)],
  ])('nothing, for %s', (_, content) => {
    const state = readBack({ [file]: content })
    expect(state.baseUrl).toBeUndefined()
    expect(state.broken).toContain(file)
  })

  test('a key from a variable is not taken for one', () => {
    const disk = home({}, [], { apiKey: '${WORK_KEY}' })
    expect(readBack(disk)).not.toHaveProperty('key')
    expect(codes(wrong(disk))).toEqual(['droid-no-key'])
    expect(codes(wrong(disk, { env: { WORK_KEY: 'sk-c' } }))).toEqual([])
  })
})

describe('what defeats it', () => {
  const projectFile = '/home/ada/project/.factory/settings.json'
  const projectEntry = { ...entry, baseUrl: 'https://other.example/v1' }

  test.each<[string, Disk, Partial<Machine>]>([
    ['droid-model-missing', home({ customModels: [] }), {}],
    ['droid-base-url-version', home({}, [], { baseUrl: 'https://gw.example' }), {}],
    ['droid-no-key', home({}, [], { apiKey: '' }), {}],
    ['droid-unknown-provider', home({}, [{ ...entry, id: 'x', provider: 'nonsense' }]), {}],
    ['droid-model-policy', home({ modelPolicy: { allowCustomModels: false } }), {}],
    ['droid-model-policy', home({ modelPolicy: { allowedBaseUrls: ['https://x'] } }), {}],
    ['droid-environment-settings', home(), { env: { FACTORY_RUNTIME_SETTINGS_PATH: '/x' } }],
    [
      'droid-upper-settings',
      { ...home(), '.factory/settings.local.json': '{"model":"claude-opus-5"}' },
      {},
    ],
    [
      'droid-managed-settings',
      { ...home(), '/etc/factory/settings.json': '{"model":"claude-opus-5"}' },
      {},
    ],
    [
      'droid-project-settings',
      { ...home(), [projectFile]: JSON.stringify({ customModels: [projectEntry] }) },
      { cwd: '/home/ada/project' },
    ],
    [
      'droid-spec-model',
      home({ sessionDefaultSettings: { model: entry.id, specModeModel: 'claude-opus-5' } }),
      {},
    ],
  ])('%s', (code, disk, machine) => {
    expect(codes(wrong(disk, machine))).toEqual([code])
  })

  test("a repository's folders above count, other folders above do not", () => {
    const cwd = '/home/ada/project/deep'
    const disk = { ...home(), [projectFile]: '{"model":"claude-opus-5"}' }
    expect(codes(wrong(disk, { cwd }))).toEqual([])
    const repository = { ...disk, '/home/ada/project/.git': '' }
    expect(codes(wrong(repository, { cwd }))).toEqual(['droid-project-settings'])
  })

  test('a project that leads elsewhere is told with where to', () => {
    const disk = { ...home(), [projectFile]: JSON.stringify({ customModels: [projectEntry] }) }
    const [found] = wrong(disk, { cwd: '/home/ada/project' })
    expect(found).toMatchObject({ redirectsKey: true, severity: 'error' })
    expect(found!.message).toContain('https://other.example/v1')
  })

  test('a file that droid ignores is repaired, and its comments stay', () => {
    const disk = { [file]: '\ufeff{\n  // mine\n  "theme": "dark", // at night\n}\n' }
    const files = textsOf(droid, aMachine(), disk)
    const [found] = wrong(disk)
    expect(found).toMatchObject({ code: 'droid-settings-unreadable', cause: 'broken' })
    const [edit] = planFixes(droid, files, [found!.fix!])
    expect(text(edit!.after)).toBe('{\n  // mine\n  "theme": "dark" // at night\n}\n')
  })

  test('an entry of our id for another address is not overwritten unasked', () => {
    const disk = home({}, [], { baseUrl: 'https://other.example/v1' })
    const { choice } = planOn(droid, {})
    expect([...droid.check(scene(disk), choice)]).toMatchObject([
      { code: 'droid-model-conflict', consent: expect.any(String) },
    ])
  })
})

test('undo after the screen of droid has written the file anew leaves nothing of ours', () => {
  const theirs = { ...entry, id: undefined, displayName: 'Mine', model: 'other', apiKey: 'sk-b' }
  const before = `// mine\n${JSON.stringify({ customModels: [theirs], theme: 'dark' }, null, 2)}\n`
  const [edit] = planOn(droid, { [file]: before }).edits
  const root = JSON.parse(text(edit!.after).replace('// mine\n', ''))
  // As 0.225.2 does, 2026-11-22: what says already whether it sees stays.
  const rewritten = (one: object, index: number) => ({ noImageSupport: true, ...one, index })
  root.customModels = [{ ...theirs, id: 'custom:Mine-0' }, root.customModels[1]].map(rewritten)
  root.logoAnimation = 'off'

  const current = Buffer.from(JSON.stringify(root, null, 2))
  const versions = { before: edit!.before, written: edit!.after, current }
  const paths = edit!.changes.map(({ path }) => path)
  const undone = formatOf('json').undo(versions, paths, file)
  expect(undone.kept).toEqual([])
  expect(JSON.parse(text(undone.bytes))).toEqual({
    customModels: [
      {
        ...JSON.parse(JSON.stringify(theirs)),
        id: 'custom:Mine-0',
        index: 0,
        noImageSupport: true,
      },
    ],
    theme: 'dark',
    logoAnimation: 'off',
  })
})

test('a second setup keeps what was chosen, and what was written into our entry', () => {
  const first = planOn(droid, {}, { catalog: catalogWithWindows })
  const disk = written({}, first.machine, first.edits)
  const path = Object.keys(disk)[0]!
  const root = JSON.parse(text(disk[path] as Uint8Array))
  Object.assign(root.customModels[0], {
    displayName: 'Work',
    maxOutputTokens: 7,
    reasoningEffort: 'low',
  })
  const changed = { [path]: JSON.stringify(root, null, 2) }
  const second = planOn(droid, changed, { catalog: catalogWithWindows })
  expect(text(second.edits[0]!.after)).toBe(changed[path])
})

describe('for one run', () => {
  const planned = planOn(droid, home({}, [], { extraHeaders: { 'x-team': 'a' } }))
  const tempFolder = '/home/ada/state/.try-1'
  const run = (args: string[], env: Record<string, string> = {}) =>
    droid.launchSettings!(planned.texts, planned.choice, { args, env, tempFolder })

  test('a file of settings above all others, with the key from a variable', () => {
    const { args, env, files } = run(['exec', 'ping'])
    expect(args).toEqual(['exec', 'ping'])
    expect(env).toEqual({ FACTORY_RUNTIME_SETTINGS_PATH: `${tempFolder}/droid.json` })
    const settings = JSON.parse(files!['droid.json']!)
    expect(settings.customModels).toMatchObject([
      {
        id: 'custom:repoint-run',
        baseUrl: 'https://gw.example/v1',
        apiKey: `\${${runKeyVariable}}`,
      },
    ])
    expect(settings.sessionDefaultSettings).toEqual({ model: 'custom:repoint-run' })
    expect(JSON.stringify(files)).not.toContain(key)
  })

  test('the limits of the model go along where the client is set up, too', () => {
    const limits = (disk: Disk) => {
      const { texts, choice } = planOn(droid, disk, { catalog: catalogWithWindows })
      const { files } = droid.launchSettings!(texts, choice, { args: [], env: {}, tempFolder })
      const [{ maxContextLimit, maxOutputTokens }] = JSON.parse(files!['droid.json']!).customModels
      return { maxContextLimit, maxOutputTokens }
    }
    const first = planOn(droid, {}, { catalog: catalogWithWindows })
    const known = { maxContextLimit: expect.any(Number), maxOutputTokens: expect.any(Number) }
    expect(limits({})).toEqual(known)
    expect(limits(written({}, first.machine, first.edits))).toEqual(limits({}))
  })

  test('a gateway that takes the key in another header is refused: the key would stand in the file', () => {
    const { texts, choice } = planned
    const asked = { args: [], env: {}, tempFolder: tempFolder }
    expect(() =>
      droid.launchSettings!(texts, { ...choice, keyHeader: 'x-api-key' }, asked),
    ).toThrow('droid reads this header only from its files')
  })

  test('settings of its own are refused, because there can be one file', () => {
    expect(() => run(['--settings', 'x'])).toThrow('needs it for the gateway')
    expect(() => run([], { FACTORY_RUNTIME_SETTINGS_PATH: '/x' })).toThrow('needs it for')
  })
})
