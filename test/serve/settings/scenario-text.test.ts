import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Gateway, ProtocolName } from '../../../src/serve/index.ts'
import { scenarioText } from '../../../src/serve/settings/scenario-text.ts'
import { readExchange } from '../../../src/serve/transcript/exchange.ts'
import { aFile, aGateway, ask } from '../support/gateway.ts'

const parameters = { type: 'object', properties: { cmd: { type: 'string' } } }
const model = { chat: 'gpt-5.4', responses: 'gpt-5.6', messages: 'claude-opus-5-5' }

/** A question, its tool call with the result, and the next question, over each protocol. */
async function converse(gateway: Gateway, stream: boolean): Promise<void> {
  const question = '#call sh {"cmd":"ls -l"}\n#call sh {"cmd":"pwd"}'
  const sh = { name: 'sh', parameters }
  const chat = { model: model.chat, stream, tools: [{ type: 'function', function: sh }] }
  const named = { name: 'sh', arguments: '{"cmd":"ls -l"}' }
  const call = { id: 'call_1', type: 'function', function: named }
  const asked = { role: 'user', content: question }
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' }
  const said = [asked, { role: 'assistant', tool_calls: [call] }, result]
  await ask(gateway, '/v1/chat/completions', { ...chat, messages: [asked] })
  await ask(gateway, '/v1/chat/completions', { ...chat, messages: said })

  const responses = { model: model.responses, stream, tools: [{ type: 'function', ...sh }] }
  await ask(gateway, '/v1/responses', { ...responses, input: question })
  await ask(gateway, '/v1/responses', { ...responses, input: 'thank you' })

  const tools = [{ name: 'sh', input_schema: parameters }]
  const messages = { model: model.messages, stream, max_tokens: 90, tools }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'sh', input: { cmd: 'ls -l' } }
  const turns = [
    { role: 'user', content: question },
    { role: 'assistant', content: [use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'b.txt' }] },
  ]
  await ask(gateway, '/v1/messages', { ...messages, messages: turns.slice(0, 1) })
  await ask(gateway, '/v1/messages', { ...messages, messages: turns })
}

/** What was answered, without the ids, which are new each time. */
function answers(gateway: Gateway): unknown[] {
  return gateway.requests().map((request) => {
    const { answer, problem } = readExchange(request)
    const said = problem?.replace(/ \(request id.*/, '')
    const text = JSON.stringify([request.protocol, answer?.parts, said])
    return text.replaceAll(/"id":"\w+"/g, '')
  })
}

async function aGatewayThatPlays(text: string): Promise<Gateway> {
  return aGateway({ scenarioFile: await aFile(text) })
}

test.each([false, true])(
  'as scenario: another gateway answers the same (streamed: %s)',
  async (stream) => {
    const first = await aGatewayThatPlays(
      'answers: [{ reply: [{ text: I look., calls: [{ tool: sh, with: { cmd: "ls -l" } }, { tool: sh, with: { cmd: pwd } }] }, "There is\\na.txt.", { text: yes, call: sh }, bye, hm, { status: 529, message: Overloaded }] }]',
    )
    await converse(first, stream)
    const text = scenarioText(first.requests())!
    const second = await aGatewayThatPlays(text)
    await converse(second, stream)
    expect(answers(second)).toEqual(answers(first))
    expect(answers(second)[1]).toContain('There is\\na.txt.')
    expect(answers(second)[5]).toContain('Overloaded')
  },
)

test('as scenario: one model and one protocol need no name, and the YAML reads like written by hand', async () => {
  const gateway = await aGateway()
  for (const input of ['ping', 'hello\nyou', 'ping pong'])
    await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input })
  expect(scenarioText(gateway.requests())).toBe(`answers:
  - when:
      text: |-
        hello
        you
      afterTool: false
    reply:
      - text: |-
          gpt-5.6-sol on the local gateway. You said: hello
          you
  - when:
      text: ping pong
      afterTool: false
    reply:
      - text: "gpt-5.6-sol on the local gateway. You said: ping pong"
  - when:
      text: ping
      afterTool: false
    reply:
      - text: pong
`)
})

test('as scenario: what this gateway refuses by itself is left out, a fault is not', async () => {
  const gateway = await aGateway()
  await ask(gateway, '/v1/responses', { model: 'gpt-nope', input: 'x' })
  await ask(gateway, '/v1/v1/responses', { model: 'gpt-5.6', input: 'x' })
  await ask(gateway, '/v1/models')
  expect(scenarioText(gateway.requests())).toBe(undefined)
  gateway.setFaults([{ status: 529, message: 'Overloaded' }])
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'x' })
  const [rule] = parse(scenarioText(gateway.requests())!).answers
  expect(rule.reply).toEqual([{ status: 529, message: expect.stringContaining('Overloaded') }])
})

test("as scenario: over the page's route, without a key", async () => {
  const key = 'sk-a-canary-key-0123456789'
  const gateway = await aGateway({ key })
  const route = `${gateway.url}/_repoint/scenario?ids=`
  expect((await fetch(`${route}none`)).status).toBe(404)
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: `my key is ${key}` })
  const answer = await fetch(route + gateway.requests()[0]!.id)
  expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  const text = await answer.text()
  expect(text).not.toContain(key)
  expect(parse(text).answers).toHaveLength(1)
  expect((await fetch(route, { headers: { origin: 'http://evil.example' } })).status).toBe(403)
})

test('as scenario: the protocols stay apart', async () => {
  const gateway = await aGateway()
  await converse(gateway, false)
  const { answers: rules } = parse(scenarioText(gateway.requests())!)
  const protocols = rules.map(({ when }: { when: { protocol: ProtocolName } }) => when.protocol)
  expect(new Set(protocols)).toEqual(new Set(['chat', 'responses', 'messages']))
})

test('as scenario: thinking, the end and the tokens of another gateway are told', async () => {
  const step = {
    thinking: 'Is it?',
    text: 'yes',
    finish: 'length',
    usage: { inputTokens: 40, cachedTokens: 30, outputTokens: 9, reasoningTokens: 4 },
  }
  const real = await aGatewayThatPlays(JSON.stringify({ answers: [{ reply: step }] }))
  const gateway = await aGateway({ upstream: { url: real.url, key: real.key } })
  const reasoning = { effort: 'low', summary: 'auto' }
  const body = { model: 'gpt-5.6', input: 'is it so?', reasoning }
  for (const stream of [false, true]) await ask(gateway, '/v1/responses', { ...body, stream })
  const [rule] = parse(scenarioText(gateway.requests())!).answers
  expect(rule.reply).toEqual([step, step])
})
