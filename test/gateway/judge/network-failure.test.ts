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

/** Words of the message, and of the hint, which says what to check or type. */
describe('diagnose: a request without an answer', () => {
  const proxy = 'p:1 (HTTPS_PROXY)'
  const local = 'https://127.0.0.1:8080/v1/models'
  const plain = 'http://gw.example/v1/models'
  const atTls = (errorCode: string, more: Partial<NetworkFailure> = {}) =>
    ({ stage: 'tls', errorCode, ...more }) as const
  const atFirstByte = (more: Partial<NetworkFailure>) => ({ stage: 'first-byte', ...more }) as const

  test.each<[code: string, more: Partial<NetworkFailure>, message?: string, hint?: string]>([
    ['refused', { errorCode: 'EHOSTUNREACH' }, 'no route to gw.example (EHOSTUNREACH)'],
    ['refused', { errorCode: 'ENETUNREACH' }, 'no route to gw.example (ENETUNREACH)'],
    ['refused', { errorCode: 'EINVAL' }, 'no route to gw.example (EINVAL)'],
    ['refused', { errorCode: 'EACCES' }, 'blocks connections to gw.example (EACCES)'],
    ['refused', { errorCode: 'EPERM' }, 'blocks connections to gw.example (EPERM)'],
    ['refused', { errorCode: 'EWHATEVER' }],
    ['usage', { errorCode: 'ERR_NOT_LOOPBACK', url: 'http://app.localhost/v1/models' }],
    ['timeout', { errorCode: 'ETIMEDOUT' }],
    ['timeout', { reason: 'deadline' }],
    ['cancelled', { reason: 'cancelled' }],
    ['refused', atFirstByte({ errorCode: 'UND_ERR_SOCKET' })],
    ['tls', atTls('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
    ['tls', atTls('UNABLE_TO_GET_ISSUER_CERT_LOCALLY')],
    ['tls', atTls('CERT_HAS_EXPIRED')],
    ['tls', atTls('CERT_REVOKED')],
    ['tls', atTls('ERR_SSL_UNSUPPORTED_PROTOCOL')],
    ['proxy', { stage: 'proxy', errorCode: 'ENOTFOUND', proxy }],
    ['proxy', { stage: 'tunnel', errorCode: 'UND_ERR_SOCKET', proxy }],
    ['tls', { stage: 'tunnel', errorCode: 'CERT_HAS_EXPIRED', proxy }],
    [
      'tls',
      {
        stage: 'tunnel',
        errorCode: 'ECONNRESET',
        detail: 'Client network socket disconnected before secure TLS connection was established',
        proxy,
      },
    ],

    ['dns', { errorCode: 'ENOTFOUND' }, 'gw.example (ENOTFOUND)', '--base-url'],
    ['dns', { errorCode: 'EAI_AGAIN' }, 'gw.example (EAI_AGAIN)', 'name server'],
    [
      'refused',
      { errorCode: 'ECONNREFUSED', proxy },
      `at gw.example, asked through the proxy ${proxy}`,
      '--base-url',
    ],
    ['refused', { errorCode: 'ECONNREFUSED', url: local }, '127.0.0.1:8080', '--base-url'],
    [
      'timeout',
      { errorCode: 'UND_ERR_CONNECT_TIMEOUT', waitedMs: 20 },
      'within 0.1 s',
      '--base-url',
    ],
    ['timeout', { reason: 'deadline', stage: 'first-byte' }, 'within 1.2 s', '--timeout 120'],
    ['timeout', { reason: 'deadline', stage: 'body' }, 'within 1.2 s', '--timeout 120'],
    ['timeout', { reason: 'deadline', stage: 'tls' }, 'TLS handshake within 1.2 s', '--base-url'],

    [
      'proxy',
      { stage: 'proxy', proxy, proxyStatus: 407 },
      `${proxy} asks for a user name`,
      'a colon',
    ],
    ['tls', atTls('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'mutual TLS', 'proxy'],
    [
      'dns',
      { reason: 'deadline', stage: 'lookup' },
      'gw.example was not found within 1.2 s',
      'name servers',
    ],
    [
      'proxy',
      { stage: 'proxy', proxy, proxyStatus: 403 },
      'gw.example (HTTP 403)',
      'NO_PROXY=gw.example',
    ],
    [
      'proxy',
      { stage: 'proxy', proxy, reason: 'deadline' },
      'to gw.example within 1.2 s',
      'NO_PROXY=gw.example',
    ],
    [
      'proxy',
      { stage: 'proxy', proxy, errorCode: 'ECONNRESET', detail: 'read\nECONNRESET' },
      `${proxy} does not work (ECONNRESET): read ECONNRESET`,
      'NO_PROXY=gw.example',
    ],
    [
      'proxy',
      { stage: 'proxy', proxy, errorCode: 'ECONNREFUSED' },
      `Nothing listens at the proxy ${proxy}`,
      'NO_PROXY=gw.example',
    ],

    [
      'tls',
      atTls('ERR_SSL_WRONG_VERSION_NUMBER'),
      'it looks like plain http',
      'http://gw.example} --allow-http',
    ],
    [
      'tls',
      atTls('EPROTO', { detail: 'SSL routines:packet length too long', url: local }),
      '127.0.0.1:8080 does not speak TLS',
      '--base-url http://127.0.0.1:8080',
    ],
    [
      'tls',
      atTls('DEPTH_ZERO_SELF_SIGNED_CERT'),
      'gw.example is self-signed (DEPTH_ZERO',
      '--ca-file PATH',
    ],
    ['tls', atTls('CERT_UNTRUSTED'), '(CERT_UNTRUSTED)', '--ca-file PATH'],
    ['tls', atTls('CRL_HAS_EXPIRED'), 'has expired (CRL_HAS_EXPIRED)', 'clock'],
    ['tls', atTls('CERT_NOT_YET_VALID'), '(CERT_NOT_YET_VALID)', 'clock'],
    ['tls', atTls('CERT_REJECTED'), '(CERT_REJECTED)', 'Do not send the key there'],
    [
      'tls',
      atTls('ERR_TLS_CERT_ALTNAME_INVALID', { detail: 'DNS:a.example, IP Address:1.2.3.4' }),
      'a.example, 1.2.3.4 (ERR_TLS',
      '--base-url',
    ],
    ['tls', atTls('HOSTNAME_MISMATCH'), 'hosts (HOSTNAME_MISMATCH)', '--base-url'],
    [
      'tls',
      atTls('ECONNRESET', { proxy }),
      `failed (ECONNRESET), asked through the proxy ${proxy}`,
      '--base-url',
    ],
    ['tls', atTls(''), 'The TLS handshake with gw.example', '--base-url'],

    [
      'tls',
      atFirstByte({ errorCode: 'EPROTO', detail: 'SSL routines:x' }),
      'The TLS handshake',
      '--base-url',
    ],
    ['refused', atFirstByte({ errorCode: 'EPROTO' }), 'closed the connection', 'firewall'],
    [
      'refused',
      atFirstByte({ errorCode: 'EOTHER', detail: 'SSL routines' }),
      'closed the connection',
      'firewall',
    ],
    [
      'refused',
      atFirstByte({ errorCode: 'MY_CERT_HAS_EXPIRED' }),
      'closed the connection',
      'firewall',
    ],
    [
      'refused',
      atFirstByte({ errorCode: 'ECONNRESET', url: plain }),
      'closed the connection',
      '--base-url https://gw.example',
    ],
    [
      'gateway-fault',
      atFirstByte({ errorCode: 'UND_ERR_HEADERS_OVERFLOW' }),
      'more than 128 kB of headers',
      "the gateway's operator",
    ],
    [
      'not-an-api',
      atFirstByte({ firstBytes: `SSH-2.0 sk-secret-1234 ${'x'.repeat(60)}` }),
      `does not speak HTTP: "SSH-2.0 .... ${'x'.repeat(17)}"`,
      '--base-url',
    ],
    [
      'not-an-api',
      atFirstByte({ firstBytes: '\x15\x03\x03' }),
      'does not speak HTTP',
      '--base-url',
    ],
    [
      'tls',
      atFirstByte({ firstBytes: '\x15\x03\x03', url: plain }),
      'gw.example speaks only https',
      '--base-url https://gw.example',
    ],
    [
      'not-an-api',
      atFirstByte({ firstBytes: 'x\x15\x03', url: plain }),
      'does not speak HTTP: "x"',
      '--base-url',
    ],
  ])('%s: %j', (code, more, message = '', hint = '') => {
    const { protocol } = new URL(more.url ?? request.address)
    const outcome = diagnoseFailure(failed(more), {
      ...request,
      address: `${protocol}//gw.example`,
    })
    expect(outcome.code).toBe(code)
    expect(outcome.message).toContain(message)
    expect(outcome.message).not.toMatch(/\.$|undefined|\p{Cc}/u)
    expect(outcome.hint).toContain(hint)
    expect(outcome.hint).toMatch(/.{5}[^.]$|.{5}[^.]\.$/)
    expect(outcome.hint.replace(/\{--[^}]*\}/g, '')).not.toContain('--base-url')
  })

  test('names the stage of the request and how long it waited', () => {
    const message = (more: Partial<NetworkFailure>) =>
      diagnoseFailure(failed({ reason: 'deadline', ...more }), request).message
    expect(message({ stage: 'connect', waitedMs: 10_000 })).toMatch(/gw\.example within 10 s$/)
    expect(message({ stage: 'first-byte' })).toMatch(/^gw\.example .* 1\.2 s$/)
    expect(message({ stage: 'body', proxy: 'p:1 (ALL_PROXY)' })).toContain('p:1 (ALL_PROXY)')
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
