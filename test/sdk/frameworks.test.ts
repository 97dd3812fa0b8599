import { beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

/** Agent frameworks: each sends a prompt, calls a tool and continues with its result. */

const { z } = await sdk('zod')
const prompt = '#call weather {"city":"Paris"}'
const finalText = 'weather returned: rain in Paris'
const city = z.object({ city: z.string() })
const rain = async ({ city }: { city: string }) => `rain in ${city}`

let gateway: Gateway

beforeEach(async () => {
  // LlamaIndex sends a temperature, and Mastra and pi-ai send tools of gpt-5.6 on chat.
  gateway = await aGateway({ families: 'rewritten' })
})

/** The gateway rejected no request, and knew every route. */
function expectNoRefusal() {
  const refused = gateway.requests().filter(({ status }) => status !== 200)
  expect(refused.map(({ path, status, reason }) => [path, status, reason])).toEqual([])
}

describe('@anthropic-ai/sdk: the tool runner', async () => {
  const { default: Anthropic } = await sdk('@anthropic-ai/sdk')
  const { betaZodTool } = await sdk('@anthropic-ai/sdk/helpers/beta/zod')
  const weather = betaZodTool({ name: 'weather', description: 'x', inputSchema: city, run: rain })
  const messages = [{ role: 'user', content: prompt }]
  const params = { model: 'claude-opus-5-5', max_tokens: 500, messages, tools: [weather] }

  test.each([
    ['over a message thread', {}],
    ['over a message thread, streamed', { stream: true }],
    ['without a thread', { thread: false }],
  ])('the tool runner: %s', async (_, more) => {
    const client = new Anthropic({ baseURL: gateway.anthropicUrl, apiKey: gateway.key })
    const runner = client.beta.messages.toolRunner({ ...params, ...more })
    const message = await runner.runUntilDone()
    expect(message.content[0].text).toBe(finalText)
    expectNoRefusal()
    const bodies = gateway.requests().map(({ requestBody }) => JSON.parse(requestBody))
    const threads = bodies.map(({ thread }) => thread?.type)
    expect(threads).toEqual('thread' in more ? [undefined, undefined] : ['create', 'continue'])
  })

  test('a message thread: continues over several turns', async () => {
    const client = new Anthropic({ baseURL: gateway.anthropicUrl, apiKey: gateway.key })
    const thread = client.beta.messages.thread({ model: 'claude-opus-5-5', max_tokens: 100 })
    await thread.send({ role: 'user', content: 'One' })
    const second = await thread.send({ role: 'user', content: 'ping' })
    expect(second.content[0].text).toBe('pong')
    expectNoRefusal()
  })
})

describe('openai: tools', async () => {
  const { default: OpenAI } = await sdk('openai')

  test('openai: runTools', async () => {
    const client = new OpenAI({ baseURL: gateway.openaiUrl, apiKey: gateway.key })
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    const weather = { name: 'weather', parse: JSON.parse, function: rain, parameters }
    const runner = client.chat.completions.runTools({
      model: 'gpt-5.6',
      messages: [{ role: 'user', content: prompt }],
      tools: [{ type: 'function', function: weather }],
    })
    expect(await runner.finalContent()).toBe(finalText)
    expectNoRefusal()
  })
})

describe('LangChain', async () => {
  const { ChatOpenAI } = await sdk('@langchain/openai')
  const { ChatAnthropic } = await sdk('@langchain/anthropic')
  const { createAgent, tool } = await sdk('langchain')
  const ofOpenAI = () => {
    const { key: apiKey, openaiUrl: baseURL } = gateway
    return { apiKey, configuration: { baseURL } }
  }
  const ofAnthropic = () => ({ apiKey: gateway.key, anthropicApiUrl: gateway.anthropicUrl })
  const [gpt, claude] = [{ model: 'gpt-5.6' }, { model: 'claude-opus-5-5', maxTokens: 500 }]
  const models = {
    ChatOpenAI: () => new ChatOpenAI({ ...gpt, ...ofOpenAI() }),
    'ChatOpenAI over responses': () =>
      new ChatOpenAI({ ...gpt, ...ofOpenAI(), useResponsesApi: true }),
    ChatAnthropic: () => new ChatAnthropic({ ...claude, ...ofAnthropic() }),
  }

  test.each(Object.entries(models))('LangChain: %s', async (_, model) => {
    expect((await model().invoke('ping')).text).toBe('pong')
    let streamed = ''
    for await (const piece of await model().stream('one two')) streamed += piece.text
    expect(streamed).toContain('You said: one two')
    const weather = tool(rain, { name: 'weather', description: 'x', schema: city })
    const agent = createAgent({ model: model(), tools: [weather] })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] })
    expect(messages.at(-1).text).toBe(finalText)
    const fitted = await model().withStructuredOutput(city).invoke('a city')
    expect(city.safeParse(fitted).success).toBe(true)
    expectNoRefusal()
  })
})

