import { expect, test } from 'vitest'
import { assumedBaseUrls, chatBaseUrls, messagesBaseUrls } from '../../src/gateway/base-urls.ts'
import { GatewayRequester } from '../../src/gateway/gateway-requester.ts'
import type { GatewayAccess, Protocol } from '../../src/gateway/types.ts'
import { accessTo, aServer, type Forged, failure, goodGateway, sendJson } from './forged.ts'

const model = 'gpt-5.6-sol'

/** The answers of other services to an unknown path. */
const unknownPaths = {
  'an error of an API': [404, { error: { message: 'Invalid URL', type: 'invalid_request_error' } }],
  "FastAPI's": [404, { detail: 'Not Found' }],
  'a 200 with an error of Z.ai': [200, { code: 500, msg: '404 NOT_FOUND', success: false }],
  'a 200 with an error of LM Studio': [200, { error: 'Unexpected endpoint or method. (GET /x)' }],
  'a 400 for a path without a provider': [
    400,
    { error: [{ code: 2008, message: 'Invalid provider' }] },
  ],
  'a web page': [200, '<!doctype html><title>Welcome</title>'],
} as const

interface Layout {
  readonly chat?: string
  readonly messages?: string
  readonly hasList?: boolean
  readonly unknown?: readonly [number, unknown]
}

/** A gateway whose routes are below these paths. */
function aGateway({ chat, messages, hasList = true, unknown }: Layout): Promise<Forged> {
  const [status, body] = unknown ?? unknownPaths["FastAPI's"]
  return aServer((request, response) => {
    const usualPath = usualUrl(request.url, chat, messages)
    if (usualPath !== undefined && (hasList || usualPath !== '/v1/models'))
      return goodGateway({ ...request, url: usualPath }, response)
    if (typeof body !== 'string') return sendJson(response, status, body)
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(body)
  })
}

/** The URL of the same route at the usual gateway, or undefined if this one has no such route. */
function usualUrl(url: string, chat?: string, messages?: string): string | undefined {
  const isMessages = url.includes('/v1/messages')
  const root = isMessages ? messages : chat
  if (root === undefined || !url.startsWith(`${root}/`)) return undefined
  const route = url.slice(root.length)
  if (isMessages) return route.startsWith('/v1/messages') ? route : undefined
  return /^\/(?:models|chat\/completions|responses)$/.test(route) ? `/v1${route}` : undefined
}

function access(server: Forged, prefix: string): GatewayAccess {
  const usual = accessTo(server, { prefix })
  return { ...usual, baseUrls: assumedBaseUrls(usual.address) }
}

const asked = ({ seen }: Forged) => seen.map(({ method, url }) => `${method} ${url}`)

/** The paths of the base URLs that are found from one address, for clients of these protocols. */
async function find(server: Forged, prefix: string, protocols: readonly Protocol[]) {
  const requester = new GatewayRequester(access(server, prefix))
  const catalog = await requester.requestCatalog()
  await Promise.all(protocols.map((protocol) => requester.probe({ protocol, model, catalog })))
  const { chat, messages } = requester.access.baseUrls
  return { chat: new URL(chat).pathname, messages: new URL(messages).pathname }
}

test.each([
  ['https://gw.example', '/v1 /'],
  ['https://gw.example/prefix', '/prefix/v1 /prefix'],
  ['https://gw.example/openai', '/openai/v1 /openai'],
  ['https://gw.example/api/paas/v4', '/api/paas/v4 /api/paas/v4/v1'],
  ['https://gw.example/API/V1', '/API/V1 /API/V1/v1'],
  ['https://gw.example/v1beta/openai', '/v1beta/openai /v1beta/openai/v1'],
  ['https://gw.example/v1/account/team/compat', '/v1/account/team/compat'],
])('%s: looks for the chat routes at %s first', (baseUrl, expected) => {
  const paths = chatBaseUrls(baseUrl).map((root) => new URL(root).pathname)
  expect(paths.join(' ')).toMatch(new RegExp(`^${expected}`))
})

test('no candidate has another origin, and none is repeated', () => {
  for (const path of [
    '',
    '/a',
    '/a/v3',
    '/anthropic',
    '/a/b/c/d/e/f/v1beta/openai',
    '/apps/anthropic',
  ])
    for (const roots of [chatBaseUrls, messagesBaseUrls]) {
      const found = roots(`https://gw.example:8443${path}`)
      expect(new Set(found).size).toBe(found.length)
      expect(found.length).toBeLessThan(10)
      for (const root of found) expect(root).toMatch(/^https:\/\/gw\.example:8443(?:\/|$)(?!.*\/$)/)
    }
})

test('the usual gateway gets no additional request', async () => {
  const server = await aServer(goodGateway)
  expect(await find(server, '', ['chat', 'messages'])).toEqual({ chat: '/v1', messages: '/' })
  expect(asked(server)).toEqual([
    'GET /v1/models',
    'POST /v1/chat/completions',
    'POST /v1/messages?beta=true',
  ])
})

