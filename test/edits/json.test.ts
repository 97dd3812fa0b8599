import { beforeAll, describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { Bytes, ConfigValue, SettingChange } from '../../src/edits/types.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const json = formatOf('json')

const edit = (text: string | null, ...changes: SettingChange[]) =>
  show(json.edit(text === null ? null : bytesOf(text), changes, '~/.claude/settings.json'))
const set = (path: string, value: ConfigValue) => ({ path: path.split('.'), value })

describe('json edit', () => {
  test.each(['a"b', 'a\nb', '\u0000\u001b[31m\u007f', '\\', '\ud800', '\u2028', '*/ // /*'])(
    'keeps the value %j inside its quotes',
    (value) => {
      const written = edit('{"a":1}', set('model', value)) as string
      expect(JSON.parse(written)).toEqual({ a: 1, model: value })
    },
  )

  test('keeps a hostile key inside its quotes', () => {
    const written = json.edit(null, [{ path: ['a"}', '__proto__'], value: 1 }], 'x')
    expect(json.read(written, 'x').get(['a"}', '__proto__'])).toBe(1)
  })

  test('replaces a value with an object in the layout of its neighbours', () => {
    const before = '{\n\t"a": 1,\n\t"provider": { "x": {} }\n}\n'
    expect(edit(before, set('provider.gateway', { npm: 'n', models: { m: {} } }))).toBe(
      '{\n\t"a": 1,\n\t"provider": { "x": {}, "gateway": { "npm": "n", "models": { "m": {} } } }\n}\n',
    )
    expect(edit(before, set('a', { b: [1, {}] }))).toBe(
      '{\n\t"a": {\n\t\t"b": [\n\t\t\t1,\n\t\t\t{}\n\t\t]\n\t},\n\t"provider": { "x": {} }\n}\n',
    )
  })

  test.each([
    ['null', set('a', null), '{"a":null}'],
    ['a longer list', set('a', [1, 2, 3]), '{"a":[1,2,3]}'],
    ['a shorter list', set('a', [1]), '{"a":[1]}'],
  ])('sets %s', (_, change, result) => {
    expect(edit('{"a":[1,2]}', change)).toBe(result)
  })

  test('removes nothing below a value that is not a table', () => {
    const gone = { path: ['a', 'b'], value: undefined }
    expect(edit('{"a":1}', gone, set('c', 2))).toBe('{"a":1,"c":2}')
  })

  test.each([
    ['{\n  "a": 1,\n  "b": 2\n}\n', ['b'], '{\n  "a": 1\n}\n'],
    ['{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ['b', 'c'], '{\n  "a": 1\n}\n'],
    ['{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ['a', 'c'], '{\n  "b": 2\n}\n'],
    ['{ "a": 1\n, "b": 2\n, "c": 3\n}\n', ['b', 'c'], '{ "a": 1\n}\n'],
    ['{"a": 1, "b": 2, "c": 3}', ['b', 'c'], '{"a": 1}'],
    ['{ "a": 1, "b": 2, "c": 3 }', ['b', 'c'], '{ "a": 1 }'],
    ['{\n  "a": 1\n, "b": 2\n}\n', ['a'], '{\n  "b": 2\n}\n'],
    ['{ "a": 1\n, "b": 2\n, "c": 3\n}\n', ['a', 'b'], '{ "c": 3\n}\n'],
    ['{ "a": 1, "b": 2,\n  "c": 3 }', ['b'], '{ "a": 1,\n  "c": 3 }'],
    ['{ "a": 1, // why\n  "b": 2 }', ['b'], '{ "a": 1 // why\n  }'],
  ])('removes from %j the keys %j, each with its line or its comma', (text, keys, result) => {
    const changes = keys.map((key) => ({ path: [key], value: undefined }))
    expect(edit(text, ...changes)).toBe(result)
  })

  test('refuses numbers that JSON does not have', () => {
    const { code, message } = failureOf(() => edit('{}', set('a', Number.NaN)))
    expect({ code, message }).toEqual({
      code: 'config-conflict',
      message:
        'Cannot edit ~/.claude/settings.json: JSON has only finite numbers (line 1, column 1)',
    })
  })

  test('shows the lines to add by hand, with a placeholder for the secret', () => {
    const changes = [
      { ...set('env.TOKEN', 'sk-secret'), isSecret: true },
      set('env.URL', 'u'),
      { path: ['env', 'KEY'], value: undefined },
    ]
    const error = failureOf(() => edit('{ "env": [] }', ...changes))
    expect(error.message).toBe(
      'Cannot edit ~/.claude/settings.json: env is a list, not an object (line 1, column 10)',
    )
    expect(error.hint).toBe(
      'Remove these yourself: env.KEY\nAdd these yourself:\n{\n  "env": {\n    "TOKEN": "<your key>",\n    "URL": "u"\n  }\n}',
    )
  })

  test('never quotes the file in an error, because it may contain secrets', () => {
    for (const text of [
      '{"a":"sk-secret"',
      '{"a":"sk-secret" x}',
      '{"a":sk-secret}',
      '{"sk-secret',
    ]) {
      const error = failureOf(() => edit(text, set('a', 1)))
      expect(`${error.message}${error.hint}`).not.toContain('sk-')
    }
  })
})

describe('json read', () => {
  test('reads like the clients: the last of two equal keys, __proto__ as a key, without comments', () => {
    const document = json.read(
      bytesOf('\ufeff// c\n{"a":1,"a":2,"__proto__":{"p":true},"n":9007199254740993,"f":1.50,}'),
      'x',
    )
    expect(document.get(['a'])).toBe(2)
    expect(document.get(['__proto__', 'p'])).toBe(true)
    expect(document.get(['p'])).toBeUndefined()
    expect(document.get(['n'])).toBe(9007199254740993n)
    expect(document.get(['f'])).toBe(1.5)
  })

  test('reads a file with only blanks and comments as an empty object', () => {
    expect({ ...json.read(bytesOf(' \n// later\n'), 'x').root }).toEqual({})
  })

  test('edits 2,000 levels and refuses more, without a stack overflow', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(edit(nested(2_000), set('b', 1))).toContain('"b":1}')
    for (const levels of [2_001, 100_000]) {
      const error = failureOf(() => edit(nested(levels), set('b', 1)))
      expect(error.message).toContain('nested more than 2000 levels deep (line 1, column 10001)')
    }
  })

  test('reads any number of sibling objects', () => {
    const text = `{"a":[${'{},'.repeat(3_000)}]}`
    expect(json.read(bytesOf(text), 'x').get(['a'])).toHaveLength(3_000)
  })

  test('refuses another root than an object, with line and column', () => {
    expect(failureOf(() => json.read(bytesOf('// c\n []'), 'FILE')).message).toBe(
      'Cannot read FILE: its root is not an object (line 2, column 2)',
    )
  })
})

describe('json undo', () => {
  const before =
    '{\n  "env": {\n    "ANTHROPIC_API_KEY": "k",\n    "A": "1"\n  },\n  "theme": "dark"\n}\n'
  const changes: SettingChange[] = [
    set('env.TOKEN', 't'),
    { path: ['env', 'ANTHROPIC_API_KEY'], value: undefined },
    set('model', 'sonnet'),
    set('provider.gateway', { npm: 'n', models: { m: {} } }),
  ]
  const paths = changes.map((change) => change.path)
  let written: Bytes
  beforeAll(() => {
    written = json.edit(bytesOf(before), changes, 'x')
  })
  const undo = (now: string) => {
    const undone = undoOurs(
      json,
      { before: bytesOf(before), written, now: bytesOf(now) },
      paths,
      'x',
    )
    return { text: show(undone.bytes) as string, kept: undone.kept.map((path) => path.join('.')) }
  }

  test('checks each value of an object that we set, so that additions to it stay', () => {
    const now = (show(written) as string).replace('"m": {}', '"m": {}, "by-others": {}')
    const { text, kept } = undo(now)
    expect(JSON.parse(text)).toEqual({
      ...JSON.parse(before),
      provider: { gateway: { models: { 'by-others': {} } } },
    })
    expect(kept).toEqual([])
  })

  test('keeps what others added to a table that we wrote empty, and reports it', () => {
    const now = (show(written) as string).replace('"m": {}', '"m": {"x": 1}')
    const { text, kept } = undo(now)
    expect(JSON.parse(text)).toEqual({
      ...JSON.parse(before),
      provider: { gateway: { models: { m: { x: 1 } } } },
    })
    expect(kept).toEqual(['provider.gateway.models.m'])
  })

  test('refuses a key of ours that is set twice now, with different values', () => {
    const now = (show(written) as string)
      .replace('"t"', '"x"')
      .replace('"theme"', '"env": { "TOKEN": "t" },\n  "theme"')
    expect(failureOf(() => undo(now)).code).toBe('config-conflict')
  })

  test('deletes a file that we created if nothing is left in it', () => {
    const created = json.edit(null, [set('env.A', '1')], 'x')
    const undo = (now: string) =>
      undoOurs(json, { before: null, written: created, now: bytesOf(now) }, [['env', 'A']], 'x')
    expect(undo('{ "env": { "A": "1" } }')).toEqual({ bytes: null, kept: [] })
    expect(undo('{"env":{"A":"1"}}\n')).toEqual({ bytes: null, kept: [] })
    expect(show(undo('{"env":{"A":"1"},"b":2}').bytes)).toBe('{"b":2}')
    expect(show(undo('{"env":{"A":"1"}} // note').bytes)).toBe('{} // note')
  })
})
