import { expect, test } from 'vitest'
import { sentIds } from '../../../src/clients/claude/settings.ts'
import { builtInCatalog } from '../../../src/serve/index.ts'
import { aGateway, ask, askJson, jsonOf, paths, saying } from '../support/gateway.ts'

test('the catalog: lists the models with their endpoint types', async () => {
  const gateway = await aGateway()
  const answer = await ask(gateway, '/v1/models')
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const { data, ...rest } = await jsonOf(answer)
  expect(rest).toEqual({ object: 'list', success: true })
  expect(data).toHaveLength(builtInCatalog.length)
  expect(data[0]).toEqual({
    id: 'gpt-6-astra',
    object: 'model',
    created: 1626777600,
    owned_by: 'openai',
    supported_endpoint_types: ['openai', 'openai-response', 'anthropic'],
  })
  const typesOf = (id: string) =>
    data.find((model: { id: string }) => model.id === id).supported_endpoint_types
  expect(typesOf('claude-opus-5-5')).toEqual(['anthropic', 'openai'])
  expect(typesOf('gpt-image-2')[0]).toBe('image-generation')
})

test('the catalog: has the Claude models that Claude Code sends', () => {
  const ids = builtInCatalog.map(({ id }) => id)
  const sent = Object.values(sentIds).flatMap((ofSlot) => ofSlot.map(({ id }) => id))
  expect(ids).toEqual(expect.arrayContaining(sent))
})

test.each([
  ['gpt-6', 'gpt-6-sol'],
  ['gpt-5.5', 'gpt-5.5-2026-04-23'],
  ['claude-haiku-4-5', 'claude-haiku-4-5-20251001'],
  ['claude-opus-4-5', 'claude-opus-4-5-20251101'],
])('the catalog: %s is an alias of %s', async (alias, id) => {
  const gateway = await aGateway()
  const path = alias.startsWith('claude') ? paths.messages : paths.responses
  expect(await askJson(gateway, path, saying(path, 'ping', alias))).toMatchObject({ model: id })
})

test('the catalog: has no model that its vendor has shut down', () => {
  const ids = builtInCatalog.map(({ id }) => id)
  expect(ids).toContain('claude-mythos-5-2')
  expect(ids).not.toContain('gpt-4-32k')
})

test('the catalog: has the messages shape with both x-api-key and anthropic-version', async () => {
  const gateway = await aGateway()
  const version = { 'anthropic-version': '2023-06-01' }
  const list = (headers: Record<string, string>) =>
    jsonOf(fetch(`${gateway.url}/v1/models?limit=1000`, { headers }))
  const shaped = await list({ 'x-api-key': gateway.key, ...version })
  expect(shaped.data[0]).toEqual({
    id: 'gpt-6-astra',
    created_at: '2021-07-20T10:40:00Z',
    display_name: 'gpt-6-astra',
    type: 'model',
  })
  expect(shaped).toMatchObject({
    first_id: 'gpt-6-astra',
    has_more: false,
    last_id: 'gpt-5.6',
  })
  expect((await list({ 'x-api-key': gateway.key })).object).toBe('list')
  expect((await list({ authorization: `Bearer ${gateway.key}`, ...version })).object).toBe('list')
})

test('one model: an unknown id is answered with 200 and an error body', async () => {
  const gateway = await aGateway()
  const known = await ask(gateway, '/v1/models/gpt-5.6')
  expect(await known.json()).toMatchObject({ id: 'gpt-5.6', object: 'model' })
  const unknown = await ask(gateway, '/v1/models/gpt%2F9')
  expect(unknown.status).toBe(200)
  expect(await unknown.text()).toBe(
    '{"error":{"message":"The model \'gpt/9\' does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}}',
  )
})

test('the catalog: models that the key may not use are not listed', async () => {
  const entry = { ownedBy: 'x', endpointTypes: ['openai'] }
  const forbidden = { ...entry, id: 'b', isForbidden: true }
  const priceless = { ...entry, id: 'c', hasNoPrice: true }
  const gateway = await aGateway({ models: [{ ...entry, id: 'a' }, forbidden, priceless] })
  const { data } = await askJson(gateway, '/v1/models')
  expect(data.map(({ id }: { id: string }) => id)).toEqual(['a'])
})

test('the catalog: has pages in both shapes', async () => {
  const gateway = await aGateway({ models: ['a', 'b', 'c', 'd'] })
  const messages = { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' }
  const page = async (query: string, headers = {}) => {
    const { data, has_more } = await askJson(gateway, `/v1/models?${query}`, undefined, headers)
    return [data.map(({ id }: { id: string }) => id).join(''), has_more]
  }
  expect(await page('limit=2', messages)).toEqual(['ab', true])
  expect(await page('limit=2&after_id=b', messages)).toEqual(['cd', false])
  expect(await page('limit=2&before_id=d', messages)).toEqual(['bc', true])
  expect(await page('limit=3')).toEqual(['abc', undefined])
  expect(await page('limit=3&after=c')).toEqual(['d', undefined])
})
