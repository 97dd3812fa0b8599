import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/clients/client.ts'
import { loadClient, rowOf, rows } from '../../src/clients/list.ts'
import { compact } from '../../src/compact.ts'
import type { Protocol } from '../../src/serve/index.ts'
import { aHome } from '../support/home.ts'
import { type JsonResult, runHere } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { exchange, sendsOf } from './as-client.ts'
import { type RunningProvider, startProvider } from './server.ts'
import type { Setup, Shape } from './shape.ts'
import { table } from './table.ts'

/**
 * Every provider with every client: what a person enters, and what comes of it. What repoint calls
 * proven must answer as the client will ask; what it refuses must be what the client could not use.
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
  const said = await runHere(home, args, {
    ...setup.env,
    REPOINT_API_KEY: key ?? provider.key,
  })
  expect(said.text).not.toContain(provider.key)
  return said
}

function expectRefused(
  { text, json }: JsonResult,
  { code, says }: NonNullable<Setup['refused']>,
): void {
  expect(json['error']).toMatchObject({ code, filesChanged: false })
  expect(text).toMatch(says)
}

/** Whether a client cannot send what the provider asks for beside a key as Bearer. */
function isUnable(
  { sends }: Client,
  { client, protocol, shape, setup: { args = [] } }: Cell,
): boolean {
  const { key, roots } = shape
  if (args.includes('--header') && sends?.headers !== true) return true
  const taken = roots.flatMap((root) => (root.routes.includes(protocol) ? (root.key ?? key) : []))
  const able: readonly string[] = ['authorization', ...(sends?.keyHeaders ?? [])]
  if (taken.length === 0) return false
  // opencode and Kilo send the key over the other protocols by themselves alone, droid over messages.
  const isOpencode = client === 'opencode' || client === 'kilo'
  if (protocol === 'messages' && (isOpencode || client === 'droid'))
    return !taken.includes('x-api-key') || (isOpencode && !taken.includes('authorization'))
  if (protocol === 'responses' && isOpencode) return !taken.includes('authorization')
  return !taken.some((name) => able.includes(name))
}

interface Cell {
  readonly name: string
  readonly shape: Shape
  readonly client: string
  readonly protocol: Protocol
  readonly setup: Setup
}

/** A model of a protocol: the rules know none for every client of it. */
function servedBy({ roots, models }: Shape, protocol: Protocol): string {
  const root = roots.find(({ routes }) => routes.includes(protocol))
  return (root?.models ?? models).find((id) => !id.includes('*')) ?? 'gpt-5.6-sol'
}

/** The setup for a client: its own, or that of its protocol; where it speaks several, each by name. */
const clients = await Promise.all(rows.map(loadClient))
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
  // Clients of one protocol differ in their files, which their own tests hold.
  const sample = protocols.flatMap((protocol) =>
    oneInTurn(
      all.filter((cell) => cell.protocol === protocol),
      turn,
    ),
  )
  return triesAll ? all : sample
})

describe('set up and proven, or refused with the true cause', () => {
  test.each(cells)('$name × $client, $protocol', async (cell) => {
    const { shape, client, protocol, setup } = cell
    const provider = await provide(shape)
    const home = aHome()
    const said = await setUp(provider, home, { client, setup })
    const one = await loadClient(rowOf(client))
    const unable = { code: 'protocol-unsupported', says: /cannot send|sends the key as/ } as const
    // The probe of these clients is their own request, and the gateway accepts it as theirs.
    const isAdmitted =
      setup.refused?.code === 'client-refused' && shape.agents?.admits.includes(client) === true
    if (isAdmitted) return expect(said).toMatchObject({ status: 0, json: { changed: true } })

    const refused = setup.refused ?? (isUnable(one, cell) ? unable : undefined)
    if (refused !== undefined) {
      expectRefused(said, refused)
      expect(home.snapshot()).toEqual({})
      return
    }
    expect(said.json['error']).toBeUndefined()
    expect(said).toMatchObject({ status: 0, json: { changed: true, verified: { before: true } } })

    const sends = sendsOf(one, home, setup.env ?? {})
    expect(sends.protocol).toBe(protocol)
    for (const model of new Set(sends.models)) {
      const answered = await exchange(sends, model)
      expect({ model, url: sends.url, ...answered }).toMatchObject({ status: 200 })
      expect(answered.text).toContain('pong')
    }
  })
})

