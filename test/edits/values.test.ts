import { describe, expect, test } from 'vitest'
import { plainPath } from '../../src/edits/values/paths.ts'
import { matchesAfterChanges } from '../../src/edits/values/value-at-path.ts'

const x = ['t', 'list', { element: 'x' }]
const key = ['t', 'u', 'key']

describe('an edit is verified by the contents of the file afterwards', () => {
  test.each([
    ['a table that went with its last key', key, {}, { t: { u: {} } }, true],
    ['a table that stayed without its last key', key, { t: { u: {} } }, { t: { u: {} } }, true],
    ['a table that went with a key of someone else', key, {}, { t: { u: { other: 1 } } }, false],
    ['a list that went with its last element', x, {}, { t: { list: [] } }, true],
    ['a list that went with another element', x, {}, { t: { list: ['y'] } }, false],
    [
      'an element at another place',
      x,
      { t: { list: ['x', 'y'] } },
      { t: { list: ['y', 'x'] } },
      true,
    ],
    ['an element that is missing', x, { t: { list: ['y'] } }, { t: { list: ['y', 'x'] } }, false],
    [
      'others in another order',
      x,
      { t: { list: ['z', 'y', 'x'] } },
      { t: { list: ['y', 'z', 'x'] } },
      false,
    ],
  ])('%s', (_, path, actual, expected, verdict) => {
    expect(matchesAfterChanges(actual, expected, [path])).toBe(verdict)
  })
})

test('plainPath has no quotes', () => {
  expect(plainPath(['a b', { element: 'xy' }])).toBe('a b.xy')
  expect(plainPath(['models', { element: { id: 'gpt', at: 'here' } }, 'url'])).toBe(
    'models.gpt here.url',
  )
})
