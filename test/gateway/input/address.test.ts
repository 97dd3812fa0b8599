import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../src/errors.ts'
import { normaliseAddress } from '../../../src/gateway/input/address.ts'
import { isLoopback, isPrivate } from '../../../src/gateway/input/local-host.ts'
import { fc } from '../../support/fast-check.ts'

const read = (input: string, allowHttp = false) => normaliseAddress(input, { allowHttp })

function rejection(input: string): UserError {
  try {
    read(input)
  } catch (error) {
    return error as UserError
  }
  throw new Error(`accepted: ${input}`)
}

const gw = 'https://gw.example'

/** The notes about an address. */
const gap = 'The address is a placeholder from instructions'
const noAddress = 'This is not an address'
const aKey = 'This looks like a key, not an address'
const spaces = 'The address has spaces inside'
const around = 'without the text around the address'
const https = 'with https://'
const http = 'with http://'
const query = 'without the query'
const dot = 'without the dot after the host'
const letters = 'the name in ASCII'
const ownPath = (path: string) => `without ${path}, a web page`
const docs = (host: string) => `${host} is the documentation, not the API`
const docsPage = (page: string) => `${page} is a documentation page, not the API`
const clearText = (address: string) =>
  `${address} would send the key over the network in clear text`
const removed = (path: string) => `without ${path}, which clients add`

