import { describe, expect, onTestFinished, test } from 'vitest'
import { loadClients } from '../../src/clients/list.ts'
import type { Gateway, GatewayOptions } from '../../src/serve/index.ts'
import { aServer, sendJson } from '../gateway/forged.ts'
import { fixtureCatalog, withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { triesAll } from '../support/sample.ts'

const canary = 'sk-canary-7c1d0e9f8a7b6c5d4e3f2a1b'

/** Rejects tools over chat for gpt-5.6, as OpenAI does. */
function aGateway(options: Omit<GatewayOptions, 'key'> = {}): Promise<Gateway> {
  return withGateway({ families: 'vendor', ...options, key: canary }, onTestFinished)
}

/** The address of the same gateway with a catalog that lists no protocols. */
async function silentAddress(gateway: Gateway): Promise<string> {
  const { port } = await aServer(async ({ method, url, headers, body }, response) => {
    const { host, connection, 'content-length': length, ...sent } = headers
    const answer = await fetch(gateway.url + url, {
      method,
      headers: sent as Record<string, string>,
      ...(method === 'POST' && { body }),
    })
    const text = await answer.text()
    if (url !== '/v1/models') {
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type }).end(text)
      return
    }
    const { data } = JSON.parse(text) as { data: { id: string }[] }
    sendJson(response, 200, { object: 'list', data: data.map(({ id }) => ({ id })) })
  })
  return `http://127.0.0.1:${port}`
}

async function run(home: Home, line: string, url?: string) {
  const address = url === undefined ? [] : ['--base-url', url]
  const result = await runHere(home, [...line.split(' '), ...address, '--yes', '--json'], {
    REPOINT_API_KEY: canary,
  })
  expect(result.text).not.toContain(canary)
  return result
}

/** The report of `status` about one client. */
async function statusOf(home: Home, client: string) {
  const { json } = await runHere(home, ['status', client, '--json'])
  return (json['clients'] as readonly Record<string, unknown>[])[0]
}

function asked({ requests }: Gateway): readonly string[] {
  return requests().map(({ method, path, status }) => `${method} ${path.split('?')[0]} ${status}`)
}

const clients = await loadClients()
const all = clients.filter(({ protocols }) => protocols.length > 1).map(({ id }) => id)
/** By default a sample, with the one that vendors do not serve. */
const withSeveral = triesAll ? all : ['opencode', 'qwen', 'grok']
// The vendor's GPT models reject a tool of Grok Build over chat and responses.
const servedByVendors = withSeveral.filter((id) => id !== 'grok')

describe.each(servedByVendors)(
  '%s: one GET, and one POST for each protocol of the list',
  (client) => {
    test.each([
      ['a GPT model uses responses if chat rejects tools', 'gpt-5.6-sol', 'responses', 'messages'],
      ['a Claude model uses messages', 'claude-sonnet-5-5', 'messages', 'responses'],
    ])('%s', async (_, model, protocol, other) => {
      const gateway = await aGateway()
      const home = aHome()
      const before = home.snapshot()
      expect((await run(home, `${client} --model ${model}`, gateway.url)).status).toBe(0)
      const requests = ['GET /v1/models', `POST /v1/${protocol}`, `POST /v1/${other}`]
      const answered = requests.map((request) => `${request} 200`)
      expect(asked(gateway)).toEqual(answered)
      expect(await statusOf(home, client)).toMatchObject({ protocol, drift: [] })

      const again = await run(home, client, gateway.url)
      expect(again.json).toMatchObject({ changed: false })
      expect(asked(gateway).slice(3)).toEqual(answered)
      expect((await runHere(home, ['doctor', client])).status).toBe(0)

      expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
      expect(home.snapshot()).toEqual(before)
    })
  },
)

