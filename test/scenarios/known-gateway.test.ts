import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'

/** Nobody has to name a gateway that repoint knows. */

const keys = { one: 'sk-canary-one-91a2b3c4d5e6f708', two: 'sk-canary-two-08f7e6d5c4b3a291' }
const one = await withGateway({ key: keys.one })
const two = await withGateway({ key: keys.two })

async function ran(home: Home, line: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = await runInProcess(home, line.split(' '), { env })
  for (const key of Object.values(keys)) expect(stdout + stderr).not.toContain(key)
  return { status, text: stdout + stderr }
}

test.each(['codex --yes', 'codex --dry-run', 'setup codex claude --yes', 'codex claude --dry-run'])(
  '%s uses the gateway that the clients have',
  async (line) => {
    const home = aHome()
    await setUp(home, 'claude --name two', two)
    await setUp(home, 'codex --name one', one)
    if (line.includes('claude')) await setUp(home, 'claude --name one', one)
    const { status, text } = await ran(home, line)
    expect({ status, text }).toMatchObject({
      status: 0,
      text: expect.stringContaining(String(one.port)),
    })
    expect(home.text('.codex/config.toml')).toContain(one.url)
  },
)

test('a client that is not set up gets the gateway of the others in the same run', async () => {
  const home = aHome()
  await setUp(home, 'opencode --name two', two)
  await setUp(home, 'codex --name one', one)
  expect(await ran(home, 'setup codex claude --yes')).toMatchObject({ status: 0 })
  expect(home.text('.claude/settings.json')).toContain(one.url)
})

test('without a client that is set up, the only saved gateway is used', async () => {
  const home = aHome()
  await runInProcess(home, ['gateways', 'add', one.url, '--name', 'one'], {
    env: { REPOINT_API_KEY: keys.one },
  })
  expect(await ran(home, 'claude --yes')).toMatchObject({ status: 0 })
  expect(home.text('.claude/settings.json')).toContain(one.url)
})

test.each([
  ['clients at two gateways', 'setup codex claude --yes', {}],
  ['a key in the environment, which may be for another gateway', 'codex --yes', { KEY: keys.two }],
])('%s: repoint does not guess', async (_, line, { KEY }: { KEY?: string }) => {
  const home = aHome()
  await setUp(home, 'claude --name two', two)
  await setUp(home, 'codex --name one', one)
  const env: Record<string, string> = KEY === undefined ? {} : { REPOINT_API_KEY: KEY }
  expect(await ran(home, line, env)).toMatchObject({ status: 2 })
})

test('run -- codex uses the gateway in the files of Codex, or the only saved one', async () => {
  const home = aHome()
  home.put('bin/codex', '#!/bin/sh\necho 9.9.9\n', 0o755)
  const started: (string | undefined)[] = []
  const run = async (words: readonly string[]) => {
    const { status } = await runInProcess(home, ['run', '--no-verify', ...words], {
      env: { PATH: home.at('bin') },
      runInForeground: async (_, args) => {
        started.push(args.find((arg) => arg.includes('base_url=')))
        return { reason: 'exited', exitStatus: 0 }
      },
    })
    return status
  }

  await setUp(home, 'codex --name one', one)
  expect(await run(['--', 'codex'])).toBe(0)
  await setUp(home, 'claude --name two', two)
  expect(await run(['--', 'codex'])).toBe(0)
  expect(started.map((arg) => arg?.includes(one.url))).toEqual([true, true])
  // Not Codex, and two gateways are saved.
  expect(await run(['--', 'other'])).toBe(2)
})
