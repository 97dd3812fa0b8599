import { describe, expect, test } from 'vitest'
import { exitStatus } from '../../../src/errors.ts'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import {
  base,
  bodies,
  key,
  model,
  newApiRows,
  otherGateways,
  pages,
  type Row,
} from '../../fixtures/gateway/answers.ts'

const routes = {
  catalog: '/v1/models',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages?beta=true',
} as const

interface Answer {
  readonly asked: Row[1]
  readonly status: number
  readonly body: Row[3]
  readonly more?: Row[5] | undefined
}

function diagnoseRow([, asked, status, body, , more]: Row) {
  return diagnoseAnswer({ asked, status, body, more })
}

function diagnoseAnswer({ asked, status, body, more = {} }: Answer) {
  const json = typeof body !== 'string'
  const baseUrl = more.base ?? base
  return diagnose(
    {
      url: baseUrl + routes[asked],
      status,
      headers: { 'content-type': json ? 'application/json' : 'text/html', ...more.headers },
      body: json ? JSON.stringify(body) : body,
      ...(more.cut === undefined ? {} : { cut: more.cut }),
      ...(more.proxy === undefined ? {} : { proxy: more.proxy }),
    },
    {
      asked,
      baseUrl,
      secrets: [key],
      ...(asked === 'catalog' ? {} : { model }),
      ...more.request,
    },
  )
}

const rows = [...newApiRows, ...otherGateways, ...pages, ...bodies]

describe('diagnose: an answer has exactly one outcome', () => {
  test.each(rows.map((row) => [row[0], row[4], row] as const))('%s: %s', (_name, expected, row) => {
    expect(diagnoseRow(row)?.code ?? 'fine').toBe(expected)
  })
})

test('diagnose: the table has at least 60 answers, each with a different name', () => {
  expect(rows.length).toBeGreaterThanOrEqual(60)
  expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length)
})

test('diagnose: a 401 about the key is never reported as a wrong address, on any route', () => {
  const keyRows = rows.filter(([name]) => /bad key/.test(name))
  expect(keyRows.length).toBeGreaterThan(10)
  for (const row of keyRows) expect(diagnoseRow(row)?.code).toBe('key-rejected')
})

test('diagnose: a wrong address is never reported as a wrong key', () => {
  const addressRows = rows.filter(([name]) => /route|page|404|405|portal/.test(name))
  expect(addressRows.length).toBeGreaterThan(15)
  for (const row of addressRows) expect(diagnoseRow(row)?.code).not.toBe('key-rejected')
})

describe('diagnose: every outcome', () => {
  const bad = rows.filter(([, , , , expected]) => expected !== 'fine')

  test.each(bad.map((row) => [row[0], row] as const))(
    '%s: is one line without the key and names a next step',
    (_name, row) => {
      const { code, message, hint } = diagnoseRow(row)!
      expect(exitStatus[code]).toBeGreaterThan(1)
      for (const line of [message, hint]) {
        expect(line).not.toMatch(/\p{Cc}/u)
        expect(line).not.toContain(key)
        expect(line.length).toBeGreaterThan(10)
        expect(line.length).toBeLessThan(500)
      }
      expect(message).not.toMatch(/\.$/)
      expect(hint).not.toMatch(/\.\.$/)
    },
  )
})

test('diagnose: shows the request id once, and removes it from the message', () => {
  const row = newApiRows.find(([name]) => name === 'new-api: bad key')!
  expect(diagnoseRow(row)).toMatchObject({
    message: expect.stringMatching(/ \(HTTP 401: "Invalid token"\)$/),
    requestId: '20261121091500123456789abcdefgh',
  })
})

test('diagnose: finds the request id in the message if no header has it', () => {
  const row = newApiRows.find(([name]) => name === 'new-api: bad key, Chinese')!
  expect(diagnoseAnswer({ asked: row[1], status: row[2], body: row[3] })?.requestId).toBe(
    '2026112109',
  )
})

