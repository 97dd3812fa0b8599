import { describe, expect, test } from 'vitest'
import type { Catalog } from '../../../src/gateway/types.ts'
import { codexTable } from '../../support/codex-table.ts'
import {
  aMachine,
  byId,
  type Disk,
  earlierIn,
  filesOf,
  findingsOn,
  planOn,
  readValues,
  type Setup,
  text,
  written,
} from '../support.ts'

/** The catalog that `--catalog` gives to Codex: `model_catalog_json`. */

const codex = byId('codex')
const path = '/home/ada/.codex/repoint-models.json'
const config = '/home/ada/.codex/config.toml'
const gateway = (...models: Catalog['models']): Catalog => ({ models })
const list = gateway(
  { id: 'gpt-5.6-sol' },
  { id: 'glm-5', contextWindow: 400_000, images: false, reasoning: true },
  { id: 'mine' },
  { id: 'text-embedding-4' },
  { id: 'deaf', tools: false },
)

function setUp(disk: Disk, setup: Setup & { options?: object } = {}) {
  const program = { printedModels: codexTable }
  const { edits, target } = planOn(codex, disk, { catalog: list, program, ...setup })
  return { edits, target, disk: written(disk, aMachine(), edits) }
}

const withCatalog = { options: { model: 'glm-5', hasModelsFile: true } }

interface Entry {
  readonly slug: string
  readonly [member: string]: unknown
}

function entriesOn(disk: Disk): readonly Entry[] {
  const content = disk[path]!
  return JSON.parse(typeof content === 'string' ? content : text(content)).models
}

function previousOn(disk: Disk) {
  return earlierIn(codex, codex.read(filesOf(codex, aMachine(), disk)))
}

describe('the catalog file', () => {
  test('describes every model that Codex can use at the gateway, starting with the chosen one', () => {
    const { disk, edits } = setUp({}, withCatalog)
    expect(edits.map((edit) => edit.path.split('/').at(-1))).toEqual([
      'auth.json',
      'repoint-models.json',
      'config.toml',
    ])
    expect(entriesOn(disk).map(({ slug, priority }) => [slug, priority])).toEqual([
      ['glm-5', 0],
      ['gpt-5.6-sol', 1],
      ['mine', 2],
    ])
    expect(text(disk[config] as Uint8Array)).toContain(`model_catalog_json = "${path}"`)
  })

  test('has no pictures for a model of Codex that accepts none at the gateway', () => {
    const catalog = gateway({ id: 'gpt-5.6-sol', images: false })
    const { disk } = setUp({}, { options: { model: 'gpt-5.6-sol', hasModelsFile: true }, catalog })
    expect(entriesOn(disk)[0]).toMatchObject({ input_modalities: ['text'] })
  })

  test.each([
    [
      'glm-5',
      {
        display_name: 'glm-5',
        context_window: 400_000,
        max_context_window: 400_000,
        input_modalities: ['text'],
        default_reasoning_level: 'medium',
        supports_reasoning_summaries: true,
        support_verbosity: false,
        apply_patch_tool_type: null,
        base_instructions: 'Instructions of gpt-5.5.',
      },
    ],
    [
      'mine',
      {
        context_window: 272_000,
        input_modalities: ['text', 'image'],
        supported_reasoning_levels: [],
        supports_reasoning_summaries: false,
      },
    ],
    [
      'gpt-5.6-sol',
      {
        display_name: 'GPT-5.6-Sol',
        context_window: 272_000,
        max_context_window: 872_000,
        support_verbosity: true,
        base_instructions: 'Instructions of gpt-5.6-sol.',
        supported_reasoning_levels: [{ effort: 'low', description: 'Fast' }],
      },
    ],
  ])(
    'has the known facts about %s, and no member with which a version of Codex stops',
    (id, expected) => {
      const entry = entriesOn(setUp({}, withCatalog).disk).find(({ slug }) => slug === id)
      expect(entry).toMatchObject(expected)
      for (const name of ['use_responses_lite', 'tool_mode', 'multi_agent_version', 'upgrade'])
        expect(entry).not.toHaveProperty(name)
    },
  )

  test('has the context window that the user asks for, even above the usual limit of Codex', () => {
    const options = { ...withCatalog.options, contextWindow: 900_000 }
    expect(entriesOn(setUp({}, { options }).disk)[0]).toMatchObject({
      context_window: 900_000,
      max_context_window: 900_000,
    })
  })

  test('is cut before it exceeds the maximum size of a file, and repoint reports that', () => {
    const long = codexTable.replaceAll('Instructions of', `${'x'.repeat(20_000)} of`)
    const models = Array.from({ length: 120 }, (_, index) => ({ id: `model-${index}` }))
    const { disk, target } = setUp(
      {},
      { ...withCatalog, catalog: gateway(...models), program: { printedModels: long } },
    )
    expect(disk[path]?.length).toBeLessThan(2_000_000)
    expect(entriesOn(disk).length).toBeGreaterThan(80)
    expect(target.resolved.findings.map(({ code }) => code)).toContain('codex-catalog-cut')
  })
})

