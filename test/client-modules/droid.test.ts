import { describe, expect, test } from 'vitest'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { Finding } from '../../src/finding.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import {
  aMachine,
  byId,
  catalogWithWindows,
  codesOf,
  type Disk,
  filesOf,
  findingsOn,
  key,
  launchOn,
  planOn,
  readValues,
  requestOf,
  type Setup,
  type StateValues,
  text,
  textAfter,
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

/** A home after a setup. The arguments override parts of its file. */
function home(more: object = {}, otherEntries: readonly unknown[] = [], ours: object = {}): Disk {
  const models = [...otherEntries, { ...entry, ...ours }]
  const session = { model: 'custom:gateway' }
  return {
    [file]: JSON.stringify({ customModels: models, sessionDefaultSettings: session, ...more }),
  }
}

function readBack(disk: Disk): StateValues {
  return readValues(droid, aMachine(), disk)
}

function findingsAt(disk: Disk, machine: Partial<Machine> = {}): readonly Finding[] {
  return findingsOn(droid, disk, aMachine(machine), { writtenBaseUrls: ['https://gw.example/v1'] })
}

/** droid 0.215.0 and 0.225.2 were run with each row except that of Factory's own model, 2026-11-22. */
describe('repoint reads the entry that droid uses', () => {
  const other = { ...entry, id: undefined, model: 'other', apiKey: 'sk-b' }
  const named = { ...other, displayName: 'My  one' }
  const chosen = (model: string) => ({ sessionDefaultSettings: { model } })

  test.each<[string, Disk, StateValues]>([
    ['it finds an entry by its ID', home(), { model: 'big', key: 'sk-a', providerId: 'gateway' }],
    [
      'it finds an entry by its model',
      home(chosen('custom:other'), [other]),
      { model: 'other', key: 'sk-b' },
    ],
    [
      'it finds an entry by its name and count',
      home(chosen('custom:My-one-0'), [named]),
      { model: 'other' },
    ],
    [
      'it finds an entry by its name and position',
      home(chosen('custom:My-one-1'), [entry, named]),
      { model: 'other' },
    ],
    [
      'it counts only entries of the same name',
      home(chosen('custom:My-one-1'), [
        { ...named, model: 'first' },
        { ...other, model: 'x' },
        named,
      ]),
      { model: 'other' },
    ],
    ['it reads a blank file like a missing one', { [file]: ' \n' }, {}],
    [
      'it uses the first of two entries with the same ID',
      home({}, [{ ...entry, model: 'first' }]),
      { model: 'first' },
    ],
    ['it skips values that are not entries', home({}, ['x', null, 7]), { model: 'big' }],
    [
      'the newer setting overrides the older one',
      home({ model: 'custom:other' }, [other]),
      { model: 'big' },
    ],
    ["it reads one of Factory's models", home(chosen('claude-opus-5')), { model: 'claude-opus-5' }],
    ['it accepts comments', { [file]: `// mine\n${home()[file]}` }, { model: 'big' }],
    ['it accepts a number as the key', home({}, [], { apiKey: 5 }), { model: 'big' }],
  ])('%s', (_, disk, expected) => {
    const state = readBack(disk)
    expect(state).toMatchObject(expected)
    expect(state.broken).toBeUndefined()
  })

  test.each([
    ['a trailing comma', `${String(home()[file]).slice(0, -1)},}`],
    ['a byte order mark', `\ufeff${home()[file]}`],
    ['a missing end', String(home()[file]).slice(0, -1)],
  ])('it reads nothing from a file with %s', (_, content) => {
    const state = readBack({ [file]: content })
    expect(state.baseUrl).toBeUndefined()
    expect(state.broken).toContain(file)
  })

  test('a reference to a variable is not read as the key', () => {
    const disk = home({}, [], { apiKey: '${WORK_KEY}' })
    expect(readBack(disk)).not.toHaveProperty('key')
    expect(codesOf(findingsAt(disk))).toEqual(['droid-no-key'])
    expect(codesOf(findingsAt(disk, { env: { WORK_KEY: 'sk-c' } }))).toEqual([])
  })
})