test('diagnose: names the nearest models of the catalog', () => {
  const catalog = {
    models: ['gpt-5.6-soL', 'gpt-5.6-terra', 'claude-opus-4-8'].map((id) => ({ id })),
  }
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 404,
    body: { error: { code: 'model_not_found' } },
    more: { request: { catalog } },
  })
  expect(outcome?.hint).toContain('--model gpt-5.6-soL, or --model gpt-5.6-terra')
})

test('diagnose: suggests no alias of the model that the gateway rejects', () => {
  const ids = [model, 'gpt-5.6', 'gpt-5.6-terra', 'gpt-5.5']
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 404,
    body: { error: { code: 'model_not_found' } },
    more: { request: { catalog: { models: ids.map((id) => ({ id })) } } },
  })
  expect(outcome?.hint).toContain('--model gpt-5.6-terra')
  expect(outcome?.hint).not.toMatch(/--model gpt-5\.6(,|$)/)
  expect(outcome?.hint).not.toContain(`--model ${model}`)
})

test('diagnose: says so when the catalog lists the model that cannot be served', () => {
  const catalog = { models: [{ id: model }] }
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 503,
    body: { error: { code: 'model_not_found' } },
    more: { request: { catalog } },
  })
  expect(outcome?.message).toContain('although it lists it')
})

test('diagnose: removes escape sequences, line breaks and direction marks of a gateway', () => {
  const words = '\u001b[31mBoom\u001b[0m\nsecond \u202eline\u0007 \u009b2J end'
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 500,
    body: { error: { message: words } },
  })
  expect(outcome?.message).toMatch(/ \(HTTP 500: "Boom second line 2J end"\)$/)
})

test('diagnose: a key that a gateway echoes is not repeated', () => {
  const row = otherGateways.find(([name]) => name === 'OpenAI: bad key')!
  expect(diagnoseRow(row)?.message).toContain('Incorrect API key provided: ....')
})

test('diagnose: cuts a long message of a gateway', () => {
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 500,
    body: { error: { message: '错'.repeat(5_000) } },
  })
  expect(outcome?.message.length).toBeLessThan(300)
})

test('diagnose: a redirect to the same API elsewhere names the new base URL', () => {
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 308,
    body: '',
    more: {
      base: 'http://gw.example/ai',
      headers: { location: 'https://new.example/llm/v1/chat/completions' },
    },
  })
  expect(outcome?.message).toContain('redirects to https://new.example/llm/v1/chat/completions')
  expect(outcome?.message).toContain('The key was not sent there')
  expect(outcome?.hint).toContain('--base-url https://new.example/llm')
})

test('diagnose: a rate limit says how long to wait', () => {
  const outcome = diagnoseAnswer({
    asked: 'chat',
    status: 429,
    body: {},
    more: { headers: { 'retry-after': '17' } },
  })
  expect(outcome?.hint).toContain('in 17 s')
})

const failing = (
  status: number,
  body: string | object,
  more: Row[5] = {},
  asked: Row[1] = 'catalog',
) => diagnoseAnswer({ asked, status, body, more })!

describe('diagnose: redirects without a usable target', () => {
  test.each([
    ['to itself', { location: '/v1/models' }],
    ['to itself with another query', { location: 'https://gw.example/v1/models?a=b' }],
  ])('%s: no new base URL is made up', (_name, headers) => {
    const { message, hint } = failing(302, '', { headers })
    expect(message).toContain('https://gw.example/v1/models to itself (HTTP 302)')
    expect(hint).not.toContain('--base-url https://gw.example')
  })

  test.each([{}, { location: '' }, { location: 'http://[' }, { location: 'app://login' }])(
    'without a usable location: %j',
    (headers) => {
      expect(failing(302, '', { headers }).message).toContain('without naming a web address')
    },
  )

  test('a 304 comes from a cache, and is no redirect', () => {
    expect(failing(304, '').message).toContain('"not modified"')
  })
})

