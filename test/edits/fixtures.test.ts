import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Format, formatOf } from '../../src/edits/format.ts'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import { failureOf } from '../support/failure.ts'
import { claudeChanges, codexChanges, openclawChanges } from './fixture-changes.ts'
import { bytesOf, linesLost, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const folder = new URL('../fixtures/edits/', import.meta.url)

/** Other forms of the same file: line breaks, byte order mark and final line break. */
const forms: Record<string, (text: string) => string> = {
  LF: (text) => text,
  CRLF: (text) => text.replaceAll('\n', '\r\n'),
  'a byte order mark': (text) => `\ufeff${text}`,
  'CRLF and a byte order mark': (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`,
  'no final line break': (text) => text.replace(/\n$/, ''),
}

describe.each([
  { kind: 'toml' as const, changes: codexChanges },
  { kind: 'json' as const, changes: claudeChanges },
  { kind: 'json5' as const, changes: openclawChanges },
])('$kind fixtures', ({ kind, changes }) => {
  const format = formatOf(kind)
  const names = readdirSync(new URL(`${kind}/`, folder))
  const read = (name: string) => readFileSync(new URL(`${kind}/${name}`, folder), 'utf8')

  describe.each(names.filter((name) => name.includes('.before.')))('%s', (name) => {
    const before = read(name)
    const after = read(name.replace('.before.', '.after.'))

    test.each(Object.keys(forms))('is edited exactly and undone to the byte, with %s', (form) => {
      const inForm = forms[form] as (text: string) => string
      // A blank last line is more than a final line break.
      if (form === 'no final line break' && /^$|(^|\n)\n$/.test(before)) return
      const old = bytesOf(inForm(before))
      const written = format.edit(old, changes, 'FILE')
      expect(show(written)).toBe(before === '' ? inForm('') + after : inForm(after))
      expectUndone(format, old, written, changes)
    })

    test('is edited line by line and undone to the byte, with mixed line breaks', () => {
      let count = 0
      const mixed = before.replace(/\n/g, () => (count++ % 2 === 0 ? '\r\n' : '\n'))
      const old = bytesOf(mixed)
      const written = format.edit(old, changes, 'FILE')
      expect(show(written)?.replaceAll('\r\n', '\n')).toBe(after)
      expect(
        linesLost(kind, old, written).filter(
          (line) => !/profile|auth|baseUrl|env_key|command|args|name|API|mod/i.test(line),
        ),
      ).toEqual([])
      expectUndone(format, old, written, changes)
    })
  })

  test.each(names.filter((name) => name.includes('.refused.')))('%s is refused', (name) => {
    const edit = () => format.edit(bytesOf(read(name)), changes, 'FILE')
    expect(edit).toThrow(UserError)
    const error = failureOf(edit)
    expect(`${name}: ${error.code}: ${error.message}`).toMatchSnapshot()
    if (error.code === 'config-conflict') expect(error.hint).toContain('Add these yourself:\n')
  })
})

function expectUndone(
  format: Format,
  before: Bytes,
  written: Bytes,
  changes: readonly SettingChange[],
) {
  const paths = changes.map((change) => change.path)
  const undone = undoOurs(format, { before, written, now: written }, paths, 'FILE')
  expect(show(undone.bytes)).toBe(show(before))
  expect(format.edit(written, changes, 'FILE')).toBe(written)
}
