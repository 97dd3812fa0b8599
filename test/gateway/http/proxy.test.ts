import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../src/errors.ts'
import { readCatalog } from '../../../src/gateway/catalog.ts'
import { proxyFor } from '../../../src/gateway/http/proxy.ts'
import { probe } from '../../../src/gateway/probe/probe.ts'
import * as forged from '../forged.ts'
import { aServer, aSocketServer, failure, goodGateway, tlsFile } from '../forged.ts'

const proxyUrl = 'http://proxy.example:3128'

describe('proxy: which variable applies', () => {
  test.each([
    ['https://gw.example', { HTTPS_PROXY: proxyUrl }, 'HTTPS_PROXY'],
    ['https://gw.example', { https_proxy: proxyUrl, HTTPS_PROXY: 'http://other:1' }, 'https_proxy'],
    ['https://gw.example', { HTTP_PROXY: proxyUrl }, undefined],
    ['http://gw.example', { HTTP_PROXY: proxyUrl }, 'HTTP_PROXY'],
    ['http://gw.example', { http_proxy: proxyUrl }, 'http_proxy'],
    ['http://gw.example', { HTTPS_PROXY: proxyUrl }, undefined],
    ['https://gw.example', { ALL_PROXY: proxyUrl }, 'ALL_PROXY'],
    ['http://gw.example', { all_proxy: proxyUrl }, 'all_proxy'],
    ['https://gw.example', { ALL_PROXY: 'http://other:1', HTTPS_PROXY: proxyUrl }, 'HTTPS_PROXY'],
    ['https://gw.example', { HTTPS_PROXY: '' }, undefined],
    ['https://gw.example', {}, undefined],
    // The proxy would receive the key in plain text.
    ['http://127.0.0.1:3000', { HTTP_PROXY: proxyUrl }, undefined],
    ['http://127.9.9.9', { ALL_PROXY: proxyUrl }, undefined],
    ['http://[::1]:3000', { ALL_PROXY: proxyUrl }, undefined],
    ['http://[::ffff:127.0.0.1]', { ALL_PROXY: proxyUrl }, undefined],
    ['http://localhost:3000', { ALL_PROXY: proxyUrl }, undefined],
    ['http://app.localhost', { ALL_PROXY: proxyUrl }, undefined],
    ['https://localhost', { HTTPS_PROXY: proxyUrl }, undefined],
    ['http://localhost.example', { HTTP_PROXY: proxyUrl }, 'HTTP_PROXY'],
  ])('%s with %j: %s', (url, env, variable) => {
    expect(proxyFor(new URL(url), env)?.variable).toBe(variable)
  })
})

describe('proxy: NO_PROXY', () => {
  test.each([
    ['gw.example', 'https://gw.example', true],
    ['GW.Example', 'https://gw.example', true],
    ['other,gw.example', 'https://gw.example', true],
    ['other gw.example', 'https://gw.example', true],
    ['example', 'https://gw.example', true],
    ['.example', 'https://gw.example', true],
    ['*.example', 'https://gw.example', true],
    ['xample', 'https://gw.example', false],
    ['*', 'https://gw.example', true],
    ['gw.example:443', 'https://gw.example', true],
    ['gw.example:8443', 'https://gw.example', false],
    ['gw.example:8443', 'https://gw.example:8443', true],
    ['10.0.0.1', 'http://10.0.0.1:3000', true],
    ['10.0.0.0/8', 'http://10.9.0.1', true],
    ['10.0.0.0/8', 'http://11.0.0.1', false],
    ['10.0.0.0/33', 'http://10.0.0.1', false],
    ['0.0.0.0/0', 'http://11.0.0.1', true],
    ['2001:db8::/32', 'http://[2001:db8::7]:3000', true],
    ['[2001:db8::]/32', 'http://[2001:db9::7]', false],
    ['10.0.0.0/8', 'http://[2001:db8::7]', false],
    ['2001:db8::1', 'http://[2001:db8::1]:3000', true],
    ['[2001:db8::1]', 'http://[2001:db8::1]:3000', true],
    ['[2001:db8::1]:3000', 'http://[2001:db8::1]:3000', true],
    ['', 'https://gw.example', false],
  ])('%j exempts %s: %s', (noProxy, url, isExempt) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const env = { ALL_PROXY: proxyUrl, [name]: noProxy }
      expect(proxyFor(new URL(url), env) === undefined).toBe(isExempt)
    }
  })
})

