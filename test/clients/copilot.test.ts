import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { installPackages, modulesOf } from '../../scripts/install.js'
import { startGateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { inferences } from './support/prompt.ts'

/** GitHub Copilot CLI, which is told by its environment alone. */

const key = 'sk-real-copilot-4f7a1c9e2b8d6035'
const version = '1.0.102'
const system = `${process.platform}-${process.arch}`

test('copilot: by `run` it asks the gateway and calls a tool, whatever token its terminal had for another', {
  timeout: 120_000,
}, async () => {
  installPackages('copilot', { copilot: `npm:@github/copilot-${system}@${version}` })
  const gateway = await startGateway({ key })
  const home = aHome({
    'bin/copilot': `#!/bin/sh\nexec '${modulesOf('copilot')}/copilot/copilot' "$@" </dev/null\n`,
  })
  chmodSync(home.at('bin/copilot'), 0o755)
  const env = {
    PATH: `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    TERM: 'dumb',
    COPILOT_PROVIDER_BEARER_TOKEN: 'sk-of-another',
  }
  const told = await runCli(home, ['copilot', '--base-url', gateway.url, '--name', 'work'], {
    env: { ...env, REPOINT_API_KEY: key },
  })
  expect({ status: told.status, text: told.stdout }).toMatchObject({ status: 0 })
  expect(told.stdout + told.stderr).not.toContain(key)

  gateway.clearRequests()
  const offline = { env: { ...env, COPILOT_OFFLINE: 'true' }, timeoutMs: 90_000 }
  const copilot = (...args: string[]) =>
    runCli(home, ['run', 'work', '--', 'copilot', ...args], offline)
  const said = await copilot('-p', 'ping')
  expect(said.status).toBe(0)
  expect(said.stdout).toContain('gpt-5.6-sol on the local gateway')
  const asked = inferences(gateway.requests())
  expect(asked.map(({ protocol, status, keyMatches }) => [protocol, status, keyMatches])).toEqual([
    ['responses', 200, true],
  ])

  const input = { command: 'printf "%s-%s" river stone', description: 'Says it' }
  const prompt = `#call bash ${JSON.stringify(input)}`
  const called = await copilot('-p', prompt, '--allow-all-tools')
  expect(called.stdout).toContain('river-stone')

  const alone = await execa(home.at('bin/copilot'), ['-p', 'ping'], {
    env: { ...offline.env, HOME: home.path, COPILOT_PROVIDER_BEARER_TOKEN: undefined },
    extendEnv: false,
    reject: false,
    timeout: 60_000,
  })
  expect(alone.exitCode).not.toBe(0)
  expect(alone.stdout).not.toContain('pong')
  await gateway.close()
})
