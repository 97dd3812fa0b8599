import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { installedClient, installedVersions, putInBin } from './support/install.ts'
import { inferences } from './support/prompt.ts'
import { runClient } from './support/run-client.ts'

/** The catalog that `--catalog` writes for the real Codex, from the table of its newest version. */

const key = 'sk-catalog-8d1f6b3a90c2e745'
const versions = installedVersions['codex']!
const foreign = 'glm-5'
const models = ['gpt-5.6-sol', 'gpt-5.4', foreign]
const refusesLite = {
  status: 400,
  holds: 'additional_tools',
  message: "Unsupported Responses API input item type: 'additional_tools'",
}

/** The models that the picker of a version offers: `model/list` of its app server. */
async function pickerOf(version: string, home: Home): Promise<readonly string[]> {
  const [program, ...first] = installedClient('codex', version)
  const server = spawn(program, [...first, 'app-server'], {
    cwd: home.path,
    env: { PATH: process.env['PATH'], HOME: home.path, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 60_000,
  })
  const say = (id: number | undefined, method: string, params: object) =>
    server.stdin.write(`${JSON.stringify({ ...(id && { id }), method, params })}\n`)

  say(1, 'initialize', { clientInfo: { name: 'test', title: 'test', version: '1' } })
  try {
    for await (const line of createInterface(server.stdout)) {
      const { id, result } = JSON.parse(line)
      if (id === 2) return result.data.map((entry: { model: string }) => entry.model)
      if (id !== 1) continue
      say(undefined, 'initialized', {})
      say(2, 'model/list', { limit: 500 })
    }
    throw new Error(`Codex ${version} ended before it listed its models`)
  } finally {
    server.kill()
  }
}

/** The newest Codex is in PATH. */
async function setUp(home: Home, url: string, ...flags: readonly string[]) {
  putInBin(home, 'codex', installedClient('codex'), true)
  const PATH = `${home.at('bin')}:${process.env['PATH']}`
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: url, PATH }
  return runCli(home, ['codex', ...flags, '--yes', '--json'], { env })
}

test('every version that accepts a catalog offers the models of the gateway, and uses one of another maker', async () => {
  const gateway = await withGateway({ key, models }, onTestFinished)
  const home = aHome()
  const done = await setUp(home, gateway.url, '--catalog', '--model', foreign)
  expect(done).toMatchObject({ status: 0, json: { warnings: [] } })

  for (const version of versions) {
    expect(await pickerOf(version, home), version).toEqual([foreign, 'gpt-5.6-sol', 'gpt-5.4'])
    const answer = await runClient('codex', version, { home: home.path, prompt: 'ping' })
    expect(answer, version).toMatchObject({
      exitStatus: 0,
      stdout: expect.stringContaining('pong'),
    })
    expect(answer.stdout + answer.stderr).not.toContain('metadata')
  }
  const asked = inferences(gateway.requests()).map(({ modelAsked }) => modelAsked)
  expect(new Set(asked)).toEqual(new Set([foreign]))
})

test('a gateway that rejects Responses Lite works only with a catalog', async () => {
  const gateway = await withGateway({ key, models, faults: [refusesLite] }, onTestFinished)
  const home = aHome()
  const refused = await setUp(home, gateway.url)
  expect(refused).toMatchObject({
    status: 5,
    json: {
      error: {
        code: 'parameter-unsupported',
        message: expect.stringContaining('additional_tools'),
        hint: expect.stringContaining('--catalog'),
      },
    },
  })

  expect(await setUp(home, gateway.url, '--catalog')).toMatchObject({ status: 0 })
  gateway.clearRequests()
  const answer = await runClient('codex', undefined, { home: home.path, prompt: 'ping' })
  expect(answer).toMatchObject({ exitStatus: 0, stdout: expect.stringContaining('pong') })
  expect(inferences(gateway.requests()).map(({ status }) => status)).toEqual([200])
})
