import { describe, expect, onTestFinished, test } from 'vitest'
import { clientRows, environmentRows } from '../../src/clients/list.ts'
import type { Gateway, GatewayOptions } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { startFront } from '../support/front.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

const canary = 'sk-canary-7c1d0e9f8a7b6c5d4e3f2a1b'

function aGateway(options: Omit<GatewayOptions, 'key'> = {}): Promise<Gateway> {
  return withGateway({ families: 'vendor', ...options, key: canary }, onTestFinished)
}

async function run(home: Home, args: readonly string[], key?: string) {
  const result = await runHere(home, args, key === undefined ? {} : { REPOINT_API_KEY: key })
  expect(result.text).not.toContain(canary)
  return result
}

interface Checked {
  readonly id: string
  readonly works: boolean
  readonly protocol?: string
  readonly model?: string
  readonly code?: string
  readonly hint?: string
}
const clientsIn = (json: Record<string, unknown>) => json['clients'] as readonly Checked[]

describe('repoint check', () => {
  test('reports for each client whether it works and over which protocol, and changes nothing', async () => {
    const gateway = await aGateway()
    const home = aHome()
    const { status, json } = await run(home, ['check', gateway.url], canary)
    expect(status).toBe(0)
    expect(clientsIn(json).map(({ id }) => id)).toEqual(
      [...clientRows, ...environmentRows].map(({ id }) => id),
    )

    const byId = Object.fromEntries(clientsIn(json).map((client) => [client.id, client]))
    expect(byId['codex']).toMatchObject({ works: true, protocol: 'responses', tools: true })
    expect(byId['claude']).toMatchObject({ works: true, protocol: 'messages' })
    expect(byId['opencode']).toMatchObject({ works: true, protocol: 'responses', images: true })
    // It speaks chat only, where OpenAI rejects tools for gpt-5.6: the next default works.
    expect(byId['cline']).toMatchObject({ works: true, model: expect.not.stringMatching('sol') })
    // It has no file for a gateway.
    expect(byId['copilot']).toMatchObject({ works: true, configuredBy: 'environment' })

    expect(home.snapshot()).toEqual({})
    const gets = gateway.requests().filter(({ method }) => method === 'GET')
    expect(gets.map(({ path }) => path)).toEqual(['/v1/models'])
  })

  test('accepts the name of a saved gateway, and then needs no key', async () => {
    const gateway = await aGateway()
    const home = aHome()
    await run(home, ['gateways', 'add', gateway.url, '--name', 'work'], canary)
    expect((await run(home, ['check', 'work'])).json).toMatchObject({ gateway: 'work' })
  })

  test('shows what keeps a client here from working, and asks the gateway all the same', async () => {
    const gateway = await aGateway()
    const home = aHome({ '.codex/config.toml': 'model = ' })
    home.put('bin/codex', '#!/bin/sh\necho codex-cli 0.169.0\n', 0o755)
    const env = { REPOINT_API_KEY: canary, PATH: home.at('bin') }
    const { status, stdout } = await runInProcess(home, ['check', gateway.url], { env })
    expect(status).toBe(0)
    expect(stdout).toMatch(/✔ Codex +gpt-5/)
    expect(stdout).toMatch(/! Codex: .*\.codex\/config\.toml/)

    const { json } = await runInProcess(home, ['check', gateway.url, '--json'], { env })
    const codex = clientsIn(json as Record<string, unknown>).find(({ id }) => id === 'codex')
    const obstacles = [{ code: 'codex-config-invalid', weight: 'blocks' }]
    expect(codex).toMatchObject({ works: true, obstacles })
  })
})

describe('repoint gateways add', () => {
  test('tests a gateway, saves it and changes no client', async () => {
    const gateway = await aGateway()
    const home = aHome()
    const added = await run(home, ['gateways', 'add', gateway.url, '--name', 'work'], canary)
    expect(added.status).toBe(0)
    expect(added.json).toMatchObject({ saved: 'work', protocol: 'responses' })
    expect(home.snapshot()).toEqual({})
    expect((await run(home, ['gateways'])).json['gateways']).toMatchObject([
      { name: 'work', baseUrl: gateway.url, clients: [] },
    ])
    expect((await run(home, ['use', 'work', 'codex', '--yes'])).json).toMatchObject({
      changed: true,
    })
  })

  test('saves nothing if the gateway rejects the key, or if the name is taken', async () => {
    const [gateway, other] = [await aGateway(), await aGateway()]
    const home = aHome()
    const rejected = await run(home, ['gateways', 'add', gateway.url], `${canary}x`)
    expect(rejected.status).toBe(3)
    expect((await run(home, ['gateways'])).json['gateways']).toEqual([])

    await run(home, ['gateways', 'add', gateway.url, '--name', 'work'], canary)
    const takenName = await run(home, ['gateways', 'add', other.url, '--name', 'work'], canary)
    expect(takenName.json['error']).toMatchObject({ code: 'usage' })
  })

  test('reports a usage error without an address', async () => {
    expect((await run(aHome(), ['gateways', 'add'])).status).toBe(2)
  })
})

