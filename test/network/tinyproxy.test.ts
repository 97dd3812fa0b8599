import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../src/gateway/catalog.ts'
import { probe } from '../../src/gateway/probe/probe.ts'
import { accessTo, aServer, failure, goodGateway, tlsFile } from '../gateway/forged.ts'
import { freePort, startNginx, startTinyproxy } from './daemons.ts'

const model = 'gpt-5.6-sol'
const password = 'a%2Dpassword'
const withPassword = 'BasicAuth us a-password'
const secure = { scheme: 'https', caFile: tlsFile('ca.pem') }

const through = (port: number, user = `us:${password}@`) => ({
  host: 'gw.test',
  env: {
    HTTP_PROXY: `http://${user}127.0.0.1:${port}`,
    HTTPS_PROXY: `http://${user}127.0.0.1:${port}`,
  },
})

describe('tinyproxy: with a user name and a password', () => {
  test('repoint reaches a gateway over https', async () => {
    const proxy = await startTinyproxy(withPassword)
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const access = accessTo(server, { ...secure, ...through(proxy) })
    await readCatalog(access)
    for (const protocol of ['chat', 'responses', 'messages'] as const)
      await probe(access, { protocol, model })
    expect(server.connections()).toBe(1)
  })

  test('repoint sends no plain http through the proxy', async () => {
    const proxy = await startTinyproxy(withPassword)
    const error = await failure(readCatalog(accessTo({ port: 80 }, through(proxy))))
    expect(error.code).toBe('proxy')
    expect(error.message).toContain('would see the key')
  })

  test.each([
    ['wrong', 'us:wrongpass@'],
    ['missing', ''],
  ])('repoint reports a proxy error if the password is %s', async (_what, user) => {
    const proxy = await startTinyproxy(withPassword)
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const error = await failure(
      readCatalog(accessTo(server, { ...secure, ...through(proxy, user) })),
    )
    expect(error.code).toBe('proxy')
    // tinyproxy 1.11.1 answers a wrong password with 401 instead of 407.
    expect(error.message).toMatch(/40[17]/)
    expect(error.message).toContain(`127.0.0.1:${proxy} (HTTP`)
    expect(`${error.message}${error.hint}`).not.toMatch(/wrongpass|a-password/)
    expect(server.seen).toHaveLength(0)
  })
})

describe('tinyproxy: repoint reports', () => {
  test('a port to which the proxy opens no tunnel', async () => {
    const proxy = await startTinyproxy('ConnectPort 443')
    const error = await failure(
      readCatalog(accessTo({ port: await freePort() }, { ...secure, ...through(proxy, '') })),
    )
    expect(error.code).toBe('proxy')
    expect(error.message).toContain('403')
  })

  test('a host that the proxy cannot reach', async () => {
    const proxy = await startTinyproxy('')
    const error = await failure(
      readCatalog(accessTo({ port: 1 }, { ...secure, ...through(proxy, '') })),
    )
    expect(error.code).toBe('proxy')
  })

  test('an expired certificate behind the proxy as a TLS error', async () => {
    const proxy = await startTinyproxy('')
    const server = await aServer(goodGateway, { certificate: 'expired.pem' })
    const error = await failure(readCatalog(accessTo(server, { ...secure, ...through(proxy, '') })))
    expect(error.code).toBe('tls')
    expect(error.message).toContain('has expired')
  })

  test('an error page of a server behind the proxy as that of the server', async () => {
    const proxy = await startTinyproxy('')
    const port = await freePort()
    const certificate = `ssl_certificate ${tlsFile('good.pem')}; ssl_certificate_key ${tlsFile('server.key')};`
    await startNginx(`server { listen 127.0.0.1:${port} ssl; ${certificate} }`, {}, port)
    const error = await failure(
      readCatalog(accessTo({ port }, { ...secure, ...through(proxy, '') })),
    )
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain('404 Not Found')
  })

  test('no proxy error for this machine, because it uses no proxy there', async () => {
    const proxy = await startTinyproxy(withPassword)
    const server = await aServer(goodGateway)
    const { env } = through(proxy, '')
    await readCatalog(accessTo(server, { env }))
    expect(server.seen[0]?.headers['via']).toBeUndefined()
  })
})
