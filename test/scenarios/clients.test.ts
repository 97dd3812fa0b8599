import { chmodSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { builtInCatalog } from '../../src/serve/index.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { setUp, trySetUp } from '../support/setup.ts'

const canary = 'sk-canary-5e6f708192a3b47f3a9b2c4d'

const gateway = await withGateway({ key: canary })

function settingsOf(home: Home) {
  return JSON.parse(home.text('.claude/settings.json'))
}

describe('repoint claude', () => {
  test('a setup in a fresh home writes token, address and slot, and no pinned version', async () => {
    const home = aHome()
    expect((await setUp(home, 'claude', gateway)).json).toMatchObject({
      changed: true,
      model: 'sonnet',
    })
    expect(settingsOf(home)).toEqual({
      env: {
        ANTHROPIC_AUTH_TOKEN: canary,
        ANTHROPIC_BASE_URL: gateway.url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
      model: 'sonnet',
    })
  })

  test('the plan names a variable that it turns off once, also if a shell profile exports it too', async () => {
    const home = aHome({ '.zshrc': 'export CLAUDE_CODE_USE_BEDROCK=1\n' })
    const env = { REPOINT_API_KEY: canary, CLAUDE_CODE_USE_BEDROCK: '1', SHELL: '/bin/zsh' }
    const args = ['claude', '--base-url', gateway.url, '--yes']
    const { stdout } = await runInProcess(home, args, { env })
    expect(stdout.match(/^.*CLAUDE_CODE_USE_BEDROCK.*$/gm)).toHaveLength(1)
    expect(settingsOf(home).env).toMatchObject({ CLAUDE_CODE_USE_BEDROCK: '' })
  })

  test('the plan names a setting that needs consent once', async () => {
    const home = aHome({ '.claude/settings.json': '{ "apiKeyHelper": "/bin/echo x" }' })
    const args = ['claude', '--base-url', gateway.url, '--dry-run']
    const { stdout, stderr } = await runInProcess(home, args, { env: { REPOINT_API_KEY: canary } })
    const withoutDiff = (stdout + stderr).replace(/^ {4}[-+] .*$/gm, '')
    expect(withoutDiff.match(/^.*apiKeyHelper.*$/gm)).toEqual([expect.stringContaining('!')])
  })

  test('a setup removes a legacy API key from the settings, and reports it', async () => {
    const env = { ANTHROPIC_API_KEY: 'sk-old-0123456789' }
    const home = aHome({ '.claude/settings.json': JSON.stringify({ env }) })
    const result = await setUp(home, 'claude --dry-run', gateway)
    expect(result.text).toContain('env.ANTHROPIC_API_KEY')
    expect(result.text).not.toContain('sk-old-0123456789')
    await setUp(home, 'claude', gateway)
    expect(settingsOf(home).env).not.toHaveProperty('ANTHROPIC_API_KEY')
  })

  test('a setup that removes the comment that kept Claude Code from reading a file also removes the other gateway in it', async () => {
    const home = aHome({
      '.claude/settings.json': `{
  // left by another tool
  "apiKeyHelper": "/bin/helper",
  "env": {
    "ANTHROPIC_API_KEY": "sk-old-0123456789",
    "ANTHROPIC_BASE_URL": "https://old.example",
    "ANTHROPIC_DEFAULT_OPUS_MODEL": "old-model",
    "ANTHROPIC_MODEL": "old-model",
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "MINE": "1"
  },
  "hooks": {},
}
`,
    })
    expect((await setUp(home, 'claude', gateway)).json).toMatchObject({ changed: true })
    expect(settingsOf(home)).toEqual({
      env: {
        ANTHROPIC_AUTH_TOKEN: canary,
        ANTHROPIC_BASE_URL: gateway.url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        MINE: '1',
      },
      hooks: {},
      model: 'sonnet',
    })
    expect(await setUp(home, 'claude', gateway)).toMatchObject({ json: { changed: false } })
  })

  test('a change to claude-gpt and back removes what the mapping added, and nothing else', async () => {
    const home = aHome({
      '.claude/settings.json': '{\n  "env": { "MINE": "1" },\n  "hooks": {}\n}\n',
    })
    await setUp(home, 'claude', gateway)
    const plain = home.text('.claude/settings.json')
    const mapped = await setUp(home, 'claude-gpt', gateway)
    expect(mapped.status).toBe(0)
    expect(settingsOf(home).env).toMatchObject({
      MINE: '1',
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'gpt-5.6-sol',
      ANTHROPIC_DEFAULT_OPUS_MODEL_NAME: expect.any(String),
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'gpt-5.4',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'gpt-5.4-mini',
      ANTHROPIC_DEFAULT_FABLE_MODEL: 'gpt-5.6-sol',
      CLAUDE_CODE_SUBAGENT_MODEL: 'gpt-5.4-mini',
    })
    await setUp(home, 'claude', gateway)
    expect(home.text('.claude/settings.json')).toBe(plain)
  })

  test.each<[string, string[], string[], string[]?]>([
    ['after claude', ['claude'], ['claude-gpt']],
    ['after a mapping that came first', [], ['claude-gpt']],
    ['after two mappings', ['claude'], ['claude-gpt', 'claude-gpt --haiku-model gpt-5.6-luna']],
    [
      'after discovery',
      [],
      ['claude --enable-discovery', 'claude-gpt --enable-discovery'],
      ['--defaults'],
    ],
    ['after an undo and its undo', [], ['claude-gpt', 'rollback', 'rollback --redo']],
  ])(
    "the next setup restores the user's settings that a mapping replaced %s",
    async (_, first, between, flags = []) => {
      const userEnv = {
        CLAUDE_CODE_SUBAGENT_MODEL: 'mine',
        CLAUDE_CODE_MAX_CONTEXT_TOKENS: 5,
        CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: 'yes',
      }
      const given = { '.claude/settings.json': JSON.stringify({ env: userEnv }) }
      const plain = aHome(given)
      await setUp(plain, 'claude', gateway)
      const home = aHome(given)
      for (const line of [...first, ...between])
        if (line.startsWith('rollback')) await runHere(home, [...line.split(' '), '--yes'])
        else expect((await setUp(home, line, gateway)).status).toBe(0)
      expect(settingsOf(home).env).not.toMatchObject(userEnv)
      await setUp(home, ['claude', ...flags], gateway)
      expect(settingsOf(home)).toEqual(settingsOf(plain))
      expect((await setUp(home, 'claude', gateway)).json).toMatchObject({ changed: false })
    },
  )

  test('the setup after a mapping restores the subagent model of an earlier setup', async () => {
    const home = aHome()
    await setUp(home, 'claude --subagent-model claude-opus-5-5', gateway)
    const plain = home.text('.claude/settings.json')
    await setUp(home, 'claude-gpt', gateway)
    await setUp(home, 'claude', gateway)
    expect(home.text('.claude/settings.json')).toBe(plain)
  })

  test.each<[string, (home: Home) => void]>([
    [
      'next to an address that repoint has not written',
      (home) => home.replace('.claude/settings.json', gateway.url, 'https://other.example'),
    ],
    [
      'if the copies of old files are gone',
      (home) => rmSync(home.at('.local/state/repoint/blobs'), { recursive: true }),
    ],
  ])('a setup removes the whole mapping %s', async (_, change) => {
    const env = { CLAUDE_CODE_SUBAGENT_MODEL: 'mine' }
    const home = aHome({ '.claude/settings.json': JSON.stringify({ env }) })
    await setUp(home, 'claude-gpt', gateway)
    change(home)
    await setUp(home, 'claude', gateway)
    expect(settingsOf(home).env).not.toHaveProperty('CLAUDE_CODE_SUBAGENT_MODEL')
  })

  test.each([
    ['settings that are an array', '[]', 'claude-settings-skipped'],
    ['an env that is a string', '{"env":"x"}', 'config-conflict'],
    ['duplicate keys on our path', '{"env":{},"env":{}}', 'config-conflict'],
    ['trailing garbage', '{} x', 'claude-settings-skipped'],
    ['a truncated file', '{"env":', 'claude-settings-skipped'],
  ])('a setup refuses %s, names the place and writes nothing', async (_, text, code) => {
    const home = aHome({ '.claude/settings.json': text })
    const result = await trySetUp(home, 'claude', gateway)
    expect(result.json).toMatchObject({ error: { code, filesChanged: false } })
    expect(result.status).toBe(8)
    expect(home.text('.claude/settings.json')).toBe(text)
  })

  test('a setup of a slot whose tier is not in the catalog has status 5', async () => {
    const models = builtInCatalog.filter(({ id }) => !id.includes('haiku'))
    const poor = await withGateway({ key: canary, models }, onTestFinished)
    const result = await trySetUp(aHome(), 'claude --slot haiku', poor)
    expect(result.json).toMatchObject({ error: { code: 'model-unknown' } })
    expect(result.status).toBe(5)
  })
})

describe('repoint opencode', () => {
  test('a setup writes config and key, and keeps comments and other logins', async () => {
    const home = aHome({
      '.config/opencode/opencode.jsonc': '{\n  // mine\n  "share": "disabled", // never\n}\n',
      '.local/share/opencode/auth.json': '{"anthropic":{"type":"oauth","refresh":"r"}}',
    })
    expect((await setUp(home, 'opencode', gateway)).status).toBe(0)
    const config = home.text('.config/opencode/opencode.jsonc')
    expect(config).toContain('// mine\n')
    expect(config).toContain('// never\n')
    expect(config).not.toContain(canary)
    expect(JSON.parse(home.text('.local/share/opencode/auth.json'))).toEqual({
      anthropic: { type: 'oauth', refresh: 'r' },
      gateway: { type: 'api', key: canary },
    })
  })

  test.each([
    ['renamed to another name that opencode reads', 'opencode.jsonc'],
    ['renamed to a third name that opencode reads', 'config.json'],
    ['deleted', undefined],
  ])(
    'rollback keeps the key of a config that was %s, as long as opencode reads that config',
    async (_, now) => {
      const auth = '.local/share/opencode/auth.json'
      const home = aHome({ [auth]: '{"anthropic":{"type":"oauth","refresh":"r"}}' })
      const authBefore = home.text(auth)
      await setUp(home, 'opencode', gateway)
      const config = home.at('.config/opencode/opencode.json')
      if (now) renameSync(config, home.at(`.config/opencode/${now}`))
      else rmSync(config)
      const before = home.text(auth)
      await runInProcess(home, ['rollback', '--yes'])
      expect(home.text(auth)).toBe(now ? before : authBefore)
    },
  )

  const auth = '.local/share/opencode/auth.json'
  const older = 'sk-older-0123456789'
  const renamed = ['opencode.jsonc', 'config.json']
  const ways = [[], ['opencode'], ['--original'], ['--original', '--force'], ['--force']]

  test.each(renamed.flatMap((now) => ways.map((flags) => [now, flags] as const)))(
    'if someone renamed the config to %s, rollback %j never restores an older key next to our address',
    async (now, flags) => {
      const home = aHome({ [auth]: `{"gateway":{"type":"api","key":"${older}"}}` })
      expect((await setUp(home, 'opencode', gateway)).status).toBe(0)
      expect(home.text(auth)).toContain(canary)
      renameSync(home.at('.config/opencode/opencode.json'), home.at(`.config/opencode/${now}`))
      const setup = home.snapshot()

      const { status, json } = await runInProcess(home, ['rollback', '--yes', ...flags, '--json'])
      expect(status).not.toBe(0)
      expect(home.snapshot()).toEqual(setup)
      if (flags.includes('--force'))
        expect(json).toMatchObject({ error: { code: 'config-conflict' } })
      else expect(json).toMatchObject({ changed: false, warnings: [{ code: 'rollback-held' }] })

      // The same command goes on with the next run, and still does no harm.
      await runInProcess(home, ['rollback', '--yes', ...flags, '--json'])
      await runInProcess(home, ['rollback', '--yes', '--redo', '--json'])
      expect(home.text(auth)).not.toContain(older)
    },
  )
})

test('rollback undoes one client of a run, then the others', async () => {
  const home = aHome({ '.codex/config.toml': '# mine\n', '.claude/settings.json': '{}\n' })
  const before = home.snapshot()
  for (const client of ['codex', 'claude', 'opencode']) await setUp(home, client, gateway)
  for (const client of ['codex', 'opencode', 'claude'])
    expect((await runInProcess(home, ['rollback', '--yes', client])).status).toBe(0)
  expect(home.snapshot()).toEqual(before)
})

test('repoint codex claude is repoint setup codex claude', async () => {
  const home = aHome()
  const { json } = await setUp(home, 'codex claude', gateway)
  expect(json).toMatchObject({ command: 'setup', changed: true })
  const { json: status } = await runInProcess(home, ['doctor', 'codex', 'claude', '--json'])
  const about = new Set((status as { checks: { about: string }[] }).checks.map((one) => one.about))
  expect([...about]).toEqual(['codex', 'claude'])

  const refused = await trySetUp(home, 'codex claude --model gpt-5.4', gateway)
  expect(refused).toMatchObject({ status: 2, json: { error: { code: 'usage' } } })
})

test.each(['gateways add', 'check', 'models', 'editor', 'copilot', 'run --help'])(
  'repoint %s accepts --yes',
  async (words) => {
    const args = [...words.split(' '), '--base-url', gateway.url, '--yes', '--json']
    const asked = words === 'gateways add' ? ['gateways', 'add', gateway.url, '--yes'] : args
    const { status } = await runInProcess(aHome(), asked, { env: { REPOINT_API_KEY: canary } })
    expect(status).toBe(0)
  },
)

describe('repoint models and editor', () => {
  test('models takes the name of a saved gateway, or an address', async () => {
    const home = aHome()
    await setUp(home, 'claude --name work', gateway)
    for (const word of ['work', gateway.url]) {
      const env = { REPOINT_API_KEY: canary }
      const { status, json } = await runInProcess(home, ['models', word, '--json'], { env })
      expect({ status, json }).toMatchObject({ status: 0, json: { baseUrl: gateway.url } })
    }
    expect((await runInProcess(home, ['models', 'wrok'])).stderr).toContain(
      'Did you mean: repoint models work.',
    )
  })

  test('models and editor ask the gateway of the newest setup, if none is named', async () => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    const asked = await runInProcess(home, ['models'], {})
    expect(asked.status).toBe(0)
    expect(asked.stdout).toContain('gpt-5.6-sol')
    expect(asked.stderr).toContain("Claude Code's gateway")
    expect(asked.stdout + asked.stderr).not.toContain(canary)
    const checked = await runInProcess(home, ['editor', '--json'], {})
    const message = expect.stringContaining(`Cursor cannot reach ${gateway.url}`)
    expect(checked.json).toMatchObject({
      baseUrl: gateway.url,
      warnings: expect.arrayContaining([expect.objectContaining({ message })]),
    })
    expect(JSON.stringify(checked.json)).not.toContain(canary)
  })

  test('models sends the key of a setup to no other address', async () => {
    const home = aHome()
    await setUp(home, 'claude', gateway)
    const named = await runInProcess(home, ['models', '--base-url', 'https://other.example'], {})
    expect(named).toMatchObject({ status: 2 })
    home.replace('.claude/settings.json', gateway.url, 'http://127.0.0.1:9')
    expect(await runInProcess(home, ['models'], {})).toMatchObject({ status: 2 })
  })

  test('models lists the protocols of each model, and the clients that would choose it', async () => {
    const env = { REPOINT_API_KEY: canary }
    const { json } = await runHere(aHome(), ['models', '--base-url', gateway.url], env)
    const models = json['models'] as { id: string }[]
    expect(models.find(({ id }) => id === 'gpt-5.6-sol')).toMatchObject({
      isChat: true,
      speaks: { chat: true, responses: true, messages: true },
      chosenFor: expect.arrayContaining([expect.objectContaining({ use: 'codex' })]),
    })
    expect(models.find(({ id }) => id === 'gpt-image-2')).toMatchObject({ isChat: false })
  })

  test('a short name is marked as an alias, and a setup with it writes the full id', async () => {
    const env = { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
    const { json, stdout } = await runInProcess(aHome(), ['models', '--json'], { env })
    expect(stdout).not.toContain(canary)
    const { models } = json as { models: { id: string; aliasOf: string | null }[] }
    expect(models.filter(({ aliasOf }) => aliasOf !== null)).toMatchObject([
      { id: 'gpt-5.6', aliasOf: 'gpt-5.6-sol' },
    ])
    const lines = (await runInProcess(aHome(), ['models'], { env })).stdout.split('\n')
    expect(lines.find((line) => /^gpt-5\.6 /.test(line))).toContain('alias of gpt-5.6-sol')

    const home = aHome()
    const setup = await runHere(home, ['codex', '--model', 'gpt-5.6', '--yes'], env)
    expect(setup.json).toMatchObject({
      model: 'gpt-5.6-sol',
      warnings: [{ code: 'model-renamed', message: expect.stringContaining('gpt-5.6-sol') }],
    })
    expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.6-sol"')

    // The client sends what its file contains.
    home.replace('.codex/config.toml', '5.6-sol', '5.6')
    gateway.clearRequests()
    expect((await runHere(home, ['doctor', 'codex'], env)).status).toBe(0)
    expect(gateway.requests().map(({ modelAsked }) => modelAsked)).toContain('gpt-5.6')
  })
})

/** An address and key that the user wrote, in the files of each client. */
const byHand = {
  codex: {
    '.codex/config.toml':
      'model_provider = "gateway"\n\n[model_providers.gateway]\nname = "mine"\nbase_url = "https://own.example/v1"\nrequires_openai_auth = true\n',
    '.codex/auth.json': '{"OPENAI_API_KEY": "sk-own-1111111111"}',
  },
  claude: {
    '.claude/settings.json':
      '{"env":{"ANTHROPIC_BASE_URL":"https://own.example","ANTHROPIC_AUTH_TOKEN":"sk-own-1111111111"}}',
  },
  opencode: {
    '.config/opencode/opencode.json':
      '{"model":"gateway/m","provider":{"gateway":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"https://own.example/v1"}}}}',
    '.local/share/opencode/auth.json': '{"gateway":{"type":"api","key":"sk-own-1111111111"}}',
  },
} as const

describe.each(['codex', 'claude', 'opencode'] as const)('%s, configured by hand', (client) => {
  const model = client === 'claude' ? [] : ['--model', 'gpt-5.6-sol']

  test('for the gateway of the setup with another key: rollback restores the old key', async () => {
    const home = aHome(byHand[client])
    const before = home.snapshot()
    const args = [client, '--base-url', 'https://own.example', '--no-verify', '--yes', ...model]
    expect((await runInProcess(home, args, { env: { REPOINT_API_KEY: canary } })).status).toBe(0)
    const written = home.snapshot()
    for (const [way, expected] of [
      [[], before],
      [['--redo'], written],
      [[], before],
    ] as const) {
      expect((await runInProcess(home, ['rollback', '--yes', ...way])).status).toBe(0)
      expect(home.snapshot()).toEqual(expected)
    }
  })

  test('then repaired by doctor, then set up: rollback restores what doctor repaired', async () => {
    const home = aHome(byHand[client])
    const key = Object.keys(byHand[client]).at(-1)!
    chmodSync(home.at(key), 0o644)
    await runInProcess(home, ['doctor', '--fix', '--no-verify'])
    home.replace(key, 'sk-own-1', 'sk-new-1')
    const before = home.snapshot()
    expect((await setUp(home, [client], gateway)).status).toBe(0)
    expect((await runInProcess(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})