test('a gateway whose address ends in another version gets no additional request', async () => {
  const server = await aGateway({ chat: '/api/v3', messages: '/api/v3' })
  await find(server, '/api/v3', ['responses', 'messages'])
  expect(asked(server)).toEqual([
    'GET /api/v3/models',
    'POST /api/v3/responses',
    'POST /api/v3/v1/messages?beta=true',
  ])
})

test.each(Object.entries(unknownPaths))(
  'uses the address as typed if other paths answer with %s',
  async (_, unknown) => {
    const typed = await aGateway({ chat: '/inference', hasList: false, unknown })
    const requester = new GatewayRequester(access(typed, '/inference'))
    const catalog = await requester.requestCatalog()
    expect(catalog.kind).toBe('failed')
    await requester.probe({ protocol: 'chat', model, catalog })
    expect(requester.access.baseUrls.chat).toMatch(/\/inference$/)
  },
)

test.each([
  ['', '/v1', '/anthropic'],
  ['/coding', '/coding/v1', '/coding'],
  ['/api/paas/v4', '/api/paas/v4', '/api/anthropic'],
  ['/api/coding/v3', '/api/coding/v3', '/api/coding'],
  ['/v1/a/team/openai', '/v1/a/team/openai', '/v1/a/team/anthropic'],
  ['/compatible-mode', '/compatible-mode/v1', '/apps/anthropic'],
  ['/anthropic', '/v1', '/anthropic'],
  ['/api/anthropic', '/api/paas/v4', '/api/anthropic'],
])('finds both base URLs from %s: %s and %s', async (prefix, chat, messages) => {
  for (const unknown of [unknownPaths['a web page'], unknownPaths['a 200 with an error of Z.ai']]) {
    const server = await aGateway({ chat, messages, unknown })
    expect(await find(server, prefix, ['messages', 'chat'])).toEqual({ chat, messages })
  }
})

test('a wrong key is reported as such, also if the first address was no API', async () => {
  for (const [prefix, chat] of [
    ['/inference', '/inference'],
    ['/api/v4', '/api/v4'],
    ['', '/v1'],
  ]) {
    const server = await aGateway({ chat: chat! })
    const withWrongKey = { ...access(server, prefix!), key: 'sk-another' }
    const answer = await new GatewayRequester(withWrongKey).requestCatalog()
    expect(answer).toMatchObject({ kind: 'failed', error: { code: 'key-rejected' } })
  }
})

test('if nothing answers, the error is that of the first address, and the hint names all of them', async () => {
  const server = await aGateway({})
  const requester = new GatewayRequester(access(server, '/p'))
  const answer = await requester.requestCatalog()
  const error = answer.kind === 'failed' ? answer.error : undefined
  expect(error).toMatchObject({
    code: 'wrong-route',
    message: expect.stringContaining('/p/models'),
  })
  expect(error?.hint).toMatch(/ http:\/\/[\d.:]+\/p\/v1\/models\.$/)
  const word = await failure(requester.probe({ protocol: 'chat', model, catalog: answer }))
  expect(word).toMatchObject({ code: 'wrong-route', message: error?.message })
  expect(word.hint).toMatch(/\/p\/chat\/completions, .*\/p\/v1\/chat\/completions\.$/)
})

test('a gateway without the messages protocol is reported as such', async () => {
  const server = await aGateway({ chat: '/v1' })
  const requester = new GatewayRequester(access(server, ''))
  const catalog = await requester.requestCatalog()
  const error = await failure(requester.probe({ protocol: 'messages', model, catalog }))
  expect(error).toMatchObject({
    code: 'protocol-unsupported',
    message: expect.stringContaining('messages'),
  })
})

test('the base URL of --messages-url is the only one that is asked', async () => {
  const server = await aGateway({ chat: '/v1', messages: '/anthropic' })
  const usual = access(server, '')
  const given = {
    ...usual,
    baseUrls: { ...usual.baseUrls, messages: `${usual.address}/claude` },
  }
  const requester = new GatewayRequester(given, { isMessagesGiven: true })
  await failure(
    requester.probe({
      protocol: 'messages',
      model,
      catalog: { kind: 'received', catalog: { models: [{ id: model }] } },
    }),
  )
  expect(asked(server)).toEqual(['POST /claude/v1/messages?beta=true'])
})

test('chat and responses at two different base URLs are not accepted as one gateway', async () => {
  const server = await aServer((request, response) =>
    request.url === '/p/v1/chat/completions' || request.url === '/p/responses'
      ? goodGateway({ ...request, url: request.url.replace(/^\/p(?:\/v1)?/, '/v1') }, response)
      : sendJson(response, 404, { detail: 'Not Found' }),
  )
  const requester = new GatewayRequester(access(server, '/p'))
  const [chat, responses] = await Promise.allSettled([
    requester.probe({ protocol: 'chat', model }),
    requester.probe({ protocol: 'responses', model }),
  ])
  expect(responses.status).toBe('fulfilled')
  expect(chat).toMatchObject({
    status: 'rejected',
    reason: { code: 'protocol-unsupported', hint: expect.stringContaining('--base-url URL') },
  })
  expect(requester.access.baseUrls.chat).toMatch(/\/p$/)
})
