import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import type { SettingChange } from '../../src/edits/types.ts'
import { bytesOf, show } from './helpers.ts'

/** The text before, with `a` set to 1 and `z` next to it, and the text after. */
type Row = readonly [before: string, path: string, after: string]

const json: readonly Row[] = [
  ['{}', 'a', '{\n  "a": 1,\n  "z": [\n    true\n  ]\n}'],
  ['{\r\n}\r\n', 'a', '{\r\n  "a": 1,\r\n  "z": [\r\n    true\r\n  ]\r\n}\r\n'],
  ['{ }', 'a', '{\n  "a": 1,\n  "z": [\n    true\n  ]\n}'],
  ['  {}', 'a', '  {\n    "a": 1,\n    "z": [\n      true\n    ]\n  }'],
  ['{\n\t// later\n}\n', 'a', '{\n\t// later\n  "a": 1,\n  "z": [\n    true\n  ]\n}\n'],
  ['{ /* later */ }', 'a', '{ /* later */\n  "a": 1,\n  "z": [\n    true\n  ]\n }'],
  ['{  /* later */ }', 'a', '{  /* later */\n  "a": 1,\n  "z": [\n    true\n  ]\n }'],
  ['{ // later\n}', 'a', '{ // later\n  "a": 1,\n  "z": [\n    true\n  ]\n}'],
  ['{\n  // later\n\n  }', 'a', '{\n  // later\n\n  "a": 1,\n  "z": [\n    true\n  ]\n  }'],
  ['', 'a', '{\n  "a": 1,\n  "z": [\n    true\n  ]\n}\n'],
  ['// top', 'a', '// top\n{\n  "a": 1,\n  "z": [\n    true\n  ]\n}'],
  ['// top\r\n', 'a', '// top\r\n{\r\n  "a": 1,\r\n  "z": [\r\n    true\r\n  ]\r\n}\r\n'],
  ['{"t":{}}', 't.a', '{"t":{"a":1,"z":[true]}}'],
  ['{"t": {}}', 't.a', '{"t": { "a": 1, "z": [true] }}'],
  [
    '{\n    "t": {}\n}',
    't.a',
    '{\n    "t": {\n        "a": 1,\n        "z": [\n            true\n        ]\n    }\n}',
  ],
  ['{\n\t"t": {\n\t}\n}', 't.a', '{\n\t"t": {\n\t\t"a": 1,\n\t\t"z": [\n\t\t\ttrue\n\t\t]\n\t}\n}'],
  ['{ "t" : { } }', 't.a', '{ "t" : { "a" : 1, "z" : [true] } }'],
  ['{"t":{/* x */}}', 't.a', '{"t":{/* x */ "a":1,"z":[true]}}'],
  ['{"t":{ }}', 't.a', '{"t":{ "a":1,"z":[true] }}'],
  ['{"t": {  /* x */ }}', 't.a', '{"t": {  /* x */ "a": 1, "z": [true] }}'],
  ['{"t": {/* x */}}', 't.a', '{"t": {/* x */ "a": 1, "z": [true]}}'],
  ['{"b":1}', 'a', '{"b":1,"a":1,"z":[true]}'],
  ['{"b": 1}', 'a', '{"b": 1, "a": 1, "z": [true]}'],
  ['{"b" : 1}', 'a', '{"b" : 1, "a" : 1, "z" : [true]}'],
  ['{"b":1} // note: x', 'a', '{"b":1,"a":1,"z":[true]} // note: x'],
  ['{ "b": 1 }', 'a', '{ "b": 1, "a": 1, "z": [true] }'],
  ['{"b":1,  "c":2}', 'a', '{"b":1,  "c":2,  "a":1,  "z":[true]}'],
  ['{\r\n  "b": 1\r\n}', 'a', '{\r\n  "b": 1,\r\n  "a": 1,\r\n  "z": [\r\n    true\r\n  ]\r\n}'],
  ['{\n    "b": 1,\n}', 'a', '{\n    "b": 1,\n    "a": 1,\n    "z": [\n        true\n    ],\n}'],
  ['{ "b": 1, }', 'a', '{ "b": 1, "a": 1, "z": [true], }'],
  ['{ "b": 1,\n}', 'a', '{ "b": 1, "a": 1, "z": [true],\n}'],
  ['{ "b": 1, // c\n}', 'a', '{ "b": 1, // c\n  "a": 1,\n  "z": [true],\n}'],
  ['{ "b": 1 // c\n}', 'a', '{ "b": 1, // c\n  "a": 1,\n  "z": [true]\n}'],
  ['{ "b": 1 /* c */ }', 'a', '{ "b": 1, /* c */ "a": 1, "z": [true] }'],
  ['{\n  "b": 1 /* c */\n}', 'a', '{\n  "b": 1, /* c */\n  "a": 1,\n  "z": [\n    true\n  ]\n}'],
  [
    '{\n  "b": 1 /* c */, // d\n}',
    'a',
    '{\n  "b": 1 /* c */, // d\n  "a": 1,\n  "z": [\n    true\n  ],\n}',
  ],
  ['{ "b": 1\n, "c": 2\n}', 'a', '{ "b": 1\n, "c": 2\n, "a": 1\n, "z": [\n  true\n]\n}'],
  [
    '{\n  "b": 1\n  , "c": 2\n}',
    'a',
    '{\n  "b": 1\n  , "c": 2\n  , "a": 1\n  , "z": [\n    true\n  ]\n}',
  ],
  ['{ "b": 1,\n  "c": 2 }', 'a', '{ "b": 1,\n  "c": 2,\n  "a": 1,\n  "z": [\n    true\n  ] }'],
  ['{ "b": 1\n, "c": 2, }', 'a', '{ "b": 1\n, "c": 2,\n"a": 1,\n"z": [\n  true\n], }'],
  ['{\n"b": 1\n}', 't.x', '{\n"b": 1,\n"t": {\n  "x": 1,\n  "z": [\n    true\n  ]\n}\n}'],
  [
    '{\n\t"b": 1\n}',
    't.x',
    '{\n\t"b": 1,\n\t"t": {\n\t\t"x": 1,\n\t\t"z": [\n\t\t\ttrue\n\t\t]\n\t}\n}',
  ],
  ['{"b": 1}', 't.x', '{"b": 1, "t": { "x": 1, "z": [true] }}'],
  ['{\n  "b": { "c": 1 }\n}', 'b.t.x', '{\n  "b": { "c": 1, "t": { "x": 1, "z": [true] } }\n}'],
]

