import { expect, test } from 'vitest'
import { table, wrapLine } from '../../../src/commands/screen/columns.ts'

test('table: pads all columns but the last', () => {
  expect(
    table(
      ['ID', 'USE'],
      [
        ['a', 'x'],
        ['long', 'y'],
      ],
      80,
    ),
  ).toEqual(['ID    USE', 'a     x', 'long  y'])
})

test('table: wraps the last column under itself', () => {
  const lines = table(['ID', 'USE'], [['a', 'one two three four five six']], 24)
  expect(lines).toEqual(['ID  USE', 'a   one two three four', '    five six'])
  expect(lines.every((line) => line.length <= 24)).toBe(true)
})

test.each([
  ['short', 'short'],
  ['note: one two three four five six seven', 'note: one two three four five\n      six seven'],
  ['    indented one two three four five', '    indented one two three\n    four five'],
  [
    'error: a-word-that-is-longer-than-the-terminal is kept',
    'error: a-word-that-is-longer-than-the-terminal\n       is kept',
  ],
])('at 30 columns: %s', (line, wanted) => {
  expect(wrapLine(line, 30)).toBe(wanted)
})
