import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { vendorErrorNames } from '../../src/serve/faults/faults.ts'
import type {
  GatewayOptions,
  GatewayScope,
  WrittenReply,
  WrittenRule,
} from '../../src/serve/index.ts'
import { aFile, aGateway, ask, askJson, jsonOf, sseEvents } from './support/gateway.ts'

/** The API with which authors of tests start and control a gateway. */

const chat = (content: string, more: object = {}) => ({
  model: 'gpt-5.4',
  messages: [{ role: 'user', content }],
  ...more,
})
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]

const say = (to: Pick<GatewayScope, 'url' | 'key'>, content: string, more: object = {}) =>
  ask(to, '/v1/chat/completions', chat(content, more))

async function textOf(answer: Promise<Response>): Promise<string> {
  return (await jsonOf(answer)).choices[0].message.content
}

test('startGateway: returns the addresses for the SDKs', async () => {
  const { url, openaiUrl, anthropicUrl } = await aGateway()
  expect([openaiUrl, anthropicUrl]).toEqual([`${url}/v1`, url])
})

describe('startGateway: a scenario', () => {
  const scenario = { answers: [{ when: 'weather', reply: 'It rains.' }] }

  test('startGateway: may be an object, a path, or the path in scenarioFile', async () => {
    const path = await aFile(JSON.stringify(scenario), 'answers.json')
    const given: GatewayOptions[] = [{ scenario }, { scenario: path }, { scenarioFile: path }]
    for (const options of given)
      expect(await textOf(say(await aGateway(options), 'the weather'))).toBe('It rains.')
  })

  test.each<[string, object, string]>([
    ['an option', { scenarios: [] }, 'startGateway() does not know the option scenarios'],
    ['a scenario', { scenario: { answer: [] } }, 'The scenario: answer is unknown'],
    ['a rule', { scenario: { answers: [{ replies: 'x' }] } }, 'answers[0].replies is unknown'],
    ['a reply', { scenario: { answers: [{ reply: { txt: 'x' } }] } }, 'txt is unknown'],
    ['a fault', { faults: [{ eror: 'quota' }] }, 'A fault: faults[0].eror is unknown'],
    ['an invalid fault', { faults: [{ error: 'tired' }] }, 'faults[0].error must be one of'],
    ['a model', { models: [{ name: 'x' }] }, 'models: [0].name is unknown'],
    ['an empty list of models', { models: [] }, 'models: the document must have at least one'],
  ])('startGateway: rejects %s', async (_, options, message) => {
    const error = await aGateway(options).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'usage' })
    expect((error as Error).message).toContain(message)
  })

  test('startGateway: rejects a reply with a condition of a fault', async () => {
    // @ts-expect-error a reply has the effects of a fault, and its rule has the conditions
    const reply: WrittenReply = { status: 400, holds: 'include' }
    const error = await aGateway({ scenario: { answers: [{ reply }] } }).catch((thrown) => thrown)
    expect((error as Error).message).toContain('answers[0].reply.holds is unknown')
  })

  test('setFaults: rejects unknown faults, and keeps the old ones', async () => {
    const gateway = await aGateway({ faults: [{ status: 502 }] })
    // @ts-expect-error a typing error
    expect(() => gateway.setFaults([{ stauts: 503 }])).toThrow('stauts is unknown')
    expect((await say(gateway, 'ping')).status).toBe(502)
  })
})

test('startGateway: models may be IDs', async () => {
  const gateway = await aGateway({
    models: ['mine', { id: 'other', ownedBy: 'me', endpointTypes: ['openai'] }],
  })
  const { data } = await askJson(gateway, '/v1/models')
  expect(data.map(({ id }: { id: string }) => id)).toEqual(['mine', 'other'])
  expect(await textOf(say(gateway, 'ping', { model: 'mine' }))).toBe('pong')
})

