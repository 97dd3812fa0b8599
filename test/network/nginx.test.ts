import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../src/gateway/catalog.ts'

import { probe } from '../../src/gateway/probe.ts'
import { accessTo, aServer, failure, goodGateway, key, tlsFile } from '../gateway/forged.ts'
import { freePort, startNginx } from './daemons.ts'

const model = 'gpt-5.6-sol'
const protocols = ['chat', 'responses', 'messages'] as const

/** nginx with one server block before a gateway of our own. */
async function nginxBefore(block: (gateway: number) => string, files: Record<string, string> = {}) {
  const gateway = await aServer(goodGateway)
  const port = await freePort()
  await startNginx(`server { listen 127.0.0.1:${port}; ${block(gateway.port)} }`, files, port)
  return { port, gateway }
}

const certificate = (name: string): string =>
  `ssl_certificate ${tlsFile(name)}; ssl_certificate_key ${tlsFile('server.key')};`

/** The same on a TLS port. */
async function tlsNginxBefore(block: (gateway: number) => string, name = 'good.pem', flags = '') {
  const gateway = await aServer(goodGateway)
  const port = await freePort()
  await startNginx(
    `server { listen 127.0.0.1:${port} ssl ${flags}; ${certificate(name)} ${block(gateway.port)} }`,
    {},
    port,
  )
  return { port, gateway }
}

const pass = (gateway: number): string => `proxy_pass http://127.0.0.1:${gateway};`
const all = (gateway: number): string => `location / { ${pass(gateway)} }`
const secure = { scheme: 'https', caFile: tlsFile('ca.pem') }

describe('nginx: a gateway behind it', () => {
  test('serves catalog and every protocol, with gzip and buffering as nginx has them', async () => {
    const server = await nginxBefore(
      (port) =>
        `gzip on; gzip_min_length 1; gzip_proxied any; gzip_types application/json; ${all(port)}`,
    )
    const access = accessTo(server)
    expect((await readCatalog(access)).models).toHaveLength(2)
    for (const protocol of protocols) await probe(access, protocol, model)
  })

  test('serves them behind a path prefix, and not without it', async () => {
    const server = await nginxBefore(
      (port) => `location /ai/ { proxy_pass http://127.0.0.1:${port}/; }`,
    )
    await readCatalog(accessTo(server, { prefix: '/ai' }))
    for (const protocol of protocols)
      await probe(accessTo(server, { prefix: '/ai' }), protocol, model)

    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain('404 Not Found')
    expect(error.hint).toContain('--base-url URL')
  })

  test('serves them over TLS with a private authority, HTTP/2 offered or not', async () => {
    for (const flags of ['', 'http2']) {
      const access = accessTo(await tlsNginxBefore(all, 'good.pem', flags), secure)
      await readCatalog(access)
      for (const protocol of protocols) await probe(access, protocol, model)
    }
  })

  test('hands a bad key on as the gateway said it', async () => {
    const server = await nginxBefore(all)
    expect((await failure(readCatalog(accessTo(server, { key: 'sk-wrong' })))).code).toBe(
      'key-rejected',
    )
  })
})

