import { expect, test } from 'vitest'
import type { LoggedRequest, ProtocolName } from '../../../src/serve/index.ts'
import { gistOfAnswer, gistOfQuestion } from '../../../src/serve/page/read/gist.ts'
import { readExchange } from '../../../src/serve/transcript/exchange.ts'
import { aRequest } from '../support/a-request.ts'
import { conversations, spoken, spokenIn } from '../support/conversations.ts'
import { aGateway, ask, paths, saying } from '../support/gateway.ts'

const names = Object.keys(conversations) as ProtocolName[]
const modelOf = (protocol: ProtocolName) =>
  protocol === 'messages' ? 'claude-opus-5-5' : 'gpt-5.6'

/** A request read, and what the list of the page says of it. */
function reading(more: Partial<LoggedRequest>) {
  const request = aRequest(more)
  const exchange = readExchange(request)
  return {
    ...exchange,
    asks: gistOfQuestion(exchange.question, request),
    says: gistOfAnswer(exchange, request),
  }
}

test.each(names)('a conversation over %s: reads as the same turns', (protocol) => {
  const requestBody = JSON.stringify(conversations[protocol])
  const { question, asks } = reading({ protocol, path: paths[protocol], requestBody })
  expect(question!.system).toBe('Be short.')
  expect(question!.tools.map(({ name }) => name)).toEqual(['weather'])
  expect(spokenIn(question!.turns)).toMatchObject(spoken)
  expect(asks).toBe('weather → rain')
})

test.each(names)('an answer over %s: a stream reads as a whole answer does', async (protocol) => {
  const gateway = await aGateway()
  const { tools } = conversations[protocol]
  for (const words of ['#call weather {"city":"New York"}', 'hello there']) {
    const said = { ...saying(paths[protocol], words, modelOf(protocol)), tools }
    for (const stream of [false, true]) await ask(gateway, paths[protocol], { ...said, stream })
    const [whole, streamed] = gateway.requests().slice(-2).map(readExchange)
    const bare = JSON.stringify(whole!.answer!.parts).replaceAll(/"id":"\w+"/g, '')
    expect(JSON.stringify(streamed!.answer!.parts).replaceAll(/"id":"\w+"/g, '')).toBe(bare)
    for (const fact of ['finish', 'model'] as const)
      expect([fact, streamed!.answer![fact]]).toEqual([fact, whole!.answer![fact]])
    const { inputTokens, outputTokens } = gateway.requests().at(-1)!
    expect(whole!.answer!.usage).toMatchObject({ inputTokens, outputTokens })
    if (protocol !== 'chat') expect(streamed!.answer!.usage).toEqual(whole!.answer!.usage)
    expect(bare).toContain(words === 'hello there' ? 'You said: hello there' : 'New York')
  }
  const gists = gateway.requests().map((request) => reading(request).says)
  expect(gists[1]).toBe('weather(New York)')
  expect(gists[3]).toContain('You said: hello there')
})

test.each(names)(
  'an answer over %s that is cut off: what came of it is there',
  async (protocol) => {
    const gateway = await aGateway({ faults: [{ cutAfter: 9 }] })
    const words = 'a sentence that is long enough to be cut in two'
    const body = { ...saying(paths[protocol], words, modelOf(protocol)), stream: true }
    await ask(gateway, paths[protocol], body).then((answer) => answer.text().catch(() => ''))
    await expect.poll(() => gateway.requests()[0]!.state).toBe('cut')
    const { says } = reading(gateway.requests()[0]!)
    expect(says).toMatch(/^\S+ on the local gateway.* … cut off$/)
  },
)

test('an answer of a vendor: cached and reasoning tokens are told apart', () => {
  const usageOf = (protocol: ProtocolName, usage: object) => {
    const responseBody = JSON.stringify({ usage })
    return reading({ protocol, responseBody }).answer!.usage
  }
  const cache = { cache_read_input_tokens: 30, cache_creation_input_tokens: 5 }
  const cached = { inputTokens: 45, cachedTokens: 30, outputTokens: 7, reasoningTokens: 0 }
  expect(usageOf('messages', { input_tokens: 10, ...cache, output_tokens: 7 })).toEqual(cached)
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
  const said = [
    '<system-reminder>\nMany words.\n</system-reminder>',
    '<a><b>  fix the\n build <system-reminder>x</system-reminder>',
  ]
  const content = said.map((text) => ({ type: 'text', text }))
  const environment = { role: 'system', content: '# Environment' }
  const requestBody = JSON.stringify({ messages: [{ role: 'user', content }, environment] })
  expect(reading({ protocol: 'messages', requestBody }).asks).toBe('<a><b> fix the build')
})

test.each([
  ['Summarise: <document>Many words.</document>', 'Summarise: <document>Many words.</document>'],
  ['<b>bold</b> and <code>x</code>', '<b>bold</b> and <code>x</code>'],
  ['<current_datetime>now</current_datetime>\n\nping', 'ping'],
])('the gist: keeps what stands in tags: %j', (content, gist) => {
  const requestBody = JSON.stringify({ messages: [{ role: 'user', content }] })
  expect(reading({ protocol: 'chat', requestBody }).asks).toBe(gist)
})

test('the gist: a wrong route is read by what it was meant for, anything else by its line', () => {
  const requestBody = JSON.stringify({ input: 'ping' })
  const gist = (path: string) => reading({ protocol: undefined, path, requestBody }).asks
  expect(gist('/v1/v1/responses?x=1')).toBe('ping')
  expect(gist('/v1/embeddings')).toBe('POST /v1/embeddings')
})

test('the gist: an error is told in the words that help most', () => {
  const responseBody = '{"error":{"message":"Overloaded"},"type":"error"}'
  const gist = (more: object) => reading({ responseBody, status: 529, ...more }).says
  const event = 'event: error\ndata: {"type":"error","message":"Gone"}\n\n'
  const cut = { responseBody: '', status: undefined, state: 'cut' }
  expect(gist({ reason: '/v1 stands twice' })).toBe('/v1 stands twice')
  expect(gist({})).toBe('Overloaded')
  expect(gist({ responseBody: event })).toBe('Gone')
  expect(gist(cut)).toBe('cut off before an answer')
})

test('reading: takes whatever a client sends', () => {
  const odd = [{ role: 1, content: [[1], { type: 5 }] }]
  const values = [null, 0, '', 'x', [], [null, 1], {}, { type: 'x' }, odd]
  const members = 'messages input tools system choices output content error'.split(' ')
  for (const protocol of names)
    for (const value of values) {
      const body = Object.fromEntries(members.map((name) => [name, value]))
      const requestBody = JSON.stringify(body)
      const event = { ...body, type: 'response.x.delta', delta: value, item: value, index: 3 }
      const stream = `data: ${requestBody}\n\ndata: ${JSON.stringify(event)}\n\n`
      for (const responseBody of [requestBody, stream, 'data: [', '{"a"']) {
        const { asks, says } = reading({ protocol, requestBody, responseBody })
        expect([typeof asks, typeof says]).toEqual(['string', 'string'])
      }
    }
})
