import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import { clientRows, loadClient, rowOf } from '../../src/clients/list.ts'
import { compact } from '../../src/compact.ts'
import type { Protocol } from '../../src/serve/index.ts'
import { aHome } from '../support/home.ts'
import { type JsonResult, runHere } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { clientRequestOf, exchange } from './as-client.ts'
import { type RunningProvider, startProvider } from './server.ts'
import type { Setup, Shape } from './shape.ts'
import { table } from './table.ts'

/**
 * Sets up every provider for every client with what a person would enter. If the setup succeeds, the provider must
 * answer the client's own request. If it fails, the client could not use the provider.
 */

const running = new Map<string, Promise<RunningProvider>>()
function provide({ name }: Shape): Promise<RunningProvider> {
  const provider = running.get(name) ?? startProvider(name)
  running.set(name, provider)
  return provider
}
afterAll(async () => {
  for (const provider of running.values()) await (await provider).close()
})

interface Run {
  readonly client: string
  readonly setup: Setup
  readonly key?: string
}

async function setUp(provider: RunningProvider, home = aHome(), { client, setup, key }: Run) {
  const url = provider.origin + setup.paste
  const args = [client, '--base-url', url, ...(setup.args ?? []), '--yes']
  const result = await runHere(home, args, {
    ...setup.env,
    REPOINT_API_KEY: key ?? provider.key,
  })
  expect(result.text).not.toContain(provider.key)
  return result
}

function expectRefused(
  { text, json }: JsonResult,
  { code, says }: NonNullable<Setup['refused']>,
): void {
  expect(json['error']).toMatchObject({ code, filesChanged: false })
  expect(text).toMatch(says)
}

/** Whether a client cannot send a header that the provider requires. */
function isUnable({ sends }: Client, { protocol, shape, setup: { args = [] } }: Cell): boolean {
  const { key, roots } = shape
  if (args.includes('--header') && sends.headers !== true) return true
  const taken = roots.flatMap((root) => (root.routes.includes(protocol) ? (root.key ?? key) : []))
  if (taken.length === 0) return false
  // A gateway that accepts the usual header gets the key in the one that the client always uses.
  if (taken.includes('authorization'))
    return !taken.includes(sends.fixedKeyHeader?.[protocol] ?? 'authorization')
  return !sends.otherKeyHeaders?.[protocol]?.some((name) => taken.includes(name))
}

interface Cell {
  readonly name: string
  readonly shape: Shape
  readonly client: string
  readonly protocol: Protocol
  readonly setup: Setup
}

/** A model that the provider serves over a protocol. The rules do not find one for every client. */
function servedBy({ roots, models }: Shape, protocol: Protocol): string {
  const root = roots.find(({ routes }) => routes.includes(protocol))
  return (root?.models ?? models).find((id) => !id.includes('*')) ?? 'gpt-5.6-sol'
}

/** Each client uses its own setup or that of its protocol. If it has several protocols, each is named. */
const clients = await Promise.all(clientRows.map(loadClient))
const protocols = [...new Set(clients.map(({ protocols: [usual] }) => usual))]
const cells = table.flatMap((shape, turn) => {
  const all = clients.flatMap(({ id, family, ...client }) =>
    client.protocols.flatMap((protocol): readonly Cell[] => {
      const setup = id === family ? shape.setups[protocol] : shape.setups[id]
      if (setup === undefined) return []
      const isNamed = protocol !== client.protocols[0] && !setup.args?.includes('--model')
      const args = [
        ...(setup.args ?? []),
        ...(client.protocols.length > 1 ? ['--protocol', protocol] : []),
        ...(isNamed ? ['--model', servedBy(shape, protocol)] : []),
      ]
      return [{ shape, name: shape.name, client: id, protocol, setup: { ...setup, args } }]
    }),
  )
  // Clients of one protocol differ only in their files, which other tests cover.
  const sample = protocols.flatMap((protocol) =>
    oneInTurn(
      all.filter((cell) => cell.protocol === protocol),
      turn,
    ),
  )
  return triesAll ? all : sample
})

describe('a setup succeeds or names the true cause', () => {
  test.each(cells)('for $name × $client, $protocol', async (cell) => {
    const { shape, client, protocol, setup } = cell
    const provider = await provide(shape)
    const home = aHome()
    const result = await setUp(provider, home, { client, setup })
    const clientModule = await loadClient(rowOf(client))
    const unable = { code: 'protocol-unsupported', says: /cannot send|sends the key as/ } as const
    // The probe sends the recorded request of the client, so the provider accepts it.
    const names = [client, `${client} over ${protocol}`]
    const isAdmitted =
      setup.refused?.code === 'client-refused' &&
      shape.agents?.admits.some((name) => names.includes(name)) === true
    if (isAdmitted) return expect(result).toMatchObject({ status: 0, json: { changed: true } })

    const refused = setup.refused ?? (isUnable(clientModule, cell) ? unable : undefined)
    if (refused !== undefined) {
      expectRefused(result, refused)
      expect(home.snapshot()).toEqual({})
      return
    }
    expect(result.json['error']).toBeUndefined()
    expect(result).toMatchObject({ status: 0, json: { changed: true, verified: { before: true } } })

    const request = clientRequestOf(clientModule, home, setup.env ?? {})
    expect(request.protocol).toBe(protocol)
    for (const model of new Set(request.models)) {
      const answered = await exchange(request, model)
      expect({ model, url: request.url, ...answered }).toMatchObject({ status: 200 })
      expect(answered.text).toContain('pong')
    }
  })
})