describe('proxy: its address', () => {
  const parsed = (value: string) => proxyFor(new URL('https://gw.example'), { HTTPS_PROXY: value })

  test.each([
    ['http://p:3128', { kind: 'http', hostname: 'p', port: 3128, username: '', password: '' }],
    ['p:3128', { kind: 'http', hostname: 'p', port: 3128 }],
    ['p', { hostname: 'p', port: 80 }],
    ['https://p', { kind: 'https', port: 443 }],
    ['socks5://p', { kind: 'socks5', port: 1080 }],
    ['socks5h://p:9050', { kind: 'socks5', port: 9050 }],
    ['http://[::1]:3128/', { hostname: '::1', port: 3128 }],
    ['http://us%40er:p%3Aw@p:1', { username: 'us@er', password: 'p:w' }],
    ['http://us:100%25@p:1', { password: '100%' }],
  ])('%s', (value, expected) => {
    expect(parsed(value)).toMatchObject(expected)
  })

  test.each(['ftp://p:1', 'http://', '://', 'socks4://p', 'http://user:hunter2@:1'])(
    '%s is refused without repeating it',
    (value) => {
      let error: UserError | undefined
      try {
        parsed(value)
      } catch (thrown) {
        error = thrown as UserError
      }
      expect(error?.code).toBe('proxy')
      expect(error?.message).toContain('HTTPS_PROXY')
      expect(`${error?.message}${error?.hint}`).not.toContain('hunter2')
    },
  )
})

/** As a proxy resolves names, `gw.test` is this machine: loopback itself is never asked through one. */
const accessTo: typeof forged.accessTo = (server, more) =>
  forged.accessTo(server, { host: 'gw.test', ...more })

/** A small forward proxy, with a password if `credentials` has one. */
async function aProxy(credentials?: string, certificate?: string) {
  const asked: string[] = []
  const heads: string[] = []
  const server = await aSocketServer((socket) => {
    let head = ''
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', onData)
      const [line = '', ...fields] = head.slice(0, end).split('\r\n')
      asked.push(line)
      heads.push(head)
      const given = fields
        .find((field) => /^proxy-authorization:/i.test(field))
        ?.split(' ')
        .at(-1)
      if (credentials !== undefined && given !== Buffer.from(credentials).toString('base64')) {
        socket.end(
          'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 0\r\n\r\n',
        )
        return
      }
      const port = /^CONNECT [^ ]*:(\d+) /.exec(line)?.[1]
      const onward = net.connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'))
      socket.on('close', () => onward.destroy())
    }
    socket.on('data', onData)
  }, certificate)
  return { ...server, asked, heads }
}