describe('check finds', () => {
  const projectFile = '/home/ada/project/.factory/settings.json'
  const projectEntry = { ...entry, baseUrl: 'https://other.example/v1' }

  test.each<[string, Disk, Partial<Machine>]>([
    ['droid-model-missing', home({ customModels: [] }), {}],
    ['droid-base-url-version', home({}, [], { baseUrl: 'https://gw.example' }), {}],
    ['droid-no-key', home({}, [], { apiKey: '' }), {}],
    ['droid-unknown-provider', home({}, [{ ...entry, id: 'x', provider: 'nonsense' }]), {}],
    ['droid-model-policy', home({ modelPolicy: { allowCustomModels: false } }), {}],
    ...['https://x', 'https://gw.example/v', 'https://gw.example:444'].map(
      (url): [string, Disk, object] => [
        'droid-model-policy',
        home({ modelPolicy: { allowedBaseUrls: [url] } }),
        {},
      ],
    ),
    ['droid-environment-settings', home(), { env: { FACTORY_RUNTIME_SETTINGS_PATH: '/x' } }],
    [
      'droid-spec-model',
      home({ sessionDefaultSettings: { model: entry.id, specModeModel: 'claude-opus-5' } }),
      {},
    ],
  ])('%s', (code, disk, machine) => {
    expect(codesOf(findingsAt(disk, machine))).toEqual([code])
  })

  test.each([[[]], [['https://gw.example']], [['https://x', 'https://gw.example/v1/']]])(
    'no policy that allows the gateway: %j',
    (allowedBaseUrls) => {
      expect(codesOf(findingsAt(home({ modelPolicy: { allowedBaseUrls } })))).toEqual([])
    },
  )

  test('settings in parent folders only inside a repository', () => {
    const cwd = '/home/ada/project/deep'
    const disk = { ...home(), [projectFile]: '{"model":"claude-opus-5"}' }
    expect(codesOf(findingsAt(disk, { cwd }))).toEqual([])
    const repository = { ...disk, '/home/ada/project/.git': '' }
    expect(codesOf(findingsAt(repository, { cwd }))).toEqual(['droid-project-settings'])
  })

  test.each([
    { apiKey: 'sk-b' },
    { extraHeaders: { 'x-api-key': 'sk-b' } },
    { provider: 'anthropic' },
    { authMode: 'oauth' },
    { bedrock: { region: 'eu' } },
  ])('an entry of the project that replaces ours: %j', (member) => {
    const name = projectFile.replace('.json', '.local.json')
    const disk = {
      ...home(),
      [name]: JSON.stringify({ customModels: [{ id: entry.id, ...member }] }),
    }
    expect(codesOf(findingsAt(disk, { cwd: '/home/ada/project' }))).toContain(
      'droid-project-settings',
    )
  })

  test("an agent of the project with its own model, and not one of the user's", () => {
    const agent = { '/home/ada/project/.factory/droids/a.md': '---\nmodel: other\n---\n' }
    const found = findingsAt({ ...home(), ...agent }, { cwd: '/home/ada/project' })
    expect(codesOf(found)).toEqual(['droid-project-settings'])
    const own = { '.factory/droids/a.md': '---\nmodel: other\n---\n' }
    expect(codesOf(findingsAt({ ...home(), ...own }, { cwd: '/home/ada' }))).toEqual([])
  })

  test.each(['bedrock-converse', 'factory', 'google', 'voyage', 'xai', 'openai', 'anthropic'])(
    'no unknown provider: %s',
    (provider) => {
      expect(codesOf(findingsAt(home({}, [{ ...entry, id: 'x', provider }])))).toEqual([])
    },
  )

  test('who can change a policy', () => {
    const policy = { modelPolicy: { allowCustomModels: false } }
    const managed = { ...home(), '/etc/factory/settings.json': JSON.stringify(policy) }
    const hintsAt = (disk: Disk) => findingsAt(disk).map(({ hint }) => hint)
    expect(hintsAt(managed)).toEqual(['Ask the administrator of this machine.'])
    expect(hintsAt(home(policy))).toEqual(['Change modelPolicy.allowCustomModels in that file.'])
  })

  test('a project that points elsewhere, and names its address', () => {
    const disk = { ...home(), [projectFile]: JSON.stringify({ customModels: [projectEntry] }) }
    const [found] = findingsAt(disk, { cwd: '/home/ada/project' })
    expect(found).toMatchObject({ topic: 'redirected-key', severity: 'error' })
    expect(found!.message).toContain('https://other.example/v1')
  })

  test('a file that droid ignores, and the fix keeps its comments', () => {
    const disk = { [file]: '\ufeff{\n  // mine\n  "theme": "dark", // at night\n}\n' }
    const files = filesOf(droid, aMachine(), disk)
    const [found] = findingsAt(disk)
    expect(found).toMatchObject({ code: 'droid-settings-unreadable', topic: 'broken' })
    const [edit] = planFixes(droid, files, [found!.fix!])
    expect(text(edit!.after)).toBe('{\n  // mine\n  "theme": "dark" // at night\n}\n')
  })

  test('an entry with our ID for another address, and asks before overwriting it', () => {
    const disk = home({}, [], { baseUrl: 'https://other.example/v1' })
    expect(planOn(droid, disk, { options: { model: 'big' } }).findings).toMatchObject([
      { code: 'droid-model-conflict', needsConsentTo: expect.any(String) },
    ])
  })
})