describe.each(withSeveral)('%s', (client) => {
  test('setup tries the next protocol after a rejection, but not with --protocol', async () => {
    const gateway = await aGateway({
      families: 'rewritten',
      faults: [{ route: 'responses', status: 404, message: 'Not Found' }],
    })
    const home = aHome()
    const url = await silentAddress(gateway)
    const { status } = await run(home, `${client} --model gpt-5.6-sol`, url)
    expect(status).toBe(0)
    expect(asked(gateway).slice(1)).toEqual([
      'POST /v1/responses 404',
      'POST /v1/chat/completions 200',
      'POST /v1/messages 200',
    ])
    expect(await statusOf(home, client)).toMatchObject({ protocol: 'chat', drift: [] })

    // Later setups keep the protocol that was found. The other GPT models may have got responses since.
    expect((await run(home, client, url)).json).toMatchObject({ changed: false })
    expect(asked(gateway).slice(5)).toEqual([
      'POST /v1/chat/completions 200',
      'POST /v1/responses 404',
      'POST /v1/messages 200',
    ])

    const named = await run(home, `${client} --model gpt-5.6-sol --protocol responses`, url)
    expect(named.status).toBe(5)
  })

  test('setup keeps --protocol, and doctor names the better protocol', async () => {
    const gateway = await aGateway({ families: 'rewritten' })
    const home = aHome()
    await run(home, `${client} --model gpt-5.6-sol --protocol chat`, gateway.url)
    expect((await run(home, client, gateway.url)).json).toMatchObject({ changed: false })
    expect(await statusOf(home, client)).toMatchObject({ protocol: 'chat' })

    const { json } = await runHere(home, ['doctor', client, '--json'])
    const better = (json['checks'] as { id: string; cure?: string }[]).find(
      ({ id }) => id === 'protocol',
    )
    expect(better?.cure).toContain(`repoint ${client} --protocol responses`)
    await runHere(home, [client, '--protocol', 'responses', '--yes'])
    expect(await statusOf(home, client)).toMatchObject({ protocol: 'responses' })
  })
})

test('opencode: setup upgrades the files of an earlier repoint, which wrote only chat, and key does not', async () => {
  const gateway = await aGateway({ families: 'rewritten' })
  const home = aHome()
  await run(home, 'opencode --model gpt-5.6-sol --protocol chat', gateway.url)
  const path = '.config/opencode/opencode.json'
  const config = JSON.parse(home.text(path))
  for (const model of Object.values<{ provider?: unknown }>(config.provider.gateway.models))
    delete model.provider
  home.put(path, JSON.stringify(config))

  const isChat = { protocol: 'chat' }
  expect(await statusOf(home, 'opencode')).toMatchObject(isChat)
  expect((await run(home, 'key opencode')).status).toBe(0)
  expect(await statusOf(home, 'opencode')).toMatchObject(isChat)
  const { json } = await run(home, 'opencode', gateway.url)
  expect(await statusOf(home, 'opencode')).toMatchObject({ protocol: 'responses' })
  expect(json['warnings']).toContainEqual(expect.objectContaining({ code: 'choice-not-kept' }))
})

test('if one of several clients cannot use the gateway, the hint sets up the others', async () => {
  const models = fixtureCatalog.filter(({ id }) => id.startsWith('gpt-5.6'))
  const { url } = await aGateway({ models })
  const home = aHome()
  const commandFor = async (line: string, address?: string) => {
    const { status, json } = await run(home, line, address)
    expect(status).toBe(5)
    const { hint } = json['error'] as { hint: string }
    return hint.replace('Set up the clients that can: ', '')
  }
  const clients = 'setup codex cline'
  expect(await commandFor(clients, url)).toBe(`repoint codex --base-url ${url}`)
  const named = `repoint codex --base-url ${url} --name work`
  expect(await commandFor(`${clients} --name work`, url)).toBe(named)

  expect((await run(home, named.replace('repoint ', ''))).status).toBe(0)
  const saved = 'repoint use work codex'
  expect(await commandFor(`${clients} --name work`, url)).toBe(saved)
  expect((await run(home, saved.replace('repoint ', ''))).status).toBe(0)

  const hintOfOther = async () => (await run(home, 'cline --name work', url)).json['error']
  const hint = (command: string) => ({ hint: expect.stringContaining(`work: ${command} `) })
  expect(await hintOfOther()).toMatchObject(hint('repoint use work opencode'))

  const file = '.local/state/repoint/gateways.json'
  home.put(file, home.text(file).replaceAll(canary, 'sk-an-earlier-key-0123456789'))
  expect(await commandFor(`${clients} --name work`, url)).toBe(named)
  expect(await hintOfOther()).toMatchObject(hint(named.replace('codex', 'opencode')))
})
