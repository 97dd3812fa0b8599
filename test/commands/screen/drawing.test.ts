import { expect, test } from 'vitest'
import {
  fittingTable,
  paint,
  table,
  textStyleFor,
  wrapLine,
} from '../../../src/commands/screen/drawing.ts'
import { isUtf8 } from '../../../src/text.ts'

const plain = { hasColour: false, isUtf8: true }
const coloured = { hasColour: true, isUtf8: true }

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ TERM: 'dumb' }, true, false],
])('colour: with %j on a terminal (%s): %s', (env, isTerminal, wanted) => {
  expect(textStyleFor(env, isTerminal).hasColour).toBe(wanted)
})

test('the locale decides whether more than ASCII can be shown', () => {
  expect(isUtf8({ LANG: 'de_DE.UTF-8' })).toBe(true)
  expect(isUtf8({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' })).toBe(false)
  expect(isUtf8({})).toBe(false)
})

test('a terminal without UTF-8 gets our symbols as ASCII, and the user’s words unchanged', () => {
  const looks = textStyleFor({ LANG: 'C', TERM: 'dumb' }, true)
  expect(paint('the client’s file → ~/Müller …', looks)).toBe("the client's file -> ~/Müller ...")
  expect(paint('? unknown · - no', looks)).toBe('? unknown | - no')
  expect(paint('✔ Done\n  ✔ Codex\n  ✗ pi', looks)).toBe('OK Done\n OK Codex\n  X pi')
})

test('a pipe gets the same bytes in every locale', () => {
  expect(paint('the client’s', textStyleFor({ LANG: 'C' }, false))).toBe('the client’s')
})

test('every colour only repeats what a word or symbol says', () => {
  expect(paint('error: no\nhint:  try', coloured)).toBe(
    '\x1b[1;31merror:\x1b[0m no\n\x1b[1;36mhint:\x1b[0m  try',
  )
  expect(paint('    + model = "x"', coloured)).toBe('\x1b[32m    + model = "x"\x1b[0m')
  expect(paint('Codex: an address', coloured)).toBe('Codex: an address')
  expect(paint('error: no', plain)).toBe('error: no')
})

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

test('table: each row becomes a block if the terminal is too narrow', () => {
  const rows = [
    ['NAME', 'CLIENTS', 'PROVEN'],
    ['work', 'codex, claude', 'just now'],
    ['own', '', 'never'],
  ]
  expect(fittingTable(rows, 80)).toEqual(table(rows[0]!, rows.slice(1), 80))
  expect(fittingTable(rows, 26)).toEqual([
    'work',
    '    clients  codex, claude',
    '    proven   just now',
    'own',
    '    proven  never',
  ])
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

test('columns are aligned by display cells, for names in any script', () => {
  const rows = [
    ['公司', 'https://a.example', 'x'],
    ['офис', 'https://b.example', 'y'],
    ['work', 'https://c.example', 'z'],
  ]
  expect(table(['NAME', 'ADDRESS', 'KEY'], rows, 80)).toEqual([
    'NAME  ADDRESS            KEY',
    '公司  https://a.example  x',
    'офис  https://b.example  y',
    'work  https://c.example  z',
  ])
  // Two cells for each character.
  expect(wrapLine('公司 公司 公司 公司 公司 公司 公司', 30).split('\n')).toHaveLength(2)
})