describe('an existing catalog file', () => {
  const before = setUp({}, withCatalog).disk

  test.each([
    ['stays the same in a second setup', {}, ['unchanged', 'unchanged', 'unchanged']],
    [
      'is updated from the list of the gateway',
      { catalog: gateway({ id: 'glm-5' }) },
      ['unchanged', 'updated', 'unchanged'],
    ],
    [
      'stays if neither the gateway nor Codex provides a list',
      { catalog: undefined, program: {} },
      ['unchanged', 'unchanged'],
    ],
  ])('%s', (_, setup, actions) => {
    const { edits } = setUp(before, { earlier: previousOn(before), ...setup })
    const actionOf = (edit: (typeof edits)[number]) =>
      Buffer.compare(edit.before!, edit.after!) === 0 ? 'unchanged' : 'updated'
    expect(edits.map(actionOf)).toEqual(actions)
  })

  test.each([
    ['--no-catalog', { earlier: previousOn(before), options: { hasModelsFile: false } }],
    ['--defaults', { options: {}, target: { input: { requested: {}, resetToDefaults: true } } }],
  ])('%s removes it from config.toml, then deletes it', (_, setup) => {
    const { edits, disk } = setUp(before, setup)
    expect(edits.map(({ path, after }) => [path.split('/').at(-1), after === null])).toEqual([
      ['auth.json', false],
      ['config.toml', false],
      ['repoint-models.json', true],
    ])
    expect(text(disk[config] as Uint8Array)).not.toContain('model_catalog_json')
  })

  test.each([
    ['is missing', undefined, 'does not exist: Codex does not start'],
    ['is cut', '{"models": [{"slug": "gl', 'is not a catalog of models: Codex does not start'],
    ['is empty', '', 'is not a catalog of models'],
    ['is what Codex 0.169.0 prints', codexTable, 'Codex 0.105.0 to 0.146.0 do not start'],
  ])('that %s stops Codex, and the fix stops using it', (_, content, message) => {
    const { [path]: __, ...rest } = before
    const disk = content === undefined ? rest : { ...rest, [path]: content }
    expect(readValues(codex, aMachine(), disk).broken).toContain(message)
    const found = findingsOn(codex, disk).find(({ code }) => code === 'codex-catalog')
    expect(found).toMatchObject({
      message: expect.stringContaining(message),
      severity: 'error',
      fix: { fileKind: 'config', changes: [{ path: ['model_catalog_json'], value: undefined }] },
    })
    // The next setup needs no repair.
    const again = setUp(disk, { earlier: previousOn(disk) })
    expect(entriesOn(again.disk)).toHaveLength(3)
  })

  test('that does not describe the model is reported', () => {
    const disk = { ...before, [config]: text(before[config] as Uint8Array).replace('glm-5', 'new') }
    expect(findingsOn(codex, disk).map(({ code }) => code)).toContain('codex-catalog-stale')
  })
})

test("the user's userDisk catalog stays without the flag, and is replaced only with consent", () => {
  const userDisk = { [config]: 'model_catalog_json = "/srv/models.json"\n' }
  expect(text(setUp(userDisk).disk[config] as Uint8Array)).toContain('"/srv/models.json"')
  const { findings } = planOn(codex, userDisk, {
    catalog: list,
    program: { printedModels: codexTable },
    ...withCatalog,
  })
  expect(findings.find(({ code }) => code === 'codex-other-catalog')?.needsConsentTo).toContain(
    '/srv/models.json',
  )
})

test('--catalog is rejected if Codex does not print its table of models', () => {
  expect(() =>
    setUp({}, { ...withCatalog, program: { printedModels: 'codex-cli 0.105.0' } }),
  ).toThrow('--catalog needs Codex')
})

test.each([
  ['glm-5', 900_000, ['codex-window-capped']],
  ['glm-5', 200_000, []],
  ['gpt-5.6-sol', 800_000, []],
  ['gpt-5.6-sol', 900_000, ['codex-window-capped']],
])(
  'for %s with %i tokens, repoint reports the part that Codex does not use',
  (model, contextWindow, codes) => {
    const { target } = setUp({}, { options: { model, contextWindow } })
    expect(target.resolved.findings.map(({ code }) => code)).toEqual(codes)
  },
)
