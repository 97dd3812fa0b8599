import { expect, test } from 'vitest'
import { isTooDeep } from '../../../src/serve/codecs/json-depth.ts'
import { fc } from '../../support/fast-check.ts'

const deep = (open: string, inside: string, close: string, depth: number) =>
  open.repeat(depth) + inside + close.repeat(depth)

test.each([
  ['arrays', deep('[', '1', ']', 1001), true],
  ['objects', deep('{"a":', '1', '}', 1001), true],
  ['just enough', deep('[', '1', ']', 1000), false],
  ['brackets in a string', JSON.stringify({ a: '['.repeat(5000) }), false],
  ['brackets after an escaped quote', JSON.stringify({ a: `"\\"${'{'.repeat(5000)}` }), false],
  ['wide', `[${'[],'.repeat(5000)}1]`, false],
  ['a string without end', `"${'['.repeat(5000)}`, false],
])('json depth: %s', (_, text, expected) => {
  expect(isTooDeep(text)).toBe(expected)
})

test('json depth: a string before it hides nothing, whatever is in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const body = JSON.stringify([text, ' '.repeat(1000)])
      expect(isTooDeep(body)).toBe(false)
      expect(isTooDeep(`${body.slice(0, -1)},${deep('[', '1', ']', 1001)}]`)).toBe(true)
    }),
  )
})