test('a saved list keeps the facts of its models', async () => {
  const listed = { context_length: 32_000 }
  const gateway = await aGateway({
    models: [{ id: 'm', ownedBy: 'x', endpointTypes: ['openai'], listed }],
  })
  expect((await askJson(gateway, '/v1/models')).data[0]).toMatchObject({ id: 'm', ...listed })
  const headers = { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' }
  const { data } = await askJson(gateway, '/v1/models', undefined, headers)
  expect(data[0]).toMatchObject({ id: 'm', type: 'model', ...listed })
})

describe('an answer function', () => {
  test('a function: receives the question, and may leave it to the scenario', async () => {
    const asked: unknown[] = []
    const gateway = await aGateway({
      scenario: { answers: [{ reply: 'from the scenario' }] },
      answer({ messages, ...question }) {
        asked.push({ ...question, turns: messages.length })
        if (question.text === 'call') return { call: 'weather', with: { city: 'Paris' } }
        return question.text === 'leave' ? undefined : `You said ${question.text}`
      },
    })
    expect(await textOf(say(gateway, 'hello', { tools }))).toBe('You said hello')
    expect(await textOf(say(gateway, 'leave'))).toBe('from the scenario')
    const called = await jsonOf(say(gateway, 'call', { tools }))
    expect(called.choices[0].message.tool_calls[0].function).toEqual({
      name: 'weather',
      arguments: '{"city":"Paris"}',
    })
    const question = { text: 'hello', model: 'gpt-5.4', protocol: 'chat' }
    expect(asked[0]).toMatchObject({ ...question, afterTool: false, tools: ['weather'], turns: 1 })
    expect(asked[0]).toMatchObject({ system: '', toolResults: [], turn: 1 })
  })

  const fail = () => {
    throw new Error('expected 1 to be 2')
  }

  test.each<[string, () => unknown, string]>([
    ['throws', fail, 'expected 1 to be 2'],
    ['rejects', () => Promise.reject(new Error('no luck')), 'no luck'],
  ])(
    'a function that %s: 500, with the stack on stderr and in the log',
    async (_, answer, problem) => {
      const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
      onTestFinished(() => printed.mockRestore())
      const gateway = await aGateway({ answer: answer as () => string })
      const refused = await say(gateway, 'hello', { tools })
      expect(refused.status).toBe(500)
      expect((await jsonOf(refused)).error).toMatchObject({
        code: 'answer_failed',
        message: expect.stringContaining(problem),
      })
      expect(gateway.requests()[0]!.reason).toMatch(/authors\.test\.ts:\d+/)
      expect((printed.mock.calls[0]![0] as Error).stack).toContain('authors.test.ts')
    },
  )

  test.each<[string, () => unknown, string]>([
    ['returns an invalid answer', () => ({ txt: 'x' }), 'txt is unknown'],
    [
      'calls no tool of it',
      () => ({ call: 'no' }),
      'It calls no; the request lets it call weather',
    ],
  ])('the client gets a 400 from a function that %s', async (_, answer, problem) => {
    const gateway = await aGateway({ answer: answer as () => string })
    const refused = await say(gateway, 'hello', { tools })
    expect(refused.status).toBe(400)
    expect((await jsonOf(refused)).error).toMatchObject({
      code: 'answer_failed',
      message: expect.stringContaining(problem),
    })
  })
})

describe('strict', () => {
  test('strict: a question without a written answer is an error that names it', async () => {
    const gateway = await aGateway({
      strict: true,
      scenario: { answers: [{ when: 'weather', reply: 'It rains.' }] },
    })
    expect(await textOf(say(gateway, 'the weather?'))).toBe('It rains.')
    const refused = await say(gateway, 'ping')
    expect(refused.status).toBe(400)
    expect((await jsonOf(refused)).error).toMatchObject({
      type: 'invalid_request_error',
      code: 'no_answer',
      message: expect.stringContaining('No answer is written for "ping" (chat, gpt-5.4).'),
    })
    expect(gateway.requests().at(-1)!.reason).toContain('No answer is written for "ping"')
  })

  test('strict: names the rule that matches, and why it has no answer', async () => {
    const answers: WrittenRule[] = [
      { when: 'x', reply: { call: 'wether' } },
      { when: 'once', reply: 'here', repeat: 'never' },
    ]
    const gateway = await aGateway({ strict: true, scenario: { answers } })
    const message = async (content: string) =>
      (await jsonOf(say(gateway, content, { tools }))).error.message
    expect(await message('x')).toContain(
      'Rule 1 fits. It calls wether; the request lets it call weather.',
    )
    expect(await textOf(say(gateway, 'once'))).toBe('here')
    expect(await message('once')).toContain('Rule 2 fits. It has no answer left.')
  })
})

describe('conditions', () => {
  const asked = [
    { role: 'system', content: 'You are a Pirate.' },
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'Heavy rain' },
  ]

  test.each<[string, WrittenRule['when']]>([
    ['the system prompt', { system: 'pirate' }],
    ['the result of a tool', { toolResult: 'heavy' }],
    ['the turn', { turn: 2 }],
    ['a header', { header: { 'X-Test': 'seven' } }],
    [
      'a function',
      ({ system, turn, headers }) => `${system} ${turn}`.length + headers['x-test']!.length > 20,
    ],
    ['a function next to others', { turn: 2, test: ({ toolResults }) => toolResults.length === 1 }],
  ])('when matches %s', async (_, when) => {
    const answers: WrittenRule[] = [{ when: when!, reply: 'matched' }]
    const gateway = await aGateway({ scenario: { answers } })
    const body = { model: 'gpt-5.4', messages: asked, tools }
    const path = '/v1/chat/completions'
    const headers = { 'x-test': 'seventy' }
    expect(await textOf(ask(gateway, path, body, headers))).toBe('matched')
    const other = { ...body, messages: [{ role: 'user', content: 'go' }] }
    expect(await textOf(ask(gateway, path, other, { 'x-test': '' }))).not.toBe('matched')
  })

  test('an answer may be asynchronous', async () => {
    const gateway = await aGateway({
      answer: async ({ text }) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return `You said ${text}`
      },
    })
    expect(await textOf(say(gateway, 'hello'))).toBe('You said hello')
  })

  test('a client that disconnects before its answer frees its place', async () => {
    let answer = (_: string) => {}
    const gateway = await aGateway({ answer: () => new Promise((resolve) => (answer = resolve)) })
    const controller = new AbortController()
    const { signal } = controller
    const path = '/v1/chat/completions'
    const asking = ask(gateway, path, { ...chat('x'), stream: true }, {}, { signal })
    await expect.poll(() => gateway.requests().length).toBe(1)
    controller.abort()
    await expect(asking).rejects.toThrow()
    await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
    answer('too late')
    await new Promise((resolve) => setImmediate(resolve))
    expect([gateway.openStreams(), gateway.requests()[0]!.state]).toEqual([0, 'cut'])
  })
})

