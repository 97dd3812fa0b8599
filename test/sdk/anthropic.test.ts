import { beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway } from '../serve/support/gateway.ts'
import { sdk } from './sdk.ts'

const module = await sdk('@anthropic-ai/sdk')
const Anthropic = module.default

let gateway: Gateway
// biome-ignore lint/suspicious/noExplicitAny: the SDK is no dependency of ours
let client: any

beforeEach(async () => {
  gateway = await aGateway()
  client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 })
})

const ping = [{ role: 'user', content: 'ping' }]
const body = { model: 'claude-opus-5-5', max_tokens: 100, messages: ping }
const city = { type: 'object', properties: { city: { type: 'string' } } }
const tools = [{ name: 'weather', input_schema: city }]
const question = [{ role: 'user', content: '#call weather {"city":"Paris"}' }]

test('anthropic: lists and retrieves models', async () => {
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  expect(ids).toContain('claude-opus-5-5')
  expect(await client.models.retrieve('claude-opus-5-5')).toMatchObject({ id: 'claude-opus-5-5' })
})

// @anthropic-ai/sdk 1.12.0 sends an API key as a Bearer too, no longer as x-api-key (2026-11-21).
test('anthropic: text and usage, with the key or the token', async () => {
  const answer = await client.messages.create(body)
  expect(answer.content).toMatchObject([{ type: 'text', text: 'pong' }])
  expect(answer).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 1 } })
  const withToken = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: gateway.key })
  expect((await withToken.messages.create(body)).content[0].text).toBe('pong')
  expect(gateway.requests().map(({ auth }) => auth)).toEqual(['bearer', 'bearer'])
})

test('anthropic: the stream helper', async () => {
  const deltas: string[] = []
  const stream = client.messages.stream(body).on('text', (delta: string) => deltas.push(delta))
  const message = await stream.finalMessage()
  expect(message.content[0].text).toBe('pong')
  expect(deltas.join('')).toBe('pong')
  expect(message.usage).toMatchObject({ output_tokens: 1 })
})

test('anthropic: a tool call, streamed or not, and its result', async () => {
  const request = { ...body, tools, messages: question }
  const plain = await client.messages.create(request)
  const streamed = await client.messages.stream(request).finalMessage()
  for (const { content, stop_reason } of [plain, streamed]) {
    expect(stop_reason).toBe('tool_use')
    const use = { type: 'tool_use', name: 'weather', input: { city: 'Paris' } }
    expect(content[0]).toMatchObject(use)
  }
  const result = { type: 'tool_result', tool_use_id: plain.content[0].id, content: 'rain' }
  const turns = [
    { role: 'assistant', content: plain.content },
    { role: 'user', content: [result] },
  ]
  const last = await client.messages.create({ ...request, messages: [...question, ...turns] })
  expect(last.content[0].text).toBe('weather returned: rain')
})

test('anthropic: stop reasons', async () => {
  const messages = [{ role: 'user', content: 'one two three' }]
  const cut = await client.messages.create({ ...body, messages, max_tokens: 2 })
  expect(cut.stop_reason).toBe('max_tokens')
  const stopped = await client.messages.create({ ...body, messages, stop_sequences: ['two'] })
  expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'two' })
})

test.each([
  ['invalid-token', 'AuthenticationError', 401],
  ['quota', 'PermissionDeniedError', 403],
  ['rate-limited', 'RateLimitError', 429],
  ['model-unknown', 'InternalServerError', 503],
  ['overloaded', 'InternalServerError', 529],
] as const)('anthropic: %s is a %s', async (fault, name, status) => {
  gateway.setFaults([{ error: fault }])
  const error = await client.messages.create(body).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(module[name])
  expect(error.status).toBe(status)
})

test('anthropic: a base URL that ends in /v1 is a NotFoundError', async () => {
  const wrongClient = new Anthropic({
    baseURL: `${gateway.url}/v1`,
    apiKey: gateway.key,
    maxRetries: 0,
  })
  await expect(wrongClient.messages.create(body)).rejects.toBeInstanceOf(module.NotFoundError)
})

test('anthropic: an error event inside a stream is thrown', async () => {
  gateway.setFaults([{ errorAfter: 2 }])
  await expect(client.messages.stream(body).finalMessage()).rejects.toThrow('upstream error')
})
