import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { ConfigValue, SettingChange } from '../../src/edits/types.ts'
import { bytesOf, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const set = (path: string, value?: ConfigValue): SettingChange => ({ path: path.split('.'), value })

/** Edits a file, applies the changes of others, and undoes the edit. */
function undone(
  format: 'json' | 'toml',
  before: string,
  changes: readonly SettingChange[],
  byOthers: string | ((written: string) => string),
) {
  const written = formatOf(format).edit(bytesOf(before), changes, 'FILE')
  const now = typeof byOthers === 'string' ? byOthers : byOthers(show(written) as string)
  const versions = { before: bytesOf(before), written, now: bytesOf(now) }
  const { bytes, kept } = undoOurs(
    formatOf(format),
    versions,
    changes.map(({ path }) => path),
    'FILE',
  )
  return { text: show(bytes), kept: kept.map((path) => path.join('.')) }
}

describe('an undo restores our changes exactly where our text is unchanged', () => {
  const before = 'profile = "work" # legacy\nmodel = "a" # mine\n'
  const changes = [
    set('profile'),
    set('model', 'gw'),
    set('model_providers.gateway.name', 'Gateway'),
    set('model_providers.gateway.base_url', 'https://gw.example/v1'),
  ]

  test('next to a setting of ours that others extended', () => {
    expect(undone('toml', before, changes, (text) => `${text}request_max_retries = 4\n`)).toEqual({
      text: `${before}\n[model_providers.gateway]\nrequest_max_retries = 4\n`,
      kept: [],
    })
  })

  test('except a comment that others added between our lines', () => {
    const noted = (text: string) => text.replace('base_url', '# theirs\nbase_url')
    expect(undone('toml', before, changes, noted)).toEqual({
      text: `${before}# theirs\n`,
      kept: [],
    })
  })

  test('even if others changed another key of the same table', () => {
    const changed = (text: string) => text.replace('"Gateway"', '"Mine"')
    expect(undone('toml', before, changes, changed)).toEqual({
      text: `${before}\n[model_providers.gateway]\nname = "Mine"\n`,
      kept: ['model_providers.gateway.name'],
    })
  })

  test('in a file without other settings', () => {
    expect(undone('toml', 'old = 1 # why\n', [set('old')], 'theirs = 1\n').text).toBe(
      'old = 1 # why\ntheirs = 1\n',
    )
  })

  test('at the start of the file, below additions of others', () => {
    const text = 'old = 1 # why\nb = 2\n'
    const onTop = (written: string) => `# top\n${written}`
    expect(undone('toml', text, [set('old')], onTop).text).toBe(onTop(text))
  })

  test('next to unusual blanks', () => {
    const text = '# a\u00a0b\u2003c\nold = 1\nb = 2\n'
    const added = (written: string) => `${written}c = 3\n`
    expect(undone('toml', text, [set('old')], added).text).toBe(added(text))
  })

  test('with the line breaks that an editor set since', () => {
    const text = '// mine\n{\n  "model": "opus", // why\n  "a": 1\n}\n'
    const crlf = (written: string) => written.replaceAll('\n', '\r\n')
    expect(undone('json', text, [set('model')], crlf).text).toBe(crlf(text))
  })

  test('with the line breaks that an editor made uniform', () => {
    const text = 'a = 1\r\nold = 2 # two\nb = 3\r\nc = 4\n'
    const crlf = (written: string) => written.replace(/\r?\n/g, '\r\n')
    expect(undone('toml', text, [set('old')], crlf).text).toBe(crlf(text))
  })

  test('with mixed line breaks', () => {
    const text = 'a = 1\r\nold = 2 # two\nb = 3\r\nc = 4\n'
    const added = (written: string) => `${written}d = 5\n`
    expect(undone('toml', text, [set('old')], added).text).toBe(added(text))
  })
})

describe('an undo restores a rewritten file key by key', () => {
  test('with the original spelling', () => {
    const rewritten = '"model"="\\u0067w"\n'
    expect(undone('toml', "model = 'a'\n", [set('model', 'gw')], rewritten).text).toBe(
      '"model"=\'a\'\n',
    )
  })

  test('with the line breaks at this place', () => {
    const before = '{"o":{\n"x":1\n},"a":1}'
    expect(undone('json', before, [set('o', 1)], '{"a":1,\r\n"o":1\n}').text).toBe(
      '{"a":1,\r\n"o":{\n"x":1\n}\n}',
    )
    expect(undone('json', before, [set('o', 1)], '{"a":1,\n"o":1\r\n}').text).toBe(
      '{"a":1,\n"o":{\r\n"x":1\r\n}\r\n}',
    )
  })

  test('also an empty table, which is not a single piece of text', () => {
    expect(undone('toml', 'a = 1\n[t]\n', [set('t')], 'b = 2').text).toBe('b = 2\nt = {}')
  })

  test('also numbers that a program spelled differently', () => {
    const before = '{"a":1,"b":2,"c":3}'
    const changes = [set('a', 10), set('b', 20), set('c', 30)]
    expect(undone('json', before, changes, '{ "c": 3e1, "b": 20.0, "a": 10 }')).toEqual({
      text: '{ "c": 3, "b": 2, "a": 1 }',
      kept: [],
    })
  })
})

describe('a table', () => {
  test('that replaced a single value stays with an addition, and is reported', () => {
    const changes = [set('a', { k: 1, l: 2 })]
    const added = (text: string) => text.replace('"l":2', '"l":2,"theirs":3')
    expect(undone('json', '{"a":"x"}', changes, added)).toEqual({
      text: '{"a":{"k":1,"l":2,"theirs":3}}',
      kept: ['a'],
    })
    expect(undone('json', '{"a":"x"}', changes, ' {"a":{"k":1,"l":2}}').text).toBe(' {"a":"x"}')
  })

  test('that a single value replaced is restored completely', () => {
    const before = '{"a":{"k":1,"l":2}}'
    expect(undone('json', before, [set('a', 'x')], ' {"a":"\\u0078"}')).toEqual({
      text: ' {"a":{"k":1,"l":2}}',
      kept: [],
    })
  })

  test('that was empty before stays, one that we created is removed', () => {
    const changes = [set('t.x', 1), set('u.v.w', 2)]
    const rewritten = '{"u":{"v":{"w":2}},"t":{"x":1}}'
    expect(undone('json', '{"t":{}}', changes, rewritten).text).toBe('{"t":{}}')
  })

  test('that we created is removed without the line above it, unless that is blank', () => {
    const changes = [set('t.x', 1)]
    expect(undone('toml', 'a = 1\n', changes, 'a=1\n[t]\nx=1\n').text).toBe('a=1\n')
    expect(undone('toml', 'a = 1\n', changes, 'a=1\n\n[t]\nx=1\n').text).toBe('a=1\n')
    expect(undone('toml', 'a = 1\n', changes, '[t]\nx=1\n[u]\na=1\n').text).toBe('[u]\na=1\n')
    expect(undone('toml', 'a = 1\n', changes, '\n[t]\nx=1\n[u]\n').text).toBe('[u]\n')
  })

  test('that we created stays as far as others use it', () => {
    const changes = [set('u.v.w', 2)]
    expect(undone('json', '{}', changes, '{"u":{"v":{"w":2},"theirs":1}}').text).toBe(
      '{"u":{"theirs":1}}',
    )
    expect(undone('json', '{}', changes, '{"u":{"v":{"w":2/**/}}}').text).toBe('{"u":{"v":{/**/}}}')
  })
})

test('an unchanged file is restored to its earlier contents, even if these are broken', () => {
  const before = bytesOf('{ broken')
  const written = bytesOf('{"a":1}')
  const versions = { before, written, now: bytesOf('{"a":1}') }
  expect(undoOurs(formatOf('json'), versions, [['a']], 'FILE')).toEqual({ bytes: before, kept: [] })
})

test('a large file with little in common is undone key by key', () => {
  const many = (word: string) =>
    Array.from({ length: 2_000 }, (_, index) => `${word}${index} = "${word} ${index}"\n`).join('')
  const before = `model = "a"\n${many('before')}`
  const now = `${many('theirs')}model = "gw"\n`
  expect(undone('toml', before, [set('model', 'gw')], now)).toEqual({
    text: `${many('theirs')}model = "a"\n`,
    kept: [],
  })
})

test('an undo restores the settings of a file that our run deleted, next to what others wrote there', () => {
  const versions = {
    before: bytesOf('model = "a"\n'),
    written: null,
    now: bytesOf('theirs = 1 # mine\n'),
  }
  const bytes = formatOf('toml').undo(versions, { restore: [['model']], keep: [] }, 'FILE')
  expect(show(bytes)).toBe('model = "a"\ntheirs = 1 # mine\n')
})