test('undo removes everything of ours even if droid has rewritten the file', () => {
  const userEntry = { ...entry, id: undefined, displayName: 'Mine', model: 'other', apiKey: 'sk-b' }
  const before = `// mine\n${JSON.stringify({ customModels: [userEntry], theme: 'dark' }, null, 2)}\n`
  const [edit] = planOn(droid, { [file]: before }).edits
  const root = JSON.parse(text(edit!.after).replace('// mine\n', ''))
  // droid 0.225.2 rewrites entries like this (2026-11-22). It keeps an existing noImageSupport.
  const rewritten = (one: object, index: number) => ({ noImageSupport: true, ...one, index })
  root.customModels = [{ ...userEntry, id: 'custom:Mine-0' }, root.customModels[1]].map(rewritten)
  root.logoAnimation = 'off'

  const now = Buffer.from(JSON.stringify(root, null, 2))
  const versions = { before: edit!.before, written: edit!.after, now }
  const paths = edit!.changes.map(({ path }) => path)
  const undone = undoOurs(formatOf('json'), versions, paths, file)
  expect(undone.kept).toEqual([])
  expect(JSON.parse(text(undone.bytes))).toEqual({
    customModels: [
      {
        ...JSON.parse(JSON.stringify(userEntry)),
        id: 'custom:Mine-0',
        index: 0,
        noImageSupport: true,
      },
    ],
    theme: 'dark',
    logoAnimation: 'off',
  })
})

test('without a list of the gateway, a setup keeps the models of a protocol with another base URL', () => {
  const baseUrls = { chat: 'https://gw.example/v1', messages: 'https://claude.example' }
  const claude = {
    ...entry,
    id: 'custom:gateway/claude-opus-5-5',
    model: 'claude-opus-5-5',
    baseUrl: baseUrls.messages,
    provider: 'anthropic',
  }
  const after = textAfter(droid, home({}, [claude]), {
    catalog: undefined,
    options: { model: 'big', protocol: 'chat' },
    target: { baseUrl: baseUrls.chat, baseUrls },
  })
  expect(JSON.parse(after).customModels).toMatchObject([
    { id: claude.id, baseUrl: baseUrls.messages, apiKey: key },
    {},
  ])
})

