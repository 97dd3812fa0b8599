import { lookup } from 'node:dns/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readCatalog } from '../../../src/gateway/catalog.ts'
import { preopenConnections } from '../../../src/gateway/http/request.ts'
import { probe } from '../../../src/gateway/probe/probe.ts'
import { aFreePort } from '../../support/gateway.ts'
import {
  accessTo,
  aServer,
  aSocketServer,
  catalogBody,
  failure,
  goodGateway,
  key,
  sendJson,
  tlsFile,
} from '../forged.ts'

const model = 'gpt-5.6-sol'
const good = { certificate: 'good.pem' }
const withCa = { scheme: 'https', caFile: tlsFile('ca.pem') }

/** Debian's own hosts file gives localhost both addresses; some containers leave ::1 out. */
const hasIpv6Name = (await lookup('localhost', { all: true })).some(({ family }) => family === 6)

describe('network: no server', () => {
  test('a closed port is refused, and the error suggests the local gateway', async () => {
    const error = await failure(readCatalog(accessTo({ port: await aFreePort() })))
    expect(error.code).toBe('refused')
    expect(error.message).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+$/)
    expect(error.hint).toContain('repoint serve')
  })

  test('a closed port is refused on every address of a name', async () => {
    const error = await failure(
      readCatalog(accessTo({ port: await aFreePort() }, { host: 'localhost' })),
    )
    expect(error.code).toBe('refused')
  })

  test('an unknown host name is a DNS error', async () => {
    const error = await failure(
      readCatalog(accessTo({ port: 443 }, { scheme: 'https', host: 'no-such-host.invalid' })),
    )
    expect(error.code).toBe('dns')
    expect(error.message).toContain('no-such-host.invalid')
  })

  test('a connection that closes at once', async () => {
    const server = await aSocketServer((socket) => socket.destroy())
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('refused')
    expect(error.message).toContain('closed the connection without an answer')
    expect(error.hint).toContain('https://127.0.0.1')
  })

  test('a server without HTTP is not an API', async () => {
    const server = await aSocketServer((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'))
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain('SSH-2.0-OpenSSH_9.2p1')
  })

  test('endless headers are reported as such', async () => {
    const server = await aSocketServer((socket) => {
      socket.on('data', () => {})
      socket.write(`HTTP/1.1 200 OK\r\n${'x-a: '.padEnd(150_000, 'b')}\r\n`)
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error).toMatchObject({
      code: 'gateway-fault',
      message: expect.stringContaining('128 kB'),
    })
  })

  test('an unexpected "100 Continue" is reported', async () => {
    const server = await aSocketServer((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'))
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error).toMatchObject({
      code: 'gateway-fault',
      message: expect.stringContaining('100 Continue'),
    })
  })
})

describe('network: time', () => {
  /** Stops the clock of the requests. The test moves it when the server has received what decides the error. */
  function stopClock() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  test('no first byte', async () => {
    const server = await aServer(() => vi.advanceTimersByTime(200))
    stopClock()
    const error = await failure(readCatalog(accessTo(server, { timeoutMs: 200 })))
    expect(error.code).toBe('timeout')
    expect(error.message).toMatch(/sent nothing within 0\.2 s$/)
    expect(error.hint).toContain('--timeout')
  })

  test('a late first byte is fine within the deadline', async () => {
    const server = await aServer((_request, response) => {
      setTimeout(() => sendJson(response, 200, catalogBody), 300)
    })
    expect((await readCatalog(accessTo(server))).models).toHaveLength(2)
  })

  test('an endless slow body ends at the deadline of the request', async () => {
    const server = await aServer((_request, response) => {
      response.write('{')
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    })
    stopClock()
    const hostState = { hasAnswered: false }
    const failed = failure(readCatalog(accessTo(server, { timeoutMs: 300, hostState })))
    await expect.poll(() => hostState.hasAnswered).toBe(true)
    vi.advanceTimersByTime(300)
    const error = await failed
    expect(error.code).toBe('timeout')
    expect(error.message).toContain('started to answer but did not finish')
  })

  test('redirects do not extend the deadline', async () => {
    const server = await aServer((_request, response) => {
      vi.advanceTimersByTime(150)
      response.writeHead(302, { location: '/v1/models', connection: 'close' }).end()
    })
    stopClock()
    expect((await failure(readCatalog(accessTo(server, { timeoutMs: 400 })))).code).toBe('timeout')
    expect(server.seen).toHaveLength(3)
  })

  test('a handshake that never completes', async () => {
    const server = await aSocketServer((socket) => {
      // The client has sent the start of its handshake.
      socket.once('data', () => vi.advanceTimersByTime(200))
    })
    stopClock()
    const error = await failure(readCatalog(accessTo(server, { scheme: 'https', timeoutMs: 200 })))
    expect(error.code).toBe('timeout')
    expect(error.message).toContain('TLS handshake')
  })

  test('a user who cancels', async () => {
    const controller = new AbortController()
    const server = await aServer(() => controller.abort())
    const error = await failure(readCatalog(accessTo(server, { signal: controller.signal })))
    expect(error.code).toBe('cancelled')
    const before = await failure(readCatalog(accessTo(server, { signal: controller.signal })))
    expect(before.code).toBe('cancelled')
    expect(server.seen).toHaveLength(1)
  })
})

describe('network: bodies', () => {
  const plain = Buffer.from(JSON.stringify(catalogBody))
  test.each([
    ['gzip', gzipSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['deflate', deflateSync(plain)],
    ['deflate', deflateRawSync(plain)],
    ['GZIP', gzipSync(plain)],
    ['identity', plain],
    ['deflate, gzip', gzipSync(deflateSync(plain))],
  ])('compressed with %s', async (encoding, body) => {
    const server = await aServer((_request, response) => {
      response.setHeader('content-encoding', encoding)
      response.end(body)
    })
    expect((await readCatalog(accessTo(server))).models).toHaveLength(2)
  })

  test.each([
    ['an unknown encoding', 'zip', plain],
    ['a body with the wrong encoding', 'gzip', plain],
  ])('%s is a fault of the gateway', async (_name, encoding, body) => {
    const server = await aServer((_request, response) => {
      response.setHeader('content-encoding', encoding)
      response.end(body)
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('compressed its answer')
  })

  test('a small compressed body that expands endlessly is cut at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(64_000_000, ' '))
    const server = await aServer((_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(bomb)
    })
    expect((await failure(readCatalog(accessTo(server)))).message).toContain('more than 8 MB')
  })

  test('an endless body is cut at the limit', async () => {
    const server = await aServer((_request, response) => {
      const chunk = Buffer.alloc(1_000_000, ' ')
      const more = (): void => {
        if (!response.destroyed && response.write(chunk)) setImmediate(more)
      }
      response.on('drain', more)
      more()
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('sent a list of models of more than 8 MB')
  })

  test('an answer that is cut in the middle', async () => {
    const server = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
      response.write('{"object":"list","data":[{"id":"a"')
      setTimeout(() => response.destroy(), 20)
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('stopped in the middle')
  })

  test('a catalog that is shorter than announced is rejected, even if it looks complete', async () => {
    const server = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
      response.write(JSON.stringify(catalogBody))
      setTimeout(() => response.destroy(), 20)
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('stopped in the middle')
  })

  test('an endless response to a probe is cut at the limit, and reported as too long', async () => {
    const server = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = `data: {"choices":[{"delta":{"content":"${'a'.repeat(100_000)}"}}]}\n\n`
      const more = (): void => {
        if (!response.destroyed && response.write(chunk)) setImmediate(more)
      }
      response.on('drain', more)
      more()
    })
    const error = await failure(probe(accessTo(server), { protocol: 'chat', model }))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('sent more than 4 MB in answer to one word')
  })

  test('a stream that is cut in the middle', async () => {
    const server = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.created"}\n\n')
      setTimeout(() => response.destroy(), 20)
    })
    const error = await failure(probe(accessTo(server), { protocol: 'responses', model }))
    expect(error.code).toBe('gateway-fault')
    expect(error.message).toContain('stopped in the middle')
  })

  test('a response after an interim one', async () => {
    const server = await aServer((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      sendJson(response, 200, catalogBody)
    })
    expect((await readCatalog(accessTo(server))).models).toHaveLength(2)
  })
})

describe('network: connections', () => {
  test('one that the server closed in the meantime is opened again', async () => {
    const server = await aServer((request, response) => {
      const { socket } = response
      goodGateway(request, response)
      setTimeout(() => socket?.destroy(), 30)
    })
    const access = accessTo(server)
    await readCatalog(access)
    await new Promise((resolve) => setTimeout(resolve, 80))
    await probe(access, { protocol: 'chat', model })
    expect(server.connections()).toBe(2)
  })

  test('one that the server closes at the second request is opened again', async () => {
    let requests = 0
    const server = await aServer((request, response) => {
      if (++requests === 2) response.socket?.destroy()
      else goodGateway(request, response)
    })
    const access = accessTo(server)
    await readCatalog(access)
    await probe(access, { protocol: 'chat', model })
    expect(requests).toBe(3)
  })

  test('one that the server timed out before its request is opened again', async () => {
    const answered: number[] = []
    const server = await aServer((request, response) => {
      const isFirst = answered.length === 0
      answered.push(isFirst ? 408 : 200)
      if (!isFirst) return goodGateway(request, response)
      response.writeHead(408, { connection: 'close' })
      response.end('408 Request Timeout')
    })
    const access = accessTo(server)
    await preopenConnections(access, 1)
    expect((await readCatalog(access)).models).toHaveLength(2)
    expect(answered).toEqual([408, 200])
  })

  test('one whose stream ends late is reused', async () => {
    let end = () => {}
    const server = await aServer((request, response) => {
      if (request.method === 'GET') return goodGateway(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.completed","response":{}}\n\n')
      end = () => response.end()
    })
    // The server ends the stream when the client has received the start of it.
    const hostState = {
      get hasAnswered() {
        return false
      },
      set hasAnswered(_) {
        setImmediate(end)
      },
    }
    const access = accessTo(server, { hostState })
    await probe(access, { protocol: 'responses', model })
    await readCatalog(access)
    expect(server.connections()).toBe(1)
  })

  test('an IPv6 address', async () => {
    const server = await aServer(goodGateway, { host: '::1' })
    const access = accessTo(server, { host: '[::1]' })
    expect((await readCatalog(access)).models).toHaveLength(2)
    expect(server.seen[0]?.headers.host).toBe(`[::1]:${server.port}`)
  })

  test.skipIf(!hasIpv6Name)('a name whose server listens only on IPv6', async () => {
    const server = await aServer(goodGateway, { host: '::1' })
    expect((await readCatalog(accessTo(server, { host: 'localhost' }))).models).toHaveLength(2)
  })
})

describe('network: redirects', () => {
  test('inside the origin are followed', async () => {
    const server = await aServer((request, response) =>
      request.url === '/v1/models'
        ? response.writeHead(307, { location: '/moved/models' }).end()
        : sendJson(response, 200, catalogBody),
    )
    expect((await readCatalog(accessTo(server))).models).toHaveLength(2)
  })

  test('with a secret are followed without showing it', async () => {
    const server = await aServer((request, response) =>
      request.url === '/v1/models'
        ? response.writeHead(302, { location: '/login?k=hunter2' }).end()
        : response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Login</title>'),
    )
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('not-an-api')
    expect(error.message).toContain(`${server.port}/login,`)
    expect(`${error.message}${error.hint}`).not.toContain('hunter2')
  })

  test('of a POST are followed inside the origin if the method stays POST', async () => {
    const server = await aServer((request, response) =>
      request.url === '/v1/responses'
        ? response.writeHead(308, { location: '/new' }).end()
        : goodGateway({ ...request, url: '/v1/responses' }, response),
    )
    await probe(accessTo(server), { protocol: 'responses', model })
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST'])
    const lossy = await aServer((_request, response) =>
      response.writeHead(302, { location: '/login' }).end(),
    )
    expect((await failure(probe(accessTo(lossy), { protocol: 'responses', model }))).code).toBe(
      'redirected',
    )
  })

  test.each(['http', '//'])(
    'to another origin are reported, and the key stays here (%s)',
    async (scheme) => {
      const otherServer = await aServer(goodGateway)
      const start = scheme === 'http' ? 'http://' : '//'
      const server = await aServer((_request, response) =>
        response
          .writeHead(302, { location: `${start}localhost:${otherServer.port}/v1/models` })
          .end(),
      )
      const error = await failure(readCatalog(accessTo(server)))
      expect(error.code).toBe('redirected')
      expect(error.message).toContain('The key was not sent there')
      // Two slashes are more often a wrong path than an intended address.
      const offered = `--base-url http://localhost:${otherServer.port}`
      expect(error.hint?.includes(offered)).toBe(scheme === 'http')
      expect(otherServer.seen).toHaveLength(0)
    },
  )

  test('that are circular end', async () => {
    const server = await aServer((_request, response) =>
      response.writeHead(302, { location: '/v1/models' }).end(),
    )
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('redirected')
    expect(error.message).toMatch(/redirects .* to itself/)
    expect(error.hint).not.toContain(`--base-url http://127.0.0.1:${server.port}`)
    expect(server.seen.length).toBeLessThan(6)
  })
})

describe('network: TLS', () => {
  test('a private authority that the user names', async () => {
    const server = await aServer(goodGateway, good)
    const access = accessTo(server, withCa)
    await readCatalog(access)
    await probe(access, { protocol: 'messages', model })
    expect(server.connections()).toBe(1)
  })

  test.each([
    [
      'an unknown authority',
      'good.pem',
      undefined,
      {},
      'signed by an authority that this machine does not know',
      '--ca-file',
    ],
    [
      'an unknown authority that sends its own certificate along',
      'good.pem',
      'ca.pem',
      {},
      'signed by an authority that this machine does not know',
      '--ca-file',
    ],
    ['a self-signed certificate', 'self-signed.pem', undefined, {}, 'is self-signed', '--ca-file'],
    ['an expired one', 'expired.pem', undefined, withCa, 'has expired', 'clock'],
    ['one of the future', 'early.pem', undefined, withCa, 'is not valid yet', 'clock'],
    [
      'one of another host',
      'other-host.pem',
      undefined,
      withCa,
      'is for other hosts: other.example, www.other.example',
      '--base-url',
    ],
  ])('%s', async (_name, certificate, chain, more, says, cure) => {
    const server = await aServer(goodGateway, {
      certificate,
      ...(chain === undefined ? {} : { chain }),
    })
    const error = await failure(readCatalog(accessTo(server, { scheme: 'https', ...more })))
    expect(error.code).toBe('tls')
    expect(error.message).toContain(says)
    expect(error.hint).toContain(cure)
    expect(server.seen).toHaveLength(0)
  })

  test('sends host names in the handshake, but not IP addresses', async () => {
    const server = await aServer(goodGateway, good)
    await readCatalog(accessTo(server, { ...withCa, host: 'localhost' }))
    await readCatalog(accessTo(server, withCa))
    expect(server.seen.map(({ serverName }) => serverName)).toEqual(['localhost', false])
  })

  test('a self-signed certificate that the user names', async () => {
    const server = await aServer(goodGateway, { certificate: 'self-signed.pem' })
    await readCatalog(accessTo(server, { scheme: 'https', caFile: tlsFile('self-signed.pem') }))
  })

  test('https on a plain port, and the reverse', async () => {
    const plain = await aServer(goodGateway)
    const upwards = await failure(readCatalog(accessTo(plain, { scheme: 'https' })))
    expect(upwards.code).toBe('tls')
    expect(upwards.hint).toContain(`--base-url http://127.0.0.1:${plain.port}`)

    const secure = await aServer(goodGateway, good)
    const downwards = await failure(readCatalog(accessTo(secure)))
    expect(downwards.hint).toContain('https:')
  })

  test('plain http to a port that answers with a TLS alert', async () => {
    const server = await aSocketServer((socket) => {
      socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 70])))
    })
    const error = await failure(readCatalog(accessTo(server)))
    expect(error.code).toBe('tls')
    expect(error.hint).toContain('https://')
  })

  test('a server for HTTP/2 only', async () => {
    const server = await aServer(goodGateway, { ...good, isHttp2Only: true })
    const access = accessTo(server, withCa)
    expect((await readCatalog(access)).models).toHaveLength(2)
    await probe(access, { protocol: 'responses', model })
  })

  test.each([
    ['is missing', '/nowhere/ca.pem', 'ENOENT'],
    ['holds no certificate', tlsFile('make.sh'), 'no PEM certificate'],
  ])('a CA file that %s is a usage error', async (_name, caFile, says) => {
    const error = await failure(readCatalog(accessTo({ port: 1 }, { scheme: 'https', caFile })))
    expect(error.code).toBe('usage')
    expect(error.message).toContain(says)
  })
})

test('network: no failure shows the key', async () => {
  const echo = await aServer((request, response) =>
    sendJson(response, 400, { error: { message: `Headers: ${JSON.stringify(request.headers)}` } }),
  )
  const { message, hint } = await failure(readCatalog(accessTo(echo)))
  expect(`${message}${hint}`).not.toContain(key)
})
