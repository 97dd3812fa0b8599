import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decompress, readBody } from '../../src/serve/http/body.ts'
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import {
  type KeyHeader,
  type Reply,
  type Route,
  type Rules,
  routePaths,
  type Shape,
} from './shape.ts'
import { table } from './table.ts'

/** A request as the provider saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly model: string | undefined
  readonly status: number
  readonly agent: string
}

/** A forged provider that is running. */
export interface RunningProvider {
  readonly shape: Shape
  /** The local address instead of `shape.host`: `http://127.0.0.1:1234`. */
  readonly origin: string
  readonly key: string
  /** The URL that a person enters for a protocol or client: `origin` with the path. */
  url(protocolOrClient: string): string
  /** All requests, the newest last. */
  requests(): readonly SeenRequest[]
  clearRequests(): void
  close(): Promise<void>
}

const maxBytes = 8_000_000

/**
 * Starts a provider on a free port of loopback.
 *
 * @param asked the provider, or the name of one in the table
 */
export async function startProvider(
  asked: string | Shape,
  key = 'sk-provider-5e1d9a7c3b2f4860',
): Promise<RunningProvider> {
  const shape = typeof asked === 'string' ? table.find(({ name }) => name === asked) : asked
  if (shape === undefined) throw new Error(`no provider has the name ${asked}`)

  // The local gateway answers for the models. Everything else is forged.
  const gateway = await startGateway({
    // Accept tools over chat for every model, like gateways that translate chat to responses.
    families: 'rewritten',
    models: literalIds(shape).map((id) => ({
      id,
      ownedBy: 'provider',
      endpointTypes: ['openai', 'openai-response', 'anthropic'],
    })),
  })
  const seen: SeenRequest[] = []
  // The same value as in the gateway. With a shorter one, a connection could close just as it is reused.
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, response) => {
    void answer({ shape, key, gateway, incoming, response, seen })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    shape,
    origin,
    key,
    url: (setup) => origin + (shape.setups[setup]?.paste ?? ''),
    requests: () => seen,
    clearRequests: () => void seen.splice(0),
    close: async () => {
      server.closeAllConnections()
      await Promise.all([gateway.close(), new Promise((settle) => server.close(settle))])
    },
  }
}

interface Exchange {
  readonly shape: Shape
  readonly key: string
  readonly gateway: Gateway
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly seen: SeenRequest[]
}

async function answer(exchange: Exchange): Promise<void> {
  const { shape, gateway, incoming, response, seen } = exchange
  const { method = '', url = '', headers } = incoming
  try {
    const sent = await readBody(incoming, maxBytes)
    const body =
      typeof sent === 'string'
        ? sent
        : await decompress(sent, headers['content-encoding'], maxBytes)
    if (body === 'disconnected' || body === 'wrong-encoding') throw new Error(body)
    const text = typeof body === 'string' ? '' : body.toString()
    const path = url.split('?', 1)[0]!
    const asked = modelIn(text)
    const found = routeOf(shape, method, path)
    const own = replyOf(exchange, found, asked)
    response.once('finish', () => {
      const agent = headers['user-agent'] ?? ''
      seen.push({ method, path, model: asked, status: response.statusCode, agent })
    })
    if (own === undefined)
      passOn(gateway, found!.route, { incoming, response, text: servable(found!.rules, text) })
    else send(response, own, { MODEL: asked ?? '', METHOD: method, PATH: path })
  } catch {
    response.destroy()
  }
}

interface Found {
  readonly route: Route
  readonly rules: Rules
}

function routeOf(shape: Shape, method: string, path: string): Found | undefined {
  for (const root of shape.roots)
    for (const route of root.routes)
      if (path === root.at + routePaths[route] && method === (route === 'models' ? 'GET' : 'POST'))
        return { route, rules: { ...shape, ...root } }
  return undefined
}

/** The provider's own response, in the order of its checks. Undefined: the model answers. */
function replyOf(
  { shape, key, incoming: { headers } }: Exchange,
  found: Found | undefined,
  asked: string | undefined,
): Reply | undefined {
  if (found === undefined) return shape.wrongRoute
  const { route, rules } = found
  const { needs, agents } = shape
  if (needs !== undefined && headers[needs.header] !== needs.value) return needs.otherwise

  const isOpen = rules.key.length === 0 || (route === 'models' && rules.isListPublic)
  if (!isOpen && !rules.key.some((name) => keyIn(name, headers[name]) === key))
    return rules.wrongKey
  if (route === 'models') return rules.list

  // OpenAI's words (2026-11-23). The error for a missing model also shows that the route exists.
  if (asked === undefined)
    return { status: 400, body: { error: { message: 'you must provide a model parameter' } } }

  const agent = headers['user-agent'] ?? ''
  if (agents !== undefined && !agents.names.some((name) => agent.startsWith(name)))
    return agents.otherwise
  return asked !== undefined && rules.models.some((id) => fits(id, asked))
    ? undefined
    : rules.wrongModel
}

function keyIn(name: KeyHeader, value: string | string[] | undefined): string | undefined {
  const text = String(value ?? '')
  if (name !== 'authorization') return text
  return text.startsWith('Bearer ') ? text.slice('Bearer '.length) : undefined
}

function fits(pattern: string, id: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(id)
}

/** Ids that the model behind is known under: a `*` is filled with a word. */
function literalIds(shape: Shape): readonly string[] {
  const rules = [shape, ...shape.roots]
  return [...new Set(rules.flatMap(({ models = [] }) => models.map(literal)))]
}

function literal(pattern: string): string {
  return pattern.replaceAll('*', 'any')
}

function modelIn(text: string): string | undefined {
  try {
    const { model } = JSON.parse(text)
    return typeof model === 'string' ? model : undefined
  } catch {
    return undefined
  }
}

/** The body with a model ID that the local gateway knows. */
function servable({ models }: Rules, text: string): string {
  const body = JSON.parse(text)
  const pattern = models.find((id) => fits(id, body.model))!
  return pattern.includes('*') ? JSON.stringify({ ...body, model: literal(pattern) }) : text
}

function passOn(
  gateway: Gateway,
  route: Route,
  exchange: { incoming: IncomingMessage; response: ServerResponse; text: string },
): void {
  const { incoming, response, text } = exchange
  const { 'content-encoding': _, 'x-api-key': __, ...headers } = incoming.headers
  const outgoing = request(
    `${gateway.url}/v1${routePaths[route]}`,
    {
      method: 'POST',
      headers: {
        ...headers,
        host: new URL(gateway.url).host,
        authorization: `Bearer ${gateway.key}`,
        'accept-encoding': 'identity',
        'content-length': Buffer.byteLength(text),
      },
    },
    (answered) => {
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    },
  )
  outgoing.on('error', () => response.destroy())
  response.once('close', () => outgoing.destroy())
  outgoing.end(text)
}

function send(
  response: ServerResponse,
  { status, body }: Reply,
  words: Readonly<Record<string, string>>,
): void {
  const isText = typeof body === 'string'
  const spell = (word: string) => (isText ? word : JSON.stringify(word).slice(1, -1))
  const text = Object.entries(words).reduce(
    (made, [name, word]) => made.replaceAll(`$${name}`, () => spell(word)),
    isText ? body : JSON.stringify(body),
  )
  const type = !isText ? 'application/json' : text.startsWith('<') ? 'text/html' : 'text/plain'
  response.writeHead(status, { 'content-type': type }).end(text)
}
