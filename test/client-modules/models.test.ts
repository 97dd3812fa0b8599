import { describe, expect, test } from 'vitest'
import type { SetupOptions } from '../../src/clients/client.ts'
import { windowNotices } from '../../src/clients/models.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import { byId, catalog, catalogWithWindows } from './support.ts'

const unknown: Catalog = { models: ['glm-4.6', 'kimi-k3', 'gpt-image-2'].map((id) => ({ id })) }
const one: Catalog = { models: [{ id: 'llama3', contextWindow: 8192 }] }

function choose(id: string, options: SetupOptions = {}, from: Catalog = catalog) {
  return byId(id).choose(from, options)
}

function refusal(id: string, options: SetupOptions, from?: Catalog) {
  try {
    byId(id).choose(from, options)
  } catch (error) {
    return error
  }
  throw new Error('nothing was refused')
}

describe('codex and opencode', () => {
  test.each(['codex', 'opencode'])('%s: the newest sol by default', (id) => {
    expect(choose(id)).toMatchObject({ model: 'gpt-5.6-sol', probeModel: 'gpt-5.6-sol' })
  })

  test.each(['codex', 'opencode'])('%s: a short name resolves to the catalog`s id', (id) => {
    expect(choose(id, { model: 'GPT-5.6-Terra' }).model).toBe('gpt-5.6-terra')
  })

  test.each(['codex', 'opencode'])('%s: an unknown model is refused with the nearest', (id) => {
    expect(refusal(id, { model: 'gpt-5.6-soll' }, catalog)).toMatchObject({
      code: 'model-unknown',
      hint: expect.stringContaining('gpt-5.6-sol'),
    })
  })

  test('codex: a model of another protocol is refused', () => {
    expect(refusal('codex', { model: 'gpt-image-2' }, catalog)).toMatchObject({
      code: 'protocol-unsupported',
    })
  })

  test.each(['codex', 'opencode'])('%s: where no rule fits a person must choose', (id) => {
    expect(refusal(id, {}, unknown)).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--model: glm-4.6, kimi-k3'),
    })
  })

  test.each(['codex', 'opencode'])('%s: without a catalog the model must be named', (id) => {
    expect(refusal(id, {})).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--model'),
    })
    expect(byId(id).choose(undefined, { model: 'any' }).model).toBe('any')
  })

  test('a single chat model is taken, with its window', () => {
    expect(choose('codex', {}, one)).toMatchObject({
      model: 'llama3',
      contextWindow: 8192,
      notes: [],
    })
  })

  test('an unknown window is left alone and said; --context-window wins', () => {
    expect(choose('codex').contextWindow).toBeUndefined()
    expect(choose('codex').unknownWindows).toEqual(['gpt-5.6-sol'])
    expect(windowNotices(['a', 'b', 'a'])).toMatchObject([
      { code: 'context-window-unknown', message: expect.stringContaining('window of a, b;') },
    ])
    expect(choose('codex', { contextWindow: 5 }, catalogWithWindows)).toMatchObject({
      contextWindow: 5,
      notes: [],
    })
  })

  test('opencode: is offered what speaks chat, and a small model of its own', () => {
    const choice = choose('opencode')
    expect(choice.smallModel).toBe('gpt-5.4-mini')
    expect(choice.offered?.map(({ id }) => id)).not.toContain('gpt-image-2')
    expect(choice.offered?.map(({ id }) => id)).toContain('claude-sonnet-5')
    expect(choose('opencode', {}, one).smallModel).toBe('llama3')
  })
})

describe('claude', () => {
  test('pins nothing by default, and is probed with what the newest version sends', () => {
    expect(choose('claude')).toMatchObject({
      model: 'sonnet',
      slot: 'sonnet',
      slotModels: {},
      probeModel: 'claude-sonnet-5-5',
    })
  })

  test('--model pins the chosen slot, a slot`s own option wins over it', () => {
    expect(choose('claude', { slot: 'opus', model: 'claude-sonnet-5' })).toMatchObject({
      slot: 'opus',
      slotModels: { opus: 'claude-sonnet-5' },
      probeModel: 'claude-sonnet-5',
    })
    expect(
      choose('claude', { model: 'gpt-5.4', slotModels: { sonnet: 'claude-sonnet-5' } }).slotModels,
    ).toEqual({ sonnet: 'claude-sonnet-5' })
  })

  test('says which version would send an id that the gateway lacks', () => {
    expect(choose('claude', { slot: 'opus' }).notes).toMatchObject([
      {
        code: 'slot-id-missing',
        message: expect.stringContaining('claude-opus-4-8, which Claude Code 2.1.197 sends'),
      },
    ])
    expect(choose('claude').notes).toEqual([])
  })

  test('a slot that the catalog cannot fill is refused', () => {
    expect(refusal('claude', { slot: 'fable' }, catalog)).toMatchObject({ code: 'model-unknown' })
    expect(refusal('claude', {}, unknown)).toMatchObject({ code: 'model-unknown' })
  })

  test('works without a catalog', () => {
    expect(byId('claude').choose(undefined, { slot: 'fable' })).toMatchObject({
      model: 'fable',
      notes: [],
    })
  })
})

describe('claude-gpt', () => {
  test('fills every slot and the subagent by the rules', () => {
    expect(choose('claude-gpt')).toMatchObject({
      slotModels: {
        opus: 'gpt-5.6-sol',
        sonnet: 'gpt-5.4',
        haiku: 'gpt-5.4-mini',
        fable: 'gpt-5.6-sol',
      },
      subagentModel: 'gpt-5.4-mini',
      probeModel: 'gpt-5.4',
    })
  })

  test('every one can be overridden', () => {
    const choice = choose('claude-gpt', {
      slot: 'opus',
      model: 'gpt-5.6-terra',
      slotModels: { haiku: 'gpt-5.6-luna', fable: 'claude-opus-5-5', sonnet: 'gpt-5.6-sol' },
      subagentModel: 'gpt-5.4',
    })
    expect(choice).toMatchObject({
      slotModels: {
        opus: 'gpt-5.6-terra',
        sonnet: 'gpt-5.6-sol',
        haiku: 'gpt-5.6-luna',
        fable: 'claude-opus-5-5',
      },
      subagentModel: 'gpt-5.4',
      probeModel: 'gpt-5.6-terra',
    })
  })

  test('the window is the smallest of all that are mapped', () => {
    expect(choose('claude-gpt', {}, catalogWithWindows).contextWindow).toBe(272_000)
  })

  test('names the slot that no rule fills', () => {
    expect(refusal('claude-gpt', {}, unknown)).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--opus-model'),
    })
    expect(refusal('claude-gpt', {})).toMatchObject({ code: 'usage' })
  })
})
