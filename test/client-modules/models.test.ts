import { describe, expect, test } from 'vitest'
import type { ClientOptions } from '../../src/clients/contract/options.ts'
import { usesByRules } from '../../src/clients/models/resolve.ts'
import { UserError, valueOrError } from '../../src/errors.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import { byId, catalog, catalogWithWindows, inputFor } from './support.ts'

const unknown: Catalog = { models: ['glm-4.6', 'kimi-k3', 'gpt-image-2'].map((id) => ({ id })) }
const one: Catalog = { models: [{ id: 'llama3', contextWindow: 8192 }] }

function choose(id: string, options: ClientOptions = {}, from: Catalog = catalog) {
  return byId(id).resolve(inputFor(from, options))
}

function refusal(id: string, options: ClientOptions, from?: Catalog) {
  return valueOrError(() => byId(id).resolve(inputFor(from, options)))
}

describe('codex and opencode', () => {
  test.each(['codex', 'opencode'])('%s: the default model is the newest sol', (id) => {
    expect(choose(id)).toMatchObject({ model: 'gpt-5.6-sol', probeModel: 'gpt-5.6-sol' })
  })

  test.each(['codex', 'opencode'])('%s: a short name resolves to the ID in the catalog', (id) => {
    expect(choose(id, { model: 'GPT-5.6-Terra' }).model).toBe('gpt-5.6-terra')
  })

  test.each([
    'gpt-5.6-soll',
    'my-deployment',
    'openai/gpt-5.4-nano:floor',
    '@preset/gpt-5.4',
    'llama3.2:3b',
  ])('%s is not listed: repoint reports that, and lets the probe decide', (model) => {
    for (const id of ['codex', 'opencode', 'claude']) {
      const resolved = choose(id, { model })
      expect(resolved.probeModel).toBe(model)
      expect(resolved.findings).toContainEqual(
        expect.objectContaining({
          code: 'model-not-listed',
          message: `The gateway does not list ${model}`,
        }),
      )
    }
    expect(choose('opencode', { model }).offered?.map(({ id }) => id)).toContain(model)
  })

  test('a pattern in a catalog is not a model', () => {
    const patterns: Catalog = { models: [{ id: 'openai/*' }] }
    expect(refusal('codex', {}, patterns)).toMatchObject({ code: 'usage' })
    expect(choose('codex', { model: 'openai/gpt-5.4' }, patterns).model).toBe('openai/gpt-5.4')
    expect(choose('claude', { model: 'openai/gpt-5.4' }, patterns).slotModels).toEqual(
      Object.fromEntries(['opus', 'sonnet', 'haiku', 'fable'].map((s) => [s, 'openai/gpt-5.4'])),
    )
  })

  test('codex: a model of another protocol is rejected', () => {
    expect(refusal('codex', { model: 'gpt-image-2' }, catalog)).toMatchObject({
      code: 'protocol-unsupported',
    })
  })

  test.each(['codex', 'opencode'])('%s: if no rule fits, the first that answers', (id) => {
    const rejected = (...ids: string[]) =>
      byId(id).protocols.flatMap((protocol) =>
        ids.map((model) => ({
          model,
          protocol,
          error: new UserError({ code: 'model-not-allowed', message: `no ${model}` }),
        })),
      )
    const chosenAfter = (...ids: string[]) =>
      valueOrError(() =>
        byId(id).resolve(inputFor(unknown, {}, undefined, { rejections: rejected(...ids) })),
      )
    expect(chosenAfter()).toMatchObject({ model: 'glm-4.6' })
    expect(chosenAfter('glm-4.6')).toMatchObject({ model: 'kimi-k3' })
    expect(chosenAfter('glm-4.6', 'kimi-k3')).toMatchObject({
      code: 'model-not-allowed',
      message: expect.stringMatching(/rejects glm-4.6 and kimi-k3 \(no kimi-k3\)/),
      hint: expect.stringContaining('--model: glm-4.6, kimi-k3'),
    })
  })

  test.each(['codex', 'opencode'])('%s: without a catalog, the user must name the model', (id) => {
    expect(refusal(id, {})).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--model'),
    })
    expect(byId(id).resolve(inputFor(undefined, { model: 'any' })).model).toBe('any')
  })

  test('the only chat model is chosen, with its context window', () => {
    expect(choose('codex', {}, one)).toMatchObject({
      model: 'llama3',
      contextWindow: 8192,
      // The window is too small for a client, and repoint reports that.
      findings: [{ code: 'context-window-small' }],
    })
  })

  test.each([
    ['codex', {}, ''],
    ['codex', { model: 'gpt-5.6-terra' }, ''],
    ['codex', { model: 'gpt-5.4' }, ''],
    ['codex', { model: 'mine' }, 'window of mine: Codex assumes 272,000 tokens'],
    ['opencode', {}, ''],
    ['opencode', { model: 'mine' }, 'window of mine: opencode does not compact its conversations'],
    ['claude', {}, ''],
    ['claude', { model: 'claude-opus-5-5' }, ''],
    ['claude', { model: 'gpt-5.6-sol' }, ''],
    [
      'claude',
      { model: 'mine' },
      'window of mine: Claude Code assumes 1,000,000 tokens (older versions: 200,000)',
    ],
    ['claude-gpt', {}, ''],
    [
      'claude-gpt',
      { slotModels: { opus: 'mine', haiku: 'yours' } },
      'window of mine, yours: Claude Code assumes',
    ],
  ])(
    '%s %j: an unknown context window is reported only if the client would guess it',
    (id, options, expectedNote) => {
      const notes = choose(id, options).findings.filter(
        ({ code }) => code === 'context-window-unknown',
      )
      expect(notes.map(({ message }) => message).join()).toContain(expectedNote)
      expect(notes).toHaveLength(expectedNote === '' ? 0 : 1)
      const withWindow = choose(id, { ...options, contextWindow: 5 })
      expect(withWindow.contextWindow).toBe(5)
      expect(withWindow.findings.map(({ code }) => code)).not.toContain('context-window-unknown')
    },
  )

  test('a context window is chosen if the client does not know it', () => {
    expect(choose('codex').contextWindow).toBeUndefined()
    expect(choose('opencode').contextWindow).toBe(1_050_000)
    expect(choose('opencode').offered).toContainEqual(
      expect.objectContaining({ id: 'gpt-5.6-sol', outputLimit: 128_000 }),
    )
    expect(choose('claude', { model: 'gpt-5.6-sol' }).contextWindow).toBe(1_050_000)
    expect(choose('claude', { model: 'claude-opus-5-5' }).contextWindow).toBeUndefined()
    expect(choose('codex', {}, catalogWithWindows).contextWindow).toBe(400_000)
  })

  test('an older Claude Code does not know the models that came after it', () => {
    const notes = (version: string, model: string) =>
      byId('claude')
        .resolve(inputFor(undefined, { model }), { version })
        .findings.map(({ code }) => code)
    expect(notes('2.1.329', 'anthropic/claude-opus-5-5')).toEqual([])
    const { contextWindow } = byId('claude').resolve(
      inputFor(undefined, { model: 'claude-opus-5-5' }),
      { version: '2.1.197' },
    )
    expect(contextWindow).toBe(1_000_000)
    expect(notes('2.1.197', 'claude-opus-4-8')).toEqual([])
    expect(notes('2.1.329', 'claude-opus-4-5-20251101')).toEqual([])
    expect(notes('2.1.329', 'claude-sonnet-9')).toEqual(['context-window-unknown'])
  })

  test.each(['codex', 'opencode', 'claude', 'claude-gpt'])(
    '%s: a short name is written as the full ID, and repoint reports that',
    (id) => {
      const { findings, probeModel } = choose(id, { model: 'gpt-5.6' }, catalogWithWindows)
      expect(probeModel).toBe('gpt-5.6-sol')
      expect(findings[0]).toEqual({
        code: 'model-renamed',
        severity: 'note',
        message: 'repoint writes gpt-5.6 as gpt-5.6-sol, the sol variant of gpt-5.6',
      })
      const short = { models: catalogWithWindows.models.filter((one) => one.id !== 'gpt-5.6-sol') }
      expect(choose(id, { model: 'gpt-5.6' }, short)).toMatchObject({ probeModel: 'gpt-5.6' })
      const earlier = { options: { model: 'gpt-5.6', slotModels: { sonnet: 'gpt-5.6' } } }
      expect(byId(id).resolve(inputFor(catalog, {}, earlier))).toMatchObject({
        probeModel: 'gpt-5.6',
        findings: [],
      })
    },
  )

  test('opencode: its list has the models that support chat, and it gets a separate small model', () => {
    const resolved = choose('opencode')
    expect(resolved.smallModel).toBe('gpt-5.4-mini')
    expect(resolved.offered?.map(({ id }) => id)).not.toContain('gpt-image-2')
    expect(resolved.offered?.map(({ id }) => id)).toContain('claude-sonnet-5')
    expect(choose('opencode', {}, one).smallModel).toBe('llama3')
  })
})

