import { beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

const module = await sdk('openai')
const OpenAI = module.default

let gateway: Gateway
// biome-ignore lint/suspicious/noExplicitAny: the SDK is no dependency of ours
let client: any

beforeEach(async () => {
  gateway = await aGateway()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 })
})

const messages = [{ role: 'user', content: 'ping' }]
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const parameters = { ...city, additionalProperties: false }
const weatherCall = { name: 'weather', arguments: '{"city":"Paris"}' }
const call = '#call weather {"city":"Paris"}'

test('openai: lists and retrieves models', async () => {
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  expect(ids).toContain('gpt-5.6-sol')
  expect(await client.models.retrieve('gpt-5.6')).toMatchObject({ id: 'gpt-5.6', object: 'model' })
})

describe('openai: chat', () => {
  const tools = [{ type: 'function', function: { name: 'weather', parameters, strict: true } }]

  test('openai chat: text and usage', async () => {
    const answer = await client.chat.completions.create({ model: 'gpt-5.6', messages })
    const message = { role: 'assistant', content: 'pong' }
    expect(answer.choices[0]).toMatchObject({ message, finish_reason: 'stop' })
    expect(answer.usage).toMatchObject({ completion_tokens: 1 })
    expect(answer._request_id).toMatch(/^req_\d{23}/)
  })

  test('openai chat: the stream helper', async () => {
    const deltas: string[] = []
    const runner = client.chat.completions
      .stream({ model: 'gpt-5.6', messages, stream_options: { include_usage: true } })
      .on('content', (delta: string) => deltas.push(delta))
    expect(await runner.finalContent()).toBe('pong')
    expect(deltas.join('')).toBe('pong')
    expect(await runner.totalUsage()).toMatchObject({ completion_tokens: 1 })
  })

  test('openai chat: a tool call, streamed or not, and its result', async () => {
    const question = [{ role: 'user', content: call }]
    const body = { model: 'gpt-5.4', messages: question, tools }
    const plain = await client.chat.completions.create(body)
    const streamed = await client.chat.completions.stream(body).finalChatCompletion()
    for (const { choices } of [plain, streamed]) {
      expect(choices[0].finish_reason).toBe('tool_calls')
      expect(choices[0].message.tool_calls[0].function).toMatchObject(weatherCall)
    }
    const { message } = plain.choices[0]
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' }
    const nextBody = { ...body, messages: [...question, message, result] }
    const last = await client.chat.completions.create(nextBody)
    expect(last.choices[0].message.content).toBe('weather returned: rain')
  })
})

describe('openai: responses', () => {
  const tools = [{ type: 'function', name: 'weather', parameters, strict: true }]

  test('openai responses: text and usage', async () => {
    const answer = await client.responses.create({ model: 'gpt-5.6', input: 'ping' })
    expect(answer.output_text).toBe('pong')
    expect(answer.usage).toMatchObject({ output_tokens: 1 })
  })

  test('openai responses: the stream helper', async () => {
    const types: string[] = []
    const stream = client.responses
      .stream({ model: 'gpt-5.6', input: 'ping' })
      .on('event', ({ type }: { type: string }) => types.push(type))
    const answer = await stream.finalResponse()
    expect(answer.output_text).toBe('pong')
    expect(types).toContain('response.output_text.delta')
  })

  test('openai responses: a tool call, streamed or not, and its result', async () => {
    const question = [{ role: 'user', content: call }]
    const body = { model: 'gpt-5.6', input: question, tools }
    const plain = await client.responses.create(body)
    const streamed = await client.responses.stream(body).finalResponse()
    for (const { output } of [plain, streamed])
      expect(output[0]).toMatchObject({ type: 'function_call', ...weatherCall })
    const { call_id } = plain.output[0]
    const result = { type: 'function_call_output', call_id, output: 'rain' }
    const nextBody = { ...body, input: [...question, ...plain.output, result] }
    const last = await client.responses.create(nextBody)
    expect(last.output_text).toBe('weather returned: rain')
  })

  test('openai responses: the limit of tokens', async () => {
    const input = 'one two three '.repeat(9)
    const asked = { model: 'gpt-5.6', input, max_output_tokens: 16 }
    const answer = await client.responses.create(asked)
    expect(answer.status).toBe('incomplete')
    expect(answer.incomplete_details.reason).toBe('max_output_tokens')
  })
})

test.each([
  ['invalid-token', 'AuthenticationError', 401],
  ['quota', 'PermissionDeniedError', 403],
  ['rate-limited', 'RateLimitError', 429],
  ['model-unknown', 'InternalServerError', 503],
  ['upstream', 'InternalServerError', 502],
] as const)('openai: %s is a %s', async (fault, name, status) => {
  gateway.setFaults([{ error: fault }])
  const asked = client.responses.create({ model: 'gpt-5.6', input: 'ping' })
  const error = await asked.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(module[name])
  expect(error.status).toBe(status)
})

test('openai: a wrong route is a NotFoundError', async () => {
  const wrongClient = new OpenAI({
    baseURL: `${gateway.url}/v1/v1`,
    apiKey: gateway.key,
    maxRetries: 0,
  })
  const asked = wrongClient.responses.create({ model: 'x', input: 'ping' })
  await expect(asked).rejects.toBeInstanceOf(module.NotFoundError)
})

test('openai: an error event inside a stream is thrown', async () => {
  gateway.setFaults([{ errorAfter: 1 }])
  const body = { model: 'gpt-5.6', messages, stream: true }
  const read = async () => {
    for await (const _ of await client.chat.completions.create(body));
  }
  await expect(read()).rejects.toBeInstanceOf(module.APIError)
})

test('openai: the SDK retries a 503 and a 429, and succeeds', async () => {
  const patient = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 2 })
  gateway.setFaults([{ error: 'rate-limited', times: 1, retryAfter: 0 }])
  const answer = await patient.responses.create({ model: 'gpt-5.6', input: 'ping' })
  expect(answer.output_text).toBe('pong')
  expect(gateway.requests().map(({ status }) => status)).toEqual([429, 200])
})