/** An address of this machine that is not loopback. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

const https = { scheme: 'https', caFile: tlsFile('ca.pem') }

describe('proxy: in use', () => {
  test('https goes through a tunnel, on one connection', async () => {
    const proxy = await aProxy('us:hunter2')
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const access = accessTo(server, {
      ...https,
      env: { HTTPS_PROXY: `http://us:hunter2@127.0.0.1:${proxy.port}` },
    })
    await readCatalog(access)
    await probe(access, { protocol: 'responses', model: 'gpt-5.6-sol' })
    expect(proxy.asked).toEqual([`CONNECT gw.test:${server.port} HTTP/1.1`])
    expect(server.seen.every(({ headers }) => headers['proxy-authorization'] === undefined)).toBe(
      true,
    )
    expect(proxy.heads.join()).not.toContain(forged.key)
  })

  test.each(['http', 'https', 'socks5'])(
    'plain http uses no proxy, which could read the key (%s)',
    async (kind) => {
      const proxy = await aProxy('us:hunter2')
      const env = { http_proxy: `${kind}://us:hunter2@127.0.0.1:${proxy.port}` }
      const error = await failure(readCatalog(accessTo({ port: 80 }, { env })))
      expect(error.code).toBe('proxy')
      expect(error.message).toBe(
        `The proxy 127.0.0.1:${proxy.port} (http_proxy) would see the key, because http://gw.test uses plain http`,
      )
      expect(error.hint).toContain('NO_PROXY=gw.test')
      expect(proxy.connections()).toBe(0)
    },
  )

  // By name: undici gives an address to TLS as a server name, which Node 26 refuses (7.30, 2026-11-22).
  test('one that is reached over TLS forwards https', async () => {
    const proxy = await aProxy('us:hunter2', 'good.pem')
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const env = { ALL_PROXY: `https://us:hunter2@localhost:${proxy.port}` }
    await readCatalog(accessTo(server, { ...https, env }))
    expect(proxy.asked).toHaveLength(1)
  })

  test('a bad certificate of the proxy is a proxy error', async () => {
    const proxy = await aProxy(undefined, 'expired.pem')
    const env = { ALL_PROXY: `https://localhost:${proxy.port}` }
    const error = await failure(readCatalog(accessTo({ port: 1 }, { ...https, env })))
    expect(error.code).toBe('proxy')
    expect(error.message).toContain('CERT_HAS_EXPIRED')
  })

  test.skipIf(ownAddress === undefined)('NO_PROXY bypasses it', async () => {
    const server = await aServer(goodGateway, { host: '0.0.0.0' })
    const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: `${ownAddress}/32` }
    await readCatalog(accessTo(server, { host: ownAddress!, env }))
  })

  test.each(['127.0.0.1', 'localhost'])('%s is requested without a proxy', async (host) => {
    const proxy = await aProxy()
    const server = await aServer(goodGateway)
    const url = `http://127.0.0.1:${proxy.port}`
    await readCatalog(accessTo(server, { host, env: { HTTP_PROXY: url, ALL_PROXY: url } }))
    expect(proxy.connections()).toBe(0)
  })

  test('a wrong or missing password is a proxy error', async () => {
    const proxy = await aProxy('us:hunter2')
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    for (const user of ['', 'us:wrongpass@']) {
      const env = { ALL_PROXY: `http://${user}127.0.0.1:${proxy.port}` }
      const error = await failure(readCatalog(accessTo(server, { ...https, env })))
      expect(error.code).toBe('proxy')
      expect(error.message).toContain('407')
      expect(error.message).toContain(`127.0.0.1:${proxy.port}`)
      expect(`${error.message}${error.hint}${error.stack}`).not.toContain('wrongpass')
    }
    expect(server.seen).toHaveLength(0)
  })

  test('a proxy that does not exist', async () => {
    const error = await failure(
      readCatalog(
        accessTo({ port: 1 }, { ...https, env: { HTTPS_PROXY: 'http://us:hunter2@127.0.0.1:1' } }),
      ),
    )
    expect(error.code).toBe('proxy')
    expect(error.message).toMatch(/proxy 127\.0\.0\.1:1 \(HTTPS_PROXY\)$/)
    expect(error.hint).toContain('NO_PROXY')
    expect(`${error.message}${error.hint}`).not.toContain('hunter2')
  })

  test('a proxy that cannot reach the gateway', async () => {
    const proxy = await aProxy()
    const error = await failure(
      readCatalog(
        accessTo({ port: 1 }, { ...https, env: { ALL_PROXY: `http://127.0.0.1:${proxy.port}` } }),
      ),
    )
    expect(error.code).toBe('proxy')
    expect(error.message).toContain('HTTP 502')
  })

  test.each([
    ['says nothing', () => {}],
    ['hangs up', (socket: net.Socket) => socket.once('data', () => socket.end())],
    ['speaks something else', (socket: net.Socket) => socket.write('SSH-2.0-OpenSSH\r\n\r\n')],
    ['sends endless data', (socket: net.Socket) => socket.write('x'.repeat(100_000))],
  ])('a proxy that %s', async (_name, onSocket) => {
    const proxy = await aSocketServer(onSocket)
    const error = await failure(
      readCatalog(
        accessTo(
          { port: 1 },
          { ...https, timeoutMs: 1500, env: { ALL_PROXY: `http://127.0.0.1:${proxy.port}` } },
        ),
      ),
    )
    expect(error.code).toBe('proxy')
    expect(proxy.connections()).toBe(1)
  })

  test('a bad certificate behind a proxy is a TLS error', async () => {
    const proxy = await aProxy()
    const server = await aServer(goodGateway, { certificate: 'expired.pem' })
    const error = await failure(
      readCatalog(
        accessTo(server, { ...https, env: { ALL_PROXY: `http://127.0.0.1:${proxy.port}` } }),
      ),
    )
    expect(error.code).toBe('tls')
    expect(error.message).toContain('has expired')
  })
})

/** A small SOCKS 5 proxy (RFC 1928, RFC 1929), with a name and a password if `credentials` are given. */
async function aSocksProxy(credentials?: { username: string; password: string }) {
  const asked: string[] = []
  const server = await aSocketServer((socket) => {
    let step: 'greeting' | 'password' | 'request' = 'greeting'
    socket.on('data', function onData(chunk: Buffer) {
      if (step === 'greeting') {
        step = credentials === undefined ? 'request' : 'password'
        const wanted = credentials === undefined ? 0 : 2
        socket.write(Buffer.from([5, chunk.subarray(2).includes(wanted) ? wanted : 255]))
      } else if (step === 'password') {
        const { username, password } = credentials!
        const right = Buffer.concat([
          Buffer.from([1, username.length]),
          Buffer.from(username),
          Buffer.from([password.length]),
          Buffer.from(password),
        ])
        step = 'request'
        socket.write(Buffer.from([1, chunk.equals(right) ? 0 : 1]))
      } else {
        socket.off('data', onData)
        const isName = chunk[3] === 3
        const host = isName
          ? chunk.toString('latin1', 5, 5 + chunk[4]!)
          : [...chunk.subarray(4, 8)].join('.')
        const port = chunk.readUInt16BE(chunk.length - 2)
        asked.push(`${host}:${port}`)
        const onward = net.connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          socket.pipe(onward).pipe(socket)
        })
        onward.on('error', () => socket.write(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])))
        socket.on('close', () => onward.destroy())
      }
    })
  })
  return { ...server, asked }
}

