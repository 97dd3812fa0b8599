import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { usualBaseUrls } from '../../src/gateway/base-urls.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import {
  aHistory,
  aMachine,
  byId,
  type Disk,
  filesOf,
  planOn,
  readValues,
  type Setup,
  text,
  written,
} from './support.ts'

/** The models that each client's picker offers after a setup, and the facts about each. */

const machine = aMachine()
const gateway = (...ids: string[]): Catalog => ({ models: ids.map((id) => ({ id })) })

function setUp(id: string, disk: Disk, catalog: Catalog | undefined, more: Setup = {}): Disk {
  // The file did not exist before the first run.
  const target = { history: aHistory({ earlierVersionsOf: () => [null] }), ...more.target }
  const { edits } = planOn(byId(id), disk, { catalog, ...more, target })
  return written(disk, machine, edits)
}

function fileOf(disk: Disk, name: string) {
  const path = Object.keys(disk).find((one) => one.endsWith(name))!
  const content = disk[path]!
  return JSON.parse(typeof content === 'string' ? content : text(content))
}

function tomlOf(disk: Disk, name: string): string {
  const content = disk[Object.keys(disk).find((one) => one.endsWith(name))!]!
  return typeof content === 'string' ? content : text(content)
}

interface QwenEntry {
  readonly id: string
  readonly baseUrl: string
  readonly generationConfig?: object
}
const qwenList = (disk: Disk): readonly QwenEntry[] =>
  fileOf(disk, '.qwen/settings.json').modelProviders.openai
interface DroidEntry {
  readonly id: string
  readonly model: string
  readonly baseUrl: string
  readonly apiKey: string
  readonly maxOutputTokens: number
}
const droidList = (disk: Disk): readonly DroidEntry[] =>
  fileOf(disk, '.factory/settings.json').customModels

interface KimiConfig {
  readonly providers: Readonly<Record<string, { readonly base_url: string }>>
  readonly models: Readonly<Record<string, { readonly model: string }>>
}
const kimiIn = (disk: Disk) =>
  parse(tomlOf(disk, '.kimi-code/config.toml')) as unknown as KimiConfig

const grokIn = (disk: Disk) => {
  const { model, model_providers } = parse(tomlOf(disk, '.grok/config.toml'))
  return { model, model_providers } as unknown as {
    readonly model: KimiConfig['models']
    readonly model_providers: KimiConfig['providers']
  }
}

const options = { model: 'glm-5' }
const elsewhere = {
  target: {
    baseUrl: 'https://other.example/v1',
    baseUrls: usualBaseUrls('https://other.example'),
    key: 'sk-other-0123456789',
  },
}

/** For each client, the model IDs in its file and the base URLs of their entries. */
const lists: readonly [string, (disk: Disk) => string[], (disk: Disk) => string[]][] = [
  ['qwen', (disk) => qwenList(disk).map(({ id }) => id), rootsIn(qwenList)],
  ['droid', (disk) => droidList(disk).map(({ model }) => model), rootsIn(droidList)],
  ['opencode', ofProvider('opencode.json'), optionsIn('opencode.json')],
  ['kilo', ofProvider('kilo.jsonc'), optionsIn('kilo.jsonc')],
  [
    'pi',
    (disk) => fileOf(disk, 'models.json').providers.gateway.models.map(({ id }: QwenEntry) => id),
    (disk) => [fileOf(disk, 'models.json').providers.gateway.baseUrl],
  ],
  [
    'kimi',
    (disk) => Object.values(kimiIn(disk).models).map(({ model }) => model),
    (disk) => [kimiIn(disk).providers.gateway!.base_url],
  ],
  [
    'grok',
    (disk) => Object.values(grokIn(disk).model).map(({ model }) => model),
    (disk) => [grokIn(disk).model_providers.gateway!.base_url],
  ],
  [
    'openclaw',
    (disk) =>
      fileOf(disk, 'openclaw.json').models.providers.gateway.models.map(({ id }: QwenEntry) => id),
    (disk) => [fileOf(disk, 'openclaw.json').models.providers.gateway.baseUrl],
  ],
]

