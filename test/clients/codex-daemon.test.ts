import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { fixtureCatalog } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { endServers, openCodex, serverPidFile } from './support/codex-tui.ts'
import { inferences } from './support/prompt.ts'

/** Codex's terminal UI leaves a server running, which keeps the key with which it started. */

const oldKey = 'sk-old-gateway-1f2e3d4c5b6a7988'
const newKey = 'sk-new-gateway-8a7b6c5d4e3f2011'

let home: Home
afterEach(() => endServers(home))

async function repoint(at: Home, gateway: Gateway, key: string, ...args: string[]) {
  const result = await runCli(at, [...args, '--json'], {
    env: { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url },
  })
  return result.json as {
    readonly changed?: boolean
    readonly next?: readonly string[]
    readonly checks?: readonly { readonly id: string; readonly result: string }[]
  }
}

/** Lets the terminal UI answer `ping`; returns whether the key that it sent was the gateway's own. */
async function askInTui(at: Home, gateway: Gateway): Promise<boolean> {
  gateway.clearRequests()
  const tui = await openCodex(at.path, at.at('work'))
  await tui.ask('ping', () => inferences(gateway.requests()).length > 0)
  await tui.quit()
  return inferences(gateway.requests()).every(({ keyMatches }) => keyMatches)
}

test('Codex sends the old key to the new gateway, until repoint stops the server', async () => {
  const [first, second] = [
    await startGateway({ families: 'rewritten', key: oldKey, models: fixtureCatalog }),
    await startGateway({ families: 'rewritten', key: newKey, models: fixtureCatalog }),
  ]
  home = aHome({ 'work/.git/HEAD': 'ref: refs/heads/main\n' })
  home.put('.codex/config.toml', `[projects."${home.at('work')}"]\ntrust_level = "trusted"\n`)
  await repoint(home, first, oldKey, 'codex', '--yes')
  expect(await askInTui(home, first)).toBe(true)
  expect(existsSync(home.at(serverPidFile))).toBe(true)
  // The server started with the key of the setup.
  const healthy = await repoint(home, first, oldKey, 'doctor', 'codex', '--no-verify')
  expect(healthy.checks).not.toContainEqual(expect.objectContaining({ id: 'codex-server' }))

  // Written by hand, as by a tool that does not know the server.
  const config = home.text('.codex/config.toml')
  home.put('.codex/config.toml', config.replaceAll(first.url, second.url))
  home.put('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY: newKey }))
  expect(await askInTui(home, second)).toBe(false)
  const { checks } = await repoint(home, second, newKey, 'doctor', 'codex', '--no-verify')
  expect(checks).toContainEqual(expect.objectContaining({ id: 'codex-server', result: 'warning' }))

  home.put('.codex/config.toml', config)
  const done = await repoint(home, second, newKey, 'codex', '--yes')
  expect(done).toMatchObject({ changed: true })
  expect(existsSync(home.at(serverPidFile))).toBe(false)
  expect(await askInTui(home, second)).toBe(true)
  await Promise.all([first.close(), second.close()])
})