/** The address for chat is enough for all of them: where messages are served is found. */
describe('several clients from one address', () => {
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

  test.each(several)('$name', async ({ shape, able }) => {
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
    const said = await runHere(home, ['setup', '--from', home.at('team.json'), '--yes'], {
      REPOINT_API_KEY: provider.key,
    })
    if (shape.severalRefused !== undefined) return expectRefused(said, shape.severalRefused)
    expect(said.json['error']).toBeUndefined()

    for (const [id] of able) {
      const client = await loadClient(rowOf(id))
      const sends = sendsOf(client, home, {})
      for (const model of new Set(sends.models))
        expect([id, await exchange(sends, model)]).toMatchObject([id, { status: 200 }])
    }
  })
})

/** Cursor has no files: what is printed is entered there, and its servers ask from the internet. */
describe('what the editor is told', () => {
  const told = table.flatMap((shape) => {
    const setup = shape.setups['editor'] ?? shape.setups.chat
    return setup === undefined ? [] : [{ name: shape.name, shape, setup }]
  })

  test.each(told)('$name × editor', async ({ shape, setup }) => {
    const provider = await provide(shape)
    const { origin, args, env, close } = await internetTo(Number(new URL(provider.origin).port))
    onTestFinished(close)
    const isLocal = new URL(shape.host).hostname === 'localhost'
    const url = (isLocal ? provider.origin : origin) + setup.paste
    const said = await runHere(
      aHome(),
      ['editor', '--base-url', url, ...args, ...(setup.args ?? [])],
      { ...env, ...setup.env, REPOINT_API_KEY: provider.key },
    )
    if (setup.refused !== undefined) return expectRefused(said, setup.refused)
    if (setup.args?.includes('--header'))
      return expectRefused(said, { code: 'protocol-unsupported', says: /cannot send/ })

    expect(said.json['error']).toBeUndefined()
    const outOfReach = expect.arrayContaining([
      expect.objectContaining({ code: 'editor-out-of-reach' }),
    ])
    if (isLocal) expect(said.json['warnings']).toEqual(outOfReach)
    const [, address, model] = said.json['fields'] as readonly { readonly value: string }[]
    const sends = {
      protocol: 'chat',
      url: `${address!.value.replace(origin, provider.origin)}/chat/completions`,
      headers: { authorization: `Bearer ${provider.key}` },
      models: [],
    } as const
    const answered = await exchange(sends, model!.value)
    expect({ url: sends.url, ...answered }).toMatchObject({ status: 200 })
  })
})

/** A client that can use the provider, for what may go wrong with it. */
function usable({ setups }: Shape): { client: string; setup: Setup } | undefined {
  const order = [
    ['codex', setups.responses],
    ['opencode', setups.chat],
    ['claude', setups.messages],
  ] as const
  const found = order.find(([, setup]) => setup !== undefined && setup.refused === undefined)
  return found && { client: found[0], setup: found[1]! }
}

describe('a wrong key, model or address is called so', () => {
  const shapes = table.map((shape) => ({ name: shape.name, shape }))

  test.each(shapes.filter(({ shape }) => shape.key.length > 0 && usable(shape)))(
    '$name: a wrong key',
    async ({ shape }) => {
      const run = { ...usable(shape)!, key: 'sk-another-0f9e8d7c6b5a4433' }
      const said = await setUp(await provide(shape), aHome(), run)
      expectRefused(said, { code: 'key-rejected', says: /key/ })
    },
  )

  test.each(shapes.filter(({ shape }) => !shape.models.includes('*') && usable(shape)))(
    '$name: an unknown model',
    async ({ shape }) => {
      const { client, setup } = usable(shape)!
      const kept = (setup.args ?? []).filter(
        (arg, index, args) => arg !== '--model' && args[index - 1] !== '--model',
      )
      const named = { ...setup, args: [...kept, '--model', 'unheard-of-9'] }
      const said = await setUp(await provide(shape), aHome(), { client, setup: named })
      expectRefused(said, { code: 'model-unknown', says: /unheard-of-9/ })
    },
  )

  const wrong = table.flatMap((shape) =>
    (shape.wrongAddresses ?? []).map((setup) => ({
      name: shape.name,
      shape,
      setup,
      what: setup.note ?? `${setup.client} at ${setup.paste || '/'}`,
    })),
  )
  test.each(wrong)('$name: $what', async ({ shape, setup }) => {
    const said = await setUp(await provide(shape), aHome(), { client: setup.client, setup })
    expectRefused(said, setup.refused!)
  })
})
