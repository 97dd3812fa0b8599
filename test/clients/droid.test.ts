import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient } from './support/install.ts'
import { inferences } from './support/prompt.ts'

const key = 'sk-real-droid-9d21c4e7b80f3a56'

// Without FACTORY_AIRGAP_ENABLED, as users run it and unlike in other tests. Then droid chooses no model by itself.
test('droid starts with the model of the setup, even if the list has another one of the user before it', async () => {
  const gateway = await startGateway({ families: 'rewritten', key, models: fixtureCatalog })
  const other = await withGateway({}, onTestFinished)
  const mine = {
    model: 'gpt-5.4',
    id: 'mine',
    baseUrl: `${other.url}/v1`,
    apiKey: other.key,
    provider: 'generic-chat-completion-api',
  }
  const home = aHome({
    '.factory/settings.json': JSON.stringify({ customModels: [mine] }),
    'work/.keep': '',
  })
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  expect((await runCli(home, ['droid', '--yes', '--json'], { env })).status).toBe(0)

  const [program, ...first] = installedClient('droid')
  const answer = await execa(program, [...first, 'exec', 'ping'], {
    env: { PATH: process.env['PATH'], HOME: home.path, TERM: 'dumb' },
    extendEnv: false,
    cwd: home.at('work'),
    stdin: 'ignore',
    timeout: 150_000,
    reject: false,
  })
  expect(answer.stdout).toContain('pong')
  expect(inferences(gateway.requests()).length).toBeGreaterThan(0)
  expect(inferences(other.requests())).toEqual([])
  await gateway.close()
})
