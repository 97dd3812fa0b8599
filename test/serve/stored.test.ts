import { expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aGateway, ask, askJson, jsonOf, sseEvents } from './support/gateway.ts'

const parameters = { type: 'object', properties: {} }
const tools = [{ type: 'function', name: 'weather', parameters }]
const model = 'gpt-5.6'

const respond = (gateway: Gateway, body: object) =>
  ask(gateway, '/v1/responses', { model, ...body })

async function idOf(gateway: Gateway, body: object): Promise<string> {
  return (await jsonOf(respond(gateway, body))).id
}

const remove = (gateway: Gateway, path: string) =>
  ask(gateway, path, undefined, {}, { method: 'DELETE' })

test('stored: a tool loop continues the previous answer, streamed or not', async () => {
  const gateway = await aGateway()
  const asked = { input: '#call weather {"city":"Paris"}', tools }
  const first = await jsonOf(respond(gateway, asked))
  const output = { type: 'function_call_output', call_id: first.output[0].call_id, output: 'rain' }
  const goOn = { previous_response_id: first.id, input: [output], tools }
  const second = await jsonOf(respond(gateway, goOn))
  expect(second).toMatchObject({
    previous_response_id: first.id,
    output: [{ content: [{ text: 'weather returned: rain' }] }],
  })
  expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens)

  const streamed = await (await respond(gateway, { ...asked, stream: true })).text()
  const { response } = JSON.parse(sseEvents(streamed).at(-1)!.data)
  const result = { ...output, call_id: response.output[0].call_id }
  const third = { previous_response_id: response.id, input: [result], tools }
  expect((await jsonOf(respond(gateway, third))).output[0].content[0].text).toContain('rain')
  const without = await respond(gateway, { previous_response_id: first.id, input: 'and now?' })
  expect((await jsonOf(without)).error.message).toContain('No tool output found for function call')
})

// https://github.com/maximhq/bifrost/issues/2441, read 2026-11-22
test('stored: an unknown answer, and one with store: false, is rejected', async () => {
  const gateway = await aGateway()
  const refused = async (id: string) => {
    const answer = await respond(gateway, { previous_response_id: id, input: 'x' })
    return [answer.status, (await jsonOf(answer)).error]
  }
  const error = (id: string) => ({
    message: expect.stringContaining(`Previous response with id '${id}' not found.`),
    type: 'invalid_request_error',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
  expect(await refused('resp_x')).toEqual([400, error('resp_x')])
  const id = await idOf(gateway, { input: 'x', store: false })
  expect(await refused(id)).toEqual([400, error(id)])
})

test('stored: an answer can be read until it is deleted', async () => {
  const gateway = await aGateway()
  const given = await jsonOf(respond(gateway, { input: 'ping' }))
  const path = `/v1/responses/${given.id}`
  expect(await askJson(gateway, path)).toEqual(given)
  expect((await fetch(gateway.url + path)).status).toBe(401)
  const deleted = { id: given.id, object: 'response', deleted: true }
  expect(await (await remove(gateway, path)).json()).toEqual(deleted)
  for (const answer of [await ask(gateway, path), await remove(gateway, path)]) {
    expect(answer.status).toBe(404)
    expect((await jsonOf(answer)).error).toMatchObject({
      message: expect.stringContaining(`Response with id '${given.id}' not found.`),
      type: 'invalid_request_error',
    })
  }
})

test('stored: lists the input items of a conversation in pages', async () => {
  const gateway = await aGateway()
  const first = await idOf(gateway, { input: 'one' })
  const second = await idOf(gateway, { previous_response_id: first, input: 'two' })
  const path = `/v1/responses/${second}/input_items`
  const list = await askJson(gateway, `${path}?order=asc`)
  expect(list.data).toMatchObject([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
    { type: 'message', role: 'assistant' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] },
  ])
  expect(list).toMatchObject({ object: 'list', has_more: false, first_id: list.data[0].id })
  const page = await askJson(gateway, `${path}?limit=1`)
  expect(page).toMatchObject({ data: [list.data[2]], has_more: true })
  const next = await askJson(gateway, `${path}?limit=5&after=${page.last_id}`)
  expect(next.data.map(({ id }: { id: string }) => id)).toEqual([list.data[1].id, list.data[0].id])
})

test('stored: an item can be referred to, as @ai-sdk/openai does', async () => {
  const gateway = await aGateway()
  const { output } = await jsonOf(respond(gateway, { input: '#call weather {}', tools }))
  const result = { type: 'function_call_output', call_id: output[0].call_id, output: 'rain' }
  const goOn = (id: string) =>
    respond(gateway, { input: [{ type: 'item_reference', id }, result], tools })
  expect((await jsonOf(goOn(output[0].id))).output[0].content[0].text).toBe(
    'weather returned: rain',
  )
  const unknown = await goOn('fc_x')
  expect(unknown.status).toBe(404)
  expect((await jsonOf(unknown)).error.message).toContain("Item with id 'fc_x' not found.")
})

test('stored: the oldest answers are dropped', async () => {
  const gateway = await aGateway()
  const first = await idOf(gateway, { input: 'ping' })
  for (let round = 0; round < 25; round++)
    await Promise.all(Array.from({ length: 20 }, () => respond(gateway, { input: 'ping' })))
  expect((await ask(gateway, `/v1/responses/${first}`)).status).toBe(404)
})