test('diagnose: names a bot check in front of the gateway, whatever its status and body', () => {
  for (const row of pages.filter(([name]) => /Cloudflare: (?:challenge|blocked)/.test(name)))
    expect(diagnoseRow(row)?.message).toContain('Cloudflare checks for bots')
  const broken = pages.find(([name]) => name === 'Cloudflare: 521')!
  expect(diagnoseRow(broken)?.message).not.toContain('for bots')
})

test('diagnose: an answer above the size limit is reported as too long', () => {
  const cut = { cut: 'limit', headers: { 'content-type': 'application/json' } } as const
  expect(failing(200, '{"data":[', cut).message).toContain('a list of models of more than 8 MB')
  expect(failing(200, 'data: {"choices":[]}\n\n', cut, 'chat').message).toContain(
    'more than 4 MB in answer to one word',
  )
})

describe('diagnose: request ids', () => {
  test.each([
    ['Boom (request id: 2026a) (request id: 2026b)', 'Boom', '2026a'],
    ['Boom, request id: 2026a.', 'Boom.', '2026a'],
    ['Boom. Request-ID "2026a"', 'Boom', '2026a'],
    ['Boom （request_id：2026a）!', 'Boom!', '2026a'],
    ['No request id given', 'No request id given', undefined],
  ])('%s', (words, shown, requestId) => {
    const outcome = failing(500, { error: { message: words } })
    expect(outcome.message).toContain(`(HTTP 500: "${shown}")`)
    expect(outcome.requestId).toBe(requestId)
  })

  test('that contain the key are not shown', () => {
    const more = { headers: { 'x-request-id': key.toUpperCase() } }
    expect(failing(500, {}, more).requestId).toBeUndefined()
  })

  test('are found quickly in a long message', () => {
    const started = performance.now()
    failing(500, { error: { message: `${' '.repeat(200_000)}request id ${':'.repeat(200_000)}` } })
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

test('diagnose: a key that a gateway puts into an address is not repeated', () => {
  const location = `https://evil.example/${key}/v1/models`
  const { message, hint } = failing(302, '', { headers: { location } })
  expect(message + hint).not.toContain(key)
})

/** An error of New API. */
const newApiError = (message: string, more: object = {}) => ({
  error: { message, type: 'new_api_error', ...more },
})
/** An error without signs of a product. */
const apiError = (message: string, more: object = {}) => ({ error: { message, ...more } })
const page = (title: string, text = '') => `<html><title>${title}</title>${text}</html>`
const head = (name: string, value: string) => ({ headers: { [name]: value } })
const plain = head('content-type', 'text/plain')
const plainHttp = { base: 'http://gw.example' }
const onTls = 'The plain HTTP request was sent to HTTPS port'
const proven = { request: { isBaseProven: true } }
const asking = (name: string) => ({ request: { model: name } })

/** Answers that each rule matches, and similar ones that it must not match. */
type Border = readonly [
  asked: Row[1],
  status: number,
  body: Row[3],
  outcome: Row[4],
  more?: Row[5],
  says?: string,
]
const borders: readonly Border[] = [
  ['chat', 400, apiError('an unexpected endpoint'), 'protocol-unsupported'],
  ['chat', 400, apiError('the model not exist'), 'model-unknown'],
  ['chat', 400, apiError('the model behaves oddly'), 'request-rejected'],
  ['chat', 400, apiError('no credentials for provider x'), 'model-unknown'],
  ['chat', 401, apiError('Missing scope: model.request'), 'route-not-allowed'],
  [
    'chat',
    400,
    apiError('Missing header x-team-id'),
    'header-missing',
    {},
    'header x-team-id in addition',
  ],
  [
    'chat',
    400,
    apiError('We require the required header: "x-team-id"'),
    'header-missing',
    {},
    'header x-team-id in addition',
  ],
  ['chat', 500, apiError('x-tenant header is required'), 'gateway-fault'],
  ['chat', 200, '', 'gateway-fault', { cut: 'encoding' }, 'compressed its answer'],
  ['catalog', 200, page('Hi'), 'not-an-api', { cut: 'limit' }, 'A web page answers'],
  ['chat', 200, page('Hi'), 'not-an-api', { cut: 'limit' }, 'A web page answers'],
  [
    'chat',
    200,
    '{"choi',
    'gateway-fault',
    { ...plain, cut: 'connection' },
    'stopped in the middle',
  ],
  ['chat', 200, '{"choi', 'gateway-fault', { ...plain, cut: 'limit' }, 'sent more than 4 MB'],
  ['catalog', 200, '{"da', 'gateway-fault', { ...plain, cut: 'limit' }, 'of more than 8 MB'],
  ['catalog', 300, '', 'redirected', {}, 'redirects without naming'],
  ['catalog', 399, '', 'redirected', {}, 'redirects without naming'],
  ['chat', 407, '', 'proxy', {}, 'The proxy on the way asks for'],
  ['chat', 400, page('400 No required SSL certificate was sent'), 'tls', {}, 'mutual TLS'],
  ['chat', 400, page('400 The SSL certificate error'), 'tls', {}, 'mutual TLS'],
  ['chat', 407, '', 'proxy', { proxy: 'p:1' }, 'The proxy p:1 asks for'],
  ['chat', 400, '', 'proxy', head('server', 'squid/5'), 'The proxy on the way answered'],
  [
    'chat',
    400,
    '',
    'proxy',
    { ...head('server', 'squid/5'), proxy: 'p:1' },
    'The proxy p:1 answered',
  ],
  ['chat', 500, '', 'gateway-fault', head('server', 'my-squid'), 'an error of its own'],
  [
    'chat',
    200,
    apiError('no', { code: 'invalid_api_key' }),
    'key-rejected',
    head('server', 'squid'),
  ],
  ['chat', 400, onTls, 'tls', { ...plain, ...plainHttp }, 'speaks only https'],
  ['chat', 400, onTls, 'not-an-api', plain],
  ['chat', 500, onTls, 'gateway-fault', { ...plain, ...plainHttp }],
  ['chat', 400, 'nope', 'not-an-api', { ...plain, ...plainHttp }],
  ['chat', 422, 'nope', 'not-an-api', plain],
  [
    'chat',
    401,
    apiError('unauthorized client'),
    'client-refused',
    {},
    'accepts only certain clients',
  ],
  [
    'chat',
    403,
    apiError('unauthorized client'),
    'client-refused',
    {},
    'accepts only certain clients',
  ],
  ['chat', 400, apiError('unauthorized client'), 'client-refused'],
  ['chat', 500, apiError('unauthorized client'), 'gateway-fault'],
  ['chat', 503, apiError('this group only allows Claude Code clients'), 'client-refused'],
  [
    'chat',
    500,
    apiError('no', { type: 'upstream_error' }),
    'gateway-fault',
    {},
    'an error of its own',
  ],
  [
    'chat',
    401,
    apiError('no', { type: 'upstream_error' }),
    'gateway-fault',
    {},
    'service behind it',
  ],
  ['catalog', 503, apiError('no', { code: 'model_not_found' }), 'gateway-fault'],
  ['chat', 400, apiError('no', { code: 'invalid_api_key' }), 'key-rejected'],
  ['chat', 403, apiError(`no ${model}`, { code: 'invalid_api_key' }), 'key-rejected'],
  ['chat', 404, apiError('no', { code: 'invalid_api_key' }), 'key-rejected'],
  ['chat', 500, apiError('no', { code: 'invalid_api_key' }), 'key-rejected'],
  ['chat', 500, apiError('no', { code: 'unsupported_endpoint' }), 'wrong-route'],
  ['messages', 500, apiError('not implemented'), 'protocol-unsupported'],
  ['messages', 503, apiError('not implemented'), 'gateway-fault'],
  ['messages', 500, apiError('it is not implemented'), 'gateway-fault'],
  [
    'messages',
    400,
    apiError('Your credit balance is low', { type: 'invalid_request_error' }),
    'quota',
  ],
  [
    'messages',
    429,
    apiError('Your credit balance is low', { type: 'invalid_request_error' }),
    'quota',
  ],
  ['messages', 400, apiError('Your credit balance is low', { type: 'new_api_error' }), 'quota'],
  [
    'messages',
    400,
    apiError('The model is odd', { type: 'invalid_request_error' }),
    'request-rejected',
  ],
  ['chat', 500, page('Oh'), 'gateway-fault', {}, 'answers with a web page'],
  ['chat', 501, page('Oh'), 'not-an-api'],
  ['chat', 505, page('Oh'), 'not-an-api'],
  ['chat', 501, page('Oh'), 'protocol-unsupported', proven],
  ['chat', 410, page('Oh'), 'protocol-unsupported', proven],
  ['catalog', 400, apiError('no', { param: 'model' }), 'gateway-fault', {}, 'rejects the request'],
  ['chat', 400, apiError('no', { param: 'model' }), 'model-unknown'],
  ['chat', 499, apiError('no', { param: 'model' }), 'model-unknown'],
  ['chat', 500, apiError('no', { param: 'model' }), 'gateway-fault'],
  ['chat', 400, apiError(`no ${model}`, { param: 'messages' }), 'request-rejected'],
  ['chat', 400, apiError(`no ${model}`), 'model-unknown'],
  ['chat', 401, apiError('no'), 'forbidden', head('www-authenticate', 'Basic')],
  [
    'chat',
    401,
    'no',
    'not-an-api',
    { headers: { 'content-type': 'text/plain', 'www-authenticate': 'Basic' } },
  ],
  ['chat', 401, 'no', 'forbidden', plain],
  ['chat', 401, 'no key', 'key-rejected', plain],
  ['chat', 401, '', 'key-rejected', plain],
  ['chat', 401, {}, 'key-rejected'],
  [
    'chat',
    401,
    'x',
    'key-rejected',
    {
      headers: { 'content-type': 'text/plain', 'www-authenticate': 'Bearer error="invalid_token"' },
    },
  ],
  ['chat', 403, apiError('left: $5'), 'quota'],
  ['chat', 403, apiError('left: $ 5'), 'quota'],
  ['chat', 403, apiError('left: ＄-5'), 'quota'],
  ['chat', 403, apiError('the $ is odd'), 'forbidden'],
  ['chat', 500, apiError('balance too low'), 'quota'],
  ['chat', 410, apiError('no'), 'wrong-route'],
  ['chat', 501, apiError('no'), 'wrong-route'],
  ['chat', 404, apiError(`no ${model}`), 'model-unknown'],
  ['chat', 500, newApiError(`no ${model}`), 'model-unknown'],
  ['chat', 502, newApiError(`no ${model}`), 'gateway-fault'],
  ['chat', 500, newApiError('no'), 'gateway-fault'],
  ['chat', 500, apiError(`no ${model}`, { type: 'server_error' }), 'gateway-fault'],
  ['chat', 500, apiError(`no ${model}`, { type: 'new_api_errors' }), 'gateway-fault'],
  ['chat', 500, apiError(`no ${model}`, { type: 'a new_api_error' }), 'gateway-fault'],
  ['chat', 500, apiError(`no ${model}`, { code: 'get_channel_failed' }), 'model-unknown'],
  ['chat', 200, apiError(`no ${model}`), 'model-unknown'],
  ['chat', 200, apiError('no'), 'gateway-fault'],
  ['chat', 403, page('Just a moment...'), 'gateway-fault', {}, 'checks for bots'],
  ['chat', 503, page('  Just a moment...'), 'gateway-fault', {}, 'checks for bots'],
  ['chat', 403, page('Only just a moment'), 'not-an-api'],
  ['chat', 500, page('Just a moment...'), 'gateway-fault', {}, 'answers with a web page'],
  ['chat', 503, apiError('just a moment'), 'gateway-fault', {}, 'an error of its own'],
  [
    'chat',
    400,
    apiError('no'),
    'gateway-fault',
    head('cf-mitigated', 'challenge'),
    'checks for bots',
  ],
  [
    'chat',
    200,
    apiError('no'),
    'gateway-fault',
    head('cf-mitigated', 'challenge'),
    'an error of its own',
  ],
  [
    'chat',
    403,
    page('Sorry', '<i class=cf-error>'),
    'gateway-fault',
    { headers: { 'content-type': 'text/html', 'cf-ray': '1' } },
    'checks for bots',
  ],
  ['chat', 403, page('Sorry', '<i class=cf-error>'), 'not-an-api'],
  [
    'chat',
    403,
    page('Sorry'),
    'not-an-api',
    { headers: { 'content-type': 'text/html', 'cf-ray': '1' } },
  ],
  [
    'chat',
    503,
    page('Sorry', '<i class=cf-error>'),
    'gateway-fault',
    { headers: { 'content-type': 'text/html', 'cf-ray': '1' } },
    'answers with a web page',
  ],
  ['chat', 403, apiError('a problem'), 'forbidden', asking('a')],
  ['chat', 403, apiError('no o3 for you'), 'model-not-allowed', asking('o3')],
  ['chat', 403, apiError(`no x${model}`), 'forbidden'],
  ['chat', 403, apiError(`no ${model}ar`), 'forbidden'],
  ['chat', 403, apiError(`no ${model}-x`), 'forbidden'],
  ['chat', 403, apiError(`"${model}"`), 'model-not-allowed'],
]

for (const [asked, status, body, code, more = {}, says = ''] of borders) {
  test(`diagnose: ${asked} ${status} ${JSON.stringify(body)} is ${code}`, () => {
    const outcome = diagnoseAnswer({ asked, status, body, more })
    expect([outcome?.code, outcome?.message]).toEqual([code, expect.stringContaining(says)])
  })
}

test('a model without a price is not reported as forbidden for the key', () => {
  const outcome = diagnose(
    {
      url: 'https://gw.example/v1/responses',
      status: 500,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        error: {
          code: 'model_price_error',
          message: 'Model m ratio or price not set',
          type: 'new_api_error',
        },
      }),
    },
    { asked: 'responses', baseUrl: 'https://gw.example', model: 'm', secrets: [] },
  )
  expect(outcome?.code).toBe('model-not-allowed')
  expect(outcome?.message).toContain('no price')
  expect(outcome?.message).not.toContain('key')
  expect(outcome?.message).toContain('the model m')
})

describe('diagnose: the message of an outcome', () => {
  test('names the nearest other models for an unknown one, and says whether it is listed', () => {
    const unknown = (...ids: string[]) =>
      failing(
        404,
        { error: { code: 'model_not_found' } },
        { request: { catalog: { models: ids.map((id) => ({ id })) } } },
        'chat',
      )
    expect(unknown(model, `${model}-x`)).toMatchObject({
      message: expect.stringContaining(`${model}, although it lists it (HTTP 404)`),
      hint: expect.stringMatching(/--model \S+-x$/),
    })
    expect(unknown('whisper-1')).toMatchObject({
      message: expect.stringContaining(`${model} (HTTP 404)`),
      hint: expect.stringMatching(/--model ID$/),
    })
    const code = { error: { code: 'model_not_found' } }
    expect(failing(404, code, {}, 'chat').hint).toMatch(/--model ID$/)
  })

  test('names the requested model and protocol', () => {
    const message = (asked: Row[1]) => failing(405, apiError('no'), proven, asked).message
    expect(message('chat')).toContain(`${model} over the chat completions protocol (`)
    expect(message('messages')).toContain(`${model} over the messages protocol (`)
    expect(failing(400, apiError('no'), proven, 'chat').message).toContain(
      `for ${model} (HTTP 400: "no")`,
    )
    const forbidden = { error: { code: 'model_not_allowed' } }
    expect(failing(403, forbidden, {}, 'chat').message).toContain(`the model ${model} (HTTP 403)`)
  })

  test('suggests --model only if the forbidden route is the list of models', () => {
    const hint = (asked: Row[1]) => failing(401, apiError('Missing scopes: x'), {}, asked).hint
    expect(hint('catalog')).toContain('--model ID')
    expect(hint('chat')).not.toContain('--model')
  })

  test('suggests another header for the key unless the gateway reads every header', () => {
    expect(failing(401, apiError('no')).tryOtherKeyHeader).toBe(true)
    expect(failing(401, apiError('no'), head('x-oneapi-request-id', '1')).tryOtherKeyHeader).toBe(
      false,
    )
  })

  test('distinguishes a web page, its login, plain text and an API', () => {
    const message = (status: number, body: string, more: Row[5] = {}) =>
      failing(status, body, more).message
    const basic = head('www-authenticate', 'Basic realm="x"')
    expect(message(404, page('x'), basic)).toMatch(/^A web page answers at /)
    expect(message(401, page('x'), basic)).toContain('its own login')
    expect(message(200, 'hello', plain)).toMatch(
      /^The answer from https:\/\/gw\.example\/v1\/models .* \(HTTP 200: "hello"\)$/,
    )
    const both = head('www-authenticate', 'Basic realm="x", Bearer')
    expect(failing(401, page('x'), both).code).toBe('key-rejected')
    expect(failing(405, apiError('x')).hint).not.toContain('--model')
  })

  test.each(['', 'x5', '5 or so', '1234567'])(
    'says "in a minute" for a Retry-After of %j',
    (wait) => {
      expect(failing(429, {}, head('retry-after', wait)).hint).toContain('in a minute')
    },
  )

  test.each([
    ['x-request-id', 'req-1234', 'req-1234'],
    ['request-id', 'req.1:2', 'req.1:2'],
    ['x-request-id', 'two 1234', undefined],
    ['x-request-id', '1234 two', undefined],
    ['x-request-id', '123', undefined],
  ])('reads the id from the header %s: %s as %s', (name, value, requestId) => {
    expect(failing(500, {}, head(name, value)).requestId).toBe(requestId)
  })

  test.each(['( request id: req-abc1 )', 'requestid=req-abc1', 'Request_ID: "req-abc1"'])(
    'finds the id in the message %s',
    (words) => {
      const outcome = failing(500, apiError(`Boom ${words}`))
      expect(outcome.message).toContain('(HTTP 500: "Boom")')
      expect(outcome.requestId).toBe('req-abc1')
    },
  )
})

describe('diagnose: redirects', () => {
  const redirectOf = (url: string, location: string, baseUrl = 'https://gw.example/ai') =>
    diagnose(
      { url, status: 302, headers: { location }, body: '' },
      { asked: 'catalog', baseUrl, secrets: [] },
    )!

  test.each(['xhttp://new.example/', 'httpsx://new.example/'])(
    '%s is no web address',
    (location) => {
      expect(redirectOf('https://gw.example/ai/v1/models', location).message).toContain(
        'without naming a web address',
      )
    },
  )

  test('within the origin have no sentence about the key', () => {
    const { message } = redirectOf('https://gw.example/ai/v1/models', '/login?next=x')
    expect(message).toBe('gw.example redirects to https://gw.example/login (HTTP 302)')
  })

  test('to plain http are reported too', () => {
    const { message } = redirectOf('https://gw.example/ai/v1/models', 'http://new.example/')
    expect(message).toContain('to http://new.example/ (HTTP 302). The key was not sent there')
  })

  test('from outside of the prefix to itself are circular', () => {
    const { message } = redirectOf('https://gw.example/login', '/login')
    expect(message).toContain('to itself')
  })

  test('to a host after two slashes suggest no base URL', () => {
    const { message, hint } = redirectOf(
      'https://gw.example/ai/v1/models',
      '//evil.example/v1/models',
    )
    expect(message).toContain(
      'redirects to https://evil.example/v1/models (HTTP 302). The key was not',
    )
    expect(hint).not.toContain('evil')
  })

  test('from the root itself suggest no base URL', () => {
    const { hint } = redirectOf('https://gw.example/ai', 'https://new.example/ai')
    expect(hint).not.toContain('--base-url https')
  })
})
