import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway, ask, jsonOf, told } from './support/gateway.ts'

const model = 'text-embedding-3-small'

async function vectorsOf(gateway: Gateway, input: unknown, more: object = {}): Promise<number[][]> {
  const answer = await told(gateway, '/v1/embeddings', { model, input, ...more })
  return answer.data.map(({ embedding }: { embedding: number[] }) => embedding)
}

const product = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * b[index]!, 0)

test('embeddings: have the form of the vendor’s, the length of the model, and length 1', async () => {
  const gateway = await aGateway()
  const answer = await told(gateway, '/v1/embeddings', { model, input: 'Rain in Paris' })
  const [{ embedding, ...data }] = answer.data
  expect({ ...answer, data }).toEqual({
    object: 'list',
    data: { object: 'embedding', index: 0 },
    model,
    usage: { prompt_tokens: 3, total_tokens: 3 },
  })
  expect(embedding).toHaveLength(1536)
  expect(product(embedding, embedding)).toBeCloseTo(1, 5)
  const [large] = await vectorsOf(gateway, 'x', { model: 'text-embedding-3-large' })
  expect(large).toHaveLength(3072)
  const [short] = await vectorsOf(gateway, 'x', { dimensions: 12 })
  expect(short).toHaveLength(12)
  expect(product(short!, short!)).toBeCloseTo(1, 5)
})

test('embeddings: the same text has the same vector, and a search finds what shares words', async () => {
  const gateway = await aGateway()
  const [again] = await vectorsOf(gateway, 'When does the train leave?')
  const [query, train, cake, chinese] = await vectorsOf(gateway, [
    'When does the train leave?',
    'The train leaves at noon from platform 3.',
    'A cake needs flour, eggs and sugar.',
    '火车几点开？',
  ])
  expect(query).toEqual(again)
  expect(product(query!, train!)).toBeGreaterThan(product(query!, cake!) + 0.1)
  expect(product(chinese!, chinese!)).toBeCloseTo(1, 5)
})

test('embeddings: base64 and lists of tokens', async () => {
  const gateway = await aGateway()
  const packed = await told(gateway, '/v1/embeddings', {
    model,
    input: ['a'],
    encoding_format: 'base64',
  })
  const bytes = Buffer.from(packed.data[0].embedding, 'base64')
  const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  expect([...floats]).toEqual((await vectorsOf(gateway, 'a'))[0])
  expect(await vectorsOf(gateway, [5, 6])).toHaveLength(1)
  expect(await vectorsOf(gateway, [[5], [6, 7]])).toHaveLength(2)
})

test.each<[string, object, number, string]>([
  ['no input', {}, 400, "Missing required parameter: 'input'"],
  ['an empty text', { input: '' }, 400, 'none that is empty'],
  ['an empty list', { input: [] }, 400, '1 to 2048 inputs'],
  ['too many', { input: Array(2049).fill('x') }, 400, '1 to 2048 inputs'],
  ['a number', { input: 5.5 }, 400, 'texts or tokens'],
  ['a format', { input: 'x', encoding_format: 'hex' }, 400, "Invalid value: 'hex'"],
  ['a length', { input: 'x', dimensions: 5000 }, 400, '1 to 1536'],
  ['a length that is none', { input: 'x', dimensions: 'a' }, 400, "Invalid type for 'dimensions'"],
  ['a model that talks', { input: 'x', model: 'gpt-5.6' }, 500, 'not implemented'],
  ['a model that is not there', { input: 'x', model: 'nope' }, 503, 'No available channel'],
  ['no model', { input: 'x', model: undefined }, 400, 'Model name not specified'],
])('embeddings: %s is refused', async (_, more, status, message) => {
  const gateway = await aGateway()
  const answer = await ask(gateway, '/v1/embeddings', { model, ...more })
  expect(answer.status).toBe(status)
  expect((await jsonOf(answer)).error.message).toContain(message)
})

test('embeddings: faults strike, and a model for them is no partner for a conversation', async () => {
  const gateway = await aGateway({ faults: [{ route: 'embeddings', error: 'rate_limit_error' }] })
  expect((await ask(gateway, '/v1/embeddings', { model, input: 'x' })).status).toBe(429)
  const messages = [{ role: 'user', content: 'ping' }]
  const answer = await ask(gateway, '/v1/chat/completions', { model, messages })
  expect(answer.status).toBe(500)
  expect((await jsonOf(answer)).error.code).toBe('convert_request_failed')
})
