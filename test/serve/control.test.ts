import { expect, test } from 'vitest'
import { aGateway, ask, jsonOf } from './support/gateway.ts'
import { sendRaw } from './support/raw.ts'

const input = { model: 'gpt-5.6', input: 'ping' }

test('control: lists the log, newest first, and shows one request in full', async () => {
  const gateway = await aGateway()
  await ask(gateway, '/v1/responses', input)
  await ask(gateway, '/v1/models')
  const list = await jsonOf(fetch(`${gateway.url}/_repoint/requests`))
  expect(list.map(({ path }: { path: string }) => path)).toEqual(['/v1/models', '/v1/responses'])
  expect(Object.keys(list[0])).not.toContain('requestBody')
  const logged = await jsonOf(fetch(`${gateway.url}/_repoint/requests/${list[1].id}`))
  expect(JSON.parse(logged.requestBody)).toEqual(input)
  expect(JSON.parse(logged.responseBody).output[0].content[0].text).toBe('pong')
  expect(logged.headers.authorization).toMatch(/^sk-…/)
  expect((await fetch(`${gateway.url}/_repoint/requests/none`)).status).toBe(404)
})

test('control: its own requests are not logged', async () => {
  const gateway = await aGateway()
  await fetch(`${gateway.url}/_repoint/requests`)
  expect(gateway.requests()).toEqual([])
})

test('control: faults replace those of the scenario too', async () => {
  const gateway = await aGateway({ scenario: { answers: [], faults: [{ error: 'quota' }] } })
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(403)
  gateway.setFaults([])
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(200)
})

test('control: faults are set, read and removed with the key', async () => {
  const gateway = await aGateway()
  const faults = (method: string, body: string | null = null, headers = {}) =>
    ask(gateway, '/_repoint/faults', undefined, headers, { method, body })
  const list = [{ error: 'quota', every: 2 }]
  expect(await jsonOf(faults('PUT', JSON.stringify(list)))).toEqual(list)
  await ask(gateway, '/v1/responses', input)
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(403)
  expect(await jsonOf(fetch(`${gateway.url}/_repoint/faults`))).toEqual(list)
  expect((await faults('PUT', '[]', { authorization: 'Bearer wrong' })).status).toBe(401)
  const rejected = await faults('PUT', '[{"error":"nope"}]')
  expect(rejected.status).toBe(400)
  expect((await jsonOf(rejected)).error).toMatch(/^faults\[0\]\.error must be one of invalid-token/)
  expect((await faults('PUT', '[{')).status).toBe(400)
  expect((await faults('PUT', 'x'.repeat(300_000))).status).toBe(413)
  expect(await jsonOf(faults('DELETE'))).toEqual([])
  expect((await ask(gateway, '/v1/responses', input)).status).toBe(200)
})

test.each([
  ['127.0.0.1:1', 200],
  ['localhost', 200],
  ['[::1]:80', 200],
  ['my.localhost:80', 200],
  ['evil.example', 403],
  ['evil.example:80', 403],
  ['localhost.evil.example', 403],
  ['127.0.0.1.evil.example', 403],
])('control: the Host %s gets %i', async (host, status) => {
  const gateway = await aGateway()
  for (const path of ['/_repoint/requests', '/_repoint/faults', '/']) {
    const answer = await sendRaw(gateway.port, [`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`])
    expect([path, answer.statuses]).toEqual([path, [status]])
  }
})

test('control: another page in the browser may neither read nor change anything', async () => {
  const gateway = await aGateway()
  await ask(gateway, '/v1/responses', input)
  const status = async (headers: Record<string, string>, method = 'GET') =>
    (await fetch(`${gateway.url}/_repoint/requests`, { method, headers })).status
  expect(await status({ origin: 'http://evil.example' })).toBe(403)
  expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await status({ 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await status({ 'sec-fetch-site': 'none' })).toBe(200)
  expect(await status({}, 'DELETE')).toBe(401)
  expect(await status({ 'sec-fetch-site': 'same-origin', origin: gateway.url }, 'DELETE')).toBe(401)
  expect(gateway.requests()).toHaveLength(1)
})

test('control: the log is emptied with the key', async () => {
  const gateway = await aGateway()
  await ask(gateway, '/v1/responses', input)
  expect((await fetch(`${gateway.url}/_repoint/requests`, { method: 'DELETE' })).status).toBe(401)
  expect(gateway.requests()).toHaveLength(1)
  const emptied = await ask(gateway, '/_repoint/requests', undefined, {}, { method: 'DELETE' })
  expect(emptied.status).toBe(200)
  expect(gateway.requests()).toEqual([])
})

test('control: long values of a client do not make the list large', async () => {
  const gateway = await aGateway()
  const long = 'x'.repeat(50_000)
  for (let count = 0; count < 250; count++)
    await ask(gateway, `/v1/models?${long}`, undefined, { 'user-agent': long.slice(0, 5000) })
  const text = await (await fetch(`${gateway.url}/_repoint/requests`)).text()
  expect(text.length).toBeLessThan(750_000)
  const numbers = gateway.requests().map(({ number }) => number)
  expect(JSON.parse(text).map(({ number }: { number: number }) => number)).toEqual(
    numbers.toReversed(),
  )
})

test('control: any web page may call the API, as at the imitated gateway', async () => {
  const gateway = await aGateway()
  const origin = { origin: 'http://app.example' }
  const answer = await ask(gateway, '/v1/models', undefined, origin)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const options = { method: 'OPTIONS', headers: origin }
  expect((await fetch(`${gateway.url}/v1/responses`, options)).status).toBe(204)
  expect((await ask(gateway, '/v1/models')).headers.get('access-control-allow-origin')).toBe(null)
})

test('control: pages are notified when a request arrives and ends', async () => {
  const gateway = await aGateway({ faults: [{ delayMs: 300 }] })
  const controller = new AbortController()
  const answer = await fetch(`${gateway.url}/_repoint/events`, { signal: controller.signal })
  const asked = ask(gateway, '/v1/responses', input)
  const states: string[] = []
  let text = ''
  for await (const piece of answer.body!) {
    text += new TextDecoder().decode(piece)
    const found = [...text.matchAll(/^event: requests\ndata: (.*)\n\n/gm)]
    states.splice(0, states.length, ...found.map(([, data]) => JSON.parse(data!)[0].state))
    if (states.includes('done')) break
  }
  controller.abort()
  expect(states).toEqual(['open', 'done'])
  expect(text).not.toContain(gateway.key)
  await asked
})
