import { execa } from 'execa'
import { expect, test } from 'vitest'
import { curlOf } from '../../../src/serve/page/read/curl.ts'
import { harOf } from '../../../src/serve/page/read/har.ts'
import { aGateway, ask } from '../support/gateway.ts'

const key = 'sk-a-canary-key-0123456789'
const body = '{"model":"gpt-5.6","input":"it\'s $HOME `id` \\"\\n"}'

async function aLog() {
  const gateway = await aGateway({ key })
  await ask(gateway, '/v1/responses?a=1', '', { 'x-note': "it's $HOME" }, { body })
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  await fetch(`${gateway.url}/v1/models`, { headers })
  return gateway
}

test('as curl: the shell sends the same request again, the key from its variable', async () => {
  const gateway = await aLog()
  for (const request of gateway.requests()) {
    const command = curlOf(request, gateway.url)
    expect(command).not.toContain(key)
    await execa('sh', ['-c', `${command} --silent`], {
      env: { PATH: process.env['PATH'], REPOINT_API_KEY: key, NO_PROXY: '*' },
      extendEnv: false,
    })
    const again = gateway.requests().at(-1)!
    expect(again.status).toBe(200)
    for (const fact of ['method', 'path', 'requestBody', 'auth', 'responseBytes'] as const)
      expect([fact, again[fact]]).toEqual([fact, request[fact]])
    expect(again.headers['x-note']).toBe(request.headers['x-note'])
  }
})

test('as HAR: version 1.2, with everything and without the key', async () => {
  const gateway = await aLog()
  const har = JSON.parse(JSON.stringify(harOf(gateway.requests(), gateway.url)))
  expect(JSON.stringify(har)).not.toContain(key)
  expect(har.log.version).toBe('1.2')
  const [first] = har.log.entries
  expect(Object.keys(first).join(' ')).toBe(
    'startedDateTime time request response cache timings comment',
  )
  expect(first.request).toMatchObject({
    method: 'POST',
    url: `${gateway.url}/v1/responses?a=1`,
    queryString: [{ name: 'a', value: '1' }],
    postData: { mimeType: 'application/json', text: body },
    bodySize: Buffer.byteLength(body),
  })
  expect(first.response).toMatchObject({
    status: 200,
    content: { mimeType: 'application/json; charset=utf-8' },
  })
  expect(JSON.parse(first.response.content.text).object).toBe('response')
  const { send, wait, receive } = first.timings
  expect(send + wait + receive).toBeCloseTo(first.time)
})
