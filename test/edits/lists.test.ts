import { describe, expect, test } from 'vitest'
import { formatOf } from '../../src/edits/format.ts'
import { addToList, removeFromList, type SettingChange } from '../../src/edits/types.ts'
import { failureOf } from '../support/failure.ts'
import { bytesOf, show } from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const json = formatOf('json')
const toml = formatOf('toml')
const list = ['enabled']
const formats = { json, toml }

type Row = readonly [name: string, format: 'json' | 'toml', before: string, after: string]

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`
}

const added: readonly Row[] = [
  ['one line', 'json', '{ "enabled": ["a", "b"] }\n', '{ "enabled": ["a", "b", "x"] }\n'],
  ['no blanks', 'json', '{"enabled":["a","b"]}', '{"enabled":["a","b","x"]}'],
  ['empty', 'json', '{ "enabled": [] }', '{ "enabled": ["x"] }'],
  [
    'empty, in a table of several lines',
    'json',
    lines('{', '  "enabled": []', '}'),
    lines('{', '  "enabled": ["x"]', '}'),
  ],
  [
    'one element per line, with comments',
    'json',
    lines('{', '  "enabled": [', '    // work', '    "a", // by us', '    "b" // mine', '  ]', '}'),
    lines(
      '{',
      '  "enabled": [',
      '    // work',
      '    "a", // by us',
      '    "b", // mine',
      '    "x"',
      '  ]',
      '}',
    ),
  ],
  [
    'a trailing comma',
    'json',
    lines('{', '  "enabled": [', '    "a",', '  ],', '}'),
    lines('{', '  "enabled": [', '    "a",', '    "x",', '  ],', '}'),
  ],
  [
    'only a comment',
    'json',
    lines('{', '  "enabled": [', '    // none', '  ]', '}'),
    lines('{', '  "enabled": [', '    // none', '    "x"', '  ]', '}'),
  ],
  [
    'no list yet',
    'json',
    '{\n  "a": 1\n}\n',
    lines('{', '  "a": 1,', '  "enabled": [', '    "x"', '  ]', '}'),
  ],
  ['one line', 'toml', 'enabled = ["a", "b"] # why\n', 'enabled = ["a", "b", "x"] # why\n'],
  ['empty', 'toml', 'enabled = []\n', 'enabled = ["x"]\n'],
  [
    'one element per line, with comments',
    'toml',
    lines('enabled = [', '  "a", # by us', '  "b", # mine', '  # end', ']'),
    lines('enabled = [', '  "a", # by us', '  "b", # mine', '  "x",', '  # end', ']'),
  ],
  ['no list yet', 'toml', 'a = 1\n', 'a = 1\nenabled = ["x"]\n'],
]

const removed: readonly Row[] = [
  ['one line', 'json', '{ "enabled": ["x", "a"] }', '{ "enabled": ["a"] }'],
  ['last', 'json', '{ "enabled": ["a", "x"] }', '{ "enabled": ["a"] }'],
  ['alone', 'json', '{ "enabled": ["x"] }', '{ "enabled": [] }'],
  ['twice', 'json', '{ "enabled": ["x", "a", "x"] }', '{ "enabled": ["a"] }'],
  ['twice at the end', 'json', '{ "enabled": ["a", "x", "x"] }', '{ "enabled": ["a"] }'],
  [
    'with a comment behind it',
    'json',
    lines(
      '{',
      '  "enabled": [',
      '    "a", // one',
      '    "x", // two',
      '    "b" // three',
      '  ]',
      '}',
    ),
    lines('{', '  "enabled": [', '    "a", // one', '    // two', '    "b" // three', '  ]', '}'),
  ],
  [
    'last, with a comment behind it',
    'json',
    lines('{', '  "enabled": [', '    "a", // one', '    "x" // two', '  ]', '}'),
    lines('{', '  "enabled": [', '    "a" // one', '    // two', '  ]', '}'),
  ],
  [
    'one element per line',
    'json',
    lines('{', '  "enabled": [', '    // one', '    "a",', '    // two', '    "x"', '  ]', '}'),
    lines('{', '  "enabled": [', '    // one', '    "a"', '    // two', '  ]', '}'),
  ],
  [
    'several on a line',
    'json',
    lines('{', '  "enabled": [', '    "a", "x",', '    "b"', '  ]', '}'),
    lines('{', '  "enabled": [', '    "a",', '    "b"', '  ]', '}'),
  ],
  [
    'with a comment behind it',
    'toml',
    lines('enabled = [', '  "x", # one', '  "b", # two', ']'),
    lines('enabled = [', '  # one', '  "b", # two', ']'),
  ],
  ['spelled in another way', 'toml', 'enabled = [\'x\', "a"]\n', 'enabled = ["a"]\n'],
]

describe.each([
  ['holds', added, addToList],
  ['lacks', removed, removeFromList],
] as const)('a list %s an element', (_, rows, change) => {
  test.each(rows)('%s (%s)', (_, name, before, after) => {
    const format = formats[name]
    const changes = [change(list, 'x')]
    const written = format.edit(bytesOf(before), changes, 'FILE')
    expect(show(written)).toBe(after)
    expect(format.edit(written, changes, 'FILE')).toBe(written)

    const onTop = name === 'toml' ? '# on top\n' : '// on top\n'
    const now = bytesOf(onTop + after)
    const paths = changes.map(({ path }) => path)
    const undone = undoOurs(format, { before: bytesOf(before), written, now }, paths, 'FILE')
    expect(show(undone.bytes)).toBe(onTop + before)
    expect(undone.kept).toEqual([])
  })
})

describe('an undo of an element', () => {
  function undo(
    format: 'json' | 'toml',
    before: string,
    change: SettingChange,
    byOthers: (text: string) => string,
  ) {
    const written = formats[format].edit(bytesOf(before), [change], 'FILE')
    const now = bytesOf(byOthers(show(written) as string))
    const versions = { before: bytesOf(before), written, now }
    const { bytes, kept } = undoOurs(formats[format], versions, [change.path], 'FILE')
    return { text: show(bytes), kept }
  }

  test('keeps the additions of others, and nothing of ours', () => {
    const before = '{ "enabled": ["a"] }'
    const undone = undo('json', before, addToList(list, 'x'), (text) =>
      text.replace('"x"', '"x", "theirs"'),
    )
    expect(undone).toEqual({ text: '{ "enabled": ["a", "theirs"] }', kept: [] })
  })

  test.each([
    [
      'json',
      '{ "enabled": ["a"] }',
      '{"enabled":["theirs","x","a"]}',
      '{"enabled":["theirs","a"]}',
    ],
    [
      'toml',
      'enabled = ["a"]\n',
      "enabled = [\n 'theirs',\n 'x',\n]\n",
      "enabled = [\n 'theirs',\n]\n",
    ],
  ] as const)('finds ours in a list that was rewritten (%s)', (format, before, now, after) => {
    expect(undo(format, before, addToList(list, 'x'), () => now)).toEqual({
      text: after,
      kept: [],
    })
  })

  test('restores what we removed from a list below a table', () => {
    const before = '{ "t": { "enabled": ["x", "a"] } }'
    const rewritten = '{"t":{"enabled":["a","theirs"]}}'
    const undone = undo('json', before, removeFromList(['t', ...list], 'x'), () => rewritten)
    expect(undone).toEqual({ text: '{"t":{"enabled":["x", "a","theirs"]}}', kept: [] })
  })

  test('does nothing if someone already undid it, and creates no list for it', () => {
    const change = addToList(list, 'x')
    expect(undo('json', '{ "enabled": ["a"] }', change, () => '{"enabled":["a"]}').text).toBe(
      '{"enabled":["a"]}',
    )
    expect(undo('json', '{ "enabled": ["a"] }', change, () => '{}').text).toBe('{}')
  })

  test('keeps an element that we removed and others added again, and reports it', () => {
    const change = removeFromList(list, 'x')
    expect(undo('json', '{ "enabled": ["a"] }', change, () => '{"enabled":["a","x"]}')).toEqual({
      text: '{"enabled":["a","x"]}',
      kept: [change.path],
    })
  })

  test('ignores an equal string that moved to another list', () => {
    const before = lines(
      '{',
      '  "enabled": [',
      '    "a" // mine',
      '  ],',
      '  "disabled": [',
      '    "x", // not yet',
      '    "b"',
      '  ]',
      '}',
    )
    const changes = [addToList(list, 'x'), removeFromList(['disabled'], 'x')]
    const written = json.edit(bytesOf(before), changes, 'FILE')
    const more = (text: string) => text.replace('"x"\n', '"x",\n    "theirs" // too\n')
    const now = bytesOf(more(show(written) as string))
    const paths = changes.map(({ path }) => path)
    const undone = undoOurs(json, { before: bytesOf(before), written, now }, paths, 'FILE')
    expect(show(undone.bytes)).toBe(
      before.replace('"a" // mine\n', '"a", // mine\n    "theirs" // too\n'),
    )
  })

  test('removes a list that we created, unless others added to it', () => {
    const change = addToList(list, 'x')
    const rewritten = (more: string) => () => `{"b":1,"enabled":["x"${more}]}`
    expect(undo('json', '{"b":1}', change, rewritten('')).text).toBe('{"b":1}')
    expect(undo('json', '{"b":1}', change, rewritten(',"y"')).text).toBe('{"b":1,"enabled":["y"]}')
  })
})

test('an undo gives back removed elements although someone deleted the list since', () => {
  for (const [format, before, now] of [
    [json, '{"enabled": ["x", "mine", "y"], "a": 1}\n', '{"a": 1}\n'],
    [toml, 'a = 1\nenabled = ["x", "mine", "y"]\n', 'a = 1\n'],
  ] as const) {
    const changes = [removeFromList(list, 'x'), removeFromList(list, 'y')]
    const written = format.edit(bytesOf(before), changes, 'a')
    const versions = { before: bytesOf(before), written, now: bytesOf(now) }
    const restore = changes.map(({ path }) => path)
    const undone = format.undo(versions, { restore, keep: [] }, 'a')
    expect(format.read(undone!, 'a').get(list)).toEqual(['x', 'y'])
  }
})

test('an undo keeps what the caller keeps, even in a file that nobody changed', () => {
  const before = bytesOf('{"a": 1, "b": 1}')
  const paths = [['a'], ['b']]
  const written = json.edit(
    before,
    paths.map((path) => ({ path, value: 2 })),
    'a',
  )
  const versions = { before, written, now: written }
  const undone = json.undo(versions, { restore: [['a']], keep: [['b']] }, 'a')
  expect(show(undone)).toBe('{"a": 1, "b": 2}')
})

test('adds and removes several elements of one list, and of a new one, at once', () => {
  const before = '{ "enabled": ["a", "b", "c"] }'
  const changes = [
    removeFromList(list, 'b'),
    removeFromList(list, 'c'),
    addToList(list, 'x'),
    addToList(list, 'y'),
    addToList(['other', 'list'], 'p'),
    addToList(['other', 'list'], 'q'),
  ]
  const written = json.edit(bytesOf(before), changes, 'FILE')
  expect(JSON.parse(show(written) as string)).toEqual({
    enabled: ['a', 'x', 'y'],
    other: { list: ['p', 'q'] },
  })
  const versions = { before: bytesOf(before), written, now: bytesOf(`\n${show(written)}`) }
  const paths = changes.map(({ path }) => path)
  expect(show(undoOurs(json, versions, paths, 'FILE').bytes)).toBe(`\n${before}`)
})

test('adds one element first and another last in the same list', () => {
  const first = { path: [...list, { element: 'x', isFirst: true as const }], value: 'x' }
  const written = json.edit(bytesOf('{"enabled":["a"]}'), [first, addToList(list, 'y')], 'FILE')
  expect(show(written)).toBe('{"enabled":["x","a","y"]}')
})

test('does not treat other values as a list of strings', () => {
  const refused = (format: 'json' | 'toml', text: string) => {
    const error = failureOf(() =>
      formats[format].edit(bytesOf(text), [addToList(list, 'x')], 'FILE'),
    )
    return `${error.code}: ${error.message}\n${error.hint}`
  }
  expect(refused('json', '{ "enabled": "x" }')).toBe(
    'config-conflict: Cannot edit FILE: enabled is a string, not a list (line 1, column 14)\nAdd these yourself:\n{\n  "enabled": [\n    "x"\n  ]\n}',
  )
  expect(refused('toml', '[[enabled]]\na = 1\n')).toBe(
    'config-conflict: Cannot edit FILE: enabled is a list, not a single value (line 1, column 1)\nAdd these yourself:\nenabled = ["x"]',
  )
  const asked = { path: list, value: 'x' }
  expect(failureOf(() => toml.edit(bytesOf('[[enabled]]\n'), [asked], 'FILE')).message).toBe(
    'Cannot edit FILE: enabled is a list, not a single value (line 1, column 1)',
  )
  expect(refused('toml', 'enabled = true\n')).toContain('enabled is a single value, not a list')
})

test('reading: finds an element and its line', () => {
  const document = json.read(bytesOf('{\n "enabled": [\n  "a",\n  "x"]}'), 'FILE')
  expect(document.get([...list, { element: 'x' }])).toBe('x')
  expect(document.get([...list, { element: 'y' }])).toBeUndefined()
  expect(document.lineOf([...list, { element: 'x' }])).toBe(4)
  expect(document.lineOf([...list, { element: 'y' }])).toBeUndefined()
})
