import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { ConfigValue, SettingChange } from '../../src/edits/plan.ts'
import { bytesOf, show } from './helpers.ts'

const set = (path: string, value?: ConfigValue): SettingChange => ({ path: path.split('.'), value })

/** What becomes of a file that we edited and others changed then. */
function undone(
  format: 'json' | 'toml',
  before: string,
  changes: readonly SettingChange[],
  byOthers: string | ((written: string) => string),
) {
  const { edit, undo } = formatOf(format)
  const written = edit(bytesOf(before), changes, 'FILE')
  const current = typeof byOthers === 'string' ? byOthers : byOthers(show(written) as string)
  const versions = { before: bytesOf(before), written, current: bytesOf(current) }
  const { bytes, kept } = undo(
    versions,
    changes.map(({ path }) => path),
    'FILE',
  )
  return { text: show(bytes), kept: kept.map((path) => path.join('.')) }
}

describe('what we changed comes back as it was, where it stands as we wrote it', () => {
  const before = 'profile = "work" # legacy\nmodel = "a" # mine\n'
  const changes = [
    set('profile'),
    set('model', 'gw'),
    set('model_providers.gateway.name', 'Gateway'),
    set('model_providers.gateway.base_url', 'https://gw.example/v1'),
  ]

  test('also beside something of ours that others have built upon', () => {
    expect(undone('toml', before, changes, (text) => `${text}request_max_retries = 4\n`)).toEqual({
      text: `${before}\n[model_providers.gateway]\nrequest_max_retries = 4\n`,
      kept: [],
    })
  })

  test('but for a comment that others have put amid our lines', () => {
    const noted = (text: string) => text.replace('base_url', '# theirs\nbase_url')
    expect(undone('toml', before, changes, noted)).toEqual({
      text: `${before}# theirs\n`,
      kept: [],
    })
  })

  test('and one key that others have changed holds back no other, be it in the same table', () => {
    const changed = (text: string) => text.replace('"Gateway"', '"Mine"')
    expect(undone('toml', before, changes, changed)).toEqual({
      text: `${before}\n[model_providers.gateway]\nname = "Mine"\n`,
      kept: ['model_providers.gateway.name'],
    })
  })

  test('where nothing else was in the file', () => {
    expect(undone('toml', 'old = 1 # why\n', [set('old')], 'theirs = 1\n').text).toBe(
      'old = 1 # why\ntheirs = 1\n',
    )
  })

  test('at the head of the file too, below what others have put above it', () => {
    const text = 'old = 1 # why\nb = 2\n'
    const onTop = (written: string) => `# top\n${written}`
    expect(undone('toml', text, [set('old')], onTop).text).toBe(onTop(text))
  })

  test('beside blanks that are not plain ones', () => {
    const text = '# a\u00a0b\u2003c\nold = 1\nb = 2\n'
    const added = (written: string) => `${written}c = 3\n`
    expect(undone('toml', text, [set('old')], added).text).toBe(added(text))
  })

  test('in the line breaks that an editor has given the file since', () => {
    const text = '// mine\n{\n  "model": "opus", // why\n  "a": 1\n}\n'
    const crlf = (written: string) => written.replaceAll('\n', '\r\n')
    expect(undone('json', text, [set('model')], crlf).text).toBe(crlf(text))
  })

  test('in the line breaks that an editor has given to lines that differed', () => {
    const text = 'a = 1\r\nold = 2 # two\nb = 3\r\nc = 4\n'
    const crlf = (written: string) => written.replace(/\r?\n/g, '\r\n')
    expect(undone('toml', text, [set('old')], crlf).text).toBe(crlf(text))
  })

  test('in the line breaks that each line has, where they are mixed', () => {
    const text = 'a = 1\r\nold = 2 # two\nb = 3\r\nc = 4\n'
    const added = (written: string) => `${written}d = 5\n`
    expect(undone('toml', text, [set('old')], added).text).toBe(added(text))
  })
})

