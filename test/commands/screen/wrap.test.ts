import { expect, test } from 'vitest'
import { wrapLine } from '../../../src/commands/screen/wrap.ts'

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
