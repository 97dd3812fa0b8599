import { expect, test } from 'vitest'
import type { Dialect } from '../../src/edits/dialects/dialect.ts'
import { jsonDialect } from '../../src/edits/dialects/json.ts'
import { editWith } from '../../src/edits/edit.ts'
import { undoWith } from '../../src/edits/undo.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'

/** A dialect that writes this text for every value, to test that `edit` verifies the result. */
function dialectThat(spells: string): Dialect {
  return { ...jsonDialect, spell: () => spells, spellByHand: () => 'the lines' }
}

const before = bytesOf('{"a":1,"b":2}')
const change = { path: ['a'], value: 3 }

test('edit: accepts a splice that makes the requested change', () => {
  expect(show(editWith(dialectThat('3'), before, [change], 'FILE'))).toBe('{"a":3,"b":2}')
})

test.each([
  ['drops another key', '3}//'],
  ['changes another value', '3,"b":2.0}//'],
  ['adds another key', '3,"c":1'],
  ['sets another value than asked', '4'],
  ['makes a text that cannot be parsed', '3,,'],
  ['changes nothing', '1'],
])('edit: refuses a splice that %s', (_, spelled) => {
  const error = failureOf(() => editWith(dialectThat(spelled), before, [change], 'FILE'))
  expect(error.code).toBe('config-conflict')
  expect(error.message).toMatch(/^Cannot edit FILE: .* a /)
  expect(error.hint).toBe('Add these yourself:\nthe lines')
})

test.each([
  ['drops another key', '1}//'],
  ['puts another value back', '4'],
  ['changes nothing', '"x"'],
])('undo: refuses a splice that %s', (_, spelled) => {
  const versions = {
    before,
    written: bytesOf('{"a":"x","b":2}'),
    now: bytesOf('{"a":"\\u0078","b":2}'),
  }
  const undo = () =>
    undoWith(dialectThat(spelled), versions, { restore: [['a']], keep: [] }, 'FILE')
  expect(failureOf(undo).code).toBe('config-conflict')
})