test('a second setup keeps the chosen values, and what someone else wrote into our entry', () => {
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

describe('a setup', () => {
  const written = (disk: Disk, model: object = {}) => {
    const catalog = { models: [{ id: 'big', ...model }] }
    const after = textAfter(droid, disk, { options: { model: 'big' }, catalog })
    return JSON.parse(after).customModels[0]
  }

  test('requests answers no longer than the window', () => {
    expect(written({})).toMatchObject({ maxOutputTokens: 16_384 })
    expect(written({}, { contextWindow: 9000 })).toMatchObject({ maxOutputTokens: 9000 })
  })

  test('removes the members that change the protocol, also at the same gateway', () => {
    const now = written(home({}, [], { authMode: 'oauth', bedrock: { region: 'eu' } }))
    expect(now).not.toHaveProperty('authMode')
    expect(now).not.toHaveProperty('bedrock')
  })

  test('keeps a harmless member of an entry for another gateway', () => {
    const elsewhere = {
      baseUrl: 'https://other.example/v1',
      useInRouter: true,
      extraArgs: { a: 1 },
    }
    const now = written(home({}, [], elsewhere))
    expect(now).toMatchObject({ useInRouter: true })
    expect(now).not.toHaveProperty('extraArgs')
  })
})

test('the first request of a newer Claude thinks, and only over responses has no limit', async () => {
  const request = (model: string, protocol: Protocol) => requestOf(droid, {}, { model, protocol })
  for (const model of ['claude-opus-5', 'claude-sonnet-5'])
    expect((await request(model, 'messages')).body).toHaveProperty('thinking')
  expect((await request('glm-5', 'messages')).body).not.toHaveProperty('thinking')

  const overChat = await request('glm-5', 'chat')
  expect(overChat).toMatchObject({ body: { max_tokens: 16_384 } })
  expect(overChat.hints).not.toEqual({})
  expect((await request('glm-5', 'responses')).hints).toEqual({})
})

test('off removes the model under the older key too', () => {
  const disk = home({ model: entry.id, sessionDefaultSettings: {} })
  const { settings } = droid.gatewaySettings(filesOf(droid, aMachine(), disk))
  expect(settings).toContainEqual(['model'])
})

test('--cwd names another folder', () => {
  expect(droid.program.foldersIn?.(['exec', '--cwd', 'there', 'hi'])).toEqual(['there'])
})

describe('a run', () => {
  const run = (disk: Disk, setup: Setup = {}, args: string[] = [], env = {}) => {
    const { files, ...launched } = launchOn(droid, disk, setup, { args, env })
    return { ...launched, files, settings: JSON.parse(files!['droid.json']!) }
  }

  test('uses a settings file that overrides all others, and reads the key from a variable', () => {
    const disk = home({}, [], { extraHeaders: { 'x-team': 'a' } })
    const { args, env, files, settings } = run(disk, {}, ['exec', 'ping'])
    expect(args).toEqual(['exec', 'ping'])
    expect(env).toEqual({ FACTORY_RUNTIME_SETTINGS_PATH: '/run/droid.json' })
    expect(settings.customModels).toMatchObject([
      {
        id: 'custom:repoint-run',
        baseUrl: 'https://gw.example/v1',
        apiKey: `\${${launchKeyVariable}}`,
      },
    ])
    expect(settings.sessionDefaultSettings).toEqual({ model: 'custom:repoint-run' })
    expect(settings).not.toHaveProperty('modelPolicy')
    expect(JSON.stringify(files)).not.toContain(key)
  })

  test('uses the limits of the model, whether or not the client is set up', () => {
    const setup = { catalog: catalogWithWindows }
    const limits = (disk: Disk) => {
      const [{ maxContextLimit, maxOutputTokens }] = run(disk, setup).settings.customModels
      return { maxContextLimit, maxOutputTokens }
    }
    const known = { maxContextLimit: expect.any(Number), maxOutputTokens: expect.any(Number) }
    expect(limits({})).toEqual(known)
    expect(limits({ [file]: textAfter(droid, {}, setup) })).toEqual(limits({}))
  })

  test('rejects other settings files, because droid reads only one', () => {
    expect(() => run(home(), {}, ['--settings', 'x'])).toThrow('needs it for the gateway')
    expect(() => run(home(), {}, [], { FACTORY_RUNTIME_SETTINGS_PATH: '/x' })).toThrow(
      'needs it for',
    )
  })

  test.each([{ allowCustomModels: false }, { allowedBaseUrls: ['https://x'] }])(
    'overrides the policy of the user: %j',
    (modelPolicy) => {
      expect(run(home({ modelPolicy })).settings).toMatchObject({
        modelPolicy: { allowCustomModels: true, allowedBaseUrls: ['https://gw.example/v1'] },
      })
    },
  )

  test('does not start against the policy of the administrator', () => {
    const managed = { '/etc/factory/settings.json': '{"modelPolicy":{"allowCustomModels":false}}' }
    expect(() => run({ ...home(), ...managed })).toThrow('modelPolicy forbids custom models')
  })
})