describe('a setup of several clients, one of which cannot use the gateway', () => {
  test('a script gets an error whose hint sets up the others', async () => {
    const faults = [{ status: 404, message: 'Not Found', route: 'chat' as const }]
    const gateway = await aGateway({ faults })
    const home = aHome()
    const args = ['setup', 'codex', 'cline', '--base-url', gateway.url, '--yes']
    const { status, json } = await run(home, args, canary)
    expect(status).toBe(5)
    const { message, hint } = json['error'] as { message: string; hint: string }
    expect(message).toContain('Cline cannot use this gateway')
    const [, command] = /: repoint (.*)$/.exec(hint)!
    const again = await run(home, [...command!.split(' '), '--yes'], canary)
    expect(again.json).toMatchObject({ changed: true })
  })
})

test('Node prints no warning if every client uses a slow gateway', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 1_000 }] })
  const { status, stderr } = await runCli(aHome(), ['check', gateway.url, '--json'], {
    env: { REPOINT_API_KEY: canary },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

const notAllowed = { status: 404, message: 'The model does not exist or you lack access to it.' }

test('if no rule knows a model and the gateway rejects the first ones, the hint lists all', async () => {
  const models = 'alpha bravo charlie delta echo foxtrot golf hotel'.split(' ')
  const faults = [{ ...notAllowed, route: 'responses' as const }]
  const gateway = await aGateway({ families: 'rewritten', models, faults })
  const home = aHome()
  const failed = await run(home, ['codex', '--base-url', gateway.url, '--yes'], canary)
  const posts = gateway.requests().filter(({ method }) => method === 'POST')
  expect(posts).toHaveLength(3)
  const { hint } = failed.json['error'] as { hint: string }
  const [, command = ''] = /repoint (models --base-url \S+)/.exec(hint)!
  const list = await run(home, command.split(' '), canary)
  expect(list.status).toBe(0)
  expect(list.json['models']).toHaveLength(8)
})

test('clients that fail for the same reason share a line', async () => {
  const routes = ['chat', 'responses', 'messages'] as const
  const faults = routes.map((route) => ({ ...notAllowed, route }))
  const gateway = await aGateway({ families: 'rewritten', models: ['alpha', 'bravo'], faults })
  const env = { REPOINT_API_KEY: canary }
  const { stdout } = await runInProcess(aHome(), ['check', gateway.url], { env })
  const lines = stdout.split('\n').filter((line) => /\b(?:opencode|Kilo)\b/.test(line))
  expect(lines).toHaveLength(1)
})

test('no hint asks for a model where no listed model has the protocol of the client', async () => {
  const models = ['claude-opus-5-5', 'claude-sonnet-5-5'].map((id) => ({
    id,
    ownedBy: 'team',
    endpointTypes: ['anthropic'],
  }))
  const gateway = await withGateway({ key: 'sk-canary-5f4e3d2c1b0a9988', models }, onTestFinished)
  const home = aHome()
  home.put('bin/claude', '#!/bin/sh\necho 2.1.330\n', 0o755)
  const { stdout } = await runInProcess(home, ['check', gateway.url], {
    env: { REPOINT_API_KEY: gateway.key, PATH: `${home.at('bin')}:${process.env['PATH']}` },
  })
  expect(stdout).toContain('Codex: The gateway has no model for the responses protocol\n')
  expect(stdout).not.toMatch(/--model\n|repoint check/)
  expect(stdout).toMatch(/Would work, not installed: opencode/)

  const alone = await runHere(home, ['codex', '--base-url', gateway.url, '--yes'], {
    REPOINT_API_KEY: gateway.key,
  })
  expect(alone.status).toBe(5)
  expect(alone.json['error']).toMatchObject({
    code: 'protocol-unsupported',
    hint: expect.stringContaining(
      `Another client may work: repoint opencode --base-url ${gateway.url} (or kilo, pi, `,
    ),
  })
})

test('a gateway without a list of models keeps the model that it was saved with', async () => {
  const key = 'sk-canary-3a7e9c1d5b8f2046'
  const front = await startFront(await withGateway({ key }, onTestFinished), {
    key,
    hasList: false,
  })
  onTestFinished(() => front.close())
  const home = aHome()
  const env = { REPOINT_API_KEY: key }
  const model = ['--model', 'gpt-5.6-sol']
  await runInProcess(home, ['gateways', 'add', front.url, '--name', 'work', ...model], { env })
  const { stdout } = await runInProcess(home, ['check', 'work'])
  expect(stdout).toMatch(/^✔ Codex +gpt-5\.6-sol +responses/m)
  expect(stdout).toMatch(/^✔ Cline +gpt-5\.6-sol +chat/m)
  const used = await runInProcess(home, ['use', 'work', 'codex', '--yes'])
  expect([used.status, used.stderr]).toEqual([0, used.stderr])
  expect(home.text('.codex/config.toml')).toContain('model = "gpt-5.6-sol"')
})
