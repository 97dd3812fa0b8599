import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { nativeProtocol } from '../../src/gateway/models/rules.ts'
import type { Protocol } from '../../src/gateway/types.ts'
import { aServer, type Seen, sendJson } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** Every protocol that a written model uses has answered once, or the model is left out of the client's list. */

const key = 'sk-canary-samples-5e4d3c2b1a0f9e8d'
const gpt = ['gpt-5.6-sol', 'gpt-5.4', 'gpt-5.4-mini']
const claude = ['claude-opus-5', 'claude-sonnet-5-5', 'claude-haiku-5']
const others = ['glm-5', 'deepseek-v4-pro']
const models = [...gpt, ...claude, ...others]
const healthy = await withGateway({ key, models })

const routes: Readonly<Record<string, Protocol>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}

/** What the gateway answers to a model over a protocol. Undefined: it serves it. */
type Rule = (
  protocol: Protocol,
  model: string,
) => { readonly status: number; readonly message: string; readonly code?: string } | undefined

const notFound = { status: 404, message: 'Not Found' }
const busy = { status: 503, message: 'Service Unavailable' }

/** Serves GPT over responses, Claude over messages and others over chat. */
const nativeOnly: Rule = (protocol, model) =>
  protocol === nativeProtocol(model)
    ? undefined
    : { status: 400, message: `${model} is not supported over this endpoint.` }

async function aGateway(rule: Rule, list: readonly object[] = models.map((id) => ({ id }))) {
  const asked: string[] = []
  const server = await aServer((seen, response) => {
    const { pathname } = new URL(seen.url, 'http://gateway')
    const protocol = routes[pathname]
    if (pathname === '/v1/models') {
      asked.push('GET')
      return sendJson(response, 200, { object: 'list', data: list })
    }
    if (protocol === undefined) return sendJson(response, 404, { error: { message: 'Not Found' } })
    const { model } = JSON.parse(seen.body)
    asked.push(`${model} over ${protocol}`)
    const rejection = rule(protocol, model)
    if (rejection === undefined) return void forward(seen, response)
    const { status, message, code = null } = rejection
    sendJson(response, status, { error: { message, type: 'invalid_request_error', code } })
  })
  return { url: `http://127.0.0.1:${server.port}`, asked, connections: server.connections }
}

async function forward(seen: Seen, response: ServerResponse): Promise<void> {
  const { host: _, ...headers } = seen.headers
  const onward = request(`${healthy.url}${seen.url}`, { method: seen.method, headers })
  onward.end(seen.body)
  const [answer] = await once(onward, 'response')
  response.writeHead(answer.statusCode, answer.headers)
  answer.pipe(response)
}

type Written = Readonly<Record<string, Protocol>>
interface Entry {
  readonly id: string
  readonly model: string
  readonly api?: string
  readonly provider: string
}

const ofPackage: Readonly<Record<string, Protocol>> = {
  '@ai-sdk/openai-compatible': 'chat',
  '@ai-sdk/openai': 'responses',
  '@ai-sdk/anthropic': 'messages',
}
const ofApi: Readonly<Record<string, Protocol>> = {
  'openai-completions': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
}
const ofDroid: Readonly<Record<string, Protocol>> = {
  'generic-chat-completion-api': 'chat',
  openai: 'responses',
  anthropic: 'messages',
}
const ofQwen: Readonly<Record<string, Protocol>> = {
  openai: 'chat',
  'openai-responses': 'responses',
  anthropic: 'messages',
}

function inOpencode(file: string) {
  return (home: Home): Written => {
    const { npm, models: list } = JSON.parse(home.text(file)).provider.gateway
    return Object.fromEntries(
      Object.entries<{ provider?: { npm: string } }>(list).map(([id, { provider }]) => [
        id,
        ofPackage[provider?.npm ?? npm]!,
      ]),
    )
  }
}

function inPi(file: string, ...path: string[]) {
  return (home: Home): Written => {
    const root = JSON.parse(home.text(file))
    const providers = path.reduce((table, name) => table[name], root)
    const { api, models: list } = providers.gateway
    return Object.fromEntries((list as Entry[]).map((one) => [one.id, ofApi[one.api ?? api]!]))
  }
}

