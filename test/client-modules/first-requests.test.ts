import { describe, expect, test } from 'vitest'
import { outputLimitCures } from '../../src/clients/options/flags.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import { aMachine, byId, type Disk, filesOf } from './support.ts'

/**
 * Builds a client's first request: a recorded one, adapted to the files, the model and the version.
 * test/clients/first-requests.test.ts compares the recorded requests with the real programs.
 */
async function requestOf(
  id: string,
  disk: Disk,
  input: { readonly protocol?: Protocol; readonly model: string; readonly version?: string },
) {
  const client = byId(id)
  const files = filesOf(client, aMachine(), disk)
  return client.firstRequest(files, { protocol: 'chat', env: {}, ...input })
}

describe('Qwen Code', () => {
  const home = (model: string, generationConfig: object = {}, login = 'openai'): Disk => {
    const baseUrl = 'https://gw.example/v1'
    const entry = { id: model, baseUrl, envKey: 'QWEN_GATEWAY_API_KEY', generationConfig }
    const settings = {
      $version: 4,
      modelProviders: { [login]: [entry] },
      security: { auth: { selectedType: login } },
      model: { name: model },
    }
    return { '.qwen/settings.json': JSON.stringify(settings) }
  }
  const limitOf = async (model: string, config?: object, version?: string) => {
    const input = { model, ...(version && { version }) }
    const { body } = await requestOf('qwen', home(model, config), input)
    return body['max_tokens']
  }

  // The limits of the first nine rows are from the source of Qwen Code 0.24.4. gpt-5.6-sol and devstral-2512 were run
  // too (2026-11-26).
  test.each([
    ['gpt-5.6-sol', 64_000],
    ['vendor/claude-opus-4.6', 128_000],
    ['Vendor/GPT-4.1', 16_384],
    ['gemini-2.5-pro', 8192],
    ['qwen-plus', 32_768],
    ['kimi-k3', 64_000],
    ['kimi-k2.5', 32_768],
    ['glm-4.7', 16_384],
    ['devstral-2512', 32_000],
    ['gpt-5.6-sol', 4000, { contextWindowSize: 30_000 }],
    ['gpt-5.6-sol', 27_600, { contextWindowSize: 60_000 }],
    ['gpt-5.6-sol', 777, { samplingParams: { max_tokens: 777 } }],
    ['gpt-5.6-sol', 8000, {}, '0.15.10'],
  ])(
    'limits an answer of %s to %d tokens: %j %s',
    async (model, limit, config = {}, version = undefined) => {
      expect(await limitOf(model, config, version)).toBe(limit)
    },
  )

  test('names the limit after the protocol', async () => {
    const disk = home('gpt-5.6-sol', {}, 'openai-responses')
    const { body } = await requestOf('qwen', disk, { protocol: 'responses', model: 'gpt-5.6-sol' })
    expect(body).toMatchObject({ max_output_tokens: 64_000 })
    expect(body).not.toHaveProperty('max_tokens')
  })

  test.each([
    ['chat', 'openai', { temperature: 0.5, top_k: 5 }],
    ['responses', 'openai-responses', { top_k: 5 }],
  ] as const)('adds the parameters of the entry over %s', async (protocol, login, added) => {
    const config = { samplingParams: { temperature: 0.5 }, extra_body: { top_k: 5 } }
    const input = { protocol, model: 'mine' }
    const usual = await requestOf('qwen', home('mine', {}, login), input)
    const { body, hints } = await requestOf('qwen', home('mine', config, login), input)
    expect(body).toEqual({ ...usual.body, ...added })
    const cures = Object.keys(added).map((name) => [
      name,
      `Remove ${name} from the model in settings.json.`,
    ])
    expect(hints).toEqual({ ...usual.hints, ...Object.fromEntries(cures) })
  })

  test.each([
    ['responses', 'openai-responses', 'max_output_tokens'],
    ['messages', 'anthropic', 'max_tokens'],
  ] as const)('limits an answer over %s as the entry says', async (protocol, login, name) => {
    const disk = home('mine', { samplingParams: { max_tokens: 777 } }, login)
    const { body } = await requestOf('qwen', disk, { protocol, model: 'mine' })
    expect(body).toHaveProperty(name, 777)
  })

  test('names the option for a limit that a gateway rejects, also of the entry', async () => {
    const config = { samplingParams: { max_tokens: 777 } }
    const { hints } = await requestOf('qwen', home('mine', config), { model: 'mine' })
    expect(hints).toEqual(outputLimitCures)
    const messages = { protocol: 'messages', model: 'glm-5' } as const
    const overMessages = await requestOf('qwen', home('glm-5', {}, 'anthropic'), messages)
    expect(overMessages.hints).toEqual({
      ...outputLimitCures,
      thinking: expect.stringContaining('"reasoning": false'),
      'anthropic-beta': expect.stringContaining('"reasoning": false'),
    })
  })

  test('says nothing of the entries of other models', async () => {
    const disk = home('first', { samplingParams: { max_tokens: 777 } })
    const { body } = await requestOf('qwen', disk, { model: 'devstral-2512' })
    expect(body).toMatchObject({ max_tokens: 32_000 })
  })

  test.each([
    ['claude-sonnet-5-5', {}, { type: 'adaptive', display: 'summarized' }, undefined],
    ['claude-opus-4-8', {}, { type: 'adaptive', display: 'summarized' }, undefined],
    ['claude-sonnet-4-6', {}, { type: 'adaptive', display: 'summarized' }, 1],
    ['claude-opus-4-5', {}, { type: 'enabled', budget_tokens: 32_000 }, 1],
    ['claude-opus-4-20250514', {}, { type: 'enabled', budget_tokens: 32_000 }, 1],
    ['glm-5', {}, { type: 'enabled', budget_tokens: 32_000 }, 1],
    ['glm-5', { reasoning: false }, undefined, 1],
  ])(
    'asks for thinking over messages with %s, %j',
    async (model, config, thinking, temperature) => {
      const disk = home(model, config, 'anthropic')
      const { body, headers } = await requestOf('qwen', disk, { protocol: 'messages', model })
      expect(body['thinking']).toEqual(thinking)
      expect(body['temperature']).toBe(temperature)
      expect(body['max_tokens']).toBeGreaterThan(4000)
      expect(headers).toHaveProperty('user-agent')
      expect('anthropic-beta' in headers!).toBe(thinking !== undefined)
    },
  )
})