describe('base URL: accepted input', () => {
  test.each([
    // A correct address has no note.
    ['https://gw.example', gw, ''],
    ['https://gw.example/', gw, ''],
    ['  https://gw.example \n', gw, ''],
    ['HTTPS://GW.Example', gw, ''],
    ['https://gw.example:443', gw, ''],
    ['https://gw.example:8443', 'https://gw.example:8443', ''],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000', ''],
    ['http://localhost:11434/', 'http://localhost:11434', ''],
    ['http://[::1]:8080', 'http://[::1]:8080', ''],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', ''],
    ['https://host.example/gateway', 'https://host.example/gateway', ''],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api', ''],
    // An address of another gateway in which v1 is part of the prefix.
    [
      'https://gateway.ai.example/v1/acc/gw/openai',
      'https://gateway.ai.example/v1/acc/gw/openai',
      '',
    ],

    // Routes.
    ['https://gw.example/v1', gw, removed('/v1')],
    ['https://gw.example/v1/', gw, removed('/v1')],
    ['https://gw.example/V1', 'https://gw.example/V1', ''],
    ['https://gw.example/API/V1', 'https://gw.example/API/V1', ''],
    ['https://gw.example/v1/v1', gw, removed('/v1/v1')],
    ['https://gw.example//v1//', gw, removed('/v1')],
    ['https://gw.example/v1/chat/completions', gw, removed('/v1/chat/completions')],
    ['https://gw.example/v1/responses', gw, removed('/v1/responses')],
    ['https://gw.example/v1/messages?beta=true', gw, `${query}, ${removed('/v1/messages')}`],
    ['https://gw.example/v1/messages/count_tokens', gw, removed('/v1/messages/count_tokens')],
    ['https://gw.example/v1/models', gw, removed('/v1/models')],
    ['https://gw.example/v1/models/gpt-5.6-sol', gw, removed('/v1/models/gpt-5.6-sol')],
    ['https://gw.example/chat/completions', gw, removed('/chat/completions')],
    ['https://host.example/gateway/v1', 'https://host.example/gateway', removed('/v1')],
    [
      'https://host.example/gateway/v1/chat/completions',
      'https://host.example/gateway',
      removed('/v1/chat/completions'),
    ],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api', removed('/v1')],
    ['https://gw.example/v1/chat/completions/v1', gw, removed('/v1/chat/completions/v1')],

    // The web page's own paths, queries, fragments.
    ['https://gw.example/console/token', gw, ownPath('/console/token')],
    ['https://gw.example/login?next=%2F', gw, `${query}, ${ownPath('/login')}`],
    ['https://gw.example/#/token', gw, 'without the part after #'],
    ['https://gw.example/index.html', gw, ownPath('/index.html')],
    ['https://gw.example/panel', gw, ownPath('/panel')],
    ['https://host.example/gateway/console', 'https://host.example/gateway', ownPath('/console')],
    ['https://gw.example/v1?utm_source=mail&aff=x', gw, `${query}, ${removed('/v1')}`],

    // No scheme.
    ['gw.example', gw, https],
    ['gw.example/v1', gw, `${https}, ${removed('/v1')}`],
    ['gw.example:8443/v1', 'https://gw.example:8443', `${https}, ${removed('/v1')}`],
    ['//gw.example', gw, https],
    ['localhost:3000', 'http://localhost:3000', http],
    ['127.0.0.1:3000/v1', 'http://127.0.0.1:3000', `${http}, ${removed('/v1')}`],
    ['[::1]:3000', 'http://[::1]:3000', http],
    ['::1', 'http://[::1]', http],
    ['2001:db8::1', 'https://[2001:db8::1]', https],
    ['http://0.0.0.0:3000', 'http://127.0.0.1:3000', 'instead of 0.0.0.0'],
    ['0.0.0.0:3000', 'http://127.0.0.1:3000', 'with http://, instead of 0.0.0.0'],

    // Text around the address.
    ['"https://gw.example/v1"', gw, `${around}, ${removed('/v1')}`],
    ['<https://gw.example>', gw, around],
    ['`https://gw.example`', gw, around],
    ['“https://gw.example”', gw, around],
    ['https://gw.example.', gw, around],
    ['https://gw.example./v1', gw, `${dot}, ${removed('/v1')}`],
    ['https://gw.example,', gw, around],
    ['Base URL: https://gw.example/v1', gw, `${around}, ${removed('/v1')}`],
    ['[gateway](https://gw.example/v1)', gw, `${around}, ${removed('/v1')}`],
    ['export OPENAI_BASE_URL=https://gw.example/v1', gw, `${around}, ${removed('/v1')}`],
    ['ANTHROPIC_BASE_URL="https://gw.example"', gw, around],
    ['OPENAI_BASE_URL=gw.example', gw, `${around}, ${https}`],
    [
      'curl https://gw.example/v1/models -H "Authorization: Bearer sk-x"',
      gw,
      `${around}, ${removed('/v1/models')}`,
    ],
    ['接口地址：https://gw.example/v1', gw, `${around}, ${removed('/v1')}`],
    ['https：//gw.example', gw, around],
    ['https://gw。example', gw, around],
    ['https://gw.example\u200b', gw, ''],
    ['\ufeffhttps://gw.example', gw, ''],
    ['https:/gw.example', gw, ''],

    // Non-ASCII names become their ASCII form (Punycode).
    ['https://шлюз.example/v1', 'https://xn--g1ah2bza.example', `${letters}, ${removed('/v1')}`],
    ['https://网关.example', 'https://xn--d6q013i.example', letters],

    // Input that only looks like something else.
    ['http：//127.0.0.1:3000', 'http://127.0.0.1:3000', around],
    ['see http://127.0.0.1:3000 there', 'http://127.0.0.1:3000', around],
    ['" gw.example "', gw, `${around}, ${https}`],
    ['gw.example/x?url=y', 'https://gw.example/x', https],
    ['BASE_URL = gw.example', gw, `${around}, ${https}`],
    ['set HOST=gw.example', gw, `${around}, ${https}`],
    ['export\tAPI_ENDPOINT=gw.example', gw, `${around}, ${https}`],
    ['<<gw.example>>', gw, `${around}, ${https}`],
    ["gw.example/it's/x", 'https://gw.example/it%27s/x', https],
    ['gw.example/x(1)/y', 'https://gw.example/x%281%29/y', https],
    ['gw.example,;', gw, `${around}, ${https}`],
    ['gw.example/a://b', 'https://gw.example/a:/b', https],
    ['10.0.0.5', 'https://10.0.0.5', https],
    ['[2001:db8::1]', 'https://[2001:db8::1]', https],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', https],
    ['[::1]:80', 'http://[::1]', http],
    ['gw.xn--p1ai', 'https://gw.xn--p1ai', https],
    ['https://gw.example/a...', 'https://gw.example/a', around],
    ['https://gw.example/v1/images/generations', gw, removed('/v1/images/generations')],
    ['https://gw.example/v1/audio/speech', gw, removed('/v1/audio/speech')],
    ['https://gw.example/v1/images/9', 'https://gw.example/v1/images/9', ''],
    ['https://gw.example/consolex', 'https://gw.example/consolex', ''],
    ['https://gw.example/token', gw, ownPath('/token')],
    ['https://gw.example/settings/profile', gw, ownPath('/settings/profile')],
    ['https://mydocs.example', 'https://mydocs.example', ''],
    ['https://gitbook.io.example', 'https://gitbook.io.example', ''],
    ['https://gw.example/docsx', 'https://gw.example/docsx', ''],
    ['gh-pages.example', 'https://gh-pages.example', https],
    ['notsk-1234.example', 'https://notsk-1234.example', https],
    ['abcdefghijklmnopqrstuvwxyz1.example', 'https://abcdefghijklmnopqrstuvwxyz1.example', https],
  ])('%j is %s', (input, address, said) => {
    const result = read(input)
    expect(result.address).toBe(address)
    const message = `Using ${address} (${said})`
    expect(result.findings).toEqual(
      said === '' ? [] : [{ code: 'url-cleaned', severity: 'note', message }],
    )
  })

  test('reports what was changed, without the query', () => {
    const [notice] = read('gw.example/v1/chat/completions?ref=sk-secret').findings
    expect(notice?.message).toBe(
      'Using https://gw.example (with https://, without the query, without /v1/chat/completions, which clients add)',
    )
  })
})

