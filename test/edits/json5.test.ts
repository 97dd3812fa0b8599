import JSON5 from 'json5'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { ConfigValue, SettingChange } from '../../src/edits/types.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'

const json5 = formatOf('json5')

const edit = (text: string | null, ...changes: SettingChange[]) =>
  show(json5.edit(text === null ? null : bytesOf(text), changes, 'FILE')) as string
const read = (text: string) => json5.read(bytesOf(text), 'FILE')
const set = (path: string, value: ConfigValue) => ({ path: path.split('.'), value })

afterEach(() => vi.restoreAllMocks())

describe('json5 read', () => {
  test.each([
    ['unquoted names', '{a: 1, $b_2: 2, é: 3, null: 4, \\u0063: 5}'],
    ['names outside the basic plane of Unicode', '{𝓐: 1}'],
    ['single quotes', `{'a': 'it"s', "b": "it's", 'c\\'d': '\\''}`],
    ['trailing commas and comments', '// c\n{a: [1, 2,], /* {b: 3} */ }// d\u2028'],
    ['numbers', '{a: 0xDECAF, b: +1, c: .5, d: 5., e: -0x1f, f: 1.e3, g: +.5}'],
    ['infinite numbers and NaN', '{a: Infinity, b: -Infinity, c: NaN, d: +NaN}'],
    ['line continuations', "{a: 'one \\\n two \\\r\n three \\\u2028 four'}"],
    [
      'escapes',
      String.raw`{a: '\x41\u0042\0\v\q\
\'', "b\x41": 1}`,
    ],
    ['separators in strings', "{a: 'x\u2028y\\\u2029z', '\u2028': 1, b\u2028: 2}"],
    ['all kinds of blanks', '\t\v\f\u00a0\ufeff\u2029{\u3000a\u00a0:\u20281}'],
    ['equal names, of which the last is used', '{a: 1, "a": {b: 2}, \\u0061: {c: 3}}'],
    ['control characters', '{a: "\u0001\t"}'],
    ['comments in strings and strings in comments', '{a: "// b", /* " */ c: \'/*\' // \'\n}'],
  ])('reads %s as json5 does', (_, text) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect({ ...read(text).root }).toEqual(JSON5.parse(text))
  })

  test('reads __proto__ as a key, and nothing but comments as an empty object', () => {
    expect(read('{__proto__: {p: 1}}').get(['__proto__', 'p'])).toBe(1)
    expect(read('{__proto__: {p: 1}}').get(['p'])).toBeUndefined()
    expect({ ...read(' \n// later\n').root }).toEqual({})
  })

  test('writes nothing on the console', () => {
    const warn = vi.spyOn(console, 'warn')
    expect(read("{a: 'x\u2028y\\\\\u2029z'}").get(['a'])).toBe('x\u2028y\\\u2029z')
    expect(read("{'\\x61\u2028': 1}").lineOf(['a\u2028'])).toBe(1)
    expect(warn).not.toHaveBeenCalled()
  })

  test.each([
    ['{a: sk-secret}', 'invalid character (line 1, column 5)'],
    ["{\n  a: 'sk-secret\n'}", 'invalid character (line 2, column 16)'],
    ["{a: 'sk-secret'", 'invalid end of input (line 1, column 16)'],
    ['{a: 1} // \n /* sk-secret', 'invalid end of input (line 2, column 14)'],
    ['{a: 010}', 'invalid character (line 1, column 6)'],
    ['{sk\\u0020secret: 1}', 'invalid identifier character (line 1, column 4)'],
    ['/', 'invalid end of input (line 1, column 2)'],
    ['// c\n [1]', 'its root is not an object (line 2, column 2)'],
    ['{a: 1}}', 'invalid character (line 1, column 7)'],
  ])('refuses %j with the position, and never quotes it', (text, reason) => {
    const error = failureOf(() => read(text))
    expect(error.message).toBe(`Cannot read FILE: ${reason}`)
    expect(`${error.message}${error.hint}`).not.toContain('sk')
  })

  test('edits 2,000 levels and refuses more, without a stack overflow', () => {
    const nested = (levels: number) => `${'{a:'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(edit(nested(2_000), set('b', 1))).toContain('b:1}')
    for (const levels of [2_001, 100_000])
      expect(failureOf(() => read(nested(levels))).message).toContain('more than 2000 levels deep')
  })

  test('finds the line of a key', () => {
    expect(read("// c\n{\n  'a': {\n    b\n: 1 } }").lineOf(['a', 'b'])).toBe(4)
  })
})

describe('json5 edit', () => {
  test.each([
    ['without quotes next to names without quotes', '{a: 1}', '{a: 1, b: { c: "x", "d-e": 2 }}'],
    ['with quotes next to quoted names', '{"a": 1}', '{"a": 1, "b": { "c": "x", "d-e": 2 }}'],
    [
      'in double quotes next to single-quoted names',
      "{'a': 1}",
      `{'a': 1, "b": { "c": "x", "d-e": 2 }}`,
    ],
    ['with quotes in an empty object', '{}', '{\n  "b": {\n    "c": "x",\n    "d-e": 2\n  }\n}'],
    ['without spaces next to names without spaces', '{a:1}', '{a:1,b:{c:"x","d-e":2}}'],
  ])('writes a name %s', (_, before, after) => {
    expect(edit(before, set('b', { c: 'x', 'd-e': 2 }))).toBe(after)
  })

  test.each([
    ['{a: 0x10, b: [1,], }', set('a', 17), '{a: 17, b: [1,], }'],
    ['{a: 0x10}', set('a', 16), '{a: 0x10}'],
    ["{a: 'x'}", set('a', 'x'), "{a: 'x'}"],
    ["{\n  a: 'x', // why\n}\n", set('b', null), "{\n  a: 'x', // why\n  b: null,\n}\n"],
    ["{\n  a: 'x' // why\u2028}", set('b', 1), "{\n  a: 'x', // why\n  b: 1\u2028}"],
    ["{'a\\x62': {c: 1}}", set('ab.d', 2), "{'a\\x62': {c: 1, d: 2}}"],
    ['{a: [\n  1, // one\n]}', set('a', [1, 2]), '{a: [1, 2]}'],
  ])('edits %j as requested', (before, change, after) => {
    expect(edit(before, change)).toBe(after)
  })

  test('removes keys with their commas', () => {
    const gone = (...keys: string[]) => keys.map((key) => ({ path: [key], value: undefined }))
    expect(edit("{a: 1, 'b': 2, c: 3,}", ...gone('b'))).toBe('{a: 1, c: 3,}')
    expect(edit('{\n  a: 1,\n  /* of b */ b: .5,\n  c: NaN,\n}', ...gone('a', 'c'))).toBe(
      '{\n  /* of b */ b: .5,\n}',
    )
  })

  test('refuses a key that is set twice, even in another spelling, and an invalid number', () => {
    const twice = failureOf(() => edit("{model: 'a',\n 'm\\x6fdel': 'b'}", set('model', 'c')))
    expect(twice.message).toBe('Cannot edit FILE: model is set twice (line 2, column 2)')
    expect(failureOf(() => edit('{a: 1}', set('b', Number.NaN))).code).toBe('config-conflict')
    expect(edit('{a: 1, a: 2}', set('b', 1))).toBe('{a: 1, a: 2, b: 1}')
  })
})
