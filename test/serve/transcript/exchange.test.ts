import { expect, test } from 'vitest'
import type { ProtocolName } from '../../../src/protocols.ts'
import { gistOfAnswer, gistOfQuestion } from '../../../src/serve/page/read/gist.ts'
import { readExchange } from '../../../src/serve/transcript/exchange.ts'
import { aRequest } from '../support/a-request.ts'
import { aGateway, ask, saying } from '../support/gateway.ts'

const parameters = { type: 'object', properties: { cmd: { type: 'string' } } }
const conversations: Readonly<Record<ProtocolName, readonly [path: string, body: object]>> = {
  chat: [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'list the files' },
        {
          role: 'assistant',
          content: 'I look.',
          reasoning_content: 'The folder first.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'sh', arguments: '{"cmd":"ls"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
      ],
      tools: [{ type: 'function', function: { name: 'sh', parameters } }],
    },
  ],
  responses: [
    '/v1/responses',
    {
      instructions: 'Be brief.',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'list the files' }],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'The folder first.' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'sh', arguments: '{"cmd":"ls"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
      ],
      tools: [{ type: 'function', name: 'sh', parameters }],
    },
  ],
  messages: [
    '/v1/messages',
    {
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: 'list the files' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'The folder first.', signature: 'x' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'call_1', name: 'sh', input: { cmd: 'ls' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a.txt' }],
        },
      ],
      tools: [{ name: 'sh', input_schema: parameters }],
    },
  ],
}
const names = Object.keys(conversations) as ProtocolName[]

test.each(names)('a conversation over %s: reads as the same turns', (protocol) => {
  const [path, body] = conversations[protocol]
  const request = aRequest({ protocol, path, requestBody: JSON.stringify(body) })
  const { question } = readExchange(request)
  expect(question!.system).toBe('Be brief.')
  expect(question!.tools.map(({ name }) => name)).toEqual(['sh'])
  expect(
    question!.turns.map(({ role }) => role).filter((role, at, all) => role !== all[at - 1]),
  ).toEqual(['user', 'assistant', 'tool'])
  const parts = question!.turns.flatMap((turn) => turn.parts)
  expect(parts.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toEqual([
    { type: 'text', text: 'list the files' },
    { type: 'text', text: 'I look.' },
    { type: 'thinking', text: 'The folder first.' },
    { type: 'tool-call', id: 'call_1', name: 'sh', text: '{"cmd":"ls"}' },
    { type: 'tool-result', id: 'call_1', text: 'a.txt', isError: false },
  ])
  expect(gistOfQuestion(question, request)).toBe('sh → a.txt')
})

test.each(names)('an answer over %s: a stream reads as a whole answer does', async (protocol) => {
  const gateway = await aGateway()
  const [path, body] = conversations[protocol]
  const tools = (body as { tools: unknown }).tools
  for (const words of ['#call sh {"cmd":"ls -l"}', 'hello there']) {
    const model = protocol === 'messages' ? 'claude-opus-5-5' : 'gpt-5.6'
    const said = { ...saying(path, words, model), tools }
    for (const stream of [false, true]) await ask(gateway, path, { ...said, stream })
    const [whole, streamed] = gateway.requests().slice(-2).map(readExchange)
    const bare = JSON.stringify(whole!.answer!.parts).replaceAll(/"id":"\w+"/g, '')
    expect(JSON.stringify(streamed!.answer!.parts).replaceAll(/"id":"\w+"/g, '')).toBe(bare)
    for (const fact of ['finish', 'model'] as const)
      expect([fact, streamed!.answer![fact]]).toEqual([fact, whole!.answer![fact]])
    const { inputTokens, outputTokens } = gateway.requests().at(-1)!
    expect(whole!.answer!.usage).toMatchObject({ inputTokens, outputTokens })
    if (protocol !== 'chat') expect(streamed!.answer!.usage).toEqual(whole!.answer!.usage)
    expect(bare).toContain(words === 'hello there' ? 'You said: hello there' : 'ls -l')
  }
  const gists = gateway.requests().map((request) => gistOfAnswer(readExchange(request), request))
  expect(gists[1]).toBe('sh(ls -l)')
  expect(gists[3]).toContain('You said: hello there')
})

test.each(names)(
  'an answer over %s that is cut off: what came of it is there',
  async (protocol) => {
    const gateway = await aGateway({ faults: [{ cutAfter: 9 }] })
    const [path] = conversations[protocol]
    const words = 'a sentence that is long enough to be cut in two'
    const model = protocol === 'messages' ? 'claude-opus-5-5' : 'gpt-5.6'
    await ask(gateway, path, { ...saying(path, words, model), stream: true }).then((answer) =>
      answer.text().catch(() => ''),
    )
    await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
    const [request] = gateway.requests()
    expect(gistOfAnswer(readExchange(request!), request!)).toMatch(
      /^\S+ on the local gateway.* … cut off$/,
    )
  },
)

test('an answer of a vendor: cached and reasoning tokens are told apart', () => {
  const usageOf = (protocol: ProtocolName, usage: object) => {
    const responseBody = JSON.stringify({ usage })
    return readExchange(aRequest({ protocol, responseBody })).answer!.usage
  }
  const cache = { cache_read_input_tokens: 30, cache_creation_input_tokens: 5 }
  expect(usageOf('messages', { input_tokens: 10, ...cache, output_tokens: 7 })).toEqual({
    inputTokens: 45,
    cachedTokens: 30,
    outputTokens: 7,
    reasoningTokens: 0,
  })
  const counts = { inputTokens: 40, cachedTokens: 30, outputTokens: 9, reasoningTokens: 4 }
  const chat = {
    prompt_tokens: 40,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 4 },
  }
  expect(usageOf('chat', chat)).toEqual(counts)
  const responses = {
    input_tokens: 40,
    output_tokens: 9,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens_details: { reasoning_tokens: 4 },
  }
  expect(usageOf('responses', responses)).toEqual(counts)
})