test('unused: lists the answers that no request used', async () => {
  const answers: WrittenRule[] = [
    { when: 'weather', reply: ['rain', 'sun'] },
    { when: 'never', reply: 'x' },
  ]
  const gateway = await aGateway({ scenario: { answers } })
  await say(gateway, 'weather')
  expect(gateway.unused()).toEqual(['answers[0].reply[1]', 'answers[1].reply[0]'])
  const scope = await gateway.scope({ scenario: { answers: [answers[1]!] } })
  await say(scope, 'never')
  expect(scope.unused()).toEqual([])
})

test('requests: have their JSON next to its text', async () => {
  const gateway = await aGateway()
  await say(gateway, 'ping')
  const [request] = gateway.requests()
  expect(request!.json.messages[0].content).toBe('ping')
  expect(JSON.stringify(request)).not.toContain('"json"')
})

test('strict: an answer whose arguments do not fit the schema of the tool is an error', async () => {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
  const reply = (city: unknown) => ({ call: 'weather', with: { city } })
  const answers: WrittenRule[] = [{ when: 'wrong', reply: reply(7) }, { reply: reply('Paris') }]
  const gateway = await aGateway({ strict: true, scenario: { answers } })
  expect((await say(gateway, 'right', { tools })).status).toBe(200)
  const { error } = await jsonOf(say(gateway, 'wrong', { tools }))
  expect(error.code).toBe('answer_failed')
  expect(error.message).toContain(
    'The arguments of weather do not fit its schema: city: it must be of type string, not number.',
  )
  const lenient = await gateway.scope({ scenario: { answers } })
  expect((await say(lenient, 'wrong', { tools })).status).toBe(200)
})

