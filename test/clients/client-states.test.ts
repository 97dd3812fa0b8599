import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type LoggedRequest, startGateway } from '../../src/serve/index.ts'
import { clientStates, type StateOfClient } from '../support/client-states.ts'
import { fixtureCatalog } from '../support/gateway.ts'
import { Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { claudeVersions } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'

/**
 * The real clients in states of test/support/client-states.ts: those where the table says what the client does, that
 * do not let it retry for minutes, and that test/clients/findings.test.ts does not plant.
 * test/scenarios/client-states.test.ts compares what the commands say.
 */

const key = 'sk-canary-real-states-0f1e2d3c4b5a6978'

const triedStates: Readonly<Record<string, readonly string[]>> = {
  codex: [
    'config.toml broken',
    'config.toml with a wrong type',
    'auth.json with the key, tokens and no mode',
    'auth.json with the key and tokens that Codex does not accept',
    'a variable that removes the key',
    'a project with another provider',
    'a token in the table next to a ChatGPT login, as cc-switch writes it',
    'auth.command',
    'auth.command next to requires_openai_auth',
    'env_key set',
    'env_key not set, next to a token',
    'an Authorization header',
  ],
  claude: [
    'settings.json broken',
    'settings.json with a byte order mark',
    'the token removed',
    'Bedrock in the settings',
    'ANTHROPIC_BASE_URL in the shell',
    'a variable that stops Claude Code',
  ],
  opencode: [
    'opencode.json broken',
    'opencode.json with a byte order mark',
    'auth.json removed',
    'an inline key',
    'the model is not in the list',
    'a project with another address',
    'a project that is broken',
    'a dead proxy that NO_PROXY bypasses',
  ],
}

function rowOf(client: string, name: string): StateOfClient {
  const row = clientStates.find(({ client: id, state }) => id === client && state === name)
  if (row === undefined) throw new Error(`test/support/client-states.ts has no state "${name}"`)
  return row
}

/** Puts a home into this state. Codex then retries nothing, which would take 10 s. */
async function prepare(home: Home, url: string, { client, files, change }: StateOfClient) {
  home.put('work/.keep', '')
  const scene = { home, url, key }
  if (files !== undefined)
    for (const [name, content] of Object.entries(files(scene))) home.put(name, content, 0o600)
  else {
    const model = client === 'claude' ? [] : ['--model', 'gpt-5.6-sol']
    const words = [client, '--no-verify', '--base-url', url, '--yes', ...model]
    const { status } = await runInProcess(home, words, { env: { REPOINT_API_KEY: key } })
    expect(status).toBe(0)
  }
  const config = '.codex/config.toml'
  if (client === 'codex')
    home.put(config, `${home.text(config)}\nrequest_max_retries = 0\nstream_max_retries = 0\n`)
  change?.(scene)
}

function isRight({ auth, keyMatches }: LoggedRequest): boolean {
  return auth === 'bearer' && keyMatches
}

describe.each(Object.entries(triedStates))('%s', (client, names) => {
  const runner = client === 'claude' ? `claude ${claudeVersions.at(-1)}` : client

  test.concurrent.for(names.map((name) => [name, rowOf(client, name)] as const))(
    '%s',
    async ([, row], { onTestFinished, expect }) => {
      const wrongKey = new AbortController()
      const gateway = await startGateway({
        families: 'rewritten',
        key,
        models: fixtureCatalog,
        onRequest: (request) => {
          if (request.protocol !== undefined && !isRight(request)) wrongKey.abort()
        },
      })
      const home = new Home()
      onTestFinished(async () => {
        rmSync(home.path, { recursive: true, force: true, maxRetries: 3 })
        await gateway.close()
      })
      await prepare(home, gateway.url, row)

      gateway.clearRequests()
      const env = Object.entries(row.env ?? {}).map(([name, value]) => [
        name,
        value === 'KEY' ? key : value,
      ])
      const { hasAnswered, text } = await prompt(runner, {
        home: home.path,
        args: client === 'claude' ? ['--bare'] : [],
        timeoutMs: 60_000,
        signal: wrongKey.signal,
        env: Object.fromEntries(env),
        ...(row.cwd === undefined ? {} : { cwd: home.at(row.cwd) }),
      })

      const sent = inferences(gateway.requests())
      const usesGateway = hasAnswered && sent.length > 0 && sent.every(isRight)
      expect(usesGateway, text).toBe(row.effect === 'works')
      if (row.effect === 'does-not-start') expect(sent).toEqual([])
      if (row.effect === 'goes-elsewhere')
        expect(sent.every(isRight) && sent.length > 0).toBe(false)
    },
  )
})
