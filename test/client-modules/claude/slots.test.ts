import { describe, expect, test } from 'vitest'
import { slots } from '../../../src/clients/claude/flags.ts'
import { placeInTable, sentIds } from '../../../src/clients/claude/settings.ts'
import type { ClientOptions } from '../../../src/clients/contract/options.ts'
import type { Catalog } from '../../../src/gateway/types.ts'
import {
  aMachine,
  byId,
  earlierIn,
  filesOf,
  inputFor,
  key,
  planOn,
  text,
  written,
} from '../support.ts'

const listing = (...ids: string[]): Catalog => ({ models: ids.map((id) => ({ id })) })
const everything = listing(
  ...slots.flatMap((slot) => sentIds[slot].map(({ id }) => id)),
  'gpt-5.6-sol',
  'gpt-5.4',
  'gpt-5.4-mini',
)
const without = (...ids: string[]): Catalog => ({
  models: everything.models.filter(({ id }) => !ids.includes(id)),
})

function choose(version: string | undefined, requested: ClientOptions, catalog = everything) {
  return byId('claude').resolve(inputFor(catalog, requested), { version })
}

describe('the models that each version of Claude Code sends', () => {
  // test/client-modules/tested.test.ts compares every row of the table with the real client.
  test.each([
    ['2.1.150', ['claude-opus-4-7', 'claude-sonnet-4-6', 'claude-haiku-4-5-20251001', 'fable']],
    ['2.1.310', ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-1']],
  ])('%s', (version, sent) => {
    for (const [index, id] of sent.entries())
      expect(choose(version, { slot: slots[index] }).probeModel).toBe(id)
  })

  test('the table compares versions as numbers, and knows where it ends', () => {
    expect(placeInTable('2.1.9')).toBe('older')
    expect(placeInTable('2.0.300')).toBe('older')
    expect(placeInTable('2.1.54')).toBe('covered')
    const newest = byId('claude').program.testedVersions.at(-1)!
    expect(placeInTable(newest)).toBe('covered')
    expect(placeInTable(`${newest}-beta.1`)).toBe('covered')
    expect(placeInTable('2.1.10000')).toBe('newer')
    expect(placeInTable('2.10.0')).toBe('newer')
    expect(placeInTable('3.0.0')).toBe('newer')
  })
})

describe('the probe asks for the model that the installed version sends', () => {
  test('it does so even if the catalog does not list it, and suggests a pin', () => {
    const catalog = without('claude-opus-5')
    expect(choose('2.1.238', { slot: 'opus' }, catalog)).toMatchObject({
      probeModel: 'claude-opus-5',
      probeHint:
        'Claude Code 2.1.238 sends it for opus. Pin another: repoint claude --slot opus --opus-model claude-opus-4-8',
    })
  })

  test('the suggested pin is never the ID that the gateway does not serve', () => {
    const { probeHint } = choose('2.1.329', {}, listing('claude-sonnet-5-5', 'claude-sonnet-5'))
    expect(probeHint).toContain('--sonnet-model claude-sonnet-5')
    expect(choose('2.1.329', {}, listing('claude-sonnet-5-5', 'gpt-5.4')).probeHint).toContain(
      '--sonnet-model ID',
    )
  })

  test('repoint looks up the IDs of the other slots in the catalog', () => {
    expect(choose('2.1.310', {}).findings).toEqual([])
    const catalog = without('claude-haiku-5-5', 'claude-fable-5-1')
    expect(choose('2.1.310', {}, catalog).findings).toEqual([
      {
        code: 'slot-id-missing',
        severity: 'note',
        message: expect.stringMatching(
          /2\.1\.310 .*: claude-haiku-5-5 \(haiku\), claude-fable-5-1 \(fable\)$/,
        ),
        hint: expect.stringContaining(
          'repoint claude --haiku-model claude-haiku-4-5-20251001 --fable-model claude-fable-5',
        ),
      },
    ])
    const pins = { haiku: 'claude-haiku-4-5-20251001', fable: 'gpt-5.6-sol' }
    expect(choose('2.1.310', { slotModels: pins }, catalog).findings).toEqual([])
  })

  test('a version that does not know a slot sends the name of the slot, pinned or not', () => {
    const asked = { probeModel: 'fable', probeHint: expect.stringContaining('no slot fable') }
    expect(choose('2.1.150', { slot: 'fable', model: 'gpt-5.4' })).toMatchObject(asked)
    const mapped = byId('claude-gpt').resolve(inputFor(everything, { slot: 'fable' }), {
      version: '2.1.150',
    })
    expect(mapped).toMatchObject(asked)
    expect(
      byId('claude-gpt').resolve(inputFor(everything, { slot: 'fable' }), { version: '2.1.170' })
        .probeModel,
    ).toBe('gpt-5.6-sol')
  })

  test('repoint rejects a version older than the table without a pin', () => {
    expect(() => choose('2.1.19', { slot: 'opus' }, without('claude-opus-4-6'))).toThrow(
      expect.objectContaining({
        code: 'client-too-old',
        message: expect.stringMatching(/2\.1\.19 .* 2\.1\.45 /),
        hint: 'Update Claude Code, or pin a model: --sonnet-model claude-sonnet-5-5',
      }),
    )
    expect(choose('2.1.19', { model: 'gpt-5.6-sol' }).findings).toEqual([])
  })

  test('a version older than the table needs the pin of the slot too', () => {
    const opus = (pins: ClientOptions['slotModels']) =>
      choose('2.1.19', { slot: 'opus', slotModels: pins })
    expect(opus({ sonnet: 'gpt-5.4', opus: 'gpt-5.6-sol' }).probeModel).toBe('gpt-5.6-sol')
    expect(() => opus({ sonnet: 'gpt-5.4' })).toThrow(
      expect.objectContaining({
        code: 'client-too-old',
        hint: 'Update Claude Code, or pin a model: --opus-model claude-opus-5-5',
      }),
    )
  })

  test('without a catalog it asks for the ID, not for the name of the slot', () => {
    const asked = (version?: string) =>
      byId('claude').resolve(inputFor(undefined, { slot: 'opus' }), { version }).probeModel
    expect(asked('2.1.238')).toBe('claude-opus-5')
    expect(asked()).toBe('claude-opus-5-5')
    expect(asked('9.0.0')).toBe('claude-opus-5-5')
  })
})

describe('if the table does not have the installed version', () => {
  test('repoint looks up every ID of the slot', () => {
    const version = undefined
    expect(choose(version, { slot: 'opus' })).toMatchObject({
      probeModel: 'claude-opus-5-5',
      findings: [],
    })
    const catalog = without('claude-opus-5-5', 'claude-opus-5', 'claude-opus-4-6')
    expect(choose(version, { slot: 'opus' }, catalog)).toMatchObject({
      probeModel: 'claude-opus-4-8',
      findings: [
        {
          code: 'slot-id-missing',
          message:
            'Some versions of Claude Code send a model for opus that the gateway does not list: claude-opus-4-6 (from 2.1.45 on), claude-opus-5 (from 2.1.219 on), claude-opus-5-5 (from 2.1.280 on)',
          hint: expect.stringContaining('repoint claude --opus-model claude-opus-4-8'),
        },
      ],
    })
  })

  test('repoint skips an ID that the catalog lists for another protocol only', () => {
    const opus5 = { id: 'claude-opus-5', endpointTypes: ['gemini'] }
    const [opus48, sonnet] = listing('claude-opus-4-8', 'claude-sonnet-5').models
    const catalog = { models: [opus5, opus48!, sonnet!] }
    expect(choose(undefined, { slot: 'opus' }, catalog).probeModel).toBe('claude-opus-4-8')
  })

  test('a newer version sends the IDs of the last row', () => {
    const catalog = listing('claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5')
    expect(choose('9.0.0', {}, catalog)).toMatchObject({
      probeModel: 'claude-sonnet-5-5',
      findings: [{ message: expect.stringContaining('claude-fable-5-2 (fable)') }],
    })
    const other = listing('claude-sonnet-6', 'claude-opus-5-5', 'claude-haiku-5-5')
    const { probeModel, findings } = choose(
      '9.0.0',
      { slotModels: { fable: 'gpt-5.6-sol' } },
      {
        models: [...other.models, { id: 'gpt-5.6-sol' }],
      },
    )
    expect(probeModel).toBe('claude-sonnet-6')
    expect(findings).toMatchObject([
      {
        message: expect.stringMatching(/does not list: claude-sonnet-5-5 \(from 2\.1\.284 on\)$/),
        hint: expect.stringContaining('--sonnet-model claude-sonnet-6'),
      },
    ])
  })
})

describe('the first request asks for thinking', () => {
  // Recorded from the real client with `--model` (2.1.197 and 2.1.330, 2026-11-26).
  test.each([
    ['claude-opus-5-5', 'adaptive'],
    ['claude-opus-4-6', 'adaptive'],
    ['claude-opus-4-5', 'enabled'],
    ['claude-sonnet-4-5', 'enabled'],
    ['claude-haiku-4-5-20251001', 'enabled'],
    ['gpt-5.4', 'adaptive'],
  ])('with %s it is %s', async (model, type) => {
    const client = byId('claude')
    const files = filesOf(client, aMachine(), {})
    for (const version of ['2.1.197', '2.1.330']) {
      const asking = { model, protocol: 'messages', version, env: {} } as const
      const { body } = await client.firstRequest(files, asking)
      expect(body['thinking']).toMatchObject({ type })
    }
  })
})

describe('repoint reads model names as the client does', () => {
  const client = byId('claude')
  const asked = (settings: object, version = '2.1.285') => {
    const disk = { '.claude/settings.json': JSON.stringify(settings) }
    const known = client.read(filesOf(client, aMachine(), disk))
    return client.resolve(inputFor(everything, {}, earlierIn(client, known)), { version })
      .probeModel
  }

  // Run on 2.1.150, .197, .285 and .329, 2026-11-22.
  test.each([
    ['OPUS[1M]', 'claude-opus-5-5'],
    ['opusplan[1m]', 'claude-sonnet-5-5'],
    ['claude-zz[1m]', 'claude-zz'],
    ['sonnet[2m]', 'sonnet'],
    ['GPT-5.4', 'GPT-5.4'],
  ])('"model": "%s" requests %s', (model, id) => {
    expect(asked({ model })).toBe(id)
    expect(asked({ model: 'haiku', env: { ANTHROPIC_MODEL: model } })).toBe(id)
  })

  // Run on .54, .110, .150 and .329, 2026-11-22.
  test.each([
    ['2.1.110', 'claude-sonnet-4-6'],
    ['2.1.150', 'claude-opus-4-7'],
  ])('without a root model, version %s requests %s', (version, id) => {
    expect(asked({}, version)).toBe(id)
    expect(asked({ model: 'haiku' }, version)).toContain('haiku')
  })

  test('a pin can have a suffix, and a root model that is no slot is sent regardless of pins', () => {
    const env = { ANTHROPIC_DEFAULT_SONNET_MODEL: 'gpt-5.4[1m]' }
    expect(asked({ model: 'sonnet', env })).toBe('gpt-5.4')
    expect(asked({ model: 'claude-zz', env })).toBe('claude-zz')
  })

  test('a setup keeps "opus[1m]", which the client wrote', () => {
    const options = { slot: 'opus' } as const
    const first = planOn(
      client,
      { '.claude/settings.json': '{}' },
      { options, catalog: everything },
    )
    const disk = written({}, first.machine, first.edits)
    const path = '/home/ada/.claude/settings.json'
    const rewritten = text(disk[path] as Uint8Array).replace('"opus"', '"opus[1m]"')
    expect(rewritten).toContain('"opus[1m]"')
    expect(rewritten).toContain(key)

    const [again] = planOn(client, { [path]: rewritten }, { options, catalog: everything }).edits
    expect(text(again?.after)).toBe(rewritten)
    const [other] = planOn(client, { [path]: rewritten }, { catalog: everything }).edits
    expect(text(other?.after)).toContain('"model": "sonnet"')
  })
})