describe('what was written anew comes back key by key', () => {
  test('as it was spelled', () => {
    const anew = '"model"="\\u0067w"\n'
    expect(undone('toml', "model = 'a'\n", [set('model', 'gw')], anew).text).toBe('"model"=\'a\'\n')
  })

  test('in the line breaks that the file has at this place', () => {
    const before = '{"o":{\n"x":1\n},"a":1}'
    expect(undone('json', before, [set('o', 1)], '{"a":1,\r\n"o":1\n}').text).toBe(
      '{"a":1,\r\n"o":{\n"x":1\n}\n}',
    )
    expect(undone('json', before, [set('o', 1)], '{"a":1,\n"o":1\r\n}').text).toBe(
      '{"a":1,\n"o":{\r\n"x":1\r\n}\r\n}',
    )
  })

  test('an empty table too, which is no single piece of text', () => {
    expect(undone('toml', 'a = 1\n[t]\n', [set('t')], 'b = 2').text).toBe('b = 2\nt = {}')
  })

  test('some of it is ours still, and all of that comes back', () => {
    const before = '{"a":1,"b":2,"c":3}'
    const changes = [set('a', 10), set('b', 20), set('c', 30)]
    expect(undone('json', before, changes, '{ "c": 3e1, "b": 20.0, "a": 10 }')).toEqual({
      text: '{ "c": 3e1, "b": 20.0, "a": 1 }',
      kept: ['b', 'c'],
    })
  })
})

describe('a table', () => {
  test('that took the place of a single value is one thing: with an addition it stays, and is named', () => {
    const changes = [set('a', { k: 1, l: 2 })]
    const added = (text: string) => text.replace('"l":2', '"l":2,"theirs":3')
    expect(undone('json', '{"a":"x"}', changes, added)).toEqual({
      text: '{"a":{"k":1,"l":2,"theirs":3}}',
      kept: ['a'],
    })
    expect(undone('json', '{"a":"x"}', changes, ' {"a":{"k":1,"l":2}}').text).toBe(' {"a":"x"}')
  })

  test('whose place a single value took comes back whole', () => {
    const before = '{"a":{"k":1,"l":2}}'
    expect(undone('json', before, [set('a', 'x')], ' {"a":"\\u0078"}')).toEqual({
      text: ' {"a":{"k":1,"l":2}}',
      kept: [],
    })
  })

  test('that was there and empty stays, one that we opened goes', () => {
    const changes = [set('t.x', 1), set('u.v.w', 2)]
    const anew = '{"u":{"v":{"w":2}},"t":{"x":1}}'
    expect(undone('json', '{"t":{}}', changes, anew).text).toBe('{"t":{}}')
  })

  test('that we opened goes without the line above it, unless that is blank', () => {
    const changes = [set('t.x', 1)]
    expect(undone('toml', 'a = 1\n', changes, 'a=1\n[t]\nx=1\n').text).toBe('a=1\n')
    expect(undone('toml', 'a = 1\n', changes, 'a=1\n\n[t]\nx=1\n').text).toBe('a=1\n')
    expect(undone('toml', 'a = 1\n', changes, '[t]\nx=1\n[u]\na=1\n').text).toBe('[u]\na=1\n')
    expect(undone('toml', 'a = 1\n', changes, '\n[t]\nx=1\n[u]\n').text).toBe('[u]\n')
  })

  test('that we opened stays as far as others use it', () => {
    const changes = [set('u.v.w', 2)]
    expect(undone('json', '{}', changes, '{"u":{"v":{"w":2},"theirs":1}}').text).toBe(
      '{"u":{"theirs":1}}',
    )
    expect(undone('json', '{}', changes, '{"u":{"v":{"w":2/**/}}}').text).toBe('{"u":{"v":{/**/}}}')
  })
})

test('a file that is as we left it becomes what it was, be that broken', () => {
  const before = bytesOf('{ broken')
  const written = bytesOf('{"a":1}')
  const versions = { before, written, current: bytesOf('{"a":1}') }
  expect(formatOf('json').undo(versions, [['a']], 'FILE')).toEqual({ bytes: before, kept: [] })
})

test('a file that was deleted since: only what we changed is named', () => {
  const { edit, undo } = formatOf('json')
  const before = bytesOf('{"a":1,"b":2}')
  const written = edit(before, [set('a', 3), set('b', 2)], 'FILE')
  const paths = [['a'], ['b']]
  expect(undo({ before, written, current: null }, paths, 'FILE')).toEqual({
    bytes: null,
    kept: [['a']],
  })
})

test('a large file with little in common is undone key by key', () => {
  const many = (word: string) =>
    Array.from({ length: 2_000 }, (_, index) => `${word}${index} = "${word} ${index}"\n`).join('')
  const before = `model = "a"\n${many('before')}`
  const current = `${many('theirs')}model = "gw"\n`
  expect(undone('toml', before, [set('model', 'gw')], current)).toEqual({
    text: `${many('theirs')}model = "a"\n`,
    kept: [],
  })
})
