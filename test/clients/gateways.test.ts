import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import { familyRows, loadClients } from '../../src/clients/list.ts'
import type { Gateway } from '../../src/serve/index.ts'
import { type CliResult, runCli } from '../support/cli.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { claudeVersions, installedClient, installedVersions, putInBin } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'
import { runClient } from './support/run-client.ts'

/** The real clients and two gateways with different keys and catalogs. */

const keys = { one: 'sk-real-one-4f7a1c9e2b8d6035', two: 'sk-real-two-9e2b8d60354f7a1c' }

const one = await withGateway({ key: keys.one })
const entries = fixtureCatalog.filter(({ id }) => /^(gpt-5\.6-sol|gpt-5\.4|claude)/.test(id))
const models = entries.map((entry) => ({ ...entry, id: entry.id.replace('5.6-sol', '5.5-sol') }))
const two = await withGateway({ key: keys.two, models })
beforeEach(() => {
  one.clearRequests()
  two.clearRequests()
})

const newest = claudeVersions.at(-1)!

interface RealClient {
  readonly files: readonly string[]
  readonly run: (prompt: string) => readonly string[]
}

/** The programs that `repoint run` configures. */
const programs = (await loadClients(familyRows))
  .filter(({ program }) => program.command in installedVersions)
  .map(({ program }) => program.command)

/** A home with these clients in its PATH, all set up for `one`, in which `two` is saved. */
async function aHomeBetween(...clients: readonly string[]): Promise<Home> {
  const home = aHome()
  for (const program of clients) putInBin(home, program, installedClient(program))
  await repoint(home, [clients[0]!, '--name', 'two', '--base-url', two.url], keys.two)
  for (const client of clients)
    await repoint(home, [client, '--name', 'one', '--base-url', one.url], keys.one)
  one.clearRequests()
  two.clearRequests()
  return home
}

async function repoint(home: Home, args: readonly string[], key = ''): Promise<void> {
  const result = await runCli(home, [...args, '--yes', '--json'], { env: { REPOINT_API_KEY: key } })
  expect([result.status, result.stdout]).toEqual([0, expect.stringContaining('"changed":true')])
}

function run(home: Home, name: string, program: string, ...args: string[]): Promise<CliResult> {
  const env = { ...clientEnv(home), ...clients[program].env }
  return runCli(home, ['run', name, '--', program, ...args], { env, timeoutMs: 150_000 })
}