test('the gist: the words of a person stand out of what a client puts around them', () => {
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>\nMany words.\n</system-reminder>' },
        { type: 'text', text: '<a><b>  fix the\n build <system-reminder>x</system-reminder>' },
      ],
    },
    { role: 'system', content: '# Environment' },
  ]
  const request = aRequest({ protocol: 'messages', requestBody: JSON.stringify({ messages }) })
  expect(gistOfQuestion(readExchange(request).question, request)).toBe('<a><b> fix the build')
})

test.each([
  ['Summarise: <document>Many words.</document>', 'Summarise: <document>Many words.</document>'],
  ['<b>bold</b> and <code>x</code>', '<b>bold</b> and <code>x</code>'],
  ['<current_datetime>now</current_datetime>\n\nping', 'ping'],
])('the gist: keeps what stands in tags: %j', (content, gist) => {
  const requestBody = JSON.stringify({ messages: [{ role: 'user', content }] })
  const request = aRequest({ protocol: 'chat', requestBody })
  expect(gistOfQuestion(readExchange(request).question, request)).toBe(gist)
})

test('the gist: a wrong route is read by what it was meant for, anything else by its line', () => {
  const requestBody = JSON.stringify({ input: 'ping' })
  const gist = (path: string) => {
    const request = aRequest({ protocol: undefined, path, requestBody })
    return gistOfQuestion(readExchange(request).question, request)
  }
  expect(gist('/v1/v1/responses?x=1')).toBe('ping')
  expect(gist('/v1/embeddings')).toBe('POST /v1/embeddings')
})

test('the gist: an error is told in the words that help most', () => {
  const responseBody = '{"error":{"message":"Overloaded"},"type":"error"}'
  const gist = (more: object) => {
    const request = aRequest({ responseBody, status: 529, ...more })
    return gistOfAnswer(readExchange(request), request)
  }
  expect(gist({ reason: '/v1 stands twice' })).toBe('/v1 stands twice')
  expect(gist({})).toBe('Overloaded')
  expect(gist({ responseBody: 'event: error\ndata: {"type":"error","message":"Gone"}\n\n' })).toBe(
    'Gone',
  )
  expect(gist({ responseBody: '', status: undefined, state: 'cut' })).toBe(
    'cut off before an answer',
  )
})

test('reading: takes whatever a client sends', () => {
  const values = [
    null,
    0,
    '',
    'x',
    [],
    [null, 1],
    {},
    { type: 'x' },
    [{ role: 1, content: [[1], { type: 5 }] }],
  ]
  for (const protocol of names)
    for (const value of values) {
      const body = {
        messages: value,
        input: value,
        tools: value,
        system: value,
        choices: value,
        output: value,
        content: value,
        error: value,
      }
      const text = JSON.stringify(body)
      const stream = `data: ${text}\n\ndata: ${JSON.stringify({ ...body, type: 'response.x.delta', delta: value, item: value, index: 3 })}\n\n`
      for (const responseBody of [text, stream, 'data: [', '{"a"']) {
        const request = aRequest({ protocol, requestBody: text, responseBody })
        const exchange = readExchange(request)
        expect(typeof gistOfQuestion(exchange.question, request)).toBe('string')
        expect(typeof gistOfAnswer(exchange, request)).toBe('string')
      }
    }
})