/** Only the address for chat is given. repoint finds the base URL for messages. */
describe('several clients can be set up from one address', () => {
  const several = table.flatMap((shape) => {
    const { chat, responses, messages } = shape.setups
    const named = { codex: responses, claude: messages, opencode: chat }
    const able = Object.entries(named).filter(
      ([id, setup]) =>
        setup !== undefined &&
        setup.refused === undefined &&
        !setup.args?.includes('--header') &&
        (id === 'claude' || setup.paste === chat?.paste),
    )
    return able.length < 2 ? [] : [{ name: shape.name, shape, able }]
  })

  test.each(several)('of $name', async ({ shape, able }) => {
    const provider = await provide(shape)
    const home = aHome()
    const modelOf = ({ args = [] }: Setup) => args[args.indexOf('--model') + 1]
    const defaults = Object.fromEntries(
      able.map(([id, setup]) => [id, compact({ model: modelOf(setup!) })]),
    )
    home.put(
      'team.json',
      JSON.stringify({ version: 1, baseUrl: provider.url('chat'), clients: defaults }),
    )
    const result = await runHere(home, ['setup', '--from', home.at('team.json'), '--yes'], {
      REPOINT_API_KEY: provider.key,
    })
    if (shape.severalRefused !== undefined) return expectRefused(result, shape.severalRefused)
    expect(result.json['error']).toBeUndefined()

    for (const [id] of able) {
      const client = await loadClient(rowOf(id))
      const request = clientRequestOf(client, home, {})
      for (const model of new Set(request.models))
        expect([id, await exchange(request, model)]).toMatchObject([id, { status: 200 }])
    }
  })
})

/** Cursor has no files: the user enters the printed fields, and Cursor's servers send the requests. */
describe('the fields for the editor work', () => {
  const editorCases = table.flatMap((shape) => {
    const setup = shape.setups['editor'] ?? shape.setups.chat
    return setup === undefined ? [] : [{ name: shape.name, shape, setup }]
  })

  test.each(editorCases)('for $name × editor', async ({ shape, setup }) => {
    const provider = await provide(shape)
    const { origin, args, env, close } = await internetTo(Number(new URL(provider.origin).port))
    onTestFinished(close)
    const isLocal = new URL(shape.host).hostname === 'localhost'
    const url = (isLocal ? provider.origin : origin) + setup.paste
    const result = await runHere(
      aHome(),
      ['editor', '--base-url', url, ...args, ...(setup.args ?? [])],
      { ...env, ...setup.env, REPOINT_API_KEY: provider.key },
    )
    if (setup.refused !== undefined) return expectRefused(result, setup.refused)
    if (setup.args?.includes('--header'))
      return expectRefused(result, { code: 'protocol-unsupported', says: /cannot send/ })

    expect(result.json['error']).toBeUndefined()
    const outOfReach = expect.arrayContaining([
      expect.objectContaining({ code: 'editor-out-of-reach' }),
    ])
    if (isLocal) expect(result.json['warnings']).toEqual(outOfReach)
    const [, address, model] = result.json['fields'] as readonly { readonly value: string }[]
    const request = {
      protocol: 'chat',
      url: `${address!.value.replace(origin, provider.origin)}/chat/completions`,
      headers: { authorization: `Bearer ${provider.key}` },
      models: [],
    } as const
    const answered = await exchange(request, model!.value)
    expect({ url: request.url, ...answered }).toMatchObject({ status: 200 })
  })
})

/** A client that can use the provider, with its setup. */
function usable({ setups }: Shape): { client: string; setup: Setup } | undefined {
  const order = [
    ['codex', setups.responses],
    ['opencode', setups.chat],
    ['claude', setups.messages],
  ] as const
  const found = order.find(([, setup]) => setup !== undefined && setup.refused === undefined)
  return found && { client: found[0], setup: found[1]! }
}

describe('repoint names the wrong value', () => {
  const shapes = table.map((shape) => ({ name: shape.name, shape }))

  test.each(shapes.filter(({ shape }) => shape.key.length > 0 && usable(shape)))(
    '$name: a wrong key',
    async ({ shape }) => {
      const run = { ...usable(shape)!, key: 'sk-another-0f9e8d7c6b5a4433' }
      const result = await setUp(await provide(shape), aHome(), run)
      expectRefused(result, { code: 'key-rejected', says: /key/ })
    },
  )

  test.each(shapes.filter(({ shape }) => !shape.models.includes('*') && usable(shape)))(
    '$name: an unknown model',
    async ({ shape }) => {
      const { client, setup } = usable(shape)!
      const otherArgs = (setup.args ?? []).filter(
        (arg, index, args) => arg !== '--model' && args[index - 1] !== '--model',
      )
      const named = { ...setup, args: [...otherArgs, '--model', 'unheard-of-9'] }
      const result = await setUp(await provide(shape), aHome(), { client, setup: named })
      expectRefused(result, { code: 'model-unknown', says: /unheard-of-9/ })
    },
  )

  const wrongAddresses = table.flatMap((shape) =>
    (shape.wrongAddresses ?? []).map((setup) => ({
      name: shape.name,
      shape,
      setup,
      what: setup.note ?? `${setup.client} at ${setup.paste || '/'}`,
    })),
  )
  test.each(wrongAddresses)('$name: $what', async ({ shape, setup }) => {
    const result = await setUp(await provide(shape), aHome(), { client: setup.client, setup })
    expectRefused(result, setup.refused!)
  })
})

test.each(table)('$name: its facts have sources, or count as guesses', ({ sources, unchecked }) => {
  expect(sources.length + unchecked.length).toBeGreaterThan(0)
  for (const { url, date } of sources) {
    expect(url).toMatch(/^https:\/\//)
    expect(date).toMatch(/^20\d\d-\d\d(-\d\d)?$/)
  }
})