function rootsIn(entries: (disk: Disk) => readonly { baseUrl: string }[]) {
  return (disk: Disk) => entries(disk).map(({ baseUrl }) => baseUrl)
}
function ofProvider(name: string) {
  return (disk: Disk) => Object.keys(fileOf(disk, name).provider.gateway.models)
}
function optionsIn(name: string) {
  return (disk: Disk) => [fileOf(disk, name).provider.gateway.options.baseURL]
}

test.each(familyRows)('$id: its list of models is tested here, if it has one', ({ id }) => {
  const disk = setUp(id, {}, gateway('glm-5', 'mine'), { options })
  const { offered = [] } = byId(id).read(filesOf(byId(id), machine, disk))
  const isTested = lists.some(([tested]) => tested === id)
  expect(isTested, `test/client-modules/pickers.test.ts, "lists", and ${id}`).toBe(
    offered.length > 0,
  )
})

describe.each(lists)('%s', (id, models, roots) => {
  test('offers every model of the gateway, the chosen one first, and removes a model that the gateway no longer lists', () => {
    const all = setUp(id, {}, gateway('gpt-5.6-sol', 'glm-5', 'mine', 'text-embedding-4'), {
      options,
    })
    expect(models(all)).toEqual(['glm-5', 'gpt-5.6-sol', 'mine'])
    expect(setUp(id, all, gateway('gpt-5.6-sol', 'glm-5', 'mine'), { options })).toEqual(all)

    const fewer = setUp(id, all, gateway('glm-5', 'new'), { options })
    expect([...models(fewer)].sort()).toEqual(['glm-5', 'new'])
    const one = setUp(id, fewer, gateway('glm-5'), { options })
    expect(models(one)).toEqual(['glm-5'])
    expect(byId(id).read(filesOf(byId(id), machine, all)).offered).toEqual(models(all))
  })

  test('still offers the earlier model if the user chooses another', () => {
    const catalog = gateway('glm-5', 'mine', 'yours')
    const first = setUp(id, {}, catalog, { options })
    const second = setUp(id, first, catalog, { options: { model: 'yours' } })
    expect(readValues(byId(id), machine, second).model).toBe('yours')
    expect([...models(second)].sort()).toEqual(['glm-5', 'mine', 'yours'])
  })

  test('does not offer a model without tools', () => {
    const catalog = { models: [{ id: 'glm-5' }, { id: 'mine', tools: false }, { id: 'yours' }] }
    expect(models(setUp(id, {}, catalog, { options }))).toEqual(['glm-5', 'yours'])
  })

  test('without a catalog, keeps the entries at the same address and removes them at another', () => {
    const all = setUp(id, {}, gateway('glm-5', 'mine'), { options })
    expect(setUp(id, all, undefined, { options })).toEqual(all)
    const moved = setUp(id, all, undefined, { options, ...elsewhere })
    expect(roots(moved)).toEqual([elsewhere.target.baseUrl])
    expect(models(moved)).toEqual(['glm-5'])
  })
})

test('droid: an entry says that its model accepts images, because droid would assume the opposite', () => {
  const list = (images: boolean | undefined) =>
    droidList(
      setUp('droid', {}, { models: [{ id: 'mine', ...(images !== undefined && { images }) }] }),
    )
  expect(list(true)).toMatchObject([{ noImageSupport: false }])
  for (const images of [false, undefined])
    expect(list(images)[0]).not.toHaveProperty('noImageSupport')
})

test('droid: a new key reaches every entry', () => {
  const all = setUp('droid', {}, gateway('glm-5', 'mine'), { options })
  const next = setUp('droid', all, undefined, { options, target: { key: 'sk-next-0123456789' } })
  expect(droidList(next).map(({ apiKey }) => apiKey)).toEqual(Array(2).fill('sk-next-0123456789'))
})

test("qwen: an entry says that an unknown model accepts images, and has limits below Qwen Code's", () => {
  const catalog: Catalog = {
    models: [
      { id: 'mine', images: true, outputLimit: 4000, contextWindow: 64_000 },
      { id: 'gpt-5.6-sol' },
      { id: 'glm-5' },
    ],
  }
  const [mine, known, blind] = qwenList(setUp('qwen', {}, catalog, { options: { model: 'mine' } }))
  expect(mine?.generationConfig).toEqual({
    contextWindowSize: 64_000,
    modalities: { image: true },
    samplingParams: { max_tokens: 4000 },
  })
  expect([known?.generationConfig, blind?.generationConfig]).toEqual([undefined, undefined])
})