describe('scopes', () => {
  test('scopes: each has its own answers, faults and requests, at the same time', async () => {
    const gateway = await aGateway({ scenario: { answers: [{ reply: 'the gateway' }] } })
    const scopes = await Promise.all(
      ['a', 'b', 'c'].map((name) => gateway.scope({ answer: () => `scope ${name}` })),
    )
    scopes[2]!.setFaults([{ error: 'quota' }])
    const answers = await Promise.all([
      textOf(say(gateway, '1')),
      textOf(say(scopes[0]!, '2')),
      textOf(say(scopes[1]!, '3')),
      say(scopes[2]!, '4').then(({ status }) => status),
    ])
    expect(answers).toEqual(['the gateway', 'scope a', 'scope b', 403])
    expect(scopes.map((scope) => scope.requests().length)).toEqual([1, 1, 1])
    expect(gateway.requests()).toHaveLength(4)
    expect(scopes[0]!.openaiUrl).toBe(gateway.openaiUrl)
    const logged = JSON.stringify(gateway.requests())
    for (const { key } of [gateway, ...scopes]) expect(logged).not.toContain(key)
  })

  test('scopes: do not have the answers of the gateway, and can be strict', async () => {
    const gateway = await aGateway({ answer: () => 'mine', strict: true })
    expect(await textOf(say(await gateway.scope(), 'ping'))).toBe('pong')
    expect((await say(await gateway.scope({ strict: true }), 'ping')).status).toBe(400)
  })

  test('scopes: a key is valid until its scope is closed, and unique', async () => {
    const gateway = await aGateway()
    const key = 'sk-my-own-key'
    const scope = await gateway.scope({ key })
    await expect(gateway.scope({ key: 'my-own-key' })).rejects.toThrow('same key')
    await expect(gateway.scope({ key: 'short' })).rejects.toThrow('too short')
    // @ts-expect-error only a gateway has a port
    await expect(gateway.scope({ port: 5 })).rejects.toThrow(
      'scope() does not know the option port',
    )
    expect((await say(scope, 'ping')).status).toBe(200)
    await scope.close()
    expect((await say(scope, 'ping')).status).toBe(401)
    expect(gateway.refusedKeys()).toBe(1)
    expect(JSON.stringify(gateway.requests())).not.toContain(key)
  })

  test('scopes: the key of a scope cannot change the faults of the gateway', async () => {
    const gateway = await aGateway()
    const { key } = await gateway.scope()
    const headers = { authorization: `Bearer ${key}` }
    const body = '[{"error":"quota"}]'
    const put = await fetch(`${gateway.url}/_repoint/faults`, { method: 'PUT', headers, body })
    expect([put.status, (await say(gateway, 'ping')).status]).toEqual([401, 200])
  })
})

test('refused keys are counted, however many requests the log keeps', async () => {
  const gateway = await aGateway({ limits: { loggedRequests: 2 } })
  for (let count = 0; count < 5; count++)
    await ask(gateway, '/v1/models', undefined, { authorization: 'Bearer sk-another-one' })
  await fetch(`${gateway.url}/v1/responses`, { method: 'POST' })
  await ask(gateway, '/v1/models')
  await fetch(`${gateway.url}/v1/nowhere`)
  expect(gateway.refusedKeys()).toBe(6)
  const counters = await jsonOf(fetch(`${gateway.url}/_repoint/counters`))
  expect(counters).toEqual({ refusedKeys: 6, openStreams: 0 })
})

