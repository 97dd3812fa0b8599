import { rmSync } from 'node:fs'
import { describe, type ExpectStatic, type TestContext, test } from 'vitest'
import { type Gateway, type LoggedRequest, startGateway } from '../../src/serve/index.ts'
import { fixtureCatalog } from '../support/gateway.ts'
import { Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { claudeVersions } from './support/install.ts'
import { inferences, prompt, type Runner } from './support/prompt.ts'

/**
 * Each case plants one problem into a client that works. While it is there, the real client fails or uses
 * another key or model, and doctor reports it. After the fix, the client answers again. If the fix restores
 * the files as they were before the problem, the client is not started again: the first test has shown that
 * it answers with these files. The administrator's files are outside of every home and are not tried here.
 */

const key = 'sk-real-clients-4f7a1c9e2b8d6035'

/** Each test has a home and a gateway, because several run at once. */
interface Scene {
  readonly home: Home
  readonly gateway: Gateway
  /** Called for each request with another key, or without one. */
  readonly onWrongKey: (tell: () => void) => void
}

function isWrong({ protocol, auth, keyMatches }: LoggedRequest): boolean {
  return protocol !== undefined && (auth !== 'bearer' || !keyMatches)
}

async function aScene({ onTestFinished }: TestContext): Promise<Scene> {
  let tellWrong = () => {}
  const gateway = await startGateway({
    families: 'rewritten',
    key,
    models: fixtureCatalog,
    onRequest: (request) => {
      if (isWrong(request)) tellWrong()
    },
  })
  const onWrongKey = (tell: () => void) => {
    tellWrong = tell
  }
  const scene = { home: new Home(), gateway, onWrongKey }
  onTestFinished(async () => {
    rmSync(scene.home.path, { recursive: true, force: true, maxRetries: 3 })
    await scene.gateway.close()
  })
  return scene
}

/** The visible effect of a problem. `elsewhere`: no request reaches the gateway. */
type Effect = 'wrong-key' | 'wrong-model' | 'elsewhere'

interface Case {
  readonly code: string
  readonly name?: string
  readonly effect: Effect
  readonly plant?: (scene: Scene) => void
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Without `--bare`, with which Claude Code does not read these files. */
  readonly isFull?: boolean
  /** The cure by the user if there is no repair. Absent: `doctor --fix` repairs it. */
  readonly cure?: Partial<Pick<Case, 'env' | 'args' | 'cwd'>> & {
    readonly hand?: (scene: Scene) => unknown
  }
}

function edit(home: Home, name: string, change: (text: string) => string): void {
  home.put(name, change(home.text(name)))
}

function editJson(home: Home, name: string, change: (value: never) => void): void {
  edit(home, name, (text) => {
    const value = JSON.parse(text)
    change(value as never)
    return JSON.stringify(value, null, 2)
  })
}

/** The contents of the files of a home, without the layout of JSON. */
function values(home: Home): Record<string, string> {
  const files = Object.entries(home.snapshot()).filter(([, entry]) => entry.startsWith('file'))
  return Object.fromEntries(
    files.map(([name]) => {
      const text = home.text(name)
      return [name, /^\s*\{/.test(text) ? JSON.stringify(parsed(text)) : text]
    }),
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Of opencode's config. */
function modelsIn(value: { provider: { gateway: { models: Record<string, unknown> } } }) {
  return value.provider.gateway.models
}

async function repoint(
  { home, gateway }: Scene,
  args: readonly string[],
  { env = {}, cwd }: Partial<Case> = {},
) {
  const result = await runInProcess(home, [...args, '--json'], {
    env: { ...env, REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url },
    ...(cwd === undefined ? {} : { cwd: home.at(cwd) }),
  })
  return result.json as { checks?: readonly { id: string }[] }
}

/** Runs the client, and ends it after a wrong key, because some clients retry for minutes. */
async function tryOn(runner: Runner, scene: Scene, one: Partial<Case>) {
  const { env, args = [], cwd, isFull } = one
  const { home, gateway } = scene
  const hasShown = new AbortController()
  scene.onWrongKey(() => hasShown.abort())
  gateway.clearRequests()
  const answer = await prompt(runner, {
    home: home.path,
    args: [...(runner.startsWith('claude') && !isFull ? ['--bare'] : []), ...args],
    timeoutMs: 150_000,
    signal: hasShown.signal,
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd: home.at(cwd) }),
  })
  return { answer, seen: inferences(gateway.requests()) }
}

type ClientAnswer = Awaited<ReturnType<typeof tryOn>>

function expectEffect(
  expect: ExpectStatic,
  effect: Effect,
  model: string,
  { answer, seen }: ClientAnswer,
) {
  const models = seen.map(({ modelAsked }) => modelAsked)
  if (effect === 'wrong-model') expect(models).not.toContain(model)
  else expect(answer.hasAnswered).toBe(false)
  if (effect === 'elsewhere') expect(seen).toEqual([])
  if (effect === 'wrong-key') expect(seen.some(isWrong)).toBe(true)
}

function findingTests(
  runner: Runner,
  setUp: (scene: Scene) => Promise<unknown>,
  model: string,
  cases: readonly Case[],
) {
  const doctor = ['doctor', runner.split(' ')[0]!, '--no-verify']

  const expectDone = (expect: ExpectStatic, { answer, seen }: ClientAnswer) => {
    expect(answer).toMatchObject({ text: 'pong', hasAnswered: true })
    expect(seen.some(isWrong)).toBe(false)
    expect(seen.map(({ modelAsked }) => modelAsked)).toContain(model)
  }

  test.concurrent('without a problem, the client answers', async (context) => {
    const scene = await aScene(context)
    await setUp(scene)
    expectDone(context.expect, await tryOn(runner, scene, {}))
  })

  test.concurrent.for(cases.map((problem) => [problem.name ?? problem.code, problem] as const))(
    '%s',
    async ([, problem], context) => {
      const { expect } = context
      const scene = await aScene(context)
      await setUp(scene)
      const clean = values(scene.home)
      problem.plant?.(scene)
      const planted = values(scene.home)
      expectEffect(expect, problem.effect, model, await tryOn(runner, scene, problem))

      const { checks } = await repoint(scene, doctor, problem)
      expect(checks?.map(({ id }) => id)).toContain(problem.code)
      if (problem.cure === undefined) await repoint(scene, [...doctor, '--fix', '--yes'], problem)
      else await problem.cure.hand?.(scene)

      // The first test has shown that the client answers with these files.
      const after = values(scene.home)
      const isAsBefore = Object.keys(planted).every((name) => after[name] === clean[name])
      const cured = { ...problem, ...problem.cure }
      const isPlain = Object.keys(cured.env ?? {}).length === 0 && (cured.args ?? []).length === 0
      if (isAsBefore && isPlain) return
      expectDone(expect, await tryOn(runner, scene, cured))
    },
  )
}

describe('Codex', () => {
  const config = '.codex/config.toml'
  const auth = '.codex/auth.json'
  const append =
    (lines: string) =>
    ({ home }: Scene) =>
      edit(home, config, (text) => `${text}\n${lines}\n`)
  const prepend =
    (line: string) =>
    ({ home }: Scene) =>
      edit(home, config, (text) => `${line}\n${text}`)
  const again = (scene: Scene) => repoint(scene, ['codex', '--yes'])

  const setUp = async (scene: Scene) => {
    scene.home.put('work/.git/HEAD', 'ref: refs/heads/main\n')
    await repoint(scene, ['codex', '--yes'])
    // Without these, Codex retries for 10 s.
    append('request_max_retries = 0\nstream_max_retries = 0')(scene)
  }

  findingTests('codex', setUp, 'gpt-5.6-sol', [
    {
      code: 'codex-credential-store',
      effect: 'wrong-key',
      plant: prepend('cli_auth_credentials_store = "ephemeral"'),
    },
    {
      code: 'codex-forced-login',
      effect: 'elsewhere',
      plant: prepend('forced_login_method = "chatgpt"'),
      // Codex deletes auth.json as well.
      cure: {
        hand: async (scene) => {
          await repoint(scene, ['doctor', 'codex', '--no-verify', '--fix', '--yes'])
          await again(scene)
        },
      },
    },
    { code: 'codex-legacy-profile', effect: 'elsewhere', plant: prepend('profile = "x"') },
    {
      code: 'codex-chat-wire',
      effect: 'elsewhere',
      plant: append('[model_providers.old]\nname = "Old"\nwire_api = "chat"'),
    },
    {
      code: 'codex-reserved-provider',
      effect: 'elsewhere',
      plant: append('[model_providers.openai]\nname = "x"\n[model_providers.openai.query_params]'),
    },
    {
      code: 'codex-provider-auth',
      name: 'codex-provider-auth: env_key of a variable that is not set',
      effect: 'elsewhere',
      plant: append('env_key = "NOT_SET"'),
    },
    {
      code: 'codex-provider-auth',
      name: 'codex-provider-auth: experimental_bearer_token',
      effect: 'wrong-key',
      plant: append('experimental_bearer_token = "sk-other"'),
    },
    {
      code: 'codex-no-auth',
      effect: 'wrong-key',
      plant: ({ home }) =>
        edit(home, config, (text) => text.replace('requires_openai_auth = true\n', '')),
    },
    {
      code: 'codex-login',
      effect: 'wrong-key',
      plant: ({ home }) => home.put(auth, JSON.stringify({ ...chatgptLogin, OPENAI_API_KEY: key })),
    },
    {
      code: 'codex-login',
      name: 'codex-login without a key beside it',
      effect: 'wrong-key',
      plant: ({ home }) => home.put(auth, JSON.stringify(chatgptLogin)),
      cure: { hand: again },
    },
    {
      code: 'codex-auth-unreadable',
      effect: 'wrong-key',
      plant: ({ home }) => edit(home, auth, (text) => `\uFEFF${text}`),
      cure: { hand: again },
    },
    {
      code: 'codex-environment-key',
      effect: 'wrong-key',
      env: { CODEX_API_KEY: 'sk-other' },
      cure: { env: {} },
    },
    {
      code: 'codex-profile',
      effect: 'wrong-model',
      plant: ({ home }) => home.put('.codex/deep.config.toml', 'model = "gpt-5.4"\n'),
      args: ['--profile', 'deep'],
      cure: { args: [] },
    },
    {
      code: 'codex-project-config',
      effect: 'wrong-model',
      plant: (scene) => {
        scene.home.put('work/.codex/config.toml', 'model = "gpt-5.4"\n')
        append(`[projects."${scene.home.at('work')}"]\ntrust_level = "trusted"`)(scene)
      },
      cwd: 'work',
      cure: { cwd: '.' },
    },
  ])
})

/** A login in the format of Codex. The token has the right form but no meaning. */
const chatgptLogin = {
  auth_mode: 'chatgpt',
  OPENAI_API_KEY: null,
  tokens: {
    id_token: `${part({ alg: 'none' })}.${part({ email: 'ada@example.com', exp: 4102444800 })}.x`,
    access_token: `${part({ alg: 'none' })}.${part({ exp: 4102444800 })}.x`,
    refresh_token: 'r',
    account_id: 'a',
  },
  last_refresh: '2026-11-20T00:00:00Z',
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const newestClaude = claudeVersions.at(-1)!

// test/clients/versions.test.ts and the comments of the module cover older versions.
describe(`Claude Code ${newestClaude}`, () => {
  const settings = '.claude/settings.json'
  const sent = 'claude-sonnet-5-5'
  const setUp = (scene: Scene) => repoint(scene, ['claude', '--yes'])
  const set =
    (change: object, env: object = {}) =>
    ({ home }: Scene) =>
      editJson(home, settings, (value: { env: object }) => {
        Object.assign(value, change)
        Object.assign(value.env, env)
      })
  const variable = (name: string, value: string, effect: Effect): Case => ({
    code: 'claude-shell-variable',
    name: `claude-shell-variable ${name}`,
    effect,
    env: { [name]: value },
  })

  const runner = `claude ${newestClaude}`

  findingTests(runner, setUp, sent, [
    {
      code: 'claude-settings-skipped',
      effect: 'elsewhere',
      plant: ({ home }) => edit(home, settings, (text) => text.replace('{', '{ // mine\n')),
    },
    {
      code: 'claude-settings-skipped',
      name: 'claude-settings-skipped for a wrong type',
      effect: 'elsewhere',
      plant: set({ permissions: { allow: 'Bash' } }),
      cure: { hand: set({ permissions: { allow: [] } }) },
    },
    {
      code: 'claude-api-key',
      effect: 'wrong-key',
      plant: set({}, { ANTHROPIC_API_KEY: 'sk-other' }),
    },
    {
      code: 'claude-custom-headers',
      effect: 'wrong-key',
      plant: set({}, { ANTHROPIC_CUSTOM_HEADERS: 'X-Api-Key: sk-other' }),
    },
    {
      code: 'claude-service-switch',
      effect: 'elsewhere',
      plant: set({}, { CLAUDE_CODE_USE_FOUNDRY: '1' }),
    },
    {
      code: 'claude-environment-model',
      effect: 'wrong-model',
      plant: set({}, { ANTHROPIC_MODEL: 'gpt-5.4' }),
    },
    { code: 'claude-model-default', effect: 'wrong-model', plant: set({ model: 'default' }) },
    {
      code: 'claude-base-url-version',
      effect: 'elsewhere',
      plant: ({ home, gateway }) =>
        edit(home, settings, (text) => text.replace(gateway.url, `${gateway.url}/v1`)),
    },
    {
      code: 'claude-project-settings',
      effect: 'wrong-key',
      plant: ({ home }) =>
        home.put('work/.claude/settings.json', '{"env":{"ANTHROPIC_AUTH_TOKEN":"sk-other"}}'),
      cwd: 'work',
      cure: { hand: ({ home }) => rmSync(home.at('work/.claude'), { recursive: true }) },
    },
    variable('ANTHROPIC_API_KEY', 'sk-other', 'wrong-key'),
    variable('ANTHROPIC_MODEL', 'gpt-5.4', 'wrong-model'),
    variable('CLAUDE_CODE_USE_BEDROCK', '1', 'elsewhere'),
    {
      code: 'claude-proxy',
      effect: 'elsewhere',
      env: { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'internal.example' },
    },
    {
      code: 'claude-api-key-helper',
      effect: 'wrong-key',
      plant: set({ apiKeyHelper: 'echo sk-other' }),
      isFull: true,
    },
    variable('ANTHROPIC_CUSTOM_HEADERS', 'x-api-key: sk-other', 'wrong-key'),
    variable('ANTHROPIC_DEFAULT_SONNET_MODEL', 'gpt-5.4', 'wrong-model'),
    variable('CLAUDE_CODE_USE_VERTEX', '1', 'elsewhere'),
    variable('CLAUDE_CODE_USE_FOUNDRY', '1', 'elsewhere'),
    variable('CLAUDE_CODE_USE_MANTLE', '1', 'elsewhere'),
    variable('CLAUDE_CODE_USE_ANTHROPIC_AWS', '1', 'elsewhere'),
    variable('CLAUDE_CODE_USE_GATEWAY', '1', 'wrong-model'),
  ])

  test.concurrent('claude-login-leak', async (context) => {
    const { expect } = context
    const scene = await aScene(context)
    const login = {
      accessToken: 'sk-ant-oat01-users-own',
      refreshToken: 'r',
      expiresAt: 4102444800000,
      scopes: ['user:inference'],
      subscriptionType: 'max',
    }
    scene.home.put('.claude/.credentials.json', JSON.stringify({ claudeAiOauth: login }))
    await setUp(scene)
    set({}, { ANTHROPIC_AUTH_TOKEN: '' })(scene)
    const before = await tryOn(runner, scene, { isFull: true })
    expectEffect(expect, 'wrong-key', sent, before)
    const { checks } = await repoint(scene, ['doctor', 'claude', '--no-verify'])
    expect(checks?.map(({ id }) => id)).toContain('claude-login-leak')
    await setUp(scene)
    const after = await tryOn(runner, scene, { isFull: true })
    expect(after.answer).toMatchObject({ text: 'pong', hasAnswered: true })
  })
})

describe('opencode', () => {
  const config = '.config/opencode/opencode.json'
  const auth = '.local/share/opencode/auth.json'
  const setUp = (scene: Scene) => repoint(scene, ['opencode', '--yes'])
  const set =
    (change: object, provider: object = {}, options: object = {}) =>
    ({ home }: Scene) =>
      editJson(home, config, (value: { provider: { gateway: { options: object } } }) => {
        Object.assign(value, change)
        Object.assign(value.provider.gateway, provider)
        Object.assign(value.provider.gateway.options, options)
      })

  findingTests('opencode', setUp, 'gpt-5.6-sol', [
    {
      code: 'opencode-api-key',
      effect: 'wrong-key',
      plant: set({}, {}, { apiKey: '{env:NOT_SET}' }),
    },
    {
      code: 'opencode-auth-unreadable',
      // Without a key, the package for responses sends no request.
      effect: 'elsewhere',
      plant: ({ home }) => edit(home, auth, (text) => `${text}// mine\n`),
    },
    {
      code: 'opencode-hidden',
      name: 'opencode-hidden by enabled_providers',
      effect: 'elsewhere',
      plant: set({ enabled_providers: ['anthropic'] }),
    },
    {
      code: 'opencode-hidden',
      name: 'opencode-hidden by disabled_providers',
      effect: 'elsewhere',
      plant: set({ disabled_providers: ['gateway'] }),
    },
    {
      code: 'opencode-hidden',
      name: 'opencode-hidden by a whitelist and a blacklist',
      effect: 'elsewhere',
      plant: set({}, { whitelist: ['gpt-5.4'], blacklist: ['gpt-5.6-sol'] }),
    },
    {
      code: 'opencode-model-unlisted',
      effect: 'elsewhere',
      plant: ({ home }) => editJson(home, config, (value) => delete modelsIn(value)['gpt-5.6-sol']),
      cure: {
        hand: ({ home }) =>
          editJson(home, config, (value) => Object.assign(modelsIn(value), { 'gpt-5.6-sol': {} })),
      },
    },
    {
      code: 'opencode-newer-keys',
      effect: 'elsewhere',
      plant: set({ permissions: {} }),
      cure: { hand: set({ permissions: undefined }) },
    },
    {
      code: 'opencode-config-invalid',
      effect: 'elsewhere',
      plant: ({ home }) => home.put('.config/opencode/config.json', '{'),
      cure: { hand: ({ home }) => rmSync(home.at('.config/opencode/config.json')) },
    },
    {
      code: 'opencode-agent-model',
      effect: 'wrong-model',
      plant: set({
        agent: { build: { model: 'other/gpt-5.4' } },
      }),
      cure: { hand: set({ agent: undefined }) },
    },
    {
      code: 'opencode-environment-auth',
      effect: 'wrong-key',
      env: { OPENCODE_AUTH_CONTENT: '{"gateway":{"type":"api","key":"sk-other"}}' },
      cure: { env: {} },
    },
    {
      code: 'opencode-environment-config',
      effect: 'wrong-model',
      env: { OPENCODE_CONFIG_CONTENT: '{"model":"gateway/gpt-5.4"}' },
      cure: { env: {} },
    },
    {
      code: 'opencode-upper-config',
      effect: 'wrong-model',
      plant: ({ home }) => home.put('.opencode/opencode.json', '{"model":"gateway/gpt-5.4"}'),
      cure: { hand: ({ home }) => rmSync(home.at('.opencode/opencode.json')) },
    },
  ])
})
