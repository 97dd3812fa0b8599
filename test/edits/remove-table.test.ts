import { expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import { undoOurs } from './undo-ours.ts'

const toml = formatOf('toml')

const table = ['model_providers', 'openai']

test.each([
  [
    'a header',
    'a = 1\n\n[model_providers.openai]\nname = "x"\n\n[t]\nb = 1\n',
    'a = 1\n\n\n[t]\nb = 1\n',
  ],
  [
    'headers below it',
    '[model_providers.openai]\nname = "x"\n[model_providers.openai.h]\na = 1\n',
    '',
  ],
  ['dotted keys', 'model_providers.openai.name = "x"\nb = 1\n', 'b = 1\n'],
  [
    'an inline parent',
    'model_providers = { openai = { a = 1 }, x = 2 }\n',
    'model_providers = { x = 2 }\n',
  ],
  [
    'dotted keys in an inline parent',
    'model_providers = { openai.h = { a = 1 }, x = 2 }\n',
    'model_providers = { x = 2 }\n',
  ],
])('removes a whole table and restores it: %s', (_, source, left) => {
  const before = new TextEncoder().encode(source)
  const after = toml.edit(before, [{ path: table, value: undefined }], 'config.toml')
  expect(new TextDecoder().decode(after)).toBe(left)
  const others = toml.edit(after, [{ path: ['added'], value: 1 }], 'config.toml')
  const undone = undoOurs(toml, { before, written: after, now: others }, [table], 'config.toml')
  const read = toml.read(undone.bytes!, 'config.toml')
  expect(read.get(table)).toEqual(toml.read(before, 'config.toml').get(table))
  expect(read.get(['added'])).toBe(1)
})

test('a list of tables is not treated as a table', () => {
  const list = new TextEncoder().encode('b = 2\n[[model_providers.openai]]\na = 1\n')
  expect(() => toml.edit(list, [{ path: table, value: undefined }], 'config.toml')).toThrow(
    expect.objectContaining({
      code: 'config-conflict',
      message: expect.stringContaining('openai is a list, not a table (line 2, column 1)'),
      hint: 'Remove these yourself: model_providers.openai',
    }),
  )
})
