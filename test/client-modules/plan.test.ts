import { describe, expect, test } from 'vitest'
import {
  aHistory,
  aMachine,
  byId,
  catalogWithWindows,
  type Disk,
  inputFor,
  key,
  planOn,
  type Setup,
  text,
} from './support.ts'

/** The decoded file of a plan whose path ends with `name`. */
function planned(id: string, name: string, disk: Disk, setup: Setup = {}) {
  const edit = planOn(byId(id), disk, setup).edits.find(({ path }) => path.endsWith(name))
  return JSON.parse(text(edit!.after))
}

const settings = (env: object, more: object = {}): Disk => ({
  '.claude/settings.json': JSON.stringify({ env, ...more }),
})
const gateway = { ANTHROPIC_AUTH_TOKEN: key, ANTHROPIC_BASE_URL: 'https://gw.example' }
const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

describe('claude', () => {
  test('an existing setup without "model": "opus" stays so, because the client deletes that line', () => {
    const settled = settings({ ...gateway, ...quiet })
    expect(planned('claude', 'settings.json', settled, { options: { slot: 'opus' } })).toEqual({
      env: { ...gateway, ...quiet },
    })
    expect(planned('claude', 'settings.json', {}, { options: { slot: 'opus' } }).model).toBe('opus')
  })

  test('pins and a subagent without a base URL belong to the user, so a setup keeps or reports them', () => {
    const userEnv = { ANTHROPIC_DEFAULT_OPUS_MODEL: 'mine', CLAUDE_CODE_SUBAGENT_MODEL: 'mine' }
    const { findings, files, target } = planOn(byId('claude'), settings(userEnv))
    expect(findings.map(({ code }) => code)).toEqual(['claude-old-pin'])
    const [edit] = byId('claude').plan(files, target)
    expect(JSON.parse(text(edit!.after)).env).toMatchObject(userEnv)
  })

  test('a pin with a base URL belongs to an earlier setup, and is removed silently', () => {
    const mapped = settings({ ...gateway, ANTHROPIC_DEFAULT_OPUS_MODEL: 'x' })
    expect(planOn(byId('claude'), mapped).findings).toEqual([])
    expect(planned('claude', 'settings.json', mapped).env).toEqual({ ...gateway, ...quiet })
  })

  test("without earlier pins, a setup keeps the user's subagent and context window", () => {
    const userEnv = { CLAUDE_CODE_SUBAGENT_MODEL: 'mine', CLAUDE_CODE_MAX_CONTEXT_TOKENS: '5' }
    expect(
      planned('claude', 'settings.json', settings({ ...gateway, ...userEnv })).env,
    ).toMatchObject(userEnv)
  })

  test('with a mapping, a setup keeps the context window of an earlier one until the gateway reports it', () => {
    const unknown = { catalog: { models: ['gpt-9', 'gpt-9-mini'].map((id) => ({ id })) } }
    const slotModels = { opus: 'gpt-9', fable: 'gpt-9' }
    const setup = { ...unknown, options: { slotModels, contextWindow: 5 } }
    const first = planned('claude-gpt', 'settings.json', {}, setup)
    const disk = { '.claude/settings.json': JSON.stringify(first) }
    expect(
      planned('claude-gpt', 'settings.json', disk, { ...unknown, options: { slotModels } }).env
        .CLAUDE_CODE_MAX_CONTEXT_TOKENS,
    ).toBe('5')
    expect(
      planned('claude-gpt', 'settings.json', disk, { catalog: catalogWithWindows }).env
        .CLAUDE_CODE_MAX_CONTEXT_TOKENS,
    ).toBe('272000')
  })

  // `repoint claude --no-attribution`, then `repoint claude-gpt`, then one of these.
  test.each([
    ['--defaults restores the attribution from before the setup', true, undefined],
    ['a setup without pins restores the attribution from before the pins', undefined, '0'],
  ])('%s', (_, resetToDefaults, attribution) => {
    const name = 'CLAUDE_CODE_ATTRIBUTION_HEADER'
    const setUp = { ...gateway, [name]: '0' }
    const mapped = settings({ ...setUp, ANTHROPIC_DEFAULT_OPUS_MODEL: 'gpt-9' })
    const earlier = [JSON.stringify({ env: setUp }), '{}'].map((file) =>
      new TextEncoder().encode(file),
    )
    const input = { ...inputFor(undefined), ...(resetToDefaults ? { resetToDefaults } : {}) }
    const { env } = planned('claude', 'settings.json', mapped, {
      target: { input, history: aHistory({ earlierVersionsOf: () => earlier }) },
    })
    expect(env[name]).toBe(attribution)
  })

  test("a first setup keeps the user's own mode, and with --defaults their effort", () => {
    const permissions = { defaultMode: 'default', disableAutoMode: 'disable' }
    const disk = settings({ CLAUDE_CODE_EFFORT_LEVEL: 'low' }, { permissions })
    const input = { ...inputFor(undefined), resetToDefaults: true }
    const target = { input, safeguards: 'answered' } as const
    expect(planned('claude', 'settings.json', disk, { target })).toMatchObject({
      env: { CLAUDE_CODE_EFFORT_LEVEL: 'low' },
      permissions,
    })
  })

  test('a setup without discovery keeps telemetry off', () => {
    const userEnv = { DISABLE_TELEMETRY: '1', ...gateway, ...quiet }
    expect(planned('claude', 'settings.json', settings(userEnv)).env).toEqual(userEnv)
  })

  test('a setup accepts a byte order mark, and keeps it', () => {
    const disk = { '.claude/settings.json': '\uFEFF{"env":{"MINE":"1"}}' }
    const [edit] = planOn(byId('claude'), disk).edits
    expect(text(edit!.after)).toMatch(/^\uFEFF\{"env":\{"MINE":"1",/)
  })

  test.each([
    ['comments, if the user did not accept the fix', '{ // mine\n}'],
    ['a permission list that is a string', '{"permissions":{"allow":"Bash"}}'],
  ])('a setup rejects a file that the client would skip: %s', (_, content) => {
    const { files, target } = { ...planOn(byId('claude'), {}) }
    const broken = files.map((file) =>
      file.kind === 'settings' ? { ...file, bytes: new TextEncoder().encode(content) } : file,
    )
    expect(() => byId('claude').plan(broken, target)).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    )
  })

  test('chosen values override a fix, and two fixes of one key are applied once', () => {
    const machine = aMachine({ env: { ANTHROPIC_API_KEY: 'sk-x' } })
    const setup = {
      machine,
      context: {
        shellProfiles: [{ path: '/home/ada/.zshrc', text: 'export ANTHROPIC_API_KEY=1' }],
      },
    }
    const { edits, findings } = planOn(byId('claude'), {}, setup)
    expect(findings).toHaveLength(2)
    expect(edits[0]!.changes.filter(({ path }) => path[1] === 'ANTHROPIC_API_KEY')).toHaveLength(1)

    const { files, target } = planOn(byId('claude'), settings({}, { model: 'default' }))
    const fixes = [{ fileKind: 'settings', changes: [{ path: ['model'], value: 'haiku' }] }]
    const [edit] = byId('claude').plan(files, { ...target, fixes })
    expect(JSON.parse(text(edit!.after)).model).toBe('sonnet')
    expect(edit!.changes.filter(({ path }) => path[0] === 'model')).toHaveLength(1)
  })
})

describe('codex', () => {
  const gatewayTable =
    'model = "gpt-5.6-sol"\nmodel_context_window = 9\n[model_providers.gateway]\nwire_api = "chat"\nbase_url = "https://gw.example/v1"\n'

  test('settings that the plan corrects are not reported, nor is a context window for the chosen model', () => {
    expect(planOn(byId('codex'), { '.codex/config.toml': gatewayTable }).findings).toEqual([])
  })

  test('the same key without its provider is not reported as another key', () => {
    const disk = { '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: key }) }
    expect(planOn(byId('codex'), disk).findings).toEqual([])
  })

  test('outside a repository, parent folders are not part of a project', () => {
    const { files } = planOn(
      byId('codex'),
      { '/home/ada/work/.codex/config.toml': '' },
      {
        machine: aMachine({ cwd: '/home/ada/work/in' }),
      },
    )
    expect(files.filter(({ kind }) => kind === 'project')).toEqual([])
  })
})

describe('opencode', () => {
  const config = '.config/opencode/opencode.json'
  const withModels = (models: object, more: object = {}): Disk => ({
    [config]: JSON.stringify({
      provider: { gateway: { options: { baseURL: 'https://gw.example/v1' }, models } },
      ...more,
    }),
  })

  test("a setup keeps the user's entries, even of models that the gateway does not list", () => {
    const modalities = { input: ['text'], output: ['text'] }
    const mine = {
      limit: { context: 7, output: 7 },
      options: { x: 1 },
      modalities,
      reasoning: false,
    }
    const disk = withModels({ 'gpt-5.6-sol': mine, 'gpt-5.4': { name: 'Mine' }, private: {} })
    const { models } = planned('opencode', config, disk, { catalog: catalogWithWindows }).provider
      .gateway
    const provider = { npm: '@ai-sdk/openai' }
    expect(models['gpt-5.6-sol']).toEqual({ ...mine, provider, tool_call: true })
    expect(models['gpt-5.4']).toEqual({
      name: 'Mine',
      provider,
      limit: { context: 272_000, output: 128_000 },
      modalities: { input: ['text', 'image'], output: ['text'] },
      reasoning: true,
      tool_call: true,
    })
    expect(models.private).toEqual({})
  })

  test("a setup keeps the user's protocol for other models, and sets that of the chosen model", () => {
    const provider = { npm: '@ai-sdk/anthropic', api: 'mine' }
    const disk = withModels({ 'gpt-5.6-sol': { provider }, 'gpt-5.4': { provider } })
    const { models } = planned('opencode', config, disk).provider.gateway
    expect(models['gpt-5.6-sol'].provider).toEqual({ npm: '@ai-sdk/openai', api: 'mine' })
    expect(models['gpt-5.4'].provider).toEqual(provider)
  })

  test('--context-window applies only to the chosen model, and leaves room for the prompt', () => {
    const setup = { options: { contextWindow: 8192 } }
    const { models } = planned('opencode', config, withModels({ 'gpt-5.6-sol': {} }), setup)
      .provider.gateway
    expect(models['gpt-5.6-sol'].limit).toEqual({ context: 8192, output: 4096 })
    expect(models['gpt-5.4'].limit).toEqual({ context: 1_050_000, output: 128_000 })
  })

  test("a setup keeps the user's $schema", () => {
    const disk = withModels({}, { $schema: 'https://mine.example' })
    expect(planned('opencode', config, disk).$schema).toBe('https://mine.example')
  })

  test('a setup rejects an auth.json that opencode would ignore, if the user did not accept the fix', () => {
    const { files, target } = planOn(byId('opencode'), {})
    const broken = files.map((file) =>
      file.kind === 'auth' ? { ...file, bytes: new TextEncoder().encode('{ /* */ }') } : file,
    )
    expect(() => byId('opencode').plan(broken, target)).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    )
  })

  test('a setup asks before replacing another login with the same ID, even for our address', () => {
    const disk = {
      ...withModels({}),
      '.local/share/opencode/auth.json': '{"gateway":{"type":"oauth","refresh":"r"}}',
    }
    expect(planOn(byId('opencode'), disk).findings).toMatchObject([
      { code: 'opencode-other-key', needsConsentTo: expect.any(String) },
    ])
  })
})
