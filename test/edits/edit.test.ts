import { expect, test } from 'vitest'
import type { Dialect } from '../../src/edits/dialect.ts'
import { editWith } from '../../src/edits/edit.ts'
import { parseJson } from '../../src/edits/json-parse.ts'
import { toJsonValue } from '../../src/edits/json-render.ts'
import { undoWith } from '../../src/edits/undo.ts'
import { bytesOf, caught, show } from './helpers.ts'

/** A dialect whose splices do whatever they are told to, to see who notices. */
function dialectThat(splice: (text: string) => string): Dialect {
  return {
    parse: parseJson,
    read: parseJson,
    expand: (_, path, value) => [{ path, value }],
    toValue: toJsonValue,
    set: ({ text }) => splice(text),
    remove: ({ text }) => splice(text),
    removeEmptyTable: ({ text }) => text,
    sourceAt: () => undefined,
    startOf: () => undefined,
    placeOf: () => undefined,
    isBlank: () => false,
    byHand: () => 'the lines',
  }
}

const before = bytesOf('{"a":1,"b":2}')
const change = { path: ['a'], value: 3 }

test('edit: takes a splice that does what was asked', () => {
  const dialect = dialectThat((text) => text.replace('1', '3'))
  expect(show(editWith(dialect, before, [change], 'FILE'))).toBe('{"a":3,"b":2}')
})

test.each([
  ['drops another key', '{"a":3}'],
  ['changes another value', '{"a":3,"b":2.0}'],
  ['adds another key', '{"a":3,"b":2,"c":1}'],
  ['sets another value than asked', '{"a":4,"b":2}'],
  ['makes a text that cannot be parsed', '{"a":3,"b":2'],
  ['changes nothing', '{"a":1,"b":2}'],
])('edit: refuses a splice that %s', (_, result) => {
  const error = caught(() =>
    editWith(
      dialectThat(() => result),
      before,
      [change],
      'FILE',
    ),
  )
  expect(error.code).toBe('config-conflict')
  expect(error.message).toMatch(/^Cannot edit FILE: a cannot be changed/)
  expect(error.hint).toBe('Add by hand:\nthe lines')
})

test.each([
  ['drops another key', '{"a":1}'],
  ['puts another value back', '{"x":0,"a":4,"b":2}'],
  ['changes nothing', '{"x":0,"a":3,"b":2}'],
])('undo: refuses a splice that %s', (_, result) => {
  const versions = {
    before,
    written: bytesOf('{"a":3,"b":2}'),
    current: bytesOf('{"x":0,"a":3,"b":2}'),
  }
  const undo = () =>
    undoWith(
      dialectThat(() => result),
      versions,
      [['a']],
      'FILE',
    )
  expect(caught(undo).code).toBe('config-conflict')
})
