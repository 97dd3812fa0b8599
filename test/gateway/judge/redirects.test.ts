import { describe, expect, test } from 'vitest'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { key } from '../../fixtures/gateway/answers.ts'
import { failing, head } from './diagnosed.ts'

test('diagnose: a redirect to the same API elsewhere names the new base URL', () => {
  const to = head('location', 'https://new.example/llm/v1/chat/completions')
  const outcome = failing(308, '', { base: 'http://gw.example/ai', ...to }, 'chat')
  expect(outcome.message).toContain('redirects to https://new.example/llm/v1/chat/completions')
  expect(outcome.message).toContain('The key was not sent there')
  expect(outcome.hint).toContain('--base-url https://new.example/llm')
})

describe('diagnose: redirects without a usable target', () => {
  test('to itself with another query: no new base URL is made up', () => {
    const { message, hint } = failing(302, '', head('location', '/v1/models?a=b'))
    expect(message).toContain('https://gw.example/v1/models to itself (HTTP 302)')
    expect(hint).not.toContain('--base-url https://gw.example')
  })

  test.each(['', 'http://[', 'app://login', 'xhttp://new.example/', 'httpsx://new.example/'])(
    '%j is no web address',
    (location) => {
      expect(failing(302, '', head('location', location)).message).toContain(
        'without naming a web address',
      )
    },
  )

  test('a 304 comes from a cache, and is no redirect', () => {
    expect(failing(304, '').message).toContain('"not modified"')
  })
})

test('diagnose: a key that a gateway puts into an address is not repeated', () => {
  const location = `https://evil.example/${key}/v1/models`
  const { message, hint } = failing(302, '', { headers: { location } })
  expect(message + hint).not.toContain(key)
})

describe('diagnose: redirects', () => {
  const redirectOf = (url: string, location: string, baseUrl = 'https://gw.example/ai') =>
    diagnose(
      { url, status: 302, headers: { location }, body: '' },
      { route: 'catalog', address: baseUrl, secrets: [] },
    )!

  test('within the origin have no sentence about the key', () => {
    const { message } = redirectOf('https://gw.example/ai/v1/models', '/login?next=x')
    expect(message).toBe('gw.example redirects to https://gw.example/login (HTTP 302)')
  })

  test('to plain http are reported too', () => {
    const { message } = redirectOf('https://gw.example/ai/v1/models', 'http://new.example/')
    expect(message).toContain('to http://new.example/ (HTTP 302). The key was not sent there')
  })

  test('from outside of the prefix to itself are circular', () => {
    const { message } = redirectOf('https://gw.example/login', '/login')
    expect(message).toContain('to itself')
  })

  test('to a host after two slashes suggest no base URL', () => {
    const { message, hint } = redirectOf(
      'https://gw.example/ai/v1/models',
      '//evil.example/v1/models',
    )
    expect(message).toContain(
      'redirects to https://evil.example/v1/models (HTTP 302). The key was not',
    )
    expect(hint).not.toContain('evil')
  })

  test('from the root itself suggest no base URL', () => {
    const { hint } = redirectOf('https://gw.example/ai', 'https://new.example/ai')
    expect(hint).not.toContain('--base-url https')
  })
})
