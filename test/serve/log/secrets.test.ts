import { expect, test } from 'vitest'
import { maskKey, maskKeys } from '../../../src/serve/log/secrets.ts'

const key = 'sk-canary-0123456789-ABCDEF'
const masked = maskKey(key)

test('keys: a mask distinguishes two keys and cannot be used', () => {
  expect(maskKey(key)).toBe('sk-…CDEF')
  expect(maskKey('sk-123456789')).toBe('***')
  expect(maskKey('')).toBe('')
})

test('keys: every occurrence is masked, except of a short key', () => {
  expect(maskKeys(`a ${key}${key} "${key}"`, ['a', key])).toBe(`a ${masked}${masked} "${masked}"`)
  expect(maskKeys('a$&b', [key])).toBe('a$&b')
})

test('keys: one that contains another is masked completely, in either order', () => {
  const longer = `${key}-and-more`
  for (const keys of [
    [key, longer],
    [longer, key],
  ]) {
    const maskedText = maskKeys(`a ${longer} b ${key} c`, keys)
    expect(maskedText).toBe(`a ${maskKey(longer)} b ${masked} c`)
  }
})
