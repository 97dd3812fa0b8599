import { cpSync, lstatSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { claudeSettings, codexConfig, opencodeConfig } from './support/hand-written.ts'
import { claudeVersions } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'

/**
 * The main job: repoint sets up a real client, the client works, and rollback restores every byte.
 * test/clients/versions.test.ts shows that the client does not answer without a setup.
 */

const key = 'sk-real-clients-4f7a1c9e2b8d6035'

const gateway = await withGateway({ key })
beforeEach(() => gateway.clearRequests())

async function repoint(home: Home, ...args: string[]): Promise<void> {
  const result = await runCli(home, [...args, '--yes', '--json'], {
    env: { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url },
  })
  expect(result.stdout + result.stderr).not.toContain(key)
  expect({ status: result.status, document: result.json }).toMatchObject({
    status: 0,
    document: { changed: true },
  })
}

/** The bytes, the mode and the kind of each file, or null for a missing file. */
function snapshot(home: Home, names: readonly string[]) {
  return Object.fromEntries(
    names.map((name) => {
      try {
        const { mode } = lstatSync(home.at(name))
        return [name, { mode: mode.toString(8), bytes: readFileSync(home.at(name), 'base64') }]
      } catch {
        return [name, null]
      }
    }),
  )
}

/** The lines of `before` that are missing in `after`, in order. */
function lostLines(before: string, after: string): string[] {
  const left = after.split('\n')
  return before.split('\n').filter((line) => {
    const index = left.indexOf(line)
    if (index >= 0) left.splice(0, index + 1)
    return index < 0
  })
}

describe('Codex', () => {
  const files = ['.codex/config.toml', '.codex/auth.json']

  test('an empty home: completes after a setup, empty again after rollback', async () => {
    const home = aHome({ 'work/.keep': '' })
    const empty = snapshot(home, files)

    await repoint(home, 'codex')
    expect(await prompt('codex', { home: home.path })).toMatchObject({
      text: 'pong',
      hasAnswered: true,
    })
    expect(
      inferences(gateway.requests()).filter(({ client }) => !client?.endsWith(' repoint')),
    ).toMatchObject([
      {
        path: '/v1/responses',
        auth: 'bearer',
        keyMatches: true,
        modelServed: 'gpt-5.6-sol',
        status: 200,
      },
    ])
    await repoint(home, 'rollback')
    expect(snapshot(home, files)).toEqual(empty)
  })

  test.each([
    ['as it is', codexConfig],
    ['with CRLF', codexConfig.replaceAll('\n', '\r\n')],
  ])('a hand-written home, %s', async (_, config) => {
    const home = aHome({
      '.codex/auth.json': '{"auth_mode":"chatgpt","tokens":{"access_token":"a.b.c"}}',
      '.codex/config.toml': config,
      '.codex/AGENTS.md': '# mine\n',
    })
    const watched = [...files, '.codex/AGENTS.md']
    const before = snapshot(home, watched)

    await repoint(home, 'codex', '--model', 'gpt-5.6-terra')
    const after = home.text('.codex/config.toml')
    expect(lostLines(config, after)).toEqual(
      config.split('\n').filter((line) => line.startsWith('model = ')),
    )
    expect(after).toContain('model = "gpt-5.6-terra" # the fast one')

    const answer = await prompt('codex', { home: home.path })
    expect(answer).toMatchObject({ text: 'pong', hasAnswered: true })
    expect(inferences(gateway.requests()).at(-1)).toMatchObject({
      keyMatches: true,
      modelServed: 'gpt-5.6-terra',
    })
    await repoint(home, 'rollback', 'codex')
    expect(snapshot(home, watched)).toEqual(before)
  })
})

describe.each(claudeVersions)('Claude Code %s', (version) => {
  const runner = `claude ${version}` as const
  const file = '.claude/settings.json'

  test('an empty home: completes after a setup, empty again after rollback', async () => {
    const home = aHome()
    await repoint(home, 'claude')
    expect(await prompt(runner, { home: home.path })).toMatchObject({
      text: 'pong',
      hasAnswered: true,
    })
    expect(inferences(gateway.requests()).at(-1)).toMatchObject({
      path: '/v1/messages?beta=true',
      auth: 'bearer',
      keyMatches: true,
      modelServed: version === '2.1.330' ? 'claude-sonnet-5-5' : 'claude-sonnet-5',
    })
    await repoint(home, 'rollback')
    expect(snapshot(home, [file])).toEqual({ [file]: null })
  })

  test('a handwritten home: hooks run, and every other line stays', async () => {
    const home = aHome({ [file]: claudeSettings })
    const before = snapshot(home, [file])
    await repoint(home, 'claude', '--slot', 'haiku')
    // The last line of `env` gets a comma.
    expect(lostLines(claudeSettings, home.text(file))).toEqual([
      '    "MINE": "1"',
      '  "model": "opus",',
    ])

    expect(await prompt(runner, { home: home.path })).toMatchObject({
      text: 'pong',
      hasAnswered: true,
    })
    expect(home.text('hook-was-here')).toBe('yes\n')
    expect(inferences(gateway.requests()).at(-1)).toMatchObject({
      auth: 'bearer',
      keyMatches: true,
      modelServed: version === '2.1.330' ? 'claude-haiku-5-5' : 'claude-haiku-4-5-20251001',
    })
    await repoint(home, 'rollback')
    expect(snapshot(home, [file])).toEqual(before)
  })

  test('claude-gpt: every slot and the subagent request the mapped model', async () => {
    const home = aHome({ [file]: claudeSettings })
    const before = snapshot(home, [file])
    await repoint(home, 'claude-gpt')
    const asked: Record<string, unknown> = {}
    for (const slot of ['opus', 'sonnet', 'haiku', 'fable', undefined]) {
      gateway.clearRequests()
      const args = ['--bare', ...(slot === undefined ? [] : ['--model', slot])]
      const answer = await prompt(runner, { home: home.path, args })
      expect(answer).toMatchObject({ text: 'pong', hasAnswered: true })
      asked[slot ?? 'none'] = inferences(gateway.requests()).map(({ modelAsked }) => modelAsked)
    }
    expect(asked).toEqual({
      opus: ['gpt-5.6-sol'],
      sonnet: ['gpt-5.4'],
      haiku: ['gpt-5.4-mini'],
      fable: ['gpt-5.6-sol'],
      none: ['gpt-5.4'],
    })
    gateway.clearRequests()
    const task = { description: 'Asks', prompt: 'ping', subagent_type: 'general-purpose' }
    await prompt(runner, { home: home.path, prompt: `#call Agent ${JSON.stringify(task)}` })
    expect(inferences(gateway.requests()).map(({ modelAsked }) => modelAsked)).toContain(
      'gpt-5.4-mini',
    )
    await repoint(home, 'rollback')
    expect(snapshot(home, [file])).toEqual(before)
  })
})

describe.each(claudeVersions)('Claude Code %s, further options', (version) => {
  const runner = `claude ${version}` as const

  test('--enable-discovery: Claude Code requests the list of models only with this flag', async () => {
    const home = aHome()
    const listed = async () => {
      gateway.clearRequests()
      expect(await prompt(runner, { home: home.path })).toMatchObject({ text: 'pong' })
      return gateway.requests().some(({ path }) => path.startsWith('/v1/models'))
    }
    await repoint(home, 'claude')
    expect(await listed()).toBe(false)
    await repoint(home, 'claude', '--enable-discovery')
    expect(await listed()).toBe(true)
    await repoint(home, 'claude', '--defaults')
    expect(await listed()).toBe(false)
  })

  test('--no-attribution and --context-window reach the client', async () => {
    const home = aHome()
    const ask = async () => {
      gateway.clearRequests()
      // With JSON output, Claude Code does not print the window.
      const args = ['--output-format', 'text']
      const { stderr } = await prompt(runner, { home: home.path, args })
      const [request] = inferences(gateway.requests())
      return {
        isAttributed: request?.requestBody.includes('x-anthropic-billing-header'),
        guessesWindow: stderr.includes('assumes a context window'),
      }
    }
    await repoint(home, 'claude-gpt')
    // The gateway does not report the window, so it comes from the list of facts about models.
    expect(await ask()).toEqual({ isAttributed: true, guessesWindow: false })
    await repoint(home, 'claude-gpt', '--no-attribution', '--context-window', '200000')
    expect(await ask()).toEqual({ isAttributed: false, guessesWindow: false })
  })
})

/** Homes with every problem that a setup can fix, from the fixtures of the client modules. */
describe('everything in the way at once', () => {
  test.each([
    ['codex', 'codex', ['.codex/config.toml', '.codex/auth.json']],
    ['claude 2.1.330', 'claude', ['.claude/settings.json']],
    ['opencode', 'opencode', ['.config/opencode/opencode.json', '.local/share/opencode/auth.json']],
  ] as const)(
    '%s: one setup removes it, and rollback restores it',
    async (runner, command, files) => {
      const home = aHome()
      const fixture = `test/fixtures/clients/${command}/everything-in-the-way/before`
      cpSync(fixture, home.path, { recursive: true })
      const answer = await prompt(runner, { home: home.path, timeoutMs: 8_000 })
      expect(answer.hasAnswered).toBe(false)
      // The client's own first run may write to them: opencode adds $schema.
      const before = snapshot(home, files)
      await repoint(home, command)
      // Not the requests of the setup: some protocols have another header.
      gateway.clearRequests()
      expect(await prompt(runner, { home: home.path })).toMatchObject({ text: 'pong' })
      const seen = inferences(gateway.requests())
      expect(seen.length).toBeGreaterThan(0)
      expect(seen.every(({ auth, keyMatches }) => auth === 'bearer' && keyMatches)).toBe(true)
      await repoint(home, 'rollback')
      expect(snapshot(home, files)).toEqual(before)
    },
  )
})

describe('opencode', () => {
  const files = ['.config/opencode/opencode.jsonc', '.local/share/opencode/auth.json']

  test('an empty home: completes after a setup, empty again after rollback', async () => {
    const home = aHome()
    await repoint(home, 'opencode')
    const askOnce = async () => {
      gateway.clearRequests()
      expect(await prompt('opencode', { home: home.path })).toMatchObject({
        text: 'pong',
        hasAnswered: true,
      })
      return inferences(gateway.requests()).filter(({ client }) => /opencode/.test(client))
    }
    let asked = await askOnce()
    // opencode does not wait for the conversation's title, and may end before it requests one.
    for (let tries = 1; tries < 3 && asked.length < 2; tries++) asked = await askOnce()
    expect(asked.map(({ path, auth, keyMatches }) => ({ path, auth, keyMatches }))).toEqual(
      Array(2).fill({ path: '/v1/responses', auth: 'bearer', keyMatches: true }),
    )
    expect(asked.map(({ modelServed }) => modelServed).sort()).toEqual([
      'gpt-5.4-mini',
      'gpt-5.6-sol',
    ])
    await repoint(home, 'rollback')
    expect(snapshot(home, ['.config/opencode/opencode.json', files[1]!])).toEqual({
      '.config/opencode/opencode.json': null,
      '.local/share/opencode/auth.json': null,
    })
  })

  test('a handwritten home: comments and other logins stay', async () => {
    const auth = '{ "anthropic": { "type": "api", "key": "sk-mine" } }'
    const home = aHome({ [files[0]!]: opencodeConfig, [files[1]!]: auth })
    const before = snapshot(home, files)
    await repoint(home, 'opencode', '--provider-id', 'work', '--model', 'gpt-5.4')
    expect(lostLines(opencodeConfig, home.text(files[0]!))).toEqual([
      '  "model": "local/llama", // offline',
    ])
    expect(JSON.parse(home.text(files[1]!))).toEqual({
      anthropic: { type: 'api', key: 'sk-mine' },
      work: { type: 'api', key },
    })
    expect(await prompt('opencode', { home: home.path })).toMatchObject({
      text: 'pong',
      hasAnswered: true,
    })
    expect(inferences(gateway.requests()).map(({ modelServed }) => modelServed)).toContain(
      'gpt-5.4',
    )
    await repoint(home, 'rollback')
    expect(snapshot(home, files)).toEqual(before)
  })
})
