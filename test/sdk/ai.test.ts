import { beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

const { generateObject, generateText, streamText, tool, stepCountIs, Output, APICallError } =
  await sdk('ai')
const { z } = await sdk('zod')
const { createOpenAI } = await sdk('@ai-sdk/openai')
const { createAnthropic } = await sdk('@ai-sdk/anthropic')
const { createOpenAICompatible } = await sdk('@ai-sdk/openai-compatible')

let gateway: Gateway

beforeEach(async () => {
  gateway = await aGateway()
})

const tree: unknown = z.object({
  value: z.number(),
  get children() {
    return z.array(tree as typeof z)
  },
})

/** The SDK sends a different schema for each, and checks the answer against the schema of zod. */
const kinds = {
  'a length': z.string().min(3).max(5),
  'a pattern': z.string().regex(/^[A-Z]{3}-\d{4}$/),
  'an address': z.email(),
  'a link': z.url(),
  'an id': z.uuid(),
  'a time': z.iso.datetime(),
  'a date': z.iso.date(),
  'an ip': z.ipv4(),
  'a cuid': z.cuid2(),
  bounds: z.number().gt(2).lt(3),
  'an integer': z.int().min(7),
  steps: z.number().multipleOf(0.5).min(0.7),
  'a choice': z.enum(['b', 'a']),
  'a literal': z.literal('x'),
  'or nothing': z.string().min(2).nullable(),
  perhaps: z.string().min(2).optional(),
  'a default': z.string().min(2).default('ab'),
  'a list': z.array(z.string().min(1)).min(2).max(3),
  'a tuple': z.tuple([z.string(), z.number().min(4)]),
  'a record': z.record(z.string(), z.number()),
  'a union': z.union([z.object({ a: z.string().min(1) }), z.number()]),
  'kinds of objects': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), x: z.string().min(1) }),
    z.object({ kind: z.literal('b'), y: z.number() }),
  ]),
  'two at once': z.intersection(
    z.object({ a: z.string().min(1) }),
    z.object({ b: z.number().min(2) }),
  ),
  'a tree': tree,
  'a deep one': z.object({ a: z.object({ b: z.array(z.object({ c: z.literal(5) })).min(1) }) }),
}

/**
 * The kinds that OpenAI's strict schemas reject: every member is required, every object is closed, and
 * there is no `oneOf` and no format `uri` or `cuid2`.
 */
const looseKinds = ['perhaps', 'a default', 'a record', 'kinds of objects', 'a link', 'a cuid']

/** OpenAI rejects the list of `items`, which JSON Schema 2020-12 does not have. */
const rejectedKind = 'a tuple'

type Access = { baseURL: string; apiKey: string }

const compatible = { name: 'gateway', includeUsage: true, supportsStructuredOutputs: true }

describe.each([
  ['@ai-sdk/openai', 'responses', (access: Access) => createOpenAI(access)('gpt-5.6')],
  ['@ai-sdk/openai chat', 'chat', (access: Access) => createOpenAI(access).chat('gpt-5.6')],
  ['@ai-sdk/anthropic', 'messages', (access: Access) => createAnthropic(access)('claude-opus-5-5')],
  [
    '@ai-sdk/openai-compatible',
    'chat',
    (access: Access) => createOpenAICompatible({ ...compatible, ...access })('gpt-5.4'),
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
    const asked = { model: model(), prompt: 'plan', output: Output.object({ schema }) }
    const { output } = await generateText(asked)
    expect(output).toEqual({ city: '', days: 0, tags: [] })
  })

  test.each(Object.entries(kinds))(`${name}: an object with %s`, async (kind, member) => {
    const schema = z.object({ member })
    const strictAlone = { model: model(), prompt: 'plan' }
    const isLoose = protocol !== 'messages' && looseKinds.includes(kind)
    if (isLoose)
      await expect(generateObject({ ...strictAlone, schema })).rejects.toThrow(
        "Invalid schema for response_format 'response': In context=(",
      )

    if (protocol !== 'messages' && kind === rejectedKind) {
      await expect(generateObject({ ...strictAlone, schema })).rejects.toThrow(
        "is not of type 'object', 'boolean'",
      )
      return
    }

    const strictJsonSchema = !isLoose
    const providerOptions = { openai: { strictJsonSchema }, gateway: { strictJsonSchema } }
    const asked = { ...strictAlone, providerOptions }
    const { output } = await generateText({ ...asked, output: Output.object({ schema }) })
    expect(schema.safeParse(output).error).toBeUndefined()
    const { object } = await generateObject({ ...asked, schema })
    expect(object).toEqual(output)
  })

  test(`${name}: an array, a choice, and a call that is required`, async () => {
    const asked = { model: model(), prompt: 'plan' }
    const output = Output.array({ element: z.object({ a: z.string() }) })
    const list = await generateText({ ...asked, output })
    expect(Array.isArray(list.output)).toBe(true)
    const choice = await generateText({ ...asked, output: Output.choice({ options: ['x', 'y'] }) })
    expect(choice.output).toBe('x')
    // This SDK cannot force a tool call of the vendor's newest models.
    if (name === '@ai-sdk/anthropic') return
    const called = await generateText({ ...asked, tools, toolChoice: 'required' })
    expect(called.toolResults[0].output).toBe('rain in ')
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
    const asked = generateText({ model: model(), prompt: 'ping', maxRetries: 0 })
    const error = await asked.catch((thrown: unknown) => thrown)
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: status, isRetryable })
  })
})
