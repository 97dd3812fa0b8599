import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { fixtureCatalog, replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { textsIn } from '../support/texts.ts'

const canary = 'sk-canary-4b5a69788796a5b4c3d2e1f0'
const newCanary = 'sk-canary-0f1e2d3c4b5a69788796a5b4'

let gateway: Gateway
beforeEach(async () => {
  gateway = await withGateway({ key: canary }, onTestFinished)
})

/** Starts the gateway again at the same address, with another key. */
async function rotateKey() {
  gateway = await replaceGateway(gateway, { key: newCanary })
}

/** All that a setup of any client writes. */
const written = (home: Home) => Object.values(textsIn(home)).join('\n')

const settings = '.claude/settings.json'

describe.each<[string, string, ((home: Home) => void)?]>([
  [
    'another model, provider and window',
    'codex --model gpt-5.4 --provider-id work --context-window 90000',
  ],
  [
    'a model by hand',
    'codex',
    (home) => home.replace('.codex/config.toml', /^model = .*/m, 'model = "gpt-5.6"'),
  ],
  [
    'a GPT model pinned in each slot',
    'claude --opus-model gpt-5.4 --sonnet-model gpt-5.4 --haiku-model gpt-5.4-mini --fable-model gpt-5.4',
  ],
  [
    'discovery and attribution',
    'claude-gpt --enable-discovery --no-attribution --subagent-model gpt-5.6-luna',
  ],
  [
    'a model that is no slot',
    'claude',
    (home) => home.replace(settings, '"model": "sonnet"', '"model": "claude-opus-4-8"'),
  ],
  [
    'a model that is no slot beside a mapping',
    'claude-gpt',
    (home) => home.replace(settings, '"model": "sonnet"', '"model": "gpt-5.6-luna"'),
  ],
  [
    'a label by hand',
    'claude-gpt',
    (home) => home.replace(settings, /(_OPUS_MODEL_NAME": )"[^"]*"/, '$1"the good one"'),
  ],
  [
    'a small model by hand',
    'opencode',
    (home) =>
      home.replace(
        '.config/opencode/opencode.json',
        /("small_model": )"[^"]*"/,
        '$1"gateway/gpt-5.6-luna"',
      ),
  ],
])('a second run with a new key: %s', (_, line, byHand) => {
  const client = line.split(' ')[0]!

  test('changes the key and nothing else', async () => {
    const home = aHome()
    expect((await setUp(home, line, gateway)).status).toBe(0)
    byHand?.(home)
    const before = written(home)

    expect((await setUp(home, client, gateway)).json).toMatchObject({ changed: false })
    await rotateKey()
    expect((await setUp(home, client, gateway)).json).toMatchObject({ changed: true })
    expect(written(home)).toBe(before.replaceAll(canary, newCanary))
    const offline = await setUp(home, `${client} --no-verify`, gateway)
    expect(offline.json).toMatchObject({ changed: false })
  })
})

test.each([
  'codex --model gpt-5.4 --provider-id work',
  'claude-gpt --slot opus --no-attribution --haiku-model gpt-5.6-luna',
])('--defaults chooses by the rules again: %s', async (line) => {
  const client = line.split(' ')[0]!
  const [home, plain] = [aHome(), aHome()]
  await setUp(plain, client, gateway)
  await setUp(home, line, gateway)
  expect(written(home)).not.toBe(written(plain))
  expect((await setUp(home, `${client} --defaults`, gateway)).json).toMatchObject({ changed: true })
  // A replaced table may leave a blank line. The setting that keeps Codex from offering
  // another model may stay: it does no harm.
  const lines = (home: Home) =>
    written(home)
      .replace(/^(?:\[notice\..*|"gpt-.*)$/gm, '')
      .replace(/\n+/g, '\n')
  expect(lines(home)).toBe(lines(plain))
})

test('flags override earlier choices, and all other choices stay', async () => {
  const home = aHome()
  await setUp(
    home,
    'claude --slot opus --model claude-opus-4-8 --haiku-model gpt-5.4-mini',
    gateway,
  )
  await setUp(home, 'claude --model claude-opus-5-5', gateway)
  expect(JSON.parse(home.text(settings))).toMatchObject({
    env: {
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'gpt-5.4-mini',
    },
    model: 'opus',
  })
  await setUp(home, 'claude --slot haiku', gateway)
  expect(JSON.parse(home.text(settings))).toMatchObject({
    env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5-5' },
    model: 'haiku',
  })
})

describe('at another gateway', () => {
  test.each<[string, string, string[]]>([
    ['codex --model gpt-5.4 --provider-id work', '.codex/config.toml', ['"gpt-5.4"', '.work]']],
    [
      'claude-gpt --haiku-model gpt-5.6-luna --enable-discovery',
      settings,
      ['_HAIKU_MODEL": "gpt-5.6-luna"', 'DISCOVERY": "1"'],
    ],
  ])('keeps the choices: %s', async (line, file, expected) => {
    const other = await withGateway({ key: newCanary }, onTestFinished)
    const home = aHome()
    await setUp(home, line, gateway)
    const moved = await setUp(home, line.split(' ')[0]!, other)
    expect(moved.json).toMatchObject({ changed: true })
    expect(moved.text).not.toContain('choice-not-kept')
    for (const part of expected) expect(home.text(file)).toContain(part)
    expect(written(home)).not.toContain(canary)
  })

  test.each<[string, string, string]>([
    ['codex --model gpt-5.4', '.codex/config.toml', 'model = "gpt-5.6-sol"'],
    ['claude-gpt --haiku-model gpt-5.4', settings, '_HAIKU_MODEL": "gpt-5.4-mini"'],
  ])('replaces a missing model by the rules, and reports it: %s', async (line, file, expected) => {
    const models = fixtureCatalog.filter(({ id }) => id !== 'gpt-5.4')
    const other = await withGateway({ key: newCanary, models }, onTestFinished)
    const home = aHome()
    await setUp(home, line, gateway)
    const moved = await setUp(home, line.split(' ')[0]!, other)
    expect(moved.json).toMatchObject({
      changed: true,
      warnings: expect.arrayContaining([
        expect.objectContaining({
          code: 'choice-not-kept',
          message: expect.stringContaining('gpt-5.4'),
        }),
      ]),
    })
    expect(home.text(file)).toContain(expected)
  })
})

test('a model that was in the file before the first setup is not a choice of a setup', async () => {
  const home = aHome({ '.codex/config.toml': 'model = "gpt-5.4"\n' })
  expect((await setUp(home, 'codex', gateway)).json).toMatchObject({ model: 'gpt-5.6-sol' })
  await runHere(home, ['rollback', '--yes'])
  expect((await setUp(home, 'codex', gateway)).json).toMatchObject({ model: 'gpt-5.6-sol' })
})

test.each(['ANTHROPIC_MODEL', 'ANTHROPIC_SMALL_FAST_MODEL', 'ANTHROPIC_DEFAULT_OPUS_MODEL'])(
  'claude: %s in the settings and in the shell has no effect after one setup',
  async (name) => {
    const home = aHome({ '.claude/settings.json': JSON.stringify({ env: { [name]: 'old' } }) })
    const env = { [name]: 'of-the-shell', REPOINT_API_KEY: canary }
    await runHere(home, ['claude', '--base-url', gateway.url, '--yes'], env)
    expect(JSON.parse(home.text('.claude/settings.json')).env[name]).toBe('')
    const { json } = await runHere(home, ['doctor', 'claude', '--no-verify'], env)
    expect(JSON.stringify(json)).not.toContain(name)
  },
)
