import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../src/errors.ts'
import { isLoopback, normaliseBaseUrl } from '../../../src/gateway/input/base-url.ts'
import { fc } from '../../support/fast-check.ts'

const read = (input: string, allowHttp = false) => normaliseBaseUrl(input, { allowHttp })

function refusal(input: string): UserError {
  try {
    read(input)
  } catch (error) {
    return error as UserError
  }
  throw new Error(`accepted: ${input}`)
}

describe('base URL: what people paste', () => {
  test.each([
    // As it should be: nothing to say.
    ['https://gw.example', 'https://gw.example', false],
    ['https://gw.example/', 'https://gw.example', false],
    ['  https://gw.example \n', 'https://gw.example', false],
    ['HTTPS://GW.Example', 'https://gw.example', false],
    ['https://gw.example:443', 'https://gw.example', false],
    ['https://gw.example:8443', 'https://gw.example:8443', false],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000', false],
    ['http://localhost:11434/', 'http://localhost:11434', false],
    ['http://[::1]:8080', 'http://[::1]:8080', false],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', false],
    ['https://host.example/gateway', 'https://host.example/gateway', false],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api', false],
    // An address of another gateway in which v1 is part of the prefix.
    [
      'https://gateway.ai.example/v1/acc/gw/openai',
      'https://gateway.ai.example/v1/acc/gw/openai',
      false,
    ],

    // Routes.
    ['https://gw.example/v1', 'https://gw.example', true],
    ['https://gw.example/v1/', 'https://gw.example', true],
    ['https://gw.example/V1', 'https://gw.example', true],
    ['https://gw.example/v1/v1', 'https://gw.example', true],
    ['https://gw.example//v1//', 'https://gw.example', true],
    ['https://gw.example/v1/chat/completions', 'https://gw.example', true],
    ['https://gw.example/v1/responses', 'https://gw.example', true],
    ['https://gw.example/v1/messages?beta=true', 'https://gw.example', true],
    ['https://gw.example/v1/messages/count_tokens', 'https://gw.example', true],
    ['https://gw.example/v1/models', 'https://gw.example', true],
    ['https://gw.example/v1/models/gpt-5.6-sol', 'https://gw.example', true],
    ['https://gw.example/chat/completions', 'https://gw.example', true],
    ['https://host.example/gateway/v1', 'https://host.example/gateway', true],
    ['https://host.example/gateway/v1/chat/completions', 'https://host.example/gateway', true],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api', true],
    ['https://gw.example/v1/chat/completions/v1', 'https://gw.example', true],

    // The web page's own paths, queries, fragments.
    ['https://gw.example/console/token', 'https://gw.example', true],
    ['https://gw.example/login?next=%2F', 'https://gw.example', true],
    ['https://gw.example/#/token', 'https://gw.example', true],
    ['https://gw.example/index.html', 'https://gw.example', true],
    ['https://gw.example/panel', 'https://gw.example', true],
    ['https://host.example/gateway/console', 'https://host.example/gateway', true],
    ['https://gw.example/v1?key=secret-in-query', 'https://gw.example', true],

    // No scheme.
    ['gw.example', 'https://gw.example', true],
    ['gw.example/v1', 'https://gw.example', true],
    ['gw.example:8443/v1', 'https://gw.example:8443', true],
    ['//gw.example', 'https://gw.example', true],
    ['localhost:3000', 'http://localhost:3000', true],
    ['127.0.0.1:3000/v1', 'http://127.0.0.1:3000', true],
    ['[::1]:3000', 'http://[::1]:3000', true],
    ['::1', 'http://[::1]', true],
    ['2001:db8::1', 'https://[2001:db8::1]', true],
    ['http://0.0.0.0:3000', 'http://127.0.0.1:3000', true],
    ['0.0.0.0:3000', 'http://127.0.0.1:3000', true],

    // What stands around it.
    ['"https://gw.example/v1"', 'https://gw.example', true],
    ['<https://gw.example>', 'https://gw.example', true],
    ['`https://gw.example`', 'https://gw.example', true],
    ['“https://gw.example”', 'https://gw.example', true],
    ['https://gw.example.', 'https://gw.example', true],
    ['https://gw.example./v1', 'https://gw.example', true],
    ['https://gw.example,', 'https://gw.example', true],
    ['Base URL: https://gw.example/v1', 'https://gw.example', true],
    ['[gateway](https://gw.example/v1)', 'https://gw.example', true],
    ['export OPENAI_BASE_URL=https://gw.example/v1', 'https://gw.example', true],
    ['ANTHROPIC_BASE_URL="https://gw.example"', 'https://gw.example', true],
    ['OPENAI_BASE_URL=gw.example', 'https://gw.example', true],
    [
      'curl https://gw.example/v1/models -H "Authorization: Bearer sk-x"',
      'https://gw.example',
      true,
    ],
    ['接口地址：https://gw.example/v1', 'https://gw.example', true],
    ['https：//gw.example', 'https://gw.example', true],
    ['https://gw。example', 'https://gw.example', true],
    ['https://gw.example\u200b', 'https://gw.example', false],
    ['\ufeffhttps://gw.example', 'https://gw.example', false],
    ['https:/gw.example', 'https://gw.example', false],

    // Names outside of ASCII become what the network knows them as.
    ['https://шлюз.example/v1', 'https://xn--g1ah2bza.example', true],
    ['https://网关.example', 'https://xn--d6q013i.example', true],
  ])('%j is %s', (input, baseUrl, isSaid) => {
    const result = read(input)
    expect(result.baseUrl).toBe(baseUrl)
    expect(result.notices.map(({ code }) => code)).toEqual(isSaid ? ['url-cleaned'] : [])
  })

  test('says what was changed, without the query', () => {
    const [notice] = read('gw.example/v1/chat/completions?api_key=sk-secret').notices
    expect(notice?.message).toBe(
      'Base URL read as https://gw.example: https:// put in front, the query removed, /v1/chat/completions removed (clients add it where it belongs)',
    )
  })
})