/** The list of each client: the models and their protocols. */
const clients: Readonly<Record<string, (home: Home) => Written>> = {
  opencode: inOpencode('.config/opencode/opencode.json'),
  kilo: inOpencode('.config/kilo/kilo.jsonc'),
  pi: inPi('.pi/agent/models.json', 'providers'),
  openclaw: inPi('.openclaw/openclaw.json', 'models', 'providers'),
  droid: (home) =>
    Object.fromEntries(
      (JSON.parse(home.text('.factory/settings.json')).customModels as Entry[]).map(
        ({ model, provider }) => [model, ofDroid[provider]!],
      ),
    ),
  qwen: (home) =>
    Object.fromEntries(
      Object.entries<Entry[]>(JSON.parse(home.text('.qwen/settings.json')).modelProviders).flatMap(
        ([login, list]) => list.map(({ id }) => [id, ofQwen[login]!]),
      ),
    ),
}

async function setUp(client: string, url: string, ...more: string[]) {
  const home = aHome()
  const words = [client, '--base-url', url, '--yes', ...more]
  const { status, json, text } = await runHere(home, words, { REPOINT_API_KEY: key })
  expect(text).not.toContain(key)
  const warnings = (json['warnings'] ?? []) as { code: string; message: string }[]
  return { home, status, json, warnings }
}

function expectServed(written: Written, rule: Rule): void {
  for (const [model, protocol] of Object.entries(written))
    expect([model, protocol, rule(protocol, model)]).toEqual([model, protocol, undefined])
}

describe.each(Object.keys(clients))('%s', (client) => {
  const listIn = clients[client]!

  test('native protocols, a plain list: one request for each protocol, over one connection', async () => {
    const gateway = await aGateway(nativeOnly)
    const { home, status } = await setUp(client, gateway.url)
    expect(status).toBe(0)
    const written = listIn(home)
    expect(Object.keys(written).toSorted()).toEqual(models.toSorted())
    expectServed(written, nativeOnly)
    expect(gateway.asked[0]).toBe('GET')
    expect(gateway.asked.slice(1).map((one) => one.split(' ').at(-1))).toEqual(
      expect.arrayContaining(['responses', 'messages', 'chat']),
    )
    expect(gateway.asked).toHaveLength(4)
    expect(gateway.connections()).toBe(1)

    const words = [client, '--base-url', gateway.url, '--yes']
    const again = await runHere(home, words, { REPOINT_API_KEY: key })
    expect(again.json).toMatchObject({ changed: false })
  })

  test('messages is served nowhere: Claude goes over chat if that works, or is left out', async () => {
    const noMessages: Rule = (protocol, model) =>
      protocol === 'messages'
        ? notFound
        : claude.includes(model) && protocol === 'chat'
          ? undefined
          : nativeOnly(protocol, model)
    const { home } = await setUp(client, (await aGateway(noMessages)).url)
    expect(Object.keys(listIn(home)).toSorted()).toEqual(models.toSorted())
    expectServed(listIn(home), noMessages)

    const nowhere: Rule = (protocol, model) =>
      claude.includes(model) ? notFound : nativeOnly(protocol, model)
    const without = await setUp(client, (await aGateway(nowhere)).url)
    expect(without.status).toBe(0)
    expect(Object.keys(listIn(without.home)).toSorted()).toEqual([...gpt, ...others].toSorted())
    expectServed(listIn(without.home), nowhere)
    expect(without.warnings).toContainEqual(
      expect.objectContaining({
        code: 'models-left-out',
        message: expect.stringContaining('claude-opus-5'),
      }),
    )
  })

  test('only chat: the list is what chat serves', async () => {
    const onlyChat: Rule = (protocol) => (protocol === 'chat' ? undefined : notFound)
    const { home } = await setUp(client, (await aGateway(onlyChat)).url)
    expect(listIn(home)).toEqual(Object.fromEntries(models.map((id) => [id, 'chat'])))
  })

  test('GPT that chat rejects says nothing about the models that chat is native to', async () => {
    const noResponses: Rule = (protocol, model) =>
      protocol === 'responses' ? notFound : nativeOnly(protocol, model)
    const { home } = await setUp(client, (await aGateway(noResponses)).url)
    expect(Object.keys(listIn(home)).toSorted()).toEqual([...claude, ...others].toSorted())
    expectServed(listIn(home), noResponses)
  })

  test('a busy protocol is not a missing one: its models stay, and the setup says so', async () => {
    const busyMessages: Rule = (protocol, model) =>
      protocol === 'messages' ? busy : nativeOnly(protocol, model)
    const { home, status, warnings } = await setUp(client, (await aGateway(busyMessages)).url)
    expect(status).toBe(0)
    const written = listIn(home)
    expect(Object.keys(written).toSorted()).toEqual(models.toSorted())
    for (const id of claude) expect(written[id]).toBe('messages')
    expect(warnings).toContainEqual(
      expect.objectContaining({
        code: 'models-not-tested',
        message: expect.stringMatching(/claude-opus-5.*messages/),
      }),
    )
  })

  test('a model that the key may not use is left out alone; after three, the others of its maker too', async () => {
    const denied = { status: 403, message: 'This key is not allowed to use this model.' }
    const oneDenied: Rule = (protocol, model) =>
      model === 'claude-sonnet-5-5' ? denied : nativeOnly(protocol, model)
    const one = await setUp(client, (await aGateway(oneDenied)).url)
    expect(Object.keys(listIn(one.home)).toSorted()).toEqual(
      models.filter((id) => id !== 'claude-sonnet-5-5').toSorted(),
    )

    const allDenied: Rule = (protocol, model) =>
      claude.includes(model) ? denied : nativeOnly(protocol, model)
    const gateway = await aGateway(allDenied)
    const all = await setUp(client, gateway.url)
    expect(Object.keys(listIn(all.home)).toSorted()).toEqual([...gpt, ...others].toSorted())
    expect(gateway.asked.filter((one) => one.startsWith('claude'))).toHaveLength(3)
  })

  test('a list that states protocols: each model has one that the list states for it', async () => {
    const types: Readonly<Record<string, readonly Protocol[]>> = {
      'gpt-5.6-sol': ['responses'],
      'gpt-5.4': ['chat'],
      'claude-opus-5': ['messages'],
      'claude-haiku-5': ['chat'],
      'glm-5': ['messages'],
      'deepseek-v4-pro': ['chat', 'messages'],
    }
    const typeOf = { chat: 'openai', responses: 'openai-response', messages: 'anthropic' }
    const list = Object.entries(types).map(([id, stated]) => ({
      id,
      supported_endpoint_types: stated.map((one) => typeOf[one]),
    }))
    const asStated: Rule = (protocol, model) =>
      types[model]?.includes(protocol) ? undefined : notFound
    const gateway = await aGateway(asStated, list)
    const { home } = await setUp(client, gateway.url)
    expect(Object.keys(listIn(home)).toSorted()).toEqual(Object.keys(types).toSorted())
    expectServed(listIn(home), asStated)
    expect(gateway.asked).toHaveLength(4)
  })
})

