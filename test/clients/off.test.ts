import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { inferences, prompt } from './support/prompt.ts'

/** A gateway that someone wrote into a client's files by hand. After `off`, it gets no more requests. */

const key = 'sk-real-clients-off-5b2e8d7f1c9a'

const gateway = await withGateway({ key })

const handWritten: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  codex: (url) => ({
    '.codex/config.toml': `# Mine.
model = "gpt-5.6-sol"
model_provider = "packy"
approval_policy = "never"

[model_providers.packy]
name = "Packy"
base_url = "${url}/v1"
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`,
    '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: key }),
  }),
  'claude 2.1.330': (url) => ({
    '.claude/settings.json': JSON.stringify({
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key },
      model: 'sonnet',
      permissions: { deny: [] },
    }),
  }),
  opencode: (url) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'packy/gpt-5.6-sol',
      provider: {
        packy: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: key },
          models: { 'gpt-5.6-sol': {} },
        },
      },
    }),
  }),
}

/** Runs a client once and returns its requests. A client that must answer gets the usual time. */
async function ask(home: Home, runner: string, run: { readonly timeoutMs?: number } = {}) {
  gateway.clearRequests()
  const { hasAnswered } = await prompt(runner, { home: home.path, ...run })
  return { hasAnswered, count: inferences(gateway.requests()).length, all: gateway.requests() }
}

test.each(Object.entries(handWritten))('%s', async (runner, filesFor) => {
  const home = aHome(filesFor(gateway.url))
  const before = await ask(home, runner)
  expect(before.hasAnswered).toBe(true)
  expect(before.count).toBeGreaterThan(0)
  const files = textsOf(home, runner)

  const off = await runCli(home, ['off', '--yes', '--json'])
  expect(off.stdout + off.stderr).not.toContain(key)
  expect({ status: off.status, json: off.json }).toMatchObject({
    status: 0,
    json: { changed: true },
  })

  const after = await ask(home, runner, { timeoutMs: 20_000 })
  expect(after.hasAnswered).toBe(false)
  expect(after.all).toEqual([])

  await runCli(home, ['rollback', '--yes'])
  expect(textsOf(home, runner)).toEqual(files)
})

function textsOf(home: Home, runner: string) {
  return Object.keys(handWritten[runner]!('')).map((name) => home.text(name))
}