const toml: readonly Row[] = [
  ['', 'a', 'a = 1\nz = "v"\n'],
  ['', 't.a', '[t]\na = 1\nz = "v"\n'],
  ['\n', 't.a', '\n[t]\na = 1\nz = "v"\n'],
  ['# top', 'a', '# top\na = 1\nz = "v"'],
  ['b = 1', 'a', 'b = 1\na = 1\nz = "v"'],
  ['b = 1\r\n', 'a', 'b = 1\r\na = 1\r\nz = "v"\r\n'],
  ['  b = 1\n', 'a', '  b = 1\n  a = 1\n  z = "v"\n'],
  ['b = 1\r\n[t]\n', 'a', 'b = 1\r\na = 1\r\nz = "v"\r\n[t]\n'],
  ['b = 1 # why\n\n[t]\n', 'a', 'b = 1 # why\na = 1\nz = "v"\n\n[t]\n'],
  ['[t]\nx = 1\n', 'a', 'a = 1\nz = "v"\n\n[t]\nx = 1\n'],
  [
    '# top\n\n# of t\n# too\n[t]\nx = 1\n',
    'a',
    '# top\n\na = 1\nz = "v"\n\n# of t\n# too\n[t]\nx = 1\n',
  ],
  ['# of t\n[t]\n', 'a', 'a = 1\nz = "v"\n\n# of t\n[t]\n'],
  ['  # of t\n  [t]\n', 'a', 'a = 1\nz = "v"\n\n  # of t\n  [t]\n'],
  ['\r\n[t]\r\n', 'a', '\r\na = 1\r\nz = "v"\r\n\r\n[t]\r\n'],
  ['[t]', 't.a', '[t]\na = 1\nz = "v"'],
  ['[t] # why\n[u]\n', 't.a', '[t] # why\na = 1\nz = "v"\n[u]\n'],
  ['  [t]\n    x = 1\n', 't.a', '  [t]\n    x = 1\n    a = 1\n    z = "v"\n'],
  ['  [t]\n', 't.a', '  [t]\n  a = 1\n  z = "v"\n'],
  ['[t]\nx = 1', 't.a', '[t]\nx = 1\na = 1\nz = "v"'],
  ['[t]\r\nx = 1', 't.a', '[t]\r\nx = 1\r\na = 1\r\nz = "v"'],
  ['t.x = 1\nb = 2\n', 't.a', 't.x = 1\nt.a = 1\nt.z = "v"\nb = 2\n'],
  ['[t]\ny.x = 1\nz = 1\n', 't.y.a', '[t]\ny.x = 1\ny.a = 1\ny.z = "v"\nz = 1\n'],
  ['[u]\n', 't.a', '[u]\n\n[t]\na = 1\nz = "v"\n'],
  ['[u]\n\n', 't.a', '[u]\n\n[t]\na = 1\nz = "v"\n'],
  ['[u]', 't.a', '[u]\n\n[t]\na = 1\nz = "v"'],
  ['[t.u]\nx = 1\n', 't.a', '[t.u]\nx = 1\n\n[t]\na = 1\nz = "v"\n'],
  ['[t]\n', 't.u.a', '[t]\n\n[t.u]\na = 1\nz = "v"\n'],
  ['t = {}\n', 't.a', 't = { a = 1, z = "v" }\n'],
  ['t = { }\n', 't.a', 't = { a = 1, z = "v" }\n'],
  ['t = {x = 1}\n', 't.a', 't = {x = 1, a = 1, z = "v"}\n'],
  ['t = { x = 1 }\n', 't.u.a', 't = { x = 1, u = { a = 1, z = "v" } }\n'],
  ['[[t]]\nx = 1\n', 'b', 'b = 1\nz = "v"\n\n[[t]]\nx = 1\n'],
]

describe('new members have the layout of their neighbours', () => {
  const edited = (format: 'json' | 'toml', [before, path]: Row, z: SettingChange['value']) => {
    const key = path.split('.')
    const changes = [
      { path: key, value: 1 },
      { path: [...key.slice(0, -1), 'z'], value: z },
    ]
    return show(formatOf(format).edit(bytesOf(before), changes, 'FILE'))
  }

  test.each([
    ['json', '{"t":{},"u":{}}', '{"t":{"a":1},"u":{"a":1}}'],
    ['toml', 't.x = 1\nb = 2\nu.x = 1\n', 't.x = 1\nt.a = 1\nb = 2\nu.x = 1\nu.a = 1\n'],
  ] as const)('%s %j: each key next to its neighbours', (format, before, after) => {
    const changes = ['t', 'u'].map((table) => ({ path: [table, 'a'], value: 1 }))
    expect(show(formatOf(format).edit(bytesOf(before), changes, 'FILE'))).toBe(after)
  })

  test.each(json)('json %j, %s', (...row) => {
    expect(edited('json', row, [true])).toBe(row[2])
  })
  test.each(toml)('toml %j, %s', (...row) => {
    expect(edited('toml', row, 'v')).toBe(row[2])
  })
})