test('several clients: each asks for its own list', async () => {
  const gateway = await aGateway(nativeOnly)
  const home = aHome()
  const words = ['setup', ...Object.keys(clients), '--base-url', gateway.url, '--yes']
  const { status } = await runHere(home, words, { REPOINT_API_KEY: key })
  expect(status).toBe(0)
  for (const listIn of Object.values(clients)) {
    expect(Object.keys(listIn(home)).toSorted()).toEqual(models.toSorted())
    expectServed(listIn(home), nativeOnly)
  }
  expect(gateway.asked.filter((one) => one === 'GET')).toHaveLength(1)
  expect(gateway.asked.length).toBeLessThanOrEqual(1 + 3 * Object.keys(clients).length)
})

test('check and key write no list, so they ask for no further protocol', async () => {
  const gateway = await aGateway(nativeOnly)
  const env = { REPOINT_API_KEY: key }
  const { home } = await setUp('opencode', gateway.url, '--name', 'work')
  gateway.asked.splice(0)
  await runHere(home, ['key', 'work', '--yes'], env)
  expect(gateway.asked).toEqual(['GET', 'gpt-5.6-sol over responses'])
})

test.each(['cline', 'editor'])(
  '%s has one protocol, and gets a model that is native to it',
  async (command) => {
    const gateway = await aGateway(nativeOnly)
    const words = command === 'editor' ? [command] : [command, '--yes']
    const { status, json } = await runHere(aHome(), [...words, '--base-url', gateway.url], {
      REPOINT_API_KEY: key,
    })
    expect({ status, json }).toMatchObject({ status: 0, json: { model: 'glm-5' } })
    expect(gateway.asked).toEqual(['GET', 'glm-5 over chat'])
  },
)
