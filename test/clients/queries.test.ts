import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import { runCli } from '../support/cli.ts'
import { startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient, putInBin } from './support/install.ts'
import { runClient } from './support/run-client.ts'

/** The real Codex at a gateway that requires a query parameter in every request. */

const key = 'sk-real-key-4f7a1c9e2b8d6035'
const query = { 'api-version': '2026-04-01-preview', region: 'eu:west,1/a~c' }
const asked = 'api-version=2026-04-01-preview&region=eu:west,1/a~c'

const gateway = await withGateway({ key: 'sk-inner-4f7a1c9e2b8d6035' })

test.each(['0.105.0', '0.169.0'])(
  'Codex %s sends the query unchanged with every request, after a setup and in `run`',
  { timeout: 300_000 },
  async (version) => {
    const home = aHome()
    const front = await startFront(gateway, { key, query })
    onTestFinished(() => front.close())
    const env = { REPOINT_API_KEY: key }
    const address = `${front.url}?${asked}`
    const setup = ['codex', '--base-url', address, '--yes', '--json', '--name', 'work']
    const { status, stdout } = await runCli(home, setup, { env })
    expect([status, stdout]).toEqual([0, expect.stringContaining('"changed":true')])

    front.urls.length = 0
    const answer = await runClient('codex', version, { home: home.path, prompt: 'ping' })
    expect(answer.stdout).toContain('pong')
    expectSent(front.urls)

    putInBin(home, 'codex', installedClient('codex', version))
    const run = ['run', 'work', '--no-verify', '--', 'codex', ...clients['codex'].run('ping')]
    const path = `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`
    // Another address in the file, so that only the options of `run` count.
    home.put('.codex/config.toml', '')
    front.urls.length = 0
    const ran = await runCli(home, run, { env: { PATH: path }, timeoutMs: 150_000 })
    expect([ran.stdout, ran.stderr]).toEqual([expect.stringContaining('pong'), expect.anything()])
    expectSent(front.urls)
  },
)

function expectSent(urls: readonly string[]): void {
  expect(urls.some((url) => url.startsWith('/v1/responses?'))).toBe(true)
  for (const url of urls) for (const part of asked.split('&')) expect(url).toContain(part)
}
