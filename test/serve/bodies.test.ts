import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { aGateway, ask, askJson, jsonOf } from './support/gateway.ts'

const body = JSON.stringify({ model: 'gpt-5.6', input: 'ping' })
/** `body` as `zstd -19` (1.5.4) packs it, 2026-11-22. */
const zstd = Buffer.from(
  'KLUv/QRoEQEAeyJtb2RlbCI6ImdwdC01LjYiLCJpbnB1dCI6InBpbmcifcRSR70=',
  'base64',
)

test.each([
  ['gzip', gzipSync(body)],
  ['deflate', deflateSync(body)],
  ['br', brotliCompressSync(body)],
  ['zstd', zstd],
] as const)('bodies: %s is unpacked', async (encoding, packed) => {
  const gateway = await aGateway()
  const send = (sent: Uint8Array, key = gateway.key) => {
    const headers = { authorization: `Bearer ${key}`, 'content-encoding': encoding }
    return ask(gateway, '/v1/responses', '', headers, { body: Buffer.from(sent) })
  }
  expect((await jsonOf(send(packed))).output[0].content[0].text).toBe('pong')
  expect(gateway.requests()[0]).toMatchObject({ requestBody: body, requestBytes: packed.length })
  expect((await send(Buffer.from('nonsense'))).status).toBe(400)

  expect((await send(packed, 'sk-somebody-elses-0987')).status).toBe(401)
  const refused = { requestBody: body, requestBytes: packed.length }
  await expect.poll(() => gateway.requests()[2]).toMatchObject(refused)
})

/** Three million zeros, packed in the same way. */
const packedZeros = Buffer.from(
  'KLUv/QRoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAzYOAAPJr9Y=',
  'base64',
)

test.each([
  ['gzip', gzipSync(Buffer.alloc(3_000_000))],
  ['br', brotliCompressSync(Buffer.alloc(3_000_000))],
  ['zstd', packedZeros],
] as const)(
  'bodies: the size limit applies to the unpacked body of %s',
  async (encoding, packed) => {
    const gateway = await aGateway({ limits: { maxBodyBytes: 1_000_000 } })
    const headers = { 'content-encoding': encoding }
    const answer = await ask(gateway, '/v1/responses', '', headers, { body: Buffer.from(packed) })
    expect(answer.status).toBe(413)
  },
)

test('ping is found on a separate line among the additions of clients', async () => {
  const gateway = await aGateway()
  const input = 'Context: a file was opened.\n\nping\n\n(today is Sunday)'
  const answer = await askJson(gateway, '/v1/responses', { model: 'gpt-5.6', input })
  expect(answer.output[0].content[0].text).toBe('pong')
})
