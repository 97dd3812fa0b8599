import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { formatLink, readImportLink } from '../../../src/gateway/input/link.ts'
import { isImportLink } from '../../../src/text.ts'

const key = 'sk-canary-link-3f9b7d1c5e'

function linkOf(fields: Record<string, string>): string {
  return `ccswitch://v1/import?${new URLSearchParams(fields)}`
}

const given = { resource: 'provider', app: 'claude', endpoint: 'https://gw.example', apiKey: key }

function rejectionOf(text: string): string {
  try {
    readImportLink(text, {})
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return `${error.code}: ${error.message}`
  }
  return 'read'
}

describe("a gateway's link", () => {
  test('from New API: models by slot, a page, codex with /v1', () => {
    const claude = linkOf({
      resource: 'provider',
      app: 'claude',
      name: 'My Claude',
      endpoint: 'https://gw.example',
      apiKey: key,
      model: 'claude-sonnet-5-5',
      haikuModel: 'claude-haiku-5-5',
      opusModel: 'claude-opus-5-5',
      homepage: 'https://gw.example',
      enabled: 'true',
    })
    expect(isImportLink(claude)).toBe(true)
    expect(readImportLink(claude, {})).toEqual({
      key,
      addresses: ['https://gw.example'],
      client: 'claude',
      name: 'My Claude',
      model: 'claude-sonnet-5-5',
      slotModels: { opus: 'claude-opus-5-5', haiku: 'claude-haiku-5-5' },
      findings: [],
    })
    const codex = linkOf({ ...given, app: 'codex', endpoint: 'https://gw.example/v1' })
    expect(readImportLink(` <${codex}>\n`, {})).toMatchObject({
      client: 'codex',
      addresses: ['https://gw.example'],
    })
  })

  test('from sub2api: a script is ignored', () => {
    const usageScript = btoa('({ request: { url: "https://elsewhere.example" } })')
    const { findings, addresses } = readImportLink(
      linkOf({ ...given, usageEnabled: 'true', usageScript, configUrl: 'https://x.example/c' }),
      {},
    )
    expect(addresses).toEqual(['https://gw.example'])
    expect(findings.map(({ message }) => message)).toEqual([
      'repoint ignores a script and the address of a configuration in the link',
    ])
  })

  test('keeps several addresses in order, each once', () => {
    const endpoint = 'https://a.example/v1, https://b.example,https://a.example'
    expect(readImportLink(linkOf({ ...given, endpoint }), {}).addresses).toEqual([
      'https://a.example',
      'https://b.example',
    ])
  })

  test.each([
    ['another resource', { resource: 'mcp' }, 'The link does not add a gateway'],
    ['no key', { apiKey: ' ' }, 'The link contains no key'],
    ['no key but a configuration', { apiKey: '', config: 'x' }, 'The link contains no key'],
    ['a placeholder for a key', { apiKey: 'YOUR_API_KEY' }, 'The key is a placeholder'],
    ['a masked key', { apiKey: 'sk-1234****5678' }, 'The key is incomplete'],
    ['no address', { endpoint: '' }, 'The link contains no address'],
    ['no address but commas', { endpoint: ' , ' }, 'The link contains no address'],
    ['a script instead of an address', { endpoint: `javascript:alert("${key}")` }, 'usage'],
    ['a name and a password in an address', { endpoint: `https://me:${key}@gw.example` }, 'usage'],
    ['a query in an address', { endpoint: 'https://gw.example?v=1' }, 'An address in the link has'],
    ['one of two with a query', { endpoint: 'https://a.b,https://c.d?v=1' }, 'An address in the'],
    ['plain http to another machine', { endpoint: 'http://gw.example' }, 'usage'],
    [
      'nine addresses',
      { endpoint: 'https://gw.example,'.repeat(9) },
      'The link contains 9 addresses',
    ],
    ['control characters in a model', { model: 'gpt\u001b[31m' }, 'model in the link is too long'],
    ['an endless name', { name: 'x'.repeat(201) }, 'name in the link is too long'],
  ])('rejects %s without quoting it', (_, fields, words) => {
    const rejection = rejectionOf(linkOf({ ...given, ...fields }))
    expect(rejection).toMatch(/^(usage|key-missing|key-placeholder): /)
    expect(rejection).toContain(words)
    expect(rejection).not.toContain(key)
  })

  test('accepts fields of the maximum length, and ignores empty ones', () => {
    const longKey = `sk-${'a1'.repeat(150)}`
    const fields = { apiKey: ` ${longKey} `, name: 'x'.repeat(200), model: ' ', opusModel: '' }
    const endpoint = Array.from({ length: 8 }, (_, index) => ` https://gw${index}.example `).join()
    const link = readImportLink(linkOf({ ...given, ...fields, endpoint }), {})
    expect(link).toMatchObject({ key: longKey, name: fields.name, slotModels: {} })
    expect(link.addresses).toHaveLength(8)
    expect(link.model).toBeUndefined()
  })

  test('is shown on one line, without its key', () => {
    const endpoint = 'https://a.example,https://b.example'
    const all = { name: 'My "Claude"', model: 'one', opusModel: 'two' }
    expect(formatLink(readImportLink(linkOf({ ...given, ...all, endpoint }), {}))).toBe(
      '"My \\"Claude\\"", for claude, https://a.example or https://b.example, one, opus two',
    )
    const { app: _, ...bare } = given
    expect(formatLink(readImportLink(linkOf(bare), {}))).toBe('https://gw.example')
  })

  test.each([
    `ccswitch://v1/import?apiKey=${key}&apiKey=other&endpoint=https://gw.example`,
    `ccswitch://v2/import?apiKey=${key}&endpoint=https://gw.example`,
    `ccswitch://v1/elsewhere/import?apiKey=${key}&endpoint=https://gw.example`,
    `ccswitch://v1/imports?apiKey=${key}&endpoint=https://gw.example`,
    `ccswitch:${key}`,
    'no link at all',
  ])('rejects %s', (text) => {
    expect(rejectionOf(text)).toMatch(/^usage: The link (does not add|names apiKey more)/)
    expect(rejectionOf(text)).not.toContain(key)
  })
})
