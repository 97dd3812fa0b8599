import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import { normaliseAddress } from '../../../src/gateway/input/address.ts'
import { formatQuery, readQuery, withQuery } from '../../../src/gateway/input/query.ts'

const version = { name: 'api-version', value: '2026-04-01-preview' }

describe('the query of an address', () => {
  test.each([
    ['?api-version=2026-04-01-preview', [version]],
    [
      '?a=1&b=x.y~z',
      [
        { name: 'a', value: '1' },
        { name: 'b', value: 'x.y~z' },
      ],
    ],
    ['?api-version=', [{ name: 'api-version' }]],
    ['?beta=true&limit=1000&after_id=x&client_version=0.169.0', []],
    ['?utm_source=mail&aff=x&ref=y', []],
    ['', []],
  ])('%s is read', (text, query) => {
    expect(readQuery(new URL(`https://gw.example/v1${text}`))).toEqual(query)
  })

  test.each([
    ['?api-key=x', 'contains api-key, which may be a key'],
    ['?key=x', 'contains key, which may be a key'],
    ['?subscription-key=x', 'contains subscription-key, which may be a key'],
    ['?access_token=x', 'contains access_token, which may be a key'],
    ['?sig=x', 'contains sig, which may be a key'],
    ['?code=x', 'contains code, which may be a key'],
    ['?v=sk-canary-7f3a9b2c4d5e6f708192a3b4', 'contains v, which may be a key'],
    ['?v=canary12canary34canary56canary78', 'contains v, which may be a key'],
    ['?sk-canary-7f3a9b2c4d5e=1', 'contains characters that clients cannot send'],
    ['?v=can%26ary', 'contains characters that clients cannot send'],
    ['?v=can%20ary', 'contains characters that clients cannot send'],
    ['?v=1&v=2', 'names v twice'],
  ])('%s is rejected without printing its value', (text, said) => {
    const read = () => normaliseAddress(`https://gw.example/v1${text}`, {})
    expect(read).toThrow(UserError)
    expect(read).toThrow(`The query of the address ${said}`)
    expect(read).not.toThrow(/canary|can ary/)
  })

  test.each([
    'https://gw.example/login?next=x',
    'https://gw.example/?x=1#/token',
    'https://team.openai.azure.com/openai/deployments/sol/responses?api-version=p',
  ])('of %s belongs to the page or the older route, and is removed', (address) => {
    const { query, findings } = normaliseAddress(address, {})
    expect(query).toEqual([])
    expect(findings[0]!.message).toContain('without the query')
  })

  test('is appended to that of a route, and shown masked', () => {
    expect(withQuery('https://gw.example/v1/models', [version])).toBe(
      'https://gw.example/v1/models?api-version=2026-04-01-preview',
    )
    expect(withQuery('https://gw.example/v1/messages?beta=true', [version])).toBe(
      'https://gw.example/v1/messages?beta=true&api-version=2026-04-01-preview',
    )
    expect(formatQuery([version])).toBe('?api-version=....view')
  })
})