describe('the vendors’ errors by name', () => {
  const routes = {
    '/v1/chat/completions': chat('ping'),
    '/v1/responses': { model: 'gpt-5.6', input: 'ping' },
    '/v1/messages': { ...chat('ping'), model: 'claude-opus-5-5', max_tokens: 50 },
  }

  // docs.test.ts checks statuses and types against the table in docs/gateway.md.
  test.each(vendorErrorNames)('%s: has each vendor’s shape', async (error) => {
    const gateway = await aGateway({ faults: [{ error }] })
    const openais = new Set<string>()
    for (const [path, body] of Object.entries(routes)) {
      const answer = await ask(gateway, path, body)
      const sent = await jsonOf(answer)
      const { message, type } = sent.error
      if (path === '/v1/messages') {
        const request_id = answer.headers.get('request-id')
        expect(sent).toEqual({ type: 'error', error: { type, message }, request_id })
      } else {
        expect(Object.keys(sent.error)).toEqual(['message', 'type', 'param', 'code'])
        expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
        openais.add(`${answer.status} ${type}`)
      }
      expect(message).not.toMatch(/request id|MODEL/)
    }
    expect(openais.size).toBe(1)
  })

  test('rate_limit_error: reports the remaining requests and when to retry', async () => {
    const gateway = await aGateway({ faults: [{ error: 'rate_limit_error' }] })
    const openai = await ask(gateway, '/v1/responses', routes['/v1/responses'])
    expect(openai.headers.get('retry-after')).toBe('1')
    expect(openai.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const anthropic = await ask(gateway, '/v1/messages', routes['/v1/messages'])
    expect(anthropic.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
  })

  test.each(Object.entries(routes))(
    'a named error comes within the stream of %s',
    async (path, body) => {
      const gateway = await aGateway({ faults: [{ error: 'overloaded_error', errorAfter: 2 }] })
      const answer = await ask(gateway, path, { ...body, stream: true })
      expect(answer.status).toBe(200)
      const events = sseEvents(await answer.text())
      expect(events).toHaveLength(3)
      const last = JSON.parse(events[2]!.data)
      const error = { type: 'overloaded_error', message: 'Overloaded' }
      if (path === '/v1/messages') expect(last).toEqual({ type: 'error', error })
      else expect(JSON.stringify(last)).toContain('currently overloaded')
      const whole = await ask(gateway, path, body)
      expect(whole.status).toBe(path === '/v1/messages' ? 529 : 503)
    },
  )

  test.each(Object.entries(routes))('faults count the frames of %s', async (path, body) => {
    const gateway = await aGateway()
    const frames = async () => {
      const answer = await ask(gateway, path, { ...body, stream: true })
      let [text, cut] = ['', false]
      try {
        for await (const piece of answer.body!) text += new TextDecoder().decode(piece)
      } catch {
        cut = true
      }
      return { count: sseEvents(text).length, cut }
    }
    const whole = await frames()
    expect(whole.count).toBeGreaterThan(3)
    for (let count = 0; count < whole.count; count++) {
      gateway.setFaults([{ cutAfter: count }])
      expect(await frames()).toMatchObject({ count, cut: true })
      gateway.setFaults([{ errorAfter: count }])
      expect(await frames()).toEqual({ count: count + 1, cut: false })
    }
    gateway.setFaults([{ cutAfter: 2, betweenMs: 1 }])
    expect(await frames()).toMatchObject({ count: 2, cut: true })
    gateway.setFaults([{ cutAfter: 0, betweenMs: 1 }])
    expect(await frames()).toMatchObject({ count: 0, cut: true })
  })
})
