import { beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { installedClient, installedVersions, putInBin } from './support/install.ts'
import { prompt } from './support/prompt.ts'

/**
 * Codex sends the key of auth.json to `model_catalog_url` in the table of its provider (0.162.1 and
 * newer by default), and does not start with `gateway_oauth` there. `old` records the requests to the
 * former address.
 */

const keys = { one: 'sk-real-one-4f7a1c9e2b8d6035', two: 'sk-real-two-9e2b8d60354f7a1c' }
const config = '.codex/config.toml'

const one = await withGateway({ key: keys.one })
const two = await withGateway({ key: keys.two })
const old = await withGateway({ key: 'sk-real-old-2b8d60354f7a1c9e' })
beforeEach(() => {
  for (const gateway of [one, two, old]) gateway.clearRequests()
})

const newest = installedVersions['codex']!.at(-1)!

async function repoint(home: Home, gateway: Gateway, ...args: string[]) {
  const key = gateway === one ? keys.one : keys.two
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  const result = await runCli(home, [...args, '--json'], { env })
  expect(result).toMatchObject({ status: 0 })
  return result
}

/** A home set up for `one`, in which `two` is saved. */
async function aHomeAtOne(): Promise<Home> {
  const home = aHome()
  await repoint(home, two, 'codex', '--yes', '--name', 'two')
  await repoint(home, one, 'codex', '--yes', '--name', 'one')
  return home
}

function plant(home: Home, line: string): void {
  const table = '[model_providers.gateway]\n'
  expect(home.text(config)).toContain(table)
  home.put(config, home.text(config).replace(table, `${table}${line}\n`))
}

const catalogUrl = () => `model_catalog_url = "${old.url}/v1/models"`

/** Runs Codex: the gateway answers, and the former address gets no request. */
async function expectAnswer(home: Home, gateway: Gateway, version: string): Promise<void> {
  const answer = await prompt(`codex ${version}`, { home: home.path })
  expect(answer).toMatchObject({ hasAnswered: true })
  expectOnly(gateway)
}

function expectOnly(gateway: Gateway): void {
  expect(old.requests()).toEqual([])
  expect(gateway.requests().length).toBeGreaterThan(0)
  expect(gateway.requests().every(({ keyMatches }) => keyMatches)).toBe(true)
}

/** `repoint run two -- codex …` with this version of Codex. */
async function runAtTwo(home: Home, version: string, args: readonly string[]) {
  putInBin(home, 'codex', installedClient('codex', version))
  const env = { PATH: `${home.at('bin')}:${process.env['PATH']}` }
  const exec = ['exec', '--skip-git-repo-check', ...args, 'ping']
  const line = ['run', 'two', '--', 'codex', ...exec]
  const { status, stderr } = await runCli(home, line, { env, timeoutMs: 150_000 })
  expect({ status, stderr }).toMatchObject({ status: 0 })
}

describe.each(['0.162.1', newest])('codex %s', (version) => {
  test('model_catalog_url is removed by a setup, use and doctor --fix', async () => {
    const home = await aHomeAtOne()
    for (const [gateway, ...line] of [
      [one, 'codex', '--yes'],
      [two, 'use', 'two', 'codex', '--yes'],
      [two, 'doctor', 'codex', '--fix', '--no-verify'],
    ] as const) {
      plant(home, catalogUrl())
      await repoint(home, gateway, ...line)
      for (const server of [one, two, old]) server.clearRequests()
      await expectAnswer(home, gateway, version)
    }
  })

  test('without repoint, the address in model_catalog_url gets the key', async () => {
    const home = await aHomeAtOne()
    plant(home, catalogUrl())
    await prompt(`codex ${version}`, { home: home.path })
    const asked = old.requests().filter(({ auth }) => auth === 'bearer')
    expect(asked).not.toEqual([])
  })

  test('a setup takes over the table of another gateway without it', async () => {
    const home = aHome({
      [config]: `model_provider = "gateway"\n\n[model_providers.gateway]\nname = "Old"\nbase_url = "${old.url}/v1"\nwire_api = "responses"\nrequires_openai_auth = true\n${catalogUrl()}\n`,
      '.codex/auth.json': '{"OPENAI_API_KEY":"sk-real-old-2b8d60354f7a1c9e"}',
    })
    await repoint(home, one, 'codex', '--yes')
    await expectAnswer(home, one, version)
  })

  test('repoint run does not use it', async () => {
    const home = await aHomeAtOne()
    plant(home, catalogUrl())
    two.clearRequests()
    await runAtTwo(home, version, [])
    expectOnly(two)
  })

  test('repoint run does not use the one of a profile', async () => {
    const home = await aHomeAtOne()
    home.put('.codex/x.config.toml', `[model_providers.gateway]\n${catalogUrl()}\n`)
    two.clearRequests()
    await runAtTwo(home, version, ['--profile', 'x'])
    expectOnly(two)
  })

  test('a setup disables another table for the same gateway because of it', async () => {
    const home = await aHomeAtOne()
    const table = `[model_providers.mine]\nname = "Mine"\nbase_url = "${one.url}/v1"\nwire_api = "responses"\nrequires_openai_auth = true\n`
    home.put(config, `${home.text(config)}\n${table}${catalogUrl()}\n`)
    await repoint(home, one, 'codex', '--yes')
    const args = ['-c', 'model_provider="mine"']
    const { hasAnswered } = await prompt(`codex ${version}`, { home: home.path, args })
    expect(hasAnswered).toBe(false)
    expect(old.requests()).toEqual([])
    one.clearRequests()
    await expectAnswer(home, one, version)
  })

  test('a setup removes gateway_oauth', async () => {
    const home = await aHomeAtOne()
    const oauth = `gateway_oauth = { authorization_url = "${old.url}/a", token_url = "${old.url}/t", client_id = "x", scopes = [] }`
    plant(home, oauth)
    const { hasAnswered } = await prompt(`codex ${version}`, { home: home.path })
    expect(hasAnswered).toBe(false)

    await repoint(home, one, 'codex', '--yes')
    one.clearRequests()
    await expectAnswer(home, one, version)
  })
})