describe('proxy: SOCKS', () => {
  test('forwards https, and resolves the name itself', async () => {
    const proxy = await aSocksProxy()
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const env = { ALL_PROXY: `socks5://127.0.0.1:${proxy.port}` }
    const access = accessTo(server, { ...https, env })
    await readCatalog(access)
    await probe(access, { protocol: 'chat', model: 'gpt-5.6-sol' })
    expect(new Set(proxy.asked)).toEqual(new Set([`gw.test:${server.port}`]))
  })

  test('with a name and a password, right or wrong', async () => {
    const proxy = await aSocksProxy({ username: 'us', password: 'hunter2' })
    const server = await aServer(goodGateway, { certificate: 'good.pem' })
    const through = (user: string) =>
      accessTo(server, { ...https, env: { ALL_PROXY: `socks5://${user}127.0.0.1:${proxy.port}` } })
    await readCatalog(through('us:hunter2@'))
    for (const user of ['us:wrongpass@', '']) {
      const error = await failure(readCatalog(through(user)))
      expect(error.code).toBe('proxy')
      expect(`${error.message}${error.hint}`).not.toContain('wrongpass')
    }
  })

  test('that cannot reach the gateway', async () => {
    const proxy = await aSocksProxy()
    const env = { ALL_PROXY: `socks5://127.0.0.1:${proxy.port}` }
    const error = await failure(readCatalog(accessTo({ port: 1 }, { ...https, env })))
    expect(error.code).toBe('proxy')
  })
})