function clientEnv(home: Home): Record<string, string> {
  return {
    PATH: `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    CLAUDE_CODE_MAX_RETRIES: '0',
  }
}

/** No gateway received another key than its own. */
function expectNoStrayKey(): void {
  for (const { key, keyMatches } of [...one.requests(), ...two.requests()])
    expect(key === '' || keyMatches).toBe(true)
}

test.each(programs)(
  '%s run: one process uses the other gateway, and no file changes',
  async (program) => {
    const home = await aHomeBetween(program)
    const { files, run: wordsFor } = clients[program] as RealClient
    const texts = () => files.map((name) => home.text(name).replace(/^\[tui[\s\S]*/m, ''))
    const before = texts()

    const there = await run(home, 'two', program, ...wordsFor('ping'))
    expect(there).toMatchObject({ stdout: expect.stringContaining('pong') })
    expect(there.status).toBe(0)
    expect(texts()).toEqual(before)
    expect(inferences(two.requests()).length).toBeGreaterThan(0)
    expect(one.requests()).toEqual([])

    expectNoStrayKey()
  },
)

test('use and rollback: all three clients change to the other gateway and back, and no gateway gets the key of the other', {
  timeout: 300_000,
}, async () => {
  const home = await aHomeBetween('codex', 'claude', 'opencode')
  const answers = async (gateway: Gateway) => {
    gateway.clearRequests()
    const answer = await Promise.all(
      (['codex', `claude ${newest}`, 'opencode'] as const).map((runner) =>
        prompt(runner, { home: home.path, timeoutMs: 150_000 }),
      ),
    )
    expect(answer.map(({ hasAnswered }) => hasAnswered)).toEqual([true, true, true])
    const asked = new Set(inferences(gateway.requests()).map(({ protocol }) => protocol))
    expect([...asked].sort()).toEqual(['messages', 'responses'])
  }

  await repoint(home, ['use', 'two'])
  one.clearRequests()
  await answers(two)
  expect(one.requests()).toEqual([])
  two.clearRequests()
  await repoint(home, ['rollback', '--yes'])
  await answers(one)
  expect(two.requests()).toEqual([])
  expectNoStrayKey()
})

/** A second provider does not change the first one, whose key and conversations stay there. */
const second = ['--provider-id', 'second']

test.each([
  ['claude', [], 'two'],
  ['pi', [], 'two'],
  ['pi', second, 'one'],
] as const)(
  '%s: after a setup at the other gateway %j, the last conversation continues at %s, with its key',
  {
    timeout: 400_000,
  },
  async (program, flags, place) => {
    const home = aHome()
    const run = { home: home.path, prompt: 'ping', timeoutMs: 150_000 }
    await repoint(home, [program, '--base-url', one.url], keys.one)
    await runClient(program, undefined, run)
    await repoint(home, [program, '--base-url', two.url, ...flags], keys.two)
    one.clearRequests()
    two.clearRequests()

    const { stdout } = await runClient(program, undefined, { ...run, args: ['-c'] })
    expect(stdout).toContain('pong')
    const [asked, silent] = place === 'one' ? [one, two] : [two, one]
    expect(inferences(asked.requests()).length).toBeGreaterThan(0)
    expect(silent.requests()).toEqual([])
    expectNoStrayKey()
  },
)

/** Links in the format of the gateways' pages: New API's cc-switch-dialog.tsx, sub2api's ccswitchImport.ts (2026-11-23). */
const links: readonly [string, string, string, Readonly<Record<string, string>>][] = [
  ['New API', 'codex', '/v1', { name: 'My Codex', model: 'gpt-5.6-sol', enabled: 'true' }],
  [
    'New API',
    'claude',
    '',
    { name: 'My Claude', model: 'claude-sonnet-5-5', haikuModel: 'claude-haiku-5-5' },
  ],
  [
    'sub2api',
    'codex',
    '',
    {
      model: 'gpt-6-astra',
      name: 'sub2api',
      configFormat: 'json',
      usageEnabled: 'true',
      usageScript: btoa('({ request: { url: "{{baseUrl}}/v1/usage" } })'),
      usageAutoInterval: '30',
    },
  ],
]

test.each(links)('a link of %s sets up %s, which then answers', async (_, app, path, more) => {
  const [entry] = fixtureCatalog.filter(({ id }) => id === 'gpt-5.6-sol')
  const models = [...fixtureCatalog, { ...entry!, id: 'gpt-6-astra' }]
  const gateway = await withGateway({ key: keys.one, models }, onTestFinished)
  const fields = { resource: 'provider', app, endpoint: gateway.url + path, apiKey: keys.one }
  const query = new URLSearchParams({ ...fields, homepage: gateway.url, ...more })

  const home = aHome()
  await repoint(home, ['setup'], `ccswitch://v1/import?${query}`)
  gateway.clearRequests()
  const { hasAnswered } = await prompt(app, { home: home.path, timeoutMs: 150_000 })
  expect(hasAnswered).toBe(true)
  expect(inferences(gateway.requests()).map(({ modelAsked }) => modelAsked)).toContain(
    more['model'],
  )
})

test('codex, typed in a folder of repoint folder, uses the gateway of that folder', async () => {
  const home = await aHomeBetween('codex')
  mkdirSync(home.at('proj'))
  expect((await runCli(home, ['folder', 'two'], { cwd: home.at('proj') })).status).toBe(0)
  const { stdout: hook } = await runCli(home, ['completion', 'bash', '--hook'])
  home.put('hook', hook)
  putInBin(home, 'repoint', [process.execPath, resolve('bin/repoint.js')], true)
  const words = (clients['codex'] as RealClient).run('ping').map((word) => `'${word}'`)
  const typed = `. ~/hook; cd ~/proj; codex ${words.join(' ')}`

  const env = { ...clientEnv(home), ...clients['codex'].env, HOME: home.path }
  const { stdout } = await promisify(execFile)('bash', ['-c', typed], { env, timeout: 150_000 })
  expect(stdout).toContain('pong')
  expect(inferences(two.requests()).length).toBeGreaterThan(0)
  expect(one.requests()).toEqual([])
  expectNoStrayKey()
})