test('LlamaIndex: a chat engine', async () => {
  const { Settings, SimpleChatEngine } = await sdk('llamaindex')
  const { OpenAI } = await sdk('@llamaindex/openai')
  Settings.llm = new OpenAI({ model: 'gpt-5.6', apiKey: gateway.key, baseURL: gateway.openaiUrl })
  const { message } = await new SimpleChatEngine().chat({ message: 'ping' })
  expect(message.content).toBe('pong')
  expectNoRefusal()
})

test.each([false, true])('OpenAI Agents: a tool and its result, streamed: %s', async (stream) => {
  const { Agent, OpenAIProvider, Runner, tool } = await sdk('@openai/agents')
  const modelProvider = new OpenAIProvider({ apiKey: gateway.key, baseURL: gateway.openaiUrl })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  const weather = tool({ name: 'weather', description: 'x', parameters: city, execute: rain })
  const agent = new Agent({ name: 'a', model: 'gpt-5.6', instructions: 'x', tools: [weather] })
  const result = await runner.run(agent, prompt, { stream })
  if (stream) await result.completed
  expect(result.finalOutput).toBe(finalText)
  const typed = new Agent({ name: 'b', model: 'gpt-5.6', instructions: 'x', outputType: city })
  expect(city.safeParse((await runner.run(typed, 'a city')).finalOutput).success).toBe(true)
  expectNoRefusal()
})

describe('Mastra', async () => {
  const { Agent } = await sdk('@mastra/core/agent')
  const { createTool } = await sdk('@mastra/core/tools')
  const agentOf = (tools: object = {}) => {
    const model = { id: 'openai/gpt-5.6', url: gateway.openaiUrl, apiKey: gateway.key }
    return new Agent({ id: 'a', name: 'a', instructions: 'x', tools, model })
  }

  test('Mastra: a tool and its result', async () => {
    const details = { description: 'x', inputSchema: city, execute: rain }
    const weather = createTool({ id: 'weather', ...details })
    const { text } = await agentOf({ weather }).generate(prompt, { maxSteps: 3 })
    expect(text).toContain('rain in Paris')
    expectNoRefusal()
  })

  test.each(
    Object.entries({
      'a length': z.string().min(3).max(5),
      bounds: z.number().gt(2).lt(3),
      'at least': z.number().min(7),
      'a list': z.array(z.string().min(1)).min(2).max(3),
      'an address': z.email(),
      'a date': z.iso.datetime(),
      'a pattern': z.string().regex(/^[A-Z]{3}-\d{4}$/),
      'a choice': z.enum(['b', 'a']),
      'or nothing': z.string().min(2).nullable(),
      perhaps: z.string().min(2).optional(),
      'an integer': z.int().min(1).max(3),
    }),
  )('Mastra: structured output with %s', async (_, member) => {
    const schema = z.object({ member })
    const { object } = await agentOf().generate('plan', { structuredOutput: { schema } })
    expect(schema.safeParse(object).error).toBeUndefined()
    expectNoRefusal()
  })
})

test.each([
  ['openai-completions', 'gpt-5.6'],
  ['openai-responses', 'gpt-5.6'],
  ['anthropic-messages', 'claude-opus-5-5'],
])('pi-ai: %s', async (api, id) => {
  const { complete, Type } = await sdk('@mariozechner/pi-ai')
  const model = {
    id,
    api,
    name: id,
    provider: 'gateway',
    baseUrl: api.startsWith('openai') ? gateway.openaiUrl : gateway.anthropicUrl,
    reasoning: false,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 100_000,
    maxTokens: 500,
  }
  const parameters = Type.Object({ city: Type.String() })
  const tools = [{ name: 'weather', description: 'x', parameters }]
  const asked = { role: 'user', content: prompt, timestamp: 0 }
  const options = { apiKey: gateway.key }
  const first = await complete(model, { messages: [asked], tools }, options)
  const [call] = first.content
  expect(call).toMatchObject({ type: 'toolCall', arguments: { city: 'Paris' } })
  const result = {
    role: 'toolResult',
    toolCallId: call.id,
    toolName: 'weather',
    content: [{ type: 'text', text: 'rain in Paris' }],
    isError: false,
    timestamp: 0,
  }
  const second = await complete(model, { messages: [asked, first, result], tools }, options)
  expect(second.content[0].text).toBe(finalText)
  expectNoRefusal()
})