describe('nginx: its own answers', () => {
  test.each([
    ['no gateway behind it', () => all(1), 'gateway-fault', '502 Bad Gateway'],
    ['a static site', () => '', 'not-an-api', '404 Not Found'],
    [
      'a web application that answers everything',
      () => 'location / { try_files $uri /index.html; }',
      'not-an-api',
      'Welcome',
    ],
    ['forbidden', () => 'location / { deny all; }', 'forbidden', '403 Forbidden'],
    [
      'its own key check',
      () => `location / { if ($http_authorization != "Bearer other") { return 401; } }`,
      'key-rejected',
      '401 Authorization Required',
    ],
    [
      'a redirect to https',
      () => 'return 301 https://gw.test$request_uri;',
      'redirected',
      'https://gw.test/v1/models',
    ],
    [
      'a redirect of a slash',
      () =>
        'location = /v1/models { return 301 /v1/models/; } location = /v1/models/ { return 200 "[{\\"id\\":\\"a\\"}]"; }',
      undefined,
      '',
    ],
    ['text', () => 'location / { return 200 "ok"; }', 'not-an-api', ''],
    ['nothing at all', () => 'location / { return 444; }', 'refused', 'closed the connection'],
    [
      'maintenance',
      () => 'location / { return 503; }',
      'gateway-fault',
      '503 Service Temporarily Unavailable',
    ],
  ])('%s', async (_name, block, code, says) => {
    const server = await nginxBefore(block)
    if (code === undefined) return void (await readCatalog(accessTo(server)))
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe(code)
    expect(error.message).toContain(says)
  })

  test('a gateway too slow for it', async () => {
    const silent = await aServer(() => {})
    const server = await nginxBefore(() => `proxy_read_timeout 1s; ${all(silent.port)}`)
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('504 Gateway Time-out')
  })

  test('basic auth before the gateway is not the key', async () => {
    const server = await nginxBefore(
      (port) =>
        `location / { auth_basic "internal"; auth_basic_user_file htpasswd; ${pass(port)} }`,
      // openssl passwd -apr1 -salt saltsalt secret
      { htpasswd: 'us:$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0\n' },
    )
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain('its own login')
    expect(server.gateway.seen).toHaveLength(0)
  })

  test('its limit of requests', async () => {
    const server = await nginxBefore(
      (port) => `limit_req_status 429; location / { limit_req zone=slow; ${pass(port)} }`,
    )
    const access = accessTo(server)
    await readCatalog(access)
    expect((await failure(probe(access, 'chat', model))).code).toBe('rate-limited')
  })

  test('one protocol that it does not let through', async () => {
    const server = await nginxBefore((port) => `location /v1/messages { return 404; } ${all(port)}`)
    expect((await failure(probe(accessTo(server), 'messages', model))).code).toBe(
      'protocol-unsupported',
    )
    await probe(accessTo(server), 'responses', model)
  })

  test('a static site that refuses to be posted to, with a catalog beside it', async () => {
    const server = await nginxBefore(
      (port) =>
        `location = /v1/models { ${pass(port)} } location /v1/responses { try_files /index.html =404; }`,
    )
    const error = await failure(probe(accessTo(server), 'responses', model))
    expect(error.code).toBe('protocol-unsupported')
    expect(error.message).toContain('405 Not Allowed')
  })

  test('a stream that it cuts', async () => {
    const cutting = await aServer((request, response) => {
      if (request.url === '/v1/models') return goodGateway(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.created"}\n\n')
    })
    const port = await freePort()
    await startNginx(
      `server { listen 127.0.0.1:${port}; proxy_read_timeout 1s; proxy_buffering off; ${all(cutting.port)} }`,
      {},
      port,
    )
    const error = await failure(probe(accessTo({ port }), 'responses', model))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('in the middle of its answer')
  })
})

describe('nginx: TLS', () => {
  test.each([
    [
      'an authority that was not named',
      'good.pem',
      {},
      'authority that this machine does not know',
    ],
    ['a certificate signed by itself', 'self-signed.pem', {}, 'self-signed'],
    ['an expired certificate', 'expired.pem', secure, 'has expired'],
    ['a certificate of another host', 'other-host.pem', secure, 'for other hosts: other.example'],
  ])('%s', async (_name, name, more, says) => {
    const server = await tlsNginxBefore(all, name)
    const error = await failure(readCatalog(accessTo(server, { scheme: 'https', ...more })))
    expect(error.code).toBe('tls')
    expect(error.message).toContain(says)
  })

  test('plain http to the TLS port, and https to a plain one', async () => {
    const server = await tlsNginxBefore(all)
    const down = await failure(readCatalog(accessTo(server)))
    expect(down).toMatchObject({
      code: 'tls',
      hint: expect.stringContaining('--base-url https://'),
    })

    const plain = await nginxBefore(all)
    const up = await failure(readCatalog(accessTo(plain, { scheme: 'https' })))
    expect(up.code).toBe('tls')
    expect(up.hint).toContain(`--base-url http://127.0.0.1:${plain.port}`)
  })

  test('a server that wants a certificate of the client', async () => {
    const server = await tlsNginxBefore(
      (port) => `ssl_client_certificate ${tlsFile('ca.pem')}; ssl_verify_client on; ${all(port)}`,
    )
    const error = await failure(readCatalog(accessTo(server, secure)))
    expect(error.code).toBe('tls')
    expect(error.message).toContain('mutual TLS')
  })
})

test('nginx: no answer repeats the key', async () => {
  const server = await nginxBefore(
    () => 'location / { return 400 "you sent $http_authorization"; }',
  )
  const error = await failure(readCatalog(accessTo(server)))
  expect(`${error.message}${error.hint}`).not.toContain(key)
  expect(error.message).toContain('you sent Bearer ....')
})