describe('claude', () => {
  test('nothing is pinned by default, and the probe uses the model that the newest version sends', () => {
    expect(choose('claude')).toMatchObject({
      model: 'sonnet',
      start: 'sonnet',
      slotModels: {},
      probeModel: 'claude-sonnet-5-5',
    })
  })

  test('--model pins the chosen slot, and the option of a slot overrides it', () => {
    expect(choose('claude', { slot: 'opus', model: 'claude-sonnet-5' })).toMatchObject({
      start: 'opus',
      slotModels: { opus: 'claude-sonnet-5' },
      probeModel: 'claude-sonnet-5',
    })
    expect(
      choose('claude', { model: 'gpt-5.4', slotModels: { sonnet: 'claude-sonnet-5' } }).slotModels,
    ).toEqual({ sonnet: 'claude-sonnet-5' })
  })

  test('a slot that the catalog cannot fill is rejected', () => {
    expect(refusal('claude', { slot: 'fable' }, catalog)).toMatchObject({ code: 'model-unknown' })
    const onlyGpt = { models: [{ id: 'gpt-5.6-sol' }, { id: 'gpt-5.4' }] }
    expect(refusal('claude', {}, onlyGpt)).toMatchObject({ code: 'model-unknown' })
  })

  test('claude: without Claude and GPT models, all slots get the default of the others', () => {
    const glm = { models: ['glm-5', 'glm-4.6', 'kimi-k3'].map((id) => ({ id })) }
    const slotModels = (id: string) => ({ opus: id, sonnet: id, haiku: id, fable: id })
    expect(choose('claude', {}, glm)).toMatchObject({
      probeModel: 'glm-5',
      slotModels: slotModels('glm-5'),
    })
    const error = new UserError({ code: 'model-not-allowed', message: 'no' })
    const rejections = [{ model: 'glm-5', protocol: 'messages' as const, error }]
    const next = byId('claude').resolve(inputFor(glm, {}, undefined, { rejections }))
    expect(next).toMatchObject({ slotModels: slotModels('glm-4.6') })
  })
})