test('a web page of a known service becomes its API, except one with a password', () => {
  const { address, findings } = read('https://platform.openai.com/api-keys')
  expect(address).toBe('https://api.openai.com')
  expect(findings[0]?.message).toContain('platform.openai.com is a web page of OpenAI')
  for (const user of ['me@', 'me:secret@', ':secret@'])
    expect(() => read(`https://${user}platform.openai.com`)).toThrow(/password/)
})

describe('base URL: rejected input', () => {
  test.each([
    ['', 'usage', 'The address is empty'],
    ['   ', 'usage', 'The address is empty'],
    ['<BASE_URL>', 'usage', gap],
    ['{base_url}', 'usage', gap],
    ['{base_url}/v1', 'usage', gap],
    ['$OPENAI_BASE_URL', 'usage', gap],
    ['${BASE_URL}', 'usage', gap],
    ['https://your-gateway.example', 'usage', gap],
    ['https://.../v1', 'usage', gap],
    ['ftp://gw.example', 'usage', 'The address begins with ftp://, and a gateway needs https://'],
    ['wss://gw.example', 'usage', 'The address begins with wss://, and a gateway needs https://'],
    ['https://', 'usage', noAddress],
    ['https://gw.example:99999', 'usage', noAddress],
    ['not an address', 'usage', spaces],
    ['foo', 'usage', noAddress],
    ['y', 'usage', noAddress],
    ['foo/v1', 'usage', noAddress],
    ['http//127.0.0.1', 'usage', noAddress],
    ['https//gw.example', 'usage', noAddress],
    ['3000', 'usage', noAddress],
    ['2130706433', 'usage', noAddress],
    ['0x7f.1', 'usage', noAddress],
    ['hunter.2', 'usage', noAddress],
    ['https://a.example https://b.example', 'usage', spaces],
    ['http://gw.example', 'usage', clearText('http://gw.example')],
    ['http://10.0.0.5:3000', 'usage', clearText('http://10.0.0.5:3000')],
    ['http://localhost.evil.example', 'usage', clearText('http://localhost.evil.example')],
    ['http://127.0.0.1.evil.example', 'usage', clearText('http://127.0.0.1.evil.example')],
    ['https://user:pass@gw.example', 'usage', 'The address contains a user name or a password'],
    ['https://sk-secret@gw.example', 'usage', 'The address contains a user name or a password'],
    ['https://docs.gw.example', 'docs-host', docs('docs.gw.example')],
    ['https://docs.gw.example/v1', 'docs-host', docs('docs.gw.example')],
    ['docs.gw.example/guide/codex', 'docs-host', docs('docs.gw.example')],
    ['https://doc.gw.example', 'docs-host', docs('doc.gw.example')],
    ['https://team.apifox.cn/api-123', 'docs-host', docs('team.apifox.cn')],
    ['https://gw.example/docs', 'docs-host', docsPage('gw.example/docs')],
    ['https://gw.example/docs/guide/start', 'docs-host', docsPage('gw.example/docs/guide/start')],
    ['https://gw.example/swagger', 'docs-host', docsPage('gw.example/swagger')],

    // Each form of a gap, of documentation and of a key.
    [
      'ftp://gw.example/https:x',
      'usage',
      'The address begins with ftp://, and a gateway needs https://',
    ],
    ['10.20.30', 'usage', noAddress],
    ['x.1.2.3', 'usage', noAddress],
    ['me:x@localhost:3000', 'usage', 'The address contains a user name or a password'],
    ['localhost.x1', 'usage', noAddress],
    ['foolocalhost', 'usage', noAddress],
    ['10.0.0.5x', 'usage', noAddress],
    ['gw.xn--', 'usage', noAddress],
    ['https://team.gitbook.io', 'docs-host', docs('team.gitbook.io')],
    ['https://api-docs.gw.example', 'docs-host', docs('api-docs.gw.example')],
    ['https://apidocs.gw.example', 'docs-host', docs('apidocs.gw.example')],
    ['https://api-doc.gw.example', 'docs-host', docs('api-doc.gw.example')],
    ['https://gw.example/doc', 'docs-host', docsPage('gw.example/doc')],
    ['https://:hunter2@gw.example', 'usage', 'The address contains a user name or a password'],
    ['BASE_URL', 'usage', gap],
    ['base-url', 'usage', gap],
    ['gateway_host', 'usage', gap],
    ['your-host', 'usage', gap],
    ['[host]', 'usage', gap],
    ['[API URL]', 'usage', spaces],
    ['{host}.example', 'usage', gap],
    ['{url}x', 'usage', gap],
    ['https://<host>/v1', 'usage', noAddress],
    ['%BASE_URL%', 'usage', gap],
    ['$env:BASE_URL', 'usage', gap],
    ['${BASE_URL}/v1', 'usage', gap],
    ['https://…', 'usage', gap],
    ['http://your_host', 'usage', gap],
    ['OPENAI_API_KEY=sk-1234', 'usage', aKey],
    ['OPENAI_API_KEY="sk-1234"', 'usage', aKey],
    ['QUJDREVGR0hJSktMTU5PUFFSU1RVMTIz=', 'usage', aKey],
    ['http://sk-proj-Ab12Cd34Ef56Gh78Ij90', 'usage', aKey],
    ['ghp_Ab12Cd34Ef56Gh78Ij90', 'usage', aKey],
    ['xoxb-Ab12Cd34Ef56', 'usage', aKey],
    ['xoxb-Ab12Cd34Ef56.example', 'usage', aKey],
    ['https://ghp_Ab12Cd34Ef56Gh78Ij90', 'usage', aKey],
    ['abcdefghijklmnopqrstuvwxyz', 'usage', noAddress],
    ['0123456789012345678901234567', 'usage', noAddress],
    ['-abcdefghijklmnopqrstuvwxyz1', 'usage', aKey],
    ['gateway.0.0.0.0', 'usage', noAddress],
    ['a b', 'usage', spaces],
  ])('%j: %s', (input, code, message) => {
    const error = rejection(input)
    expect([error.code, error.message]).toEqual([code, message])
    expect(error.hint).not.toMatch(/\.\.$/)
  })

  test('suggests --allow-http for plain http, and accepts it with the flag', () => {
    expect(rejection('http://10.0.0.5:3000/v1').hint).toContain('--allow-http')
    expect(read('http://10.0.0.5:3000/v1', true).address).toBe('http://10.0.0.5:3000')
  })

  test('never repeats a user name, password or key', () => {
    for (const input of [
      'https://user:hunter2@gw.example',
      'https://sk-secret@gw.example',
      'user:hunter2@gw.example',
      'user:1/hunter2@gw.example',
      'https://user:1/hunter2@gw.example',
      '//user:hunter2@gw.example',
    ]) {
      const { message, hint } = rejection(input)
      expect(message + hint).not.toMatch(/hunter2|sk-secret/)
    }
  })

  test.each([
    'sk-proj-Ab12Cd34Ef56Gh78Ij90-Kl12_Mn34Op56Qr78St90',
    'sk-Ab12Cd34',
    'sk-1234',
    'https://sk-proj-Ab12Cd34Ef56Gh78Ij90',
    'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90.Uv12',
    'OPENAI_API_KEY=sk-proj-Ab12Cd34Ef56Gh78Ij90',
    'OPENAI_BASE_URL=sk-proj-Ab12Cd34Ef56Gh78Ij90',
    '"sk-proj-Ab12Cd34Ef56Gh78Ij90"',
    '0123456789abcdef0123456789Ab12Cd34',
    'eyJhbGciOiJIUzI1NiAb12.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVm',
  ])('treats %s as a key, and does not repeat it', (input) => {
    const { code, message, hint } = rejection(input)
    expect(code).toBe('usage')
    expect(message).toBe(aKey)
    expect(message + hint).not.toMatch(/Ab12|1234/)
  })

  test.each([
    'hunter2',
    '0123456789abcdef.hunter2',
    'Ab12+hunter2/x=',
    'https://a:hunter2@gw.example:99999',
  ])('does not repeat %s, which is not a web address', (input) => {
    const { code, message, hint } = rejection(input)
    expect(code).toBe('usage')
    expect(message).toBe(noAddress)
    expect(message + hint).not.toContain('hunter2')
  })

  test('accepts a name of one word with a scheme or a port', () => {
    expect(read('https://gateway/v1').address).toBe('https://gateway')
    expect(read('https://gateway-of-the-department-2026').address).toBe(
      'https://gateway-of-the-department-2026',
    )
    expect(read('gateway:8443').address).toBe('https://gateway:8443')
    expect(read('localhost/v1').address).toBe('http://localhost')
    expect(read('sk-gateway-production.example').address).toBe(
      'https://sk-gateway-production.example',
    )
    expect(read('шлюз.рф').address).toBe('https://xn--g1ah2bza.xn--p1ai')
  })

  test('suggests the root of a documentation page', () => {
    expect(rejection('https://gw.example/ai/docs/start').hint).toContain(
      '--base-url https://gw.example/ai.',
    )
  })
})

