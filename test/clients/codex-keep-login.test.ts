import { existsSync } from 'node:fs'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { endServers, openCodex, serverPidFile } from './support/codex-tui.ts'
import { installedClient, installedVersions, putInBin } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'
import { runCommand } from './support/run-client.ts'
import { startWitness, type Witness } from './support/witness.ts'

/**
 * With `--keep-login`, Codex keeps its ChatGPT login, and sends the gateway only the key of a file of its own. The
 * witness stands for OpenAI, where the login may go.
 */

const key = 'sk-canary-8a7b6c5d4e3f20110f2e'
const newest = installedVersions['codex']!.at(-1)!
const hosts = ['chatgpt.com', 'api.openai.com', 'auth.openai.com', 'ab.chatgpt.com']

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = [
  part({ alg: 'none' }),
  part({
    email: 'ada@example.com',
    exp: 4_102_444_800,
    'https://api.openai.com/auth': { chatgpt_plan_type: 'plus', chatgpt_account_id: 'account-1' },
  }),
  part({ signature: 'forged' }),
].join('.')

/** A login that is so new that Codex does not renew it. */
function aLogin(): string {
  const tokens = {
    id_token: token,
    access_token: token,
    refresh_token: 'r',
    account_id: 'account-1',
  }
  const login = { auth_mode: 'chatgpt', OPENAI_API_KEY: null, tokens }
  return JSON.stringify({ ...login, last_refresh: new Date().toISOString() }, null, 2)
}

let home: Home
afterEach(() => endServers(home))

interface World {
  readonly gateway: Gateway
  readonly witness: Witness
  readonly login: string
}

async function aWorld(): Promise<World> {
  const login = aLogin()
  home = aHome({ '.codex/auth.json': login, 'work/.git/HEAD': 'ref: refs/heads/main\n' })
  const witness = await startWitness(home, hosts)
  onTestFinished(() => witness.close())
  return { gateway: await withGateway({ key }, onTestFinished), witness, login }
}

async function repoint(
  gateway: Gateway,
  line: string,
  { version = newest, ...env }: Record<string, string> = {},
) {
  putInBin(home, 'codex', installedClient('codex', version), true)
  return runCli(home, [...line.split(' '), '--json'], {
    env: {
      REPOINT_API_KEY: key,
      REPOINT_BASE_URL: gateway.url,
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
      ...env,
    },
  })
}

function expectOnlyKey({ gateway, login }: World): void {
  const requests = gateway.requests()
  expect(inferences(requests).length).toBeGreaterThan(0)
  expect(requests.filter(({ keyMatches }) => !keyMatches)).toEqual([])
  expect(JSON.stringify(requests)).not.toContain(token)
  expect(home.text('.codex/auth.json')).toBe(login)
}

describe.each(['0.149.1', newest])('Codex %s', (version) => {
  test('completes a loop with the key of the gateway, and its login stays', async () => {
    const world = await aWorld()
    const { gateway, witness } = world
    const setup = await repoint(gateway, 'codex --keep-login --yes --model gpt-5.4', { version })
    expect(setup).toMatchObject({ status: 0 })
    gateway.clearRequests()

    const command = 'printf "%s-%s" river stone'
    const { text, hasAnswered } = await prompt(`codex ${version}`, {
      home: home.path,
      env: witness.env,
      prompt: `#call exec_command ${JSON.stringify({ cmd: command })}`,
    })
    expect(hasAnswered).toBe(true)
    expect(text).toContain('river-stone')
    expect(inferences(gateway.requests())).toHaveLength(2)
    expectOnlyKey(world)
    // The key is for the gateway only.
    expect(JSON.stringify(witness.seen)).not.toContain(key)

    const run = { home: home.path, args: ['login', 'status'], env: witness.env }
    const { stdout, stderr } = await runCommand('codex', version, run)
    expect(stdout + stderr).toContain('Logged in using ChatGPT')
  })
})

test('a Codex that would send its login to the gateway is refused', async () => {
  const world = await aWorld()
  const { gateway, witness, login } = world
  const refused = await repoint(gateway, 'codex --keep-login --yes', { version: '0.105.0' })
  expect(refused).toMatchObject({ status: 8, json: { error: { code: 'client-too-old' } } })
  expect(home.text('.codex/auth.json')).toBe(login)

  // What is refused: the files of a newer version, with this one.
  expect(await repoint(gateway, 'codex --keep-login --yes')).toMatchObject({ status: 0 })
  gateway.clearRequests()
  await prompt('codex 0.105.0', { home: home.path, env: witness.env })
  expect(inferences(gateway.requests()).some(({ keyMatches }) => !keyMatches)).toBe(true)
})

test('the server of its terminal UI keeps an old key, until repoint stops it', async () => {
  const { gateway: first, witness } = await aWorld()
  home.put('.codex/config.toml', `[projects."${home.at('work')}"]\ntrust_level = "trusted"\n`)
  expect(await repoint(first, 'codex --keep-login --yes --model gpt-5.4')).toMatchObject({
    status: 0,
  })
  const sendsRightKey = async (gateway: Gateway) => {
    gateway.clearRequests()
    const tui = await openCodex(home.path, home.at('work'), { env: witness.env })
    await tui.ask('ping', () => inferences(gateway.requests()).length > 0)
    await tui.quit()
    return inferences(gateway.requests()).every(({ keyMatches }) => keyMatches)
  }
  const reported = async () => {
    const { json } = await repoint(first, 'doctor codex --no-verify')
    return (json as { checks: { id: string }[] }).checks.map(({ id }) => id)
  }
  expect(await sendsRightKey(first)).toBe(true)
  expect(existsSync(home.at(serverPidFile))).toBe(true)
  expect(await reported()).not.toContain('codex-server')

  // Written by hand, as by a tool that does not know the server.
  const newKey = 'sk-canary-11223344556677889900'
  const second = await withGateway({ key: newKey }, onTestFinished)
  const config = home.text('.codex/config.toml')
  home.replace('.codex/config.toml', `${first.url}/v1`, `${second.url}/v1`)
  home.put('.codex/repoint-key', `${newKey}\n`, 0o600)
  expect(await sendsRightKey(second)).toBe(false)
  expect(await reported()).toContain('codex-server')

  home.put('.codex/config.toml', config)
  const done = await repoint(second, 'codex --yes', { REPOINT_API_KEY: newKey })
  expect(done).toMatchObject({ status: 0, json: { changed: true } })
  expect(existsSync(home.at(serverPidFile))).toBe(false)
  expect(await sendsRightKey(second)).toBe(true)
})
