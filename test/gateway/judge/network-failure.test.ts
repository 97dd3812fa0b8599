import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../../src/error-codes.ts'
import { cleanForeignText } from '../../../src/gateway/foreign-text.ts'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { diagnoseFailure } from '../../../src/gateway/judge/network-failure.ts'
import type { HttpResponse, NetworkFailure, SentRequest } from '../../../src/gateway/judge/types.ts'
import { fc } from '../../support/fast-check.ts'

const request: SentRequest = {
  route: 'catalog',
  address: 'https://gw.example',
  secrets: ['sk-secret-1234'],
}

const failed = (more: Partial<NetworkFailure>): NetworkFailure => ({
  url: 'https://gw.example/v1/models',
  stage: 'connect',
  errorCode: '',
  detail: '',
  reason: 'error',
  waitedMs: 1_234,
  ...more,
})

describe('diagnose: a request without an answer has exactly one outcome', () => {
  test.each<readonly [string, Partial<NetworkFailure>, string]>([
    ['refused', { errorCode: 'ECONNREFUSED' }, 'refused'],
    ['no route to the host', { errorCode: 'EHOSTUNREACH' }, 'refused'],
    ['no network', { errorCode: 'ENETUNREACH' }, 'refused'],
    ['a route to nowhere', { errorCode: 'EINVAL' }, 'refused'],
    ['a route that is forbidden', { errorCode: 'EACCES' }, 'refused'],
    ['a firewall of this machine', { errorCode: 'EPERM' }, 'refused'],
    [
      'a name of this machine that leads elsewhere',
      { url: 'http://app.localhost/v1/models', errorCode: 'ERR_NOT_LOOPBACK', detail: '192.0.2.1' },
      'usage',
    ],
    ['no such name', { errorCode: 'ENOTFOUND' }, 'dns'],
    ['no name server', { errorCode: 'EAI_AGAIN' }, 'dns'],
    ['the system gave up connecting', { errorCode: 'ETIMEDOUT' }, 'timeout'],
    ['our deadline while connecting', { reason: 'deadline' }, 'timeout'],
    ['our deadline in the handshake', { reason: 'deadline', stage: 'tls' }, 'timeout'],
    ['our deadline at the first byte', { reason: 'deadline', stage: 'first-byte' }, 'timeout'],
    [
      'our deadline at the proxy',
      { reason: 'deadline', stage: 'proxy', proxy: 'p:1 (HTTPS_PROXY)' },
      'proxy',
    ],
    ['reset in the handshake', { errorCode: 'ECONNRESET', stage: 'tls' }, 'tls'],
    ['reset before the answer', { errorCode: 'ECONNRESET', stage: 'first-byte' }, 'refused'],
    ['closed before the answer', { errorCode: 'UND_ERR_SOCKET', stage: 'first-byte' }, 'refused'],
    ['chain incomplete', { errorCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', stage: 'tls' }, 'tls'],
    ['unknown authority', { errorCode: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', stage: 'tls' }, 'tls'],
    ['expired', { errorCode: 'CERT_HAS_EXPIRED', stage: 'tls' }, 'tls'],
    ['revoked', { errorCode: 'CERT_REVOKED', stage: 'tls' }, 'tls'],
    ['an old protocol', { errorCode: 'ERR_SSL_UNSUPPORTED_PROTOCOL', stage: 'tls' }, 'tls'],
    [
      'the code of older Nodes',
      {
        errorCode: 'EPROTO',
        detail: 'write EPROTO 140:error:0A00010B:SSL routines:ssl3_get_record:wrong version number',
        stage: 'tls',
      },
      'tls',
    ],
    ['not HTTP', { stage: 'first-byte', firstBytes: 'SSH-2.0' }, 'not-an-api'],
    [
      'a TLS alert for plain http',
      { url: 'http://gw.example/v1/models', stage: 'first-byte', firstBytes: '\x15\x03\x03' },
      'tls',
    ],
    [
      'proxy refused',
      { stage: 'proxy', errorCode: 'ECONNREFUSED', proxy: 'p:1 (HTTPS_PROXY)' },
      'proxy',
    ],
    [
      'proxy unknown',
      { stage: 'proxy', errorCode: 'ENOTFOUND', proxy: 'p:1 (HTTPS_PROXY)' },
      'proxy',
    ],
    [
      'the proxy hangs up',
      { stage: 'tunnel', errorCode: 'UND_ERR_SOCKET', proxy: 'p:1 (HTTPS_PROXY)' },
      'proxy',
    ],
    [
      'a bad certificate behind the proxy',
      { stage: 'tunnel', errorCode: 'CERT_HAS_EXPIRED', proxy: 'p:1 (HTTPS_PROXY)' },
      'tls',
    ],
    [
      'no handshake behind the proxy',
      {
        stage: 'tunnel',
        errorCode: 'ECONNRESET',
        detail: 'Client network socket disconnected before secure TLS connection was established',
        proxy: 'p:1 (HTTPS_PROXY)',
      },
      'tls',
    ],
    [
      'proxy wants a password',
      { stage: 'proxy', proxyStatus: 407, proxy: 'p:1 (HTTPS_PROXY)' },
      'proxy',
    ],
    ['Ctrl-C', { reason: 'cancelled' }, 'cancelled'],
    ['something new', { errorCode: 'EWHATEVER' }, 'refused'],
  ])('%s', (_name, more, code) => {
    const outcome = diagnoseFailure(failed(more), request)
    expect(outcome.code).toBe(code)
    expect(outcome.hint).toMatch(/.{5}[^.]$|.{5}[^.]\.$/)
    expect(outcome.hint.replace(/\{--[^}]*\}/g, '')).not.toContain('--base-url')
    expect(outcome.message).not.toMatch(/\.$|undefined|\p{Cc}/u)
  })

  test('names the kind of route', () => {
    const message = (errorCode: string) => diagnoseFailure(failed({ errorCode }), request).message
    expect(message('EINVAL')).toContain('gw.example (EINVAL)')
    expect(message('EACCES')).toContain('gw.example (EACCES)')
    expect(message('EINVAL')).not.toBe(message('EACCES').replace('EACCES', 'EINVAL'))
  })

  test('names the stage of the request and how long it waited', () => {
    const message = (more: Partial<NetworkFailure>) =>
      diagnoseFailure(failed({ reason: 'deadline', ...more }), request).message
    expect(message({ stage: 'connect', waitedMs: 10_000 })).toMatch(/gw\.example within 10 s$/)
    expect(message({ stage: 'first-byte' })).toMatch(/^gw\.example .* 1\.2 s$/)
    expect(message({ stage: 'body', proxy: 'p:1 (ALL_PROXY)' })).toContain('p:1 (ALL_PROXY)')
  })
})

/** Words of the message, and of the hint, which says what to check or type. */
describe('diagnose: a request without an answer', () => {
  const proxy = 'p:1 (HTTPS_PROXY)'
  const local = 'https://127.0.0.1:8080/v1/models'
  const plain = 'http://gw.example/v1/models'
  const atTls = (errorCode: string, more: Partial<NetworkFailure> = {}) =>
    ({ stage: 'tls', errorCode, ...more }) as const
  const atFirstByte = (more: Partial<NetworkFailure>) => ({ stage: 'first-byte', ...more }) as const

  test.each<readonly [Partial<NetworkFailure>, message: string, hint: string]>([
    [{ errorCode: 'ENOTFOUND' }, 'gw.example (ENOTFOUND)', '--base-url'],
    [{ errorCode: 'EAI_AGAIN' }, 'gw.example (EAI_AGAIN)', 'name server'],
    [
      { errorCode: 'ECONNREFUSED', proxy },
      `at gw.example, asked through the proxy ${proxy}`,
      '--base-url',
    ],
    [{ errorCode: 'ECONNREFUSED', url: local }, '127.0.0.1:8080', '--base-url'],
    [{ errorCode: 'UND_ERR_CONNECT_TIMEOUT', waitedMs: 20 }, 'within 0.1 s', '--base-url'],
    [{ reason: 'deadline', stage: 'first-byte' }, 'within 1.2 s', '--timeout 120'],
    [{ reason: 'deadline', stage: 'body' }, 'within 1.2 s', '--timeout 120'],
    [{ reason: 'deadline', stage: 'tls' }, 'TLS handshake within 1.2 s', '--base-url'],

    [{ stage: 'proxy', proxy, proxyStatus: 407 }, `${proxy} asks for a user name`, 'a colon'],
    [atTls('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'mutual TLS', 'proxy'],
    [
      { reason: 'deadline', stage: 'lookup' },
      'gw.example was not found within 1.2 s',
      'name servers',
    ],
    [{ stage: 'proxy', proxy, proxyStatus: 403 }, 'gw.example (HTTP 403)', 'NO_PROXY=gw.example'],
    [
      { stage: 'proxy', proxy, reason: 'deadline' },
      'to gw.example within 1.2 s',
      'NO_PROXY=gw.example',
    ],
    [
      { stage: 'proxy', proxy, errorCode: 'ECONNRESET', detail: 'read\nECONNRESET' },
      `${proxy} does not work (ECONNRESET): read ECONNRESET`,
      'NO_PROXY=gw.example',
    ],
    [
      { stage: 'proxy', proxy, errorCode: 'ECONNREFUSED' },
      `Nothing listens at the proxy ${proxy}`,
      'NO_PROXY=gw.example',
    ],

    [
      atTls('ERR_SSL_WRONG_VERSION_NUMBER'),
      'it looks like plain http',
      'http://gw.example} --allow-http',
    ],
    [
      atTls('EPROTO', { detail: 'SSL routines:packet length too long', url: local }),
      '127.0.0.1:8080 does not speak TLS',
      '--base-url http://127.0.0.1:8080',
    ],
    [
      atTls('DEPTH_ZERO_SELF_SIGNED_CERT'),
      'gw.example is self-signed (DEPTH_ZERO',
      '--ca-file PATH',
    ],
    [atTls('CERT_UNTRUSTED'), '(CERT_UNTRUSTED)', '--ca-file PATH'],
    [atTls('CRL_HAS_EXPIRED'), 'has expired (CRL_HAS_EXPIRED)', 'clock'],
    [atTls('CERT_NOT_YET_VALID'), '(CERT_NOT_YET_VALID)', 'clock'],
    [atTls('CERT_REJECTED'), '(CERT_REJECTED)', 'Do not send the key there'],
    [
      atTls('ERR_TLS_CERT_ALTNAME_INVALID', { detail: 'DNS:a.example, IP Address:1.2.3.4' }),
      'a.example, 1.2.3.4 (ERR_TLS',
      '--base-url',
    ],
    [atTls('HOSTNAME_MISMATCH'), 'hosts (HOSTNAME_MISMATCH)', '--base-url'],
    [
      atTls('ECONNRESET', { proxy }),
      `failed (ECONNRESET), asked through the proxy ${proxy}`,
      '--base-url',
    ],
    [atTls(''), 'The TLS handshake with gw.example', '--base-url'],

    [
      atFirstByte({ errorCode: 'EPROTO', detail: 'SSL routines:x' }),
      'The TLS handshake',
      '--base-url',
    ],
    [atFirstByte({ errorCode: 'EPROTO' }), 'closed the connection', 'firewall'],
    [
      atFirstByte({ errorCode: 'EOTHER', detail: 'SSL routines' }),
      'closed the connection',
      'firewall',
    ],
    [atFirstByte({ errorCode: 'MY_CERT_HAS_EXPIRED' }), 'closed the connection', 'firewall'],
    [
      atFirstByte({ errorCode: 'ECONNRESET', url: plain }),
      'closed the connection',
      '--base-url https://gw.example',
    ],
    [
      atFirstByte({ errorCode: 'UND_ERR_HEADERS_OVERFLOW' }),
      'more than 128 kB of headers',
      "the gateway's operator",
    ],
    [
      atFirstByte({ firstBytes: `SSH-2.0 sk-secret-1234 ${'x'.repeat(60)}` }),
      `does not speak HTTP: "SSH-2.0 .... ${'x'.repeat(17)}"`,
      '--base-url',
    ],
    [atFirstByte({ firstBytes: '\x15\x03\x03' }), 'does not speak HTTP', '--base-url'],
    [
      atFirstByte({ firstBytes: '\x15\x03\x03', url: plain }),
      'gw.example speaks only https',
      '--base-url https://gw.example',
    ],
    [
      atFirstByte({ firstBytes: 'x\x15\x03', url: plain }),
      'does not speak HTTP: "x"',
      '--base-url',
    ],
  ])('%j', (more, message, hint) => {
    const { protocol } = new URL(more.url ?? request.address)
    const outcome = diagnoseFailure(failed(more), {
      ...request,
      address: `${protocol}//gw.example`,
    })
    expect(outcome?.message).toContain(message)
    expect(outcome?.hint).toContain(hint)
  })

  test('have a message that ends there if nothing else is known', () => {
    const message = (more: Partial<NetworkFailure>) =>
      diagnoseFailure(failed(more), request).message
    expect(message({ stage: 'tls' })).toMatch(/ failed$/)
    expect(message(atFirstByte({ firstBytes: '\x15\x03\x03' }))).toMatch(/HTTP$/)
    expect(message({ stage: 'first-byte' })).toMatch(/without an answer$/)
  })

  test('say where the client looks for authorities, if the one of the certificate is unknown', () => {
    const authorities = { of: 'Codex', system: true, files: ['SSL_CERT_FILE'], folders: [] }
    const asked = { ...request, authorities, hasNodeExtraCa: true }
    const hint = (code: string) => diagnoseFailure(failed(atTls(code)), asked).hint
    for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'])
      expect(hint(code)).toContain(
        " Codex reads certificates from the system's store, SSL_CERT_FILE. Codex does not read NODE_EXTRA_CA_CERTS.",
      )
    expect(hint('CERT_HAS_EXPIRED')).not.toContain('Codex')
  })

  test('say that repoint ignores NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
    const hint = (isCheckRefused: boolean) =>
      diagnoseFailure(failed(atTls('CERT_HAS_EXPIRED')), { ...request, isCheckRefused }).hint
    expect(hint(true)).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0')
    expect(hint(false)).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED')
  })
})

describe('diagnose: random answers', () => {
  const headers = fc.dictionary(
    fc.constantFrom(
      'content-type',
      'location',
      'www-authenticate',
      'retry-after',
      'server',
      'cf-ray',
      'x-request-id',
    ),
    fc.oneof(
      fc.string(),
      fc.constantFrom('text/html', 'application/json', 'http://[', 'Basic', 'cloudflare'),
    ),
    { noNullPrototype: true },
  )
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((value) => `{"error":${value}}`),
    fc.json().map((value) => `{"error":{"message":${value},"code":${value}}}`),
    fc.json().map((value) => `{"data":${value}}`),
    fc.json().map((value) => `data: ${value}\n\ndata: {"type":"error","error":${value}}\n\n`),
    fc.json().map((value) => `data: {"choices":[${value}]}\n\n`),
  )
  const answer: fc.Arbitrary<HttpResponse> = fc.record({
    url: fc.constantFrom('https://gw.example/v1/models', 'http://127.0.0.1:1/ai/v1/responses'),
    status: fc.oneof(
      fc.constantFrom(200, 204, 301, 400, 401, 403, 404, 429, 500, 503),
      fc.integer({ min: 100, max: 999 }),
    ),
    headers,
    body,
  })

  test('an answer has no outcome, or one of the closed set, on one line and without the key', () => {
    fc.assert(
      fc.property(
        answer,
        fc.constantFrom('catalog', 'chat', 'responses', 'messages'),
        fc.constantFrom(undefined, 'catalog', 'route'),
        (given, asked, apiAnswered) => {
          const outcome = diagnose(given, {
            ...request,
            route: asked,
            apiAnswered,
            model: 'gpt-5.6-sol',
          })
          if (outcome === undefined) {
            expect(given.status).toBeGreaterThanOrEqual(200)
            expect(given.status).toBeLessThan(300)
            return
          }
          expect(errorCodes).toHaveProperty(outcome.code)
          expect(`${outcome.message}${outcome.hint}`).not.toMatch(/\p{Cc}/u)
          expect(outcome.message.length).toBeLessThan(600)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('a 401 never blames the address, except for a login of the web server', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const { 'www-authenticate': _, server: __, ...rest } = given.headers
        const outcome = diagnose(
          { ...given, status: 401, headers: rest },
          { ...request, route: 'chat', model: 'm-1' },
        )
        expect(['not-an-api', 'wrong-route', 'docs-host', 'redirected']).not.toContain(
          outcome?.code,
        )
      }),
    )
  })

  test('a 404 never blames the key', () => {
    fc.assert(
      fc.property(answer, (given) => {
        expect(
          diagnose({ ...given, status: 404 }, { ...request, route: 'chat', model: 'm-1' })?.code,
        ).not.toBe('key-rejected')
      }),
    )
  })
})

describe('foreign text', () => {
  test.each([
    ['plain', 'plain'],
    ['  two\n\tlines  ', 'two lines'],
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07rest', ']0;title rest'],
    ['\x9b31mred', '31mred'],
    ['a\u202eb\u2066c\u200bd', 'abcd'],
    ['Invalid key sk-secret-1234!', 'Invalid key ....!'],
    ['Invalid key sk-sec\u200bret-1234!', 'Invalid key ....!'],
    ['Invalid key SK-SECRET-1234!', 'Invalid key ....!'],
    [`got ${btoa('sk-secret-1234')}`, 'got ....Q='],
    ['a\n[ERROR] b', 'a [ERROR] b'],
    ['错误', '错误'],
    ['', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(cleanForeignText(text, ['sk-secret-1234'])).toBe(shown)
  })

  test('masks the base64 of a header that contains the secret, at any position', () => {
    for (const prefix of ['', 'x', 'Bearer ', 'user:'])
      for (const suffix of ['', '\n', ' and more'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(`${prefix}sk-sécret?~~1234${suffix}`).toString(encoding)
          const shown = cleanForeignText(encoded, ['sk-sécret?~~1234'])
          expect(shown).toContain('....')
          expect(shown.length).toBeLessThan(encoded.length - 12)
        }
  })

  test('keeps words that only resemble a short secret', () => {
    expect(cleanForeignText('Ollama is no key, ollama is', ['ollama'])).toBe(
      'Ollama is no key, .... is',
    )
    expect(cleanForeignText('abc', ['abc'])).toBe('abc')
  })

  test('cuts long text between characters', () => {
    expect([...cleanForeignText('😀'.repeat(500))]).toHaveLength(200)
  })

  test('never lets a control character or the secret through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const shown = cleanForeignText(`${text}sk-secret-1234${text}`, ['sk-secret-1234'])
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(shown).not.toContain('sk-secret-1234')
      }),
    )
  })
})