describe('base URL: any input', () => {
  const parts = fc.array(
    fc.constantFrom(
      'https://',
      'http://',
      'gw.example',
      '/',
      'v1',
      '/v1',
      'docs',
      '/chat/completions',
      ':8080',
      '?a=b',
      '#x',
      '"',
      ' ',
      '@',
      '[::1]',
      'ü',
      '.',
      '%2f',
      '..',
      '\u200b',
    ),
    { maxLength: 8 },
  )

  test('becomes a root that is stable, or is rejected with a hint', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          parts.map((list) => list.join('')),
        ),
        (input) => {
          let address: string
          try {
            address = read(input, true).address
          } catch (error) {
            expect((error as UserError).name).toBe('UserError')
            expect((error as UserError).hint).toBeTruthy()
            return
          }
          expect(address).toMatch(/^https?:\/\/[^/]+(?:\/.*[^/])?$/)
          expect(address).not.toMatch(/[^/]\/v1$/)
          expect(read(address, true)).toEqual({ address, query: [], findings: [] })
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

test.each([
  ['localhost', true],
  ['a.localhost', true],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['[::ffff:7f00:1]', true],
  ['::ffff:127.0.0.1', true],
  ['APP.Localhost', true],
  ['notlocalhost', false],
  ['.localhost', false],
  ['', false],
  ['::ffff:10.0.0.1', false],
  ['10.0.0.1', false],
  ['localhost.example', false],
  ['128.0.0.1', false],
  ['[::2]', false],
])('loopback: %s is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})

describe('a host that is reachable only from this machine or its network', () => {
  test.each([
    'localhost',
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.9',
    '192.168.1.20',
    '169.254.3.4',
    '100.127.0.1',
    '[fd00::1]',
    '[FE80::1]',
    'nas',
    'Gateway.LAN',
    'printer.local',
    'gw.internal',
    'box.home.arpa',
  ])('%s', (host) => expect(isPrivate(host)).toBe(true))

  test.each([
    '172.32.0.1',
    '100.128.0.1',
    '8.8.8.8',
    '[2606:4700::1111]',
    'gw.example',
    'localhost.example',
    'gw.local.example',
    'lan.example',
  ])('not %s', (host) => expect(isPrivate(host)).toBe(false))
})