describe('Cline', () => {
  const home = (settings: object): Disk => ({
    '.cline/data/settings/providers.json': JSON.stringify({
      version: 1,
      lastUsedProvider: 'openai-compatible',
      providers: {
        'openai-compatible': {
          settings: { provider: 'openai-compatible', ...settings },
          updatedAt: '2026-11-23T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    }),
  })

  const noMembers = {
    max_tokens: undefined,
    max_completion_tokens: undefined,
    reasoning_effort: undefined,
  }

  test.each([
    ['gpt-5.6-sol', { contextWindow: 200_000 }, { max_completion_tokens: 32_000 }, 'apply_patch'],
    ['gpt-4.1', { contextWindow: 200_000 }, { max_tokens: 32_000 }, 'apply_patch'],
    ['glm-5', { contextWindow: 20_000 }, { max_tokens: 12_000 }, 'editor'],
    ['glm-5', {}, {}, 'editor'],
    [
      'glm-5',
      { reasoning: { enabled: true, effort: 'low' } },
      { reasoning_effort: 'low' },
      'editor',
    ],
  ])('asks %s for these members with %j', async (model, settings, members, editor) => {
    const { body } = await requestOf('cline', home(settings), { model })
    const { max_tokens, max_completion_tokens, reasoning_effort } = body
    const sent = { max_tokens, max_completion_tokens, reasoning_effort }
    expect(sent).toEqual({ ...noMembers, ...members })
    const tools = body['tools'] as readonly { readonly function: { readonly name: string } }[]
    const names = tools.map(({ function: { name } }) => name)
    expect(names.filter((name) => name === 'editor' || name === 'apply_patch')).toEqual([editor])
  })
})

describe('Kilo', () => {
  test.each([
    ['gpt-5.6-sol', '7.7.9', undefined],
    ['gpt-6-sol', '7.7.9', 32_000],
    ['gpt-5.6-sol', '7.0.33', 32_000],
  ])('asks %s, version %s, for this many tokens: %s', async (model, version, limit) => {
    const { body } = await requestOf('kilo', {}, { model, version })
    expect(body['max_tokens']).toBe(limit)
  })

  test.each([
    ['7.7.9', 'detailed'],
    ['7.0.33', 'auto'],
  ])('version %s asks for a summary of the kind %s', async (version, summary) => {
    const { body } = await requestOf(
      'kilo',
      {},
      { protocol: 'responses', model: 'gpt-5.6-sol', version },
    )
    expect(body['reasoning']).toEqual({ effort: 'medium', summary })
  })
})

test('Claude Code adds the betas and the metadata of its settings', async () => {
  const home = (env: object): Disk => ({ '.claude/settings.json': JSON.stringify({ env }) })
  const input = { protocol: 'messages', model: 'claude-sonnet-5-5', version: '2.1.330' } as const
  const usual = await requestOf('claude', home({}), input)
  const request = await requestOf(
    'claude',
    home({ ANTHROPIC_BETAS: 'mine-1, mine-2', CLAUDE_CODE_EXTRA_METADATA: '{"team":"blue"}' }),
    input,
  )
  const betas = usual.headers!['anthropic-beta']
  expect(request.headers).toEqual({ ...usual.headers, 'anthropic-beta': `${betas},mine-1,mine-2` })
  expect(request.body['metadata']).toMatchObject({
    user_id: expect.stringMatching(/^\{"team":"blue","device_id"/),
  })
  expect(request.hints).toMatchObject({
    'anthropic-beta': expect.stringContaining('ANTHROPIC_BETAS'),
    metadata: expect.stringContaining('CLAUDE_CODE_EXTRA_METADATA'),
  })
})

describe('opencode', () => {
  const home = (model: string, options: object): Disk => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: `gateway/${model}`,
      provider: { gateway: { models: { [model]: { options } } } },
    }),
  })
  const all = {
    ...{ user: 'u', textVerbosity: 'high', serviceTier: 'priority', store: true, foo: 'bar' },
    ...{ speed: 'fast', thinking: { type: 'enabled', budgetTokens: 2000 } },
  }
  const added = async (protocol: Protocol, model: string) => {
    const input = { protocol, model, version: '1.18.34' }
    const usual = await requestOf('opencode', home(model, {}), input)
    const { body, headers, hints } = await requestOf('opencode', home(model, all), input)
    const isAdded = ([name, value]: readonly [string, unknown]) =>
      JSON.stringify(value) !== JSON.stringify(usual.body[name])
    return { body: Object.fromEntries(Object.entries(body).filter(isAdded)), headers, hints }
  }

  // Run with 1.18.34, except the budget of thinking (2026-11-28).
  test('sends the options of a model under the names of each protocol', async () => {
    const responses = await added('responses', 'gpt-5.6-sol')
    expect(responses.body).toEqual({
      ...{ user: 'u', service_tier: 'priority', store: true },
      text: expect.objectContaining({ verbosity: 'high' }),
    })
    expect(responses.hints).toMatchObject({ service_tier: expect.stringContaining('Remove') })

    const messages = await added('messages', 'claude-sonnet-5')
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    expect(messages.body).toEqual({ speed: 'fast', thinking })
    expect(messages.headers!['anthropic-beta']).toMatch(/(^|,)fast-mode-2026-02-01$/)

    const { textVerbosity, ...others } = all
    expect((await added('chat', 'gpt-5.6-sol')).body).toEqual({ ...others, verbosity: 'high' })
  })
})

describe('pi', () => {
  const home = (entry: object, provider: object = {}, settings: object = {}): Disk => ({
    '.pi/agent/models.json': JSON.stringify({
      providers: {
        gateway: { baseUrl: 'https://gw.example/v1', ...provider, models: [{ id: 'm', ...entry }] },
      },
    }),
    '.pi/agent/settings.json': JSON.stringify({
      ...{ defaultProvider: 'gateway', defaultModel: 'm' },
      ...settings,
    }),
  })
  const limitNames = { chat: 'max_completion_tokens', responses: 'max_output_tokens' }

  test.each([
    [{}, undefined, 16_384],
    [{ maxTokens: 4000 }, undefined, 4000],
    [{ maxTokens: 64_000 }, undefined, 64_000],
    [{ maxTokens: 64_000 }, '0.73.1', 32_000],
    [{ maxTokens: 64_000, contextWindow: 50_000 }, undefined, 44_502],
    [{ maxTokens: 64_000, contextWindow: 30_000 }, '0.73.1', 32_000],
  ])('limits an answer of a model with %j: %s, %d tokens', async (entry, version, limit) => {
    for (const protocol of ['chat', 'responses', 'messages'] as const) {
      const input = { protocol, model: 'm', ...(version && { version }) }
      const { body } = await requestOf('pi', home(entry), input)
      const name = protocol === 'messages' ? 'max_tokens' : limitNames[protocol]
      expect(body).toHaveProperty(name, limit)
    }
  })

  test.each([
    ['supportsUsageInStreaming', 'stream_options'],
    ['supportsStore', 'store'],
    ['supportsReasoningEffort', 'reasoning_effort'],
  ])('without %s it sends no %s', async (member, name) => {
    const sent = async (ofProvider: object, ofModel: object) => {
      const disk = home({ reasoning: true, compat: ofModel }, { compat: ofProvider })
      const { body } = await requestOf('pi', disk, { model: 'm' })
      return body[name] !== undefined
    }
    const [lacks, has] = [{ [member]: false }, { [member]: true }]
    expect([await sent({}, {}), await sent(lacks, {}), await sent({}, lacks)]).toEqual([
      ...[true, false, false],
    ])
    expect(await sent(lacks, has)).toBe(true)
  })

  test('names the limit as the entry says', async () => {
    const disk = home({ compat: { maxTokensField: 'max_tokens' } })
    const { body } = await requestOf('pi', disk, { model: 'm' })
    expect(body).toHaveProperty('max_tokens', 16_384)
    expect(body).not.toHaveProperty('max_completion_tokens')
  })

  test.each(['chat', 'responses'] as const)(
    'asks for reasoning over %s only at the usual level',
    async (protocol) => {
      const name = protocol === 'chat' ? 'reasoning_effort' : 'reasoning'
      const asks = async (entry: object, settings: object = {}) => {
        const { body } = await requestOf('pi', home(entry, {}, settings), { protocol, model: 'm' })
        return body[name] !== undefined
      }
      expect(await asks({})).toBe(false)
      expect(await asks({ reasoning: true })).toBe(true)
      expect(await asks({ reasoning: true }, { defaultThinkingLevel: 'medium' })).toBe(true)
      expect(await asks({ reasoning: true }, { defaultThinkingLevel: 'high' })).toBe(false)
    },
  )

  const budget = { type: 'enabled', budget_tokens: 8192, display: 'summarized' }
  const adaptive = { type: 'adaptive', display: 'summarized' }
  const forced = { reasoning: true, compat: { forceAdaptiveThinking: true } }

  test.each([
    ['claude-opus-5-5', {}, undefined, undefined],
    ['claude-opus-5-5', { reasoning: true }, undefined, budget],
    ['claude-opus-5-5', forced, undefined, adaptive],
    ['claude-opus-5-5', forced, '0.80.0', undefined],
    ['claude-opus-5-5', forced, '0.73.1', budget],
    ['claude-opus-4-6', forced, '0.73.1', undefined],
  ])('over messages %s thinks with %j in %s: %j', async (id, entry, version, thinking) => {
    const input = { protocol: 'messages', model: id, ...(version && { version }) } as const
    const { body, headers } = await requestOf('pi', home({ id, ...entry }), input)
    expect(body['thinking']).toEqual(thinking)
    if (thinking === budget)
      expect(headers).toHaveProperty('anthropic-beta', 'interleaved-thinking-2025-05-14')
  })

  test('sends the headers of the model', async () => {
    const headers = { 'x-team': 'one' }
    const { addedHeaders } = await requestOf('pi', home({ headers }), { model: 'm' })
    expect(addedHeaders).toEqual([{ name: 'x-team', value: 'one' }])
  })

  test('predicts only the question for a host that it knows', async () => {
    const disk = home({}, { baseUrl: 'https://api.deepseek.com' })
    const { headers, body } = await requestOf('pi', disk, { model: 'm' })
    expect(headers).toBeUndefined()
    expect(Object.keys(body).sort()).toEqual(['messages', 'stream', 'tools'])
  })
})

/** Two providers have the same model, and the other one's table comes first. */
const sameModelTwice: readonly (readonly [string, Disk])[] = [
  [
    'droid',
    {
      '.factory/settings.json': JSON.stringify({
        customModels: [
          { id: 'custom:mine', model: 'm', baseUrl: 'https://b.example', maxOutputTokens: 999 },
          { id: 'custom:gateway/m', model: 'm', baseUrl: 'https://a.example', maxOutputTokens: 7 },
        ],
        sessionDefaultSettings: { model: 'custom:gateway/m' },
      }),
    },
  ],
  [
    'kimi',
    {
      '.kimi-code/config.toml': `default_model = "gateway/m"
[models.mine]
provider = "mine"
model = "m"
max_output_size = 999
[models."gateway/m"]
provider = "gateway"
model = "m"
max_output_size = 7
`,
    },
  ],
  [
    'grok',
    {
      '.grok/config.toml': `[models]
default = "gateway/m"
[model.mine]
model_provider = "mine"
model = "m"
max_completion_tokens = 999
[model."gateway/m"]
model_provider = "gateway"
model = "m"
max_completion_tokens = 7
`,
    },
  ],
]

test.each(sameModelTwice)(
  '%s sends the limit of the table that it starts with',
  async (id, disk) => {
    const { body } = await requestOf(id, disk, { model: 'm' })
    expect(body['max_tokens']).toBe(7)
  },
)
