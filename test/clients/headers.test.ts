import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { type Demands, startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { claudeVersions } from './support/install.ts'
import { prompt } from './support/prompt.ts'

/** The real clients at gateways that require headers, or the key in an unusual header. */

const key = 'sk-real-key-4f7a1c9e2b8d6035'
const secret = 'pk-real-header-9e2b8d60354f7a1c'
const headers = { 'x-portkey-provider': 'openai', 'x-portkey-api-key': secret }
const asked = ['--header', 'x-portkey-provider: openai', '--header', 'x-portkey-api-key: $PK']

const gateway = await withGateway({ key: 'sk-inner-4f7a1c9e2b8d6035' })

const newest = `claude ${claudeVersions.at(-1)!}`
const cases: readonly [string, Omit<Demands, 'key'>, readonly string[], readonly string[]][] = [
  ['headers', { headers }, asked, ['codex', newest, 'opencode']],
  ['the key as x-api-key', { keyHeader: 'x-api-key' }, [], ['codex', newest, 'opencode']],
]

test.each(cases)('%s: the clients answer after a setup', async (_, demands, args, runners) => {
  const home = aHome()
  const front = await startFront(gateway, { key, ...demands })
  onTestFinished(() => front.close())
  const clients = runners.map((runner) => runner.split(' ')[0]!)
  const env = { REPOINT_API_KEY: key, PK: secret }
  const setup = ['setup', ...clients, '--base-url', front.url, '--yes', '--json', ...args]
  const { status, stdout } = await runCli(home, setup, { env })
  expect([status, stdout]).toEqual([0, expect.stringContaining('"changed":true')])
  expect(stdout).not.toMatch(/sk-real|pk-real/)

  const answer = await Promise.all(runners.map((runner) => prompt(runner, { home: home.path })))
  expect(answer).toEqual(
    runners.map(() => expect.objectContaining({ hasAnswered: true, text: 'pong' })),
  )
})