describe('claude-gpt', () => {
  test('the rules fill every slot and the subagent', () => {
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

  test('every slot can be overridden', () => {
    const resolved = choose('claude-gpt', {
      slot: 'opus',
      model: 'gpt-5.6-terra',
      slotModels: { haiku: 'gpt-5.6-luna', fable: 'claude-opus-5-5', sonnet: 'gpt-5.6-sol' },
      subagentModel: 'gpt-5.4',
    })
    expect(resolved).toMatchObject({
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

  test('the context window is the smallest of all mapped models', () => {
    expect(choose('claude-gpt', {}, catalogWithWindows).contextWindow).toBe(272_000)
  })

  test('the error names the slot that no rule fills', () => {
    expect(refusal('claude-gpt', {}, unknown)).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--opus-model'),
    })
    expect(refusal('claude-gpt', {})).toMatchObject({ code: 'usage' })
  })
})

describe('the uses that the rules chose a model for are', () => {
  const usesOf = (id: string, from = catalog) =>
    usesByRules(byId(id), from).map(({ purpose, id: model }) => [purpose, model])

  test('one model, and a small model if the client has one', () => {
    expect(usesOf('codex')).toEqual([[undefined, 'gpt-5.6-sol']])
    expect(usesOf('opencode')).toEqual([
      [undefined, 'gpt-5.6-sol'],
      ['small', 'gpt-5.4-mini'],
    ])
  })

  test('every model of an unmapped slot, and one model of a mapped slot', () => {
    expect(usesOf('claude')).toEqual([
      ['opus', 'claude-opus-5-5'],
      ['sonnet', 'claude-sonnet-5'],
      ['sonnet', 'claude-sonnet-5-5'],
      ['haiku', 'claude-haiku-5-5'],
    ])
    expect(usesOf('claude-gpt')).toEqual([
      ['opus', 'gpt-5.6-sol'],
      ['sonnet', 'gpt-5.4'],
      ['haiku', 'gpt-5.4-mini'],
      ['fable', 'gpt-5.6-sol'],
      ['subagent', 'gpt-5.4-mini'],
    ])
  })

  test('empty if only the user can choose', () => {
    for (const id of ['codex', 'opencode', 'claude', 'claude-gpt'])
      expect(usesOf(id, unknown)).toEqual([])
  })

  test('without the models that the user chose', () => {
    expect(choose('codex', { model: 'gpt-5.4' }).uses).toEqual([])
    const roles = choose('claude-gpt', { slotModels: { opus: 'gpt-5.4' } }).uses.map(
      (one) => one.purpose,
    )
    expect(roles).toEqual(['sonnet', 'haiku', 'fable', 'subagent'])
  })
})
