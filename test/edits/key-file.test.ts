import { expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'

/** The format of a file that is a key and nothing else. */

const format = formatOf('key')
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (found: Uint8Array | null) => found && new TextDecoder().decode(found)
const keyChange = (value: string | undefined) => [{ path: ['key'], value }]

test.each([
  ['sk-1\n', 'sk-1'],
  ['\r\n  sk-1  \r\n', 'sk-1'],
  ['\n', undefined],
  ['', undefined],
])('%j has one setting, without the blanks around it', (content, key) => {
  const root = key === undefined ? {} : { key }
  const line = key === undefined ? undefined : 1
  const document = format.read(bytes(content), 'key')
  expect(document.root).toEqual(root)
  expect([document.get([]), document.get(['key']), document.get(['other'])]).toEqual([
    root,
    key,
    undefined,
  ])
  expect([document.lineOf(['key']), document.lineOf(['other'])]).toEqual([line, undefined])
  expect(format.isBlank(content)).toBe(line === undefined)
})

test('a file that is not text cannot be read', () => {
  expect(() => format.read(new Uint8Array([0xff]), 'key')).toThrow('not valid UTF-8')
})

test('an edit replaces the key, and leaves a file with this key as it is', () => {
  expect(text(format.edit(null, keyChange('sk-2'), 'key'))).toBe('sk-2\n')
  expect(text(format.edit(bytes('sk-1'), keyChange('sk-2'), 'key'))).toBe('sk-2\n')
  expect(text(format.edit(bytes('sk-1\n'), keyChange(undefined), 'key'))).toBe('')

  const now = bytes('sk-1')
  expect(format.edit(now, keyChange('sk-1'), 'key')).toBe(now)
  expect(format.edit(now, [{ path: ['other'], value: 'x' }], 'key')).toBe(now)
})

test('an undo restores the file before, or keeps the key of now', () => {
  const versions = { before: null, written: bytes('sk-1\n'), now: bytes('sk-2\n') }
  expect(format.undo(versions, { restore: [['key']], keep: [] }, 'key')).toBe(null)
  expect(format.undo(versions, { restore: [], keep: [['key']] }, 'key')).toBe(versions.now)
})