test("qwen: a setup adds a limit to the user's settings of an entry", () => {
  const all = setUp('qwen', {}, gateway('mine'))
  const path = Object.keys(all).find((one) => one.endsWith('settings.json'))!
  const edited = JSON.stringify(fileOf(all, 'settings.json')).replace(
    '"id":"mine"',
    '"id":"mine","generationConfig":{"samplingParams":{"top_p":0.5}}',
  )
  const limited = (disk: Disk, outputLimit: number) =>
    setUp('qwen', disk, gateway('mine'), { options: { outputLimit } })
  const twice = limited(limited({ ...all, [path]: edited }, 4000), 3000)
  expect(qwenList(twice)[0]?.generationConfig).toEqual({
    samplingParams: { top_p: 0.5, max_tokens: 3000 },
  })
})

test.each([
  ['opencode', 'opencode.json', 'modalities', { input: ['text', 'image'], output: ['text'] }],
  ['kilo', 'kilo.jsonc', 'modalities', { input: ['text', 'image'], output: ['text'] }],
  ['pi', 'models.json', 'input', ['text', 'image']],
])('%s: flags add facts about an unknown model, and deny them', (id, name, member, sees) => {
  const entryOn = (disk: Disk) => {
    const file = fileOf(disk, name)
    return id === 'pi' ? file.providers.gateway.models[0] : file.provider.gateway.models.mine
  }
  const catalog = gateway('mine')
  const nothing = setUp(id, {}, catalog)
  expect(entryOn(nothing)).toEqual(id === 'pi' ? { id: 'mine' } : { tool_call: true })

  const facts = { images: true, reasoning: true, contextWindow: 64_000, outputLimit: 9000 }
  const all = setUp(id, nothing, catalog, { options: facts })
  expect(entryOn(all)).toMatchObject({ [member]: sees, reasoning: true })
  expect(setUp(id, all, catalog)).toEqual(all)

  const removed = entryOn(setUp(id, all, catalog, { options: { images: false, reasoning: false } }))
  const text = id === 'pi' ? ['text'] : { input: ['text'], output: ['text'] }
  expect([removed[member], removed.reasoning]).toEqual([text, false])
})

describe('docs/clients.md names the setting for each fact about a model', () => {
  const [, section = ''] = readFileSync('docs/clients.md', 'utf8').split('## Facts about models')
  const [, ...lines] = section.split('\n').filter((line) => line.startsWith('| '))
  /** For each cell: the client, the setting, and whether repoint writes it without knowing the fact. */
  const cells = lines.flatMap((line) => {
    const [, names = '', ...abilities] = line.split('|').map((cell) => cell.trim())
    const settings = abilities.slice(0, 4).flatMap((cell) => {
      const setting = /^`([\w.]+)/.exec(cell)?.[1]
      return setting === undefined ? [] : [[setting, cell.includes('if nothing is known')] as const]
    })
    return names.split(', ').flatMap((name) => settings.map((one) => [name, ...one] as const))
  })

  test.each(cells)('for %s: %s, even if nothing is known: %s', (name, setting, isAlways) => {
    const { id } = familyRows.find(({ label }) => label === name)!
    const known = { images: true, reasoning: true, contextWindow: 64_000 }
    const writtenFor = (facts: object) => {
      const catalog = { models: [{ id: 'mine', ...facts }] }
      return JSON.stringify(
        Object.values(setUp(id, {}, catalog, { options: { model: 'mine' } })).map((file) =>
          text(file as Uint8Array),
        ),
      )
    }
    const member = setting.split('.').at(-1)!
    // Some clients get only small limits, some only large ones.
    const outputs = [4000, 40_000].map((limit) => writtenFor({ ...known, outputLimit: limit }))
    const about = `docs/clients.md, the cell of ${name} that begins with \`${setting}\``
    expect(outputs.join().includes(member), about).toBe(true)
    expect(writtenFor({}).includes(member), about).toBe(isAlways)
  })
})
