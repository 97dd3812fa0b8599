import { expect, test } from 'vitest'
import { table } from '../../../src/commands/screen/table.ts'

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
