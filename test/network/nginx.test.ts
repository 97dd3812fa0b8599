import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../src/gateway/catalog.ts'

import { probe } from '../../src/gateway/probe/probe.ts'
import { accessTo, aServer, failure, goodGateway, key, tlsFile } from '../gateway/forged.ts'
import { freePort, startNginx } from './daemons.ts'

const model = 'gpt-5.6-sol'
const protocols = ['chat', 'responses', 'messages'] as const

/** Starts nginx with one server block in front of a local gateway. */
async function nginxBefore(block: (gateway: number) => string, files: Record<string, string> = {}) {
  const gateway = await aServer(goodGateway)
  const port = await freePort()
  await startNginx(`server { listen 127.0.0.1:${port}; ${block(gateway.port)} }`, files, port)
  return { port, gateway }
}

const certificate = (name: string): string =>
  `ssl_certificate ${tlsFile(name)}; ssl_certificate_key ${tlsFile('server.key')};`

/** Like `nginxBefore`, but on a TLS port. */
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

describe('nginx in front of a gateway', () => {
  test('serves the catalog and every protocol, with gzip and with its default buffering', async () => {
    const server = await nginxBefore(
      (port) =>
        `gzip on; gzip_min_length 1; gzip_proxied any; gzip_types application/json; ${all(port)}`,
    )
    const access = accessTo(server)
    expect((await readCatalog(access)).models).toHaveLength(2)
    for (const protocol of protocols) await probe(access, { protocol, model })
  })

  test('serves them below a path prefix only', async () => {
    const server = await nginxBefore(
      (port) => `location /ai/ { proxy_pass http://127.0.0.1:${port}/; }`,
    )
    await readCatalog(accessTo(server, { prefix: '/ai' }))
    for (const protocol of protocols)
      await probe(accessTo(server, { prefix: '/ai' }), { protocol, model })

    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain('404 Not Found')
    expect(error.hint).toContain('--base-url URL')
  })

  test('serves them over TLS with a private certificate authority, with and without HTTP/2', async () => {
    for (const flags of ['', 'http2']) {
      const access = accessTo(await tlsNginxBefore(all, 'good.pem', flags), secure)
      await readCatalog(access)
      for (const protocol of protocols) await probe(access, { protocol, model })
    }
  })

  test("passes on the gateway's error for a wrong key", async () => {
    const server = await nginxBefore(all)
    expect((await failure(readCatalog(accessTo(server, { key: 'sk-wrong' })))).code).toBe(
      'key-rejected',
    )
  })
})

describe('nginx: repoint names the cause of the response', () => {
  test.each([
    ['of an nginx without a gateway', () => all(1), 'gateway-fault', '502 Bad Gateway'],
    ['of a static site', () => '', 'not-an-api', '404 Not Found'],
    [
      'of a web application that answers every path',
      () => 'location / { try_files $uri /index.html; }',
      'not-an-api',
      'Welcome',
    ],
    ['that access is forbidden', () => 'location / { deny all; }', 'forbidden', '403 Forbidden'],
    [
      'of its own key check',
      () => `location / { if ($http_authorization != "Bearer other") { return 401; } }`,
      'key-rejected',
      '401 Authorization Required',
    ],
    [
      'with a redirect to https',
      () => 'return 301 https://gw.test$request_uri;',
      'redirected',
      'https://gw.test/v1/models',
    ],
    [
      'with a redirect to a path with a slash, which it follows',
      () =>
        'location = /v1/models { return 301 /v1/models/; } location = /v1/models/ { return 200 "[{\\"id\\":\\"a\\"}]"; }',
      undefined,
      '',
    ],
    ['with plain text', () => 'location / { return 200 "ok"; }', 'not-an-api', ''],
    ['without any bytes', () => 'location / { return 444; }', 'refused', 'closed the connection'],
    [
      'during maintenance',
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

  test('if the gateway is too slow for nginx', async () => {
    const silent = await aServer(() => {})
    const server = await nginxBefore(() => `proxy_read_timeout 1s; ${all(silent.port)}`)
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('504 Gateway Time-out')
  })

  test('if basic authentication comes before the key', async () => {
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

  test('if nginx limits the rate of requests', async () => {
    const server = await nginxBefore(
      (port) => `limit_req_status 429; location / { limit_req zone=slow; ${pass(port)} }`,
    )
    const access = accessTo(server)
    await readCatalog(access)
    expect((await failure(probe(access, { protocol: 'chat', model }))).code).toBe('rate-limited')
  })

  test('if nginx blocks one protocol', async () => {
    const server = await nginxBefore((port) => `location /v1/messages { return 404; } ${all(port)}`)
    expect((await failure(probe(accessTo(server), { protocol: 'messages', model }))).code).toBe(
      'protocol-unsupported',
    )
    await probe(accessTo(server), { protocol: 'responses', model })
  })

  test('if a static site rejects POST, but the catalog is available', async () => {
    const server = await nginxBefore(
      (port) =>
        `location = /v1/models { ${pass(port)} } location /v1/responses { try_files /index.html =404; }`,
    )
    const error = await failure(probe(accessTo(server), { protocol: 'responses', model }))
    expect(error.code).toBe('protocol-unsupported')
    expect(error.message).toContain('405 Not Allowed')
  })

  test('if nginx cuts a stream', async () => {
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
    const error = await failure(probe(accessTo({ port }), { protocol: 'responses', model }))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('in the middle of its answer')
  })
})

describe('nginx: repoint names the cause of a TLS error', () => {
  test.each([
    [
      'for an unknown certificate authority',
      'good.pem',
      {},
      'authority that this machine does not know',
    ],
    ['for a self-signed certificate', 'self-signed.pem', {}, 'self-signed'],
    ['for an expired certificate', 'expired.pem', secure, 'has expired'],
    [
      'for a certificate of another host',
      'other-host.pem',
      secure,
      'for other hosts: other.example',
    ],
  ])('%s', async (_name, name, more, says) => {
    const server = await tlsNginxBefore(all, name)
    const error = await failure(readCatalog(accessTo(server, { scheme: 'https', ...more })))
    expect(error.code).toBe('tls')
    expect(error.message).toContain(says)
  })

  test('for plain http to a TLS port, and https to a plain http port', async () => {
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

  test('for a server that requires a client certificate', async () => {
    const server = await tlsNginxBefore(
      (port) => `ssl_client_certificate ${tlsFile('ca.pem')}; ssl_verify_client on; ${all(port)}`,
    )
    const error = await failure(readCatalog(accessTo(server, secure)))
    expect(error.code).toBe('tls')
    expect(error.message).toContain('mutual TLS')
  })
})

test('nginx: the error masks the key if the response repeats it', async () => {
  const server = await nginxBefore(
    () => 'location / { return 400 "you sent $http_authorization"; }',
  )
  const error = await failure(readCatalog(accessTo(server)))
  expect(`${error.message}${error.hint}`).not.toContain(key)
  expect(error.message).toContain('you sent Bearer ....')
})
