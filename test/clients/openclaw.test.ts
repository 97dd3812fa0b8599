import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { clientFixtures, readHome } from '../support/fixtures.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient } from './support/install.ts'
import { inferences, prompt } from './support/prompt.ts'

/** The facts on which our reading and writing of openclaw.json depends. A start takes 10 s. */

const key = 'sk-real-openclaw-5d02c7e19a84b36f'
const path = '.openclaw/openclaw.json'

/** Runs any command of the real program. */
function openclaw(version: string | undefined, home: string, args: readonly string[], input = '') {
  const [program, ...first] = installedClient('openclaw', version)
  const env = { PATH: '/usr/bin:/bin', HOME: home, TERM: 'dumb', LANG: 'C.UTF-8' }
  const options = { env, extendEnv: false, cwd: home, reject: false, timeout: 150_000 } as const
  return execa(program, [...first, ...args], { ...options, input })
}

/** test/clients/versions.test.ts sets up and runs the oldest version too. */
describe.concurrent.each(['2026.9.6'])('OpenClaw %s', (version) => {
  const folder = join(clientFixtures, 'openclaw')
  // Only the largest files, and each protocol, because a start costs 15 s of processor time.
  test.for(['everything-in-the-way', 'messages'])(
    'accepts the file that a setup writes for %s',
    async (name, { onTestFinished }) => {
      const home = aHome(readHome(join(folder, name, 'after')), onTestFinished)
      const { exitCode, stdout } = await openclaw(version, home.path, ['config', 'validate'])
      expect(stdout).toContain('Config valid')
      expect(exitCode).toBe(0)
    },
  )

  test.for([
    ['an empty file', ''],
    ['a model without a name', "{models:{providers:{a:{baseUrl:'b',models:[{id:'c'}]}}}}"],
    ['a provider without models', "{models:{providers:{a:{baseUrl:'b'}}}}"],
  ] as const)('does not start with %s', async ([, content], { onTestFinished }) => {
    const home = aHome({ [path]: content }, onTestFinished)
    expect((await openclaw(version, home.path, ['config', 'validate'])).exitCode).toBe(1)
  })

  test('sends the key of a setup, and not the login in its database', async ({
    onTestFinished,
  }) => {
    const gateway = await withGateway({ key }, onTestFinished)
    const provider = `{baseUrl:'${gateway.url}/v1',api:'openai-completions',models:[]}`
    const home = aHome({ [path]: `{models:{providers:{gateway:${provider}}}}` }, onTestFinished)
    const paste = ['models', 'auth', 'paste-api-key', '--provider', 'gateway']
    await openclaw(version, home.path, paste, 'sk-of-the-database-1234\n')
    expect(home.text(path)).toContain('gateway:manual')

    const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
    expect((await runCli(home, ['openclaw', '--yes'], { env })).status).toBe(0)
    gateway.clearRequests()
    const { text } = await prompt(`openclaw ${version}`, { home: home.path })
    expect(text).toBe('pong')
    expect(inferences(gateway.requests()).map(({ status }) => status)).toEqual([200])
  })
})
