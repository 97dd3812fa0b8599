import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-92a3b47f3a9b2c4d5e6f7081'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ port: 0, key: canary })
})
afterAll(() => gateway.close())

/** A file of a project that sends the client, and the key, to `url`. */
const projects = [
  ['claude', '.claude/settings.json', (url: string) => ({ env: { ANTHROPIC_BASE_URL: url } })],
  [
    'opencode',
    'opencode.json',
    (url: string) => ({ provider: { gateway: { options: { baseURL: `${url}/v1` } } } }),
  ],
] as const

function aProject(name: string, content: unknown) {
  const home = aHome({ [`shop/${name}`]: JSON.stringify(content) })
  mkdirSync(home.at('shop'), { recursive: true })
  const env = { REPOINT_API_KEY: canary, REPOINT_BASE_URL: gateway.url }
  return { home, env, cwd: home.at('shop') }
}

test.each(projects)(
  '%s: a project that leads it elsewhere is no setup that a script may take for one',
  async (client, name, content) => {
    const { home, env, cwd } = aProject(name, content('https://elsewhere.example'))
    const before = home.snapshot()
    for (const flags of [['--yes'], ['--yes', '--dry-run']]) {
      const { json, status } = await runInProcess(home, [client, '--json', ...flags], { env, cwd })
      expect(status).toBe(8)
      expect(json).toMatchObject({
        changed: false,
        error: {
          code: 'config-conflict',
          message: expect.stringContaining('https://elsewhere.example'),
          hint: expect.stringContaining('another folder'),
        },
      })
      expect(home.snapshot()).toEqual(before)
    }

    const elsewhere = await runInProcess(home, [client, '--yes'], { env, cwd: home.path })
    expect(elsewhere.status).toBe(0)
    expect((await runInProcess(home, ['doctor', client, '--no-verify'], { cwd })).status).toBe(8)
  },
)

test.each(projects)(
  '%s: a project that leads to the same gateway is none',
  async (client, name, content) => {
    const { home, env, cwd } = aProject(name, content(gateway.url))
    expect((await runInProcess(home, [client, '--yes'], { env, cwd })).status).toBe(0)
  },
)

test('on a terminal it is asked, and Enter alone says no', async () => {
  const [client, name, content] = projects[0]
  const { home, env, cwd } = aProject(name, content('https://elsewhere.example'))
  const run = runOnTerminal(home, [client, '--base-url', gateway.url], { env, cwd })
  await run.shows('takes your key to https://elsewhere.example')
  await run.shows('Apply this, with what is marked "!"?')
  run.type(keys.enter)
  await run.ended
  expect(run.screen()).toContain('Nothing was changed.')
})
