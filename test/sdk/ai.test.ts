import { beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

const { generateText, streamText, tool, stepCountIs, Output, APICallError } = await sdk('ai')
const { z } = await sdk('zod')
const { createOpenAI } = await sdk('@ai-sdk/openai')
const { createAnthropic } = await sdk('@ai-sdk/anthropic')
const { createOpenAICompatible } = await sdk('@ai-sdk/openai-compatible')

let gateway: Gateway

beforeEach(async () => {
  gateway = await aGateway()
})

type Access = { baseURL: string; apiKey: string }

describe.each([
  ['@ai-sdk/openai', 'responses', (access: Access) => createOpenAI(access)('gpt-5.6')],
  ['@ai-sdk/openai chat', 'chat', (access: Access) => createOpenAI(access).chat('gpt-5.6')],
  ['@ai-sdk/anthropic', 'messages', (access: Access) => createAnthropic(access)('claude-opus-5-5')],
  [
    '@ai-sdk/openai-compatible',
    'chat',
    (access: Access) =>
      createOpenAICompatible({
        name: 'gateway',
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...access,
      })('gpt-5.6'),
  ],
] as const)('%s', (name, protocol, create) => {
  const model = () => create({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key })
  const tools = {
    weather: tool({
      description: 'the weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }: { city: string }) => `rain in ${city}`,
    }),
  }
  const prompt = '#call weather {"city":"Paris"}'

  test(`${name}: text and usage`, async () => {
    const { text, usage, finishReason } = await generateText({ model: model(), prompt: 'ping' })
    expect([text, finishReason, usage.outputTokens]).toEqual(['pong', 'stop', 1])
    expect(gateway.requests()).toMatchObject([{ protocol, keyMatches: true }])
  })

  test(`${name}: a stream`, async () => {
    const { textStream, usage } = streamText({ model: model(), prompt: 'one two three' })
    const pieces: string[] = []
    for await (const piece of textStream) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toMatch(/You said: one two three$/)
    expect((await usage).outputTokens).toBe(pieces.length)
  })

  test(`${name}: an object that fits a schema`, async () => {
    const schema = z.object({ city: z.string(), days: z.number(), tags: z.array(z.string()) })
    const { output } = await generateText({
      model: model(),
      prompt: 'plan',
      output: Output.object({ schema }),
    })
    expect(output).toEqual({ city: '', days: 0, tags: [] })
  })

  test(`${name}: a tool loop, streamed or not`, async () => {
    const options = { model: model(), prompt, tools, stopWhen: stepCountIs(3) }
    const plain = await generateText(options)
    expect(plain.text).toBe('weather returned: rain in Paris')
    expect(plain.steps).toHaveLength(2)
    const streamed = streamText(options)
    await streamed.consumeStream()
    expect(await streamed.text).toBe('weather returned: rain in Paris')
    expect((await streamed.steps)[0].finishReason).toBe('tool-calls')
  })

  test.each([
    ['invalid-token', 401, false],
    ['rate-limited', 429, true],
    ['model-unknown', 503, true],
  ] as const)(`${name}: %s`, async (fault, status, isRetryable) => {
    gateway.setFaults([{ error: fault }])
    const error = await generateText({ model: model(), prompt: 'ping', maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    )
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: status, isRetryable })
  })
})