describe('base URL: what is refused', () => {
  test.each([
    ['', 'usage'],
    ['   ', 'usage'],
    ['<BASE_URL>', 'usage'],
    ['{base_url}', 'usage'],
    ['{base_url}/v1', 'usage'],
    ['$OPENAI_BASE_URL', 'usage'],
    ['${BASE_URL}', 'usage'],
    ['https://your-gateway.example', 'usage'],
    ['https://.../v1', 'usage'],
    ['ftp://gw.example', 'usage'],
    ['wss://gw.example', 'usage'],
    ['https://', 'usage'],
    ['https://gw.example:99999', 'usage'],
    ['not an address', 'usage'],
    ['foo', 'usage'],
    ['y', 'usage'],
    ['foo/v1', 'usage'],
    ['http//127.0.0.1', 'usage'],
    ['https//gw.example', 'usage'],
    ['3000', 'usage'],
    ['2130706433', 'usage'],
    ['0x7f.1', 'usage'],
    ['hunter.2', 'usage'],
    ['https://a.example https://b.example', 'usage'],
    ['http://gw.example', 'usage'],
    ['http://10.0.0.5:3000', 'usage'],
    ['http://localhost.evil.example', 'usage'],
    ['http://127.0.0.1.evil.example', 'usage'],
    ['https://user:pass@gw.example', 'usage'],
    ['https://sk-secret@gw.example', 'usage'],
    ['https://docs.gw.example', 'docs-host'],
    ['https://docs.gw.example/v1', 'docs-host'],
    ['docs.gw.example/guide/codex', 'docs-host'],
    ['https://doc.gw.example', 'docs-host'],
    ['https://team.apifox.cn/api-123', 'docs-host'],
    ['https://gw.example/docs', 'docs-host'],
    ['https://gw.example/docs/guide/start', 'docs-host'],
    ['https://gw.example/swagger', 'docs-host'],
  ])('%j: %s', (input, code) => {
    const error = refusal(input)
    expect(error.code).toBe(code)
    expect(error.hint).toMatch(/[^.]\.$/)
  })

  test('names --allow-http for plain http, which it then accepts', () => {
    expect(refusal('http://10.0.0.5:3000/v1').hint).toContain('--allow-http')
    expect(read('http://10.0.0.5:3000/v1', true).baseUrl).toBe('http://10.0.0.5:3000')
  })

  test('repeats no user name, password or key', () => {
    for (const input of ['https://user:hunter2@gw.example', 'https://sk-secret@gw.example']) {
      const { message, hint } = refusal(input)
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
  ])('takes %s for a key, and does not repeat it', (input) => {
    const { code, message, hint } = refusal(input)
    expect(code).toBe('usage')
    expect(message).toBe('This looks like a key, not an address')
    expect(message + hint).not.toMatch(/Ab12|1234/)
  })

  test.each([
    'hunter2',
    '0123456789abcdef.hunter2',
    'Ab12+hunter2/x=',
    'https://a:hunter2@gw.example:99999',
  ])('does not repeat %s, which is no web address', (input) => {
    const { code, message, hint } = refusal(input)
    expect(code).toBe('usage')
    expect(message).toBe('The base URL is not a web address')
    expect(message + hint).not.toContain('hunter2')
  })

  test('takes a name of one word where a scheme or a port shows that it is one', () => {
    expect(read('https://gateway/v1').baseUrl).toBe('https://gateway')
    expect(read('https://gateway-of-the-department-2026').baseUrl).toBe(
      'https://gateway-of-the-department-2026',
    )
    expect(read('gateway:8443').baseUrl).toBe('https://gateway:8443')
    expect(read('localhost/v1').baseUrl).toBe('http://localhost')
    expect(read('sk-gateway-production.example').baseUrl).toBe(
      'https://sk-gateway-production.example',
    )
    expect(read('шлюз.рф').baseUrl).toBe('https://xn--g1ah2bza.xn--p1ai')
  })

  test('points from a documentation page to the root above it', () => {
    expect(refusal('https://gw.example/ai/docs/start').hint).toContain(
      '--base-url https://gw.example/ai,',
    )
  })
})

describe('base URL: whatever comes in', () => {
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

  test('comes out as a root that stays as it is, or is refused with a hint', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          parts.map((list) => list.join('')),
        ),
        (input) => {
          let baseUrl: string
          try {
            baseUrl = read(input, true).baseUrl
          } catch (error) {
            expect((error as UserError).name).toBe('UserError')
            expect((error as UserError).hint).toBeTruthy()
            return
          }
          expect(baseUrl).toMatch(/^https?:\/\/[^/]+(?:\/.*[^/])?$/)
          expect(baseUrl).not.toMatch(/[^/]\/v1$/)
          expect(read(baseUrl, true)).toEqual({ baseUrl, notices: [] })
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
