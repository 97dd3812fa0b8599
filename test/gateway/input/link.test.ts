import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { readImportLink } from '../../../src/gateway/input/link.ts'
import { isImportLink } from '../../../src/text.ts'

const key = 'sk-canary-link-3f9b7d1c5e'

function linkOf(fields: Record<string, string>): string {
  return `ccswitch://v1/import?${new URLSearchParams(fields)}`
}

const given = { resource: 'provider', app: 'claude', endpoint: 'https://gw.example', apiKey: key }

function refusalOf(text: string): string {
  try {
    readImportLink(text, {})
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return `${error.code}: ${error.message}`
  }
  return 'read'
}

describe("a gateway's link", () => {
  test('as New API writes it: models by slot, a page, codex with /v1', () => {
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
      baseUrls: ['https://gw.example'],
      client: 'claude',
      name: 'My Claude',
      model: 'claude-sonnet-5-5',
      slotModels: { opus: 'claude-opus-5-5', haiku: 'claude-haiku-5-5' },
      notices: [],
    })
    const codex = linkOf({ ...given, app: 'codex', endpoint: 'https://gw.example/v1' })
    expect(readImportLink(` <${codex}>\n`, {})).toMatchObject({
      client: 'codex',
      baseUrls: ['https://gw.example'],
    })
  })

  test('as sub2api writes it: a script comes along, and is left alone', () => {
    const usageScript = btoa('({ request: { url: "https://elsewhere.example" } })')
    const { notices, baseUrls } = readImportLink(
      linkOf({ ...given, usageEnabled: 'true', usageScript, configUrl: 'https://x.example/c' }),
      {},
    )
    expect(baseUrls).toEqual(['https://gw.example'])
    expect(notices.map(({ message }) => message)).toEqual([
      'The link also brings a script and the address of a configuration, which repoint leaves alone',
    ])
  })

  test('several addresses stay in their order, each once', () => {
    const endpoint = 'https://a.example/v1, https://b.example,https://a.example'
    expect(readImportLink(linkOf({ ...given, endpoint }), {}).baseUrls).toEqual([
      'https://a.example',
      'https://b.example',
    ])
  })

  test.each([
    ['another resource', { ...given, resource: 'mcp' }],
    ['no key', { ...given, apiKey: '' }],
    ['a placeholder for a key', { ...given, apiKey: 'YOUR_API_KEY' }],
    ['a masked key', { ...given, apiKey: 'sk-1234****5678' }],
    ['no address', { ...given, endpoint: ' , ' }],
    ['a script for an address', { ...given, endpoint: `javascript:alert("${key}")` }],
    ['a name and a password in an address', { ...given, endpoint: `https://me:${key}@gw.example` }],
    ['plain http to another machine', { ...given, endpoint: 'http://gw.example' }],
    ['ten thousand addresses', { ...given, endpoint: 'https://gw.example,'.repeat(10_000) }],
    ['control characters in a model', { ...given, model: 'gpt\u001b[31m' }],
    ['an endless name', { ...given, name: 'x'.repeat(10_000) }],
  ])('refuses %s, without a word of what stands in it', (_, fields) => {
    const refusal = refusalOf(linkOf(fields))
    expect(refusal).toMatch(/^(usage|key-missing|key-placeholder): /)
    expect(refusal).not.toContain(key)
  })

  test.each([
    `ccswitch://v1/import?apiKey=${key}&apiKey=other&endpoint=https://gw.example`,
    `ccswitch://v2/import?apiKey=${key}&endpoint=https://gw.example`,
    `ccswitch:${key}`,
  ])('refuses %s', (text) => {
    expect(refusalOf(text)).toMatch(/^usage: /)
    expect(refusalOf(text)).not.toContain(key)
  })
})
